"""Decides which differences that audits found on a site count as evidence against a rule."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.pages.common_contents import may_be_views
from scrapy_urlcanon.pages.noise import Noise

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.confidence import SequentialTest
    from scrapy_urlcanon.pages.same_page import LineKey

_REMEMBERED_LINES = 20_000
_LEAST_OTHERS = 2
"""The fewest other pages that can fail an entry: one alone never does."""
_PARTS = re.compile(r"[^/?&;#]+")
"""A part of a URL: the host, a path segment, or a parameter."""


class OtherPage(NamedTuple):
    """A variant that showed another page than its representative."""

    url: str
    first: str
    """The URL that it was dropped for."""
    own: frozenset[LineKey]
    """The hashes of the lines that only the variant shows, as in
    :class:`~scrapy_urlcanon.pages.verdict.Judgement`."""

    @property
    def dropped(self) -> frozenset[str]:
        """The parts of its URL that :attr:`first` does not have."""
        return parts_dropped(self.url, self.first)


@lru_cache(maxsize=4096)
def parts_dropped(url: str, first: str) -> frozenset[str]:
    """Return the parts of *url* that *first* does not have.

    If there are none, as when they differ in a trailing slash, return *url* without its query.

    >>> sorted(parts_dropped("http://a.example/topic?t=8&page=1", "http://a.example/topic?page=1"))
    ['t=8']
    """
    parts = frozenset(_PARTS.findall(url)).difference(_PARTS.findall(first))
    return parts or frozenset((without_query(url),))


def without_query(url: str) -> str:
    """Return *url* up to its query."""
    return url.partition("?")[0]


def section_of(url: str) -> str:
    """Return the section of the site that *url* is in: the host and the first folder of the path.

    >>> section_of("http://a.example/forum/7?id=1"), section_of("http://a.example/7?id=/8/")
    ('a.example/forum', 'a.example')
    """
    host, *folders = without_query(url).partition("://")[2].split("/")
    return f"{host}/{folders[0]}" if len(folders) > 1 else host


class SiteEvidence:
    """What audits know about the pages of one site: which lines are noise, and which are shared.

    A log-in form shown in place of two different pages has lines that neither page has, the same
    both times. So lines that are shown in place of several pages are no evidence.

    Variants that may be two views of one page are exempt, and lines that both show still count.
    That is assumed if all parts dropped from one URL are among those dropped from the other, as
    with ``?t=8`` and ``?t=8&page=1``.
    """

    def __init__(self) -> None:
        self.noise = Noise()
        # By line: the first page in whose place it was shown, and the parts dropped from that URL.
        self._owners: dict[LineKey, tuple[Hashable, frozenset[str]]] = {}
        self._shared: set[LineKey] = set()
        # By callback: the lines that audits gave it.
        self._had: defaultdict[str, set[LineKey]] = defaultdict(set)

    def is_new(self, page: Hashable, other: OtherPage, lacking: Iterable[LineKey]) -> bool:
        """Record a variant of *page* that showed another page; tell whether it is evidence.

        It is if some line of its own was in no other page that was compared before.

        :param lacking: the lines of *page* that the variant does not show.
        """
        if len(self._owners) > _REMEMBERED_LINES:
            self._owners.clear()
            self._had.clear()
        lines = other.own.union(lacking)
        unseen = lines - self._owners.keys()
        dropped = other.dropped
        for line in lines - unseen:
            owner, before = self._owners[line]
            if owner != page and not may_be_views(before, dropped):
                self._shared.add(line)
        self._owners.update(dict.fromkeys(unseen, (page, dropped)))
        return not unseen.isdisjoint(other.own)

    def is_new_to(self, callback: str, other: OtherPage, lacking: Iterable[LineKey]) -> bool:
        """Record that *callback* gets *other*; tell whether any line of its own is new to it.

        :param lacking: as for :meth:`is_new`: lines that the callback has had from the kept page.
        """
        had = self._had[callback]
        is_new = not other.own <= had
        had |= other.own.union(lacking)
        return is_new

    def note_shared(self, lines: Iterable[LineKey], dropped: frozenset[str] = frozenset()) -> None:
        """Record that *lines*, by their hashes, are shown in place of several pages.

        :param dropped: the parts that a rule dropped from the URL that shows them now, if any.
        """
        for line in lines:
            owner = self._owners.get(line)
            if owner is None or not may_be_views(owner[1], dropped):
                self._shared.add(line)

    def forget(self, pages: AbstractSet[Hashable]) -> None:
        """Forget what was shown in place of *pages*, whose fingerprints have changed."""
        self.noise.forget(pages)
        self._owners = {line: of for line, of in self._owners.items() if of[0] not in pages}

    def is_evidence(self, other: OtherPage) -> bool:
        """Tell whether *other* still has a line of its own that is neither shared nor noise."""
        return any(line not in self._shared and not self.noise.holds(line[0]) for line in other.own)


def outcome_of(test: SequentialTest, evidence: Iterable[OtherPage | None]) -> Outcome:
    """Return the outcome of *test* for *evidence*: other pages, and None for each same page."""
    verdicts = [*evidence]
    outcome = test.outcome(verdict is None for verdict in verdicts)
    if outcome is Outcome.FAILS and len(verdicts) - verdicts.count(None) < _LEAST_OTHERS:
        return Outcome.OPEN
    return outcome
