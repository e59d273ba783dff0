"""The responses that the spider is at work on, and the pages that its callbacks got by them."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping

    from scrapy import Request


class Deliveries:
    """Remembers what each response brought its callback, until the callback is done with it.

    Only then does the callback have these pages: it may raise before.

    :param callback_of: returns the name of the callback that a request is for.
    """

    def __init__(self, callback_of: Callable[[Request], str]) -> None:
        self._callback_of = callback_of
        # None until the callback gets the response. The first one was looked at the longest time
        # ago.
        self._pages: OrderedDict[Request, tuple[bytes, ...] | None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many responses the spider is at work on, as far as it is known."""
        return len(self._pages)

    def expect(self, request: Request) -> None:
        """Note that the response to *request* is on its way to the callback."""
        self._pages[request] = None

    def note(self, request: Request, pages: tuple[bytes, ...]) -> None:
        """Note that the callback of *request* gets *pages* that it had not had."""
        self._pages[request] = pages

    def pages_of(self, request: Request) -> tuple[bytes, ...] | None:
        """Return what the callback is getting by *request*; None if it is not at work on that."""
        return self._pages.get(request)

    def take(self, request: Request) -> tuple[bytes, ...]:
        """Remove what *request* brought, and return it."""
        return self._pages.pop(request) or ()

    def take_done(
        self, active: Collection[Request], count: int
    ) -> Iterator[tuple[Request, tuple[bytes, ...] | None]]:
        """Remove and yield what is done, each request with the pages; None if it was not delivered.

        :param active: the requests whose callbacks are not done.
        :param count: how many are looked at; the others are when this is called again.
        """
        for request, pages in tuple(islice(self._pages.items(), count)):
            if request in active:
                self._pages.move_to_end(request)
            else:
                del self._pages[request]
                yield request, pages

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Know pages by their new fingerprints, *names*."""
        for request, pages in self._pages.items():
            self._pages[request] = pages and tuple(names.get(page, page) for page in pages)

    def split(self, page: bytes, callback: Hashable, new: bytes) -> None:
        """Note that *callback* is getting *new*, no longer one with *page*: the rules changed."""
        for request, pages in self._pages.items():
            if pages and page in pages and self._callback_of(request) == callback:
                self._pages[request] = (new, *({*pages} - {page}))

    def take_back(self, taken: Collection[bytes], callback: str) -> None:
        """Forget that *callback* is getting the pages *taken*."""
        for request, pages in self._pages.items():
            if pages and self._callback_of(request) == callback:
                self._pages[request] = tuple(page for page in pages if page not in taken)
