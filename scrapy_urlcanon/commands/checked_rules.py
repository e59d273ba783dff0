"""Shows at the terminal what checking each rule on its site has found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.configuration import INHERIT, OVERRIDE
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.learn.results.rule import as_rules
from scrapy_urlcanon.learn.results.toml_text import Line, commented_out, tables
from scrapy_urlcanon.pages.verdict import SHARED
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.validate.found_pairs import LED_AWAY, NO_OTHER_PAGE
from scrapy_urlcanon.validate.spider import SILENT
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.report.screen import Cell, Screen
    from scrapy_urlcanon.validate.rule_check import RuleCheck

_OUTCOMES = {
    Outcome.HOLDS: ("holds", "green"),
    Outcome.FAILS: ("fails", "bold red"),
    Outcome.OPEN: ("open", "yellow"),
}
_ADVICE = {
    SHARED: "a log-in form, a captcha, or that the page is gone",
    LED_AWAY: "what is shown there agrees with any rule",
    NO_OTHER_PAGE: "pass more of the crawl with --observations",
    SILENT: "it was not asked again",
    "429": "requests come too fast; set DOWNLOAD_DELAY or AUTOTHROTTLE_ENABLED",
    "503": "requests may come too fast; set DOWNLOAD_DELAY or AUTOTHROTTLE_ENABLED",
    "401": "the site wants a log-in; send what the crawl sent, as with DEFAULT_REQUEST_HEADERS",
    "403": "if the crawl was let in, send what it sent, such as its USER_AGENT",
    "3": "redirects are not followed; set REDIRECT_ENABLED",
}
"""Advice for each reason why pairs are not comparable, by the beginning of the reason."""
_OFF = "# Not shown to be right:\n"
_SUMMARY = {"holds": "hold", "fails": "fail", "open": "open", "no pair": "no pair"}
"""The outcomes of a rule, in this order, each with its word for several rules."""


def show_checks(checks: Sequence[RuleCheck], screen: Screen, *, fetched: int) -> None:
    """Print what the pairs of each rule showed, pairs that refute rules, and a summary.

    :param fetched: how many pages were fetched.
    """
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        style = _OUTCOMES[check.outcome][1] if _is_tried(check) else "dim"
        outcome = (_outcome(check), style)
        option = (check.option, "cyan")
        rows.append((outcome, _figures(check), option, check.text, str(check.layer)))
    screen.table(rows, numbers=0)
    for check in checks:
        if check.example:
            what = "not found elsewhere, and this skips it: "
            what = what if check.is_skip else "two pages, which this makes one: "
            screen.line((what, "bold red"), check.option, " ", check.text)
            for url in check.example[:1] if check.is_skip else check.example:
                # Not in the table, which would cut it: a whole URL can be copied.
                screen.line(("  " + shown_url(url), "dim"))
    reasons = sum((check.evidence.reasons for check in checks if _is_open(check)), Counter[str]())
    for reason, pairs in by_count(reasons):
        advice = next((text for start, text in _ADVICE.items() if reason.startswith(start)), "")
        screen.line(
            (f"not comparable: {count_of(pairs, 'pair')}: ", "yellow"),
            reason,
            f": {advice}" if advice else "",
        )
    counts = Counter(map(_outcome, checks))
    summary = ", ".join(
        count_of(counts[one], one, several) for one, several in _SUMMARY.items() if counts[one]
    )
    screen.line(f"{count_of(len(checks), 'rule')}: {summary}; {count_of(fetched, 'page')} fetched")


def those_that_stood(configuration: Configuration, checks: Iterable[RuleCheck]) -> str:
    """Return a rules file in TOML of the rules that hold; the others are commented out.

    Lines that only take back other rules are kept, since no pair of URLs can show that they hold.
    """
    on = [
        Line(str(rule_set.layer.pattern), INHERIT, setting=False)
        for origin in configuration.origins
        for rule_set in origin
        if not rule_set.inherit
    ]
    off: list[Line] = []
    overriding: dict[bool, list[Line]] = {True: [], False: []}
    for check in checks:
        is_on = check.merges_nothing or check.outcome is Outcome.HOLDS
        said = _figures(check) if is_on else f"{_outcome(check)} {_figures(check)}".rstrip()
        line = Line(str(check.layer.pattern), check.option, check.setting, said)
        (overriding[is_on] if check.overrides else on if is_on else off).append(line)
    for is_on, lines in overriding.items():
        (on if is_on else off).extend(
            Line(pattern, OVERRIDE, options) for pattern, options in as_rules(lines).items()
        )
    texts = list(tables(on))
    if off:
        texts.append(_OFF + commented_out(off))
    return "\n".join(texts)


def _is_open(check: RuleCheck) -> bool:
    return check.outcome is Outcome.OPEN


def _is_tried(check: RuleCheck) -> bool:
    return bool(check.right + check.wrong + check.unjudged)


def _outcome(check: RuleCheck) -> str:
    has_pairs = _is_tried(check) or check.pairs
    return _OUTCOMES[check.outcome][0] if has_pairs else "no pair"


def _figures(check: RuleCheck) -> str:
    figures = f"{check.right:,} of {check.right + check.wrong:,} right" if _is_tried(check) else ""
    return figures + (f", {check.unjudged:,} not comparable" if check.unjudged else "")
