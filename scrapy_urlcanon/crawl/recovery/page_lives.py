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
   on its way nothing is known of the page, and what is dropped waits for it.
3. A variant that is dropped is not given up while its callback has not had the page. It waits for
   what is on its way or at work, and takes its place when that ends and brought nothing.
4. What redirects to a page shares its fate: it is had when that is, and missed when that is.
5. That one URL of a page redirects to another page, or answers with an error or a redirect that the
   spider handles, does not say that all do. Until a second one of them did, or brought the page, a
   variant that is dropped is fetched.

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
"""Of each page a number: this bit for whether the recorded request is or was on its way, and two
more for the state of each callback."""


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
        # Most pages have one callback, so that their numbers are those that Python keeps anyway.
        self._known: BoundedMapping[bytes, int] = BoundedMapping(max_pages)
        self._places: dict[Hashable, int] = {}
        self._on_their_way: dict[bytes, dict[Hashable, int]] = {}
        self._checked: set[tuple[bytes, Hashable]] = set()
        self._given: set[tuple[bytes, Hashable]] = set()
        # Those that asked for other steps, and are at work still: they may raise once these came.
        self._asking: dict[tuple[bytes, Hashable], SecondSteps] = {}
        self.sends = 0
        """How many requests were on their way so far: what tells the earlier from the later."""
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
        """Tell whether all that was sent for *page* ended, and brought nothing to anybody.

        Not while the request is to come that the duplicate filter recorded.
        """
        is_to_come = page in self._on_their_way or not self._is_recorded(page)
        return not is_to_come and set(self._states(page)) == {State.MISSED}

    def awaits(self, page: bytes, callback: Hashable) -> bool:
        """Tell whether a request of *callback* for *page* is on its way, or waits to be sent.

        Where that was dropped for the request of another callback it is sent after that one.
        """
        state, waiting = self.state(page, callback), self._waiting.get(page)
        is_next = state is State.UNKNOWN and waiting is not None and callback in waiting.variants
        return is_next or state in ON_THEIR_WAY

    @property
    def callbacks(self) -> tuple[Hashable, ...]:
        """Those of which a state is known."""
        return tuple(self._places)

    @property
    def waiting(self) -> Iterator[R]:
        """The dropped requests that wait, those of one page in the order in which they came."""
        return self._waiting.requests()

    @property
    def given_up(self) -> int:
        """How many variants wait no more, for lack of room."""
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

        What waits for the page goes on to wait until it is :meth:`confirmed` that it did not raise.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.GOT)
        return is_new

    def led(self, page: bytes, callback: Hashable) -> bool:
        """Note that a request for *page* led to another one, of which *callback* gets content.

        Return whether it has not had the page itself.
        """
        is_new = self.state(page, callback) not in GOT
        self._move(page, callback, Event.LED)
        return is_new

    def rename(self, page: bytes, new: bytes) -> None:
        """Let *page* be known as *new*, with what is on its way for it and what waits.

        Where *new* is known already the two are one from now on.
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

    def split(self, page: bytes, callback: Hashable, new: bytes) -> None:
        """Let what *callback* has had of *page* be *new*: they are two from now on."""
        if self.state(page, callback) is State.HAD:
            self._know(page, callback, State.UNKNOWN)
            self._know(new, callback, State.HAD, _RECORDED)

    def is_got(self, page: bytes) -> bool:
        """Tell whether any callback has had content of *page* itself."""
        return State.HAD in self._states(page)

    def _united(self, known: int, other: int) -> int:
        """Return what is known of a page that was known as two: of the first, where it is."""
        known |= other & _RECORDED
        for place in self._places.values():
            if not known >> place & 3:
                known |= other & 3 << place
        return known

    def confirmed(self, page: bytes, callback: Hashable) -> None:
        """Settle what waits for *page*, whose content *callback* got, and did not raise.

        It is forgotten; where another page was got one of it is fetched.
        """
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.CONFIRMED)
        if self.state(page, callback) is State.HAD:
            self._waiting.withdraw_all(page, callback)

    def withdraw(self, page: bytes, callback: Hashable, url: str) -> None:
        """Have no request for *url* wait for *page*: such a one has ended."""
        self._waiting.withdraw(page, callback, url)

    def raised(self, page: bytes, callback: Hashable) -> None:
        """Note that *callback*, which got *page* for the first time, raised an exception."""
        self._asking.pop((page, callback), None)
        self._move(page, callback, Event.RAISED)

    def cut_off(self, page: bytes, callback: Hashable) -> None:
        """Note that a limit cut off what *callback* found in *page*: it is to get it again."""
        self._move(page, callback, Event.CUT_OFF)

    def asked_again(self, page: bytes, callback: Hashable, step: tuple[bytes, Hashable]) -> bool:
        """Note that *callback* asks for *page* again; tell whether it has not had it by that.

        So it is if it is at work on its content: what it makes of it comes with that request, which
        may fail, and with all that it asks for after that.

        :param step: the page and the callback of that request, which may be others: it may send a
            form, or have another callback take what a browser makes of the page.
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
        """Tell whether *callback* asked for *page* by other steps, and may be at work still."""
        return (page, callback) in self._asking

    def ended(self, page: bytes, callback: Hashable) -> None:
        """Note that a request of *callback* for *page* ended, and brought it nothing."""
        self._move(page, callback, Event.ENDED)

    def dropped(self, page: bytes, callback: Hashable, url: str, request: R) -> Fate:
        """Take *request* for *url*, dropped as a duplicate of *page*; tell what becomes of it."""
        known = self._known.get(page)
        if known is not None:
            # What is linked again is the last to be forgotten.
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
        """Note that requests for *sources* led to *page*, where the duplicate filter dropped them.

        They share its fate. One that led back to where it came from brings nothing.

        :param sources: and whether that alone says that they do: another URL of *page* than the one
            that was seen before may not have led there.
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
        """End what is on its way and will not come: nothing is downloaded or scraped any more.

        A request ends without a word where a middleware lets it vanish.

        :param sends: the value of :attr:`sends` when that was so; what was sent since is coming.
        """
        for page, callbacks in tuple(self._on_their_way.items()):
            for callback, number in tuple(callbacks.items()):
                if number <= sends:
                    self.ended(page, callback)

    def release(self) -> None:
        """Send what waits for a recorded request that was never on its way, and never will be."""
        for page in tuple(self._waiting):
            if page in self._waiting and not self._is_recorded(page):
                self._known[page] = (self._known.get(page) or 0) | _RECORDED
                for callback in tuple(self._waiting.of(page).variants):
                    self._move(page, callback, Event.ENDED)

    def _move(self, page: bytes, callback: Hashable, event: Event) -> None:
        """Move the state of a page for a callback, and then those of what redirects there."""
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
                # It was had through another page: nothing can be taken back of it.
                self.confirmed(page, callback)

    def _settle(
        self, page: bytes, callback: Hashable, event: Event
    ) -> Iterator[tuple[bytes, Hashable, Event]]:
        """Send what waits and has nothing to wait for; yield the moves that follow."""
        state = self.state(page, callback)
        # One for each callback: this one, where its request ended, and others, where it is now
        # known that they were dropped for a request which is not theirs.
        for other in tuple(self._waiting.of(page).variants) if self._is_recorded(page) else ():
            # That one which led elsewhere did not raise is confirmed later.
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
        """Have *request* fetched; return False where the scheduler had this very URL before."""
        if not self._fetch(page, request):
            return False
        self._set(page, callback, Event.ASKED)
        return True

    def _states(self, page: bytes) -> Iterator[State]:
        """Yield the states of *page*, those that are known, for whatever callback."""
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
        """Know *page* to be in *state* for *callback*, and *more* of it."""
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
            # What it has of it is not all.
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
