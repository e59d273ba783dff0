"""The records of the entries of rules, on each domain of a crawl."""

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
"""From how many URLs on a parameter that is not to be kept is judged by itself."""
_REMEMBERED_NAMES = 100_000


class EntryRecords:
    """Has a record of each entry on each domain, in bounded memory.

    :param max_false: the rate of false merges that is too much for an entry.
    :param on_forget: is called with each record of a domain of which nothing is known any more.
    """

    def __init__(self, max_false: float, on_forget: Callable[[EntryRecord], object]) -> None:
        self._max_false = max_false
        self._on_forget = on_forget
        self.sites = Sites(self._forget)
        """What is known of the pages of each domain."""
        self._records: dict[str, dict[RuleEntry, EntryRecord]] = {}
        # The URLs, by their hashes, that had a parameter of each name, up to a few of them.
        self._names: dict[tuple[RuleEntry, str], set[int]] = {}

    @property
    def audited(self) -> list[EntryRecord]:
        """What was found about each entry on each domain, the most audited first."""
        of_all = chain.from_iterable(map(dict.values, self._records.values()))
        records = (record for record in of_all if record.chosen)
        return sorted(records, key=lambda record: -record.judged)

    def note(self, drop: Drop) -> None:
        """Take note of the names of parameters that a variant which may be audited lost."""
        if len(self._names) > _REMEMBERED_NAMES:
            self._names.clear()
        for entry in drop.entries:
            # The URL that stands for it comes again and again.
            if _drops_any_name(entry) and entry.entry in drop.request.url:
                urls = self._names.setdefault((entry, drop.domain), set())
                if len(urls) < _FREQUENT:
                    urls.add(hash(drop.request.url))

    def of(self, entries: Iterable[RuleEntry], domain: str) -> list[EntryRecord]:
        """Return the records of *entries*, each once."""
        return list(dict.fromkeys(self.record(entry, domain) for entry in entries))

    def record(self, entry: RuleEntry, domain: str, *, is_guilty: bool = False) -> EntryRecord:
        """Return the record of *entry* on *domain*.

        :param is_guilty: whether it is known to be to blame, and not one of many.
        """
        if _drops_any_name(entry):
            if is_guilty:
                self._names[entry, domain] = {*range(_FREQUENT)}
            elif len(self._names.get((entry, domain), ())) < _FREQUENT:
                # Each link may have a name of its own: one by one they would all be audited.
                entry = RuleEntry(entry.option)
        site = self.sites.of(domain)
        records = self._records.setdefault(domain, {})
        record = records.get(entry)
        if record is None:
            record = records[entry] = EntryRecord(entry, domain, site, self._max_false)
        return record

    def _forget(self, domain: str) -> None:
        """Forget what was found on *domain*: it is begun anew if anything more is dropped there."""
        for record in self._records.pop(domain, {}).values():
            self._on_forget(record)


def _drops_any_name(entry: RuleEntry) -> bool:
    return entry.option in BY_NAME and BY_NAME[entry.option].drops_any_name
