"""The crawls: each kind of movement with right and wrong rules, and sites that are worse."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.verdicts import readings
from benchmarks.verdicts.crawling import (
    FIRST_IN_FIRST_OUT,
    PLUGIN,
    Cookies,
    FollowSpider,
    Server,
    run,
)
from benchmarks.verdicts.movements import MOVEMENTS
from benchmarks.verdicts.options import OPTIONS
from benchmarks.verdicts.sites import Manners, Site, TwoSites

if TYPE_CHECKING:
    from collections.abc import Iterator

AUDIT = 0.02
"""The share of ``URLCANON_AUDIT``."""
ENDLESS = 4
"""A crawl with this many fetches per page counts as endless."""
MORE, MORE_PER_WRONG = 0.1, 0.2
"""The most fetches beyond one per page, as a share: if all entries are right, and per wrong one."""
ALL = "all at once"
_NAMED = 3
HARD = {
    "everything differs at each fetch": Manners(is_chaos=True),
    "captcha for what is fetched again": Manners(again="captcha"),
    "429 for what is fetched again": Manners(again="429"),
    "log-in for what is fetched again": Manners(again="log-in"),
    "another page for what is fetched again": Manners(again="other"),
    "another page by a cookie": Manners(again="cookie"),
    "pages of 10 MB": Manners(is_huge=True),
    "each page shows its own URL": Manners(shows_url=True),
}
"""Sites with right rules on which an audit can find out little."""
SOMETIMES = {
    "captcha for half of what is fetched again": Manners(again="captcha", share=0.5),
    "429 for half of what is fetched again": Manners(again="429", share=0.5),
}
"""Sites on which it can find out enough to suspend wrong entries."""
TWO_DOMAINS = "two domains, one rule, wrong for one"


@dataclass(frozen=True)
class Case:
    """One crawl."""

    kind: str
    """What changes at each visit, or what is hard about the site."""
    option: str
    """The option whose decoration URLs have, or :data:`ALL`."""
    has_wrong: bool
    seed: int
    is_on: bool = True
    """Whether the plugin is on."""

    def site(self) -> Site | TwoSites:
        """Make the site."""
        seed = f"{self.option} {self.has_wrong} {self.seed}"
        if self.kind == TWO_DOMAINS:
            first = Site(f"{seed} right", "several of these", is_v_noise=True)
            second = Site(
                f"{seed} wrong", "several of these", ("drop_params",), "drop_params",
                domain="other.example",
            )  # fmt: skip
            return TwoSites(first, second)
        manners = {**HARD, **SOMETIMES}.get(self.kind, Manners())
        movement = self.kind if self.kind in MOVEMENTS else "several of these"
        if manners.shows_url:
            movement = "nothing"
        wrong = None
        options = tuple(OPTIONS) if self.option == ALL else (self.option,)
        if self.has_wrong:
            wrong = "drop_params" if self.option == ALL else self.option
            if wrong != ALL and OPTIONS[wrong].is_either and len(options) == 1:
                # So that there are right entries beside it.
                options = (*options, "drop_params")
        if self.option == ALL:
            # What is not to be kept is dropped anyway: the others would have nothing to do.
            options = tuple(name for name in options if name != "keep_params")
        return Site(seed, movement, options, wrong, manners)

    def settings(self, site: Site | TwoSites) -> dict[str, Any]:
        """Return the settings of the crawl."""
        settings: dict[str, Any] = {}
        if self.is_on:
            rules = (
                {"*": site.second.rules()}
                if isinstance(site, TwoSites)
                else {site.domain: site.rules()}
            )
            settings = {**PLUGIN, "URLCANON_AUDIT": AUDIT, "URLCANON_RULES": rules}
        random = Random(repr(self))
        if random.random() < 0.5:  # noqa: PLR2004
            settings |= FIRST_IN_FIRST_OUT
        if random.random() < 0.3:  # noqa: PLR2004
            settings["CONCURRENT_REQUESTS"] = 8
        if self.kind.endswith("cookie"):
            settings["DOWNLOADER_MIDDLEWARES"] = {Cookies: 700}
        return settings

    def is_wrong(self, found: readings.Suspended) -> bool:
        """Tell whether the suspended entry is the wrong one."""
        name = "drop_params" if self.option == ALL or self.kind == TWO_DOMAINS else self.option
        if not self.has_wrong or found.option != name:
            return False
        # Where an option has one value, the option is the entry.
        return found.entry == ("" if OPTIONS[name].is_either else OPTIONS[name].wrong)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one crawl."""

    case: Case
    pages: int
    """The number of existing pages."""
    reached: int
    fetches: int
    suspended: dict[str, int] = field(default_factory=dict)
    """Each suspended entry, with the number of fetches before that."""
    right_suspended: tuple[str, ...] = ()
    found_after: int | None = None
    """The number of fetches before the wrong entry was suspended."""
    is_endless: bool = False
    audited: int = 0
    undecided: int = 0

    @property
    def share(self) -> float:
        """Fetches per page."""
        return self.fetches / self.pages

    @property
    def problems(self) -> list[str]:
        """The failures."""
        case, found = self.case, []
        if not case.is_on:
            return []
        if self.is_endless:
            found.append("the crawl has no end")
        if self.right_suspended:
            names = ", ".join(self.right_suspended[:_NAMED])
            more = len(self.right_suspended) - _NAMED
            found.append(
                f"right and suspended: {names}" + (f" and {more} more" if more > 0 else "")
            )
        if case.has_wrong and self.found_after is None:
            found.append("the wrong entry stands")
        if self.reached < self.pages:
            found.append(f"{self.pages - self.reached} of {self.pages} pages are lost")
        if case.kind in HARD and HARD[case.kind].again and not self.undecided:
            found.append("it does not say that it could not tell")
        if self.share > self.bound:
            found.append(f"{self.fetches} fetches for {self.pages} pages")
        return found

    @property
    def bound(self) -> float:
        """The most fetches per page."""
        return 1 + (MORE_PER_WRONG if self.case.has_wrong else MORE)

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "problems": self.problems}


