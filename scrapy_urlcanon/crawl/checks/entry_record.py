"""What the audit found about the entries of rules, and what that says of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import ERROR, Outcome, SequentialTest
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.pages.noise import Noise

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.pages.same_page import LineKey

_REMEMBERED_VERDICTS = 200
_REMEMBERED_LINES = 20_000
_REMEMBERED_SECTIONS = 12
"""In so many of them each entry is looked at: on some sites each page has a folder of its own."""
_LEAST_OTHERS = 2
"""One page condemns no rule."""
_CLEARED = 3
"""How often an entry has to have been right for each time that it was not, to be let alone."""
_FIRST = 3
"""How many drops of each entry on each domain are audited whatever the share."""
_FIRST_SKIPPED, _MOST_SKIPPED = 10, 60
"""How many URLs that each entry skips, and how many until it is proved or off: the former prove it
where all are found. Nothing else would bring a page that is not."""
_SUSPECTED = 12
"""How many, of an entry that merged another page and is neither suspended nor cleared; twice as
many where the server does not answer."""
_IDLE = 50
"""After so many drops that it had no part in an entry is not looked at any more."""
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


def may_be_views(dropped: frozenset[str], before: frozenset[str]) -> bool:
    """Tell whether two variants, from whose URLs this was dropped, may be views of one page.

    >>> eight, too, nine = (frozenset(d.split()) for d in ("t=8", "t=8 sid=1", "t=9 sid=1"))
    >>> may_be_views(eight, too), may_be_views(too, nine), may_be_views(eight, frozenset())
    (True, False, False)
    """
    return bool(dropped and before) and (dropped <= before or before <= dropped)


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

    def is_new(self, page: Hashable, other: OtherPage, lacking: Iterable[LineKey]) -> bool:
        """Take note of a variant of *page* that is another one; tell whether that is evidence.

        It is if any of its own lines was not seen before, on either side.

        :param lacking: the lines of *page* that it has not.
        """
        if len(self._owners) > _REMEMBERED_LINES:
            self._owners.clear()
        lines = other.own.union(lacking)
        unseen = lines - self._owners.keys()
        dropped = other.dropped
        for line in lines - unseen:
            owner, before = self._owners[line]
            if owner != page and not may_be_views(before, dropped):
                self._shared.add(line)
        self._owners.update(dict.fromkeys(unseen, (page, dropped)))
        return not unseen.isdisjoint(other.own)

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
        self.passed_over = 0
        """How many variants with URLs that it changed were dropped since the last was chosen."""
        self.looked_in: tuple[str, ...] = ()
        """Of which sections of the site those were that were chosen; of the first few."""
        self.idle = 0
        """How many it changed and did not merge."""
        self.same = 0
        self.cannot_tell = 0
        self.settled = 0
        """How many were chosen when the verdicts last spoke for the entry, or first against it."""
        self.refused = 0
        """Of how many since then there was no answer: it asked to slow down, or who is there."""
        self.is_doubted = False
        """Whether one more is to be chosen, now that there is nothing else to fetch."""
        # What the first page that was the same showed.
        self._proof = b""
        self._has_contents = self._is_believed = False
        self.until: int | None = None
        """How many pages the spider had when it was turned off; None while it is on."""
        self._site = site
        self._max_false = max_false
        # The last verdicts, in their order, each with the section of the site that it is of; None
        # where it was the same page. There are few, and an empty list takes a tenth of the memory
        # of a deque.
        self._verdicts: list[tuple[str, OtherPage | None]] = []

    @property
    def others(self) -> list[OtherPage]:
        """The other pages among them that are evidence."""
        return [other for _, other in self._verdicts if other and self._site.is_evidence(other)]

    @property
    def is_suspect(self) -> bool:
        """Whether it merged any other page, as far as is known: asked of many with each page."""
        return any(other and self._site.is_evidence(other) for _, other in self._verdicts)

    @property
    def sections(self) -> frozenset[str]:
        """Of which sections of the site there are verdicts; where any was wrong, of which these."""
        wrong = frozenset(section for section, other in self._evidence() if other)
        return wrong or frozenset(section for section, _ in self._evidence())

    def is_new(self, section: str) -> bool:
        """Tell whether no variant of *section* was chosen, as far as that is remembered."""
        return section not in self.looked_in and len(self.looked_in) < _REMEMBERED_SECTIONS

    def section_test(self) -> Callable[[str], bool]:
        """Return what tells whether a URL is of a section where it is to be looked at next.

        Where it was wrong, if it was anywhere, and else where it was not looked at.
        """
        is_suspect, wrong = self.is_suspect, self.sections
        if is_suspect:
            return lambda url: section_of(url) in wrong
        return lambda url: self.is_new(section_of(url))

    def choose(self, section: str) -> None:
        """Note that a variant of *section* was chosen to be fetched."""
        self.chosen += 1
        self.under_way += 1
        self.passed_over = 0
        self.is_doubted = False
        if self.is_new(section):
            self.looked_in = (*self.looked_in, section)

    @property
    def is_cleared(self) -> bool:
        """Whether it was right so often, where it was wrong too, that it is to be let alone."""
        wrong = self.sections
        verdicts = [other for section, other in self._evidence() if section in wrong]
        return verdicts.count(None) > _CLEARED * (len(verdicts) - verdicts.count(None))

    @property
    def is_excused(self) -> bool:
        """Whether nothing is known of it but what the site shows in the place of several pages."""
        return bool(self._verdicts) and not self.judged

    @property
    def judged(self) -> int:
        """How many verdicts there are."""
        return self.same + len(self.others)

    @property
    def noise(self) -> int:
        """How many lines of the pages of the domain are known to be others at each visit."""
        return self._site.noise.count

    @property
    def may_be_doubted(self) -> bool:
        """Whether all that speaks for it is one content.

        At the beginning of a crawl that may be a captcha, which all URLs show until they show their
        pages. What is skipped is looked for when the crawl ends.
        """
        return self.has_one_content and not self._is_believed

    @property
    def has_one_content(self) -> bool:
        """Whether all pages that were the same showed one content.

        That is what a site has in the place of pages, or what a script makes each of them of. One
        form to log in may well stand for all that is skipped.
        """
        return bool(self._proof) and not self._has_contents and not self.entry.is_skip

    @property
    def outcome(self) -> Outcome:
        """What is known of the entry so far."""
        verdicts = [*self._evidence()]
        outcome = outcome_of(_test(self._max_false), (other for _, other in verdicts))
        if outcome is not Outcome.FAILS and self._fails_in_a_section(verdicts):
            return Outcome.FAILS
        is_proof = outcome is not Outcome.HOLDS or not self.has_one_content
        return outcome if is_proof else Outcome.OPEN

    @property
    def need(self) -> Need | None:
        """Why the next variant that it merged is to be audited whatever the share, if it is."""
        if self.is_doubted:
            return Need.UNKNOWN
        # What held for many pages may be wrong for those that follow.
        chosen = self.chosen - self.settled
        skips = self.entry.is_skip
        most = _MOST_SKIPPED if skips else _SUSPECTED
        if chosen - self.refused >= most or chosen >= 2 * most:
            return None
        if self.is_suspect or self.is_excused or (self.unsettled and not self.judged):
            return Need.SUSPECTED if self.outcome is Outcome.OPEN else None
        merges = self.chosen > 0 or self.idle <= _IDLE
        if not merges or self.chosen - self.refused >= (_FIRST_SKIPPED if skips else _FIRST):
            return None
        is_next = not self.judged and not self.under_way
        return Need.UNKNOWN if is_next else Need.LITTLE_KNOWN

    def doubt(self) -> bool:
        """Tell whether one more is to be chosen now, since so little speaks for it."""
        if not self.may_be_doubted or self.others:
            return False
        # Once is enough.
        self.is_doubted = self._is_believed = True
        return True

    def add(self, other: OtherPage | None, content: bytes = b"", section: str = "") -> None:
        """Take over a verdict: another page, or None for the same one.

        :param section: where on the site it is, as of :func:`section_of`.
        :param content: the digest of what the page that stood for it showed.
        """
        self.same += other is None
        if other is None and content:
            self._has_contents |= self._proof not in {b"", content}
            self._proof = self._proof or content
        is_first = other is not None and not self.is_suspect
        self._verdicts.append((section, other))
        del self._verdicts[:-_REMEMBERED_VERDICTS]
        if is_first or (other is None and self.outcome is Outcome.HOLDS):
            self.settled, self.refused = self.chosen, 0

    def _evidence(self) -> Iterator[tuple[str, OtherPage | None]]:
        for section, other in self._verdicts:
            if other is None or self._site.is_evidence(other):
                yield section, other

    def _fails_in_a_section(self, verdicts: list[tuple[str, OtherPage | None]]) -> bool:
        """Tell whether it is wrong in one section of the site, however right it is elsewhere.

        The more sections there are the surer that has to be: any of them may seem so by chance.
        """
        wrong = {section for section, other in verdicts if other}
        count = len({section for section, _ in verdicts})
        if not wrong or count == 1:
            return False
        test = _test(self._max_false, ERROR / count)
        return any(
            outcome_of(test, (other for where, other in verdicts if where == section))
            is Outcome.FAILS
            for section in wrong
        )


def outcome_of(test: SequentialTest, evidence: Iterable[OtherPage | None]) -> Outcome:
    """Return what *evidence* says by *test*: other pages, and None where it was the same one."""
    verdicts = [*evidence]
    outcome = test.outcome(verdict is None for verdict in verdicts)
    if outcome is Outcome.FAILS and len(verdicts) - verdicts.count(None) < _LEAST_OTHERS:
        return Outcome.OPEN
    return outcome


_test = lru_cache(SequentialTest.of_max_false)
