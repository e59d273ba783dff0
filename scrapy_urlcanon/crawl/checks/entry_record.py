"""What the audit found about the entries of rules, and what that says of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import Outcome, SequentialTest
from scrapy_urlcanon.pages.verdict import Noise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.pages.verdict import Judgement

_REMEMBERED_VERDICTS = 200
_REMEMBERED_LINES = 20_000
_LEAST_OTHERS = 2
"""One page condemns no rule."""


class OtherPage(NamedTuple):
    """A variant that showed another page, and by what."""

    url: str
    first: str
    """The URL that stood for it."""
    own: frozenset[tuple[int, int]]
    """The hashes of its own lines, as in :class:`~scrapy_urlcanon.pages.verdict.Judgement`."""


class SiteEvidence:
    """What the audits of one site know of its pages: noise, and lines that several pages show.

    A form to log in that takes the place of two pages has lines that neither has, the same both
    times: it is no evidence. Nor is a block that the one page has and the other has not.
    """

    def __init__(self) -> None:
        self.noise = Noise()
        self._owners: dict[tuple[int, int], bytes] = {}
        self._shared: set[tuple[int, int]] = set()

    def is_new(self, page: bytes, other: Judgement) -> bool:
        """Take note of a variant of *page* that is another one; tell whether that is evidence.

        It is if any of its own lines was not seen before, on either side.
        """
        if len(self._owners) > _REMEMBERED_LINES:
            self._owners.clear()
        lines = other.own | other.lacking
        unseen = lines - self._owners.keys()
        self._shared.update(line for line in lines - unseen if self._owners[line] != page)
        self._owners.update(dict.fromkeys(unseen, page))
        return not unseen.isdisjoint(other.own)

    def note_shared(self, lines: Iterable[tuple[int, int]]) -> None:
        """Note that *lines*, by their hashes, are shown in the place of several pages."""
        self._shared.update(lines)

    def is_evidence(self, other: OtherPage) -> bool:
        """Tell whether *other* still has a line of its own, for what is known by now."""
        return any(line not in self._shared and not self.noise.holds(line[0]) for line in other.own)


class EntryRecord:
    """What the audit found about one entry on one domain.

    :param max_false: the rate of false merges that is too much.
    """

    def __init__(self, entry: RuleEntry, domain: str, site: SiteEvidence, max_false: float) -> None:
        self.entry = entry
        self.domain = domain
        self.chosen = 0
        """How many of the variants that it merged were chosen to be fetched."""
        self.under_way = 0
        """How many of these audits have not ended."""
        self.unsettled = 0
        """How many of these were another page, and it is not known which entry is to blame."""
        self.idle = 0
        """How many it changed and did not merge."""
        self.same = 0
        self.cannot_tell = 0
        self.settled = 0
        """How many were chosen when the verdicts last spoke for the entry."""
        self.refused = 0
        """Of how many since then there was no answer: it asked to slow down, or who is there."""
        self.until: int | None = None
        """How many pages the spider had when it was turned off; None while it is on."""
        self._site = site
        self._test = _test(max_false)
        # The last verdicts, in their order; None where it was the same page. There are few, and
        # an empty list takes a tenth of the memory of a deque.
        self._verdicts: list[OtherPage | None] = []

    @property
    def others(self) -> list[OtherPage]:
        """The other pages among them that are evidence."""
        return [other for other in self._verdicts if other and self._site.is_evidence(other)]

    @property
    def judged(self) -> int:
        """How many verdicts there are."""
        return self.same + len(self.others)

    @property
    def noise(self) -> int:
        """How many lines of the pages of the domain are known to be others at each visit."""
        return self._site.noise.count

    @property
    def outcome(self) -> Outcome:
        """What is known of the entry so far."""
        return outcome_of(self._test, self._evidence())

    def add(self, other: OtherPage | None) -> None:
        """Take over a verdict: another page, or None for the same one."""
        self.same += other is None
        self._verdicts.append(other)
        del self._verdicts[:-_REMEMBERED_VERDICTS]
        if other is None and self.outcome is Outcome.HOLDS:
            self.settled, self.refused = self.chosen, 0

    def _evidence(self) -> Iterator[OtherPage | None]:
        for verdict in self._verdicts:
            if verdict is None or self._site.is_evidence(verdict):
                yield verdict


def outcome_of(test: SequentialTest, evidence: Iterable[OtherPage | None]) -> Outcome:
    """Return what *evidence* says by *test*: other pages, and None where it was the same one."""
    verdicts = [*evidence]
    outcome = test.outcome(verdict is None for verdict in verdicts)
    if outcome is Outcome.FAILS and len(verdicts) - verdicts.count(None) < _LEAST_OTHERS:
        return Outcome.OPEN
    return outcome


_test = lru_cache(SequentialTest.of_max_false)
