"""Counts instructions and calls, which do not differ from machine to machine as times do."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Cost(NamedTuple):
    """The counts of one run."""

    instructions: int
    calls: int


class Counter:
    """Counts the bytecode instructions and the calls of this thread."""

    def __init__(self) -> None:
        self.instructions = 0
        self.calls = 0

    def trace(self, frame: FrameType, event: str, _: object):
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        self.instructions += event == "opcode"
        return self.trace

    def profile(self, _: FrameType, event: str, __: object) -> None:
        self.calls += event in {"call", "c_call"}


@contextmanager
def counting(*, instructions: bool = False) -> Iterator[Counter]:
    """Count the calls, and the *instructions* too where they are asked for: that is far slower."""
    counter = Counter()
    if sys.gettrace() or sys.getprofile():
        pytest.skip("something else traces this run: a debugger, or the measure of coverage")
    # A collection may call back: weak references, finalizers.
    gc.disable()
    sys.setprofile(counter.profile)
    if instructions:
        sys.settrace(counter.trace)
    try:
        yield counter
    finally:
        sys.settrace(None)
        sys.setprofile(None)
        gc.enable()
