"""Knows what a crawl has seen: the URLs that rules skip, and the pages at all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn.captures import by_domain
from scrapy_urlcanon.learn.places import skipped_urls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from scrapy_urlcanon.learn import Observation
    from scrapy_urlcanon.learn.places import SkippedUrl


class Crawled:
    """Tells under which URLs the crawl has seen pages.

    >>> from scrapy_urlcanon.learn import Observation
    >>> seen = [Observation("http://a.example/b", main_sha1="0" * 40)]
    >>> rules = Canonicalizer({"a.example": {"skip": ["/?p={id:digits}"]}})
    >>> crawled = Crawled.of(rules, seen)
    >>> [crawled.is_fetched(f"http://a.example/{path}") for path in ("b", "c", "?p=1")]
    [True, True, False]
    >>> [crawled.shows_a_page(f"http://a.example/{path}") for path in ("b", "c")]
    [True, False]
    """

    def __init__(self, canonicalizer: Canonicalizer | None = None) -> None:
        self._canonicalizer = canonicalizer or Canonicalizer()
        self._pages: set[str | None] = set()
        self.skipped: list[SkippedUrl] = []
        """The URLs that rules skip, as far as the crawl has seen them."""

    @classmethod
    def of(cls, canonicalizer: Canonicalizer, observations: Iterable[Observation]) -> Self:
        """Return what *observations* show, under the rules of *canonicalizer*."""
        crawled = cls(canonicalizer)
        canonical = canonicalizer.canonical_or_none
        pages: list[str] = []
        captures = by_domain(_noting_pages(observations, pages))
        for name in tuple(captures):
            found: dict[str, SkippedUrl] = {}
            for skipped in skipped_urls(captures.pop(name).site(name), canonicalizer):
                if skipped.place or skipped.is_seen:
                    # Of several URLs with one canonical URL, one whose place is known if there is
                    # one.
                    known = found.setdefault(skipped.canonical, skipped)
                    found[skipped.canonical] = known if known.place else skipped
            crawled.skipped += found.values()
        crawled._pages.update(map(canonical, pages))
        return crawled

    def is_fetched(self, url: str) -> bool:
        """Tell whether *url* is a URL that no rule skips."""
        return self._canonicalizer.canonical_or_none(url) is not None and not (
            self._canonicalizer.skips(url)
        )

    def shows_a_page(self, url: str) -> bool:
        """Tell whether the crawl has seen a page at *url*."""
        return self._canonicalizer.canonical_or_none(url) in self._pages


def _noting_pages(observations: Iterable[Observation], pages: list[str]) -> Iterator[Observation]:
    for observation in observations:
        if observation.has_content:
            pages.append(observation.url)
        yield observation
