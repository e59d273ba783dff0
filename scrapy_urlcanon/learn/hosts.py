"""Hosts of one registrable domain that show the same pages: mirrors, and users with a subdomain.

That two hosts share some pages says little: the weblog of a shop has its imprint and its terms,
and untranslated pages stand under every language. So a host is taken for another one only where
the pages that both have are a good part of what it has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import Location
from scrapy_urlcanon.learn.operations import ANY, StripWww
from scrapy_urlcanon.learn.proposals import MIN_PROPOSERS, duplicates, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.proposals import Candidate

#: Share of the pages of a host that must have been found on the other one. Half of a mirror is
#: half seen in a crawl that saw half of each.
MIN_COVERAGE = 0.25

#: Subdomains that must have moved into the path before all of them are taken to have: five without
#: a counter-example are right for over half of the others (95 % confidence).
MIN_SUBDOMAINS = 5

#: Labels that choose a language.
_LANGUAGE = re.compile("[a-z]{2}([-_][a-z]{2,4})?")
_WWW = re.compile("www[0-9]*")
_WWW_LABEL = re.compile(r"^www[0-9]*\.")


@dataclass(frozen=True, order=True, slots=True)
class AliasHost:
    """Replace a host by another name of it."""

    host: str
    name: str

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "host_aliases"

    @property
    def handle(self) -> str:
        """The host."""
        return self.host

    @property
    def setting(self) -> object:
        """The host, and what it is replaced by."""
        return {self.host: self.name}

    def apply(self, location: Location) -> Location:
        """Replace the host."""
        place = location.place
        if place.host != self.host:
            return location
        return Location(place._replace(host=self.name), location.params)


@dataclass(frozen=True, order=True, slots=True)
class SubdomainToPath:
    """Make ``ann.example.com/x`` and ``www.example.com/ann/x`` one.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> step = SubdomainToPath("*", "example.com", "www.", ("api",))
    >>> step.apply(locate("http://ann.example.com/x")).url
    'http://www.example.com/ann/x'
    >>> step.apply(locate("http://api.example.com/x")).url
    'http://api.example.com/x'
    """

    label: str
    """``*`` for all."""
    domain: str
    """The registrable domain."""
    prefix: str
    """``www.``, or nothing where that is stripped."""
    but: tuple[str, ...] = ()
    """Labels that stay where they are."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "subdomain_to_path"

    @property
    def handle(self) -> str:
        """The host."""
        return ANY if self.label == "*" else f"{self.label}.{self.domain}"

    @property
    def setting(self) -> object:
        """The label, and those that are taken back."""
        return [self.label, *(f"!{label}" for label in self.but)]

    def apply(self, location: Location) -> Location:
        """Move the label into the path."""
        _, host, path = location.place
        label = label_of(host, self.domain)
        if not label or (label in self.but if self.label == "*" else label != self.label):
            return location
        place = location.place._replace(host=self.prefix + self.domain, path=f"/{label}{path}")
        return Location(place, location.params)


def label_of(host: str, domain: str) -> str:
    """Return the one label before a registrable domain; empty where there is none, or ``www``."""
    label = host.removesuffix("." + domain)
    return "" if label == host or "." in label or _WWW.fullmatch(label) else label


def host_proposals(groups: Groups) -> dict[Candidate, set[int]]:
    """Return the hosts that the site's duplicates suggest to be others.

    Each with the pages that suggest it.
    """
    aliases: dict[tuple[str, str], set[int]] = {}
    moved: dict[tuple[str, str], set[int]] = {}
    for page, locations in duplicates(groups):
        if len({location.place.host for location in locations}) == 1:
            continue
        for one, other in pairs(locations):
            _compare(one, other, page, aliases, groups.site.domain, moved)
            _compare(other, one, page, aliases, groups.site.domain, moved)
    if not aliases and not moved:
        return {}
    sizes = Counter(location.place.host for location in groups.pages)
    found: dict[Candidate, set[int]] = {}
    for (host, name), pages in aliases.items():
        # Of two names of one machine the one that is linked most is its name.
        if (-sizes[name], len(name), name) < (-sizes[host], len(host), host) and len(
            pages
        ) >= MIN_COVERAGE * sizes[host]:
            found[(AliasHost(host, name),)] = pages
    found.update(_moves(groups.site.domain, moved, sizes))
    return found


def _compare(  # noqa: PLR0917 - two tables that are filled in one pass
    one: Location,
    other: Location,
    page: int,
    aliases: dict[tuple[str, str], set[int]],
    domain: str,
    moved: dict[tuple[str, str], set[int]],
) -> None:
    if one.params != other.params or one.place.scheme != other.place.scheme:
        return
    host, name = one.place.host, other.place.host
    if host == name or ":" in host + name:
        return
    if one.place.path == other.place.path:
        if _WWW_LABEL.sub("", host) != _WWW_LABEL.sub("", name) and not any(
            _LANGUAGE.fullmatch(label) for label in _labels(host, name)
        ):
            aliases.setdefault((host, name), set()).add(page)
        return
    label = label_of(host, domain)
    if (
        label
        and not _LANGUAGE.fullmatch(label)
        and name in {domain, "www." + domain}
        and other.place.path == f"/{label}{one.place.path}"
    ):
        moved.setdefault((label, name), set()).add(page)


def _labels(host: str, name: str) -> set[str]:
    """Return the labels that tell two hosts apart."""
    return set(host.split(".")) ^ set(name.split("."))


def _moves(
    domain: str, moved: dict[tuple[str, str], set[int]], sizes: Counter[str]
) -> Iterator[tuple[Candidate, set[int]]]:
    """Yield the subdomains that move into the path, one by one and, if there are many, all."""
    for name in sorted({name for _, name in moved}):
        prefix = name.removesuffix(domain)
        # The host that the catalogue moves to is bare only where `www` is stripped.
        first = () if prefix else (StripWww(),)
        by_label = {label: pages for (label, to), pages in moved.items() if to == name}
        if len(by_label) >= MIN_SUBDOMAINS:
            labels = {
                label_of(host, domain) for host, size in sizes.items() if size > MIN_PROPOSERS
            }
            but = tuple(sorted(labels - set(by_label) - {""}))
            step = SubdomainToPath("*", domain, prefix, but)
            yield (*first, step), set().union(*by_label.values())
        for label, pages in sorted(by_label.items()):
            if len(pages) >= MIN_COVERAGE * sizes[f"{label}.{domain}"]:
                yield (*first, SubdomainToPath(label, domain, prefix)), pages
