"""Other pages that showed where a rule says there is one, and which of them are evidence."""

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
"""The host, the segments of the path, and the parameters."""


class OtherPage(NamedTuple):
    """A variant that showed another page, and by what."""

    url: str
    first: str
    """The URL that stood for it."""
    own: frozenset[LineKey]
    """The hashes of its own lines, as in :class:`~scrapy_urlcanon.pages.verdict.Judgement`."""

    @property
    def dropped(self) -> frozenset[str]:
        """The parts of its URL that the one which stands for it has not."""
        return parts_dropped(self.url, self.first)


@lru_cache(maxsize=4096)
def parts_dropped(url: str, first: str) -> frozenset[str]:
    """Return the parts of *url* that *first*, which stands for it, has not.

    All before the query where it has no such part, as where a slash is at its end.

    >>> sorted(parts_dropped("http://a.example/topic?t=8&page=1", "http://a.example/topic?page=1"))
    ['t=8']
    """
    parts = frozenset(_PARTS.findall(url)).difference(_PARTS.findall(first))
    return parts or frozenset((without_query(url),))


def without_query(url: str) -> str:
    """Return *url* up to its query."""
    return url.partition("?")[0]


def section_of(url: str) -> str:
    """Return where on its site *url* is: the host, and the first folder of the path.

    >>> section_of("http://a.example/forum/7?id=1"), section_of("http://a.example/7?id=/8/")
    ('a.example/forum', 'a.example')
    """
    host, *folders = without_query(url).partition("://")[2].split("/")
    return f"{host}/{folders[0]}" if len(folders) > 1 else host


class SiteEvidence:
    """What the audits of one site know of its pages: noise, and lines that several pages show.

    A form to log in that takes the place of two pages has lines that neither has, the same both
    times: it is no evidence. Nor is a block that the one page has and the other has not.

    But where the same was dropped from the URLs of two variants they may be views of one page, as
    ``?t=8`` and ``?t=8&page=1``: that both show it says nothing.
    """

    def __init__(self) -> None:
        self.noise = Noise()
        # The first page in whose place each line was shown, and what was dropped there.
        self._owners: dict[LineKey, tuple[Hashable, frozenset[str]]] = {}
        self._shared: set[LineKey] = set()
        # The lines that each callback has had, of those that have an owner.
        self._had: defaultdict[str, set[LineKey]] = defaultdict(set)

    def is_new(self, page: Hashable, other: OtherPage, lacking: Iterable[LineKey]) -> bool:
        """Take note of a variant of *page* that is another one; tell whether that is evidence.

        It is if any of its own lines was not seen before, on either side.

        :param lacking: the lines of *page* that it has not.
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
        """Note that *callback* has what *other* shows; tell whether it had not all of its own.

        :param lacking: as above: that it has.
        """
        had = self._had[callback]
        is_new = not other.own <= had
        had |= other.own.union(lacking)
        return is_new

    def note_shared(self, lines: Iterable[LineKey], dropped: frozenset[str] = frozenset()) -> None:
        """Note that *lines*, by their hashes, are shown in the place of several pages.

        :param dropped: what was dropped where they are shown now; nothing where the URL is whole.
        """
        for line in lines:
            owner = self._owners.get(line)
            if owner is None or not may_be_views(owner[1], dropped):
                self._shared.add(line)

    def forget(self, pages: AbstractSet[Hashable]) -> None:
        """Forget what was shown in the place of *pages*: some of that is of others now."""
        self.noise.forget(pages)
        self._owners = {line: of for line, of in self._owners.items() if of[0] not in pages}

    def is_evidence(self, other: OtherPage) -> bool:
        """Tell whether *other* still has a line of its own, for what is known by now."""
        return any(line not in self._shared and not self.noise.holds(line[0]) for line in other.own)


def outcome_of(test: SequentialTest, evidence: Iterable[OtherPage | None]) -> Outcome:
    """Return what *evidence* says by *test*: other pages, and None where it was the same one."""
    verdicts = [*evidence]
    outcome = test.outcome(verdict is None for verdict in verdicts)
    if outcome is Outcome.FAILS and len(verdicts) - verdicts.count(None) < _LEAST_OTHERS:
        return Outcome.OPEN
    return outcome
