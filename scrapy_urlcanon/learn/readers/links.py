"""Reads the links between pages that the recorder stored."""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.learn.classes.coverage import Share
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.links import Links
from scrapy_urlcanon.learn.readers.store import opened

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_WHOLE = "finished"
"""Scrapy's finish reason of a crawl that left nothing to fetch."""

_ENDED = (
    "SELECT ended FROM (SELECT DISTINCT crawl FROM responses WHERE domain = ?) "
    "LEFT JOIN crawls ON crawl = crawls.id"
)
_PAGES = "SELECT key, url FROM responses WHERE domain = ? AND key IS NOT NULL"
_LINKS = "SELECT key, linked FROM links WHERE domain = ? ORDER BY crawl, number"


class StoredLinks(NamedTuple):
    """The links in stores; it can be pickled. Links that cannot be understood are left out.

    :raises StoreVersionError: by each method, if another version of this package wrote a store.
    :raises InputError: by each method, if a store cannot be read to its end.
    """

    paths: Sequence[Path]

    def are_whole(self, domain: str) -> bool:
        """Tell whether all crawls of a domain ended because nothing was left to fetch."""
        for path in self.paths:
            with opened(path) as connection:
                if not _has_links(connection):
                    return False
                if any(reason != _WHOLE for (reason,) in connection.execute(_ENDED, (domain,))):
                    return False
        return True

    def of(self, domain: str, row_of: Callable[[str], int]) -> Links | None:
        """Return the links of a domain; None if there are none.

        :param row_of: returns the row of a URL.
        """
        rows: dict[int, list[int]] = {}
        for key, url in self._rows(_PAGES, domain):
            if isinstance(key, int) and isinstance(url, str) and (row := row_of(url)) != NO_ROW:
                rows.setdefault(key, []).append(row)
        links = Links(array("i"), array("i"), frozenset(), Share())
        starts: set[int] = set()
        linked: set[int] = set()
        for key, packed in self._rows(_LINKS, domain):
            targets = _unpacked(packed)
            linked.update(targets)
            found = [row for target in targets for row in rows.get(target, ())]
            if not isinstance(key, int):
                starts.update(found)
                continue
            for row in rows.get(key, ()):
                links.sources.extend([row] * len(found))
                links.targets.extend(found)
        if not linked:
            return None
        seen = Share(len(linked & rows.keys()), len(linked))
        return links._replace(starts=frozenset(starts), seen=seen)

    def _rows(self, asked: str, domain: str) -> Iterator[tuple[object, object]]:
        for path in self.paths:
            with opened(path) as connection:
                if _has_links(connection):
                    yield from connection.execute(asked, (domain,))


def _has_links(connection: sqlite3.Connection) -> bool:
    """Tell whether a store has links: their table is made with the first link."""
    return bool(connection.execute("PRAGMA table_info(links)").fetchall())


def _unpacked(packed: object) -> Sequence[int]:
    """Return the unpacked keys; none if the data are broken."""
    if not isinstance(packed, bytes) or len(packed) % 8:
        return ()
    return struct.unpack(f"<{len(packed) // 8}q", packed)
