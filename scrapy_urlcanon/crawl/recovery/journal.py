"""The journal of a job: what was scheduled, begun and done, in a file that survives a kill."""

from __future__ import annotations

import enum
import logging
import pickle
import struct
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Self

logger = logging.getLogger(__name__)

_SIZE = struct.Struct(">L")


class Kind(enum.IntEnum):
    """What a record says."""

    OPENED = 0
    """A run began."""
    CLOSED = 1
    """The run ended in order: Scrapy has stored its queue and its fingerprints."""
    SCHEDULED = 2
    """A request was given to the scheduler, which may have dropped it."""
    BEGUN = 3
    """A request was sent: its page may have been fetched."""
    FETCHED = 4
    """The spider has got the page, and all that it made of it was scheduled."""
    FAILED = 5
    """The request failed for good."""
    WAITING = 6
    """A dropped variant waits for its representative, at the end of a run."""


class Record(NamedTuple):
    """One entry of the journal."""

    kind: Kind
    fingerprint: bytes = b""
    page: bytes = b""
    """The fingerprint of the page, where that of the request is its own."""
    callback: str = ""
    """For what of the spider the page was, as :func:`.callback_of` names it."""
    request: dict[str, Any] | None = None
    """As :meth:`scrapy.Request.to_dict` gives it, without what is empty."""


class Journal:
    """A file of records to which one is added at a time.

    Each is given to the operating system at once: whatever becomes of this process, the
    record is there. The file grows by some 200 bytes for each request.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def open(self) -> Self:
        """Begin to add, after the last whole record: a kill may have left half of one."""
        end = self._end()
        # The file stays open for as long as the crawl runs.
        self._file = self._path.open("ab", buffering=0)
        self._file.truncate(end)
        return self

    def close(self) -> None:
        """Add no more."""
        if self._file:
            self._file.close()
        self._file = None

    def add(self, record: Record) -> None:
        """Add *record*.

        :raises Exception: if its request cannot be pickled; nothing is added.
        """
        if self._file is None:
            return
        kind, *rest = record
        data = pickle.dumps((int(kind), *rest), protocol=4)
        self._file.write(_SIZE.pack(len(data)) + data)

    def __iter__(self) -> Iterator[Record]:
        """Yield the records, up to the first that is not whole."""
        for kind, *rest in self._read():
            yield Record(Kind(kind), *rest)

    def _read(self) -> Iterator[tuple[Any, ...]]:
        for data in self._chunks():
            yield pickle.loads(data)  # noqa: S301 - a job is trusted, as Scrapy's queue is

    def _chunks(self) -> Iterator[bytes]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            while len(header := file.read(_SIZE.size)) == _SIZE.size:
                (size,) = _SIZE.unpack(header)
                data = file.read(size)
                if len(data) < size:
                    return
                yield data

    def _end(self) -> int:
        return sum(_SIZE.size + len(data) for data in self._chunks())
