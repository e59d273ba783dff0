"""Tracks the life of each page: who waits for it, who has had it, and what is to be fetched next.

All changes of state are made in this file, by the tables of :mod:`.page_states`. It does not depend
on Scrapy: a page is a key (the fingerprint that all its URLs share), a callback is a name, and a
request is any object. :class:`.PageRequests` connects it to a crawl.

Rules
=====
1. A page is *given* to a callback when the callback gets its content, and *had* when the callback
   has returned without an exception. That a page was downloaded, or had by another callback, does
   not count: each pair of page and callback has a state of its own.
2. The duplicate filter *recorded* one request for the page, and drops all others. Until that one is
   sent, nothing is known about the page, and dropped variants wait.
3. A dropped variant is kept until its callback has had the page. It waits while a request is on its
   way or the callback is at work. If that ends without the page, the variant is fetched.
4. A page whose request was redirected to another page shares the fate of that page: it is had when
   that one is had, and missed when that one is missed.
5. One URL of a page may redirect to another page, or give an error or a redirect that the spider
   handles, although its other URLs do not. So the next dropped variant is fetched, until a second
   URL has done the same or one has brought the page.

States and events
=================
:data:`.TRANSITIONS` gives the next state for each event, and :data:`.DROPPED` says what is done
with a dropped variant in each state. ``docs/how-nothing-is-lost.md`` draws both. Only the methods
of :class:`PageLives` change a state.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.recovery.page_states import (
    BRINGS_NOTHING,
    CONTENT,
    DROPPED,
    GOT,
    ON_THEIR_WAY,
    TRANSITIONS,
    Event,
    Fate,
    State,
)
from scrapy_urlcanon.crawl.recovery.waiting import SecondSteps, WaitingPages

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping


R = TypeVar("R")

_RECORDED = 1
"""All that is known of a page is one integer: this bit is set once the recorded request has been
sent, and each callback has two bits above it for its state."""


class PageLives(Generic[R]):
    """The states of all pages of a crawl, and the dropped variants that wait for them.

    >>> fetched = []
    >>> lives = PageLives(lambda page, request: not fetched.append(request))
    >>> lives.sent(b"page", "parse")
    >>> lives.dropped(b"page", "parse", "/?sid=2", "the request")
    <Fate.WAITS: 'left waiting'>
    >>> lives.ended(b"page", "parse")
    >>> fetched, lives.state(b"page", "parse")
    (['the request'], <State.EXPECTED: 4>)
    >>> lives.got(b"page", "parse")
    True
    >>> lives.confirmed(b"page", "parse")
    >>> lives.state(b"page", "parse")
    <State.HAD: 1>

    :param fetch: schedules a dropped request for a page; returns whether the scheduler took it.
    :param max_pages: how many pages are remembered. The oldest are forgotten, down to half of this
        number, when it is exceeded.
    :param max_waiting: see :class:`.WaitingPages`, as for *max_bytes* and *parts*.
    """

    def __init__(
        self,
        fetch: Callable[[bytes, R], bool],
        *,
        max_pages: int = 2_000_000,
        max_waiting: int = 100_000,
        max_bytes: int = 100_000_000,
        parts: Callable[[R], Iterable[object]] = lambda request: (request,),
    ) -> None:
        self._fetch = fetch
        # With one callback, the usual case, the integers are so small that CPython shares them.
        self._known: BoundedMapping[bytes, int] = BoundedMapping(max_pages)
        self._places: dict[Hashable, int] = {}
        self._on_their_way: dict[bytes, dict[Hashable, int]] = {}
        self._checked: set[tuple[bytes, Hashable]] = set()
        self._given: set[tuple[bytes, Hashable]] = set()
        # By page and callback: the second steps that the callback asked for while at work on the
        # page.
        self._asking: dict[tuple[bytes, Hashable], SecondSteps] = {}
        self.sends = 0
        """How many requests were sent so far. Each request on its way has its number in this
        count."""
        self._waiting = WaitingPages[R](max_waiting, max_bytes, parts)

    def state(self, page: bytes, callback: Hashable) -> State:
        """Return the state of *page* for *callback*."""
        known = State((self._known.get(page) or 0) >> self._place(callback) & 3)
        if known is State.HAD:
            return State.GIVEN if (page, callback) in self._given else known
        if known is State.ELSEWHERE:
            return State.CHECKED if (page, callback) in self._checked else known
        return State.EXPECTED if callback in self._on_their_way.get(page, ()) else known

    def is_had(self, page: bytes) -> bool:
        """Tell whether any callback got content of *page*, or what a URL of it gave instead."""
        return not CONTENT.isdisjoint(self._states(page))

    def is_missed(self, page: bytes) -> bool:
        """Tell whether all requests for *page* ended without content for any callback.

        False until the request that the duplicate filter recorded has been sent.
        """
        is_to_come = page in self._on_their_way or not self._is_recorded(page)
        return not is_to_come and set(self._states(page)) == {State.MISSED}

    def awaits(self, page: bytes, callback: Hashable) -> bool:
        """Tell whether *callback* may still get *page*.

        Either a request is on its way, or one is waiting that was dropped for another callback's
        request.
        """
        state, waiting = self.state(page, callback), self._waiting.get(page)
        is_next = state is State.UNKNOWN and waiting is not None and callback in waiting.variants
        return is_next or state in ON_THEIR_WAY

    @property
    def callbacks(self) -> tuple[Hashable, ...]:
        """The names of all callbacks that have asked for any page."""
        return tuple(self._places)

    @property
    def waiting(self) -> Iterator[R]:
        """The dropped requests that wait, for each page in the order in which they came."""
        return self._waiting.requests()

    @property
    def given_up(self) -> int:
        """How many waiting variants were forgotten for lack of room."""
        return self._waiting.given_up

    def sent(self, page: bytes, callback: Hashable, *, is_recorded: bool = True) -> None:
        """Note that a request of *callback* for *page* was sent.

        :param is_recorded: whether it is the request that the duplicate filter recorded. Requests
            with ``dont_filter`` and downloads within a callback bypass the filter.
        """
        if is_recorded:
            self._known[page] = (self._known.get(page) or 0) | _RECORDED
        self._move(page, callback, Event.SENT)

    def got(self, page: bytes, callback: Hashable) -> bool:
        """Note that *callback* is given content of *page*.

        Variants go on waiting until :meth:`confirmed` says that the callback did not raise.

        :return: whether this is the first time.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.GOT)
        return is_new

    def led(self, page: bytes, callback: Hashable) -> bool:
        """Note that a request for *page* gave something else, which *callback* is given instead.

        :return: whether *callback* has not got *page* itself.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.LED)
        return is_new

    def rename(self, page: bytes, new: bytes) -> None:
        """Replace the fingerprint of *page* by *new*, for all requests on their way and waiting.

        If *new* is already known, the two become one page.
        """
        known, of_new = self._known.pop(page), self._known.get(new)
        if known:
            self._known[new] = self._united(of_new or 0, known)
        if page in self._on_their_way:
            on_their_way = self._on_their_way.setdefault(new, {})
            for callback, number in self._on_their_way.pop(page).items():
                on_their_way[callback] = max(number, on_their_way.get(callback, 0))
        for pairs in (self._checked, self._given):
            for old in [pair for pair in pairs if pair[0] == page]:
                pairs.remove(old)
                pairs.add((new, old[1]))
        for old in [pair for pair in self._asking if pair[0] == page]:
            self._asking[new, old[1]] = self._asking.pop(old)
        if page in self._waiting:
            self._waiting.rename(page, new)
            for callback in tuple(self._waiting.of(new).variants):
                if self.state(new, callback) is not State.GIVEN:
                    self.confirmed(new, callback)

    def split(self, page: bytes, callback: Hashable, new: bytes) -> list[R]:
        """Note that what *callback* got is *new*, which a rule had wrongly merged with *page*.

        :return: the variants that waited for the callback to finish, since each may be of either
            page.
        """
        state, waiting = self.state(page, callback), self._waiting.get(page)
        if state not in GOT:
            return []
        self._know(page, callback, State.UNKNOWN)
        self._know(new, callback, State.HAD, _RECORDED)
        if state is State.GIVEN:
            self._given.remove((page, callback))
            self._given.add((new, callback))
        waited = [*waiting.variants.get(callback, {}).values()] if waiting else []
        self._waiting.withdraw_all(page, callback)
        return waited

    def is_got(self, page: bytes) -> bool:
        """Tell whether any callback has got content of *page* itself."""
        return State.HAD in self._states(page)

    def _united(self, known: int, other: int) -> int:
        """Return what is known of two pages that became one; *known* wins where they disagree."""
        known |= other & _RECORDED
        for place in self._places.values():
            if not known >> place & 3:
                known |= other & 3 << place
        return known

    def confirmed(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback* returned without an exception from what it was given for *page*.

        If that was the page itself, the waiting variants are forgotten. Otherwise the next one is
        fetched.
        """
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.CONFIRMED)
        if self.state(page, callback) is State.HAD:
            self._waiting.withdraw_all(page, callback)

    def withdraw(self, page: bytes, callback: Hashable, url: str) -> None:
        """Remove the variant with this *url* that waits: a request for that URL has ended."""
        self._waiting.withdraw(page, callback, url)

    def raised(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback* raised an exception when it was given *page* for the first time."""
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.RAISED)

    def cut_off(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback* needs *page* again: what it got of it may not be all, or no page."""
        self._move(page, callback, Event.CUT_OFF)

    def asked_again(self, page: bytes, callback: Hashable, step: tuple[bytes, Hashable]) -> bool:
        """Note that *callback*, at work on *page*, asks for it again by a second step.

        The callback counts as having the page only when all its second steps have come: its items
        may depend on them, and they may fail.

        :param step: the page and callback of the second step. They may differ from *page* and
            *callback*: a form is sent to another URL, or a rendered copy of the page is given to
            another callback.
        :return: whether the page counts as not had until the second steps have come.
        """
        is_other = step != (page, callback)
        is_had = is_other and self.state(*step) in {State.HAD, State.ELSEWHERE}
        is_first = self.state(page, callback) is State.GIVEN
        steps = SecondSteps() if is_first else self._asking.get((page, callback))
        if is_had or steps is None or not (is_first or (is_other and steps.left)):
            return False
        if is_first:
            self._move(page, callback, Event.AGAIN)
        if is_other:
            self._asking[page, callback] = steps
            before = self._waiting.of(step[0]).sources
            steps.left += before.get((page, callback, step[1])) is not steps
            before[page, callback, step[1]] = steps
        return is_first

    def is_asking(self, page: bytes, callback: Hashable) -> bool:
        """Tell whether *callback* has second steps for *page* and may still be at work."""
        return (page, callback) in self._asking

    def ended(self, page: bytes, callback: Hashable) -> None:
        """Note that a request of *callback* for *page* ended without content."""
        self._move(page, callback, Event.ENDED)

    def dropped(self, page: bytes, callback: Hashable, url: str, request: R) -> Fate:
        """Keep, fetch or forget *request* for *url*, dropped as a duplicate of *page*."""
        known = self._known.get(page)
        if known is not None:
            # Assigned again so that the bounded mapping forgets this page last.
            self._known[page] = known
        fate = DROPPED[self.state(page, callback)]
        if fate is Fate.FETCHED and not self._is_recorded(page):
            # The request that it was dropped for has not been sent yet.
            fate = Fate.WAITS
        if fate is Fate.WAITS:
            self._waiting.add(page, callback, url, request)
        elif fate is Fate.FETCHED and not self._send(page, callback, request):
            return Fate.FORGOTTEN
        return fate

    def redirected(self, page: bytes, callback: Hashable, sources: Mapping[bytes, bool]) -> None:
        """Note that requests for *sources* were redirected to *page* and dropped there.

        These pages share the fate of *page*. A page that was redirected to itself brings nothing.

        :param sources: for each page whether it counts as had when *page* is. If not, it counts as
            one URL that led elsewhere, since another URL of that page may not be redirected.
        """
        state = self.state(page, callback)
        for source, is_same in sources.items():
            if source == page or (state in BRINGS_NOTHING and self._is_recorded(page)):
                self.ended(source, callback)
            elif state is State.GIVEN or state not in CONTENT:
                self._waiting.of(page).sources[source, callback, callback] = is_same
            elif (self.got if is_same and state is State.HAD else self.led)(source, callback):
                self.confirmed(source, callback)

    def end_all(self, sends: int) -> None:
        """End the requests that are still on their way although the crawl is idle.

        A middleware may discard a request without any signal.

        :param sends: the value of :attr:`sends` when the crawl became idle. Requests sent since are
            left alone.
        """
        for page, callbacks in tuple(self._on_their_way.items()):
            for callback, number in tuple(callbacks.items()):
                if number <= sends:
                    self.ended(page, callback)

    def release(self) -> None:
        """Fetch variants of pages whose recorded request was never sent, and now never will be."""
        for page in tuple(self._waiting):
            if page in self._waiting and not self._is_recorded(page):
                self._known[page] = (self._known.get(page) or 0) | _RECORDED
                for callback in tuple(self._waiting.of(page).variants):
                    self._move(page, callback, Event.ENDED)

    def _move(self, page: bytes, callback: Hashable, event: Event) -> None:
        """Apply *event* to a page and callback, then to all pages that share its fate."""
        moves = deque([(page, callback, event)])
        first = page, callback
        while moves:
            page, callback, event = moves.popleft()
            is_given = self.state(page, callback) is State.GIVEN
            is_at_work = is_given or (page, callback) in self._asking
            self._set(page, callback, event)
            if page in self._waiting:
                moves += self._settle(page, callback, event)
            if (page, callback) != first and event in {Event.GOT, Event.LED} and not is_at_work:
                # It was given through another page, so no callback is at work on it that might
                # raise.
                self.confirmed(page, callback)

    def _settle(
        self, page: bytes, callback: Hashable, event: Event
    ) -> Iterator[tuple[bytes, Hashable, Event]]:
        """Fetch variants that need not wait any longer; yield events for dependent pages."""
        state = self.state(page, callback)
        # At most one for each callback. For this one, because its request may have ended; for
        # others, because it is now known that theirs were dropped for this callback's request.
        for other in tuple(self._waiting.of(page).variants) if self._is_recorded(page) else ():
            # After LED this callback is at work, and its next variant is fetched when that is
            # confirmed.
            is_settled = event is not Event.LED or other != callback
            if is_settled and DROPPED[self.state(page, other)] is Fate.FETCHED:
                self._send_next(page, other)
        if state not in {State.EXPECTED, State.GIVEN}:
            sources = self._waiting.of(page).sources
            for key in [key for key in sources if key[2] == callback]:
                share, is_had = sources.pop(key), state in CONTENT
                if isinstance(share, SecondSteps):
                    its = share.ended(has_come=is_had)
                else:
                    had = Event.GOT if share and state in GOT else Event.LED
                    its = had if is_had else Event.ENDED
                if its:
                    yield key[0], key[1], its
        self._waiting.forget_if_empty(page)

    def _send_next(self, page: bytes, callback: Hashable) -> None:
        while request := self._waiting.take(page, callback):
            if self._send(page, callback, request):
                break

    def _send(self, page: bytes, callback: Hashable, request: R) -> bool:
        """Have *request* fetched; return False if this very URL was seen before."""
        if not self._fetch(page, request):
            return False
        self._set(page, callback, Event.ASKED)
        return True

    def _states(self, page: bytes) -> Iterator[State]:
        """Yield the stored states of *page*, without those of callbacks that never asked for it."""
        known = (self._known.get(page) or 0) >> 1
        while known:
            if known & 3:
                yield State(known & 3)
            known >>= 2

    def _is_recorded(self, page: bytes) -> bool:
        return bool((self._known.get(page) or 0) & _RECORDED)

    def _place(self, callback: Hashable) -> int:
        place = self._places.get(callback)
        if place is None:
            place = self._places[callback] = 1 + 2 * len(self._places)
        return place

    def _know(self, page: bytes, callback: Hashable, state: State, more: int = 0) -> None:
        """Store the state of *page* for *callback*, and set the bits of *more*."""
        place = self._place(callback)
        known = (self._known.get(page) or 0) & ~(3 << place)
        self._known[page] = known | state.value << place | more

    def _set(self, page: bytes, callback: Hashable, event: Event) -> None:
        """Apply *event* to the state of one page and callback, without consequences for others."""
        before = self.state(page, callback)
        state = TRANSITIONS[before][event]
        if event in {Event.CONFIRMED, Event.AGAIN}:
            self._given.discard((page, callback))
        is_kept = event in {Event.AGAIN, Event.CUT_OFF} and state is before
        if event is Event.CONFIRMED or is_kept:
            return
        if event is Event.AGAIN:
            # Until the second steps come, the callback does not have all of the page.
            self._know(page, callback, State.UNKNOWN)
        if event in {Event.SENT, Event.ASKED, Event.AGAIN}:
            self.sends += 1
            self._on_their_way.setdefault(page, {})[callback] = self.sends
            if state is State.CHECKED:
                self._checked.add((page, callback))
            return
        self._checked.discard((page, callback))
        self._given.discard((page, callback))
        if state is State.GIVEN:
            self._given.add((page, callback))
            state = State.HAD
        on_their_way = self._on_their_way.get(page)
        if on_their_way:
            on_their_way.pop(callback, None)
            if not on_their_way:
                del self._on_their_way[page]
        self._know(page, callback, state)
