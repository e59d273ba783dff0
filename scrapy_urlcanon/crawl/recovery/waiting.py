"""What waits for a page: variants that were dropped, and other pages that share its fate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_urlcanon.crawl.recovery.page_states import Event

if TYPE_CHECKING:
    from collections.abc import Hashable

R = TypeVar("R")


class SecondSteps:
    """The second steps of one page, of which a callback needs all: a form that it sends, say.

    >>> steps = SecondSteps()
    >>> steps.left = 2
    >>> steps.ended(has_come=True), steps.ended(has_come=True)
    (None, <Event.GOT: 'got'>)
    >>> steps.left = 2
    >>> steps.ended(has_come=False), steps.ended(has_come=True)
    (<Event.ENDED: 'ended'>, None)
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 0
        """How many have not come; none once one has failed."""

    def ended(self, *, has_come: bool) -> Event | None:
        """Note that one of them came or failed; return what that is to the page, if it is known."""
        if not self.left:
            return None
        self.left = self.left - 1 if has_come else 0
        if self.left:
            return None
        return Event.GOT if has_come else Event.ENDED


class Waiting(Generic[R]):
    """What waits for one page."""

    __slots__ = ("size", "sources", "variants")

    def __init__(self) -> None:
        self.size = 0
        """About how many bytes the requests take."""
        self.variants: dict[Hashable, dict[str, R]] = {}
        """The dropped requests by callback and URL, in the order in which they came."""
        self.sources: dict[tuple[bytes, Hashable, Hashable], bool | SecondSteps] = {}
        """The pages that lead here, each with its callback and that whose fate here it shares, and
        whether that alone says that it does; or that this is one of its second steps."""
