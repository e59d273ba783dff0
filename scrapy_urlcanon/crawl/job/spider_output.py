"""Tells when all that the spider made of a response has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable


class SpiderOutput:
    """Knows when all that the spider made of one response has ended.

    Its requests are scheduled, and its items through the pipelines, which may take as long as
    the downloads of their files. That is later than the end of the callback: the scraper takes all
    that the spider yields and then passes it on (``Scraper.handle_spider_output_async``).

    :param outputs: by request, what is to be told that :meth:`one_ended`. Each link is noted there:
        a WeakKeyDictionary takes several times as long, most of it in Python.
    :param done: is called once all have.
    """

    def __init__(self, outputs: dict[ref[Request], SpiderOutput], done: Callable[[], None]) -> None:
        self._outputs = outputs
        self._done = done
        # One more than there are requests and items, until the end.
        self._open = 1

    def goes_on(self) -> bool:
        """Take what a middleware made of an exception for more of it; False if all has ended."""
        is_open = self._open > 0
        self._open += is_open
        return is_open

    def add(self, each: object) -> None:
        """Note a request or an item that goes to the engine."""
        self._open += 1
        if isinstance(each, Request):
            self._outputs[ref(each, self._outputs.pop)] = self

    def end(self) -> None:
        """Note that there is no more."""
        self.one_ended()

    def one_ended(self) -> None:
        """Note that one of the requests is scheduled, or one of the items through."""
        self._open -= 1
        if not self._open:
            self._done()
            # It knows the request, whose meta may hold the response that this is kept for.
            del self._done
