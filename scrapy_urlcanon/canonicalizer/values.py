"""The types of the options' values: what is valid, and how the layers come together."""

from __future__ import annotations

import re
from abc import abstractmethod
from string import ascii_letters, digits, hexdigits
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer.names import Entry
from scrapy_urlcanon.canonicalizer.url import (
    is_utf8,
    normalize_host,
    normalize_port,
    strip_root_dot,
)
from scrapy_urlcanon.exceptions import TemplateError, UnparsableUrlError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.layers import Layer
    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.canonicalizer.url import Url


_EXPRESSION = r"\\|\.[*+]|\[\^?\w-\w|\(\?|^\^"
"""What stands in regular expressions, and hardly in the name of a parameter or in a path.

Compiled where it is used, as those below: few crawls have lists.
"""


class Setting(NamedTuple):
    """The value of an option after all layers."""

    value: Any
    """For lists a tuple of :class:`~scrapy_urlcanon.canonicalizer.names.Entry`, for
    mappings a mapping to pairs of value and layer, otherwise as it was written."""
    layer: Layer
    """The last layer that changed it."""


class ValueType:
    """What the values of an option look like."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what is expected, for error messages and the documentation."""

    @abstractmethod
    def problem(self, value: object) -> str | None:
        """Say what is wrong with *value*, or None."""

    def doubts(self, value: Any) -> Iterator[str]:
        """Yield what in *value*, which is valid, probably does not mean what was intended."""
        del value
        yield from ()

    def merge(self, lower: Setting | None, value: Any, layer: Layer) -> Setting:
        """Return the setting of the *lower* layers with *value* of *layer* added to it."""
        del lower
        return Setting(value, layer)

    def taken_back(self, entry: str) -> Any:
        """Return the value that takes back *entry* of a lower layer, or None if there is none."""
        del entry
        return None


def _expected(value_type: ValueType, value: object) -> str:
    return f"expected {value_type}, got {value!r}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_utf8(value)


