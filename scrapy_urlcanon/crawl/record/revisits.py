"""Fetches a few pages a second time, so that the learner can tell noise from content."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy.http import TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.answers import is_cut_short
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.own_requests import MARK_KEY, with_url
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.settings import BROWSER_PAGE_KEY
from scrapy_urlcanon.pages.signature import hash64, unpack
from scrapy_urlcanon.pages.visits import compare_visits

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.pages.signature import Signature
    from scrapy_urlcanon.pages.visits import Visits

    _OnVisits: TypeAlias = Callable[[str, Visits, Signature | None], None]

logger = logging.getLogger(__name__)

_MOST_DOMAINS = 2_000
_FIRST = 2
"""The first page fetched again is the second: the start page of a site is unlike the others."""
_MOST_KINDS = 8
"""The most content types of a site of which a page is fetched again."""


class _Taken(NamedTuple):
    """A page to be fetched again."""

    request: Request
    lines: bytes
    """Its lines, packed as in the store, which takes a tenth of the memory."""
    body: int
    """A hash of its body."""
    due: int
    """The number of the page after which it is fetched again."""


class _Site(NamedTuple):
    pages: int
    next: int
    """The number of the next page that will be fetched again."""
    kinds: frozenset[bytes] = frozenset()
    """The content types of the pages that were fetched again."""
    taken: tuple[_Taken, ...] = ()


class Revisits:
    """Fetches a page of a domain again after half as many more pages were fetched.

    These are the pages 2, 4, 6, 9, 13, 19 and so on: 11 of 240, and 23 of 30,000. So what changes
    between the two visits is what may change between the visits of two URLs of one page. From page
    3 on the first page of each new content type is fetched again too. A feed, for example, may
    state when it was generated, even on a site whose HTML pages do not. If no feed were fetched
    twice, all of them would seem to be different pages.

    :param on_visits: called with a URL, the comparison of its two visits, and the content of the
        second, or None if that was the same byte for byte.
    """

    def __init__(self, crawler: Crawler, on_visits: _OnVisits) -> None:
        self._crawler = crawler
        self._on_visits = on_visits
        self._sites: BoundedMapping[str, _Site] = BoundedMapping(_MOST_DOMAINS)

    def note(self, request: Request, response: Response) -> None:
        """Note *response*, a page of the crawl, and fetch earlier ones again if it is time."""
        if not _is_repeatable(request, response):
            return
        domain = domain_of(request.url)
        site = self._sites.get(domain) or _Site(0, _FIRST)
        pages, turn, kinds, taken = site.pages + 1, site.next, site.kinds, site.taken
        due = [each for each in taken if each.due <= pages]
        kind = (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower()
        is_new = kinds and kind not in kinds and len(kinds) < _MOST_KINDS
        if pages >= turn or is_new:
            lines, body = page_of(response).signature.pack(), hash64(response.body)
            # Not at once: a clock in the page would not have changed.
            later = max(pages + 2, pages * 3 // 2)
            taken = (*taken, _Taken(request, lines, body, later))
            turn = later if pages >= turn else turn
            kinds = kinds | {kind} if len(kinds) < _MOST_KINDS else kinds
        taken = tuple(each for each in taken if each.due > pages) if due else taken
        self._sites[domain] = _Site(pages, turn, kinds, taken)
        for each in due:
            deferred_from_coro(self._fetch_again(each))

    async def _fetch_again(self, first: _Taken) -> None:
        request, lines = first.request, first.lines
        second = with_url(request, request.url)
        # Only the page itself shows its noise.
        second.meta.update(dont_cache=True, dont_retry=True, dont_redirect=True)
        second.callback, second.errback = NO_CALLBACK, None
        try:
            response = await self._crawler.engine.download_async(second)
        except Exception as error:  # noqa: BLE001 - whatever a handler or a middleware raises
            logger.debug("Cannot fetch %s again: %s", request.url, error)
            return
        is_answer = response.url == request.url and response.status == HTTPStatus.OK
        if is_answer and not is_cut_short(response):
            # The same bytes need not be parsed again.
            is_same = hash64(response.body) == first.body
            again = None if is_same else page_of(response).signature
            visits = compare_visits(unpack(lines), unpack(again.pack() if again else lines))
            if visits:
                self._on_visits(request.url, visits, again)


def _is_repeatable(request: Request, response: Response) -> bool:
    """Tell whether fetching the page again would show what changes from visit to visit."""
    return (
        response.status == HTTPStatus.OK
        and isinstance(response, TextResponse)
        and response.url == request.url
        and "cached" not in response.flags
        and MARK_KEY not in request.meta
        and BROWSER_PAGE_KEY not in request.meta
    )
