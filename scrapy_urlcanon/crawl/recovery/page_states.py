"""Defines the life of a page for one callback: its states, the events, and the transition tables.

Plain data; :class:`.PageLives` applies it. A *page* is known by the fingerprint that all its URLs
share. Each callback of the spider has a state of its own for each page, since what one callback got
is no use to another.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class State(enum.Enum):
    """What a callback has got of a page so far."""

    UNKNOWN = 0
    """The callback has not asked for the page, or that is forgotten."""
    HAD = 1
    """The callback got the content and returned without an exception."""
    GIVEN = 6
    """The callback is processing the content and may still raise an exception."""
    MISSED = 2
    """Every request for it that ended brought nothing."""
    EXPECTED = 4
    """A request for it is on its way."""
    ELSEWHERE = 3
    """One of its URLs gave another page, an error or a redirect, and the callback got that
    instead."""
    CHECKED = 5
    """As ELSEWHERE, while a request for another of its URLs is on its way."""

    # ``Enum.__hash__`` is a Python function, and each page takes some 30 lookups in the tables.
    __hash__ = object.__hash__


class Event(enum.Enum):
    """What happens to the requests of a callback for a page."""

    SENT = "sent"
    """A request for it was sent."""
    ASKED = "asked"
    """A variant of it, dropped before, was sent as a rescue."""
    GOT = "got"
    """The callback is given its content."""
    LED = "led"
    """A request for it gave another page, an error or a redirect, and the callback is given
    that."""
    RAISED = "raised"
    """The callback that was given it raised an exception."""
    CUT_OFF = "cut off"
    """It is linked at a smaller depth than before, and the depth limit may have cut off its links.
    Or only errors came in its place, and an audit has nothing to compare with."""
    CONFIRMED = "confirmed"
    """The callback that was given it returned without an exception."""
    AGAIN = "again"
    """The callback that is processing it yields a second step for it, such as a form to send."""
    ENDED = "ended"
    """A request for it ended, and the callback got no content."""

    __hash__ = object.__hash__


class Fate(enum.Enum):
    """What is done with a dropped variant."""

    FORGOTTEN = "forgotten"
    WAITS = "left waiting"
    FETCHED = "fetched"


_WITHOUT_CONTENT = {
    Event.SENT: State.EXPECTED,
    Event.ASKED: State.EXPECTED,
    Event.GOT: State.GIVEN,
    Event.LED: State.ELSEWHERE,
    Event.RAISED: State.MISSED,
    Event.ENDED: State.MISSED,
}
_CHANGES: Mapping[State, Mapping[Event, State]] = {
    **dict.fromkeys((State.UNKNOWN, State.EXPECTED, State.MISSED), _WITHOUT_CONTENT),
    State.GIVEN: {
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
        Event.CONFIRMED: State.HAD,
        Event.AGAIN: State.EXPECTED,
    },
    # An exception was raised on another response than the one that brought the page.
    State.HAD: {Event.CUT_OFF: State.MISSED},
    # What is sent may be the URL that led elsewhere before.
    State.ELSEWHERE: {
        Event.ASKED: State.CHECKED,
        Event.GOT: State.GIVEN,
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
    },
    State.CHECKED: {
        Event.GOT: State.GIVEN,
        Event.LED: State.GIVEN,
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
        Event.ENDED: State.ELSEWHERE,
    },
}
"""By state, the events that change it, and what it becomes."""

TRANSITIONS: Final[Mapping[State, Mapping[Event, State]]] = {
    state: {event: changes.get(event, state) for event in Event}
    for state, changes in _CHANGES.items()
}
"""The next state, by state and event."""

DROPPED: Final[Mapping[State, Fate]] = {
    # The recorded request was for another callback, and none is on its way for this one.
    State.UNKNOWN: Fate.FETCHED,
    State.EXPECTED: Fate.WAITS,
    State.GIVEN: Fate.WAITS,
    State.HAD: Fate.FORGOTTEN,
    State.MISSED: Fate.FETCHED,
    State.ELSEWHERE: Fate.FETCHED,
    State.CHECKED: Fate.WAITS,
}
"""What is done with a dropped variant by the state of its page. It applies once the request that
the duplicate filter recorded has been sent."""

BRINGS_NOTHING: Final = frozenset({State.UNKNOWN, State.MISSED})
"""The states in which the callback has nothing of the page and no request for it is on its way."""

CONTENT: Final = frozenset({State.GIVEN, State.HAD, State.ELSEWHERE, State.CHECKED})
"""The states in which the callback got content of the page, or what a URL of it gave instead."""

ON_THEIR_WAY: Final = frozenset({State.EXPECTED, State.CHECKED})
"""The states in which a request of the callback for the page is on its way."""

GOT: Final = frozenset({State.GIVEN, State.HAD})
"""The states in which the callback got content of the page itself."""

LED: Final = CONTENT - GOT
"""The states in which the callback got only what a URL of the page gave instead."""
