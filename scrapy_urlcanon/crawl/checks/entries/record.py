"""The audit results of one entry on one domain, and the conclusions drawn from them."""

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
"""The most sections of a site that an entry is spread over: some sites have a folder for each
page."""
_CLEARED = 3
"""A suspected entry is cleared when it was right more than this many times as often as wrong."""
_FIRST = 3
"""How many drops of each entry are audited on each domain, whatever the share."""
_FIRST_SKIPPED, _MOST_SKIPPED = 10, 60
"""How many skipped URLs are audited for a template of ``skip``. The first number proves it if all
their pages are found elsewhere. Otherwise audits go on up to the second number. These are more than
for other entries, since nothing else would fetch a page that exists only there."""
_SUSPECTED = 12
"""How many drops of a suspected entry are audited until it is suspended or cleared. If the server
refuses some, up to twice as many are."""
_IDLE = 50
"""An entry is no longer audited once it has changed the URLs of this many drops without ever being
needed to merge them."""


class EntryRecord:
    """The audit results of one entry on one domain.

    :param max_false: the rate of false merges above which the entry fails.
    """

    def __init__(self, entry: RuleEntry, domain: str, site: SiteEvidence, max_false: float) -> None:
        self.entry = entry
        self.domain = domain
        self.chosen = 0
        """How many of the variants that it merged were chosen for an audit."""
        self.under_way = 0
        """How many of these audits have not ended."""
        self.unsettled = 0
        """How many of these found another page, but not which of several entries is to blame."""
        self.passed_over = 0
        """How many of its drops were not audited since the last one that was."""
        self.looked_in: tuple[str, ...] = ()
        """The sections of the site from which the first variants were chosen."""
        self.idle = 0
        """How many drops it changed the URL of without being needed to merge them."""
        self.same = 0
        self.cannot_tell = 0
        self.settled = 0
        """The value of ``chosen`` when the entry last held, or when it first became suspect."""
        self.refused = 0
        """How many audits since then the server refused ("slow down", a captcha, a log-in form)."""
        self.needs_recheck = False
        """Whether one more audit is wanted: all evidence for it may be a single wall."""
        # The digest of the first kept page that its variant agreed with.
        self._proof = b""
        self._has_contents = self._was_rechecked = False
        self.until: int | None = None
        """How many pages the spider had when the entry was suspended, or None while it is in
        force."""
        self._site = site
        self._max_false = max_false
        # The last verdicts, the oldest first: the section of the site, and the other page, or None
        # if it was the same page. A list, since most are empty and an empty deque takes ten times
        # as much memory.
        self._verdicts: list[tuple[str, OtherPage | None]] = []

    @property
    def others(self) -> list[OtherPage]:
        """The other pages that still count as evidence."""
        return [other for _, other in self._evidence() if other]

    @property
    def is_suspect(self) -> bool:
        """Whether there is any evidence against it. Called often, so no list is made."""
        return any(other for _, other in self._evidence())

    @property
    def sections(self) -> frozenset[str]:
        """The sections of the site where it was wrong, or if nowhere, where it was judged."""
        wrong = frozenset(section for section, other in self._evidence() if other)
        return wrong or frozenset(section for section, _ in self._evidence())

    def is_new(self, section: str) -> bool:
        """Tell whether no variant from *section* was chosen yet, as far as that is remembered."""
        return section not in self.looked_in and len(self.looked_in) < _REMEMBERED_SECTIONS

    def section_test(self) -> Callable[[str], bool]:
        """Return a predicate for URLs from the sections where the entry is to be audited next.

        These are the sections where it was wrong, or if there are none, those where it was not
        audited.
        """
        is_suspect, wrong = self.is_suspect, self.sections
        if is_suspect:
            return lambda url: section_of(url) in wrong
        return lambda url: self.is_new(section_of(url))

    def choose(self, section: str) -> None:
        """Note that a variant from *section* was chosen for an audit."""
        self.chosen += 1
        self.under_way += 1
        self.passed_over = 0
        self.needs_recheck = False
        if self.is_new(section):
            self.looked_in = (*self.looked_in, section)

    @property
    def is_cleared(self) -> bool:
        """Whether it was right often enough, even in the sections where it was wrong."""
        wrong = self.sections
        verdicts = [other for section, other in self._evidence() if section in wrong]
        return verdicts.count(None) > _CLEARED * (len(verdicts) - verdicts.count(None))

    @property
    def is_excused(self) -> bool:
        """Whether all verdicts against it were discounted, since they rest on shared content."""
        return bool(self._verdicts) and not self.judged

    @property
    def judged(self) -> int:
        """How many verdicts count as evidence."""
        return self.same + len(self.others)

    @property
    def noise(self) -> int:
        """How many lines of the domain's pages are known to change from visit to visit."""
        return self._site.noise.count

    @property
    def may_need_recheck(self) -> bool:
        """Whether all evidence for it is a single content, and that was not checked yet.

        Early in a crawl it may be a captcha, shown for all URLs for a while.
        """
        return self.has_one_content and not self._was_rechecked

    @property
    def has_one_content(self) -> bool:
        """Whether all variants that agreed with their kept page showed one and the same content.

        It may be a wall, or an empty frame that a script fills. Never for ``skip``: a log-in form
        may well be the page of all skipped URLs.
        """
        return bool(self._proof) and not self._has_contents and not self.entry.is_skip

    @property
    def outcome(self) -> Outcome:
        """The conclusion about the entry so far."""
        verdicts = [*self._evidence()]
        outcome = outcome_of(_test(self._max_false), (other for _, other in verdicts))
        if outcome is not Outcome.FAILS and self._fails_in_a_section(verdicts):
            return Outcome.FAILS
        is_proof = outcome is not Outcome.HOLDS or not self.has_one_content
        return outcome if is_proof else Outcome.OPEN

    @property
    def need(self) -> Need | None:
        """Why another variant should be audited beyond the share, or None if there is no reason."""
        if self.needs_recheck:
            return Need.UNKNOWN
        # Counted from the last time it held, since it may be wrong for later pages.
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

    def ask_for_recheck(self) -> bool:
        """Ask for one more audit if a single content is all evidence for it; tell if it is."""
        if not self.may_need_recheck or self.others:
            return False
        # Once is enough.
        self.needs_recheck = self._was_rechecked = True
        return True

    def add(self, other: OtherPage | None, content: bytes = b"", section: str = "") -> None:
        """Add a verdict: another page, or None for the same page.

        :param content: the digest of the kept page.
        :param section: where on the site it is; see :func:`section_of`.
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
        """Note that it is suspended after this many *pages*; its evidence now stays as it is."""
        self._verdicts = [*self._evidence()]
        self.until = pages

    def _evidence(self) -> Iterator[tuple[str, OtherPage | None]]:
        for section, other in self._verdicts:
            if other is None or self.until is not None or self._site.is_evidence(other):
                yield section, other

    def _fails_in_a_section(self, verdicts: list[tuple[str, OtherPage | None]]) -> bool:
        """Tell whether it is wrong in one section of the site, however right it is elsewhere.

        The error level is divided by the number of sections (Bonferroni correction), since one of
        many fails by chance more easily.
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
