"""Keeps the digests of what the pages of a crawl showed in a temporary file."""

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
"""More than the longest record; the digest of a page takes up to about 1,100 bytes."""
AT_HAND = 64
"""At most this many of the latest contents, and at least half as many, are also in memory."""


class KeptContents:
    """Remembers the content of each page in a temporary file, since few are ever needed again.

    At least the last ``limit // 2`` contents that were set are remembered, and at most *limit*.
    Memory holds only their offsets in the file, and the latest contents. No other process can open
    the file, and it vanishes with this one. If the disk is full that is logged once, and contents
    set meanwhile are not remembered.

    >>> contents = KeptContents(4)
    >>> for number in range(5):
    ...     contents[b"%d" % number] = PageDigest(b"digest %d" % number)
    >>> contents.get(b"0"), contents.get(b"4").digest
    (None, b'digest 4')
    """

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        # As in :class:`.BoundedMapping`, when the younger half is full the older one is forgotten.
        self._young, self._old = _Half(), _Half()
        # Contents of the pages that the spider is about to get: most requests are for these.
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
        """Return the content of *page*, or None."""
        return self._last.get(page) or self._young.get(page) or self._old.get(page)

    def pop(self, page: bytes) -> PageDigest | None:
        """Forget *page* and return its content, or None."""
        content = self.get(page)
        self._last.pop(page)
        self._young.places.pop(page, None)
        self._old.places.pop(page, None)
        return content


class _Half:
    """Contents of pages in one file."""

    def __init__(self) -> None:
        self.places: dict[bytes, int] = {}
        """The offset of the latest content of each page."""
        self.count = 0
        """How many contents were added, counting those that replaced others."""
        self._file: IO[bytes] | None = None

    def add(self, page: bytes, content: PageDigest) -> None:
        """Write *content* for *page*.

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
        """Return the content of *page*, or None."""
        place = self.places.get(page)
        if place is None or self._file is None:
            return None
        self._file.seek(place)
        # Written by this process; ``loads`` ignores the bytes after the record.
        return PageDigest(*marshal.loads(self._file.read(_MOST_BYTES)))  # noqa: S302


def _new_file() -> IO[bytes]:
    try:
        # Unbuffered: a write succeeds or raises at once.
        return TemporaryFile(prefix="urlcanon-", buffering=0)
    except OSError:
        # There is no writable folder, as in some containers. Memory has to do.
        return BytesIO()
