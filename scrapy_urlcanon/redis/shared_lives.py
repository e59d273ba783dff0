"""Keeps the states of pages in Redis, for all processes of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
from scrapy_urlcanon.crawl.recovery.page_states import GOT, Fate, State
from scrapy_urlcanon.redis import scripts
from scrapy_urlcanon.redis.frontier import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from scrapy import Request

    from scrapy_urlcanon.redis.frontier import Frontier

_FATES = {
    "had": Fate.FORGOTTEN,
    # It was queued before: nothing to do.
    "forgotten": Fate.FORGOTTEN,
    "fetched": Fate.FETCHED,
    "waits": Fate.WAITS,
}
_HAD = frozenset({b"h", b"e", b"c"})
_NOT_MISSED = _HAD | {b"s"}


class SharedLives(PageLives["Request"]):
    """Keeps in Redis which callback has had or missed which page, and which variants wait.

    What is on its way in this process is known only here. A script in Redis queues the variant that
    replaces a failed request, so that a killed process cannot lose it.

    :param encode: returns the identifier of a rescue in :mod:`.scripts`, and the rescue as it is
        stored in the queue.
    """

    def __init__(
        self,
        fetch: Callable[[bytes, Request], bool],
        frontier: Frontier,
        encode: Callable[[Request], tuple[str, bytes]],
        **bounds: Any,
    ) -> None:
        super().__init__(fetch, **bounds)
        self._frontier = frontier
        self._encode = encode
        self._most: int = bounds["max_waiting"]
        # Two generations, and two fields for each page.
        self._half: int = max(2, bounds["max_pages"])
        self._callbacks: dict[Hashable, None] = {}
        self._keys = (frontier.queue, frontier.seen, frontier.lives)

    @property
    def waiting(self) -> Iterator[Request]:
        """Nothing: the variants that wait are in Redis, and stay there."""
        return iter(())

    def is_had(self, page: bytes) -> bool:
        """Tell whether any callback has had *page*, in any process."""
        return super().is_had(page) or not _HAD.isdisjoint(self._states_of_all(page))

    def is_missed(self, page: bytes) -> bool:
        """Tell whether all requests for *page* ended without content, in all processes."""
        return super().is_missed(page) and _NOT_MISSED.isdisjoint(self._states_of_all(page))

    def _states_of_all(self, page: bytes) -> list[bytes]:
        """Return the states of *page* in Redis, for all callbacks that this process knows."""
        arguments = (page.hex(), *map(str, self._callbacks))
        return self._frontier.ask(scripts.STATES, (self._frontier.lives,), arguments) or []

    def confirmed(self, page: bytes, callback: Hashable) -> None:
        """Note and publish that *callback* has had *page*, or what it led to, without raising."""
        super().confirmed(page, callback)
        state = self.state(page, callback)
        if state is State.HAD:
            self._tell(page, callback, "h")
        elif state is State.ELSEWHERE:
            self._tell(page, callback, "e")

    def raised(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback*, which got *page* for the first time, raised an exception."""
        super().raised(page, callback)
        if self.state(page, callback) is not State.HAD:
            self._tell(page, callback, "r")

    def cut_off(self, page: bytes, callback: Hashable) -> None:
        """Note that *page* is needed again: what came of it may not be all, or no page."""
        super().cut_off(page, callback)
        if self.state(page, callback) is not State.EXPECTED:
            self._tell(page, callback, "r")

    def asked_again(self, page: bytes, callback: Hashable, step: tuple[bytes, Hashable]) -> bool:
        """Note that *callback* asks for *page* by a second step; return as the base class does.

        Ignored if the step is for another page or callback: another process may get the response,
        and this one would never know.
        """
        return step == (page, callback) and super().asked_again(page, callback, step)

    def ended(self, page: bytes, callback: Hashable) -> None:
        """Note that a request of *callback* for *page* ended without content."""
        super().ended(page, callback)
        if self.state(page, callback) not in GOT:
            self._tell(page, callback, "m")

    def dropped(self, page: bytes, callback: Hashable, url: str, request: Request) -> Fate:
        """Decide on *request*, dropped as a duplicate of *page*: keep, fetch or forget it."""
        if self.state(page, callback) is State.HAD:
            # Known here, so that Redis is not asked for each repeated link.
            return Fate.FORGOTTEN
        try:
            fingerprint, value = self._encode(request)
        except ValueError:
            # It cannot be stored in the queue, and waits in this process.
            return super().dropped(page, callback, url, request)
        self._callbacks[callback] = None
        arguments = (page.hex(), str(callback), fingerprint, value, self._most, self._half, KEPT)
        fate = self._frontier.tell(
            scripts.DROPPED, self._keys, (self._frontier.prefix, self._frontier.kind, *arguments)
        )
        if fate == b"full":
            self._waiting.given_up += 1
            return Fate.FORGOTTEN
        if fate == b"had":
            self.got(page, callback)
            super().confirmed(page, callback)
        return _FATES[fate.decode()] if fate else Fate.WAITS

    def redirected(self, page: bytes, callback: Hashable, sources: Mapping[bytes, bool]) -> None:
        """Note that requests for *sources* were redirected to *page* and dropped there."""
        for source, is_same in sources.items():
            if source == page:
                self.ended(source, callback)
                continue
            arguments = (page.hex(), str(callback), source.hex(), int(is_same))
            state = self._frontier.ask(
                scripts.REDIRECTED, (self._frontier.lives,), (self._frontier.prefix, *arguments)
            )
            if state != b"w":
                # Without an answer, the source is to be rescued.
                self._share_fate(source, callback, state or b"m", is_same=is_same)

    def release_all(self) -> int:
        """Queue one variant of each page for which any waits; return how many were queued."""
        arguments = (self._frontier.prefix, self._frontier.kind, self._half, KEPT)
        sent: int = self._frontier.run(scripts.RELEASE, self._keys, arguments)
        return sent

    def _share_fate(
        self, source: bytes, callback: Hashable, state: bytes, *, is_same: bool
    ) -> None:
        if state == b"m":
            self.ended(source, callback)
        else:
            (self.got if is_same and state == b"h" else self.led)(source, callback)
            self.confirmed(source, callback)

    def _tell(self, page: bytes, callback: Hashable, state: str) -> None:
        is_recorded = int(self._is_recorded(page))
        arguments = (page.hex(), str(callback), state, is_recorded, self._half, KEPT)
        found = self._frontier.tell(
            scripts.OUTCOME, self._keys, (self._frontier.prefix, self._frontier.kind, *arguments)
        )
        if not found:
            return
        state_now, sources = found
        for source, is_same in zip(sources[::2], sources[1::2], strict=True):
            self._share_fate(
                bytes.fromhex(source.decode()),
                callback,
                state_now,
                is_same=is_same == b"1",
            )
