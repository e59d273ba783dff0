"""Sites with skipped short links, whose pages are or are not found under other URLs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response

from benchmarks.verdicts import readings
from benchmarks.verdicts.cases import AUDIT, ENDLESS
from benchmarks.verdicts.crawling import FIRST_IN_FIRST_OUT, PLUGIN, FollowSpider, Server, run
from benchmarks.verdicts.movements import MOVEMENTS, Visit, words
from benchmarks.verdicts.sites import Kind, document, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

_HOST = "skipping.example"
_ARTICLES = 100, 160
_ON_A_HUB = 8
_ONE_TITLE = 0.2
"""The share of the sites whose pages have one title."""
FOUND, FORM, SOME, NONE = (
    "all pages are found elsewhere",
    "all show one form to log in",
    "a third of the pages is nowhere else",
    "no page is anywhere else",
)
KINDS = {FOUND: 0.0, FORM: 0.0, SOME: 1 / 3, NONE: 1.0}
"""By what short links show, the share of their pages that no other URL has."""
MORE_FETCHES = 60
"""The most fetches that a template may cost, whatever the size of the site."""
RULES = {_HOST: {"skip": ["/?p={id:digits}"]}}


@dataclass(frozen=True)
class Skipping:
    """One crawl of such a site."""

    kind: str
    """What short links show, of :data:`KINDS`."""
    is_audited: bool
    seed: int


class SkippingSite:
    """A site that links each page by its number, and most of them by their address as well."""

    def __init__(self, case: Skipping) -> None:
        self._case = case
        self._seed = f"{case.kind} {case.seed}"
        random = Random(self._seed)
        self._random = Random(f"{self._seed} visits")
        self._movement = random.choice(tuple(MOVEMENTS))
        self._menu = [words(f"{self._seed} menu {n}", 2) for n in range(15)]
        self._has_one_title = random.random() < _ONE_TITLE
        self._articles = [self._kind(n, random) for n in range(random.randint(*_ARTICLES))]
        self._form = Kind("Log in", (words(f"{self._seed} log-in", 25),), is_form=True)
        share = KINDS[case.kind]
        self.lacking = {n for n in range(len(self._articles)) if random.random() < share}
        """The pages that have no other URL."""
        dated = []
        for number in range(len(self._articles)):
            when = random.random()
            dated.append((when, f"/?p={number}"))
            if number not in self.lacking:
                dated.append((when + random.uniform(-0.1, 0.1), f"/article/{number}"))
        paths = [path for _, path in sorted(dated)]
        self._hubs = [paths[at : at + _ON_A_HUB] for at in range(0, len(paths), _ON_A_HUB)]
        self.fetches = 0
        self.home = f"http://{_HOST}/hub/0"

    def _kind(self, number: int, random: Random) -> Kind:
        text = f"{self._seed} {number}"
        lines = tuple(words(f"{text} {n}", 20) for n in range(random.choice((2, 4, 8))))
        return Kind("Skipping" if self._has_one_title else words(text, 3), lines)

    @property
    def pages(self) -> set[str]:
        """The pages that a crawl is to reach."""
        return {*map(str, range(len(self._articles)))}

    def respond(self, request: Request) -> Response:
        """Answer *request*."""
        self.fetches += 1
        what, _, number = request.url.removeprefix(f"http://{_HOST}/").rpartition("/")
        if what == "hub":
            return self._hub(int(number))
        number = number.removeprefix("?p=")
        kind, flag = self._articles[int(number)], number
        if not what and self._case.kind == FORM:
            kind, flag = self._form, "form"
        visit = Visit(self._seed, self.fetches, self._random)
        moved = MOVEMENTS[self._movement](visit)
        html = document(kind, text_of(kind, self._menu), "", moved)
        return HtmlResponse(request.url, body=html.encode(), flags=[flag], encoding="utf-8")

    def _hub(self, number: int) -> Response:
        paths = self._hubs[number]
        if number + 1 < len(self._hubs):
            paths = [*paths, f"/hub/{number + 1}"]
        links = "".join(f'<li><a href="http://{_HOST}{path}">more</a></li>' for path in paths)
        url = f"http://{_HOST}/hub/{number}"
        return HtmlResponse(url, body=f"<title>Hub {number}</title>{links}".encode())


@dataclass(frozen=True)
class Skipped:
    """The outcome of one crawl."""

    case: Skipping
    pages: int
    reached: int
    fetches: int
    hubs: int
    """The number of fetches of lists."""
    lacking: int
    """The number of pages that no other URL has."""
    is_suspended: bool
    """Whether the template was suspended."""

    @property
    def share(self) -> float:
        """Fetches per page."""
        return (self.fetches - self.hubs) / self.pages

    @property
    def is_right(self) -> bool:
        """Whether the rule loses no page."""
        return not KINDS[self.case.kind]

    @property
    def problems(self) -> list[str]:
        """The failures."""
        found = []
        if self.case.is_audited or self.is_right:
            if self.reached < self.pages:
                found.append(f"{self.pages - self.reached} of {self.pages} pages are lost")
            if self.is_right and self.is_suspended:
                found.append("right and suspended")
            # Once a rule is off, the pages that have two URLs are fetched twice.
            elsewhere = 0 if self.is_right else self.pages - self.lacking
            more = self.fetches - self.hubs - self.pages - elsewhere
            if more > MORE_FETCHES:
                found.append(f"{more} fetches more than pages")
        return found

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "problems": self.problems}


async def crawl(case: Skipping) -> Skipped:
    """Crawl the site of *case*."""
    site = SkippingSite(case)
    pages = site.pages
    server = Server(site, limit=ENDLESS * len(pages))
    settings: dict[str, Any] = {**PLUGIN, "URLCANON_RULES": RULES}
    settings["URLCANON_AUDIT"] = AUDIT if case.is_audited else 0.0
    if Random(repr(case)).random() < 0.5:  # noqa: PLR2004
        settings |= FIRST_IN_FIRST_OUT
    crawled = await run(FollowSpider, server, settings, home=site.home)
    return Skipped(
        case,
        pages=len(pages),
        reached=len(pages & crawled.got),
        fetches=len(server.hits),
        hubs=sum("/hub/" in url for url in server.hits),
        lacking=len(site.lacking),
        is_suspended=bool([*readings.suspended(crawled.stats)]),
    )


def of_skips(seeds: range) -> Iterator[Skipping]:
    """Yield crawls of each kind."""
    for kind in KINDS:
        for is_audited in (False, True):
            for seed in seeds:
                yield Skipping(kind, is_audited, seed)
