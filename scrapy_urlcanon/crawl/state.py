"""What the components of one crawl share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.crawl.settings import META_KEY, load_configuration
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.clean_param import CleanParam
    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter

logger = logging.getLogger(__name__)

_ATTRIBUTE = "_scrapy_urlcanon"


class CrawlState:
    """The canonicalizer of a crawl and the fingerprinter that uses it.

    Get it with :meth:`of`: the fingerprinter, which is constructed first, may be wrapped
    by another one, so that the middlewares cannot ask ``crawler.request_fingerprinter``.

    :raises ConfigurationError: if the settings of the crawler are not valid.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.canonicalizer = Canonicalizer.from_configuration(load_configuration(crawler.settings))
        self.fingerprinter: RequestFingerprinter | None = None
        """The one of this crawl, once it is constructed."""
        self._reported_meta: set[str] = set()

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlState:
        """Return the state of *crawler*, made on the first call."""
        state = getattr(crawler, _ATTRIBUTE, None)
        if not isinstance(state, cls):
            state = cls(crawler)
            setattr(crawler, _ATTRIBUTE, state)
        return state

    def declare(self, robots_url: str, declared: CleanParam) -> None:
        """Take over what the robots.txt at *robots_url* declares."""
        self.canonicalizer.declare(robots_url, declared)
        if self.fingerprinter:
            self.fingerprinter.forget()

    def canonical(self, request: Request, url: str | None = None) -> str | None:
        """Return the canonical URL of *request*, or None where no rule is to touch it.

        That is so where its URL is to be taken as it is (``verbatim_url``,
        ``meta["urlcanon"] = False``), is none of http and https, or cannot be parsed.

        :param url: another URL than that of *request*, under the same meta.
        """
        if url is None:
            url = request.url
        meta = request.meta
        if meta.get("verbatim_url"):
            return None
        options = meta.get(META_KEY)
        if options is None or options is True:
            return self.canonicalizer.canonical_or_none(url)
        if options is False:
            return None
        try:
            return self.canonicalizer.canonical_or_none(url, options=options)
        except ConfigurationError as error:
            # The request is not to be lost for it, nor the log to be flooded.
            if str(error) not in self._reported_meta:
                self._reported_meta.add(str(error))
                logger.error(  # noqa: TRY400
                    "No rules for %(request)s, because of its meta: %(error)s",
                    {"request": request, "error": error},
                )
            return None
