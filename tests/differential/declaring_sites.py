"""Random sites that declare canonical URLs, some of them wrong, and what must not be lost.

Each item has a URL of its own, and URLs with a parameter that declare it. Of the URLs with each
parameter none, some or all are other items: for these the declaration is a lie. Pages may have
something that changes at each visit.

If only one URL in twenty lies, and nothing but its text shows it, it may be lost. No site here
does that.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from loopback import page
from sites import SITE, links
from trap_sites import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopback import Request, Response

_PARAMETERS = ("ref", "color", "sid", "tab")
_FIFO = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
_MOVES = (
    lambda *_: "",
    lambda visit, _: f"<p>Visits: {visit}",
    lambda visit, _: f"<p>Online: {words(f'visit {visit}', 4)}",
    lambda _, random: f"<img src=/ads/{random.randrange(11)}.png>",
    lambda _, random: f"<p>{words(f'test {random.randrange(2)}', 24)}",
    lambda _, random: "".join(
        f"<div>{words(f'ad {random.randrange(30)}', 8)}</div>" for _ in range(3)
    ),
    lambda _, random: f"<p>Request {random.randbytes(6).hex()}",
)


class DeclaringSite:
    """The site of one seed."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self._seed = seed
        self.lies = {name: random.choice([0, 0, 0, 0.3, 0.5, 1]) for name in _PARAMETERS}
        """For each parameter, the share of its URLs that are other items."""
        self._items = self._made(random)
        self._hubs = self._linked(random)
        self._has_titles = random.random() < 0.5
        self._size = random.choice([6, 15, 40])
        menu = (words(f"{seed} menu {n}", 2) for n in range(random.choice([0, 3, 12])))
        self._menu = "".join(f"<li>{each}" for each in menu)
        self._move = random.choice(_MOVES)
        self._moved = Random(seed + 1)
        self._visits = count()
        self.settings: dict[str, Any] = {
            "URLCANON_DECLARED_CANONICAL": True,
            "CONCURRENT_REQUESTS": random.choice([1, 1, 4, 8]),
        }
        if random.random() < 0.5:
            self.settings |= _FIFO
        if random.random() < 0.3:
            self.settings["URLCANON_AUDIT"] = 0.05

    def _made(self, random: Random) -> dict[str, tuple[str, str]]:
        """Return for each URL the item that it shows, by its first URL, and what it declares."""
        items = {}
        for number in range(random.choice([8, 20, 40, 80])):
            own = f"/item{number}"
            items[own] = own, own
            for name, lies in self.lies.items():
                for value in range(random.choice([0, 0, 1, 1, 2])):
                    url = f"{own}?{name}={value}"
                    items[url] = url if random.random() < lies else own, own
        return items

    def _linked(self, random: Random) -> list[list[str]]:
        """Return the URLs that each hub links, in random order or with the canonical ones last."""
        later = random.choice([0, 0.4])
        when = {
            url: random.random() + ("?" not in url) * random.uniform(0, later)
            for url in self._items
        }
        order = sorted(when, key=when.__getitem__)
        size = random.choice([4, 8, 20])
        return [order[start : start + size] for start in range(0, len(order), size)]

    def respond(self, request: Request) -> Response:
        """Answer *request*."""
        if request.target in self._items:
            return self._item(request.target)
        hub = request.path.removeprefix("/hub").removeprefix("/") or "0"
        if not hub.isdigit():
            return page("missing", status=404)
        following = int(hub) + 1
        more = [f"/hub{following}"] if following < len(self._hubs) else []
        return links(*self._hubs[int(hub)], *more)

    def _item(self, target: str) -> Response:
        shown, canonical = self._items[target]
        title = words(f"{self._seed} {shown if self._has_titles else canonical} title", 3)
        texts = (words(f"{self._seed} {shown} {n}", self._size) for n in range(2))
        return page(
            f"<title>{title}</title><link rel=canonical href={canonical}>{self._menu}"
            f"<h1>{title}</h1>{''.join(f'<p>{text}</p>' for text in texts)}<hr>"
            f"{self._move(next(self._visits), self._moved)}<p>foot"
        )

    def lost(self, urls: Iterable[str]) -> set[str]:
        """Return the items that none of *urls*, which the spider got, shows."""
        got = (url.removeprefix(SITE) for url in urls)
        had = {self._items[url][0] for url in got if url in self._items}
        return {shown for shown, _ in self._items.values()} - had
