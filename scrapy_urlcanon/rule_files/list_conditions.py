"""The conditions of filter lists: ``!#if``, ``!#else`` and ``!#endif``.

A condition is about the program that reads the list, and a crawler is none of those that have a
name: each name is false, and ``!name`` true.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\s*(\w+|&&|\|\||[!()])")
_MOST_TOKENS = 200
_DEEPEST = 20


def is_met(condition: str) -> bool | None:
    """Tell whether *condition* holds for a crawler; None where it cannot be read.

    >>> is_met("!ext_ubol && (env_firefox || !env_mobile)"), is_met("adguard"), is_met("a &&")
    (True, False, None)
    """
    tokens: list[str] = []
    position = 0
    condition = condition.rstrip()
    while position < len(condition):
        found = _TOKEN.match(condition, position)
        if not found or len(tokens) >= _MOST_TOKENS:
            return None
        tokens.append(found[1])
        position = found.end()
    tokens.reverse()
    value = _either(tokens, 0)
    return None if tokens else value


def _either(tokens: list[str], depth: int) -> bool | None:
    value = _both(tokens, depth)
    while value is not None and tokens and tokens[-1] == "||":
        tokens.pop()
        other = _both(tokens, depth)
        value = None if other is None else value or other
    return value


def _both(tokens: list[str], depth: int) -> bool | None:
    value = _one(tokens, depth)
    while value is not None and tokens and tokens[-1] == "&&":
        tokens.pop()
        other = _one(tokens, depth)
        value = None if other is None else value and other
    return value


def _one(tokens: list[str], depth: int) -> bool | None:
    if not tokens or depth > _DEEPEST:
        return None
    word = tokens.pop()
    if word == "!":
        value = _one(tokens, depth + 1)
        return None if value is None else not value
    if word == "(":
        value = _either(tokens, depth + 1)
        return value if tokens and tokens.pop() == ")" else None
    return word == "true" if word.isidentifier() else None


class Conditions:
    """Follows the conditions of a list from line to line."""

    def __init__(self) -> None:
        self._met: list[bool] = []

    @property
    def hold(self) -> bool:
        """Whether all conditions that the line stands in are met."""
        return all(self._met)

    def read(self, line: str) -> None:
        """Read *line*, one that begins with ``!#``."""
        if line.startswith("!#if"):
            self._met.append(is_met(line[4:]) or False)
        elif line.startswith("!#else") and self._met:
            self._met[-1] = not self._met[-1]
        elif line.startswith("!#endif") and self._met:
            self._met.pop()
