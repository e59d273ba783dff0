"""Finds where else a crawl saw the pages of URLs that are not fetched."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.learn.canonicals import declared_canonicals
from scrapy_urlcanon.learn.classes.elsewhere import PageUrls
from scrapy_urlcanon.learn.results.rule import beside
from scrapy_urlcanon.learn.site import MAX_HOPS, NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.learn.canonicals import DeclaredCanonicals
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule
    from scrapy_urlcanon.learn.site import Site

MAX_PLACES = 1_000_000
"""For how many URLs that a rule skips the places are kept, some 300 bytes each."""

_MAX_LOOKED_AT = 20
"""How many other URLs of a page are considered as its place."""


class SkippedUrl(NamedTuple):
    """A URL of a crawl that matches a ``skip`` template."""

    url: str
    canonical: str
    cause: Cause
    """The template, and where it was written."""
    place: str
    """A URL that shows the same page and is fetched; empty if none is known."""
    is_seen: bool
    """Whether it is known what the skipped URL shows."""


def skipped_urls(site: Site, canonicalizer: Canonicalizer) -> Iterator[SkippedUrl]:
    """Yield the URLs of a site that are not fetched, each with the place of its page.

    The place is the target of its redirect, the canonical URL that it declares if that is believed,
    or another URL that shows the same page.

    >>> from scrapy_urlcanon import Canonicalizer
    >>> from scrapy_urlcanon.learn import Observation
    >>> from scrapy_urlcanon.learn.captures import site_of
    >>> home = "http://a.example/"
    >>> seen = [Observation(f"{home}?p={i}", 301, redirect=f"{home}{i}-x") for i in (1, 2)]
    >>> rules = Canonicalizer({"a.example": {"skip": ["/?p={id:digits}"]}})
    >>> [(skipped.url, skipped.place) for skipped in skipped_urls(site_of("", seen), rules)]
    [('http://a.example/?p=1', 'http://a.example/1-x'), \
('http://a.example/?p=2', 'http://a.example/2-x')]
    """
    return _Places(site, canonicalizer).skipped()


def with_places(
    rules: Iterable[LearnedRule],
    site: Site,
    of_settings: Mapping[str, Mapping[str, Any]] | None,
    preset: str,
) -> tuple[LearnedRule, ...]:
    """Return *rules*, those of ``skip`` with the places of pages and the number of URLs saved.

    URLs with the same canonical URL count once, with a place if any of them has one.

    :param of_settings: the rules of ``URLCANON_RULES``, which hold as well.
    :param preset: the preset that the rules are added to.
    """
    rules = tuple(rules)
    if not any(rule.is_skip for rule in rules):
        return rules
    canonicalizer = beside(of_settings, rules, preset)
    found: dict[tuple[str | None, str], _Found] = {}
    for skipped in skipped_urls(site, canonicalizer):
        of_rule = skipped.cause.layer.pattern, skipped.cause.entry
        found.setdefault(of_rule, _Found()).add(skipped)
    return tuple(
        found.get((rule.pattern, rule.setting[0]), _Found()).beside(rule) if rule.is_skip else rule
        for rule in rules
    )


class _Found:
    """The URLs that one rule skips, and their places."""

    def __init__(self) -> None:
        # Hashes, as a crawl may have millions of URLs.
        self._urls: set[int] = set()
        self._placed: set[int] = set()
        self._places: dict[str, str] = {}

    def add(self, skipped: SkippedUrl) -> None:
        key = hash(skipped.canonical)
        self._urls.add(key)
        if skipped.place:
            self._placed.add(key)
            if len(self._places) < MAX_PLACES:
                self._places.setdefault(skipped.canonical, skipped.place)

    def beside(self, rule: LearnedRule) -> LearnedRule:
        """Return *rule* with these counts and places."""
        merges, placed = len(self._urls), len(self._placed)
        evidence = replace(rule.evidence, merges=merges, placed=placed)
        return replace(rule, evidence=evidence, places=self._places)


class _Places:
    def __init__(self, site: Site, canonicalizer: Canonicalizer) -> None:
        self._site = site
        self._canonicalizer = canonicalizer
        self._cause_of = lru_cache(100_000)(self._skips)

    def skipped(self) -> Iterator[SkippedUrl]:
        site = self._site
        is_skipped = bytearray(self._skips(location) is not None for location in site.locations)
        rows = [row for row, flag in enumerate(is_skipped) if flag]
        others: dict[int, list[int]] = {
            page: [] for row in rows if (page := site.pages[row]) != NO_EVIDENCE
        }
        for row, page in enumerate(site.pages):
            if page in others and not is_skipped[row]:
                others[page].append(row)
        for shown in others.values():
            # A URL that redirects comes after its target, which costs no extra request.
            shown.sort(key=lambda row: (row in site.redirects, site.locations[row]))
        canonicals = declared_canonicals(site)
        for row in rows:
            location, page = site.locations[row], site.pages[row]
            place = self._led_to(row) or self._declared(row, canonicals)
            place = place or self._other(location, others.get(page, []))
            # Computed again: keeping it would take more memory than all else known of a URL.
            if skip := self._skips(location):
                yield SkippedUrl(
                    location.url, *skip, place.url if place else "", page != NO_EVIDENCE
                )

    def _skips(self, location: Location) -> tuple[str, Cause] | None:
        """Return the canonical URL of a skipped URL, and the cause; None if it is not skipped."""
        canonical = self._canonicalizer.canonical_or_none(location.url)
        if canonical is None:
            return None
        cause = self._canonicalizer.cause_of_skip(canonical)
        return cause and (canonical, cause)

    def _led_to(self, row: int) -> Location | None:
        """Return the first URL on the redirects of a row that is fetched."""
        site = self._site
        for _ in range(MAX_HOPS):
            target = site.redirects.get(row)
            if target is None or self._cause_of(target) is None:
                return target
            row = site.row_of.get(target, -1)
        return None

    def _declared(self, row: int, canonicals: DeclaredCanonicals) -> Location | None:
        """Return the canonical URL that a row declares, if that is fetched and believed."""
        site = self._site
        target = site.declared.get(row)
        if target is None or self._cause_of(target) is not None:
            return None
        other = site.row_of.get(target)
        pages = {site.pages[row], NO_EVIDENCE if other is None else site.pages[other]}
        if NO_EVIDENCE not in pages:
            return target if len(pages) == 1 else None
        is_here = domain_of(target.url) == domain_of(site.locations[row].url)
        return target if is_here and canonicals.believes(site.locations[row], target) else None

    def _other(self, location: Location, others: list[int]) -> Location | None:
        """Return the first URL among the *others* of a page that is a better place for it."""
        candidates = (self._site.locations[row] for row in others[:_MAX_LOOKED_AT])
        return next(filter(PageUrls([location]).has_better, candidates), None)
