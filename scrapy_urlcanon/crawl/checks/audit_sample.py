"""Chooses which dropped variants are audited."""

from __future__ import annotations

from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.merging_entries import MergingEntries, merging_entries
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.checks.entries.records import EntryRecords
from scrapy_urlcanon.crawl.checks.entries.waiting import WaitingEntries
from scrapy_urlcanon.crawl.checks.fetch_budget import FetchBudget, Need
from scrapy_urlcanon.crawl.checks.site_evidence import parts_dropped, section_of, without_query
from scrapy_urlcanon.crawl.origins import as_shown
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, asks_by_url, mark_of
from scrapy_urlcanon.crawl.settings import ACTING_META, META_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
    from scrapy_urlcanon.crawl.dropped.drop import Drop

_IN_VAIN, _UNANSWERED = 10, 4
"""How many audits of an entry may end without a verdict before it loses its priority. It then waits
for room in the budget, like entries that have been judged. The second number applies until the
server has sent some page twice."""
_REMEMBERED_URLS = 1_000_000
_MOST_REFUSALS = 3
"""The most fetches of one URL for audits, if the server refuses it each time."""
_APART = 8
"""The number of drops between the first and the second audit of an entry; its square before the
third. So the evidence is spread over the crawl. A variant from a section of the site where the
entry was not audited yet need not wait. If an entry was wrong in one section, variants from there
go first, and only after this many from other sections is one of these audited."""
_MORE_PAGES = 1.05
"""If none of its drops can be audited, an entry waits until the crawl has this many times the
pages."""


