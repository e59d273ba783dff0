"""Options for the values of parameters."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.names import Entry
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text, lower_case
from scrapy_urlcanon.canonicalizer.rules.base import (
    Classical,
    Example,
    ParameterRule,
    Rule,
    distinct,
)
from scrapy_urlcanon.canonicalizer.rules.param_names import in_one_case, listed, matcher
from scrapy_urlcanon.canonicalizer.values import NameList, ShapeMap, has_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


class LowerValues(Rule):
    """Write the values of these parameters in lower case.

    What it does: with ``["lang"]``, ``?lang=EN`` becomes ``?lang=en``. ``*`` in a name stands for
    any text; names keep their case.

    Why it is safe: nearly every server accepts languages, countries, colours and host names in any
    case.

    When it is wrong: the value is an id in which case matters, as in short links, or a title.
    """

    name = "lower_values"
    component = "query"
    values = NameList()
    neutral = ()
    # Before all that goes by values.
    place = 315
    classical = (
        Classical("Case of the value of a variable", "http://example.com/?l=EN", value=["l"]),
    )
    changes = (
        Example(["lang"], "http://example.com/?id=A&lang=EN", "http://example.com/?id=A&lang=en"),
        Example(["q*"], "http://example.com/?q1=%C3%89", "http://example.com/?q1=%C3%A9"),
    )
    keeps = (Example(["lang"], "http://example.com/?id=A", "http://example.com/?id=A"),)

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = listed(options, self.name)

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        return url._replace(query=tuple(map(self._lower_value, url.query)))

    def _lower_value(self, piece: str) -> str:
        name, equals, value = piece.partition("=")
        return (
            name + equals + lower_case(value) if decode_query_text(name) in self._names else piece
        )

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        return distinct(
            self._names.cause_of(decode_query_text(one.partition("=")[0]))
            for one, other in zip(before.query or (), after.query or (), strict=True)
            if one != other
        )


class DropValues(ParameterRule):
    """Drop parameters whose values have a given shape.

    What it does: drops a parameter that is named in the mapping if its value has the shape given
    there: ``digits``, ``hex`` or ``alnum`` (letters and digits), of any length, of one length
    (``hex{32}``) or of a range (``hex{32-40}``), or ``uuid``. ``*`` in a name stands for any text;
    the last name that matches decides. Does nothing to a URL that carries its own signature.

    Why it is safe: a session id has a fixed length and no meaning, and whatever else has a short
    name like ``s`` looks different.

    When it is wrong: a hash or a number of that length selects the page.
    """

    name = "drop_values"
    component = "query"
    values = ShapeMap()
    neutral = MappingProxyType({})
    place = 345
    classical = (
        Classical(
            "Session variables by their shape",
            "http://example.com/?s=0123456789abcdef0123456789abcdef",
            value={"s": "hex{32}"},
        ),
    )
    changes = (
        Example(
            {"s": "hex{32}"},
            "http://example.com/?id=1&s=0123456789abcdef0123456789ABCDEF",
            "http://example.com/?id=1",
        ),
        Example(
            {"*": "uuid"},
            "http://example.com/?v=123e4567-e89b-12d3-a456-426614174000&id=1",
            "http://example.com/?id=1",
        ),
    )
    keeps = (
        Example({"s": "hex{32}"}, "http://example.com/?s=abc", "http://example.com/?s=abc"),
        Example({"s": "alnum{4-6}"}, "http://example.com/?s=a-bcd", "http://example.com/?s=a-bcd"),
        Example(
            {"v": "digits"},
            "https://s3.example/a?X-Amz-Signature=0a&v=17",
            "https://s3.example/a?X-Amz-Signature=0a&v=17",
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        fold = in_one_case(options)
        self._names = matcher(
            options,
            (Entry(name, takes_back=False, layer=layer) for name, (_, layer) in self.value.items()),
        )
        self._shapes = {fold(name): (shape, name) for name, (shape, _) in self.value.items()}

    def drops(self, name: str, value: str) -> Cause | None:
        entry = self._names.match(name)
        if entry is None:
            return None
        shape, written = self._shapes[entry.pattern]
        return Cause(entry.layer, written) if has_shape(value, shape) else None

    def by_name(self, name: str) -> bool:
        return self._names.match(name) is None
