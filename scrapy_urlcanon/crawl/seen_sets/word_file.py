"""The file in which a job keeps a :class:`.CompactSet`."""

from __future__ import annotations

import logging
import os
import sys
from array import array
from errno import ENOSPC
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.seen_sets.base import failing
from scrapy_urlcanon.crawl.seen_sets.locked import lock
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

_MAGIC: Final = b"urlcanon"
_VERSION: Final = 1
_HEADER = 16
_RECORDS = 65_536
_BATCH = 8_192
"""How many bytes are collected before they are written."""


class WordFile:
    """A file of records of one or two 64-bit words, in the order in which they were added.

    A record of zeros means that the next record is removed from the set. Words are big-endian. The
    header has the version and the number of words in a record. What does not fit on a full disk is
    kept and written when there is room.

    :raises ConfigurationError: if it is another kind of file, or another process has it open.
    """

    def __init__(self, path: Path, words: int) -> None:
        self._path = path
        self._words = words
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not "a+b", since an incomplete record at the end is overwritten.
        path.touch()
        self._file = path.open("r+b", buffering=0)
        self._left = bytearray()
        self._write_at = _BATCH
        self._unwritten = failing(path)
        try:
            lock(self._file, path, name_of("seen_set"))
            self._check_header()
        except BaseException:
            self._file.close()
            raise

    def read(self) -> Iterator[tuple[int, int, bool]]:
        """Yield each record: its words (the second is 0 if missing), and whether it removes.

        An incomplete record at the end is cut off: a crawl was killed while writing it.
        """
        size = 8 * self._words
        self._file.seek(_HEADER)
        is_removed = False
        whole = _HEADER
        while data := self._file.read(size * _RECORDS):
            records = len(data) // size
            whole += records * size
            words = array("Q", data[: records * size])
            if sys.byteorder == "little":
                words.byteswap()
            rests = words[1::2] if self._words > 1 else bytes(records)
            for word, rest in zip(words[:: self._words], rests, strict=True):
                if word:
                    yield word, rest, is_removed
                is_removed = not word
        # A last record of zeros would remove what is added next.
        whole -= size * is_removed
        if whole != self._file.tell():
            logger.warning(
                "%(path)s ends with a part of a fingerprint, which is cut off: a crawl was killed.",
                {"path": self._path},
            )
        self._file.seek(whole)
        self._file.truncate()

    def add(self, word: int, rest: int) -> None:
        """Write that a fingerprint is added."""
        self._left += word.to_bytes(8, "big")
        if self._words > 1:
            self._left += rest.to_bytes(8, "big")
        if len(self._left) >= self._write_at:
            self._write()

    def remove(self, word: int, rest: int) -> None:
        """Write that a fingerprint is removed."""
        self._left += bytes(8 * self._words)
        self.add(word, rest)

    def close(self) -> None:
        """Write what is not written yet."""
        self._write()
        self._file.close()

    def _write(self) -> None:
        try:
            while self._left:
                # A full disk writes as much as fits, and the rest when it has room.
                del self._left[: self._file.write(self._left)]
            self._unwritten.is_so = False
        except OSError as error:
            self._unwritten.note(error)
        self._write_at = len(self._left) + _BATCH

    def _check_header(self) -> None:
        expected = _MAGIC + bytes((_VERSION, self._words)) + bytes(6)
        found = self._file.read(_HEADER)
        if len(found) < _HEADER and expected.startswith(found):
            self._file.seek(0)
            if self._file.write(expected) < _HEADER:
                raise OSError(ENOSPC, os.strerror(ENOSPC), str(self._path))
            return
        if found == expected:
            return
        if not found.startswith(_MAGIC) or len(found) < _HEADER:
            problem = "it is no set of seen fingerprints"
        elif found[8] != _VERSION:
            problem = f"its version is {found[8]}, and this release reads version {_VERSION}"
        else:
            problem = f"it has {64 * found[9]} bits of each fingerprint, not {64 * self._words}"
        message = (
            f"{self._path} cannot be used: {problem}; begin a new job, or take the old setting"
        )
        raise ConfigurationError([Problem(name_of("seen_set"), message)])


def count_in_file(path: Path) -> int:
    """Return how many records the file at *path* has, including those for removals."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    words = header[9] if len(header) == _HEADER and header[9] else 1
    return max(0, path.stat().st_size - _HEADER) // (8 * words)