class AuditSample:
    """Chooses the variants to audit: the first ones of each entry, then a share of all drops.

    If the budget has no room when a variant is dropped, the entries that merged it wait until there
    is room. With a share of 1 every variant is audited.

    :param share: the value of ``URLCANON_AUDIT``; with 0 no variant is chosen.
    :param max_false: the rate of false merges above which an entry fails.
    """

    def __init__(self, canonicalizer: Canonicalizer, share: float, max_false: float) -> None:
        self._canonicalizer = canonicalizer
        self._share = share
        self.records = EntryRecords(max_false, self._forget)
        self._suspected: set[EntryRecord] = set()
        self._waiting = WaitingEntries()
        self._under_way: dict[str, list[EntryRecord]] = {}
        self._paused: dict[str, int] = {}
        # By the hash of a URL without its fragment: how often it was fetched, counted as refusals.
        self._fetched: BoundedMapping[int, int] = BoundedMapping(_REMEMBERED_URLS)
        self.budget = FetchBudget(share)
        self.is_answered = False
        """Whether any page showed itself again when it was fetched a second time."""

    def has(self, drop: Drop) -> bool:
        """Tell whether *drop* belongs to the audited share."""
        return rank(drop) < self._share * 2**64

    def note(self, drop: Drop) -> None:
        """Count *drop* for the records of its entries."""
        if self._share and _may_be_fetched(drop):
            self.records.note(drop)

    def pass_over(self, drop: Drop) -> int | None:
        """Note that *drop* is not audited now; return its rank in the sample, None if not in it."""
        if not self._share or not _may_be_fetched(drop):
            return None
        for record in self.records.of(drop.entries, drop.domain):
            record.passed_over += 1
        return self._order_in_sample(drop)

    def wait_for_page_of(self, drop: Drop) -> None:
        """Let the entries that merged *drop* wait for an audit: its page was not fetched yet."""
        if not self._share or not _may_be_fetched(drop):
            return
        for record in self.records.of(drop.entries, drop.domain):
            self._waiting.add(record)

    def choose(self, drop: Drop, *, at_any_cost: bool = False) -> MergingEntries | None:
        """Return the entries that merged *drop* if it is to be audited now, else None.

        :param at_any_cost: whether entries about which nothing is known ignore the budget: the
            spider is idle, and no more pages will come to make room.
        """
        if not self._share or not _may_be_fetched(drop) or self._was_audited(drop):
            return None
        if not self._has_room(drop, drop.entries, at_any_cost=at_any_cost):
            return None
        merged_by = self.merging_entries(drop)
        for entry in drop.entries - {*merged_by.entries}:
            self.records.record(entry, drop.domain).idle += 1
        if not self._has_room(drop, merged_by.entries, at_any_cost=at_any_cost):
            return None
        self.begin(drop.request.url, self.records.of(merged_by.entries, drop.domain))
        return merged_by

    def begin(self, url: str, records: list[EntryRecord]) -> None:
        """Note that the audit of *url* for *records* begins."""
        self._under_way[url] = records
        for record in records:
            record.choose(section_of(url))
        self.budget.begin()

    def ended(self, url: str, fetches: int) -> None:
        """Note that the audit of *url* ended.

        :param fetches: how many fetches it took, not counting responses that the spider was given.
        """
        records = self._under_way.pop(url, None)
        if records is None:
            return
        for record in records:
            record.under_way -= 1
        before = self._paused.pop(url, None)
        if before is not None:
            self.budget.begin()
            fetches -= before
        self.budget.end(fetches)

    def give_back(self, url: str) -> None:
        """Note that the audit of *url* ends without a verdict and does not count as chosen."""
        for record in self._under_way.get(url, ()):
            record.chosen -= 1

    def pause(self, url: str, fetches: int) -> None:
        """Note that the audit of *url* waits for the spider to be idle, and free its room.

        :param fetches: how many fetches it took so far, as for :meth:`ended`.
        """
        self._paused[url] = fetches
        self.budget.end(fetches)

    def _has_room(self, drop: Drop, entries: Iterable[RuleEntry], *, at_any_cost: bool) -> bool:
        """Tell whether *drop* may be audited for *entries* now; if not, let these wait."""
        records = self.records.of(entries, drop.domain)
        needs = {record: need for record in records if (need := record.need) is not None}
        if not needs:
            return self._order_in_sample(drop) is not None and self.budget.has_room(Need.SAMPLED)
        need = min(needs.values())
        if at_any_cost and any(map(self._is_open, needs)):
            return True
        may_wait = not at_any_cost and all(self._may_wait(drop, record) for record in needs)
        if not may_wait and self.is_affordable(need):
            return True
        for record in needs:
            self._waiting.add(record)
        return False

    def _may_wait(self, drop: Drop, record: EntryRecord) -> bool:
        """Tell whether to wait for a drop from another section of the site, which may say more.

        Consecutive drops are often from one section. If an entry was wrong in some section, it is
        audited there.
        """
        # Declared canonicals are not tried again later, and any skipped URL helps to prove its
        # template.
        is_other = drop.is_declared or drop.is_skipped
        if is_other or record.section_test()(drop.request.url):
            return False
        if record.is_suspect:
            return record.passed_over < _APART
        is_of_few = record.need is Need.LITTLE_KNOWN and not self.has(drop)
        return is_of_few and record.passed_over < _APART**record.chosen

    def _order_in_sample(self, drop: Drop) -> int | None:
        """Return the rank of *drop* in the sample, the lowest first, or None if it is not in it.

        Sections of the site where one of its entries was never audited come first.
        """
        records = self.records.of(drop.entries, drop.domain)
        if any(record.is_new(section_of(drop.request.url)) for record in records):
            return rank(drop) - 2**64
        return rank(drop) if self.has(drop) else None

    def is_affordable(self, need: Need, *, more: int = 0) -> bool:
        """Tell whether the budget has room for an audit with this *need* now.

        :param more: how many suspicions there are besides the suspected entries.
        """
        suspects = (record for record in self._suspected if record.is_suspect)
        return self.budget.has_room(need, chain(range(more), suspects))

    def take_waiting(self, *, at_any_cost: bool = False) -> Iterator[EntryRecord]:
        """Remove and yield the waiting entries to be audited now, the most urgent need first.

        The budget is checked again after each.
        """
        # Called for each page. In most crawls no entry waits, and checking that is cheaper than
        # asking the budget.
        if not self._waiting or not (at_any_cost or self.is_affordable(Need.SUSPECTED)):
            return
        self._waiting.go_on(self.budget.pages)
        # Once for all entries: a broad crawl has thousands.
        affordable = set(filter(self.is_affordable, Need))
        for need in Need:
            if not at_any_cost and need not in affordable:
                return
            for record in self._waiting.of(need):
                if record not in self._waiting:
                    continue
                now = record.need
                if now is None or now > need:
                    self._waiting.discard(record)
                    self._waiting.add(record)
                elif now in affordable or (at_any_cost and self._is_open(record)):
                    self._waiting.discard(record)
                    yield record
                    affordable = set(filter(self.is_affordable, Need))
                elif not at_any_cost:
                    return

    def wait_no_more(self) -> None:
        """End the waits for more pages: the spider is idle, and none will come."""
        self._waiting.go_on()
        for record in self.records.audited:
            need = record.need
            # First audits, some of which had to wait, go before rechecks.
            if (need is None or not self.is_affordable(need)) and record.ask_for_recheck():
                self._waiting.add(record)

    def put_off(self, record: EntryRecord) -> None:
        """Let *record* wait until there are more pages, since no drop can be audited for it now."""
        self._waiting.put_off(record, int(self.budget.pages * _MORE_PAGES) + 1)

    def go_on_with(self, entries: Iterable[RuleEntry], domain: str) -> None:
        """Let *entries* wait for an audit of a remembered drop, unless one is under way.

        Otherwise only a further drop would start one, and there may be none.
        """
        for record in self.records.of(entries, domain):
            if not record.under_way:
                self._waiting.add(record)

    def is_due(self, record: EntryRecord, drop: Drop) -> bool:
        """Tell whether an audit of *drop* may say something about the entry of *record*."""
        if self._was_audited(drop) or drop.domain != record.domain:
            return False
        return record in self.records.of(drop.entries, drop.domain)

    def note_audited(self, url: str, *, is_refused: bool) -> None:
        """Note that *url* was audited. It will not be again, unless the server refused it."""
        key = hash(as_shown(url))
        before = self._fetched.get(key) or 0
        self._fetched[key] = before + (1 if is_refused else _MOST_REFUSALS)

    def _was_audited(self, drop: Drop) -> bool:
        return (self._fetched.get(hash(as_shown(drop.request.url))) or 0) >= _MOST_REFUSALS

    def may_repeat(self, drop: Drop) -> bool:
        """Tell whether *drop* may be another view of a page that counts against its entries.

        If so it would be no new evidence.
        """
        # Which skipped URLs belong to one page is not known.
        if not self._suspected or drop.is_skipped:
            return False
        url = drop.request.url
        dropped, path = parts_dropped(url, drop.first), without_query(url)
        suspected = self._suspected.intersection(self.records.of(drop.entries, drop.domain))
        others = chain.from_iterable(record.others for record in suspected)
        return any(
            path == without_query(other.url) and not dropped.isdisjoint(other.dropped)
            for other in others
        )

    def order_for(self, record: EntryRecord) -> Callable[[Drop], tuple[bool, bool, int]]:
        """Return a sort key for the drops that may be audited for *record*, the most telling first.

        1. Possible views of a page that was audited before come last.
        2. Sections where the entry is to be audited next come first.
        3. Then the drop that is evidence about the most waiting entries. But if an audit of one of
           its entries ended without a verdict, the drop with the fewest entries: its verdict says
           more about each.
        """
        is_in_section = record.section_test()

        def order(drop: Drop) -> tuple[bool, bool, int]:
            records = self.records.of(drop.entries, drop.domain)
            is_behind = not is_in_section(drop.request.url)
            if any(each.cannot_tell and not each.judged for each in records):
                return self.may_repeat(drop), is_behind, len(self.merging_entries(drop).entries)
            waiting = sum(each in self._waiting for each in records)
            return self.may_repeat(drop), is_behind, -waiting

        return order

    def suspect(self, record: EntryRecord) -> None:
        """Note that an audit found that the entry of *record* merged two pages."""
        self._suspected.add(record)
        if record in self._waiting:
            self._waiting.add(record)

    def merging_entries(self, drop: Drop) -> MergingEntries:
        """Return the entries without which *drop* would have had a canonical URL of its own."""
        if not (drop.is_declared or drop.is_skipped):
            found = merging_entries(self._canonicalizer, drop.request.url, drop.first)
            if found.entries:
                return found
        # It was declared or skipped, or merged by a normalization that is always on. That is
        # audited too, though it cannot be suspended.
        return MergingEntries(tuple(sorted(drop.entries)), is_joint=True)

    def may_need_recheck(self, entries: Iterable[RuleEntry], domain: str) -> bool:
        """Tell whether the evidence for any of *entries* is a single content, perhaps a captcha."""
        return any(record.may_need_recheck for record in self.records.of(entries, domain))

    def _forget(self, record: EntryRecord) -> None:
        self._waiting.discard(record)
        self._suspected.discard(record)

    def _is_open(self, record: EntryRecord) -> bool:
        """Tell whether an entry is to be audited even beyond the budget.

        That is so without any verdict, for a suspect that is not cleared, and for a template of
        ``skip`` that is not proved; also with the evidence of a single content, if another entry
        was wrong on the domain, since that one has taken the room.
        """
        if record.entry.is_skip:
            return record.outcome is Outcome.OPEN
        if record.needs_recheck:
            return any(suspect.domain == record.domain for suspect in self._suspected)
        if not record.judged:
            most = _IN_VAIN if self.is_answered else _UNANSWERED
            return not record.under_way and record.cannot_tell < most
        return record.is_suspect and not record.is_cleared


def rank(drop: Drop) -> int:
    """Return a hash of the URL of *drop* as its rank in a random order of all URLs (64 bits)."""
    address = as_shown(drop.request.url)
    digest = blake2b(address.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _may_be_fetched(drop: Drop) -> bool:
    """Tell whether an audit may fetch *drop*, and would learn from it something about a rule."""
    request = drop.request
    return (
        bool(drop.entries)
        # A GET says nothing about a request that sends a body.
        and asks_by_url(request)
        # Options in its own meta merged it, not the configuration.
        and not isinstance(request.meta.get(META_KEY), dict)
        # Fetching it may have side effects.
        and ACTING_META.isdisjoint(request.meta)
        # The URLs differ at most in the fragment, which the server never sees.
        and not drop.asks_the_same
        and not mark_of(request, AUDIT)
        and not mark_of(request, RESCUE)
    )
