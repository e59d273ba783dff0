"""Parts of a page that change at each visit, though the page stays the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ko", "lu", "me", "ni", "po", "ru", "ta")
_NAMES = ("anna", "bo", "carla", "dmitri", "edda", "farid", "gwen", "hugo", "ines", "jan", "kim")
_BEGINNING = datetime(2026, 1, 5, 8, 0, tzinfo=timezone.utc)
_SEVERAL = 4


@dataclass(frozen=True)
class Visit:
    """One fetch of a page."""

    seed: str
    """The seed of the site."""
    number: int
    """The number of visits to the site so far."""
    random: Random
    """A new random source at each visit."""

    @property
    def time(self) -> datetime:
        """Its time: a few seconds after the visit before."""
        return _BEGINNING + timedelta(seconds=7 * self.number)


@dataclass
class Slots:
    """HTML for the places of a page where something may change."""

    top: str = ""
    side: str = ""
    foot: str = ""

    def __add__(self, other: Slots) -> Slots:
        return Slots(self.top + other.top, self.side + other.side, self.foot + other.foot)


@lru_cache(100_000)
def words(seed: str, count: int) -> str:
    """Return *count* words that depend on *seed* only."""
    syllables = Random(seed).choices(_SYLLABLES, k=3 * count)
    return " ".join(map("".join, zip(*[iter(syllables)] * 3, strict=True)))


def token(random: Random, length: int) -> str:
    """Return hexadecimal digits."""
    return f"{random.getrandbits(4 * length):0{length}x}"


def _still(_: Visit) -> Slots:
    return Slots()


def _counter(visit: Visit) -> Slots:
    return Slots(foot=f"<p>Visit: {3_120 + visit.number}</p>")


def _sentence(visit: Visit) -> Slots:
    number = visit.random.randrange(40)
    text = words(f"{visit.seed} sentence {number}", 10 + number % 9)
    return Slots(foot=f"<p>{text.capitalize()}.</p>")


def _online(visit: Visit) -> Slots:
    names = ", ".join(visit.random.sample(_NAMES, visit.random.randint(1, 6)))
    guests = visit.random.randint(3, 240)
    return Slots(foot=f"<p>Users online: {guests} guests and {names}</p>")


def _ad(visit: Visit, place: str) -> str:
    number = visit.random.randrange(30)
    text = words(f"{visit.seed} ad {number}", 7 + number % 8)
    return f'<div class="{place}"><img src="/ads/{number}.png">{text}</div>'


def _ads(visit: Visit) -> Slots:
    return Slots(_ad(visit, "a"), _ad(visit, "b"), _ad(visit, "c"))


def _csrf(visit: Visit) -> Slots:
    names = ("csrf", "nonce")
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{token(visit.random, 40)}">' for name in names
    )
    action = f"/post/?token={token(visit.random, 16)}"
    form = f'<form method="post" action="{action}">{hidden}<button>Send</button></form>'
    return Slots(side=form, foot=f'<script nonce="{token(visit.random, 24)}">start()</script>')


def _ids(visit: Visit) -> Slots:
    pixel = f'<img src="/pixel/{token(visit.random, 12)}.gif">'
    box = f'<div id="c-{token(visit.random, 8)}" class="x{token(visit.random, 5)}">More</div>'
    return Slots(top=box, foot=f"{pixel}<p>Request {token(visit.random, 12)}</p>")


def _ab(visit: Visit) -> Slots:
    variant = visit.random.choice("AB")
    text = words(f"{visit.seed} test {variant}", 24)
    return Slots(top=f"<section><h2>{text[:20]}</h2><p>{text}</p></section>")


def _in_turn(visit: Visit) -> Slots:
    text = words(f"{visit.seed} turn {visit.number % 2}", 18)
    return Slots(side=f"<blockquote>{text}</blockquote>")


def _timestamps(visit: Visit) -> Slots:
    ago = (f"{visit.random.randint(2, 59)} minutes ago", "an hour ago", "just now")
    news = "".join(
        f"<li>{words(f'{visit.seed} news {n}', 5)}, {visit.random.choice(ago)}</li>"
        for n in range(3)
    )
    made = visit.time.strftime("%d %B %Y, %H:%M:%S")
    return Slots(side=f"<ul>{news}</ul>", foot=f"<p>Made on {made}</p>")


def _teasers(visit: Visit) -> Slots:
    shown = visit.random.sample(range(25), 4)
    items = "".join(f"<li>{words(f'{visit.seed} teaser {n}', 6)}</li>" for n in shown)
    return Slots(side=f"<h3>Others look at</h3><ul>{items}</ul>")


def _several(visit: Visit) -> Slots:
    # The same ones on all pages of a site.
    chosen = Random(f"{visit.seed} several").sample(tuple(_SINGLE.values()), _SEVERAL)
    return sum((move(visit) for move in chosen), Slots())


_SINGLE: dict[str, Callable[[Visit], Slots]] = {
    "a visit counter": _counter,
    "a rotating sentence": _sentence,
    "users online": _online,
    "three rotating ads": _ads,
    "tokens in forms": _csrf,
    "random ids": _ids,
    "an A/B test": _ab,
    "two blocks in turn": _in_turn,
    "timestamps": _timestamps,
    "a rotating block": _teasers,
}
MOVEMENTS: dict[str, Callable[[Visit], Slots]] = {
    "nothing": _still,
    **_SINGLE,
    "several of these": _several,
}
"""By the name of what changes, a function that returns its HTML for a visit."""
