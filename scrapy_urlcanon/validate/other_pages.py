"""Finds pages of the crawl other than those of the pairs of a rule."""

from __future__ import annotations

from functools import cached_property
from heapq import nlargest
from itertools import takewhile
from operator import eq
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.pages.verdict import MOST_FETCHES

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.configuration import Configuration


class OtherPages:
    """Tells which URLs of a crawl show other pages, whichever rules are right.

    >>> rules = Canonicalizer({"a.example": {"drop_params": ["sid"]}}).configuration
    >>> urls = [f"http://a.example/{path}" for path in ("", "cat", "?sid=2", "cars/1?sid=1")]
    >>> pages = OtherPages.of(rules, urls)
    >>> pages.near(pages.page_of("http://a.example/cars?sid=3"))
    ['http://a.example/cars/1?sid=1', 'http://a.example/cat', 'http://a.example/']
    """

    def __init__(self, canonicalizer: Canonicalizer, urls: Collection[str]) -> None:
        self._canonicalizer = canonicalizer
        self._urls = urls

    @classmethod
    def of(cls, configuration: Configuration, urls: Collection[str]) -> Self:
        """Return the pages of *urls*, under *configuration* and the preset that merges most.

        So URLs of two pages show two pages beyond doubt.
        """
        widest = configuration._replace(preset="aggressive")
        return cls(Canonicalizer.from_configuration(widest), urls)

    def page_of(self, url: str) -> str:
        """Return the key of the page of *url*."""
        return self._canonicalizer.canonical_or_none(url) or url

    def near(self, page: str) -> list[str]:
        """Return URLs of some other pages of its host, the most similar URLs first.

        If a part of the site is behind a log-in form, these are behind it as well.
        """
        others = self._by_host.get(urlsplit(page).netloc, {})
        nearest = nlargest(
            MOST_FETCHES,
            (other for other in others if other != page),
            key=lambda other: (sum(takewhile(bool, map(eq, other, page))), other),
        )
        return [others[other] for other in nearest]

    @cached_property
    def _by_host(self) -> dict[str, dict[str, str]]:
        """By host, a URL of each page."""
        found: dict[str, dict[str, str]] = {}
        for url in sorted(self._urls):
            page = self._canonicalizer.canonical_or_none(url)
            if page is not None and not self._canonicalizer.skips(url):
                found.setdefault(urlsplit(page).netloc, {}).setdefault(page, url)
        return found
