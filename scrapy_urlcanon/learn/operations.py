"""The operations that learning knows: each is one class, and its proposal in ``candidates``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from scrapy_urlcanon.canonicalizer.names import is_writable
from scrapy_urlcanon.canonicalizer.percent_encoding import (
    decode_parameter,
    decode_query_text,
    encode_query_text,
)
from scrapy_urlcanon.canonicalizer.rules import authority, path, query
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.rules.template import RewritePath
from scrapy_urlcanon.learn.location import Location, as_template, parts_of, value_of, with_path
from scrapy_urlcanon.learn.operation import ANY, MAX_PASSES, REPEATED, Operation
from scrapy_urlcanon.learn.vocabulary import PART_OF_LISTING, is_ordering, may_be_default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.rules import ParameterRule
    from scrapy_urlcanon.canonicalizer.rules.base import PathRule
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.learn.location import Origin


# Lists of parameters of which an operation remembers what it leaves.
_MOST_KNOWN = 1_000

# A parameter that a template leaves out, whatever number it has.
_NUMBERED = re.compile(r"[?&]([^=&?]+)=\{_\w*:digits\}(?![^&])")
_QUERY_NAME = re.compile("[?&]([^=&?]+)=")


def _is_said(text: str) -> bool:
    """Tell whether a name or a value can be said: bytes that are no UTF-8 cannot."""
    return encode_query_text(decode_query_text(text)) == text


class _ParameterOperation(Operation):
    """An option that drops parameters, each by itself."""

    @property
    def beginning(self) -> str:
        """What every parameter begins with that may be dropped."""
        return ""

    @cached_property
    def _left(self) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        """What tells which parameters are left: one object for the many URLs that have the same."""
        rule, beginning = cast("ParameterRule", self.rule), self.beginning

        @lru_cache(_MOST_KNOWN)
        def left(params: tuple[str, ...]) -> tuple[str, ...]:
            kept = [
                p
                for p in params
                if not p.startswith(beginning) or rule.drops(*decode_parameter(p)) is None
            ]
            return params if rule.spares_signed and is_signed(params) else tuple(kept)

        return left

    def apply(self, location: Location) -> Location:
        origin, path, params = location
        left = self._left(params)
        return location if len(left) == len(params) else Location(origin, path, left)


@dataclass(frozen=True)
class _NamedParameterOperation(_ParameterOperation):
    name: str
    """As it stands in the URL, percent-encoded."""

    @property
    def handle(self) -> str:
        return "?" + self.name

    @property
    def beginning(self) -> str:
        return self.name + "="

    @property
    def drops(self) -> frozenset[str]:
        return frozenset((self.name,))

    @property
    def is_for_listings(self) -> bool:
        return is_ordering(self.name)


@dataclass(frozen=True)
class DropParam(_NamedParameterOperation):
    """Drop a parameter, whatever its value."""

    option = query.DropParams

    @property
    def setting(self) -> object:
        return [decode_query_text(self.name)]

    @property
    def is_valid(self) -> bool:
        return _is_said(self.name) and is_writable(decode_query_text(self.name))

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return what drops the one value, where no other was seen.

        ``assignedto=-1`` says nothing about ``assignedto=7``.
        """
        values = (p for source in changed for p in source.params if p.startswith(self.beginning))
        seen = next(values, None)
        if (
            seen is None
            or any(other != seen for other in values)
            or not may_be_default(self.name, value := value_of(seen))
        ):
            return self
        one = DropValue(self.name, value)
        return one if one.is_valid else self


@dataclass(frozen=True)
class DropValue(_NamedParameterOperation):
    """Drop a parameter where it has its default value."""

    option = query.DefaultParams
    is_fitted = True
    value: str

    @property
    def setting(self) -> object:
        return {decode_query_text(self.name): decode_query_text(self.value)}

    @property
    def is_valid(self) -> bool:
        return _is_said(self.name) and _is_said(self.value)

    @property
    def default(self) -> str | None:
        return self.value


@dataclass(frozen=True)
class KeepOnly(_ParameterOperation):
    """Drop all parameters but these.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> KeepOnly(("id",)).apply(locate("http://a.example/?id=7&_16=")).url
    'http://a.example/?id=7'
    """

    option = query.KeepParams
    names: tuple[str, ...]
    handle = ANY

    @property
    def setting(self) -> object:
        return [decode_query_text(name) for name in self.names]

    def apply(self, location: Location) -> Location:
        # To the option what stands in the query is a name that it does not keep.
        path, segments = parts_of(location.path)
        return super().apply(location._replace(path=path) if segments else location)

    @property
    def is_valid(self) -> bool:
        return all(is_writable(decode_query_text(name)) for name in self.names)


