r"""Templates: the shape of a path and of parameters, with named places.

A template is a path and, behind a ``?``, the parameters that it needs::

    /books/{slug}/{isbn:digits}-item.html
    /index.php?page=article&id={id}
    /showthread.php?{id:digits}-{title}

``{name}`` or ``{name:class}`` stands for one or more characters:

============= ===============================================================
class         characters
============= ===============================================================
``segment``   all but a slash; the class where none is given
``digits``    0 to 9
``hex``       0 to 9, a to f, A to F
``slug``      letters, digits, ``-``, ``_`` and what is percent-encoded
``path``      all, slashes among them
``en|de|fr``  one of these texts
============= ===============================================================

A parameter that has no ``=`` is read as a path is, so that ``/index.php?/topic/{id}`` takes
no slash for a part of the number. At most one may have places.

Nobody writes regular expressions: a template that more than one reading of a text could fit
is refused, and with one reading the places are found from the two ends of the text inwards,
without ever going back. So the time is linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from string import ascii_letters, digits, hexdigits
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from attrs import frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import (
    as_path,
    encode_path,
    encode_query_text,
)
from scrapy_urlcanon.canonicalizer.url import is_utf8
from scrapy_urlcanon.exceptions import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.url import Url

# All that a normalized path or value consists of.
_ALL = "".join(map(chr, range(0x21, 0x7F)))
SEGMENT = "segment"
PATH = "path"
CLASSES: dict[str, str] = {
    SEGMENT: _ALL.replace("/", ""),
    "digits": digits,
    "hex": hexdigits,
    "slug": f"{ascii_letters}{digits}-_%",
    PATH: _ALL,
}
"""The characters of each class."""

_PLACE = re.compile(r"\{([^{}]*)\}")
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
    """Return the place *name* of the class *kind*, a known one.

    :param encode: brings a text into the one spelling of the component.
    """
    if kind in CLASSES:
        return Place(name, kind, CLASSES[kind])
    choices = tuple(map(encode, kind.split("|")))
    return Place(name, kind, "".join(sorted(set("".join(choices)))), choices)


class TextTemplate:
    """The shape of one text, a path or a value.

    Its parts fall into three: those whose ends can be told from the left, those whose
    beginnings can be told from the right, and between them at most one place, which
    takes what is left. From the left the end of a place can be told where what comes
    behind it begins with a character that it does not take.

    :raises TemplateError: if two places are left, as one text could be read in two ways.
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
        """Tell whether a text of this shape may have another *shape*; neither is empty.

        Nearly always what they begin or end with rules it out.

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
        """What finds the same as :meth:`match`, with the places by name.

        To compile it takes as long as some hundred matches; with one reading of a text there is
        nothing to go back for, so that it takes linear time too.

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
        """Return what stands in each place if *text* has this shape, else None.

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
        """Return what is left of *text*, or None if its beginning has not this shape."""
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
        """Return what is left of *text*, or None if its end has not this shape."""
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


@frozen(eq=False)
class Template:
    """A path and the parameters that belong to it, each the shape of a text.

    >>> template = parse_template("/test/{kind}?id={id:digits}")
    >>> str(template), list(template.kinds.items())
    ('/test/{kind}?id={id:digits}', [('kind', 'segment'), ('id', 'digits')])
    """

    text: str
    """As it was written."""
    path: TextTemplate
    params: Mapping[str, TextTemplate]
    """The shapes of the values, by the percent-encoded name of the parameter."""
    bare: TextTemplate | None = None
    """The shape of the parameter that has no ``=``, as a path; None where it names none."""

    def __str__(self) -> str:
        return self.text

    @property
    def places(self) -> tuple[Place, ...]:
        """All places, those of the path first."""
        bare = self.bare.places if self.bare else ()
        return self.path.places + bare + self.places_of_params

    @property
    def places_of_params(self) -> tuple[Place, ...]:
        """The places in values of parameters."""
        return tuple(place for shape in self.params.values() for place in shape.places)

    @property
    def has_query(self) -> bool:
        """Whether it names parameters."""
        return bool(self.params) or self.bare is not None

    @property
    def kinds(self) -> dict[str, str]:
        """The class of each name."""
        return {place.name: place.kind for place in self.places}

    def match(self, url: Url) -> Match | None:
        """Return what *url*, a normalized one, has in each place, or None.

        None too where it has one of the parameters twice, or several that have the shape of the
        one without ``=``.
        """
        found = self.path.match(url.path)
        if found is None:
            return None
        if not self.has_query:
            return Match(found, url.query or ())
        others: list[str] = []
        seen = set()
        for piece in url.query or ():
            name, _, value = piece.partition("=")
            shape = self.params.get(name)
            if shape is None:
                others.append(piece)
                continue
            in_value = None if name in seen else shape.match(value)
            if in_value is None:
                return None
            seen.add(name)
            found |= in_value
        if self.bare is not None:
            fitting = self.fitting(others)
            if len(fitting) != 1:
                return None
            ((piece, in_bare),) = fitting
            others.remove(piece)
            found |= in_bare
        return Match(found, tuple(others)) if len(seen) == len(self.params) else None

    def fitting(self, pieces: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
        """Return those of some parameters that have the shape of the one without ``=``.

        Each comes with what it has in each place.
        """
        return [
            (piece, found)
            for piece in pieces
            if self.bare is not None
            and not piece.partition("=")[2]
            and (found := self.bare.match(as_path(piece.removesuffix("=")))) is not None
        ]


class Match(NamedTuple):
    """How a template fits a URL."""

    found: Mapping[str, str]
    """What stands in each place, percent-encoded as it is there."""
    others: tuple[str, ...]
    """The pieces of the query that the template does not name."""


class TemplateIndex:
    """Finds those of many templates that a URL may fit, in a time that hardly grows with them.

    They are filed under what they say literally: the value of a parameter, or the first segment of
    the path, else how it begins, and how it ends. Of these there are few lengths.

    >>> from scrapy_urlcanon.canonicalizer.url import split
    >>> index = TemplateIndex(map(parse_template, ["/a/{id}", "/b/{id}", "/{page}.html"]))
    >>> index.candidates(split("http://example.com/b/7"))
    [1]
    """

    def __init__(self, templates: Iterable[Template]) -> None:
        self._by_value: dict[tuple[str, str], list[int]] = {}
        # By the lengths of beginning and end; no length is that of the first segment.
        self._by_ends: dict[tuple[int | None, int], dict[tuple[str, str], list[int]]] = {}
        for position, template in enumerate(templates):
            self._file(template, position)
        self._lengths = list(self._by_ends.items())

    def _file(self, template: Template, position: int) -> None:
        for name, shape in template.params.items():
            if not shape.places:
                value = "".join(map(str, shape.parts))
                self._by_value.setdefault((name, value), []).append(position)
                return
        first, *_, last = 2 * template.path.parts
        # A path begins with a slash.
        start, end = str(first), last if isinstance(last, str) else ""
        segment, slash, _ = start[1:].partition("/")
        has_segment = slash or len(template.path.parts) == 1
        lengths = (None if has_segment else len(start), len(end))
        texts = (segment if has_segment else start, end)
        self._by_ends.setdefault(lengths, {}).setdefault(texts, []).append(position)

    def candidates(self, url: Url) -> list[int]:
        """Return the positions of the templates whose shape *url* may have, in their order."""
        path = url.path
        segment = path[1:].partition("/")[0]
        found: list[int] = []
        for (start, end), by_texts in self._lengths:
            beginning = segment if start is None else path[:start]
            positions = by_texts.get((beginning, path[-end:] if end else ""))
            if positions:
                found += positions
        if self._by_value:
            for piece in url.query or ():
                name, _, value = piece.partition("=")
                found += self._by_value.get((name, value), ())
        return sorted(set(found)) if len(found) > 1 else found


@lru_cache(maxsize=10_000)
def parse_template(text: str) -> Template:
    """Return the template that *text* describes.

    :raises TemplateError: if it describes none.
    """
    template = _parse(text, {})
    names = [place.name for place in template.places]
    for name in names:
        if names.count(name) > 1:
            raise TemplateError(f"{{{name}}} stands in it twice")
    return template


def parse_target(text: str, source: Template) -> Template:
    """Return the template *text* that what *source* found is to be put into.

    Its places have the classes that they have in *source*, and one may stand in it twice.

    :raises TemplateError: if it describes none, or has a place that *source* has not.
    """
    kinds = source.kinds
    target = _parse(text, kinds)
    for name, kind in target.kinds.items():
        if name not in kinds:
            raise TemplateError(f"{{{name}}} is not in {source.text!r}" + did_you_mean(name, kinds))
        if kind != kinds[name]:
            raise TemplateError(f"{{{name}}} has the class {kinds[name]!r} in {source.text!r}")
    return target


def _parse(text: str, kinds: Mapping[str, str]) -> Template:
    """Return the template *text*; *kinds* are the classes of names that it gives none."""
    if not is_utf8(text):
        raise TemplateError("it holds half of a surrogate pair")
    path, question_mark, query = text.partition("?")
    if not path.startswith("/"):
        raise TemplateError("a template begins with a slash: it is a path, without the host")
    if "#" in text:
        raise TemplateError("a template has no fragment")
    params: dict[str, TextTemplate] = {}
    bare = None
    for piece in query.split("&") if question_mark else ():
        name, equals, value = piece.partition("=")
        if not equals and _PLACE.search(piece):
            if bare is not None:
                raise TemplateError("two parameters without = have places")
            bare = TextTemplate(_parse_parts(piece, _encode_bare, kinds))
            continue
        if not name or "{" in name or "}" in name:
            raise TemplateError(f"expected a parameter with a name, got {piece!r}")
        name = encode_query_text(name)
        if name in params:
            raise TemplateError(f"the parameter {name!r} stands in it twice")
        params[name] = TextTemplate(_parse_parts(value, encode_query_text, kinds))
    return Template(text, TextTemplate(_parse_parts(path, encode_path, kinds)), params, bare)


def _encode_bare(text: str) -> str:
    return as_path(encode_query_text(text))


def _parse_parts(text: str, encode: Encode, kinds: Mapping[str, str]) -> Iterator[Part]:
    # Of what the pattern splits, every other text is what it captured.
    for position, part in enumerate(_PLACE.split(text)):
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
