"""Shows whether the rules were right: what the audit compared, and what it suspended."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.crawl.checks.entries.shown_rules import shown_layer
from scrapy_urlcanon.crawl.checks.entries.taking_back import TakingBack, taking_back
from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.pages.verdict import Verdict
from scrapy_urlcanon.redaction import redact, redact_rule, shown_url, visible
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import Cause, RuleEntry
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Cell, Screen

_REMEMBERED = 1_000
_LISTED = 50
_PAIRS = {Verdict.ANOTHER: 4, Verdict.CANNOT_TELL: 2, Verdict.SAME: 2}
"""How many pairs are kept of each verdict, the most telling verdict first."""
_LINES = 5
_LONGEST_LINE = 200
_PRINTED = 10
_PRINTED_PAIRS = 1


@frozen
class Pair:
    """A dropped variant, or skipped URL, that was fetched anyway, with the result."""

    url: str
    """The variant, redacted."""
    kept: str
    """The kept URL. For a skipped URL, the URL of the most similar page, or empty."""
    verdict: str
    """``same``, ``another`` or ``cannot tell``."""
    reason: str
    """Why there is no verdict, if there is none."""
    only_variant: tuple[str, ...]
    """Some lines of text that only the variant showed."""
    only_kept: tuple[str, ...]


@frozen
class AuditedRule:
    """The results of the audit for an entry, or an option with a single value, on a domain."""

    rule: str
    """Such as ``drop_params:sid``."""
    domain: str
    same: int
    """How many variants showed the kept page."""
    another: int
    cannot_tell: int
    written: tuple[str, ...]
    """The layers that turn it on, as far as the pairs show."""
    suspended: tuple[TakingBack, ...]
    """How to take it back if it was suspended for the domain; else empty."""
    pairs: tuple[Pair, ...]
    """A few of the pairs, the most telling first."""

    @property
    def compared(self) -> int:
        """How many variants got a verdict."""
        return self.same + self.another


class Audit(Section):
    """What the audit compared, by entry and domain, suspended ones first.

    Memory is bounded by the number of entries and domains, first come first served, and of pairs of
    each.
    """

    place = 25
    name = "audit"
    label = "Was it right?"
    heading = label
    key = "audit"
    row = AuditedRule
    since = 2

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._found: dict[tuple[RuleEntry, str], _Found] = {}

    def note_audit(self, pair: AuditedPair) -> None:
        for entry in pair.entries:
            found = self._of(entry, pair.domain)
            if found:
                found.add(pair)

    def note_suspension(self, entry: RuleEntry, domain: str) -> None:
        found = self._of(entry, domain)
        if found:
            found.is_suspended = True

    def rows(self) -> tuple[AuditedRule, ...]:
        ranked = sorted(self._found.items(), key=lambda item: (*item[1].rank, item[0]))
        canonicalizer = self._canonicalizer.as_written()
        return tuple(
            self._row(entry, domain, found, canonicalizer)
            for (entry, domain), found in ranked[:_LISTED]
        )

    def _of(self, entry: RuleEntry, domain: str) -> _Found | None:
        found = self._found.get((entry, domain))
        if found is None and len(self._found) < _REMEMBERED:
            found = self._found[entry, domain] = _Found()
        return found

    def _row(
        self, entry: RuleEntry, domain: str, found: _Found, canonicalizer: Canonicalizer
    ) -> AuditedRule:
        urls = [url for pair in found.pairs for url in (pair.url, pair.first) if url]
        layers = dict.fromkeys(
            cause.layer
            for url in urls
            for cause in _causes(canonicalizer, entry.option, url)
            if cause.entry == entry.entry
        )
        ways = (
            [taking_back(canonicalizer.configuration, entry, domain, urls)]
            if found.is_suspended
            else []
        )
        return AuditedRule(
            rule=redact_rule(str(entry)),
            domain=domain,
            same=found.counts[Verdict.SAME],
            another=found.counts[Verdict.ANOTHER],
            cannot_tell=found.counts[Verdict.CANNOT_TELL],
            written=tuple(map(shown_layer, layers)),
            suspended=tuple(ways),
            pairs=tuple(map(_pair, found.pairs)),
        )

    @classmethod
    def check(cls, report: Report) -> None:
        verdicts = {verdict.value for verdict in Verdict}
        for number, row in enumerate(report.rows(AuditedRule)):
            for place, pair in enumerate(row.pairs):
                if pair.verdict not in verdicts:
                    expected = " or ".join(map(repr, sorted(verdicts)))
                    raise ReportError(
                        f"audit[{number}].pairs[{place}].verdict: expected {expected}, "
                        f"got {pair.verdict!r}"
                    )

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        rows = report.rows(AuditedRule)
        if not rows and not report.figure("dropped/variant"):
            return None
        return {"rules": rows, "said": summary_of(report), "figures_of": figures_of}

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        screen.line(summary_of(report))
        for row in report.rows(AuditedRule)[:_PRINTED]:
            style = "bold yellow" if row.suspended else "bold" if row.another else ""
            screen.line((row.rule, style), f" on {row.domain}  ", (figures_of(row), "dim"))
            for suspended in row.suspended:
                screen.line((f"suspended. {suspended.advice}", "dim"), indent=2)
                if suspended.line:
                    screen.line(suspended.line, indent=4)
            told = [pair for pair in row.pairs if pair.verdict != Verdict.SAME.value]
            for pair in told[:_PRINTED_PAIRS]:
                _show_pair(pair, screen)


class _Found:
    """What the audit found about one entry on one domain."""

    def __init__(self) -> None:
        self.counts: Counter[Verdict] = Counter()
        self.is_suspended = False
        self._pairs: dict[Verdict, list[AuditedPair]] = {verdict: [] for verdict in _PAIRS}

    @property
    def pairs(self) -> list[AuditedPair]:
        """The pairs that are kept, the most telling first."""
        return list(chain.from_iterable(self._pairs.values()))

    @property
    def rank(self) -> tuple[bool, int, int]:
        """A sort key; the least is shown first."""
        return not self.is_suspended, -self.counts[Verdict.ANOTHER], -self.counts.total()

    def add(self, pair: AuditedPair) -> None:
        verdict = pair.judgement.verdict
        self.counts[verdict] += 1
        if len(self._pairs[verdict]) < _PAIRS[verdict]:
            self._pairs[verdict].append(pair)


def summary_of(report: Report) -> str:
    """Return what the audit did, in one sentence."""
    audited, unjudged = report.figure("audited"), report.figure("audit/unjudged")
    another = report.figure("audit/false_merge")
    if not audited + unjudged:
        return "No dropped variant was fetched to see whether it is the page that was kept."
    said = (
        f"Of {count_of(audited + unjudged, 'dropped variant')} that were fetched anyway, "
        f"{audited - another:,} showed the page that was kept and {another:,} another page"
    )
    return f"{said}; of {unjudged:,} it cannot be told." if unjudged else f"{said}."


def figures_of(row: AuditedRule) -> str:
    """Return the numbers of verdicts, in words."""
    told = f"{row.another:,} of {row.compared:,} showed another page"
    return f"{told}, {row.cannot_tell:,} cannot be told" if row.cannot_tell else told


def _causes(canonicalizer: Canonicalizer, option: str, url: str) -> Iterator[Cause]:
    """Yield the causes for which *option* changed or skipped *url*."""
    explanation = canonicalizer.explain(url)
    skip = canonicalizer.cause_of_skip(explanation.canonical) if option == SKIP else None
    if skip:
        yield skip
    for step in explanation.steps:
        if step.option == option:
            yield from step.causes


def _pair(pair: AuditedPair) -> Pair:
    judgement = pair.judgement
    return Pair(
        shown_url(pair.url),
        shown_url(pair.first),
        judgement.verdict.value,
        judgement.reason,
        tuple(_lines(judgement.only_variant)),
        tuple(_lines(judgement.only_kept)),
    )


def _lines(lines: Iterable[str]) -> Iterator[str]:
    for line in islice(lines, _LINES):
        shown = visible(redact(line))
        yield shown if len(shown) <= _LONGEST_LINE else f"{shown[:_LONGEST_LINE]} …"


def _show_pair(pair: Pair, screen: Screen) -> None:
    verdict = f"{pair.verdict}: {pair.reason}" if pair.reason else pair.verdict
    url = screen.marked(pair.url, pair.kept) if pair.kept else pair.url
    screen.line(url, (f"  {verdict}", "cyan"), indent=2)
    rows: list[tuple[Cell, Cell]] = []
    for label, lines in (
        ("only in the variant", pair.only_variant),
        ("only on the kept page", pair.only_kept),
    ):
        rows += [(label if number == 0 else "", line) for number, line in enumerate(lines)]
    screen.table(rows, numbers=0, indent=4)
