"""The conditions of filter lists: ``!#if``, ``!#else`` and ``!#endif``.

A condition asks which program reads the list. A crawler is none of the programs with a name, so
each name is false, and ``!name`` is true.
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
    try:
        value = _either(tokens, 0)
    except ValueError:
        return None
    return None if tokens else value


def _either(tokens: list[str], depth: int) -> bool:
    value = _both(tokens, depth)
    while tokens and tokens[-1] == "||":
        tokens.pop()
        value = _both(tokens, depth) or value
    return value


def _both(tokens: list[str], depth: int) -> bool:
    value = _one(tokens, depth)
    while tokens and tokens[-1] == "&&":
        tokens.pop()
        value = _one(tokens, depth) and value
    return value


def _one(tokens: list[str], depth: int) -> bool:
    word = tokens.pop() if tokens else ""
    if depth <= _DEEPEST:
        if word == "!":
            return not _one(tokens, depth + 1)
        if word == "(":
            value = _either(tokens, depth + 1)
            if tokens and tokens.pop() == ")":
                return value
        elif word.isidentifier():
            return word == "true"
    raise ValueError(f"unexpected {word!r}")


class Conditions:
    """Follows the conditions of a list from line to line."""

    def __init__(self) -> None:
        # None for a condition that cannot be read: neither the lines after it nor those after its
        # ``!#else`` are used.
        self._met: list[bool | None] = []

    @property
    def hold(self) -> bool:
        """Whether all conditions that enclose the current line are met."""
        return all(self._met)

    def read(self, line: str) -> None:
        """Read *line*, one that begins with ``!#``."""
        if line.startswith("!#if"):
            self._met.append(is_met(line[4:]))
        elif line.startswith("!#else") and self._met:
            self._met[-1] = None if self._met[-1] is None else not self._met[-1]
        elif line.startswith("!#endif") and self._met:
            self._met.pop()
