"""Reports the audit results of each entry in the stats and the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord

logger = logging.getLogger(__name__)

_ROWS = 20


class AuditFigures:
    """Sets the stats of the first entries during the crawl, and of the most audited at its end.

    So they can be watched from the telnet console, and their number is bounded.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._shown: set[EntryRecord] = set()

    def show(self, records: Iterable[EntryRecord]) -> None:
        """Update the stats of those of *records* that are shown."""
        for record in records:
            if record in self._shown or len(self._shown) < _ROWS:
                self._shown.add(record)
                self._set(record)

    def complete(self, records: list[EntryRecord], spider: Spider) -> None:
        """Set the stats of the first of *records*, which are sorted by audits, and log them."""
        # Once a parameter has a record of its own, that of its option may be empty.
        rows = [
            record
            for record in records[:_ROWS]
            if record.judged or record.cannot_tell or record.until is not None
        ]
        for record in rows:
            self._set(record)
            Stat.AUDIT_RULE_NOISE.set(self._crawler, record.noise, **_names(record))
        if rows:
            logger.info("\n".join(_lines(rows)), extra={"spider": spider})

    def _set(self, record: EntryRecord) -> None:
        names = _names(record)
        Stat.AUDIT_RULE_SAME.set(self._crawler, record.same, **names)
        Stat.AUDIT_RULE_ANOTHER.set(self._crawler, len(record.others), **names)
        Stat.AUDIT_RULE_CANNOT_TELL.set(self._crawler, record.cannot_tell, **names)
        Stat.AUDIT_RULE_OUTCOME.set(self._crawler, record.outcome.value, **names)
        if record.until is not None:
            Stat.AUDIT_RULE_UNTIL.set(self._crawler, record.until, **names)


def _names(record: EntryRecord) -> dict[str, str]:
    return {"rule": str(record.entry), "domain": record.domain}


def _lines(records: Iterable[EntryRecord]) -> Iterator[str]:
    yield "Audited duplicates: the same page, another one, and where it could not be told"
    for record in records:
        alone = ", by one content alone" if record.has_one_content else ""
        off = "" if record.until is None else f", off since the spider had {record.until:,} pages"
        yield (
            f"{record.same:8,} {len(record.others):6,} {record.cannot_tell:6,}  "
            f"{record.entry} on {record.domain}: {record.outcome.value}{alone}{off}"
        )
