"""What is learned and does not belong in a rules file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.names import Entry, NameMatcher
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST
from scrapy_urlcanon.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scrapy_urlcanon.learn.results.rule import Key, Learned, LearnedRule

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def fit_to_write(
    learned: Learned, preset: str, there: Collection[Key] = ()
) -> tuple[Learned, Counter[str]]:
    """Return what was learned without what a rules file need not or must not say.

    That is what *preset* does by itself, and, as such files are made to be committed, what is new
    and shows the value of a session or a token.

    :param there: rules that the file has already.
    :return: what is left, and how much is left out, by the reason.
    """
    canonicalizer = Canonicalizer(preset=preset)
    left_out: Counter[str] = Counter()

    def fit(rules: Iterable[LearnedRule]) -> Iterator[LearnedRule]:
        for rule in rules:
            # What is in force stands in a file already, or takes something back.
            if rule.key in there or rule.was_in_force:
                yield rule
            elif _is_idle(rule, canonicalizer):
                left_out[f"that the preset {preset!r} has already"] += 1
            elif _shows_a_secret(rule):
                left_out["that would show the value of a secret"] += 1
            else:
                yield rule

    rules = tuple(fit(learned.rules))
    return replace(learned, rules=rules, unsure=tuple(fit(learned.unsure))), left_out


def _is_idle(rule: LearnedRule, canonicalizer: Canonicalizer) -> bool:
    """Tell whether the preset of *canonicalizer* does all that *rule* does."""
    host = rule.key[0].host
    url = f"http://{'any.example' if host == ANY_HOST else host}/"
    setting = canonicalizer.policy(url).options.get(rule.option)
    if rule.evidence.pages and rule.evidence.examples and rule.kind == "rewrite":
        # What was crawled, and what the rule alone makes of it.
        forms = (map(canonicalizer.canonicalize, pair) for pair in rule.evidence.examples)
        return all(one == other for one, other in forms)
    if setting is None or isinstance(rule.setting, dict):
        return False
    if not isinstance(rule.setting, list):
        return bool(setting.value == rule.setting)
    names = [name for name in rule.setting if isinstance(name, str) and name[:1] != "!"]
    if rule.kind == "sink" or len(names) != len(rule.setting) or not names:
        return False
    if rule.option == "drop_params":
        # Whichever option of the preset does it.
        kept = (canonicalizer.canonicalize(f"{url}?{quote(name)}=1") != url for name in names)
        return not any("*" in name for name in names) and not any(kept)
    matcher = NameMatcher(entry for entry in setting.value or () if isinstance(entry, Entry))
    return all(name in matcher for name in names)


def _shows_a_secret(rule: LearnedRule) -> bool:
    """Tell whether *rule* holds the value of a parameter that is not to be shown."""
    setting = rule.setting
    texts = [rule.pattern]
    if isinstance(setting, dict):
        texts += [f"?{name}={value}" for name, value in setting.items()]
    elif isinstance(setting, list):
        texts += [text for item in setting for text in ([item] if isinstance(item, str) else item)]
    plain = [_PLACEHOLDER.sub("", text) for text in texts]
    return any(redact(text) != text for text in plain)
