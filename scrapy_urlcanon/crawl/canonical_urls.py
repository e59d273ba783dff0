"""Determines the canonical URL of a request, with the options in its ``meta``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from scrapy_urlcanon.crawl.settings import META_KEY, PAGE_KEY
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer import Canonicalizer

logger = logging.getLogger(__name__)

OWN_RULES: Final = frozenset({META_KEY, PAGE_KEY, "verbatim_url"})
"""Keys of the meta of requests that no rule applies to, or that have rules of their own."""
_REMEMBERED_UNPARSABLE = 100_000
_MOST_REPORTED = 20


class CanonicalUrls:
    """Canonicalizes the URLs of requests, with the options in their ``meta``."""

    def __init__(self, canonicalizer: Canonicalizer, crawler: Crawler) -> None:
        self._canonicalizer = canonicalizer
        self._crawler = crawler
        self._unparsable: set[int] = set()
        self._reported_meta: set[str] = set()

    def of(self, request: Request, url: str | None = None) -> str | None:
        """Return the canonical URL of *request*, or None if no rule applies to it.

        That is so for a URL to be taken as it is (``verbatim_url``, ``meta["urlcanon"] = False``),
        for one that is neither http nor https or cannot be parsed, and for one in which Scrapy
        finds no host (:func:`has_no_host`). If the request names its page
        (``meta["urlcanon_key"]``), the name takes the place of a URL.

        :param url: another URL than that of *request*, under the same meta.
        """
        if url is None:
            url = request.url
        meta = request.meta
        if PAGE_KEY in meta and names_its_page(request):
            # A URL, since other fingerprinters expect one. Half of a surrogate pair, which JSON may
            # contain, is allowed in a name.
            return f"urlcanon-key://{quote(str(meta[PAGE_KEY]), safe='', errors='surrogatepass')}"
        if meta.get("verbatim_url") or has_no_host(url):
            return None
        options = options_of(request)
        if options is None:
            return self._canonicalizer.canonical_or_none(url)
        if options is False:
            return None
        try:
            return self._canonicalizer.canonical_or_none(url, options=options)
        except ConfigurationError as error:
            # The request must not be lost because of that, nor the log flooded: each request may
            # have another wrong value.
            is_new = str(error) not in self._reported_meta
            if is_new and len(self._reported_meta) < _MOST_REPORTED:
                # Imported here for a faster start: few crawls have such requests.
                from scrapy_urlcanon.redaction import shown_url, visible_lines  # noqa: PLC0415

                self._reported_meta.add(str(error))
                logger.error(  # noqa: TRY400
                    "No rules for %(request)s, because of its meta: %(error)s",
                    {"request": shown_url(request.url), "error": visible_lines(str(error))},
                )
            return None

    def note_untouched(self, url: str) -> None:
        """Count *url*, to which no rule applied, if it cannot be parsed."""
        if (
            url.startswith(("http:", "https:"))
            and len(self._unparsable) < _REMEMBERED_UNPARSABLE
            and (has_no_host(url) or self._canonicalizer.canonical_or_none(url) is None)
        ):
            self._unparsable.add(hash(url))
            Stat.UNPARSABLE.set(self._crawler, len(self._unparsable))


def options_of(request: Request) -> Any:
    """Return the options in the meta of *request*: None if there are none, False for no rules."""
    options = request.meta.get(META_KEY)
    return None if options is True else options


def names_its_page(request: Request) -> bool:
    """Tell whether *request* names its page. None and the empty string are no names.

    Otherwise all pages for which a spider found no name would be one page.
    """
    key = request.meta.get(PAGE_KEY)
    return key is not None and str(key) != ""


def has_no_host(url: str) -> bool:
    """Tell whether Scrapy finds no host in *url*, though a browser does.

    Scrapy's request fails, and must not stand for the page that a browser shows.

    >>> has_no_host("http:///example.com/a"), has_no_host("http://example.com/a")
    (True, False)
    """
    return url.startswith(("http:///", "https:///"))
