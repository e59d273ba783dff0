"""Where the pages of URLs that are not to be fetched are, as far as a crawl has seen it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.rules.template import Skip
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.learn.canonicals import declared_canonicals
from scrapy_urlcanon.learn.captures import domain_of
from scrapy_urlcanon.learn.classes.skips import is_no_better
from scrapy_urlcanon.learn.results.rule import as_rules
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.learn.canonicals import DeclaredCanonicals
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule
    from scrapy_urlcanon.learn.site import Site

#: As many hops as Scrapy's REDIRECT_MAX_TIMES follows.
_MAX_HOPS = 20

#: Of how many other URLs of a page it is asked whether one is a better place to look.
_MAX_LOOKED_AT = 20


class SkippedUrl(NamedTuple):
    """A URL of a crawl that a ``skip`` template fits."""

    url: str
    canonical: str
    cause: Cause
    """The template, and where it was written."""
    place: str
    """A URL that shows its page and is fetched; empty where none is known."""
    is_seen: bool
    """Whether it is known what it shows."""


def skipped_urls(site: Site, canonicalizer: Canonicalizer) -> list[SkippedUrl]:
    """Return the URLs of a site that are not fetched, each with the place of its page.

    That is where it redirects to, what it declares to be its canonical URL where that is to be
    believed, or another URL that shows the same page. Of several URLs that the rules make one only
    one is returned, one with a place if there is any.

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
    rules: Iterable[LearnedRule], site: Site, preset: str | None
) -> tuple[LearnedRule, ...]:
    """Return *rules*, those of ``skip`` with what they save and with the places of the pages.

    :param preset: what the rules are to be added to.
    """
    rules = tuple(rules)
    if not any(rule.option == Skip.name for rule in rules):
        return rules
    canonicalizer = Canonicalizer(as_rules(rules), preset=preset or DEFAULT_PRESET)
    found: dict[tuple[str | None, str], list[SkippedUrl]] = {}
    for skipped in skipped_urls(site, canonicalizer):
        found.setdefault((skipped.cause.layer.pattern, skipped.cause.entry), []).append(skipped)
    return tuple(
        _with_places(rule, found.get((rule.pattern, rule.setting[0]), ()))
        if rule.option == Skip.name
        else rule
        for rule in rules
    )


def _with_places(rule: LearnedRule, skipped: Iterable[SkippedUrl]) -> LearnedRule:
    urls = tuple(skipped)
    places = {each.canonical: each.place for each in urls if each.place}
    evidence = replace(rule.evidence, merges=len(urls), placed=len(places))
    return replace(rule, evidence=evidence, places=places)


class _Places:
    def __init__(self, site: Site, canonicalizer: Canonicalizer) -> None:
        self._site = site
        self._canonicalizer = canonicalizer
        self._cause_of = lru_cache(100_000)(self._skips)

    def skipped(self) -> list[SkippedUrl]:
        site = self._site
        skipped = {
            row: skip
            for row, location in enumerate(site.locations)
            if (skip := self._skips(location))
        }
        if not skipped:
            return []
        others: dict[int, list[int]] = {
            page: [] for row in skipped if (page := site.pages[row]) != NO_EVIDENCE
        }
        for row, page in enumerate(site.pages):
            if page in others and row not in skipped:
                others[page].append(row)
        for rows in others.values():
            # What redirects is worth a request less than where it leads.
            rows.sort(key=lambda row: (row in site.redirects, site.locations[row]))
        canonicals = declared_canonicals(site)
        found: dict[str, SkippedUrl] = {}
        for row, (canonical, cause) in skipped.items():
            page = site.pages[row]
            place = self._led_to(row) or self._declared(row, canonicals)
            place = place or self._other(site.locations[row], others.get(page, []))
            known = found.get(canonical)
            if known is None or (place and not known.place):
                url = site.locations[row].url
                url_of_place = place.url if place else ""
                is_seen = page != NO_EVIDENCE
                found[canonical] = SkippedUrl(url, canonical, cause, url_of_place, is_seen)
        return list(found.values())

    def _skips(self, location: Location) -> tuple[str, Cause] | None:
        """Return the canonical URL of one that is not to be fetched, and why; else None."""
        canonical = self._canonicalizer.canonical_or_none(location.url)
        if canonical is None:
            return None
        cause = self._canonicalizer.policy(canonical).skips(split(canonical))
        return cause and (canonical, cause)

    def _led_to(self, row: int) -> Location | None:
        """Return the first URL to be fetched that the redirects of a row lead to."""
        site = self._site
        for _ in range(_MAX_HOPS):
            target = site.redirects.get(row)
            if target is None or self._cause_of(target) is None:
                return target
            row = site.row_of.get(target, -1)
        return None

    def _declared(self, row: int, canonicals: DeclaredCanonicals) -> Location | None:
        """Return the URL to be fetched that a row declares, if it is to be believed."""
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
        """Return the first URL among the *others* of a page that is a better place to look."""
        candidates = (self._site.locations[row] for row in others[:_MAX_LOOKED_AT])
        return next((each for each in candidates if not is_no_better(each, location)), None)
