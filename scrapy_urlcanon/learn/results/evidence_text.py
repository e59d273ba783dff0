"""Writes the evidence for a learned rule as a comment of a rules file, and recognises it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.results.in_force import subject_of
from scrapy_urlcanon.learn.results.rule import IN_FORCE
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy_urlcanon.learn.results.rule import Learned, LearnedRule

# No crawl has so many pages. Without a bound, a long row of digits would take quadratic time.
_NUMBER = r"[\d,]{1,20}"

EVIDENCE = re.compile(
    rf"(?:{_NUMBER} of {_NUMBER} (?:page|audit)s? |{_NUMBER} URLs? show|another page in |"
    r"in force during ).*"
)
"""Matches what :func:`evidence_line` returns. An entry with such a comment was learned, and nobody
has edited it."""

HEADER = re.compile(rf"{_NUMBER} rules? for {_NUMBER} domains?\b.*")
"""Matches what :func:`figures_of` returns."""

_LONGEST = 160


def evidence_line(rule: LearnedRule) -> str:
    """Return the evidence for *rule*, or against it, in one line with an example.

    >>> from scrapy_urlcanon.learn import Evidence, LearnedRule
    >>> found = Evidence(pages=12, merges=1030, examples=(("http://a.example/?sid=1", "..."),))
    >>> print(evidence_line(LearnedRule("", "", "drop_params", ["sid"], "rewrite", found)))
    12 of 12 pages the same, 1,030 requests saved: http://a.example/?sid=***
    """
    evidence = rule.evidence
    parts = []
    if rule.kind == "contradicted":
        audits = count_of(evidence.audited, "audit")
        parts.append(f"another page in {evidence.others:,} of {audits}")
    elif rule.kind == "taken out":
        parts.append(IN_FORCE[rule.kind])
    else:
        if evidence.pages:
            parts.append(_pages(rule))
            if rule.kind != "apart":
                parts.append(f"{count_of(evidence.merges, 'request')} saved")
            if rule.kind == "skip" and evidence.placed < evidence.merges:
                parts.append(f"{evidence.merges - evidence.placed:,} of them of unknown pages")
        if evidence.audited:
            audits = count_of(evidence.audited, "audit")
            parts.append(f"{evidence.audited - evidence.others:,} of {audits} the same")
        elif rule.was_in_force:
            parts.append("not audited" if parts else f"{IN_FORCE['kept']} and not audited")
    if rule.doubt:
        parts.append(f"refused for {rule.doubt}")
    return ", ".join(parts) + _example(rule)


def _pages(rule: LearnedRule) -> str:
    kind, evidence = rule.kind, rule.evidence
    if kind == "sink":
        # Of the URLs of a page one is fetched, unless all are skipped.
        fetched = 0 if rule.is_skip else evidence.pages
        urls = count_of(fetched + evidence.merges, "URL")
        return f"{urls} show {count_of(evidence.pages, 'page')}"
    pages = count_of(evidence.pages + evidence.counter_examples, "page")
    found = {"skip": "found under another URL", "apart": "not the same in another order"}.get(
        kind, "the same"
    )
    return f"{evidence.pages:,} of {pages} {found}"


def _example(rule: LearnedRule) -> str:
    parameter = f"{subject_of(rule.option, rule.setting)}="
    for one, other in rule.evidence.examples:
        # The URL that has the parameter, or the longer one, shows what the rule takes away.
        longer = max(one, other, key=lambda url: (parameter in url, len(url)))
        text = shown_url(one if rule.kind == "skip" else longer)
        if rule.kind == "contradicted":
            text = f"{shown_url(one)} is not {shown_url(other)}"
        if len(text) <= _LONGEST:
            return f": {text}"
    return ""


def figures_of(learned: Learned, turned_off: Collection[str]) -> str:
    """Return the number of rules, and of those that are only proposed.

    >>> from scrapy_urlcanon.learn import Learned, LearnedRule
    >>> rule = LearnedRule("a.example", "a.example", "www", "strip", "rewrite")
    >>> figures_of(Learned((rule,), (rule,)), ["skip"])
    '1 rule for 1 domain, 1 unsure one'
    """
    on = [rule for rule in learned.rules if not rule.is_off(turned_off)]
    unsure = sum(rule.kind != "taken out" for rule in learned.unsure)
    parts = [
        f"{count_of(len(on), 'rule')} for {count_of(len({r.domain for r in on}), 'domain')}",
        *([count_of(unsure, "unsure one")] if unsure else []),
    ]
    off = len(learned.rules) - len(on)
    if off:
        parts.append(f"{off:,} turned off ({', '.join(sorted(turned_off))})")
    return ", ".join(parts)
