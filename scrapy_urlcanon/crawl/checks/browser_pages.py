"""Pages of a browser, as scrapy-playwright has them."""

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
    """Close the page that *request* was fetched in, if it is open still.

    Who gets the response is to close it; this one nobody gets. Each counts against
    ``PLAYWRIGHT_MAX_PAGES_PER_CONTEXT``: with enough of them open the crawl would stand still.
    """
    page: Any = request.meta.pop(BROWSER_PAGE_KEY, None)
    if page is not None and not page.is_closed():
        deferred_from_coro(page.close()).addErrback(_failed)


def _failed(failure: Failure) -> None:
    """Say that a page was not closed: the browser is gone, and all its pages with it."""
    logger.debug("A page of an audit was not closed: %s", failure.value)
