"""What was learned, and what was found about it since, at the terminal."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.learn.rule import IN_FORCE
from scrapy_urlcanon.redaction import shown_url, visible
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from rich.console import Console
    from typing_extensions import Self

    from scrapy_urlcanon.learn import Learned, LearnedRule
    from scrapy_urlcanon.validate.rule_check import RuleCheck

_DOMAINS = 20
_UNEXPLAINED = 5
_OUTCOMES = {
    Outcome.HOLDS: ("holds", "green"),
    Outcome.FAILS: ("fails", "bold red"),
    Outcome.OPEN: ("open", "yellow"),
}


class LearnedDomain(NamedTuple):
    """What was learned about one domain."""

    name: str
    rules: int
    pages: int
    """Pages that were found under several URLs, for each rule."""
    saved: int
    """Requests that the rules would have saved."""

    @classmethod
    def of(cls, name: str, rules: Iterable[LearnedRule]) -> Self:
        """Return the figures of the *rules* of the domain *name*."""
        rules = tuple(rules)
        # Rules that show something only together share their evidence: it counts once.
        evidence = {id(rule.evidence): rule.evidence for rule in rules}.values()
        return cls(
            name,
            len(rules),
            sum(found.pages for found in evidence),
            sum(found.merges for found in evidence),
        )


def show_learned(
    learned: Learned,
    skipped: Counter[str],
    console: Console,
    *,
    output: Path | None = None,
    turned_off: Collection[str] = (),
) -> None:
    """Print a summary of what was learned.

    :param skipped: rows of the inputs that were no observations, by what is wrong with them.
    :param output: where the rules were written to.
    :param turned_off: options whose rules were written commented out.
    """
    on = [rule for rule in learned.rules if not rule.is_off(turned_off)]
    off = len(learned.rules) - len(on)
    console.print(
        f"{learned.urls:,} URLs on {count_of(learned.domains, 'domain')}; {learned.redundant:,} of "
        "them show a page that another one shows.",
        soft_wrap=True,
    )
    by_domain = attrgetter("domain")
    domains = [
        LearnedDomain.of(name, rules)
        for name, rules in groupby(sorted(on, key=by_domain), by_domain)
    ]
    domains.sort(key=lambda domain: (-domain.saved, domain.name))
    if domains:
        console.print(_table(domains))
    console.print(
        f"{count_of(len(on), 'rule')}, {count_of(len(learned.unsure), 'unsure one')}", end=""
    )
    if off:
        console.print(f", {off:,} turned off ({', '.join(sorted(turned_off))})", end="")
    console.print("" if output is None else f" in {output}", soft_wrap=True)
    kinds = Counter(rule.kind for rule in (*learned.rules, *learned.unsure))
    kinds["kept"] = sum(rule.was_in_force for rule in learned.rules)
    for kind, what in IN_FORCE.items():
        if kinds[kind]:
            console.print(f"{kind}: {count_of(kinds[kind], 'rule')} {what}", soft_wrap=True)
    for left in learned.unexplained[:_UNEXPLAINED]:
        console.print(
            Text(f"not explained: {left.urls:,} on {visible(left.domain)} that differ in"),
            Text(visible(left.difference), "cyan"),
            soft_wrap=True,
        )
        for url in left.example:
            console.print(Text(f"  {shown_url(url)}", "dim"), soft_wrap=True)
    for reason, count in sorted(skipped.items(), key=lambda item: (-item[1], item[0])):
        console.print(Text(f"skipped: {count:,} {visible(reason)}", "yellow"))


def show_checks(checks: Iterable[RuleCheck], console: Console) -> None:
    """Print what the pairs of each rule showed, and a pair that refutes it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(5):
        table.add_column(overflow="fold")
    for check in checks:
        tried = check.right + check.wrong + check.unjudged
        outcome, style = _OUTCOMES[check.outcome] if tried else ("no pair", "dim")
        figures = f"{check.right:,} of {check.right + check.wrong:,} right" if tried else ""
        if check.unjudged:
            figures += f", {check.unjudged:,} not comparable"
        table.add_row(
            Text(outcome, style),
            figures,
            Text(check.option, "cyan"),
            Text(visible(check.text)),
            Text(visible(str(check.layer))),
        )
        for url in check.example or ():
            table.add_row("", "", "", "", Text(shown_url(url), "dim", overflow="fold"))
    console.print(table)


def _table(domains: list[LearnedDomain]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(justify="right")
    table.add_column(overflow="fold")
    table.add_row("rules", "pages", "saved", "domain", style="dim")
    shown, others = domains[:_DOMAINS], domains[_DOMAINS:]
    for domain in shown:
        table.add_row(*_cells(domain))
    if others:
        name = count_of(len(others), "other")
        columns = list(zip(*(other[1:] for other in others), strict=True))
        table.add_row(*_cells(LearnedDomain(name, *map(sum, columns))))
    return table


def _cells(domain: LearnedDomain) -> tuple[str | Text, ...]:
    return (
        f"{domain.rules:,}",
        f"{domain.pages:,}",
        Text(f"{domain.saved:,}", "green"),
        Text(visible(domain.name), "cyan"),
    )