class Choice(ValueType):
    """One of a few words."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.choices = choices

    def __str__(self) -> str:
        return " or ".join(repr(choice) for choice in self.choices)

    def problem(self, value: object) -> str | None:
        if isinstance(value, str) and value in self.choices:
            return None
        return _expected(self, value) + did_you_mean(value, self.choices)


class Flag(ValueType):
    """True or False."""

    def __str__(self) -> str:
        return "True or False"

    def problem(self, value: object) -> str | None:
        return None if isinstance(value, bool) else _expected(self, value)


class _ListType(ValueType):
    """A list, in which ``!`` before an entry takes that of a lower layer back."""

    def taken_back(self, entry: str) -> list[str]:
        return [f"!{entry}"]


class NameList(_ListType):
    """A list of names; the lists of all layers unite.

    ``*`` in a name stands for any text, and ``!name`` takes a name of a lower layer, or
    one that a glob of the same list matches, back.
    """

    def __init__(self, *, optional: bool = False) -> None:
        self.optional = optional
        """Whether None, which is no list, is a value too and discards the lower layers."""

    def __str__(self) -> str:
        return "a list of names" + (" or None" if self.optional else "")

    def problem(self, value: object) -> str | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, (list, tuple)):
            return _expected(self, value)
        for name in value:
            if not _is_text(name) or name in {"", "!"}:
                return f"expected names, and {name!r} is not one"
        return None

    def doubts(self, value: Iterable[str] | None) -> Iterator[str]:
        for name in value or ():
            if "=" in name or name.startswith(("?", "&")):
                yield f"{name!r} is more than a name, which stands before '=' and after '?' or '&'"
            elif re.search(_EXPRESSION, name):
                yield f"{name!r} is no regular expression: '*' alone stands for any text"
            elif "," in name or "|" in name:
                yield f"{name!r} is one name as it stands: list several names"

    def merge(self, lower: Setting | None, value: Any, layer: Layer) -> Setting:
        if value is None:
            return Setting(None, layer)
        entries = {entry.pattern: entry for entry in (lower and lower.value) or ()}
        for name in value:
            pattern = name.removeprefix("!")
            # Re-inserted: the last entry that matches decides.
            entries.pop(pattern, None)
            entries[pattern] = Entry(pattern, name.startswith("!"), layer)
        return Setting(tuple(entries.values()), layer)


class NameMap(ValueType):
    """A mapping of names to texts; the mappings of all layers unite.

    None in place of a text, or False, as TOML has no None, takes a name of a lower layer back.
    """

    def __str__(self) -> str:
        return "a mapping of names to texts"

    def problem(self, value: object) -> str | None:
        if not isinstance(value, dict):
            return _expected(self, value)
        for name, text in value.items():
            if not _is_text(name) or not (text is None or text is False or _is_text(text)):
                return f"expected names and texts, got {name!r}: {text!r}"
        return None

    def merge(
        self, lower: Setting | None, value: Mapping[str, str | None], layer: Layer
    ) -> Setting:
        united = dict(lower.value) if lower else {}
        for name, text in value.items():
            if not isinstance(text, str):
                united.pop(name, None)
            else:
                united[name] = (text, layer)
        return Setting(united, layer)

    def taken_back(self, entry: str) -> dict[str, None]:
        return {entry: None}


_SHAPE = r"(digits|hex|alnum|uuid)(?:\{(\d{1,4})(?:-(\d{1,4}))?\})?"
_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_CHARACTERS = {
    "digits": frozenset(digits),
    "hex": frozenset(hexdigits),
    "alnum": frozenset(ascii_letters + digits),
}


class ShapeMap(NameMap):
    """A mapping of names to shapes of texts; the mappings of all layers unite.

    None in place of a shape, or False, takes a name of a lower layer back.
    """

    def __str__(self) -> str:
        return "a mapping of names to shapes: digits, hex, alnum or uuid, as in hex{32}, hex{32-40}"

    def problem(self, value: object) -> str | None:
        problem = super().problem(value)
        if problem or not isinstance(value, dict):
            return problem
        for name, shape in value.items():
            if isinstance(shape, str) and not _is_shape(shape):
                return f"expected a shape like hex{{32}} for {name!r}, got {shape!r}"
        return None


def _is_shape(text: str) -> bool:
    found = re.fullmatch(_SHAPE, text)
    if not found:
        return False
    kind, least, most = found.groups()
    return not least or (kind != "uuid" and int(least) <= int(most or least))


def has_shape(text: str, shape: str) -> bool:
    """Tell whether *text* has the valid *shape*.

    >>> has_shape("0a1b", "hex{4-8}"), has_shape("0a1b", "hex{8}"), has_shape("", "digits")
    (True, False, False)
    """
    kind, least, most = re.fullmatch(_SHAPE, shape).groups()  # type: ignore[union-attr]
    if kind == "uuid":
        return re.fullmatch(_UUID, text) is not None
    if least and not int(least) <= len(text) <= int(most or least):
        return False
    return bool(text) and _CHARACTERS[kind].issuperset(text)


class HostMap(NameMap):
    """A mapping of hosts, with a port or for any, to hosts; the mappings of all layers unite.

    None in place of a host, or False, takes one of a lower layer back.
    """

    def __str__(self) -> str:
        return "a mapping of hosts to hosts"

    def problem(self, value: object) -> str | None:
        problem = super().problem(value)
        if problem or not isinstance(value, dict):
            return problem
        hosts: dict[str, str] = {}
        for name, target in value.items():
            try:
                host = _host_and_port(name)
                if target is not None and target is not False:
                    hosts[host] = _host(target)
            except UnparsableUrlError as error:
                return f"expected hosts, and {error}"
        for host in hosts:
            way = _way(host, hosts)
            if way[-1] in hosts:
                return "a host cannot be its own alias: " + " -> ".join((*way, hosts[way[-1]]))
        return None

    def merge(
        self, lower: Setting | None, value: Mapping[str, str | None], layer: Layer
    ) -> Setting:
        hosts = {_host_and_port(name): target and _host(target) for name, target in value.items()}
        united = super().merge(lower, hosts, layer).value
        targets = {name: target for name, (target, _) in united.items()}
        for host in hosts:
            way = _way(host, targets)
            if way[-1] in targets:
                # a -> b below and b -> a above: the stronger layer has its way.
                weakest = next(name for name in reversed(way) if name not in hosts)
                del targets[weakest], united[weakest]
        return Setting(united, layer)


def _way(host: str, targets: Mapping[str, str]) -> list[str]:
    """Return *host* and what it leads to, up to where that ends or comes round."""
    way = {host: None}
    while (target := targets.get(host)) and target not in way:
        way[target] = None
        host = target
    return list(way)


def _host(text: str) -> str:
    if any(character in text for character in "/?#@\\*") or (
        ":" in text and not text.endswith("]")
    ):
        raise UnparsableUrlError(f"{text!r} is more than a host")
    return strip_root_dot(normalize_host(text))


def _host_and_port(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if colon and port.isdigit() and (":" not in host or host.endswith("]")):
        return f"{_host(host)}:{normalize_port(port)}"
    return _host(text)


class TemplateList(_ListType):
    """A list of templates; the lists of all layers unite.

    ``!template`` takes one of a lower layer back.
    """

    def __str__(self) -> str:
        return "a list of templates"

    def problem(self, value: object) -> str | None:
        if not isinstance(value, (list, tuple)):
            return _expected(self, value)
        problems = []
        for item in value:
            try:
                if not isinstance(item, str):
                    raise TemplateError("expected a text")  # noqa: TRY301
                _template(item.removeprefix("!"))
            except TemplateError as error:
                problems.append(f"{item!r}: {error}")
        return "; ".join(problems) or None

    def doubts(self, value: Iterable[str]) -> Iterator[str]:
        yield from filter(None, map(_doubt_of_template, value))

    def merge(self, lower: Setting | None, value: Any, layer: Layer) -> Setting:
        templates = {pair[0].text: pair for pair in (lower and lower.value) or ()}
        for item in value:
            if item.startswith("!"):
                templates.pop(item[1:], None)
            else:
                templates[item] = (_template(item), layer)
        return Setting(tuple(templates.values()), layer)


class RewriteList(_ListType):
    """A list of pairs of templates; the lists of all layers unite, the strongest first.

    Of two pairs with the same first template the one of the stronger layer holds, and
    ``!template`` in place of a pair takes the one that begins with it back.
    """

    def __str__(self) -> str:
        return "a list of pairs of templates"

    def problem(self, value: object) -> str | None:
        if not isinstance(value, (list, tuple)):
            return _expected(self, value)
        problems: list[str] = []
        rewrites: list[Rewrite] = []
        sources: set[str] = set()
        for item in value:
            try:
                rewrite = _rewrite(item)
            except TemplateError as error:
                problems.append(str(error))
                continue
            if rewrite is None:
                continue
            if rewrite.source.text in sources:
                problems.append(f"two pairs begin with {rewrite.source.text!r}")
            sources.add(rewrite.source.text)
            rewrites.append(rewrite)
        way = None if problems or not rewrites else _unsettled(rewrites)
        if way:
            problems.append(
                "they never settle: "
                + " becomes ".join(repr(_path_and_query(url)) for url in way[:3])
                + ", and so on"
            )
        return "; ".join(problems) or None

    def doubts(self, value: Iterable[str | tuple[str, str]]) -> Iterator[str]:
        # The second of a pair is what is made of the first, and finds nothing.
        sources = (item if isinstance(item, str) else item[0] for item in value)
        yield from filter(None, map(_doubt_of_template, sources))

    def merge(self, lower: Setting | None, value: Any, layer: Layer) -> Setting:
        own: dict[str, tuple[Rewrite, Layer] | None] = {}
        for item in value:
            rewrite = _rewrite(item)
            if rewrite is None:
                own[item[1:]] = None
            else:
                own[rewrite.source.text] = (rewrite, layer)
        below = (pair for pair in (lower and lower.value) or () if pair[0].source.text not in own)
        return Setting((*filter(None, own.values()), *below), layer)


def _doubt_of_template(text: str) -> str | None:
    if "*" in text:
        # Behind the ? a place takes any text as a value only: {name} alone has no value.
        _, _, query = text.partition("?")
        in_names = any("*" in piece.partition("=")[0] for piece in query.split("&"))
        instead = "name each parameter: id={id}" if in_names else "{rest:path} stands for any text"
        return f"the '*' in {text!r} stands for itself: {instead}"
    if re.search(_EXPRESSION, text):
        return f"{text!r} is no regular expression: {{id:digits}} stands for digits"
    return None


# Few crawls have templates, and the others are not to wait for the imports.


def _template(text: str) -> Template:
    """Return the template that *text* describes.

    :raises TemplateError: if it describes none.
    """
    from scrapy_urlcanon.canonicalizer.templates import parse_template  # noqa: PLC0415

    return parse_template(text)


def _rewrite(item: object) -> Rewrite | None:
    """Return the pair of templates that *item* is, or None where it takes one back.

    :raises TemplateError: if it is neither.
    """
    if isinstance(item, str) and item.startswith("!"):
        _template(item[1:])
        return None
    if not isinstance(item, (list, tuple)) or [type(part) for part in item] != [str, str]:
        raise TemplateError(f"expected pairs of templates, and {item!r} is not one")
    from scrapy_urlcanon.canonicalizer.rewrites import parse_rewrite  # noqa: PLC0415

    return parse_rewrite(*item)


def _unsettled(rewrites: list[Rewrite]) -> list[Url] | None:
    """Return a URL that *rewrites* change again and again, with what becomes of it, or None."""
    from scrapy_urlcanon.canonicalizer.settling import find_unsettled  # noqa: PLC0415

    return find_unsettled(rewrites)


def _path_and_query(url: Url) -> str:
    return url.path + ("?" + "&".join(url.query) if url.query else "")
