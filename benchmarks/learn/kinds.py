"""Judges learning on sites with a view that differs for a few things only, and edited texts.

``python -m benchmarks.learn.kinds [KIND ...] [--seeds SEED ...] [--shares SHARE ...] [--changing
SHARE ...] [--rules] [--json FILE]``.

A rule that drops such a view is right on most pages. It looks like a rule that is right on all
pages of a site whose pages change between captures. Unlike on other generated sites, a changed
capture is the page with a few words or a line more or less; one of twenty is an error page.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.learn.forms import half
from benchmarks.learn.judge import SINK_SIZE, Page, Score, score
from benchmarks.learn.methods import Rules
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.pages.signature import Signature, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HOST = "http://www.site.example"

THINGS = 150

_SYLLABLES = ("ba ce di fo gu ha je ki lo mu ne pi ra so ty", "l m n r s t v", "an el ix or um ay")
_WORDS = ["".join(parts) for parts in product(*map(str.split, _SYLLABLES))]

_ERRORS = 0.05
"""The share of error pages among changed captures."""

_EDITS = (1, 1, 1, 2, 3)
"""The number of lines of an edit, by frequency."""


@dataclass(frozen=True)
class Kind:
    """The URLs of a thing, and how its view differs for few things."""

    thing: str
    views: Sequence[str]
    shows: str
    """Where the view shows its own text: ``whole``: in place of all but the title; ``part``: of
    half; ``lines``: of two lines; ``block``: after all."""


KINDS = {
    "tabs": Kind("/o/{}", ("{}?tab=details", "{}?tab=makers", "{}?tab=shows"), "block"),
    "plans": Kind("/house/{}", ("{}?view=plan",), "block"),
    "readers": Kind("/doc/{}", ("{}?aud=staff", "{}?aud=students"), "whole"),
    "comments": Kind("/photo/{}", ("{}/comments",), "block"),
    "stories": Kind("/story/{}", ("{}?amp=1",), "part"),
    "histories": Kind("/law/{}", ("{}?history=on",), "whole"),
    "revisions": Kind("/posts/{}", ("{}/revisions",), "whole"),
    "bids": Kind("/item/{}", ("{}/bids",), "block"),
    "units": Kind("/recipe/{}", ("{}?units=metric",), "lines"),
    "long tales": Kind("/tale/{}", ("{}?show=all",), "block"),
    "maps": Kind("/place/{}", ("{}/map", "{}/nearby"), "whole"),
    "editions": Kind("/term/{}", ("{}?edition=2",), "part"),
    "stock": Kind("/part/{}", ("{}?stock=all", "{}?stock=used"), "lines"),
    "videos": Kind("/talk/{}", ("{}?media=video",), "block"),
}


@dataclass
class ViewSite:
    """A site of one kind, drawn from a seed.

    >>> site = ViewSite("plans", seed=1, share=0.1)
    >>> site.pages["http://www.site.example/house/7"]
    '/house/7'
    """

    kind: str
    seed: int
    share: float
    """The share of things whose view differs."""
    changing: float = 0.0
    """The share of captures with an edited page, or an error."""
    pages: dict[str, str] = field(default_factory=dict)
    """For each URL, the URL that shows the same page without additions."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """The lines of each page."""

    def __post_init__(self) -> None:
        draw, kind = Random(f"{self.kind} {self.seed}"), KINDS[self.kind]
        is_printed = draw.random() < 0.5  # noqa: PLR2004
        for number in range(1, THINGS + 1):
            thing = kind.thing.format(number)
            text = [_line(draw, draw.randrange(4, 40)) for _ in range(draw.randrange(4, 15))]
            self._add(thing, thing, text)
            for view in kind.views:
                if draw.random() < 0.6:  # noqa: PLR2004
                    is_other = draw.random() < self.share
                    url = view.format(thing)
                    shown = _view(draw, kind.shows, text) if is_other else text
                    self._add(url, url if is_other else thing, shown)
            for url in _noise(draw, thing, is_printed=is_printed):
                self._add(url, thing, text)

    def _add(self, url: str, page: str, text: list[str]) -> None:
        self.pages[HOST + url] = page
        self.texts[page] = text

    def observations(self) -> Iterator[Observation]:
        """Yield a capture of each URL."""
        draw = Random(f"changes {self.kind} {self.seed}")
        for url, page in self.pages.items():
            text = self.texts[page]
            if draw.random() < self.changing:
                text = _changed(draw, text)
            lines = lines_of("\n".join(text).encode())
            main, simhash = Signature("", "", 0, lines).main()
            yield Observation(url, main_sha1=main, simhash64=simhash, bytes=9000)


def _line(draw: Random, words: int) -> str:
    return " ".join(draw.choices(_WORDS, k=words))


def _view(draw: Random, shows: str, text: list[str]) -> list[str]:
    """Return the text of a view that differs."""
    new = [_line(draw, draw.randrange(4, 40)) for _ in range(draw.randrange(2, 12))]
    if shows == "lines":
        return [*text[:-2], *(_line(draw, len(line.split())) for line in text[-2:])]
    kept = {"whole": text[:1], "part": text[: len(text) // 2], "block": text}[shows]
    return kept + new


def _noise(draw: Random, thing: str, *, is_printed: bool) -> Iterator[str]:
    """Yield URLs that show the thing itself, for any thing."""
    if draw.random() < 0.6:  # noqa: PLR2004
        yield f"{thing}?ref={draw.choice(['home', 'list', 'mail'])}"
    if draw.random() < 0.3:  # noqa: PLR2004
        for _ in range(draw.randrange(1, 4)):
            yield f"{thing}?sid={draw.getrandbits(40):010x}"
    if is_printed and draw.random() < 0.6:  # noqa: PLR2004
        yield f"/print{thing}"


def _changed(draw: Random, text: list[str]) -> list[str]:
    """Return the text of a page after an edit, or of an error."""
    if draw.random() < _ERRORS:
        return [_line(draw, 8) for _ in range(6)]
    text = [*text]
    for _ in range(draw.choice(_EDITS)):
        place, edit = draw.randrange(1, len(text)), draw.random()
        if edit < 0.4:  # noqa: PLR2004
            words = text[place].split()
            words[draw.randrange(len(words))] = draw.choice(_WORDS)
            text[place] = " ".join(words)
        elif edit < 0.8 or len(text) < 4:  # noqa: PLR2004
            text.insert(place, _line(draw, draw.randrange(4, 30)))
        else:
            del text[place]
    return text


def judged(site: ViewSite) -> tuple[Score, Score, Mapping[str, object]]:
    """Return the scores on the judged half, in all and for noise, and the rules."""
    learned = learn(one for one in site.observations() if half(one.url) == 0)
    rules = Rules(learned.rules)
    numbers = {page: number for number, page in enumerate(sorted(site.texts))}
    urls = [url for url in site.pages if half(url)]
    sizes = Counter(site.pages[url] for url in urls)
    pages = [Page(url, numbers[page := site.pages[url]], sizes[page] > SINK_SIZE) for url in urls]
    fetched = frozenset(
        numbers[page] for url, page in site.pages.items() if not half(url) and not rules.skips(url)
    )
    views = tuple(view.format("") for view in KINDS[site.kind].views)
    noise = [page for page in pages if not page.url.endswith(views)]

    def key(url: str) -> str | None:
        return None if rules.skips(url) else rules.key(url)

    return score(pages, key, fetched), score(noise, key, fetched), learned.as_rules()


def report(sites: Iterable[ViewSite], changing: float, *, show_rules: bool) -> dict[str, float]:
    """Print and return the scores for some sites."""
    every, noise = Score(), Score()
    count = bad = 0
    for site in sites:
        of_all, of_noise, rules = judged(site)
        every, noise, count, bad = (
            every + of_all,
            noise + of_noise,
            count + 1,
            bad + (of_all.wrong > 0),
        )
        if show_rules and of_all.wrong:
            print(f"{site.kind}, seed {site.seed}, {site.share:.0%}: {of_all.wrong}, {rules}")
    print(
        f"{changing:.0%} change: {count} sites, {bad} with wrong merges, {every.wrong} wrong, "
        f"{every.lost} lost, found {every.recall:.3f}, of noise {noise.recall:.3f}",
        flush=True,
    )
    return {
        "changing": changing,
        "sites": count,
        "sites with wrong merges": bad,
        "redundant": every.redundant,
        "found": every.found,
        "redundant noise": noise.redundant,
        "found noise": noise.found,
        "wrong": every.wrong,
        "lost": every.lost,
    }


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="which; all where none is given")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], metavar="SEED")
    parser.add_argument(
        "--shares", type=float, nargs="+", default=[0.05, 0.1, 0.2], metavar="SHARE"
    )
    parser.add_argument(
        "--changing", type=float, nargs="+", default=[0.0, 0.02, 0.03], metavar="SHARE"
    )
    parser.add_argument("--rules", action="store_true", help="print rules that are wrong")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    found = []
    for changing in options.changing:
        drawn = product(options.kinds or KINDS, options.seeds, options.shares)
        sites = (ViewSite(*one, changing) for one in drawn)
        found.append(report(sites, changing, show_rules=options.rules))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
