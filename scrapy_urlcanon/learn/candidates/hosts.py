"""Proposes hosts of one domain that are one: mirrors, ports, and subdomains that became paths.

That two hosts share some pages says little: the blog of a shop has the shop's terms and imprint,
and untranslated pages are on the host of every language. So a host is proposed to be another one
only if a good part of its own pages was found there (:data:`MIN_COVERAGE`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS, Candidate, Duplicates
from scrapy_urlcanon.learn.location import host_of
from scrapy_urlcanon.learn.operations.hosts import AliasHost, StripWww, SubdomainIntoPath
from scrapy_urlcanon.learn.vocabulary import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.learn.location import Location

MIN_COVERAGE = 0.25
"""Which share of the pages of a host must have been found on the other one. A crawl that saw half
of each of two mirrors has seen half of its pages on both."""

MIN_SUBDOMAINS = 5
"""How many subdomains must have moved into the path before all of them are taken to. With five and
no counter-example it holds for over half of the others (95 % confidence)."""

_WWW = re.compile("www[0-9]*")
_WWW_LABEL = re.compile(r"^www[0-9]*\.")


def label_of(host: str, domain: str) -> str:
    """Return the one label before a registrable domain; empty for none, for several and ``www``."""
    label = host.removesuffix("." + domain)
    return "" if label == host or "." in label or _WWW.fullmatch(label) else label


def other_hosts(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the candidates that make a host another one, each with the page that suggests it."""
    domain = duplicates.groups.site.domain
    aliases: dict[tuple[str, str], set[int]] = {}
    moved: dict[tuple[str, str], set[int]] = {}
    for page, one, other in _on_two_hosts(duplicates):
        host, name = one.origin.host, other.origin.host
        if one.path != other.path:
            if label := _moved_label(one, other, domain):
                moved.setdefault((label, name), set()).add(page)
        elif _WWW_LABEL.sub("", host) != _WWW_LABEL.sub("", name) and not any(
            LANGUAGE.fullmatch(label)
            for label in {*host_of(one.origin).split(".")} ^ {*name.split(".")}
        ):
            aliases.setdefault((host, name), set()).add(page)
    if not aliases and not moved:
        return
    sizes = Counter(location.origin.host for location in duplicates.groups.pages)
    found: dict[Candidate, set[int]] = {}
    for (host, name), pages in aliases.items():
        # Of two hosts the one with more URLs is the canonical one; never one with a port.
        is_name = ":" in host or (-sizes[name], len(name), name) < (-sizes[host], len(host), host)
        if is_name and len(pages) >= MIN_COVERAGE * sizes[host]:
            found[AliasHost(host, name),] = pages
    found.update(_moves(domain, moved, sizes))
    for candidate, pages in found.items():
        yield from ((candidate, page) for page in pages)


def _on_two_hosts(duplicates: Duplicates) -> Iterator[tuple[int, Location, Location]]:
    """Yield pairs of URLs of one page that differ in host and path only, in both orders.

    A host with a port is compared with the same host without one.
    """
    for page, one, other in duplicates.pairs(lambda location: location.origin.host):
        host, name = one.origin.host, other.origin.host
        if (
            host != name
            and "@" not in host + name
            and one.params == other.params
            and one.origin.scheme == other.origin.scheme
        ):
            for source, target in ((one, other), (other, one)):
                is_with_port = source.origin.host != host_of(source.origin)
                if host_of(target.origin) == target.origin.host and (
                    not is_with_port or host_of(source.origin) == target.origin.host
                ):
                    yield page, source, target


def _moved_label(one: Location, other: Location, domain: str) -> str:
    """Return the subdomain of *one* that is the first segment of *other*, or an empty text."""
    label = label_of(one.origin.host, domain)
    is_moved = (
        not LANGUAGE.fullmatch(label)
        and other.origin.host in {domain, "www." + domain}
        and other.path == f"/{label}{one.path}"
    )
    return label if is_moved else ""


def _moves(
    domain: str, moved: dict[tuple[str, str], set[int]], sizes: Counter[str]
) -> Iterator[tuple[Candidate, set[int]]]:
    """Yield the subdomains that move into the path, each alone and, if there are enough, all."""
    for name in sorted({name for _, name in moved}):
        prefix = name.removesuffix(domain)
        # `subdomain_to_path` moves to `www.` and the domain, unless `www` is stripped.
        first = () if prefix else (StripWww(),)
        by_label = {label: pages for (label, to), pages in moved.items() if to == name}
        if len(by_label) >= MIN_SUBDOMAINS:
            labels = {
                label_of(host, domain) for host, size in sizes.items() if size > MIN_PROPOSERS
            }
            but = tuple(sorted(labels - set(by_label) - {""}))
            step = SubdomainIntoPath("*", domain, prefix, but)
            yield (*first, step), set().union(*by_label.values())
        for label, pages in sorted(by_label.items()):
            if len(pages) >= MIN_COVERAGE * sizes[f"{label}.{domain}"]:
                yield (*first, SubdomainIntoPath(label, domain, prefix)), pages
