"""The file that says where the pages of skipped URLs are: ``URLCANON_SKIP_PLACES``."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.failing_files import FailingFile
from scrapy_urlcanon.crawl.seen_sets.database import Kind, open_database
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_urlcanon.canonicalizer import Canonicalizer

KIND: Final = Kind(
    setting=name_of("skip_places"),
    what="file of the places of skipped pages",
    application=0x75726C70,
    version=1,
    schema=("CREATE TABLE places (url TEXT PRIMARY KEY, place TEXT NOT NULL) WITHOUT ROWID",),
    advice="name another file for `learn --places`",
)

_MAX_HOPS = 20
"""The most steps from URL to URL, where the place of a skipped page is itself skipped."""


class SkipPlaces:
    """Knows by which other URLs the pages of skipped URLs can be fetched. The data stays on disk.

    :raises ConfigurationError: if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = open_database(path, KIND, is_shared=True)
        self._failing = FailingFile(
            path, "read", "The pages of what is skipped are not looked for any more."
        )

    @classmethod
    def of_crawl(cls, path: Path) -> SkipPlaces:
        """Open the file that the setting names.

        :raises ConfigurationError: if it does not exist or cannot be used.
        """
        if not path.is_file():
            raise ConfigurationError([Problem(KIND.setting, f"{path}: no such file")])
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, places: Mapping[str, str]) -> None:
        """Add *places*: URLs to fetch, by the canonical URLs that are skipped.

        :raises OSError: if they cannot be written.
        """
        try:
            with self._database:
                self._database.executemany(
                    "INSERT OR REPLACE INTO places VALUES (?, ?)", places.items()
                )
        except sqlite3.Error as error:
            raise OSError(None, str(error), str(self._path)) from error

    def of(self, canonical: str, canonicalizer: Canonicalizer) -> str | None:
        """Return the URL to fetch instead of a skipped one, or None if none is known.

        :param canonical: the canonical form of the skipped URL.
        :param canonicalizer: tells whether the other URL is skipped too.
        """
        for _ in range(_MAX_HOPS):
            place = self._at(canonical)
            found = place and canonicalizer.canonical_or_none(place)
            if not found or not canonicalizer.cause_of_skip(found):
                return place if found else None
            canonical = found
        return None

    def _at(self, canonical: str) -> str | None:
        try:
            row = self._database.execute(
                "SELECT place FROM places WHERE url = ?", (canonical,)
            ).fetchone()
        except sqlite3.Error as error:
            self._failing.note(error)
            return None
        return row[0] if row else None
