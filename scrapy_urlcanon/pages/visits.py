"""Compares two visits of one URL to learn what changes at each visit of its site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.blocks import outline_of

if TYPE_CHECKING:
    from scrapy_urlcanon.pages.blocks import Outline
    from scrapy_urlcanon.pages.signature import Lines

_LEAST_IN_COMMON = 0.5
"""The two visits must share this part of their lines. A page shares less with an error or a
captcha, and so do visits of a random page."""


class Visits(NamedTuple):
    """The result of two visits. Lines are given by their masked hashes."""

    steady: frozenset[int]
    """Lines with numbers that were all the same at the second visit: such numbers are content."""
    noise: frozenset[int]
    """Lines that were not there again unchanged, such as a counter or an advertisement."""
    outlines: tuple[Outline, Outline]
    """The order of lines at both visits, from which :class:`.Blocks` are found."""


def compare_visits(first: Lines, again: Lines) -> Visits | None:
    r"""Return what two visits of one URL show, or None if the second showed something else.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> first, again = lines_of(b"price 12\nread 7 times"), lines_of(b"price 12\nread 8 times")
    >>> visits = compare_visits(first, again)
    >>> visits[:2] == (frozenset({first[0].masked}), frozenset({first[1].masked}))
    True
    >>> compare_visits(first, lines_of(b"please log in")) is None
    True
    """
    one, other = (dict(zip(*lines.columns[1::-1], strict=True)) for lines in (first, again))
    common = one.keys() & other.keys()
    if len(common) < _LEAST_IN_COMMON * max(len(one), len(other)):
        return None
    both = one | other
    noise = frozenset([both[line] for line in one.keys() ^ other.keys()])
    numbered = frozenset([masked for line in common if (masked := both[line]) != line])
    return Visits(numbered - noise, noise, (outline_of(first), outline_of(again)))
