"""Tells when all requests and items that the spider made of a response are dealt with."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable


class SpiderOutput:
    """Counts the open requests and items that the spider made of one response.

    A request is open until it is scheduled, an item until it has left the pipelines, which may take
    as long as the downloads of its files. That is later than the end of the callback: the scraper
    takes all that the spider yields and then passes it on (``Scraper.handle_spider_output_async``).

    :param outputs: a mapping from requests to the outputs that they are of, to which this one adds
        its own. Not a WeakKeyDictionary, which takes several times as long for each link.
    :param done: is called once none is open.
    """

    def __init__(self, outputs: dict[ref[Request], SpiderOutput], done: Callable[[], None]) -> None:
        self._outputs = outputs
        self._done = done
        # One more than there are open requests and items, until the callback has ended.
        self._open = 1

    def goes_on(self) -> bool:
        """Keep it open for what a middleware makes of an exception; return False if it is done."""
        is_open = self._open > 0
        self._open += is_open
        return is_open

    def add(self, each: object) -> None:
        """Note a request or an item that goes to the engine."""
        self._open += 1
        if isinstance(each, Request):
            self._outputs[ref(each, self._outputs.pop)] = self

    def end(self) -> None:
        """Note that the callback has ended."""
        self.one_ended()

    def one_ended(self) -> None:
        """Note that a request is scheduled, an item has left the pipelines, or all have come."""
        self._open -= 1
        if not self._open:
            self._done()
            # It holds the request, whose meta may hold the response, which would never be freed
            # otherwise.
            del self._done
