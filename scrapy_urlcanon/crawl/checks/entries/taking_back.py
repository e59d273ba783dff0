"""Tells the user how to remove an entry for good that an audit has suspended for this crawl."""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import OVERRIDE, RuleSet
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.patterns import Pattern
from scrapy_urlcanon.crawl.checks.entries.shown_rules import shown_value
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.place_patterns import PlacePattern, SitePattern

_SETTINGS = name_of("rules"), name_of("spider_rules")


@frozen
class TakingBack:
    """What to do to have an entry off on a domain from the start of the next crawl."""

    advice: str
    """A sentence."""
    line: str
    """What to paste into the settings; empty if no line would do."""


def taking_back(
    configuration: Configuration, entry: RuleEntry, domain: str, urls: Iterable[str]
) -> TakingBack:
    """Return how to take *entry* back on *domain*.

    Later layers win over earlier ones, and within a layer longer patterns win, except over
    overrides. Each possible place is tried, the weakest first, and the first one where the line has
    an effect is proposed.

    :param configuration: as it was written, without suspensions.
    :param urls: URLs that the entry changed or skipped.
    """
    if entry.option == DECLARED_CANONICAL:
        return TakingBack(
            "It can only be turned off everywhere:", f"{DECLARED_CANONICAL_SETTING} = False"
        )
    options = configuration.catalogue.by_name[entry.option].taken_back(entry.entry)
    for setting, overrides in product(_SETTINGS, (False, True)):
        known = _known(configuration, setting, domain, overrides=overrides)
        united = _united(known.options if known else {}, options)
        if united is None:
            continue
        rule_set = RuleSet(Pattern(domain), united, Layer(setting, domain), overrides=overrides)
        added = Canonicalizer.from_configuration(_with(configuration, rule_set))
        if not any(_changes(added, entry, url) for url in urls):
            has_key = known or _known(configuration, setting, domain, overrides=False)
            place = str(has_key.layer) if has_key else setting
            line = options if has_key else {domain: options}
            if overrides and known:
                place = f"{OVERRIDE} of {place}"
            elif overrides:
                line = {OVERRIDE: options} if has_key else {domain: {OVERRIDE: options}}
            option, value = next(iter(options.items()))
            if known and option in known.options:
                place, line = f"{option} of {place}", value
            shown = shown_value(line)
            if shown != repr(line):
                # It contains a secret, which must not be shown, and without it the line would do
                # nothing.
                break
            return TakingBack(f"To take it back, add to {place}:", f"{shown[1:-1]},")
    return TakingBack("To take it back, remove it where it is written.", "")


def _united(known: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *known* with *options* added, or None if they contradict each other."""
    united = dict(known)
    for option, value in options.items():
        has = known.get(option)
        if has is None:
            united[option] = value
        elif isinstance(value, list) and _opposite(value[0]) not in map(_name, has):
            united[option] = [*has, *value]
        elif isinstance(value, dict) and has.keys().isdisjoint(value):
            united[option] = {**has, **value}
        else:
            return None
    return united


def _opposite(name: str) -> str:
    return name.removeprefix("!") if name.startswith("!") else f"!{name}"


def _name(item: Any) -> str:
    """Return the name that an element of a list is, or the first of a pair of templates."""
    return item if isinstance(item, str) else str(item[0])


def _known(
    configuration: Configuration, setting: str, domain: str, *, overrides: bool
) -> RuleSet | None:
    """Return the rules that *setting* already has for *domain*, as overrides or not."""
    wanted = setting, Pattern(domain), overrides
    sets = chain.from_iterable(configuration.origins)
    return next((one for one in sets if _key(one) == wanted), None)


def _with(configuration: Configuration, rule_set: RuleSet) -> Configuration:
    """Return *configuration* with *rule_set* in its setting, replacing one for the same pattern."""
    origins = list(configuration.origins)
    names = [source.name for source in configuration.sources]
    setting = rule_set.layer.origin
    if setting in names:
        place = names.index(setting)
        others = (known for known in origins[place] if _key(known) != _key(rule_set))
        origins[place] = (*others, rule_set)
    else:
        # The project's setting comes before that of the spider.
        place = names.index(_SETTINGS[1]) if _SETTINGS[1] in names else len(names)
        origins.insert(place, (rule_set,))
    return configuration._replace(origins=tuple(origins))


def _key(rule_set: RuleSet) -> tuple[str, Pattern | SitePattern | PlacePattern, bool]:
    return rule_set.layer.origin, rule_set.pattern, rule_set.overrides


def _changes(canonicalizer: Canonicalizer, entry: RuleEntry, url: str) -> bool:
    if entry.is_skip:
        return canonicalizer.skips(url) == entry.entry
    return any(entry in step.entries for step in canonicalizer.explain(url).steps)
