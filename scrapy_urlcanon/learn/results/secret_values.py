"""Leaves out rules that show the value of a session or a token."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.redaction import redact_rule

if TYPE_CHECKING:
    from scrapy_urlcanon.learn.results.rule import Learned, LearnedRule


def without_secrets(learned: Learned) -> tuple[Learned, int]:
    """Return what was learned without new rules that show the value of a session or a token.

    A rules file is meant for version control. Rules in force are in one already, so they stay.

    :return: what is left, and how many rules were left out.
    """
    rules = tuple(rule for rule in learned.rules if not _is_left_out(rule))
    unsure = tuple(rule for rule in learned.unsure if not _is_left_out(rule))
    left_out = len(learned.rules) - len(rules) + len(learned.unsure) - len(unsure)
    return replace(learned, rules=rules, unsure=unsure), left_out


def shows_a_secret(setting: Any, pattern: str = "") -> bool:
    """Tell whether a setting holds the value of a parameter that is a secret by its name.

    >>> shows_a_secret({"sid": "4fa2"}), shows_a_secret(["sid"]), shows_a_secret({"page": "1"})
    (True, False, False)
    >>> shows_a_secret([["/users/{a}", "/@{a}"]])
    False
    """
    texts = [pattern]
    if isinstance(setting, dict):
        texts += [f"?{name}={value}" for name, value in setting.items()]
    elif isinstance(setting, list):
        texts += [text for item in setting for text in ([item] if isinstance(item, str) else item)]
    # A text before an @ in a path is no password.
    whole = ["//host" * text.startswith("/") + text for text in texts]
    return any(redact_rule(text) != text for text in whole)


def _is_left_out(rule: LearnedRule) -> bool:
    return not rule.was_in_force and shows_a_secret(rule.setting, rule.pattern)
