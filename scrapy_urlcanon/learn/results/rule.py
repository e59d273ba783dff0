"""What learning returns: rules, each with the evidence for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.patterns import Pattern
from scrapy_urlcanon.learn.scope import pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

Key = tuple[Pattern, str, str]
"""Pattern, option and setting of a rule: rules with the same ones are one rule."""

Kind = Literal["rewrite", "skip", "sink", "apart", "kept", "contradicted", "taken out"]
"""What a rule is: one of the three that merge, or one that keeps apart what the preset merges; or
one that was in force in the crawls, that stays for that, that takes one back which audits
contradict, or that the last crawl was not made under."""

IN_FORCE: dict[Kind, str] = {
    "kept": "in force during the crawl",
    "contradicted": "taken back, since audits found other pages",
    "taken out": "in force during an earlier crawl, and not in the last one",
}
"""What is to be said of the kinds of rule that were not learned from what was crawled."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a rule is believed."""

    pages: int = 0
    """Distinct pages that were found under several URLs which the rule makes one (for ``skip``:
    found elsewhere too)."""
    merges: int = 0
    """Requests saved: URLs less the forms that the rule leaves of them."""
    counter_examples: int = 0
    """Pages that the rule would lose."""
    bound: float = 0.0
    """Lower confidence bound of the share of pages that are merged rightly."""
    examples: tuple[tuple[str, str], ...] = ()
    """Up to three pairs of URLs: what was crawled, and what it becomes or where its page was
    found."""
    confidence: float = 0.95
    """The confidence of that bound."""
    audited: int = 0
    """URLs that the rule merged while it was in force, and that audits fetched all the same."""
    others: int = 0
    """Those of them that showed another page."""
    placed: int = 0
    """For ``skip``, of how many URLs that it saves another one that is fetched shows the page."""


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """One option under one pattern."""

    domain: str
    """Registrable domain, or the host where it has none."""
    pattern: str
    """A key of ``URLCANON_RULES``."""
    option: str
    """An option of the rule catalogue."""
    setting: Any
    """Its value: text, or a list or mapping with one entry."""
    kind: Kind
    evidence: Evidence = field(default_factory=Evidence)
    doubt: str = ""
    """What an unsure rule was refused for, where it is not its figures that say so."""
    was_in_force: bool = False
    """Whether crawls were made under it, which hides what it merges."""
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For ``skip``, the URLs under which pages are found, by the canonical URL that is skipped."""

    @property
    def is_skip(self) -> bool:
        """Whether it skips URLs, or takes back that they are skipped, and makes none one."""
        return self.option == SKIP

    @property
    def key(self) -> Key:
        """What makes it the same rule as another one."""
        return key_of(self.pattern, self.option, self.setting)

    def is_off(self, turned_off: Collection[str]) -> bool:
        """Tell whether it is to be turned on by the user, as its option is one of *turned_off*.

        A rule that was in force is on already.
        """
        return self.option in turned_off and not self.was_in_force


class Unexplained(NamedTuple):
    """Duplicates of one domain whose URLs differ in the same, and for which no rule was found."""

    domain: str
    difference: str
    """The names of the parameters, and ``scheme``, ``host`` or ``path`` in angle brackets."""
    urls: int
    """URLs that show a page which another one shows."""
    example: tuple[str, str]
    """Two of them, of one page."""
    lost: int = 0
    """Pages that the crawl shows and that a rule which drops these parameters would lose."""


@dataclass(frozen=True, slots=True)
class Learned:
    """All rules of all domains."""

    rules: tuple[LearnedRule, ...] = ()
    """Those that passed, in the order in which they are to be read: general before special."""
    unsure: tuple[LearnedRule, ...] = ()
    """Those that did not, and that somebody who knows the site may confirm."""
    domains: int = 0
    urls: int = 0
    """Distinct URLs seen."""
    redundant: int = 0
    """URLs that show a page which another URL of the domain shows."""
    crowded: int = 0
    """Those of them whose page very many URLs show, so that it says nothing about any of them."""
    silent: int = 0
    """URLs that show nothing which could tell a page, such as an error or an empty frame."""
    unexplained: tuple[Unexplained, ...] = ()
    """What the rules leave of them, by what their URLs differ in, the largest part first."""

    def as_rules(self) -> dict[str, dict[str, Any]]:
        """Return the rules in the shape of ``URLCANON_RULES``.

        >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite")
        >>> other = LearnedRule("a.example", "a.example", "drop_params", ["ref"], "rewrite")
        >>> Learned((rule, other)).as_rules()
        {'a.example': {'drop_params': ['sid', 'ref']}}
        """
        return as_rules(self.rules)


def key_of(pattern: str, option: str, setting: Any) -> Key:
    """Return what makes a rule the same as another one, however its pattern is written."""
    return pattern_of(pattern), option, json.dumps(setting, sort_keys=True, ensure_ascii=False)


def as_rules(rules: Iterable[LearnedRule]) -> dict[str, dict[str, Any]]:
    """Return rules in the shape of ``URLCANON_RULES``: lists and mappings of one option unite."""
    table: dict[str, dict[str, Any]] = {}
    for rule in rules:
        options = table.setdefault(rule.pattern, {})
        if isinstance(rule.setting, list):
            options[rule.option] = [*options.get(rule.option, []), *rule.setting]
        elif isinstance(rule.setting, dict):
            options[rule.option] = {**options.get(rule.option, {}), **rule.setting}
        else:
            options[rule.option] = rule.setting
    return table
