"""The entries of rules that wait for an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.checks.fetch_budget import Need

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord


class WaitingEntries:
    """Keeps the records of entries that wait, by why they are to be audited.

    In a broad crawl these are tens of thousands: to look at all of them, when there is room for one
    audit, would take longer with each site.
    """

    def __init__(self) -> None:
        self._by_need: dict[Need, dict[EntryRecord, None]] = {need: {} for need in Need}
        # Each with how many pages there have to be before it is looked for what to audit. These
        # grow: the one that is due next stands first.
        self._put_off: dict[EntryRecord, int] = {}

    def __contains__(self, record: EntryRecord) -> bool:
        """Tell whether *record* waits, be it for more pages."""
        return record in self._put_off or any(record in some for some in self._by_need.values())

    def __bool__(self) -> bool:
        """Tell whether anything waits."""
        return bool(self._put_off) or any(self._by_need.values())

    def add(self, record: EntryRecord) -> None:
        """Have *record* wait if it is to be audited, and does not wait for more pages."""
        need = record.need
        if need is not None and record not in self._put_off and record not in self._by_need[need]:
            self.discard(record)
            self._by_need[need][record] = None

    def discard(self, record: EntryRecord) -> None:
        """Have *record* wait no more."""
        self._put_off.pop(record, None)
        for some in self._by_need.values():
            some.pop(record, None)

    def put_off(self, record: EntryRecord, pages: int) -> None:
        """Have *record* wait until there are so many *pages*."""
        self.discard(record)
        self._put_off[record] = pages

    def go_on(self, pages: int | None = None) -> None:
        """Have what waited for so many *pages* wait for nothing; all of it with None."""
        while self._put_off:
            record, due = next(iter(self._put_off.items()))
            if pages is not None and due > pages:
                return
            del self._put_off[record]
            self.add(record)

    def of(self, need: Need) -> tuple[EntryRecord, ...]:
        """Return what began to wait for *need*, and not for more pages, in that order.

        Another need may have taken its place.
        """
        return tuple(self._by_need[need])