async def crawl(case: Case) -> Outcome:
    """Crawl the site of *case*."""
    site = case.site()
    pages = site.pages
    server = Server(site, limit=ENDLESS * len(pages))
    crawled = await run(FollowSpider, server, case.settings(site), home=site.home)
    right = [str(found) for found in server.found if not case.is_wrong(found)]
    if case.kind == TWO_DOMAINS:
        off = readings.domains(crawled.warnings)
        right += [f"on {domain}" for domain in off if domain == site.first.domain]
    after = [count for found, count in server.found.items() if case.is_wrong(found)]
    return Outcome(
        case,
        pages=len(pages),
        reached=len({repr(page) for page in pages} & crawled.got),
        fetches=len(server.hits),
        suspended={str(found): count for found, count in server.found.items()},
        right_suspended=tuple(sorted(right)),
        found_after=min(after) if after else None,
        is_endless=server.is_endless,
        audited=readings.audited(crawled.stats),
        undecided=readings.undecided(crawled.stats),
    )


def without_the_plugin(seeds: range) -> Iterator[Case]:
    """Yield the crawls that show what the duplicates of these sites cost."""
    options = (*OPTIONS, ALL)
    for seed in seeds:
        yield Case("nothing", options[seed % len(options)], has_wrong=False, seed=seed, is_on=False)


def of_movements(seeds: range) -> Iterator[Case]:
    """Yield a crawl for each of *seeds* and kind of movement, with right and with wrong rules."""
    options = (*OPTIONS, ALL)
    for has_wrong in (False, True):
        for kind in MOVEMENTS:
            for seed in seeds:
                yield Case(kind, options[seed % len(options)], has_wrong, seed)


def of_hard_sites(seeds: range) -> Iterator[Case]:
    """Yield crawls of the sites on which an audit can find out little."""
    options = tuple(OPTIONS)
    for kind in (*HARD, *SOMETIMES):
        for seed in seeds:
            yield Case(kind, options[seed % len(options)], has_wrong=False, seed=seed)
    for kind in SOMETIMES:
        for seed in seeds:
            yield Case(kind, options[seed % len(options)], has_wrong=True, seed=seed)
    for seed in seeds:
        yield Case(TWO_DOMAINS, "drop_params", has_wrong=True, seed=seed)
