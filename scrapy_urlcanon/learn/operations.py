"""What a learned rule does to a URL: an option of the rule catalogue, with the setting on trial.

An operation says which option it sets, to what, and where the URLs that it may change are to be
found. What it does to them is done by the option itself, so that a rule does in a crawl what its
trial saw. All that learning asks of an operation is here: a new one is one class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeVar
from urllib.parse import unquote

from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.names import is_writable
from scrapy_urlcanon.canonicalizer.percent_encoding import (
    decode_parameter,
    decode_query_text,
    encode_query_text,
)
from scrapy_urlcanon.canonicalizer.rules import authority, path, query
from scrapy_urlcanon.canonicalizer.rules.base import Option, ParameterRule, PathRule
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.rules.template import RewritePath
from scrapy_urlcanon.canonicalizer.values import Setting
from scrapy_urlcanon.learn.location import (
    Address,
    Location,
    from_url,
    host_of,
    name_of,
    to_url,
    value_of,
    with_path,
)
from scrapy_urlcanon.learn.vocabulary import PART_OF_LISTING, may_be_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.rules import Rule

_LAYER = Layer("learning")
_MAX_PASSES = 10  # as in the canonicalizer

ANY = "any"
"""The mark that all URLs bear."""

REPEATED = "repeated"
"""The mark of those that have a parameter twice, with one value."""

_Option = TypeVar("_Option", bound=Option)


class Operation(ABC):
    """One option with one setting; operations are compared by their fields, and hashable."""

    option: ClassVar[type[Rule]]
    is_fitted: ClassVar[bool] = False
    """Whether a value, a host or literals were chosen by what was seen. Such a rule pays for it
    with a page, as a parameter of a model does."""
    is_host_wide: ClassVar[bool] = False
    """Whether it makes two whole hosts one, or leaves both."""
    is_for_path: ClassVar[bool] = False
    """Whether it changes the path before templates look at it."""
    is_template: ClassVar[bool] = False
    """Whether it looks at what the options for the path leave."""
    speaks_alone: ClassVar[bool] = False
    """Whether it is the evidence of a candidate, whatever comes with it."""

    @property
    @abstractmethod
    def setting(self) -> object:
        """What stands in a rules file; lists and mappings of several rules unite."""

    @property
    @abstractmethod
    def handle(self) -> str:
        """A mark that every URL bears which the operation changes; see :func:`handles_of`."""

    @cached_property
    @abstractmethod
    def rule(self) -> Rule:
        """The option of the catalogue, prepared for the setting."""

    @property
    def is_valid(self) -> bool:
        """Whether the configuration accepts the setting, and takes it for what is meant."""
        return self.option.values.problem(self.setting) is None

    @property
    def drops(self) -> frozenset[str]:
        """Names of the parameters that it drops, as they stand in URLs."""
        return frozenset()

    @property
    def default(self) -> str | None:
        """The one value with which it drops a parameter; None where any will do."""
        return None

    @property
    def shapes(self) -> tuple[str, str]:
        """The two templates without the classes of their fields; empty where there are none."""
        return "", ""

    @property
    def growth(self) -> int:
        """By how much it makes a URL longer."""
        return -1

    @property
    def drops_parts(self) -> bool:
        """Whether it drops the number of a part of a listing."""
        return False

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return what it may be said to do, of all URLs that it was seen to change."""
        del changed
        return self

    def on_path(self, path: str) -> str:
        """Return what it makes of a path, or of the path of a template."""
        return path

    def after(self, step: Operation) -> Operation:
        """Return what does the same to URLs that a change to the path came before."""
        del step
        return self

    def apply(self, location: Location) -> Location:
        """Return the changed URL, or the same object where there is nothing to change.

        As the canonicalizer does: again, until nothing changes any more.
        """
        changed = location
        for _ in range(_MAX_PASSES):
            before, changed = changed, self._apply_once(changed)
            if changed is before:
                return changed
        return location

    def _apply_once(self, location: Location) -> Location:
        url = to_url(location)
        changed = self.rule.apply(url)
        if changed is url or changed == url:
            return location
        new = from_url(changed)
        return location if new == location else new


def apply_all(operations: Iterable[Operation], location: Location) -> Location:
    """Return what the operations, one after the other, make of a URL.

    It is the same object where there is nothing to change.
    """
    for operation in operations:
        location = operation.apply(location)
    return location


def handles_of(location: Location) -> Iterator[str]:
    """Yield the marks by which operations find the URLs that they may change.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> sorted(handles_of(locate("http://www.example.com/a/?b=1")))
    ['/', '/a/', '2 segments', '?b', 'any', 'http', 'www', 'www.example.com']
    """
    address, params = location
    path = address.path
    host = host_of(address)
    yield ANY
    yield host
    for param in params:
        yield "?" + name_of(param)
    if len(params) > 1 and len(set(params)) < len(params):
        yield REPEATED
    yield "/" + path.rpartition("/")[2]
    yield path[: path.find("/", 1) + 1]
    yield f"{path.count('/')} segments"
    yield address.scheme
    if host.startswith("www"):
        yield "www"
    if "//" in path:
        yield "//"
    if path != path.lower():
        yield "upper case"
    if ";" in path:
        yield ";"


def _prepared(option: type[_Option], setting: object, **others: str) -> _Option:
    options = {name: Setting(value, _LAYER) for name, value in others.items()}
    return option({option.name: option.values.merge(None, setting, _LAYER), **options})


def _is_said(text: str) -> bool:
    """Tell whether a name or a value can be said: bytes that are no UTF-8 cannot."""
    return encode_query_text(decode_query_text(text)) == text


