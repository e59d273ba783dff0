"""The shape of one text, a path or a value: literal texts, and named places between them.

============= ===============================================================
class         characters
============= ===============================================================
``segment``   all but a slash; the class where none is given
``digits``    0 to 9
``hex``       0 to 9, a to f, A to F
``word``      letters, digits and what is percent-encoded
``slug``      the same, ``-`` and ``_``
``path``      all, slashes among them
``en|de|fr``  one of these texts
============= ===============================================================

Nobody writes regular expressions: a shape that more than one reading of a text could fit is
refused, and with one reading the places are found from the two ends of the text inwards, without
ever going back. So the time is linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from string import ascii_letters, digits, hexdigits
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.exceptions import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# All that a normalized path or value consists of.
_ALL = "".join(map(chr, range(0x21, 0x7F)))
SEGMENT = "segment"
PATH = "path"
CLASSES: dict[str, str] = {
    SEGMENT: _ALL.replace("/", ""),
    "digits": digits,
    "hex": hexdigits,
    "word": f"{ascii_letters}{digits}%",
    "slug": f"{ascii_letters}{digits}-_%",
    PATH: _ALL,
}
"""The characters of each class."""

PLACE = re.compile(r"\{([^{}]*)\}")
"""A place as it is written, with what stands between its braces."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Place(NamedTuple):
    """A named place in a text, which takes one or more characters."""

    name: str
    kind: str
    """The class, as it was written."""
    characters: str
    choices: tuple[str, ...] = ()
    """The texts that it takes; any where there are none."""

    def __str__(self) -> str:
        return f"{{{self.name}}}" if self.kind == SEGMENT else f"{{{self.name}:{self.kind}}}"

    @property
    def expression(self) -> str:
        """The regular expression of the texts that it takes, as a group of its name."""
        texts = "|".join(map(re.escape, self.choices)) or f"[{re.escape(self.characters)}]+"
        return f"(?P<{self.name}>{texts})"

    def takes(self, text: str) -> bool:
        """Tell whether *text* can stand in this place."""
        if self.choices:
            return text in self.choices
        return bool(text) and not text.strip(self.characters)


Part: TypeAlias = str | Place
"""What a text template consists of: literal texts and places."""
Encode: TypeAlias = Callable[[str], str]


def place(name: str, kind: str, encode: Encode) -> Place:
    """Return the place *name* of the known class *kind*.

    :param encode: brings a text into the one spelling of the component.
    """
    if kind in CLASSES:
        return Place(name, kind, CLASSES[kind])
    choices = tuple(map(encode, kind.split("|")))
    return Place(name, kind, "".join(sorted(set("".join(choices)))), choices)


