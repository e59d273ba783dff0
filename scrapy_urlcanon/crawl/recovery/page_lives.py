"""The life of a page: who waits for it, who has had it, and what is to be fetched next.

Everything that moves a state stands in this file, and what moves it where in :mod:`.page_states`.
It knows no Scrapy: a page is a key (the fingerprint that all its URLs share), who asks for it is a
name (that of a callback), and a request is whatever it is.

Rules
=====
1. A page is *given* to a callback when the callback gets content of it, and *had* when that is done
   and did not raise: not when it was downloaded, and not when another callback had it. Each pair of
   page and callback has a state.
2. The duplicate filter *recorded* one request for the page, and drops all others. Until that one is
   on its way nothing is known of the page, and dropped variants wait for it.
3. A dropped variant is kept while its callback has not had the page. It waits while a request is on
   its way, or a callback at work. If that ends without the page, the variant is fetched.
4. A page whose request redirects to another page shares the fate of that: it is had when the other
   is had, and missed when the other is missed.
5. One URL of a page may redirect to another page, or answer with an error or a redirect that the
   spider handles. That does not say that all its URLs do. So the next dropped variant is fetched,
   until a second URL has done the same, or one has brought the page.

States and events
=================
:data:`.TRANSITIONS` is the whole of it, and :data:`.DROPPED` says what becomes of a dropped variant
in each state. ``docs/how-nothing-is-lost.md`` draws both. The states are moved through the methods
of :class:`PageLives`, and by nobody else.
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
"""What is known of a page is one number: this bit for whether the recorded request is or was on its
way, and two bits for the state of each callback."""


class PageLives(Generic[R]):
    """The lives of the pages of a crawl.

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

    :param fetch: schedules a dropped request for a page, and tells whether the scheduler took it.
    :param max_pages: of how many pages it is remembered who has had them, at least half and at
        most all.
    :param max_waiting: as of :class:`.WaitingPages`, as are *max_bytes* and *parts*.
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
        # With one callback, as usual, the numbers are so small that Python has each only once.
        self._known: BoundedMapping[bytes, int] = BoundedMapping(max_pages)
        self._places: dict[Hashable, int] = {}
        self._on_their_way: dict[bytes, dict[Hashable, int]] = {}
        self._checked: set[tuple[bytes, Hashable]] = set()
        self._given: set[tuple[bytes, Hashable]] = set()
        # By page and callback: the second steps that a callback asked for while it is at work.
        self._asking: dict[tuple[bytes, Hashable], SecondSteps] = {}
        self.sends = 0
        """How many requests were sent so far: each has its number, the later the higher."""
        self._waiting = WaitingPages[R](max_waiting, max_bytes, parts)

    def state(self, page: bytes, callback: Hashable) -> State:
        """Return what *callback* knows of *page*."""
        known = State((self._known.get(page) or 0) >> self._place(callback) & 3)
        if known is State.HAD:
            return State.GIVEN if (page, callback) in self._given else known
        if known is State.ELSEWHERE:
            return State.CHECKED if (page, callback) in self._checked else known
        return State.EXPECTED if callback in self._on_their_way.get(page, ()) else known

    def is_had(self, page: bytes) -> bool:
        """Tell whether any callback has had *page*, or what it led to."""
        return not CONTENT.isdisjoint(self._states(page))

    def is_missed(self, page: bytes) -> bool:
        """Tell whether all requests for *page* ended, and none brought content to any callback.

        False as long as the request that the duplicate filter recorded was not sent.
        """
        is_to_come = page in self._on_their_way or not self._is_recorded(page)
        return not is_to_come and set(self._states(page)) == {State.MISSED}

    def awaits(self, page: bytes, callback: Hashable) -> bool:
        """Tell whether a request of *callback* for *page* is on its way, or waits to be sent.

        It waits to be sent if it was dropped for the request of another callback.
        """
        state, waiting = self.state(page, callback), self._waiting.get(page)
        is_next = state is State.UNKNOWN and waiting is not None and callback in waiting.variants
        return is_next or state in ON_THEIR_WAY

    @property
    def callbacks(self) -> tuple[Hashable, ...]:
        """All callbacks that have asked for any page."""
        return tuple(self._places)

    @property
    def waiting(self) -> Iterator[R]:
        """The dropped requests that wait, those of one page in the order in which they came."""
        return self._waiting.requests()

    @property
    def given_up(self) -> int:
        """How many variants were forgotten while they waited, for lack of room."""
        return self._waiting.given_up

    def sent(self, page: bytes, callback: Hashable, *, is_recorded: bool = True) -> None:
        """Note that a request of *callback* for *page* is on its way.

        :param is_recorded: whether it is the one that the duplicate filter recorded, and not one
            that it never sees (``dont_filter``, a download within a callback).
        """
        if is_recorded:
            self._known[page] = (self._known.get(page) or 0) | _RECORDED
        self._move(page, callback, Event.SENT)

    def got(self, page: bytes, callback: Hashable) -> bool:
        """Note that *callback* gets content of *page*; tell whether it is for the first time.

        Variants go on waiting until it is :meth:`confirmed` that the callback did not raise.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.GOT)
        return is_new

    def led(self, page: bytes, callback: Hashable) -> bool:
        """Note that a request for *page* led to another page, which *callback* gets in its place.

        :return: whether it has not got *page* itself.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.LED)
        return is_new

    def rename(self, page: bytes, new: bytes) -> None:
        """Know *page* by its new fingerprint, with all that is on its way and waits for it.

        If *new* is known already, the two are one page from now on.
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
        """Note that what *callback* has had, or is at work on, is *new*, not *page*: they are two.

        Return the variants that waited for it to be done, since each may be for either page.
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
        """Tell whether any callback has had content of *page* itself."""
        return State.HAD in self._states(page)

    def _united(self, known: int, other: int) -> int:
        """Return what is known of a page that was two: where they disagree, the first counts."""
        known |= other & _RECORDED
        for place in self._places.values():
            if not known >> place & 3:
                known |= other & 3 << place
        return known

    def confirmed(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback* is done with what it got for *page*, and did not raise.

        Variants that wait are forgotten if it got the page itself. Else one of them is fetched.
        """
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.CONFIRMED)
        if self.state(page, callback) is State.HAD:
            self._waiting.withdraw_all(page, callback)

    def withdraw(self, page: bytes, callback: Hashable, url: str) -> None:
        """Have no request for *url* wait for *page*: one for it has ended."""
        self._waiting.withdraw(page, callback, url)

    def raised(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback*, which got *page* for the first time, raised an exception."""
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.RAISED)

    def cut_off(self, page: bytes, callback: Hashable) -> None:
        """Note that the depth limit cut off links of *page*, so that *callback* needs it again."""
        self._move(page, callback, Event.CUT_OFF)

    def asked_again(self, page: bytes, callback: Hashable, step: tuple[bytes, Hashable]) -> bool:
        """Note that *callback*, at work on *page*, asks for it by a second step.

        The callback has not had the page until all its second steps have come, since its items may
        come of these, and they may fail.

        :param step: the page and the callback of that request. Both may be others: it may send a
            form, or have another callback take what a browser makes of the page.
        :return: whether the page counts as not had for now.
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
        """Tell whether *callback* has second steps for *page*, and may still be at work."""
        return (page, callback) in self._asking

    def ended(self, page: bytes, callback: Hashable) -> None:
        """Note that a request of *callback* for *page* ended, and brought it nothing."""
        self._move(page, callback, Event.ENDED)

    def dropped(self, page: bytes, callback: Hashable, url: str, request: R) -> Fate:
        """Take *request* for *url*, dropped as a duplicate of *page*; return what becomes of it."""
        known = self._known.get(page)
        if known is not None:
            # Set anew, so that pages that are linked again are forgotten last.
            self._known[page] = known
        fate = DROPPED[self.state(page, callback)]
        if fate is Fate.FETCHED and not self._is_recorded(page):
            # It was dropped for a request that is not on its way yet.
            fate = Fate.WAITS
        if fate is Fate.WAITS:
            self._waiting.add(page, callback, url, request)
        elif fate is Fate.FETCHED and not self._send(page, callback, request):
            return Fate.FORGOTTEN
        return fate

    def redirected(self, page: bytes, callback: Hashable, sources: Mapping[bytes, bool]) -> None:
        """Note that requests for *sources* were redirected to *page*, and dropped there.

        These pages share the fate of *page*. One that was redirected to itself brings nothing.

        :param sources: each with whether it counts as had when *page* is. If not, it counts as one
            URL that led elsewhere: another URL of that page may not be redirected.
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
        """End the requests that are on their way and will not come, since the crawl is idle.

        A middleware may let a request vanish, so that no signal says that it has ended.

        :param sends: the value of :attr:`sends` when the crawl was idle: later ones may yet come.
        """
        for page, callbacks in tuple(self._on_their_way.items()):
            for callback, number in tuple(callbacks.items()):
                if number <= sends:
                    self.ended(page, callback)

    def release(self) -> None:
        """Send variants that wait for a recorded request which was not sent, and never will be."""
        for page in tuple(self._waiting):
            if page in self._waiting and not self._is_recorded(page):
                self._known[page] = (self._known.get(page) or 0) | _RECORDED
                for callback in tuple(self._waiting.of(page).variants):
                    self._move(page, callback, Event.ENDED)

    def _move(self, page: bytes, callback: Hashable, event: Event) -> None:
        """Move the state of a page for a callback, then those of the pages that share its fate."""
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
                # It came by way of another page: no callback is at work on it that might raise.
                self.confirmed(page, callback)

    def _settle(
        self, page: bytes, callback: Hashable, event: Event
    ) -> Iterator[tuple[bytes, Hashable, Event]]:
        """Send the variants that need not wait any longer; yield the moves that follow."""
        state = self.state(page, callback)
        # One for each callback: for this one if its request has ended, and for others now that it
        # is known that theirs were dropped for the request of this one.
        for other in tuple(self._waiting.of(page).variants) if self._is_recorded(page) else ():
            # After LED this callback is at work: its next variant is sent when it is confirmed.
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
        """Have *request* fetched; return False if the scheduler had this very URL before."""
        if not self._fetch(page, request):
            return False
        self._set(page, callback, Event.ASKED)
        return True

    def _states(self, page: bytes) -> Iterator[State]:
        """Yield the states of *page* that are known, of any callback."""
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
        """Set the state of *page* for *callback*, and the bits of *more*."""
        place = self._place(callback)
        known = (self._known.get(page) or 0) & ~(3 << place)
        self._known[page] = known | state.value << place | more

    def _set(self, page: bytes, callback: Hashable, event: Event) -> None:
        """Move one state."""
        before = self.state(page, callback)
        state = TRANSITIONS[before][event]
        if event in {Event.CONFIRMED, Event.AGAIN}:
            self._given.discard((page, callback))
        is_kept = event in {Event.AGAIN, Event.CUT_OFF} and state is before
        if event is Event.CONFIRMED or is_kept:
            return
        if event is Event.AGAIN:
            # It does not have all of the page.
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
