"""Which dropped variants are audited, and the records of what merged them."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.merge import Merge, merge_of
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.checks.entry_record import EntryRecord, SiteEvidence
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, mark_of
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, META_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.dropped import Drop

FIRST = 3
"""How many drops of each entry on each domain are audited whatever the share."""
_EARLY_FETCHES, _EARLY_SHARE = 9, 0.03
"""How many fetches, or which share of the pages, the audit may have taken for an entry that was
judged once to be audited again before its turn."""
_EXPECTED = 3
"""Fetches of one audit, as long as it is not known how many it takes."""
_SUSPECTED = 12
"""How many, of an entry that merged another page and is neither suspended nor cleared."""
_FREQUENT = 3
"""From how many drops on a parameter that is not to be kept is judged by itself."""
_REMEMBERED_NAMES = 100_000
_CONSIDERED = 50
"""After so many drops an entry that merged none of them is not looked at any more."""


class AuditSample:
    """Chooses the variants to audit: the first ones of each entry, and then a share of all.

    What is fetched for audits is at most that share of the pages, but for the first audits of an
    entry and those of one that is suspected; with a share of 1 every variant is.

    :param share: as in ``URLCANON_AUDIT``.
    :param max_false: the rate of false merges that is too much for an entry.
    """

    def __init__(self, canonicalizer: Canonicalizer, share: float, max_false: float) -> None:
        self._canonicalizer = canonicalizer
        self._share = share
        self._max_false = max_false
        self._sites: dict[str, SiteEvidence] = {}
        self._records: dict[tuple[RuleEntry, str], EntryRecord] = {}
        self._names: Counter[tuple[RuleEntry, str]] = Counter()
        self.pages = 0
        """How many pages were fetched for the spider."""
        self.fetches = 0
        """How many fetches audits took, or will take at least."""

    @property
    def records(self) -> list[EntryRecord]:
        """What was found about each entry on each domain, the most audited first."""
        records = (record for record in self._records.values() if record.chosen)
        return sorted(records, key=lambda record: -record.judged)

    @property
    def is_affordable(self) -> bool:
        """Whether less than the share of the pages was fetched for audits so far."""
        return self._share >= 1 or self.fetches < self._share * self.pages

    def has(self, drop: Drop) -> bool:
        """Tell whether *drop* is of the share that is to be audited."""
        digest = blake2b(drop.request.url.encode(errors="replace"), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self._share * 2**64

    def choose(self, drop: Drop) -> Merge | None:
        """Return what merged *drop* if it is to be audited."""
        if not _is_auditable(drop):
            return None
        if len(self._names) > _REMEMBERED_NAMES:
            self._names.clear()
        for entry in drop.entries:
            # The URL that stands for it comes again and again.
            if _drops_any_name(entry) and entry.entry in drop.request.url:
                self._names[entry, drop.domain] += 1
        records = self.records_of(drop.entries, drop.domain)
        for record in records:
            record.considered += 1
        if not self._is_chosen(drop, records):
            return None
        merge = self.merge_of(drop)
        records = self.records_of(merge.entries, drop.domain)
        if not self._is_chosen(drop, records):
            return None
        for record in records:
            record.chosen += 1
        self.fetches += _EXPECTED
        return merge

    def ended(self, fetches: int) -> None:
        """Note that an audit took so many *fetches*."""
        self.fetches += fetches - _EXPECTED

    def merge_of(self, drop: Drop) -> Merge:
        """Return what merged *drop*, which is to be audited."""
        if drop.rules == {DECLARED_CANONICAL}:
            return Merge(tuple(drop.entries), is_joint=False)
        merge = merge_of(self._canonicalizer, drop.request.url, drop.first)
        # What no option does is audited too; there is nothing to suspend.
        return merge if merge.entries else Merge(tuple(sorted(drop.entries)), is_joint=True)

    def records_of(self, entries: Iterable[RuleEntry], domain: str) -> list[EntryRecord]:
        """Return the records of *entries*, each once."""
        return list(dict.fromkeys(self.record(entry, domain) for entry in entries))

    def record(self, entry: RuleEntry, domain: str, *, is_guilty: bool = False) -> EntryRecord:
        """Return the record of *entry* on *domain*.

        :param is_guilty: whether it is known to be to blame, and not one of many.
        """
        if _drops_any_name(entry):
            if is_guilty:
                self._names[entry, domain] += _FREQUENT
            elif self._names[entry, domain] < _FREQUENT:
                # Each link may have a name of its own: one by one they would all be audited.
                entry = RuleEntry(entry.option)
        record = self._records.get((entry, domain))
        if record is None:
            record = EntryRecord(entry, domain, self.site(domain), self._max_false)
            self._records[entry, domain] = record
        return record

    def site(self, domain: str) -> SiteEvidence:
        """Return what is known of the pages of *domain*."""
        return self._sites.setdefault(domain, SiteEvidence())

    def _is_chosen(self, drop: Drop, records: list[EntryRecord]) -> bool:
        if any(map(self.is_awaited, records)):
            return True
        return self.is_affordable and self.has(drop)

    def is_awaited(self, record: EntryRecord) -> bool:
        """Tell whether the next drop by an entry is to be audited whatever the share."""
        if record.chosen >= FIRST:
            is_suspected = bool(record.others) and record.outcome is Outcome.OPEN
            return is_suspected and record.chosen < _SUSPECTED
        is_affordable = self.fetches < max(_EARLY_FETCHES, _EARLY_SHARE * self.pages)
        # None that was chosen is under way.
        is_next = not record.judged and record.chosen <= record.cannot_tell
        merges = record.chosen > 0 or record.considered <= _CONSIDERED
        return merges and (is_next or bool(record.others) or is_affordable)


def _drops_any_name(entry: RuleEntry) -> bool:
    return entry.option in BY_NAME and BY_NAME[entry.option].drops_any_name


def _is_auditable(drop: Drop) -> bool:
    """Tell whether *drop* is due to a rule, and fetching it is harmless and tells something."""
    request = drop.request
    return (
        not drop.is_exact
        and bool(drop.entries)
        and request.method == "GET"
        # The options are its own: no rule of the configuration is to blame.
        and not isinstance(request.meta.get(META_KEY), dict)
        # The server never sees the fragment.
        and request.url.partition("#")[0] != drop.first.partition("#")[0]
        and not mark_of(request, AUDIT)
        and not mark_of(request, RESCUE)
    )
