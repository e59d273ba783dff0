"""Unites the rules that were in force with newly learned ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.confidence import Outcome, lower_bound
from scrapy_urlcanon.learn.results.accepted import valid
from scrapy_urlcanon.learn.results.choices import texts_of
from scrapy_urlcanon.learn.results.in_force import (
    WHOLE,
    RuleInForce,
    entry_of,
    settings_of,
    subject_of,
)
from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule
from scrapy_urlcanon.learn.scope import pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.patterns import Pattern
    from scrapy_urlcanon.learn.results.rule import Key, Kind
    from scrapy_urlcanon.learn.thresholds import Thresholds


class United(NamedTuple):
    """The rules of one domain."""

    rules: tuple[LearnedRule, ...]
    """The rules that were in force, in their order, and then the new ones."""
    unsure: tuple[LearnedRule, ...]


def unite(
    learned: Sequence[LearnedRule],
    unsure: Sequence[LearnedRule],
    in_force: Iterable[RuleInForce],
    thresholds: Thresholds,
    of_settings: Iterable[RuleInForce] = (),
) -> United:
    """Return the new rules of a domain united with those that were in force there.

    - A rule that audits refuted is replaced by a line that takes it back, so that it is not learned
      again, and new rules that would do the same are left out.
    - A rule that was not in force in the last crawl is removed, unless it was learned again.
    - All others stay, except for those that a wider rule covers.
    - A new rule that contradicts a standing one is left out: there may be two ways to write one
      merge, and the present one is as good.

    :param of_settings: the rules of settings, which are stronger than these.
    """
    in_force = tuple(in_force)
    known = {rule.key: rule for rule in in_force if not rule.refuted}
    refuted = [rule for rule in in_force if rule.outcome is Outcome.FAILS]
    again = {rule.key: rule for rule in learned}
    standing, gone = _standing(known, again, thresholds)
    for line in (line for rule in refuted for line in _taken_back(rule, thresholds)):
        for key in [key for key, old in standing.items() if _is_otherwise(line, old)]:
            del standing[key]
        standing.setdefault(line.key, line)
    new = {key: rule for key, rule in again.items() if key not in known}
    stronger = [_kept(rule, "kept", None, thresholds) for rule in of_settings]
    doubtful = list(_doubtful(new.values(), refuted, standing.values(), stronger))
    new = {
        key: rule
        for key, rule in new.items()
        if rule not in doubtful and not _is_said_otherwise(rule, standing)
    }
    by_hand = {key for key, rule in known.items() if rule.is_by_hand}
    left = list(_without_covered(standing, new, by_hand))
    said = {rule.key for rule in (*left, *gone)}
    proposed = (
        rule
        for rule in unsure
        if rule.key not in said and not any(_covers(other, rule) for other in left)
    )
    return United(tuple(valid(_in_one_spelling(left))), (*gone, *doubtful, *proposed))


def _standing(
    known: Mapping[Key, RuleInForce], again: Mapping[Key, LearnedRule], thresholds: Thresholds
) -> tuple[dict[Key, LearnedRule], list[LearnedRule]]:
    """Return the rules in force that stay, and those that somebody took out.

    :param again: the learned rules; some of them may be in force.
    """
    standing: dict[Key, LearnedRule] = {}
    gone: list[LearnedRule] = []
    for key, rule in known.items():
        found = again.get(key)
        if rule.outcome is Outcome.FAILS:
            continue
        if rule.is_current:
            kept = _kept(rule, "kept", found, thresholds)
            if not _is_said_otherwise(kept, standing):
                standing[key] = kept
        elif found:
            standing[key] = found
        else:
            gone.append(_kept(rule, "taken out", None, thresholds))
    return standing, gone


def _doubtful(
    new: Iterable[LearnedRule],
    refuted: Iterable[RuleInForce],
    standing: Collection[LearnedRule],
    stronger: Collection[LearnedRule],
) -> Iterator[LearnedRule]:
    """Yield the *new* rules that would repeat what audits *refuted* or what *standing* take back.

    Also those without effect: they drop a parameter that one of *standing* keeps, or that
    *stronger* ones keep or take back everywhere the rule holds.
    """
    wrong = list(map(_refuted, refuted))
    refused = list(_refused(standing))
    idle = list(_refused(stronger))
    for rule in new:
        if (
            any(_covers(rule, old) for old in wrong)
            or any(_is_one_of(rule, old) for old in (*wrong, *refused))
            or ("*" not in repr(rule.setting) and any(_covers(rule, old) for old in refused))
            or any(_keeps(old, rule) for old in (*standing, *stronger))
            or any(_covers(old, rule) for old in idle)
        ):
            yield rule


def _taken_back(rule: RuleInForce, thresholds: Thresholds) -> Iterator[LearnedRule]:
    """Yield the lines that turn a refuted *rule* off."""
    option = BY_NAME.get(rule.option)
    entry = rule.refuted.entry if rule.refuted else subject_of(rule.option, rule.setting) or ""
    for name, value in option.taken_back(entry).items() if option else ():
        for setting in settings_of(name, value):
            yield _kept(
                replace(rule, option=name, setting=setting), "contradicted", None, thresholds
            )


def _refuted(rule: RuleInForce) -> LearnedRule:
    """Return a refuted *rule* as a learned rule, to compare it with others."""
    option, setting = rule.option, rule.setting
    if rule.refuted:
        option, setting = "drop_params", [rule.refuted.entry]
    return LearnedRule(rule.domain, rule.pattern, option, setting, "contradicted")


def _refused(rules: Iterable[LearnedRule]) -> Iterator[LearnedRule]:
    """Yield the rules that *rules* take back: parameters to drop, and classes to skip.

    With a glob in the same list they are its exceptions.

    >>> from scrapy_urlcanon.learn import LearnedRule
    >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["!v"], "kept")
    >>> [refused.setting for refused in _refused([rule])]
    [['v']]
    """
    for rule in rules:
        if rule.option in {"drop_params", SKIP} and entry_of(rule.setting).startswith("!"):
            yield replace(rule, setting=[entry_of(rule.setting)[1:]], kind="contradicted")


def _without_covered(
    standing: dict[Key, LearnedRule], new: dict[Key, LearnedRule], by_hand: Collection[Key]
) -> Iterator[LearnedRule]:
    """Yield the rules without those that another one makes idle; those *by_hand* stay."""
    both = {**standing, **new}
    # Rules that were learned together were compared by the miner already, but for those that are
    # one for different URLs; of templates the order counts too.
    one_for_others: dict[tuple[str, str], list[LearnedRule]] = {}
    for (_, option, setting), rule in new.items():
        if option != "rewrite_path":
            one_for_others.setdefault((option, setting), []).append(rule)
    old = [both[key] for key in standing]
    for key, rule in both.items():
        others = both.values() if key in standing else [*old, *one_for_others.get(key[1:], ())]
        if key in by_hand or not any(
            other is not rule and _covers(other, rule, both.values()) for other in others
        ):
            yield rule


def _kept(
    rule: RuleInForce, kind: Kind, found: LearnedRule | None, thresholds: Thresholds
) -> LearnedRule:
    """Return a rule in force with the results of its audits, and with new evidence if there is."""
    evidence = found.evidence if found else Evidence()
    evidence = replace(evidence, audited=rule.audited, others=rule.others)
    if not found:
        bound = lower_bound(rule.audited - rule.others, rule.others, thresholds.confidence)
        evidence = replace(evidence, bound=bound, examples=rule.examples)
    return LearnedRule(
        rule.domain,
        rule.pattern,
        rule.option,
        rule.setting,
        found.kind if found else kind,
        evidence,
        was_in_force=True,
    )


def _is_said_otherwise(rule: LearnedRule, standing: dict[Key, LearnedRule]) -> bool:
    """Tell whether one of *standing* contradicts *rule*."""
    return any(_is_same_subject(rule, old) for old in standing.values())


def _is_otherwise(rule: LearnedRule, old: LearnedRule) -> bool:
    """Tell whether the two contradict each other; lists whose entries all count do not."""
    return rule.option not in WHOLE and rule.key != old.key and _is_same_subject(rule, old)


def _is_same_subject(rule: LearnedRule, old: LearnedRule) -> bool:
    return (
        rule.option == old.option
        and pattern_of(rule.pattern) == pattern_of(old.pattern)
        and _subject(rule) == _subject(old)
    )


def _subject(rule: LearnedRule) -> str | None:
    return subject_of(rule.option, rule.setting)


def _covers(general: LearnedRule, special: LearnedRule, among: Iterable[LearnedRule] = ()) -> bool:
    """Tell whether *general* does all that *special* does."""
    if not pattern_of(general.pattern).covers(pattern_of(special.pattern)):
        return False
    if not _does_as_much(general, special):
        return False
    # The special one may be needed because of a rule between the two, or one that takes it back.
    return not any(
        other.option == special.option
        and _subject(other) == _subject(special)
        and other.setting != special.setting
        and pattern_of(other.pattern).covers(pattern_of(special.pattern))
        for other in among
        if other is not general and other is not special
    )


def _does_as_much(general: LearnedRule, special: LearnedRule) -> bool:
    if general.option == special.option:
        if general.setting == special.setting:
            return True
        if _is_one_of(special, general):
            # A rule in force is not removed for a new one.
            return general.was_in_force or not special.was_in_force
        return general.option == "drop_params" and _matches(
            entry_of(general.setting), entry_of(special.setting)
        )
    if (general.option, special.option) == ("keep_params", "drop_params"):
        name = entry_of(special.setting)
        # A name that the glob matches may be one that is kept.
        return (
            "*" not in name
            and name[:1] != "!"
            and not any(_matches(kept, name) for kept in general.setting)
        )
    return False


def _keeps(old: LearnedRule, rule: LearnedRule) -> bool:
    """Tell whether *old* keeps what *rule* drops: keeping wins, whatever the patterns.

    >>> keeping = LearnedRule("a.example", "a.example", "keep_params", ["s*", "!sort"], "kept")
    >>> dropping = LearnedRule("a.example", "a.example/b/", "drop_params", ["sid"], "rewrite")
    >>> _keeps(keeping, dropping), _keeps(keeping, replace(dropping, setting=["sort"]))
    (True, False)
    """
    if (old.option, rule.option) != ("keep_params", "drop_params"):
        return False
    name = entry_of(rule.setting)
    is_kept = any(_matches(kept, name) for kept in old.setting) and f"!{name}" not in old.setting
    return is_kept and pattern_of(old.pattern).covers(pattern_of(rule.pattern))


def _is_one_of(special: LearnedRule, general: LearnedRule) -> bool:
    """Tell whether one rule of ``skip`` is a part of another one, as one text of a choice is."""
    return (
        general.is_skip
        and special.is_skip
        and pattern_of(general.pattern) == pattern_of(special.pattern)
        and texts_of(entry_of(special.setting)) <= texts_of(entry_of(general.setting))
    )


def _matches(pattern: str, name: str) -> bool:
    """Tell whether the entry *pattern* does the same to all names that *name* matches."""
    return not pattern.startswith("!") and not name.startswith("!") and glob_matcher(pattern)(name)


def _in_one_spelling(rules: Iterable[LearnedRule]) -> list[LearnedRule]:
    """Return the rules with one spelling of each pattern, as a configuration requires."""
    spelling: dict[Pattern, str] = {}
    return [
        replace(rule, pattern=spelling.setdefault(pattern_of(rule.pattern), rule.pattern))
        for rule in rules
    ]
