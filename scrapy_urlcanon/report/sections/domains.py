"""The registrable domains and what was dropped on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping  # noqa: TC003 - decode() reads the annotations
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.report.sections.pages import Group
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

OTHER = "other"
"""The name under which the drops on all domains that are not listed are counted."""
_COUNTED = 5_000
_LISTED = 1_000
_PRINTED = 10
_PRINTED_OPTIONS = 3


@frozen
class Domain:
    """A registrable domain and what was dropped there."""

    name: str
    dropped: int
    exact: int
    variant: int
    options: Mapping[str, int]
    """How many dropped variants are due to each option, by name."""


class _Count:
    def __init__(self) -> None:
        self.exact = self.variant = 0
        self.options: Counter[str] = Counter()

    @property
    def dropped(self) -> int:
        return self.exact + self.variant

    def include(self, other: _Count) -> None:
        self.exact += other.exact
        self.variant += other.variant
        self.options += other.options

    def row(self, name: str) -> Domain:
        options = dict(by_count(self.options))
        return Domain(name, self.dropped, self.exact, self.variant, options)


class Domains(Section):
    """How many requests were dropped on each domain: the most first, and the others as one."""

    place = 40
    name = "domains"
    label = "Domains"
    heading = "By domain"
    key = "domains"
    row = Domain

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._counts: dict[str, _Count] = {}

    def note_drop(self, drop: Drop) -> None:
        if drop.domain not in self._counts and len(self._counts) >= _COUNTED:
            # Those with the fewest drops are merged, so that a domain that comes late can still be
            # listed.
            self._counts = self._most(_COUNTED // 2)
        count = self._counts.setdefault(drop.domain, _Count())
        if drop.is_exact:
            count.exact += 1
        else:
            count.variant += 1
            count.options.update(drop.rules)

    def rows(self) -> tuple[Domain, ...]:
        return tuple(count.row(name) for name, count in self._most(_LISTED).items())

    def _most(self, listed: int) -> dict[str, _Count]:
        """Return the counts of the *listed* domains with the most drops, and one for all others."""
        counts = dict(self._counts)
        others = counts.pop(OTHER, _Count())
        ranked = sorted(counts, key=lambda name: (-counts[name].dropped, name))
        for name in ranked[listed:]:
            others.include(counts[name])
        most = {name: counts[name] for name in ranked[:listed]}
        return {**most, OTHER: others} if others.dropped else most

    @classmethod
    def check(cls, report: Report) -> None:
        for number, domain in enumerate(report.rows(Domain)):
            if domain.exact + domain.variant != domain.dropped:
                raise ReportError(f"domains[{number}]: exact and variant are not what was dropped")

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        pages = Counter(group.domain for group in report.rows(Group))
        domains = report.rows(Domain)
        others = _written_number(domains[_PRINTED:])
        return {"domains": domains, "pages": pages, "listed": _PRINTED, "others": others}

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        domains = report.rows(Domain)
        rows = [_printed(domain) for domain in domains[:_PRINTED]]
        others = domains[_PRINTED:]
        if others:
            dropped = sum(domain.dropped for domain in others)
            rows.append((f"{dropped:,}", (f"on {_written_number(others)}", "dim"), ""))
        screen.table(rows)


def _written_number(others: tuple[Domain, ...]) -> str:
    """Return the number of domains in *others*, in words; the last may stand for many."""
    is_open = bool(others) and others[-1].name == OTHER
    return f"{'at least ' if is_open else ''}{count_of(len(others), 'other domain')}"


def _printed(domain: Domain) -> tuple[str, Any, Any]:
    most = list(domain.options.items())[:_PRINTED_OPTIONS]
    options = ", ".join(f"{name} {count:,}" for name, count in most)
    return f"{domain.dropped:,}", domain.name, (options, "dim")
