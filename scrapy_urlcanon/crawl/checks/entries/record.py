"""What the audit found about the entries of rules, and what that says of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import ERROR, Outcome, SequentialTest
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.checks.site_evidence import outcome_of, section_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, SiteEvidence

_REMEMBERED_VERDICTS = 200
_REMEMBERED_SECTIONS = 12
"""In so many of them each entry is looked at: on some sites each page has a folder of its own."""
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
        return [other for _, other in self._evidence() if other]

    @property
    def is_suspect(self) -> bool:
        """Whether it merged any other page, as far as is known: asked of many with each page."""
        return any(other for _, other in self._evidence())

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

    def turn_off(self, pages: int) -> None:
        """Note that it is off since the spider had so many *pages*; what that is for stands."""
        self._verdicts = [*self._evidence()]
        self.until = pages

    def _evidence(self) -> Iterator[tuple[str, OtherPage | None]]:
        for section, other in self._verdicts:
            if other is None or self.until is not None or self._site.is_evidence(other):
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


_test = lru_cache(SequentialTest.of_max_false)
