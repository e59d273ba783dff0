"""What the pages of a crawl showed, kept in a file."""

from __future__ import annotations

import logging
import marshal
import os
from errno import ENOSPC
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.pages.same_page import PageDigest

logger = logging.getLogger(__name__)

_MOST_BYTES = 2048
"""A content takes some 1,100 at most."""
AT_HAND = 64
"""So many of the last contents are in memory at most, or half as many."""


class KeptContents:
    """Remembers what each page showed, in a temporary file: few of them are ever asked for again.

    It remembers at least the last ``limit // 2`` contents that were set, and at most *limit*. In
    memory is only where each one stands, and the last few. Nobody else can open the file, and it
    is gone with the process. Where the disk is full that is said once, and what is set meanwhile
    is forgotten.

    >>> contents = KeptContents(4)
    >>> for number in range(5):
    ...     contents[b"%d" % number] = PageDigest(b"digest %d" % number)
    >>> contents.get(b"0"), contents.get(b"4").digest
    (None, b'digest 4')
    """

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        # When the younger one is full the older one is forgotten whole.
        self._young, self._old = _Half(), _Half()
        # Of the pages that the spider has next, which is when most are asked for.
        self._last: BoundedMapping[bytes, PageDigest] = BoundedMapping(min(self._half, AT_HAND))
        self._has_failed = False

    def __setitem__(self, page: bytes, content: PageDigest) -> None:
        """Remember *content* for *page*."""
        if self._young.count >= self._half:
            self._young, self._old = _Half(), self._young
        self._old.places.pop(page, None)
        self._last.pop(page)
        try:
            self._young.add(page, content)
            self._last[page] = content
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                logger.warning(
                    "Not all pages can be compared: their contents cannot be kept in a temporary "
                    "file: %s",
                    error,
                )

    def get(self, page: bytes) -> PageDigest | None:
        """Return what *page* showed, or None."""
        return self._last.get(page) or self._young.get(page) or self._old.get(page)

    def pop(self, page: bytes) -> PageDigest | None:
        """Forget *page* and return what it showed, or None."""
        content = self.get(page)
        self._last.pop(page)
        self._young.places.pop(page, None)
        self._old.places.pop(page, None)
        return content


class _Half:
    """Some contents in one file."""

    def __init__(self) -> None:
        self.places: dict[bytes, int] = {}
        """Where the last content of each page begins."""
        self.count = 0
        """How many were added, also for one page."""
        self._file: IO[bytes] | None = None

    def add(self, page: bytes, content: PageDigest) -> None:
        """Remember *content* for *page*.

        :raises OSError: if it cannot be written.
        """
        self.count += 1
        self.places.pop(page, None)
        if self._file is None:
            self._file = _new_file()
            finalize(self, self._file.close)
        record = marshal.dumps(tuple(content))
        place = self._file.seek(0, os.SEEK_END)
        if self._file.write(record) < len(record):
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self.places[page] = place

    def get(self, page: bytes) -> PageDigest | None:
        """Return what *page* showed, or None."""
        place = self.places.get(page)
        if place is None or self._file is None:
            return None
        self._file.seek(place)
        # Written by this process, and what follows is not looked at.
        return PageDigest(*marshal.loads(self._file.read(_MOST_BYTES)))  # noqa: S302


def _new_file() -> IO[bytes]:
    try:
        # No buffer: what is written is whole or an error.
        return TemporaryFile(prefix="urlcanon-", buffering=0)
    except OSError:
        # There is no folder to write to, as in some containers: memory has to do.
        return BytesIO()
