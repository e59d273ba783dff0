"""What a reader of a foreign rule file returns."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class LeftOut:
    """A part of a foreign rule that our options cannot express.

    >>> print(LeftOut("line 7", "/ads/$removeparam", "a path without a host"))
    line 7: /ads/$removeparam: a path without a host
    """

    where: str
    """Line or JSON path of the foreign rule."""
    rule: str
    """The foreign rule, or the part that is left out, as it is written."""
    reason: str
    """Why our options cannot express it."""
    partly: bool = False
    """Whether the rest of the rule was translated, so that only some URLs differ."""

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}: {'in part: ' if self.partly else ''}{self.reason}"


@frozen
class Imported:
    """A foreign rule file, translated into our options.

    It merges no two URLs that the foreign rules keep apart. If it merges fewer than they do,
    :attr:`left_out` says so.
    """

    format: str
    """The name of the foreign format."""
    rules: dict[str, dict[str, Any]]
    """Options by pattern, in the shape of the ``URLCANON_RULES`` setting."""
    left_out: tuple[LeftOut, ...] = ()
    """What could not be expressed, in the order of the file."""
