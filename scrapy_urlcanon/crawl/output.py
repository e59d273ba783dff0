"""What the spider makes of a response, for those who want to know when that is done."""

from __future__ import annotations


class Output:
    """What the spider makes of one response; this one is nobody's business."""

    def add(self, each: object) -> None:
        """Take note of a request or an item that goes to the engine."""

    def end(self) -> None:
        """Take note that there is no more."""