class _ParameterOperation(Operation):
    """An option that drops parameters, each by itself."""

    option: ClassVar[type[ParameterRule]]

    @cached_property
    def rule(self) -> ParameterRule:
        return _prepared(self.option, self.setting)

    @property
    def beginning(self) -> str:
        """What every parameter begins with that may be dropped."""
        return ""

    def apply(self, location: Location) -> Location:
        params, beginning, drops = location.params, self.beginning, self.rule.drops
        kept = tuple(
            [
                p
                for p in params
                if not p.startswith(beginning) or drops(*decode_parameter(p)) is None
            ]
        )
        if len(kept) == len(params) or (self.rule.spares_signed and is_signed(params)):
            return location
        return Location(location.address, kept)


@dataclass(frozen=True)
class DropParam(_ParameterOperation):
    """Drop a parameter, whatever its value."""

    option = query.DropParams
    name: str
    """As it stands in the URL, percent-encoded."""

    @property
    def setting(self) -> object:
        return [decode_query_text(self.name)]

    @property
    def handle(self) -> str:
        return "?" + self.name

    @property
    def beginning(self) -> str:
        return self.name + "="

    @property
    def is_valid(self) -> bool:
        return _is_said(self.name) and is_writable(decode_query_text(self.name))

    @property
    def drops(self) -> frozenset[str]:
        return frozenset((self.name,))

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return what drops the one value, where no other was seen.

        ``assignedto=-1`` says nothing about ``assignedto=7``.
        """
        seen = {p for source in changed for p in source.params if p.startswith(self.beginning)}
        if len(seen) != 1 or not may_be_default(self.name, value := value_of(seen.pop())):
            return self
        one = DropValue(self.name, value)
        return one if one.is_valid else self


@dataclass(frozen=True)
class DropValue(_ParameterOperation):
    """Drop a parameter where it has its default value."""

    option = query.DefaultParams
    is_fitted = True
    name: str
    value: str

    @property
    def setting(self) -> object:
        return {decode_query_text(self.name): decode_query_text(self.value)}

    @property
    def handle(self) -> str:
        return "?" + self.name

    @property
    def beginning(self) -> str:
        return self.name + "="

    @property
    def is_valid(self) -> bool:
        return _is_said(self.name) and _is_said(self.value)

    @property
    def drops(self) -> frozenset[str]:
        return frozenset((self.name,))

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

    @property
    def is_valid(self) -> bool:
        return all(is_writable(decode_query_text(name)) for name in self.names)


class _PathOperation(Operation):
    """An option for the path."""

    option: ClassVar[type[PathRule]]
    is_for_path = True

    @cached_property
    def rule(self) -> PathRule:
        return _prepared(self.option, self.setting)

    def on_path(self, path: str) -> str:
        return self.rule.path(path)

    def _apply_once(self, location: Location) -> Location:
        path = self.rule.path(location.address.path)
        if path == location.address.path:
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
        return is_writable(unquote(self.name))


class _UrlOperation(Operation):
    """An option that has to see more than one component."""

    @cached_property
    def rule(self) -> Rule:
        return _prepared(self.option, self.setting)


@dataclass(frozen=True)
class DropRepeated(_UrlOperation):
    """Drop parameters that the query has already."""

    option = query.RepeatedParams
    setting = "drop"
    handle = REPEATED


class _HostOperation(_UrlOperation):
    """An option for what stands before the path."""

    @cached_property
    def _known(self) -> dict[tuple[str, str], tuple[str, str]]:
        return {}

    def apply(self, location: Location) -> Location:
        scheme, host, path = location.address
        known = self._known.get((scheme, host))
        if known is None:
            alone = super().apply(Location(Address(scheme, host, "/"), ()))
            known = self._known[scheme, host] = alone.address[:2]
        if known == (scheme, host):
            return location
        return Location(Address(*known, path), location.params)


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
    def handle(self) -> str:
        return self.host


@dataclass(frozen=True)
class SubdomainIntoPath(_UrlOperation):
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

    @cached_property
    def rule(self) -> Rule:
        return _prepared(self.option, self.setting, www="keep" if self.prefix else "strip")


@dataclass(frozen=True)
class RewriteTemplates(_UrlOperation):
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
        return [[self.source, self.target]]

    @cached_property
    def rewrite(self) -> Rewrite:
        """The pair, as the canonicalizer reads it."""
        (rewrite, _), *_ = self.rule.value
        return rewrite  # type: ignore[no-any-return]

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
    def growth(self) -> int:
        source, target = self.shapes
        return len(target) - len(source)

    @property
    def drops_parts(self) -> bool:
        """Whether the first template has numbers of parts of a listing that the second has not.

        >>> RewriteTemplates("/list/page-{_a:digits}/", "/list/page-1/").drops_parts
        True
        >>> RewriteTemplates("/list/page-{a:digits}/print", "/list/page-{a}/").drops_parts
        False
        """
        one, other = (PART_OF_LISTING.findall(text) for text in (self.source, self.target))
        return not set(one) <= set(other)

    def after(self, step: Operation) -> Operation:
        """Return the pair for URLs that a change to the path came before.

        >>> RewriteTemplates("/Node/{a}/Print", "/Node/{a}").after(LowerPath())
        RewriteTemplates(source='/node/{a}/print', target='/node/{a}')
        """
        texts = (text.partition("?") for text in (self.source, self.target))
        return RewriteTemplates(*(step.on_path(path) + mark + query for path, mark, query in texts))

    def _apply_once(self, location: Location) -> Location:
        # Most URLs are told by their path, which takes a part of the time.
        if self.rewrite.source.path.match(location.address.path) is None:
            return location
        return super()._apply_once(location)