class _PathOperation(Operation):
    """An option for the path."""

    is_for_path = True

    def on_path(self, path: str) -> str:
        before, _ = parts_of(path)
        return cast("PathRule", self.rule).path(before) + path[len(before) :]

    def _apply_once(self, location: Location) -> Location:
        path = self.on_path(location.path)
        if path == location.path:
            return location
        new = with_path(location, path)
        return location if new == location else new


@dataclass(frozen=True)
class DropIndexFile(_PathOperation):
    """Drop the index file of a directory."""

    option = path.DirectoryIndex
    file_name: str

    @property
    def setting(self) -> object:
        return [self.file_name]

    @property
    def handle(self) -> str:
        return "/" + self.file_name


@dataclass(frozen=True)
class StripTrailingSlash(_PathOperation):
    """Strip the slash at the end of the path, but for the root."""

    option = path.TrailingSlash
    setting = "strip"
    handle = "/"


@dataclass(frozen=True)
class CollapseSlashes(_PathOperation):
    """Make several slashes in a row one."""

    option = path.DuplicateSlashes
    setting = "collapse"
    handle = "//"


@dataclass(frozen=True)
class LowerPath(_PathOperation):
    """Lower the case of the path."""

    option = path.PathCase
    setting = "lower"
    handle = "upper case"


@dataclass(frozen=True)
class DropPathParam(_PathOperation):
    """Drop a path parameter such as ``;jsessionid=...`` from every segment."""

    option = path.PathParams
    name: str
    handle = ";"

    @property
    def setting(self) -> object:
        return [unquote(self.name)]

    @property
    def is_valid(self) -> bool:
        return super().is_valid and is_writable(unquote(self.name))


@dataclass(frozen=True)
class DropRepeated(Operation):
    """Drop parameters that the query has already."""

    option = query.RepeatedParams
    setting = "drop"
    handle = REPEATED


class _HostOperation(Operation):
    """An option for what stands before the path."""

    @cached_property
    def _known(self) -> dict[Origin, Origin]:
        return {}

    def apply(self, location: Location) -> Location:
        origin = location.origin
        known = self._known.get(origin)
        if known is None:
            known = self._known[origin] = super().apply(Location(origin, "/", ())).origin
        return location if known == origin else Location(known, location.path, location.params)


@dataclass(frozen=True)
class StripWww(_HostOperation):
    """Strip the ``www`` label, where a registrable domain remains."""

    option = authority.Www
    is_host_wide = True
    setting = "strip"
    handle = "www"


@dataclass(frozen=True)
class SetScheme(_HostOperation):
    """Make ``http`` and ``https`` one; a URL with a port of its own keeps its scheme."""

    option = authority.Scheme
    is_host_wide = True
    scheme: str
    """``http`` or ``https``."""

    @property
    def setting(self) -> object:
        return self.scheme

    @property
    def handle(self) -> str:
        """The other scheme."""
        return "http" if self.scheme == "https" else "https"


@dataclass(frozen=True)
class AliasHost(_HostOperation):
    """Replace a host by another name of it."""

    option = authority.HostAliases
    is_fitted = True
    host: str
    name: str

    @property
    def setting(self) -> object:
        return {self.host: self.name}

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset((self.host, self.name))

    @property
    def handle(self) -> str:
        return self.host


@dataclass(frozen=True)
class SubdomainIntoPath(Operation):
    """Make ``ann.example.com/x`` and ``www.example.com/ann/x`` one.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> step = SubdomainIntoPath("*", "example.com", "www.", ("api",))
    >>> step.apply(locate("http://ann.example.com/x")).url
    'http://www.example.com/ann/x'
    >>> step.apply(locate("http://api.example.com/x")).url
    'http://api.example.com/x'
    """

    option = authority.SubdomainToPath
    is_fitted = True
    # The ``www`` that may come with it was weighed before.
    speaks_alone = True
    label: str
    """``*`` for all."""
    domain: str
    """The registrable domain."""
    prefix: str
    """``www.``, or nothing where that is stripped."""
    but: tuple[str, ...] = ()
    """Labels that stay where they are."""

    @property
    def setting(self) -> object:
        return [self.label, *(f"!{label}" for label in self.but)]

    @property
    def handle(self) -> str:
        return ANY if self.label == "*" else f"{self.label}.{self.domain}"

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, "www": "keep" if self.prefix else "strip"}


