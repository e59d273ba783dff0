"""The canonical URLs of requests."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from scrapy_urlcanon.crawl.settings import META_KEY, PAGE_KEY
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)

OWN_RULES: Final = frozenset({META_KEY, PAGE_KEY, "verbatim_url"})
"""Keys of the meta of a request that no rule is to touch, or that has rules of its own."""
_REMEMBERED_UNPARSABLE = 100_000
_MOST_REPORTED = 20


class CanonicalUrls:
    """Canonicalizes the URLs of requests under the options of their ``meta``."""

    def __init__(self, canonicalizer: Canonicalizer, stats: CrawlStats) -> None:
        self._canonicalizer = canonicalizer
        self._stats = stats
        self._unparsable: set[int] = set()
        self._reported_meta: set[str] = set()

    def of(self, request: Request, url: str | None = None) -> str | None:
        """Return the canonical URL of *request*, or None where no rule is to touch it.

        That is so where its URL is to be taken as it is (``verbatim_url``,
        ``meta["urlcanon"] = False``), is none of http and https, cannot be parsed, or has no host
        for Scrapy (:func:`has_no_host`). Where the request names its page itself
        (``meta["urlcanon_key"]``) that name stands for a URL.

        :param url: another URL than that of *request*, under the same meta.
        """
        if url is None:
            url = request.url
        meta = request.meta
        if PAGE_KEY in meta and names_its_page(request):
            # As a URL, since other fingerprinters get it as one.
            # Half of a pair of surrogates, as JSON may have it, is a name as any other.
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
            # The request is not to be lost for it, nor the log to be flooded: what is wrong may be
            # another value with each.
            is_new = str(error) not in self._reported_meta
            if is_new and len(self._reported_meta) < _MOST_REPORTED:
                # Few crawls have such requests, and all would wait for the import.
                from scrapy_urlcanon.redaction import shown_url, visible_lines  # noqa: PLC0415

                self._reported_meta.add(str(error))
                logger.error(  # noqa: TRY400
                    "No rules for %(request)s, because of its meta: %(error)s",
                    {"request": shown_url(request.url), "error": visible_lines(str(error))},
                )
            return None

    def note_untouched(self, url: str) -> None:
        """Note that no rule touched *url*; it counts where it cannot be parsed."""
        if (
            url.startswith(("http:", "https:"))
            and len(self._unparsable) < _REMEMBERED_UNPARSABLE
            and (has_no_host(url) or self._canonicalizer.canonical_or_none(url) is None)
        ):
            self._unparsable.add(hash(url))
            self._stats.set(Stat.UNPARSABLE, len(self._unparsable))


def options_of(request: Request) -> Any:
    """Return the options of *request* alone: None where there are none, False for no rules."""
    options = request.meta.get(META_KEY)
    return None if options is True else options


def names_its_page(request: Request) -> bool:
    """Tell whether *request* has a name for its page; None and the empty text are none.

    Else all pages of which a spider has found no name would be one.
    """
    key = request.meta.get(PAGE_KEY)
    return key is not None and str(key) != ""


def has_no_host(url: str) -> bool:
    """Tell whether Scrapy sees no host in *url*, in which a browser does.

    Its request fails, and must not stand for the page that a browser would show.

    >>> has_no_host("http:///example.com/a"), has_no_host("http://example.com/a")
    (True, False)
    """
    return url.startswith(("http:///", "https:///"))
