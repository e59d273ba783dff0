"""The life of a page for one callback: its states, the events that move it, and the tables."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class State(enum.Enum):
    """What a callback has got of a page."""

    UNKNOWN = 0
    """The callback has not asked for it, or that is forgotten."""
    HAD = 1
    """The callback got its content, is done, and did not raise an exception."""
    GIVEN = 6
    """The callback is at work on its content, and may yet raise an exception."""
    MISSED = 2
    """Every request for it that ended brought nothing."""
    EXPECTED = 4
    """A request for it is on its way."""
    ELSEWHERE = 3
    """One URL of it led to another page, an error or a redirect, which the callback got instead."""
    CHECKED = 5
    """As ELSEWHERE, and a request for another URL of it is on its way."""

    # That of Enum is a function in Python, and each page looks some 30 times into the tables.
    __hash__ = object.__hash__


class Event(enum.Enum):
    """What happens to the requests for a page."""

    SENT = "sent"
    """A request for it is on its way."""
    ASKED = "asked"
    """A request for a dropped variant of it is on its way."""
    GOT = "got"
    """The callback gets content of it."""
    LED = "led"
    """A request for it led to another page, an error or a redirect, which the callback gets."""
    RAISED = "raised"
    """The callback that got it raised an exception."""
    CUT_OFF = "cut off"
    """It is asked for at less depth, and the depth limit had cut off links that it has."""
    CONFIRMED = "confirmed"
    """The callback that got it is done, and did not raise."""
    AGAIN = "again"
    """The callback that is at work on its content asks for it by a second step, such as a form."""
    ENDED = "ended"
    """A request for it ended, and its callback got no content."""

    __hash__ = object.__hash__


class Fate(enum.Enum):
    """What becomes of a dropped variant."""

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
_KEEPS_NOTHING = (Event.CONFIRMED, Event.AGAIN, Event.CUT_OFF)
TRANSITIONS: Final[Mapping[State, Mapping[Event, State]]] = {
    **{
        state: {**_WITHOUT_CONTENT, **dict.fromkeys(_KEEPS_NOTHING, state)}
        for state in (State.UNKNOWN, State.EXPECTED, State.MISSED)
    },
    State.GIVEN: {
        Event.SENT: State.GIVEN,
        Event.ASKED: State.GIVEN,
        Event.GOT: State.GIVEN,
        Event.LED: State.GIVEN,
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
        Event.ENDED: State.GIVEN,
        Event.CONFIRMED: State.HAD,
        Event.AGAIN: State.EXPECTED,
    },
    State.HAD: {
        Event.SENT: State.HAD,
        Event.ASKED: State.HAD,
        Event.GOT: State.HAD,
        Event.LED: State.HAD,
        # It raised on another occasion than that on which it had the page.
        Event.RAISED: State.HAD,
        Event.CUT_OFF: State.MISSED,
        Event.ENDED: State.HAD,
        Event.CONFIRMED: State.HAD,
        Event.AGAIN: State.HAD,
    },
    State.ELSEWHERE: {
        # It may be the same URL as before.
        Event.SENT: State.ELSEWHERE,
        Event.ASKED: State.CHECKED,
        Event.GOT: State.GIVEN,
        Event.LED: State.ELSEWHERE,
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
        Event.ENDED: State.ELSEWHERE,
        Event.CONFIRMED: State.ELSEWHERE,
        Event.AGAIN: State.ELSEWHERE,
    },
    State.CHECKED: {
        Event.SENT: State.CHECKED,
        Event.ASKED: State.CHECKED,
        Event.GOT: State.GIVEN,
        Event.LED: State.GIVEN,
        Event.RAISED: State.MISSED,
        Event.CUT_OFF: State.MISSED,
        Event.ENDED: State.ELSEWHERE,
        Event.CONFIRMED: State.CHECKED,
        Event.AGAIN: State.CHECKED,
    },
}
"""The state that each event leads to."""

DROPPED: Final[Mapping[State, Fate]] = {
    # What was recorded was for another callback, and nothing is on its way for this one.
    State.UNKNOWN: Fate.FETCHED,
    State.EXPECTED: Fate.WAITS,
    State.GIVEN: Fate.WAITS,
    State.HAD: Fate.FORGOTTEN,
    State.MISSED: Fate.FETCHED,
    State.ELSEWHERE: Fate.FETCHED,
    State.CHECKED: Fate.WAITS,
}
"""What becomes of a dropped variant, once the recorded request is or was on its way."""

BRINGS_NOTHING: Final = frozenset({State.UNKNOWN, State.MISSED})
"""The states in which the callback has nothing of the page, and nothing is on its way for it."""

CONTENT: Final = frozenset({State.GIVEN, State.HAD, State.ELSEWHERE, State.CHECKED})
"""The states in which the callback got content of the page, or of what that led to."""

ON_THEIR_WAY: Final = frozenset({State.EXPECTED, State.CHECKED})
"""The states in which a request of the callback for the page has not ended."""

GOT: Final = frozenset({State.GIVEN, State.HAD})
"""The states in which the callback got content of the page itself."""

LED: Final = CONTENT - GOT
"""The states in which the callback got only what a request for the page led to."""
