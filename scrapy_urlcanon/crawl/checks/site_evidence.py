"""The other pages that audits of a site found, and which of them count as evidence."""

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
"""One page condemns no rule."""
_PARTS = re.compile(r"[^/?&;#]+")
"""A part of a URL: the host, a segment of the path, or a parameter."""


class OtherPage(NamedTuple):
    """A variant that showed another page, with the lines that only this page has."""

    url: str
    first: str
    """The URL that stood for it."""
    own: frozenset[LineKey]
    """The hashes of its own lines, as in :class:`~scrapy_urlcanon.pages.verdict.Judgement`."""

    @property
    def dropped(self) -> frozenset[str]:
        """The parts of its URL that :attr:`first` does not have."""
        return parts_dropped(self.url, self.first)


@lru_cache(maxsize=4096)
def parts_dropped(url: str, first: str) -> frozenset[str]:
    """Return the parts of *url* that *first* does not have.

    If it has no such part, as where they differ in a trailing slash, it is *url* without its query.

    >>> sorted(parts_dropped("http://a.example/topic?t=8&page=1", "http://a.example/topic?page=1"))
    ['t=8']
    """
    parts = frozenset(_PARTS.findall(url)).difference(_PARTS.findall(first))
    return parts or frozenset((without_query(url),))


def without_query(url: str) -> str:
    """Return *url* up to its query."""
    return url.partition("?")[0]


def section_of(url: str) -> str:
    """Return the section of the site that *url* is in: the host, and the first folder of the path.

    >>> section_of("http://a.example/forum/7?id=1"), section_of("http://a.example/7?id=/8/")
    ('a.example/forum', 'a.example')
    """
    host, *folders = without_query(url).partition("://")[2].split("/")
    return f"{host}/{folders[0]}" if len(folders) > 1 else host


class SiteEvidence:
    """What the audits of one site know about its pages: noise, and lines that several pages show.

    A log-in form that is shown in place of two different pages has lines that neither page has, the
    same ones both times. So lines that are shown in place of several pages are no evidence.

    An exception are variants that may be two views of one page, since one has all the parts that
    were dropped from the other's URL, as ``?t=8`` and ``?t=8&page=1``. Lines that both show still
    count.
    """

    def __init__(self) -> None:
        self.noise = Noise()
        # By line: the first page in whose place it was shown, and the parts that were dropped from
        # that URL.
        self._owners: dict[LineKey, tuple[Hashable, frozenset[str]]] = {}
        self._shared: set[LineKey] = set()
        # The lines that each callback has got from audited pages.
        self._had: defaultdict[str, set[LineKey]] = defaultdict(set)

    def is_new(self, page: Hashable, other: OtherPage, lacking: Iterable[LineKey]) -> bool:
        """Note a variant of *page* that showed another page; tell whether that is evidence.

        It is if any line of its own was in no other page that an audit compared before.

        :param lacking: the lines of *page* that the variant does not have.
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
        """Note that *callback* gets *other*; tell whether any of its own lines is new to it.

        :param lacking: as of :meth:`is_new`: lines that the callback has got from the kept page.
        """
        had = self._had[callback]
        is_new = not other.own <= had
        had |= other.own.union(lacking)
        return is_new

    def note_shared(self, lines: Iterable[LineKey], dropped: frozenset[str] = frozenset()) -> None:
        """Note that *lines*, by their hashes, are shown in place of several pages.

        :param dropped: the parts that a rule dropped from the URL that shows them now, if any.
        """
        for line in lines:
            owner = self._owners.get(line)
            if owner is None or not may_be_views(owner[1], dropped):
                self._shared.add(line)

    def forget(self, pages: AbstractSet[Hashable]) -> None:
        """Forget what was shown in place of *pages*: their fingerprints have changed."""
        self.noise.forget(pages)
        self._owners = {line: of for line, of in self._owners.items() if of[0] not in pages}

    def is_evidence(self, other: OtherPage) -> bool:
        """Tell whether *other* has a line of its own that is neither shared nor noise by now."""
        return any(line not in self._shared and not self.noise.holds(line[0]) for line in other.own)


def outcome_of(test: SequentialTest, evidence: Iterable[OtherPage | None]) -> Outcome:
    """Return the outcome of *test* for *evidence*: other pages, or None for each same page."""
    verdicts = [*evidence]
    outcome = test.outcome(verdict is None for verdict in verdicts)
    if outcome is Outcome.FAILS and len(verdicts) - verdicts.count(None) < _LEAST_OTHERS:
        return Outcome.OPEN
    return outcome