class TextTemplate:
    """The shape of one text, a path or a value.

    It has parts whose ends can be found from the left, parts whose beginnings can be found
    from the right, and between them at most one place, which takes what is left. From the
    left, the end of a place can be found if what follows begins with a character that the
    place does not take.

    :raises TemplateError: if two places are left: one text could be read in two ways.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts: tuple[Part, ...] = tuple(part for part in parts if part)
        start, end = 0, len(self.parts)
        while start < end and self._is_fixed(start, start + 1):
            start += 1
        while end > start and self._is_fixed(end - 1, end - 2):
            end -= 1
        left = [str(part) for part in self.parts[start:end] if isinstance(part, Place)]
        if len(left) > 1:
            raise TemplateError(
                f"it is ambiguous where {left[0]} ends and {left[1]} begins: put a character "
                "between them that one of them does not take, or give one a narrower class"
            )
        first, *_, last = 2 * (self.parts or ("",))
        self._start = first if isinstance(first, str) else ""
        # Where all can be told from the left, nothing is looked for from the right.
        self._end = last if isinstance(last, str) and end < len(self.parts) else ""
        middle = self.parts[start:end]
        self._middle = middle[0] if middle and isinstance(middle[0], Place) else None
        # From the ends inwards; what stands at the ends literally is looked for first.
        self._from_left = self.parts[bool(self._start) : start]
        self._from_right = self.parts[end:][::-1][bool(self._end) :]

    def _is_fixed(self, position: int, neighbour: int) -> bool:
        """Tell whether the end of a part that is next to *neighbour* can be told."""
        part = self.parts[position]
        if isinstance(part, str):
            return True
        if not 0 <= neighbour < len(self.parts):
            return False
        beside = self.parts[neighbour]
        if isinstance(beside, Place):
            return set(part.characters).isdisjoint(beside.characters)
        return beside[0 if neighbour > position else -1] not in part.characters

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, in order."""
        return tuple(part for part in self.parts if isinstance(part, Place))

    def may_have(self, shape: TextTemplate) -> bool:
        """Tell whether a text of this shape may also have another *shape*; neither is empty.

        What they begin or end with nearly always rules it out.

        >>> numbers = TextTemplate(["/a/", place("id", "digits", str)])
        >>> pages = TextTemplate(["/a/", place("id", "digits", str), ".html"])
        >>> pages.may_have(numbers), numbers.may_have(numbers)
        (False, True)
        """
        return _may_begin_alike(self.parts[0], shape.parts[0]) and _may_end_alike(
            self.parts[-1], shape.parts[-1]
        )

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """The regular expression that finds the same as :meth:`match`, with the places by name.

        Compiling it takes as long as some hundred matches. As a text has only one reading, it never
        has to go back, and takes linear time too.

        >>> shape = TextTemplate(["/a/", place("id", "digits", str), ".html"])
        >>> shape.expression.fullmatch("/a/12.html").groupdict()
        {'id': '12'}
        """
        return re.compile(
            "".join(
                re.escape(part) if isinstance(part, str) else part.expression for part in self.parts
            )
        )

    def match(self, text: str) -> dict[str, str] | None:
        """Return the text of each place if *text* has this shape, otherwise None.

        >>> shape = TextTemplate([place("a", "slug", str), "-", place("b", "digits", str)])
        >>> shape.match("one-two-3") == {"a": "one-two", "b": "3"}
        True
        >>> shape.match("one-two-")
        """
        if not (text.startswith(self._start) and text.endswith(self._end)):
            return None
        found: dict[str, str] = {}
        end = len(text) - len(self._end)
        if len(self._start) > end:
            return None
        rest = self._match_left(text[len(self._start) : end], found)
        rest = None if rest is None else self._match_right(rest, found)
        if rest is None:
            return None
        if self._middle is None:
            return None if rest else found
        if not self._middle.takes(rest):
            return None
        found[self._middle.name] = rest
        return found

    def _match_left(self, text: str, found: dict[str, str]) -> str | None:
        """Return the rest of *text*, or None if its beginning does not have this shape."""
        for part in self._from_left:
            if isinstance(part, str):
                if not text.startswith(part):
                    return None
                text = text[len(part) :]
            else:
                rest = text.lstrip(part.characters)
                taken = text[: len(text) - len(rest)]
                if not taken or (part.choices and taken not in part.choices):
                    return None
                found[part.name], text = taken, rest
        return text

    def _match_right(self, text: str, found: dict[str, str]) -> str | None:
        """Return the rest of *text*, or None if its end does not have this shape."""
        for part in self._from_right:
            if isinstance(part, str):
                if not text.endswith(part):
                    return None
                text = text[: len(text) - len(part)]
            else:
                rest = text.rstrip(part.characters)
                taken = text[len(rest) :]
                if not taken or (part.choices and taken not in part.choices):
                    return None
                found[part.name], text = taken, rest
        return text


def _may_begin_alike(one: Part, other: Part) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.startswith(other) or other.startswith(one)
    first, second = (part[0] if isinstance(part, str) else part.characters for part in (one, other))
    return not set(first).isdisjoint(second)


def _may_end_alike(one: Part, other: Part) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.endswith(other) or other.endswith(one)
    first, second = (
        part[-1] if isinstance(part, str) else part.characters for part in (one, other)
    )
    return not set(first).isdisjoint(second)


def parse_parts(text: str, encode: Encode, kinds: Mapping[str, str]) -> Iterator[Part]:
    """Yield the literal texts and the places of *text*.

    :param encode: brings a text into the one spelling of the component.
    :param kinds: the classes of names that are given none.
    :raises TemplateError: if a brace is missing, or a place has no name or no known class.
    """
    # Of what the pattern splits, every other text is what it captured.
    for position, part in enumerate(PLACE.split(text)):
        if position % 2:
            yield _parse_place(part, encode, kinds)
        elif "{" in part or "}" in part:
            raise TemplateError(f"a brace is missing near {part!r}; a literal one is %7B or %7D")
        elif part:
            yield encode(part)


def _parse_place(text: str, encode: Encode, kinds: Mapping[str, str]) -> Place:
    name, colon, kind = text.partition(":")
    if not _NAME.fullmatch(name):
        raise TemplateError(f"expected a name of letters, digits and _ in {{{text}}}")
    if not colon:
        kind = kinds.get(name, SEGMENT)
    if kind not in CLASSES and ("|" not in kind or not all(kind.split("|"))):
        expected = ", ".join(CLASSES)
        raise TemplateError(
            f"no such class: {kind!r}; expected {expected} or a choice like en|de"
            + did_you_mean(kind, CLASSES)
        )
    return place(name, kind, encode)
