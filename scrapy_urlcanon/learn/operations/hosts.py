"""Operations for what stands before the path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules import authority
from scrapy_urlcanon.learn.location import Location
from scrapy_urlcanon.learn.operations.base import ANY, Operation

if TYPE_CHECKING:
    from scrapy_urlcanon.learn.location import Origin


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
    # A step for ``www`` that may come with it was judged before.
    speaks_alone = True
    label: str
    """The label that moves; ``*`` for all."""
    domain: str
    """The registrable domain."""
    prefix: str
    """``www.``, or empty if that is stripped."""
    but: tuple[str, ...] = ()
    """Labels that do not move."""

    @property
    def setting(self) -> object:
        return [self.label, *(f"!{label}" for label in self.but)]

    @property
    def handle(self) -> str:
        return ANY if self.label == "*" else f"{self.label}.{self.domain}"

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, "www": "keep" if self.prefix else "strip"}
