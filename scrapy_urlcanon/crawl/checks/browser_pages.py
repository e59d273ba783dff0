"""Closes browser pages that scrapy-playwright opened for fetches of audits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro

from scrapy_urlcanon.crawl.settings import BROWSER_PAGE_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


def close_page(request: Request) -> None:
    """Close the browser page of *request*, if it is still open.

    Usually the callback that gets the response closes it, but no callback gets this one. Open pages
    count against ``PLAYWRIGHT_MAX_PAGES_PER_CONTEXT``, and at that limit the crawl would stand
    still.
    """
    page: Any = request.meta.pop(BROWSER_PAGE_KEY, None)
    if page is not None and not page.is_closed():
        deferred_from_coro(page.close()).addErrback(_failed)


def _failed(failure: Failure) -> None:
    """Log that a page could not be closed: the browser, and all its pages with it, is gone."""
    logger.debug("A page of an audit was not closed: %s", failure.value)
