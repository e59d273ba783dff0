"""Sites whose pages declare canonical URLs, some of them those of other pages (lies)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from email.utils import format_datetime
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.http import HtmlResponse, Response

from benchmarks.verdicts.cases import AUDIT, ENDLESS
from benchmarks.verdicts.crawling import FIRST_IN_FIRST_OUT, PLUGIN, FollowSpider, Server, run
from benchmarks.verdicts.movements import MOVEMENTS, Visit, words
from benchmarks.verdicts.sites import Kind, document, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

_HOST = "http://declaring.example"
_HONEST = 100, 160
_LIES = 20
_ON_A_HUB = 8
WITNESSES = {
    "og:url": "og:url has the page's own URL",
    "next": "the address of the next page goes on from the page's own URL",
    "title": "only the title is another one than that of the links",
    "nothing": "nothing says so but its text",
}
"""By name, what on a page contradicts a lie."""
HONEST, FEW, BEGINS = "none lies", "one in twenty lies", "it begins to lie"
MAY_BE_LOST = {BEGINS: 3}
"""The most pages that lies may cost if nothing is audited; none with an audit."""


class _Entry(NamedTuple):
    """A URL of the site."""

    url: str
    page: str
    """The page that it shows."""
    kind: Kind
    canonical: str
    """The URL that it declares."""
    is_lie: bool = False


@dataclass(frozen=True)
class Declaring:
    """One crawl of such a site."""

    lies: str
    """:data:`HONEST`, :data:`FEW` or :data:`BEGINS`."""
    witness: str
    is_audited: bool
    seed: int


class DeclaringSite:
    """A site that links each page with ``ref``, which should make no difference, and without.

    The hubs do so one after the other. A lie is a page with ``ref`` that is another page, and
    still declares the URL without it.
    """

    def __init__(self, case: Declaring) -> None:
        self._case = case
        self._seed = f"{case.lies} {case.witness} {case.seed}"
        random = Random(self._seed)
        self._random = Random(f"{self._seed} visits")
        self._movement = random.choice(tuple(MOVEMENTS))
        self._menu = [words(f"{self._seed} menu {n}", 2) for n in range(15)]
        self.fetches = 0
        honest = list(self._pages("item", random.randint(*_HONEST), random))
        number = {HONEST: 0, FEW: len(honest) // 19, BEGINS: _LIES}[case.lies]
        liars = list(self._pages("liar", number, random))
        dated = []
        for path, kind in honest:
            dated += self._twice(_entry(kind, path, random), path, kind, random.random(), random)
        for path, kind in liars:
            when = random.uniform(1, 1.3) if case.lies == BEGINS else random.random()
            dated += self._twice(self._lie(kind, path, random), path, kind, when, random)
        entries = [entry for _, entry in sorted(dated)]
        self._hubs = [entries[at : at + _ON_A_HUB] for at in range(0, len(entries), _ON_A_HUB)]
        self._by_url = {entry.url: entry for entry in entries}
        self.home = f"{_HOST}/hub/0"

    @staticmethod
    def _twice(
        entry: _Entry, path: str, kind: Kind, when: float, random: Random
    ) -> Iterator[tuple[float, _Entry]]:
        """Yield the URL of a page, and some links later the URL that it declares."""
        yield when, entry
        yield when + random.uniform(0.03, 0.15), _Entry(_HOST + path, path, kind, _HOST + path)

    @property
    def pages(self) -> set[str]:
        """The pages that a crawl must reach."""
        return {entry.page for entry in self._by_url.values()}

    @property
    def urls(self) -> set[str]:
        """All URLs of these pages."""
        return set(self._by_url)

    def respond(self, request: Request) -> Response:
        """Answer *request*."""
        self.fetches += 1
        if "/hub/" in request.url:
            return self._hub(request.url)
        entry = self._by_url.get(request.url)
        if entry is None:
            return HtmlResponse(request.url, 404, body=b"<h1>Not found</h1>", encoding="utf-8")
        visit = Visit(self._seed, self.fetches, self._random)
        moved = MOVEMENTS[self._movement](visit)
        html = document(entry.kind, text_of(entry.kind, self._menu), "", moved, self._head(entry))
        headers = {"Content-Type": "text/html", "Date": format_datetime(visit.time)}
        return HtmlResponse(
            request.url, 200, headers, html.encode(), flags=[entry.page], encoding="utf-8"
        )

    def _hub(self, url: str) -> Response:
        number = int(url.rpartition("/")[2])
        links = [(entry.url, entry.kind.title) for entry in self._hubs[number]]
        if number + 1 < len(self._hubs):
            links.append((f"{_HOST}/hub/{number + 1}", "More"))
        html = "".join(f'<li><a href="{target}">{label}</a></li>' for target, label in links)
        return HtmlResponse(url, body=f"<title>Hub {number}</title>{html}".encode())

    def _head(self, entry: _Entry) -> str:
        def own(witness: str) -> str:
            return entry.url if entry.is_lie and self._case.witness == witness else entry.canonical

        following = own("next") + ("&" if "?" in own("next") else "?")
        return (
            f'<link rel="canonical" href="{entry.canonical}">'
            f'<meta property="og:url" content="{own("og:url")}">'
            f'<link rel="next" href="{following}page=2">'
        )

    def _pages(self, name: str, count: int, random: Random) -> Iterator[tuple[str, Kind]]:
        for number in range(count):
            text = f"{self._seed} {name} {number}"
            lines = tuple(words(f"{text} {n}", 20) for n in range(random.choice((1, 3, 8))))
            # One kind of path: so there is one way of declaring.
            digits = number + (1000 if name == "liar" else 0)
            yield f"/item/{digits}/", Kind(words(text, 3), lines)

    def _lie(self, kind: Kind, path: str, random: Random) -> _Entry:
        lines = tuple(words(f"{line} other", 20) for line in kind.lines)
        title = kind.title if self._case.witness == "nothing" else words(f"{kind.title} other", 3)
        entry = _entry(kind, path, random)
        return entry._replace(page=f"{path} other", kind=Kind(title, lines), is_lie=True)


def _entry(kind: Kind, path: str, random: Random) -> _Entry:
    ref = words(f"ref {random.randrange(8)}", 1)
    return _Entry(f"{_HOST}{path}?ref={ref}", path, kind, _HOST + path)


@dataclass(frozen=True)
class Declared:
    """The outcome of one crawl."""

    case: Declaring
    pages: int
    reached: int
    fetches: int
    saved: int
    """The number of URLs that were not fetched because a canonical URL was believed."""
    is_endless: bool

    @property
    def problems(self) -> list[str]:
        """The failures."""
        lost = self.pages - self.reached
        most = 0 if self.case.is_audited else MAY_BE_LOST.get(self.case.lies, 0)
        found = [f"{lost} of {self.pages} pages are lost"] if lost > most else []
        if self.case.lies == HONEST and self.saved < self.pages / 2:
            found.append(f"only {self.saved} of {self.pages} pages are believed")
        return [*found, "the crawl has no end"] if self.is_endless else found

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "problems": self.problems}


async def crawl(case: Declaring) -> Declared:
    """Crawl the site of *case*."""
    site = DeclaringSite(case)
    pages = site.pages
    server = Server(site, limit=ENDLESS * len(pages))
    settings = {**PLUGIN, **FIRST_IN_FIRST_OUT, "URLCANON_DECLARED_CANONICAL": True}
    settings["URLCANON_AUDIT"] = AUDIT if case.is_audited else 0.0
    crawled = await run(FollowSpider, server, settings, home=site.home)
    return Declared(
        case,
        pages=len(pages),
        reached=len(pages & crawled.got),
        fetches=len(server.hits),
        saved=len(site.urls - set(server.hits)),
        is_endless=server.is_endless,
    )


def of_declarations(seeds: range) -> Iterator[Declaring]:
    """Yield crawls of each kind."""
    for lies in (HONEST, FEW, BEGINS):
        for witness in WITNESSES if lies != HONEST else ("none",):
            for is_audited in (False, True):
                for seed in seeds:
                    yield Declaring(lies, witness, is_audited, seed)
