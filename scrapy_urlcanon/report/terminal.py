"""The report, and the comparison of two, at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scrapy_urlcanon.crawl.summary import title_of
from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.report.difference import Side, difference
from scrapy_urlcanon.report.document import COUNTED_URLS
from scrapy_urlcanon.report.funnel import Funnel
from scrapy_urlcanon.report.worth_a_look import worth_a_look
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from scrapy_urlcanon.report.comparison import Change, Comparison
    from scrapy_urlcanon.report.document import Group, Report

_DOMAINS = 10
_GROUPS = 10
_VARIANTS = 3
_BAR = 32
_OPTIONS = 3
_STYLES = {Side.BOTH: "", Side.FIRST: "red strike", Side.SECOND: "green underline"}
_BRACKETS = {Side.BOTH: ("", ""), Side.FIRST: ("[-", "-]"), Side.SECOND: ("{+", "+}")}


def marked(first: str, second: str, *, colour: bool) -> Text:
    """Return both URLs in one, with what only one of them has marked as such.

    >>> print(marked("http://example.com/a?x=1", "http://example.com/b", colour=False))
    http://example.com/[-a?x=1-]{+b+}

    :param colour: whether by styles, else by brackets as those of ``git diff --word-diff``.
    """
    text = Text(overflow="fold")
    for piece in difference(visible(first), visible(second)):
        if colour:
            text.append(piece.text, _STYLES[piece.side])
        else:
            text.append(piece.text.join(_BRACKETS[piece.side]))
    return text


def show_report(report: Report, console: Console) -> None:
    """Print *report*."""
    colour = console.color_system is not None
    for part in _report(report, colour=colour):
        console.print(part)


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print *comparison*."""
    for part in _comparison(comparison):
        console.print(part)


def _report(report: Report, *, colour: bool) -> Iterator[RenderableType]:
    started = report.started.replace("T", " ").removesuffix("+00:00")
    yield Text.assemble((visible(report.spider), "bold"), (f"  {visible(started)} UTC", "dim"))
    yield ""
    yield _funnel(Funnel.of(report))
    findings = worth_a_look(report)
    if findings:
        yield _title("Worth a look")
        for finding in findings:
            yield Text(finding.title, "bold yellow" if finding.is_warning else "bold")
            yield _indented(Text(finding.text, "dim"))
            for example in finding.examples:
                yield _indented(Text(visible(example), overflow="fold"))
    yield _title("By option")
    yield _options(report)
    if report.domains:
        yield _title("By domain")
        yield _domains(report)
    if report.groups:
        yield _title("Pages with the most dropped requests")
        for group in report.groups[:_GROUPS]:
            yield from _group(group, colour=colour)


def _title(text: str) -> RenderableType:
    return Padding(Text(text, "bold cyan"), (1, 0, 0, 0), expand=False)


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _grid(*justify: str) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in justify:
        table.add_column(justify="right" if side == "right" else "left", overflow="fold")
    return table


def _funnel(funnel: Funnel) -> Table:
    table = _grid("right", "left", "left")
    for count, label, style in (
        (funnel.seen, "requests seen", ""),
        (funnel.same_for_scrapy, "same for Scrapy", "dim"),
        (funnel.saved_by_rules, "saved by rules", "yellow"),
        (funnel.to_fetch, "to fetch", "green"),
    ):
        bar = "█" * round(funnel.share(count) * _BAR) or ("▏" if count else "")
        table.add_row(f"{count:,}", label, Text(bar, style))
    return table


def _options(report: Report) -> Table:
    table = _grid("right", "left", "left")
    for option in report.options:
        style = "" if option.dropped else "dim"
        table.add_row(
            Text(f"{option.dropped:,}", style),
            Text(visible(option.name), style or "cyan"),
            Text(title_of(option.name), style),
        )
    return table


def _domains(report: Report) -> Table:
    table = _grid("right", "left", "left")
    for domain in report.domains[:_DOMAINS]:
        options = list(domain.options.items())[:_OPTIONS]
        most = ", ".join(f"{visible(name)} {count:,}" for name, count in options)
        table.add_row(f"{domain.dropped:,}", Text(visible(domain.name)), Text(most, "dim"))
    others = report.domains[_DOMAINS:]
    if others:
        dropped = sum(domain.dropped for domain in others)
        table.add_row(f"{dropped:,}", Text(count_of(len(others), "other"), "dim"), "")
    return table


def _group(group: Group, *, colour: bool) -> Iterator[RenderableType]:
    more = " or more" if group.urls >= COUNTED_URLS else ""
    dropped = count_of(group.dropped, "request")
    urls = count_of(group.urls, "other URL")
    yield Text(visible(group.kept), "bold", overflow="fold")
    yield _indented(Text(f"{dropped} dropped, for {urls}{more}", "dim"))
    table = _grid("right", "left")
    for variant in group.variants[:_VARIANTS]:
        options = [step.option for step in variant.steps if step.on != "both"]
        options = options or [step.option for step in variant.steps]
        text = marked(variant.url, group.kept, colour=colour)
        table.add_row(
            f"{variant.dropped:,}", text.append(f"  {visible(' '.join(options))}", "cyan")
        )
    yield Padding(table, (0, 0, 1, 2), expand=False)


def _comparison(comparison: Comparison) -> Iterator[RenderableType]:
    for title, changes in (
        ("", comparison.figures),
        ("By option", comparison.options),
        ("By domain", comparison.domains),
    ):
        if title and changes:
            yield _title(title)
        yield _changes(changes)
    if not any(change.difference for change in comparison.figures):
        yield Text("The two runs have the same figures.", "dim")


def _changes(changes: tuple[Change, ...]) -> Table:
    table = _grid("right", "right", "right", "left")
    table.add_row(*(Text(heading, "dim") for heading in ("before", "after", "change", "")))
    for change in changes:
        table.add_row(
            f"{change.before:,}",
            f"{change.after:,}",
            Text(change.written, "bold" if change.difference else "dim"),
            Text(visible(change.name)),
        )
    return table
