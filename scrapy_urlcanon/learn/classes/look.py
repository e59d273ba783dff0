"""What a crawl shows of a class of URLs: where its pages are found, and what they declare."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

# What is said of so many pages that speak against a class.
DECLARES_ANOTHER: Final = "declaring a URL that shows another page"
DECLARES_ITSELF: Final = "declaring no other URL than this"
HAS_CHANGED: Final = "declaring a URL that showed another text"
DECLARES_UNSEEN: Final = "declaring a URL that was not seen"
IS_ELSEWHERE: Final = "missing where most others are found"
IS_ALONE: Final = "seen under no other URL"
IS_CUT_OFF: Final = "that nothing else leads to"


@dataclass(slots=True)
class Look:
    """What a crawl shows of a class."""

    others: dict[int, int] = field(default_factory=dict)
    """URLs outside the class under which a page was seen, by page."""
    seen: set[int] = field(default_factory=set)
    """Pages that declare a URL outside the class, which was seen and shows the same page."""
    claimed: set[int] = field(default_factory=set)
    """Pages that declare but URLs outside the class which were not seen."""
    contradicted: int = 0
    """Members that declare another URL which shows another page, unless that may have changed."""
    own: int = 0
    """Members that declare themselves, and whose page was seen nowhere else."""
    changed: set[int] = field(default_factory=set)
    """Pages that declare a URL which shows another page, where both were seen but once."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    is_unsure: bool = False
    """Whether pages of it that were seen nowhere else may or may not be what chance makes."""

    @property
    def against(self) -> Counter[str]:
        """How many members say that their page is found nowhere else, by what they say.

        Where no page of a class declares another URL they all declare themselves: that says
        nothing of the one whose other place was not seen.
        """
        own = self.own if self.told else 0
        return Counter({DECLARES_ANOTHER: self.contradicted, DECLARES_ITSELF: own})

    @property
    def told(self) -> set[int]:
        """The pages that declare a URL outside the class."""
        return self.claimed | self.seen | self.changed

    @property
    def unseen(self) -> float:
        """What share of the URLs that are declared was not seen."""
        return len(self.claimed) / max(1, len(self.claimed | self.seen))
