"""Keeps the responses that the spider is processing, with the pages that each one brought."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping

    from scrapy import Request


class Deliveries:
    """Remembers which pages each response brought, until its callback has finished.

    Only then has the callback had these pages: until then it may raise.

    :param callback_of: returns the name of the callback that a request is for.
    """

    def __init__(self, callback_of: Callable[[Request], str]) -> None:
        self._callback_of = callback_of
        # In the order in which they were last checked. The value is None until the callback is
        # called.
        self._pages: OrderedDict[Request, tuple[bytes, ...] | None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many responses are not known to be finished."""
        return len(self._pages)

    def expect(self, request: Request) -> None:
        """Note that the response to *request* is on its way to the callback."""
        self._pages[request] = None

    def note(self, request: Request, pages: tuple[bytes, ...]) -> None:
        """Note that the callback of *request* is given *pages* that it had not had."""
        self._pages[request] = pages

    def pages_of(self, request: Request) -> tuple[bytes, ...] | None:
        """Return the pages that *request* brought; None if its callback was not called."""
        return self._pages.get(request)

    def take(self, request: Request) -> tuple[bytes, ...]:
        """Remove and return the pages that *request* brought."""
        return self._pages.pop(request) or ()

    def take_done(
        self, active: Collection[Request], count: int
    ) -> Iterator[tuple[Request, tuple[bytes, ...] | None]]:
        """Remove and yield finished requests, each with its pages; None if not delivered.

        :param active: the requests whose callbacks are not done.
        :param count: how many are checked; the next call goes on with the others.
        """
        for request, pages in tuple(islice(self._pages.items(), count)):
            if request in active:
                self._pages.move_to_end(request)
            else:
                del self._pages[request]
                yield request, pages

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*."""
        for request, pages in self._pages.items():
            self._pages[request] = pages and tuple(names.get(page, page) for page in pages)

    def split(self, page: bytes, callback: Hashable, new: bytes) -> None:
        """Replace *page* by *new* for *callback*: the changed rules tell them apart."""
        for request, pages in self._pages.items():
            if pages and page in pages and self._callback_of(request) == callback:
                self._pages[request] = (new, *({*pages} - {page}))

    def take_back(self, taken: Collection[bytes], callback: str) -> None:
        """Forget that *callback* is being given the pages *taken*."""
        for request, pages in self._pages.items():
            if pages and self._callback_of(request) == callback:
                self._pages[request] = tuple(page for page in pages if page not in taken)
