"""Entries of options, such as one name of a list: each can be right or wrong by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.layers import Layer

SKIP: Final = "skip"
"""The option that keeps URLs from being fetched; all others say which URLs are one."""


class RuleEntry(NamedTuple):
    """One entry of an option, or an option of one value.

    >>> print(RuleEntry("drop_params", "sid"), RuleEntry("www"))
    drop_params:sid www
    """

    option: str
    """The name of the option, or of a normalization that is always on."""
    entry: str = ""
    """A name or glob of a list, a name of a mapping, or the first of two templates; for an option
    that says which parameters stay, or has a built-in list, the name of a parameter that went.
    Empty if the option has a single value."""

    @property
    def is_skip(self) -> bool:
        """Whether it skips URLs instead of merging them."""
        return self.option == SKIP

    def __str__(self) -> str:
        return f"{self.option}:{self.entry}" if self.entry else self.option


class Cause(NamedTuple):
    """The part of an option's value that changed a URL."""

    layer: Layer
    """The layer of the configuration in which it was written."""
    entry: str = ""
    """As in :class:`RuleEntry`."""
