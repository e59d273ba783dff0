"""What was learned, at the terminal."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.commands.joining_options import pair
from scrapy_urlcanon.learn.results.evidence_text import evidence_line, figures_of
from scrapy_urlcanon.learn.results.rule import IN_FORCE
from scrapy_urlcanon.learn.site import SINK_SIZE
from scrapy_urlcanon.learn.vocabulary import is_date, is_protected
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from typing_extensions import Self

    from scrapy_urlcanon.learn import Learned, LearnedRule
    from scrapy_urlcanon.learn.results.rule import Evidence, Unexplained
    from scrapy_urlcanon.report.screen import Screen

_DOMAINS = 20
_CLASSES = 20
_UNEXPLAINED = 5
_REFUSED = 5


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
    screen: Screen,
    *,
    configured: Canonicalizer,
    output: Path | None = None,
    turned_off: Collection[str] = (),
) -> None:
    """Print a summary of what was learned.

    :param skipped: rows of the inputs that were not valid observations, by what is wrong.
    :param configured: what the settings of the project do.
    :param output: where the rules were written to.
    :param turned_off: options whose rules were written commented out.
    """
    on = [rule for rule in learned.rules if not rule.is_off(turned_off)]
    _show_urls(learned, screen)
    by_domain = attrgetter("domain")
    domains = [
        LearnedDomain.of(name, rules)
        for name, rules in groupby(sorted(on, key=by_domain), by_domain)
    ]
    domains.sort(key=lambda domain: (-domain.saved, domain.name))
    if domains:
        _show_domains(domains, screen)
    figures = figures_of(learned, turned_off)
    screen.line(figures if output is None else f"{figures}, in {output}")
    skips = [rule for rule in learned.rules if rule.is_skip and rule.evidence.merges]
    if skips:
        _show_skips(skips, screen)
    off = [rule.evidence for rule in learned.rules if rule.is_off(turned_off)]
    if off:
        _show_off(off, sum(domain.saved for domain in domains), screen)
    _show_in_force(learned, screen)
    for rule in [rule for rule in learned.unsure if rule.doubt][:_REFUSED]:
        name = rule.setting[0] if rule.is_skip else rule.setting
        screen.line("unsure: ", (f"{rule.pattern} {rule.option} {name}", "cyan"))
        screen.line(f"  {evidence_line(rule)}")
    for left in learned.unexplained[:_UNEXPLAINED]:
        _show_unexplained(left, configured, screen)
    for reason, count in by_count(skipped):
        screen.line((f"skipped: {count:,} {reason}", "yellow"))


def _show_off(off: Collection[Evidence], saved: int, screen: Screen) -> None:
    """Print what the rules that are turned off would save, on top of what the others save."""
    more = count_of(sum(evidence.merges for evidence in off), "request")
    placed = sum(evidence.placed for evidence in off)
    screen.line(
        f"turned off: {count_of(len(off), 'rule')} that would save {more} on top of the "
        f"{saved:,} that the others save; for {placed:,} of them another URL of the page is known"
    )


def _show_in_force(learned: Learned, screen: Screen) -> None:
    """Print what became of the rules that were in force while the observations were made."""
    kinds = Counter(rule.kind for rule in (*learned.rules, *learned.unsure))
    kinds["kept"] = sum(r.was_in_force and r.kind != "contradicted" for r in learned.rules)
    for kind, what in IN_FORCE.items():
        if kinds[kind]:
            screen.line(f"{kind}: {count_of(kinds[kind], 'rule')} {what}")


def _show_unexplained(left: Unexplained, configured: Canonicalizer, screen: Screen) -> None:
    """Print duplicates that no rule explains, with an example and a rule that would."""
    screen.line(
        f"not explained: {left.urls:,} on {left.domain} that differ in ",
        (left.difference, "cyan"),
    )
    for url in left.example:
        screen.line((f"  {shown_url(url)}", "dim"))
    _show_rule_for(left, configured, screen)


def _show_urls(learned: Learned, screen: Screen) -> None:
    """Print how many URLs were seen, and how many of them are weak evidence, or none."""
    screen.line(
        f"{count_of(learned.urls, 'URL')} on {count_of(learned.domains, 'domain')}; "
        f"{learned.redundant:,} of them {_shows(learned.redundant)} a page that another URL shows "
        "too."
    )
    if learned.crowded:
        these = f"{learned.crowded:,} of these {_shows(learned.crowded)}"
        screen.line(
            f"{these} a page that more than {SINK_SIZE} URLs show; if it is a login form or an "
            "error, it proves no rule by itself"
        )
    if learned.settled:
        merged = count_of(learned.settled, "URL")
        screen.line(f"{merged} merged by what is set already: no new rule")
    if learned.silent:
        reason = "an error, or no text of their own"
        if learned.silent == learned.urls:
            reason += (
                ", or an input that does not say what they show, such as in a column main_sha1"
            )
        screen.line(f"{count_of(learned.silent, 'URL')} without evidence: {reason}")


def _shows(urls: int) -> str:
    return "shows" if urls == 1 else "show"


def _show_rule_for(left: Unexplained, configured: Canonicalizer, screen: Screen) -> None:
    """Print a rule that would merge the URLs of the example, ready to be pasted into settings.

    A rule is not printed if it drops a parameter, whatever its value, that chooses a language or
    numbers the parts of a listing: that two URLs show one page says nothing about its other values.
    Nor is one that the crawl refutes, or that takes a path in the query for a name, or a date for
    a default: it is that of the crawl.
    """
    if len(set(map(configured.canonicalize, left.example))) == 1:
        screen.line("  the settings merge them")
        return
    both = pair(Canonicalizer(), *left.example)
    dropped = {name for options in both.joined_by for name in options.get("drop_params", ())}
    kept = sorted(filter(is_protected, dropped))
    named = {*left.difference.split()}.difference(kept)
    rules = [
        options
        for options in both.joined_by
        if named.issuperset(options.get("drop_params", ()))
        and not any(map(is_date, options.get("default_params", {}).values()))
    ]
    if both.are_one:
        screen.line("  the preset 'safe' merges them")
    elif rules and left.lost and "drop_params" in rules[0]:
        pages = count_of(left.lost, "other page")
        screen.line(f"  a rule for the whole site that drops it would lose {pages}")
    elif rules:
        rule = f"URLCANON_RULES = {{{both.pattern!r}: {rules[0]!r}}}"
        screen.line("  if they are one page:  ", (rule, "cyan"))
    elif kept:
        screen.line(f"  no rule that keeps {' and '.join(kept)} would merge them")
    else:
        screen.line("  only a template could merge them: rewrite_path or skip")


def _show_skips(skips: list[LearnedRule], screen: Screen) -> None:
    """Print how many requests each ``skip`` rule saves, and for how many of them the page is known.

    Rewrites are not listed: their page is always known, and what they save is in the table of the
    domains.
    """
    skips.sort(key=lambda rule: (-rule.evidence.merges, rule.pattern, rule.setting))
    figures = [
        (rule.evidence.merges, rule.evidence.placed, rule.evidence.merges - rule.evidence.placed)
        for rule in skips
    ]
    names = [f"{rule.pattern} {rule.setting[0]}" for rule in skips[:_CLASSES]]
    if len(skips) > _CLASSES:
        saved, placed, unknown = map(sum, zip(*figures[_CLASSES:], strict=True))
        figures[_CLASSES:] = [(saved, placed, unknown)]
        names.append(count_of(len(skips) - _CLASSES, "other class", "other classes"))
    headings = [(text, "dim") for text in ("saved", "page known", "unknown", "skip")]
    rows = (
        ((f"{saved:,}", "green"), f"{placed:,}", f"{unknown:,}", (name, "cyan"))
        for (saved, placed, unknown), name in zip(figures, names, strict=True)
    )
    screen.table([headings, *rows], numbers=3)


def _show_domains(domains: list[LearnedDomain], screen: Screen) -> None:
    headings = [(heading, "dim") for heading in ("rules", "pages", "saved", "domain")]
    shown, others = domains[:_DOMAINS], domains[_DOMAINS:]
    if others:
        name = count_of(len(others), "other domain")
        columns = list(zip(*(other[1:] for other in others), strict=True))
        shown.append(LearnedDomain(name, *map(sum, columns)))
    rows = (
        (
            f"{domain.rules:,}",
            f"{domain.pages:,}",
            (f"{domain.saved:,}", "green"),
            (domain.name, "cyan"),
        )
        for domain in shown
    )
    screen.table([headings, *rows], numbers=3)
