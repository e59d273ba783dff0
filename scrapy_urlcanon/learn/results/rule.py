"""What learning returns: rules, each with the evidence for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.patterns import Pattern
from scrapy_urlcanon.learn.scope import pattern_of
from scrapy_urlcanon.rule_files.loading import load_configuration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from scrapy_urlcanon.canonicalizer.options import RuleOptions

Key = tuple[Pattern, str, str]
"""Pattern, option and setting of a rule: rules with the same ones are one rule."""

Kind = Literal["rewrite", "skip", "sink", "apart", "kept", "contradicted", "taken out"]
"""Three kinds merge URLs (``rewrite``, ``skip``, ``sink``); ``apart`` keeps apart what the preset
merges. The others are of rules that crawls were made under: ``kept`` as it was, ``contradicted`` by
audits and taken back, or ``taken out`` since, so that the last crawl was made without it."""

MAX_EXAMPLES = 3
"""How many pairs of URLs are shown as examples of a rule."""

IN_FORCE: dict[Kind, str] = {
    "kept": "in force during the crawl",
    "contradicted": "taken back, since audits found other pages",
    "taken out": "in force during an earlier crawl, and not in the last one",
}
"""What to say about the kinds of rules that were not learned from the crawl."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a rule is believed."""

    pages: int = 0
    """Distinct pages that were seen under several URLs which the rule makes one (for ``skip``: that
    were also found elsewhere)."""
    merges: int = 0
    """Requests that the rule would have saved."""
    counter_examples: int = 0
    """Pages that the rule would lose."""
    bound: float = 0.0
    """Lower confidence bound of the share of pages that are merged correctly."""
    examples: tuple[tuple[str, str], ...] = ()
    """A few pairs of a crawled URL, and what it becomes or where its page was found."""
    audited: int = 0
    """URLs that the rule merged while it was in force, and that audits fetched anyway."""
    others: int = 0
    """How many of these showed another page."""
    placed: int = 0
    """For ``skip``, for how many skipped URLs the crawl has seen the page under another URL."""


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """One option under one pattern.

    >>> evidence = Evidence(pages=70, merges=210, bound=0.96)
    >>> rule = LearnedRule(
    ...     *("a.example", "a.example/forum/", "drop_params", ["sid"], "rewrite"), evidence
    ... )
    >>> rule.is_skip, rule.is_off({"skip"}), rule.evidence.merges
    (False, False, 210)
    """

    domain: str
    """The registrable domain, or the host if it has none."""
    pattern: str
    """A key of ``URLCANON_RULES``."""
    option: str
    """An option of the rule catalogue."""
    setting: Any
    """The value of the option: a text, or a list or mapping with one entry."""
    kind: Kind
    evidence: Evidence = field(default_factory=Evidence)
    doubt: str = ""
    """Why an unsure rule was refused, if its figures do not say so."""
    was_in_force: bool = False
    """Whether crawls were made under it, so that they do not show what it merges."""
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For ``skip``, by skipped canonical URL the URL under which the page was found."""

    @property
    def is_skip(self) -> bool:
        """Whether it is about skipping URLs, not about merging them."""
        return self.option == SKIP

    @property
    def key(self) -> Key:
        """What identifies the rule: two with the same key are one."""
        return key_of(self.pattern, self.option, self.setting)

    def is_off(self, turned_off: Collection[str]) -> bool:
        """Tell whether the rule is written commented out, because its option is in *turned_off*.

        A rule that was in force stays on.
        """
        return self.option in turned_off and not self.was_in_force


class Unexplained(NamedTuple):
    """Duplicates of one domain whose URLs differ in the same way, and that no rule explains."""

    domain: str
    difference: str
    """The names of the parameters, and ``scheme``, ``host`` or ``path`` in angle brackets."""
    urls: int
    """How many URLs show a page that another URL shows."""
    example: tuple[str, str]
    """Two URLs of one page."""
    lost: int = 0
    """Pages of the crawl that a rule which drops these parameters would lose."""


class Failure(NamedTuple):
    """A domain of which nothing was learned, since the learner failed on it."""

    domain: str
    error: str
    """The traceback."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned about all domains."""

    rules: tuple[LearnedRule, ...] = ()
    """The rules with enough evidence, general ones before special ones."""
    unsure: tuple[LearnedRule, ...] = ()
    """Rules without enough evidence, which somebody who knows the site may confirm."""
    domains: int = 0
    """How many domains were seen."""
    urls: int = 0
    """How many distinct URLs were seen."""
    redundant: int = 0
    """How many URLs show a page that another URL of the domain shows."""
    settled: int = 0
    """How many of these need no new rule: the preset, ``URLCANON_RULES`` and the rules in force
    make them one with another URL of their page."""
    crowded: int = 0
    """How many of the redundant ones show a page that very many URLs show, so that it is no
    evidence."""
    silent: int = 0
    """How many URLs show nothing that tells a page, such as an error or an empty frame."""
    unexplained: tuple[Unexplained, ...] = ()
    """The duplicates that the rules leave, by how their URLs differ, the largest part first."""
    failed: tuple[Failure, ...] = ()
    """The domains of which nothing was learned by an error. Rules in force there stay."""

    def as_rules(self) -> dict[str, RuleOptions]:
        """Return the rules in the shape of ``URLCANON_RULES``, the unsure ones left out.

        >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite")
        >>> other = LearnedRule("a.example", "a.example", "drop_params", ["ref"], "rewrite")
        >>> Learned((rule, other)).as_rules()
        {'a.example': {'drop_params': ['sid', 'ref']}}
        """
        return as_rules(self.rules)


def key_of(pattern: str, option: str, setting: Any) -> Key:
    """Return what makes a rule the same as another one, however its pattern is written."""
    return pattern_of(pattern), option, json.dumps(setting, sort_keys=True, ensure_ascii=False)


class AnyRule(Protocol):
    """What has a pattern, an option and a setting."""

    @property
    def pattern(self) -> str:
        """The pattern."""

    @property
    def option(self) -> str:
        """The name of the option."""

    @property
    def setting(self) -> Any:
        """Its value, or a part of that."""


def as_rules(rules: Iterable[AnyRule]) -> dict[str, RuleOptions]:
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
    return cast("dict[str, RuleOptions]", table)


def beside(
    of_settings: Mapping[str, Mapping[str, Any]] | None, rules: Iterable[LearnedRule], preset: str
) -> Canonicalizer:
    """Return what rules of a file do in a project whose settings have some, which are stronger.

    >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite")
    >>> of_settings = {"*": {"drop_params": ["ref"]}, "a.example": {"drop_params": ["!sid"]}}
    >>> beside(of_settings, [rule], "safe").canonicalize("http://a.example/?ref=1&sid=2")
    'http://a.example/?sid=2'
    """
    layers = [("rules", as_rules(rules)), ("URLCANON_RULES", of_settings)]
    return Canonicalizer.from_configuration(load_configuration(preset, rules=layers))