@dataclass(frozen=True)
class RewriteTemplates(Operation):
    """Rewrite path and query by a pair of templates.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> step = RewriteTemplates("/wp-trackback.php?p={a:digits}", "/?p={a}")
    >>> step.apply(locate("http://a.example/wp-trackback.php?p=7")).url
    'http://a.example/?p=7'
    """

    option = RewritePath
    is_fitted = True
    is_template = True
    source: str
    target: str

    @property
    def setting(self) -> object:
        return [[as_template(self.source), as_template(self.target)]]

    @cached_property
    def rewrite(self) -> Rewrite:
        """The pair, as the canonicalizer reads it."""
        (rewrite, _), *_ = self.rule.value
        return rewrite  # type: ignore[no-any-return]

    @property
    def subjects(self) -> frozenset[str]:
        new = self.rewrite.target.params
        return frozenset(self.rewrite.source.params) - new.keys() or super().subjects

    @property
    def handle(self) -> str:
        """A parameter of the first template, its first or last segment, or their number."""
        for name in self.rewrite.source.params:
            return "?" + name
        path = self.source
        if ":path}" not in path:
            return f"{path.count('/')} segments"
        for mark in (path[: path.find("/", 1) + 1], "/" + path.rpartition("/")[2]):
            if mark and "{" not in mark:
                return mark
        return ANY

    @property
    def shapes(self) -> tuple[str, str]:
        return self.source.replace(":digits", "").replace(":path", ""), self.target

    @property
    def is_for_listings(self) -> bool:
        """Whether the first template has numbers of parts or orders that the second has not.

        >>> RewriteTemplates("/list/page-{_a:digits}/", "/list/page-1/").is_for_listings
        True
        >>> RewriteTemplates("/list/page-{a:digits}/print", "/list/page-{a}/").is_for_listings
        False
        >>> RewriteTemplates("/list?c={c}&sort={_s}", "/list/{c}").is_for_listings
        True
        """
        one, other = (
            {*PART_OF_LISTING.findall(text), *filter(is_ordering, _QUERY_NAME.findall(text))}
            for text in (self.source, self.target)
        )
        return not one <= other

    def after(self, step: Operation) -> Operation:
        """Return the pair for URLs that a change to the path came before.

        >>> RewriteTemplates("/Node/{a}/Print", "/Node/{a}").after(LowerPath())
        RewriteTemplates(source='/node/{a}/print', target='/node/{a}')
        """
        texts = (text.partition("?") for text in (self.source, self.target))
        return RewriteTemplates(*(step.on_path(path) + mark + query for path, mark, query in texts))

    @cached_property
    def _fits(self) -> Callable[[str], re.Match[str] | None]:
        """What tells whether a path fits the first template.

        One of a hundred does, and hardly any that was made of one; to take each URL apart for that
        was most of the time.
        """
        return self.rewrite.source.path.expression.fullmatch

    def _found(self, path: str) -> dict[str, str] | None:
        """Return what the first template finds in a path; None where that does not fit."""
        before, segments = parts_of(path)
        found, bare = self._fits(before), self.rewrite.source.bare
        in_bare = bare.expression.fullmatch(segments) if found and bare else found
        return found.groupdict() | in_bare.groupdict() if found and in_bare else None

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names of parameters that it leaves out, whatever number they have.

        >>> sorted(RewriteTemplates("/?oldid={_b:digits}&title={a}", "/{a}").numbers)
        ['oldid']
        """
        return frozenset(_NUMBERED.findall(self.source))

    def left_out(self, location: Location) -> tuple[str, ...]:
        """Return the texts of the path that it leaves out, whatever they are, of a URL.

        >>> from scrapy_urlcanon.learn.location import locate
        >>> step = RewriteTemplates("/get/{_b}/{a}", "/get/head/{a}")
        >>> step.left_out(locate("http://a.example/get/r7/x.c"))
        ('r7',)
        """
        # Of most templates, and of all URLs that they change, there are none.
        found = (self._found(location.path) if "{_" in self.source else None) or {}
        return tuple(text for name, text in found.items() if name.startswith("_"))

    def apply(self, location: Location) -> Location:
        if not cast("RewritePath", self.rule).goes_by_path:
            return super().apply(location)
        # As there, without a URL for each step.
        first, _ = parts_of(location.path)
        path = first
        for _ in range(MAX_PASSES):
            match = self._fits(path)
            new = match and self.rewrite.path_of(match.groupdict())
            if new is None or new == path:
                rest = location.path[len(first) :]
                return location if path == first else with_path(location, path + rest)
            path = new
        return location

    def _apply_once(self, location: Location) -> Location:
        is_other = self._found(location.path) is None
        return location if is_other else super()._apply_once(location)

    def change(self, url: Url) -> Url:
        # The option would follow it up at once, which is done here anyway.
        return self.rewrite.apply(url)
