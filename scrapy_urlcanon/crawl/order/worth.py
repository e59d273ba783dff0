"""Determines the worth of a page by its items or a user's callable: ``URLCANON_ORDER_BY``."""

from __future__ import annotations

import logging
from math import isfinite
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Request

from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.novelty.news import SeenLines, Usual
from scrapy_urlcanon.pages.signature import Lines, hash64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.http import Response

logger = logging.getLogger(__name__)

_ITEMS = 1 << 20


class NewItems:
    """The share of a page's items that the crawl had not seen before; 0 for one without items."""

    def __init__(self) -> None:
        self._seen = SeenLines(_ITEMS)

    def __call__(self, response: Response, items: Sequence[Any]) -> float:
        """Return the share, from 0 to 1."""
        del response
        hashes = [hash64(_text(item).encode("utf-8", "replace")) for item in items]
        return self._seen.news(Lines(hashes, hashes, [1] * len(hashes))).share


class Scaled:
    """Scales the numbers that a user's callable returns, relative to the average of those above 0.

    If the callable fails or returns no number, the page is worth nothing; the first failure is
    logged.

    >>> scaled = Scaled(lambda response, items: len(items))
    >>> round(scaled(None, [1, 2]), 3), scaled(None, [])
    (0.2, 0.0)
    """

    def __init__(self, value: Callable[[Response, Sequence[Any]], float]) -> None:
        self._value = value
        self._usual = Usual()
        self._has_failed = False

    def __call__(self, response: Response, items: Sequence[Any]) -> float:
        """Return the worth, from 0 to 1. That of an average page is a fifth."""
        try:
            value = float(self._value(response, items))
            if not isfinite(value):
                raise ValueError(f"returned {value}")  # noqa: TRY301 - all errors are handled below
        except Exception:  # Code of the user, whose errors must not lose a page.
            if not self._has_failed:
                self._has_failed = True
                logger.exception(
                    "%(setting)s failed for %(response)s, which counts as worth nothing; as will "
                    "other pages for which it fails, without a further word.",
                    {"setting": name_of("order_by"), "response": response},
                )
            return 0.0
        return self._usual.amount(max(0.0, value))


class Output:
    """Passes on the requests that a callback yields for one response, and collects the items.

    :param linked: called with each request.
    :param done: called with all items at the end.
    """

    def __init__(
        self, linked: Callable[[Request], None], done: Callable[[Sequence[Any]], None]
    ) -> None:
        self._linked = linked
        self._done = done
        self._items: list[Any] = []

    def add(self, each: object) -> None:
        """Note a request or an item."""
        if isinstance(each, Request):
            self._linked(each)
        else:
            self._items.append(each)

    def end(self) -> None:
        """Note that the callback has finished."""
        self._done(self._items)


def _text(item: Any) -> str:
    if ItemAdapter.is_item(item):
        return repr(sorted(ItemAdapter(item).asdict().items(), key=str))
    return repr(item)
