"""Tells when all that the spider made of a response is scheduled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping


class SpiderOutput:
    """Knows when all requests that the spider made of one response are scheduled.

    That is later than the end of the callback: the scraper takes all that the spider yields
    and then gives it to the engine (``Scraper.handle_spider_output_async``).

    :param outputs: by request, what is to be told that it is :meth:`scheduled`.
    :param done: is called once they are.
    """

    def __init__(
        self, outputs: MutableMapping[Request, SpiderOutput], done: Callable[[], None]
    ) -> None:
        self._outputs = outputs
        self._done = done
        # One more than there are requests, until the end.
        self._open = 1

    def add(self, each: object) -> None:
        """Note a request or an item that goes to the engine."""
        if isinstance(each, Request):
            self._open += 1
            self._outputs[each] = self

    def end(self) -> None:
        """Note that there is no more."""
        self.scheduled()

    def scheduled(self) -> None:
        """Note that one of the requests is scheduled."""
        self._open -= 1
        if not self._open:
            self._done()
