"""Runs ``validate`` on sites whose pages change: right rules should hold, wrong ones fail."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.verdicts.cases import Case
from benchmarks.verdicts.crawling import Server, run
from benchmarks.verdicts.movements import MOVEMENTS
from benchmarks.verdicts.options import OPTIONS
from benchmarks.verdicts.sites import Site
from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.validate.rule_check import checks_of
from scrapy_urlcanon.validate.spider import SETTINGS, ValidationSpider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.validate.rule_check import RuleCheck

_PAIRS = 30
_URLS_PER_PAGE = 3


@dataclass(frozen=True)
class Validated:
    """The result of ``validate`` for one entry."""

    case: Case
    option: str
    entry: str
    is_wrong: bool
    outcome: str
    fetches: int

    @property
    def problems(self) -> list[str]:
        """The failures."""
        if self.is_wrong and self.outcome != "fails":
            return [f"{self.option}: {self.entry} is wrong, and {self.outcome}"]
        if not self.is_wrong and self.outcome != "holds":
            return [f"{self.option}: {self.entry} is right, and {self.outcome}"]
        return []

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "problems": self.problems}


@dataclass(frozen=True)
class Validation:
    """The rules of a case, which are validated on its site."""

    case: Case


async def validate(validation: Validation) -> list[Validated]:
    """Validate each entry of the rules, one after the other."""
    case = validation.case
    site = case.site()
    assert isinstance(site, Site)
    random = Random(f"{site.seed} urls")
    urls = [
        site.decorated(page, random)
        for page in sorted(site.pages, key=repr)
        for _ in range(_URLS_PER_PAGE)
    ]
    rules = {site.domain: site.rules()}
    configuration = Canonicalizer(rules, preset="scrapy").configuration
    return [
        await _validated(case, site, check)
        for check in checks_of(configuration, urls, most=_PAIRS)
        if check.pairs
    ]


async def _validated(case: Case, site: Site, check: RuleCheck) -> Validated:
    server = Server(site, limit=10 * _PAIRS)
    await run(ValidationSpider, server, SETTINGS, checks=[check])
    option = OPTIONS[check.option]
    is_wrong = site.wrong == check.option and (
        option.is_either or option.is_whole or check.text.startswith(option.wrong)
    )
    return Validated(
        case, check.option, check.text, is_wrong, check.outcome.value, len(server.hits)
    )


def of_validations(seeds: range) -> Iterator[Validation]:
    """Yield sites to validate rules on; two of three have a wrong entry."""
    options = tuple(OPTIONS)
    for kind in MOVEMENTS:
        for seed in seeds:
            option = options[seed % len(options)]
            yield Validation(Case(kind, option, has_wrong=bool(seed % 3), seed=seed))
