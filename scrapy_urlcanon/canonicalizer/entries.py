"""The entries of options: what can be right or wrong by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.layers import Layer

SKIP: Final = "skip"
"""The option that has URLs not fetched at all, where all others say which URLs are one."""


class RuleEntry(NamedTuple):
    """One entry of an option, or an option of one value.

    >>> print(RuleEntry("drop_params", "sid"), RuleEntry("www"))
    drop_params:sid www
    """

    option: str
    """The name of the option, or of a normalization that is always on."""
    entry: str = ""
    """A name or glob of a list, a name of a mapping, the first of two templates; where an option
    says which parameters stay, or has a list of its own, the name of one that went. Empty where
    the option has one value."""

    @property
    def is_skip(self) -> bool:
        """Whether it skips URLs, and makes none one."""
        return self.option == SKIP

    def __str__(self) -> str:
        return f"{self.option}:{self.entry}" if self.entry else self.option


class Cause(NamedTuple):
    """What of the value of an option changed a URL."""

    layer: Layer
    """The layer of the configuration in which it was written."""
    entry: str = ""
    """As in :class:`RuleEntry`."""
