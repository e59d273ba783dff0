"""The rules under which crawls were made, and what their audits found about them.

What a rule merges cannot be seen in a crawl that was made under it: no other URL of the page was
fetched. So that learning again does not lose the rule, the crawl says that it was in force, and
its audit whether it was right.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer.configuration import OVERRIDE
from scrapy_urlcanon.confidence import MAX_FALSE, Outcome, SequentialTest
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES, Key, key_of
from scrapy_urlcanon.learn.scope import domain_of_pattern, pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.patterns import Pattern

WHOLE = frozenset({"keep_params"})
"""Lists whose entries mean nothing one by one: a parameter more to keep is one less to drop."""


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """One option under one pattern, as in :class:`~scrapy_urlcanon.learn.LearnedRule`."""

    pattern: str
    """A key of ``URLCANON_RULES``."""
    option: str
    """An option of the rule catalogue, or ``inherit``."""
    setting: Any
    """Its value: text or True or False, or a list or mapping with one entry (``keep_params``: all
    entries)."""
    audited: int = 0
    """URLs that the rule merged with another one and that were fetched all the same."""
    others: int = 0
    """Those that showed another page."""
    examples: tuple[tuple[str, str], ...] = ()
    """Up to three of them, each with the URL that stood for it; of those that showed another page
    where there are any."""
    is_current: bool = True
    """Whether it was in force in the last crawl that saw its domain, and not taken out since."""
    is_by_hand: bool = False
    """Whether a person wrote it, or changed what was written of it: it stays beside a wider one."""
    outcome: Outcome = Outcome.OPEN
    """What the audits of all crawls say of it, one after the other."""
    refuted: RuleEntry | None = None
    """What audits refute, where that is no rule of a file: an entry of a preset or of a setting, or
    the parameter that ``keep_params`` dropped. It has no :attr:`setting`."""

    @property
    def key(self) -> Key:
        """What makes it the same rule as another one."""
        return key_of(self.pattern, self.option, self.setting)

    @property
    def domain(self) -> str:
        """The registrable domain that it is for, its host where it has none, or ``*``."""
        return domain_of_pattern(self.pattern)


class Credit(NamedTuple):
    """What made two URLs one that an audit compared."""

    entry: RuleEntry
    domain: str
    """The registrable domain of the URLs."""
    rule: Key | None
    """The rule of a file that the entry is in; None where it is in none."""


class AuditedUrl(NamedTuple):
    """What an audit found about one URL that a rule had merged with another one."""

    url: str
    kept: str
    """The URL that stood for it."""
    is_same: bool
    """Whether both show one page."""


@dataclass(frozen=True, slots=True)
class CrawlRecord:
    """What a crawl says about the rules that it was made under."""

    started: str
    """When, in UTC and as ISO 8601: later times are greater texts."""
    rules: tuple[RuleInForce, ...]
    """Those that were in force, in their order."""
    domains: frozenset[str] = frozenset()
    """Registrable domains that it saw."""
    audits: Mapping[Credit, tuple[AuditedUrl, ...]] = field(default_factory=dict)
    """What its audit found, in this order, by what is to be credited with it."""


def rules_in_force(rules: Mapping[str, Mapping[str, Any]]) -> Iterator[RuleInForce]:
    """Yield the rules of a mapping in the shape of ``URLCANON_RULES``, one by one.

    What TOML cannot say is left out: None for an option, which discards the layers below.

    >>> rules = {"a.example": {"drop_params": ["sid", "ref"], "www": "strip"}}
    >>> [(rule.option, rule.setting) for rule in rules_in_force(rules)]
    [('drop_params', ['sid']), ('drop_params', ['ref']), ('www', 'strip')]
    """
    for pattern, options in rules.items():
        for option, value in options.items():
            for setting in settings_of(option, value):
                yield RuleInForce(pattern, option, setting)


def settings_of(option: str, value: Any) -> Iterator[Any]:
    """Yield the parts of the *value* of an option that can be right or wrong by themselves."""
    if option in (*WHOLE, OVERRIDE) or not isinstance(value, (list, dict)):
        if value is not None:
            yield value
    elif isinstance(value, list):
        yield from ([item] for item in value)
    else:
        # None takes an entry back, for which TOML has no word but False.
        yield from ({name: None if text is False else text} for name, text in value.items())


def effective(rules: Iterable[RuleInForce]) -> tuple[RuleInForce, ...]:
    """Return the rules of several files, the later ones stronger, as if one file had them all.

    >>> rules = rules_in_force({"a.example": {"www": "strip", "drop_params": ["sid"]}})
    >>> stronger = rules_in_force({"a.example": {"www": "keep"}})
    >>> [(rule.option, rule.setting) for rule in effective([*rules, *stronger])]
    [('drop_params', ['sid']), ('www', 'keep')]
    """
    found: dict[tuple[Pattern, str, str | None], RuleInForce] = {}
    for rule in rules:
        place = pattern_of(rule.pattern), rule.option, subject_of(rule.option, rule.setting)
        weaker = found.pop(place, None)
        if weaker and rule.option in WHOLE:
            # Lists unite.
            united = list(dict.fromkeys([*weaker.setting, *rule.setting]))
            rule = replace(rule, setting=united)  # noqa: PLW2901
        found[place] = rule
    return tuple(found.values())


def subject_of(option: str, setting: Any) -> str | None:
    """Return which of the entries of an option a setting is about; None where there is one value.

    >>> subject_of("drop_params", ["!sid"]), subject_of("rewrite_path", [["/a", "/b"]])
    ('sid', '/a')
    """
    if option in (*WHOLE, OVERRIDE) or not isinstance(setting, (list, dict)):
        return None
    return entry_of(setting).removeprefix("!")


def entry_of(setting: list[Any] | dict[str, Any]) -> str:
    """Return the one entry of a list or mapping: a name, or the first of two templates."""
    entry = next(iter(setting), "")
    return str(entry[0] if isinstance(entry, (list, tuple)) else entry)


def combine(
    crawls: Iterable[CrawlRecord],
    kept: Iterable[RuleInForce] = (),
    *,
    is_all: bool = False,
) -> tuple[RuleInForce, ...]:
    """Return the rules of several crawls, each once, with what the audits of all found about it.

    The order of the crawls does not matter. A rule that the last crawl of its domain was not made
    under is not current: somebody took it out.

    :param kept: rules that are in force besides, such as those of a file; they come first, and are
        current whatever the crawls say.
    :param is_all: whether no others are current: somebody took the others out of the file.
    """
    # Of two that started at the same time any fixed order will do.
    ordered = sorted(crawls, key=lambda crawl: (crawl.started, repr(crawl.rules)))
    found = {rule.key: rule for rule in kept}
    _add_rules(found, ordered, is_all=is_all)
    verdicts = _verdicts(ordered)
    audited = (_with_audits(key, rule, verdicts) for key, rule in found.items())
    return (*audited, *_refuted_parts(verdicts, found))


def _add_rules(found: dict[Key, RuleInForce], ordered: list[CrawlRecord], *, is_all: bool) -> None:
    """Add the rules of the crawls that are not there yet, those of the last one first."""
    last_of = {domain: crawl for crawl in ordered for domain in crawl.domains}
    current = {
        id(crawl): {rule.key for rule in crawl.rules}
        for crawl in (*last_of.values(), *ordered[-1:])
    }
    for crawl in reversed(ordered):
        for rule in crawl.rules:
            key = rule.key
            if key not in found:
                last = last_of.get(rule.domain, ordered[-1])
                is_current = not is_all and key in current[id(last)]
                found[key] = replace(rule, is_current=is_current)


def _verdicts(ordered: list[CrawlRecord]) -> dict[Credit, list[AuditedUrl]]:
    """Return what the audits of all crawls found, in their order."""
    verdicts: dict[Credit, list[AuditedUrl]] = {}
    # A store may be given twice.
    for crawl in (one for n, one in enumerate(ordered) if one not in ordered[:n]):
        for credit, audits in crawl.audits.items():
            verdicts.setdefault(credit, []).extend(audits)
    return verdicts


def _refuted_parts(
    verdicts: Mapping[Credit, list[AuditedUrl]], rules: Mapping[Key, RuleInForce]
) -> Iterator[RuleInForce]:
    """Yield what audits refute that is none of the *rules* as a whole."""
    for credit, pairs in verdicts.items():
        rule = rules.get(credit.rule) if credit.rule else None
        is_rule = rule is not None and not _is_part(credit, rule)
        if not is_rule and _outcome(pairs) is Outcome.FAILS:
            pattern = rule.pattern if rule else credit.domain
            part = RuleInForce(pattern, credit.entry.option, None, refuted=credit.entry)
            yield _audited(part, pairs, Outcome.FAILS)


def _with_audits(
    key: Key, rule: RuleInForce, verdicts: Mapping[Credit, list[AuditedUrl]]
) -> RuleInForce:
    """Return the *rule* with what audits found of it, and of parts that they do not refute."""
    own = {credit: pairs for credit, pairs in verdicts.items() if credit.rule == key}
    whole = [pair for credit in own if not _is_part(credit, rule) for pair in own[credit]]
    parts = [
        pair
        for credit, pairs in own.items()
        if _is_part(credit, rule) and _outcome(pairs) is not Outcome.FAILS
        for pair in pairs
    ]
    return _audited(rule, [*whole, *parts], _outcome(whole))


def _is_part(credit: Credit, rule: RuleInForce) -> bool:
    """Tell whether the verdicts are about a part of what *rule* says."""
    entry = credit.entry.entry
    return bool(entry) and entry != subject_of(rule.option, rule.setting)


def _outcome(pairs: Iterable[AuditedUrl]) -> Outcome:
    """Return what the audit of a crawl with all these verdicts would say."""
    return SequentialTest.of_max_false(MAX_FALSE).outcome(pair.is_same for pair in pairs)


def _audited(rule: RuleInForce, pairs: Collection[AuditedUrl], outcome: Outcome) -> RuleInForce:
    if not pairs:
        return rule
    others = [pair for pair in pairs if not pair.is_same]
    shown = {(pair.url, pair.kept) for pair in others or pairs}
    examples = tuple(sorted(shown, key=lambda pair: (len(pair[0]), pair))[:MAX_EXAMPLES])
    return replace(rule, audited=len(pairs), others=len(others), examples=examples, outcome=outcome)
