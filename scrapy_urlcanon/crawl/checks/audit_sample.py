"""Which dropped variants are audited."""

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
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, asks_by_url, mark_of
from scrapy_urlcanon.crawl.settings import ACTING_META, META_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
    from scrapy_urlcanon.crawl.dropped.drop import Drop

_IN_VAIN, _UNANSWERED = 10, 4
"""After so many audits that told nothing an entry has to wait for room as others do; the latter
where the server never sent a page again."""
_REMEMBERED_URLS = 1_000_000
_MOST_REFUSALS = 3
"""So often one URL is asked for again, whatever the server answers."""
_APART = 8
"""Between the first and the second audit of an entry so many variants are to be dropped, and the
square of it before the third, but for those of other sections of the site; and before one that was
wrong is audited in sections where it was not."""
_MORE_PAGES = 1.05
"""How many times as many pages there are to be before it is looked again."""


class AuditSample:
    """Chooses the variants to audit: the first ones of each entry, and then a share of all.

    What is not affordable when it is dropped waits until it is. With a share of 1 every variant is
    audited.

    :param share: as in ``URLCANON_AUDIT``; with 0 no variant is chosen.
    :param max_false: the rate of false merges that is too much for an entry.
    """

    def __init__(self, canonicalizer: Canonicalizer, share: float, max_false: float) -> None:
        self._canonicalizer = canonicalizer
        self._share = share
        self.records = EntryRecords(max_false, self._forget)
        self._suspected: set[EntryRecord] = set()
        self._waiting = WaitingEntries()
        self._under_way: dict[str, list[EntryRecord]] = {}
        self._paused: dict[str, int] = {}
        # By the hashes of URLs: how often each was fetched, as refusals count.
        self._fetched: BoundedMapping[int, int] = BoundedMapping(_REMEMBERED_URLS)
        self.budget = FetchBudget(share)
        self.is_answered = False
        """Whether any page was fetched again and was itself."""

    def has(self, drop: Drop) -> bool:
        """Tell whether *drop* is of the share that is to be audited."""
        return rank(drop) < self._share * 2**64

    def note(self, drop: Drop) -> None:
        """Take note of a variant that was dropped."""
        if self._share and _may_be_fetched(drop):
            self.records.note(drop)

    def pass_over(self, drop: Drop) -> int | None:
        """Note that *drop* is not audited now; return where it stands in the sample, if it does."""
        if not self._share or not _may_be_fetched(drop):
            return None
        for record in self.records.of(drop.entries, drop.domain):
            record.passed_over += 1
        return self._order_in_sample(drop)

    def have_wait(self, drop: Drop) -> None:
        """Have what *drop* is due to wait for an audit: its page was not fetched yet."""
        if not self._share or not _may_be_fetched(drop):
            return
        for record in self.records.of(drop.entries, drop.domain):
            self._waiting.add(record)

    def choose(self, drop: Drop, *, at_any_cost: bool = False) -> MergingEntries | None:
        """Return what merged *drop* if it is to be audited now.

        :param at_any_cost: whether it is to be for what would wait for more pages in vain.
        """
        if not self._share or not _may_be_fetched(drop) or self._has_told(drop):
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

        :param fetches: how many it took that the spider got nothing of.
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
        """Note that there is no verdict on *url*, whose audit ends: another one is to be chosen."""
        for record in self._under_way.get(url, ()):
            record.chosen -= 1

    def pause(self, url: str, fetches: int) -> None:
        """Note that the audit of *url* goes on when the crawl ends: no room is kept for that.

        :param fetches: as of :meth:`ended`, so far.
        """
        self._paused[url] = fetches
        self.budget.end(fetches)

    def _has_room(self, drop: Drop, entries: Iterable[RuleEntry], *, at_any_cost: bool) -> bool:
        """Tell whether *drop* is to be audited for *entries*, or have these wait for that."""
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
        """Tell whether what is dropped of another section may tell more of an entry than *drop*.

        What is dropped one after the other is often of one section; where an entry was wrong in one
        it is looked at there.
        """
        # What is declared is not looked for later, and what is skipped is proved by all that it is.
        is_other = drop.is_declared or drop.is_skipped
        if is_other or record.section_test()(drop.request.url):
            return False
        if record.is_suspect:
            return record.passed_over < _APART
        is_of_few = record.need is Need.LITTLE_KNOWN and not self.has(drop)
        return is_of_few and record.passed_over < _APART**record.chosen

    def _order_in_sample(self, drop: Drop) -> int | None:
        """Return where *drop* stands among those that are due for the share; None if it is not.

        Sections of the site in which an entry was not looked at come first.
        """
        records = self.records.of(drop.entries, drop.domain)
        if any(record.is_new(section_of(drop.request.url)) for record in records):
            return rank(drop) - 2**64
        return rank(drop) if self.has(drop) else None

    def is_affordable(self, need: Need, *, more: int = 0) -> bool:
        """Tell whether there may be an audit for *need* now.

        :param more: how many there are that are suspected, besides entries.
        """
        suspects = (record for record in self._suspected if record.is_suspect)
        return self.budget.has_room(need, chain(range(more), suspects))

    def take_waiting(self, *, at_any_cost: bool = False) -> Iterator[EntryRecord]:
        """Yield the entries that wait and are to be audited now, the most telling needs first.

        Each waits no more; what is affordable is looked at again after each.
        """
        # Each page asks, and of most crawls no rule waits: to ask what is affordable takes longer.
        if not self._waiting or not (at_any_cost or self.is_affordable(Need.SUSPECTED)):
            return
        self._waiting.go_on(self.budget.pages)
        # Once for all of them: in a broad crawl these are thousands.
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
        """Have what waits for some more pages wait for nothing: there will be none."""
        self._waiting.go_on()
        for record in self.records.audited:
            need = record.need
            # The first ones come before, of which some had to wait.
            if (need is None or not self.is_affordable(need)) and record.doubt():
                self._waiting.add(record)

    def put_off(self, record: EntryRecord) -> None:
        """Have *record* wait until there are some more pages: there was nothing to audit."""
        self._waiting.put_off(record, int(self.budget.pages * _MORE_PAGES) + 1)

    def go_on_with(self, entries: Iterable[RuleEntry], domain: str) -> None:
        """Have *entries* wait for an audit of what they merged before, where one is due.

        No other one may be dropped from now on.
        """
        for record in self.records.of(entries, domain):
            if not record.under_way:
                self._waiting.add(record)

    def is_due(self, record: EntryRecord, drop: Drop) -> bool:
        """Tell whether *drop* may tell of the entry of *record*, which changed its URLs."""
        if self._has_told(drop) or drop.domain != record.domain:
            return False
        return record in self.records.of(drop.entries, drop.domain)

    def told(self, url: str, *, is_refused: bool) -> None:
        """Note that *url* was audited: once is enough, but where the server may do better."""
        before = self._fetched.get(hash(url)) or 0
        self._fetched[hash(url)] = before + (1 if is_refused else _MOST_REFUSALS)

    def _has_told(self, drop: Drop) -> bool:
        return (self._fetched.get(hash(drop.request.url)) or 0) >= _MOST_REFUSALS

    def may_repeat(self, drop: Drop) -> bool:
        """Tell whether *drop* may be a view of a page that told against an entry before."""
        # Of what is skipped it is not known which URLs are of one page.
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
        """Return how far behind others a drop comes that may tell of *record*.

        What may be a view of a page that was audited comes last. An entry is looked at in each
        section of a site, and where it was wrong in one there. The more entries a drop tells of the
        better, until there was one of which nothing was told; from then on the fewer merged it.
        """
        is_told_in = record.section_test()

        def order(drop: Drop) -> tuple[bool, bool, int]:
            records = self.records.of(drop.entries, drop.domain)
            is_behind = not is_told_in(drop.request.url)
            if any(each.cannot_tell and not each.judged for each in records):
                return self.may_repeat(drop), is_behind, len(self.merging_entries(drop).entries)
            waiting = sum(each in self._waiting for each in records)
            return self.may_repeat(drop), is_behind, -waiting

        return order

    def suspect(self, record: EntryRecord) -> None:
        """Note that an entry merged another page."""
        self._suspected.add(record)
        if record in self._waiting:
            self._waiting.add(record)

    def merging_entries(self, drop: Drop) -> MergingEntries:
        """Return what merged *drop*, which may be audited."""
        if drop.is_declared or drop.is_skipped:
            return MergingEntries(tuple(drop.entries), is_joint=False)
        found = merging_entries(self._canonicalizer, drop.request.url, drop.first)
        if found.entries:
            return found
        # What no option does is audited too; there is nothing to suspend.
        return MergingEntries(tuple(sorted(drop.entries)), is_joint=True)

    def may_doubt(self, entries: Iterable[RuleEntry], domain: str) -> bool:
        """Tell whether what speaks for any of *entries* is so little that it may be of no page."""
        return any(record.may_be_doubted for record in self.records.of(entries, domain))

    def _forget(self, record: EntryRecord) -> None:
        self._waiting.discard(record)
        self._suspected.discard(record)

    def _is_open(self, record: EntryRecord) -> bool:
        """Tell whether nothing is known of an entry, or little but that it merged another page.

        Of one that skips, whether it is not proved.
        """
        if record.entry.is_skip:
            return record.outcome is Outcome.OPEN
        if not record.judged:
            most = _IN_VAIN if self.is_answered else _UNANSWERED
            return not record.under_way and record.cannot_tell < most
        return record.is_suspect and not record.is_cleared


def rank(drop: Drop) -> int:
    """Return where *drop* stands among all in an order that has nothing to do with the site's."""
    digest = blake2b(drop.request.url.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _may_be_fetched(drop: Drop) -> bool:
    """Tell whether *drop* is due to a rule, and fetching it is harmless and tells something."""
    request = drop.request
    return (
        bool(drop.entries)
        # What is found of a URL is no word on what else is sent to it.
        and asks_by_url(request)
        # The options are its own: no rule of the configuration is to blame.
        and not isinstance(request.meta.get(META_KEY), dict)
        # To fetch it may do more than to fetch it.
        and ACTING_META.isdisjoint(request.meta)
        # The server never sees the fragment.
        and not drop.asks_the_same
        and not mark_of(request, AUDIT)
        and not mark_of(request, RESCUE)
    )
