"""What can go wrong when rules are learned; nothing else is raised on purpose."""

from __future__ import annotations


class LearnError(Exception):
    """Base of all errors of :mod:`scrapy_urlcanon.learn`."""


class InputError(LearnError):
    """An input of observations cannot be read at all.

    The message names the input and what was expected.
    """


class StoreVersionError(LearnError):
    """An observation store was written by a newer version of this package."""


class SpillError(LearnError):
    """The observations fit neither in memory nor in the directory for temporary files."""
