"""Finds the audit record of each rule entry on each domain of a crawl."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
from scrapy_urlcanon.crawl.checks.sites import Sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.crawl.dropped.drop import Drop

_FREQUENT = 3
"""For options that drop any name, a parameter gets a record of its own once it was in this many
URLs."""
_REMEMBERED_NAMES = 100_000


class EntryRecords:
    """Has a record for each entry on each domain, in bounded memory.

    :param max_false: the rate of false merges above which an entry fails.
    :param on_forget: called with each record of a domain that is forgotten.
    """

    def __init__(self, max_false: float, on_forget: Callable[[EntryRecord], object]) -> None:
        self._max_false = max_false
        self._on_forget = on_forget
        self.sites = Sites(self._forget)
        """The evidence about the pages of each domain."""
        self._records: dict[str, dict[RuleEntry, EntryRecord]] = {}
        # By entry and domain: hashes of the first few URLs that had a parameter of that name.
        self._names: dict[tuple[RuleEntry, str], set[int]] = {}

    @property
    def audited(self) -> list[EntryRecord]:
        """The records of all audited entries, the most audited first."""
        of_all = chain.from_iterable(map(dict.values, self._records.values()))
        records = (record for record in of_all if record.chosen)
        return sorted(records, key=lambda record: -record.judged)

    def note(self, drop: Drop) -> None:
        """Count the parameters that an option such as ``keep_params`` dropped from *drop*."""
        if len(self._names) > _REMEMBERED_NAMES:
            self._names.clear()
        for entry in drop.entries:
            # Only names in the dropped URL: the representative's would be counted again and again.
            if _drops_any_name(entry) and entry.entry in drop.request.url:
                urls = self._names.setdefault((entry, drop.domain), set())
                if len(urls) < _FREQUENT:
                    urls.add(hash(drop.request.url))

    def of(self, entries: Iterable[RuleEntry], domain: str) -> list[EntryRecord]:
        """Return the records of *entries*, each once."""
        return list(dict.fromkeys(self.record(entry, domain) for entry in entries))

    def record(self, entry: RuleEntry, domain: str, *, is_guilty: bool = False) -> EntryRecord:
        """Return the record of *entry* on *domain*, new if there is none.

        :param is_guilty: whether it is known to be to blame, so that it gets a record of its own.
        """
        if _drops_any_name(entry):
            if is_guilty:
                self._names[entry, domain] = {*range(_FREQUENT)}
            elif len(self._names.get((entry, domain), ())) < _FREQUENT:
                # Each link may have a parameter name of its own, and all of them would be audited
                # one by one.
                entry = RuleEntry(entry.option)
        site = self.sites.of(domain)
        records = self._records.setdefault(domain, {})
        record = records.get(entry)
        if record is None:
            record = records[entry] = EntryRecord(entry, domain, site, self._max_false)
        return record

    def _forget(self, domain: str) -> None:
        """Forget the records of *domain*. They are started anew if anything is dropped there."""
        for record in self._records.pop(domain, {}).values():
            self._on_forget(record)


def _drops_any_name(entry: RuleEntry) -> bool:
    return entry.option in BY_NAME and BY_NAME[entry.option].drops_any_name
