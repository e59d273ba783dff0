"""What a reader of a foreign rule file returns."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class LeftOut:
    """Something that a foreign rule says and our options do not.

    >>> print(LeftOut("line 7", "/ads/$removeparam", "a path without a host"))
    line 7: /ads/$removeparam: a path without a host
    """

    where: str
    """Line or JSON path of the foreign rule."""
    rule: str
    """The foreign rule, or the part of it that is left out, in its own words."""
    reason: str
    """Why our options cannot express it."""
    partly: bool = False
    """Whether the rest of the rule is among the rules, so that only some URLs differ."""

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}: {'in part: ' if self.partly else ''}{self.reason}"


@frozen
class Imported:
    """A foreign rule file in our terms.

    It merges no two URLs that the foreign rules keep apart; where it merges fewer than
    they do, :attr:`left_out` says so.
    """

    format: str
    """The name of the foreign format."""
    rules: dict[str, dict[str, Any]]
    """Options by pattern, in the shape of the ``URLCANON_RULES`` setting."""
    left_out: tuple[LeftOut, ...] = ()
    """What could not be expressed, in the order of the file."""
