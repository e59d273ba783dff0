"""Keeps the entries that wait for an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.checks.fetch_budget import Need

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord


class WaitingEntries:
    """Keeps the records of entries that wait for an audit, with a queue for each need.

    In a broad crawl tens of thousands wait. With queues not all of them have to be searched
    whenever there is room for one audit.
    """

    def __init__(self) -> None:
        self._by_need: dict[Need, dict[EntryRecord, None]] = {need: {} for need in Need}
        # Each with the number of pages at which it is due. These numbers only grow, so the entry
        # that is due next is first.
        self._put_off: dict[EntryRecord, int] = {}

    def __contains__(self, record: EntryRecord) -> bool:
        """Tell whether *record* waits for an audit or for more pages."""
        return record in self._put_off or any(record in some for some in self._by_need.values())

    def __bool__(self) -> bool:
        """Tell whether anything waits."""
        return bool(self._put_off) or any(self._by_need.values())

    def add(self, record: EntryRecord) -> None:
        """Let *record* wait for an audit, unless it needs none or waits for more pages."""
        need = record.need
        if need is not None and record not in self._put_off and record not in self._by_need[need]:
            self.discard(record)
            self._by_need[need][record] = None

    def discard(self, record: EntryRecord) -> None:
        """Remove *record* from those that wait."""
        self._put_off.pop(record, None)
        for some in self._by_need.values():
            some.pop(record, None)

    def put_off(self, record: EntryRecord, pages: int) -> None:
        """Let *record* wait until the crawl has this many *pages*."""
        self.discard(record)
        self._put_off[record] = pages

    def go_on(self, pages: int | None = None) -> None:
        """End the waits for more pages that are due at this many *pages*, or all if None."""
        while self._put_off:
            record, due = next(iter(self._put_off.items()))
            if pages is not None and due > pages:
                return
            del self._put_off[record]
            self.add(record)

    def of(self, need: Need) -> tuple[EntryRecord, ...]:
        """Return the records that wait because of *need*, in the order in which they came.

        The need of a record may have changed since.
        """
        return tuple(self._by_need[need])
