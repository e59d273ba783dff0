"""Lists the texts that a regular expression matches, if they are few."""

from __future__ import annotations

import re

from attrs import define

_MOST_TEXTS = 100
"""How many texts an expression may match. Larger ones were not written as a list."""
_DEEPEST_GROUP = 20
_REPEAT = re.compile(r"\{(\d{1,3})(?:(,)(\d{0,3}))?\}")


class NotFiniteError(ValueError):
    """The expression matches too many texts, or uses syntax that is not read here."""


def finite_texts(expression: str, *, dot_is_literal: bool = False) -> tuple[str, ...]:
    r"""Return all texts that *expression* matches as a whole, in its order.

    It reads literals, escapes, groups, alternatives, classes without ``^``, ``\d``, and
    the repetitions ``?``, ``{n}`` and ``{m,n}``.

    >>> finite_texts(r"mc_(?:eid|cid)")
    ('mc_eid', 'mc_cid')
    >>> finite_texts(r"colii?d[12]")
    ('colid1', 'colid2', 'coliid1', 'coliid2')

    :param dot_is_literal: take a dot for a dot, as hosts are often written.
    :raises NotFiniteError: if it matches more than a hundred texts, or none can be listed.
    """
    reader = _Reader(expression, dot_is_literal)
    texts = reader.alternatives(depth=0)
    if reader.position < len(expression):
        raise NotFiniteError("unbalanced )")
    return tuple(dict.fromkeys(texts))


def split_at(expression: str, separator: str) -> list[str]:
    r"""Split *expression* at *separator*, escaped or not, outside of groups and classes.

    An escaped ``|`` is no separator.

    >>> split_at(r"a\/b(c/d)/e", "/"), split_at(r"a\|b|c", "|")
    (['a', 'b(c/d)', 'e'], ['a\\|b', 'c'])
    """
    parts: list[str] = []
    start = position = depth = 0
    in_class = False
    while position < len(expression):
        escaped = expression[position] == "\\"
        length = 2 if escaped else 1
        character = expression[position : position + length][-1]
        is_separator = character == separator and not (escaped and separator == "|")
        if is_separator and not in_class and not depth:
            parts.append(expression[start:position])
            start = position + length
        elif escaped:
            pass
        elif in_class:
            in_class = character != "]"
        elif character in "[()":
            in_class = character == "["
            depth += {"[": 0, "(": 1, ")": -1}[character]
        position += length
    return [*parts, expression[start:]]


@define
class _Reader:
    expression: str
    dot_is_literal: bool
    position: int = 0

    def peek(self) -> str:
        return self.expression[self.position : self.position + 1]

    def alternatives(self, depth: int) -> list[str]:
        if depth > _DEEPEST_GROUP:
            raise NotFiniteError("groups too deep")
        texts = self.sequence(depth)
        while self.peek() == "|":
            self.position += 1
            texts = _limited(texts + self.sequence(depth))
        return texts

    def sequence(self, depth: int) -> list[str]:
        texts = [""]
        while self.peek() not in {"", "|", ")"}:
            part = self.repeated(self.atom(depth))
            if len(texts) * len(part) > _MOST_TEXTS:
                raise NotFiniteError("too many texts")
            texts = [before + after for before in texts for after in part]
        return texts

    def atom(self, depth: int) -> list[str]:
        character = self.peek()
        self.position += 1
        if character == "(":
            if self.expression.startswith("?:", self.position):
                self.position += 2
            elif self.peek() == "?":
                raise NotFiniteError("a look-around or a flag")
            texts = self.alternatives(depth + 1)
            if self.peek() != ")":
                raise NotFiniteError("unbalanced (")
            self.position += 1
            return texts
        if character == "[":
            return self.character_class()
        if character == "\\":
            return self.escaped()
        if character in "^$*+?{}" or (character == "." and not self.dot_is_literal):
            raise NotFiniteError(f"{character} stands for too much")
        return [character]

    def escaped(self) -> list[str]:
        character = self.peek()
        self.position += 1
        if character == "d":
            return list("0123456789")
        if not character or character.isalnum():
            # \w, \b, \1, \u0041 ...: more than a text, or one that we would read wrongly.
            raise NotFiniteError(f"\\{character}")
        return [character]

    def character_class(self) -> list[str]:
        if self.peek() == "^":
            raise NotFiniteError("a negated class")
        characters: list[str] = []
        before: list[str] = []
        while (character := self.peek()) != "]":
            found = self.in_class()
            if character == "-" and before and self.peek() not in {"]", ""}:
                last = self.in_class()
                if len(before) > 1 or len(last) > 1:
                    raise NotFiniteError("not a range")
                found = _between(before[0], last[0])
                before = []
            else:
                before = found
            characters += found
        if not characters:
            # In JavaScript, for which these expressions are written, nothing is in `[]`.
            raise NotFiniteError("an empty class")
        self.position += 1
        return list(dict.fromkeys(_limited(characters)))

    def in_class(self) -> list[str]:
        """Return what stands for itself between ``[`` and ``]``, or an escape for several."""
        character = self.peek()
        if not character:
            raise NotFiniteError("unbalanced [")
        self.position += 1
        return self.escaped() if character == "\\" else [character]

    def repeated(self, texts: list[str]) -> list[str]:
        character = self.peek()
        if character in {"*", "+"}:
            raise NotFiniteError(f"{character} repeats without end")
        if character == "?":
            self.position += 1
            texts = ["", *texts]
        elif found := _REPEAT.match(self.expression, self.position):
            self.position = found.end()
            least, comma, most = found.groups()
            if comma and not most:
                raise NotFiniteError("{n,} repeats without end")
            texts = _repeat(texts, int(least), int(most or least))
        else:
            return texts
        if self.peek() == "?":
            self.position += 1  # a lazy repetition matches the same texts
        return texts


def _repeat(texts: list[str], least: int, most: int) -> list[str]:
    if most > _MOST_TEXTS:
        raise NotFiniteError("too many repetitions")
    repeated: list[str] = []
    power = [""]
    for times in range(most + 1):
        if times >= least:
            repeated = _limited(repeated + power)
        if times < most:
            if len(power) * len(texts) > _MOST_TEXTS:
                raise NotFiniteError("too many texts")
            power = [before + after for before in power for after in texts]
    return repeated


def _between(first: str, last: str) -> list[str]:
    if not 0 <= ord(last) - ord(first) <= _MOST_TEXTS:
        raise NotFiniteError("not a range")
    return [chr(code) for code in range(ord(first) + 1, ord(last) + 1)]


def _limited(texts: list[str]) -> list[str]:
    if len(texts) > _MOST_TEXTS:
        raise NotFiniteError("too many texts")
    return texts
