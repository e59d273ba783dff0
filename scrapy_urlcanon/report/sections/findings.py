"""What in a report a user should look at before trusting the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.report.sampling import COUNTED_URLS
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.report.sections.audit import Audit, AuditedRule
from scrapy_urlcanon.report.sections.options import Option
from scrapy_urlcanon.report.sections.pages import Group
from scrapy_urlcanon.report.sections.parameters import COUNTED_VALUES, Parameter
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_LARGE_GROUP = 50
"""This many URLs of one page are a trap that a rule closed, or a rule that merges too much."""
_LISTED = 5


@frozen
class Finding:
    """One thing worth a look."""

    title: str
    text: str
    """What it means and what to do about it."""
    examples: tuple[str, ...] = ()
    """URLs and names, as the report shows them."""
    is_warning: bool = False
    """Whether pages were, or may have been, taken for duplicates wrongly."""


class Findings(Section):
    """What in a report a user should look at before trusting the rules, warnings first."""

    place = 20
    name = "look"
    label = "Worth a look"

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        findings = findings_of(report)
        return {"findings": findings} if findings else None

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        findings = findings_of(report)
        if findings:
            screen.heading(cls.label)
        for finding in findings:
            screen.line((finding.title, "bold yellow" if finding.is_warning else "bold"))
            screen.line((finding.text, "dim"), indent=2)
            for example in finding.examples:
                screen.line(example, indent=2)


def findings_of(report: Report) -> tuple[Finding, ...]:
    """Return the findings of *report*, warnings first."""
    findings = [finding for find in _FINDERS for finding in find(report)]
    return tuple(sorted(findings, key=lambda finding: not finding.is_warning))


def _suspended(report: Report) -> Iterator[Finding]:
    suspended = [row for row in report.rows(AuditedRule) if row.suspended]
    rules = [f"{row.rule} on {row.domain}" for row in suspended]
    # Reports of the previous version only have the figures.
    rules = rules or list(report.figures_under("audit/suspended/"))
    if rules:
        yield Finding(
            f"{count_of(len(rules), 'rule')} suspended during the crawl",
            "The audit found that these took too many different pages for duplicates. Narrow them "
            f"to a path, or take them back: {Audit.label!r} has the line to paste.",
            tuple(rules),
            is_warning=True,
        )


def _false_merges(report: Report) -> Iterator[Finding]:
    wrong, audited = report.figure("audit/false_merge"), report.figure("audited")
    if wrong:
        yield Finding(
            f"{count_of(wrong, 'audit')} found another page than the one kept",
            f"Of {count_of(audited, 'dropped URL')} that were fetched anyway to compare them. The "
            "spider got those pages; others under the same rules are missing.",
            is_warning=True,
        )


def _large_groups(report: Report) -> Iterator[Finding]:
    large = sorted(
        (
            group
            for group in report.rows(Group)
            if group.urls >= _LARGE_GROUP and not group.is_of_sections
        ),
        key=lambda group: -group.urls,
    )
    if large:
        most = f"{'At least' if large[0].urls >= COUNTED_URLS else 'Up to'} {large[0].urls} URLs"
        pages = count_of(len(large), "page has", "pages have")
        yield Finding(
            f"{pages} very many URLs",
            f"{most} of one page are a trap that a rule has closed, or "
            "the sign of a rule that merges too much. Open a few of them.",
            tuple(group.kept for group in large[:_LISTED]),
            is_warning=True,
        )


def _one_of_several_runs(report: Report) -> Iterator[Finding]:
    if report.figure("job/resumed"):
        yield Finding(
            "The figures are those of one run of a job",
            "What the rules saved in an earlier run counts as saved again where it is linked "
            "again: plain Scrapy would have fetched it once.",
        )


def _rescues(report: Report) -> Iterator[Finding]:
    if rescued := report.figure("rescued"):
        yield Finding(
            f"{count_of(rescued, 'page')} rescued",
            "The URL that was kept failed, so a dropped variant was fetched in its place. If it "
            "happens often, the kept form of the URLs may be the one that does not work.",
        )


def _redirect_hops(report: Report) -> Iterator[Finding]:
    if hops := report.figure("redirect_hops"):
        rewritable = report.figure("redirect_hops/rewritable")
        saved = (
            f" {count_of(rewritable, 'of them leads', 'of them lead')} to the very URL that the "
            "rules make: URLCANON_REWRITE fetches that in the first place, and saves a request."
        )
        yield Finding(
            f"{count_of(hops, 'redirect')} to the canonical form of its own URL"
            if hops == 1
            else f"{count_of(hops, 'redirect')} to the canonical form of their own URL",
            f"They were followed, so no page is lost.{saved if rewritable else ''}",
        )


def _skipped(report: Report) -> Iterator[Finding]:
    by_template = report.figures_under("skipped/")
    placed = report.figure("skip/placed")
    known = f" Of {placed:,} it is known: those pages were requested." if placed else ""
    if by_template:
        rows = report.rows(AuditedRule)
        told = (
            "nothing can tell whether their pages were found under other URLs; with URLCANON_AUDIT "
            "some of them are fetched to see that"
        )
        if any(row.rule.startswith(f"{SKIP}:") for row in rows):
            told = "'Was it right?' says of some whether their pages were found under other URLs"
        ranked = by_count(by_template)[:_LISTED]
        yield Finding(
            f"{count_of(sum(by_template.values()), 'request')} skipped",
            f"They fit a template of the skip option, so nothing was fetched for them, and {told}."
            f"{known}",
            tuple(f"{template}: {count:,}" for template, count in ranked),
        )


def _unparsable(report: Report) -> Iterator[Finding]:
    if unparsable := report.figure("unparsable"):
        yield Finding(
            f"{count_of(unparsable, 'URL')} could not be parsed",
            "They were fetched as they are, each by itself.",
        )


def _never_fired(report: Report) -> Iterator[Finding]:
    idle = [option for option in report.rows(Option) if not option.dropped]
    if idle:
        yield Finding(
            f"{count_of(len(idle), 'option')} dropped nothing",
            "Is it written for the right host and path? If it does nothing, it can be deleted.",
            tuple(f"{option.name} in {', '.join(option.layers)}" for option in idle[:_LISTED]),
        )


def _varying_parameters(report: Report) -> Iterator[Finding]:
    if report.rows(Parameter):
        yield Finding(
            "Parameters that vary most, and have no rule",
            "Does each value lead to a page of its own? If not, drop the parameter, or give its "
            "default value.",
            tuple(
                f"{parameter.name} on {parameter.domain}: {parameter.values}"
                f"{' or more' if parameter.values >= COUNTED_VALUES else ''} values on "
                f"{count_of(parameter.pages, 'fetched page')}"
                for parameter in report.rows(Parameter)[:_LISTED]
            ),
        )


_FINDERS: tuple[Callable[[Report], Iterator[Finding]], ...] = (
    _suspended,
    _false_merges,
    _large_groups,
    _one_of_several_runs,
    _rescues,
    _redirect_hops,
    _skipped,
    _unparsable,
    _never_fired,
    _varying_parameters,
)
