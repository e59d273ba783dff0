"""The journal of a job: what was scheduled, begun and done, in a file that survives a kill.

The file is a line that names its format, and then records: the length and the checksum of what
follows, four bytes each, and a pickled tuple. What was made of a page is written before the page
is written down as done. So the records up to any point are a journal, and what cannot be read
ends it.
"""

from __future__ import annotations

import enum
import errno
import os
import pickle
import struct
from types import NoneType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from zlib import crc32

from scrapy_urlcanon.crawl.seen_sets.locked import lock
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FILE = "urlcanon.journal"
FORMAT = b"urlcanon journal 3\n"
_HEADER = struct.Struct(">LL")


class Kind(enum.IntEnum):
    """What a record says."""

    OPENED = 0
    """A run began, under the rules whose digest stands for the fingerprint."""
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
    MERGED = 7
    """What merged a dropped variant may yet prove wrong, at the end of a run."""
    LED = 8
    """The spider has got what a URL of the page led to: another page, or what it handles itself."""
    ASKED = 9
    """A callback that got the page asks for it by another request, and has it by that alone."""
    ANSWERED = 10
    """The HTTP cache answered the request for the page with what another URL of it had shown: what
    comes of it is that of a request for that URL, and the one that was scheduled was not sent."""


OUTCOMES = frozenset({Kind.FETCHED, Kind.FAILED, Kind.LED})
_HAVE_REQUEST = {Kind.SCHEDULED, Kind.WAITING, Kind.MERGED, Kind.ANSWERED}


class Record(NamedTuple):
    """One entry of the journal."""

    kind: Kind
    fingerprint: bytes = b""
    page: bytes = b""
    """The fingerprint of the page, where that of the request is its own."""
    callback: str = ""
    """For what of the spider the page was, as :func:`.callback_of` names it."""
    identity: bytes = b""
    """Of a request with ``dont_filter`` that ended, or that the HTTP cache answered: which of those
    for the page it was. Of one that is scheduled: the same, where it is a retry that a callback
    made. Of a page that is asked for by another request: the callback of that one, whose page has
    the fingerprint."""
    request: dict[str, Any] | None = None
    """As :meth:`scrapy.Request.to_dict` gives it, without what is empty."""
    digest: bytes = b""
    """Of a request that ended, and has the fingerprint of its page: what it has under other rules
    too (:func:`.digest_of`)."""


class Journal:
    """A file of records to which one is added at a time.

    Each is given to the operating system at once: whatever becomes of this process, the
    record is there. It is not forced to the disk, and a crash of the machine may cost the last
    ones. The file grows by some 200 bytes for each request.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        """Why the rest of the file cannot be read, after :meth:`scan`."""
        self.last_kind: Kind | None = None
        """That of the last record, after :meth:`scan`."""
        self._file: BinaryIO | None = None
        self._directory: int | None = None
        # Where the records end, where the last one begins, and where they ended at first.
        self._end = self._last = self._readable = 0
        self._is_torn = False

    @staticmethod
    def problem_of(path: Path) -> str | None:
        """Say why the file at *path* is no journal of this version, or return None.

        An empty file is one in which nothing could be written yet.
        """
        try:
            with path.open("rb") as file:
                begins = file.read(len(FORMAT))
        except OSError as error:
            return str(error.strerror or error)
        if FORMAT.startswith(begins):
            return None
        return f"expected a file that begins with {FORMAT.decode().strip()!r}"

    def scan(self, check: Callable[[Record], object]) -> None:
        """Find out where the records end: at the first that is not whole or not understood.

        :param check: is called with each record, and raises if it cannot be used.
        :raises ConfigurationError: if another process adds to it.
        """
        self.problem = self.last_kind = None
        self._end = self._last = self._readable = 0
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            lock(file, self.path.parent, "JOBDIR")
            if file.read(len(FORMAT)) != FORMAT:
                return
            self._end = self._readable = file.tell()
            while header := file.read(_HEADER.size):
                try:
                    record = _decode(header, file)
                    check(record)
                except Exception as error:  # noqa: BLE001 - as many as can come of any bytes
                    self.problem = f"{str(error) or type(error).__name__} (at byte {self._end})"
                    return
                self._last = self._end
                self._end = self._readable = file.tell()
                self.last_kind = record.kind

    def __iter__(self) -> Iterator[Record]:
        """Yield the records that the scan found, and none that were added since."""
        if not self._readable:
            return
        with self.path.open("rb") as file:
            file.seek(len(FORMAT))
            left = self._readable - len(FORMAT)
            while left:
                size, _ = _HEADER.unpack(file.read(_HEADER.size))
                left -= _HEADER.size + size
                yield _record(file.read(size))

    def replace(self, records: Iterable[Record]) -> None:
        """Put *records* in the place of those that the scan found: all of them, or none.

        :raises OSError: if they cannot be written.
        """
        written = self.path.with_name(f"{self.path.name}.new")
        try:
            with written.open("wb") as file:
                file.write(FORMAT)
                for record in records:
                    file.write(_encode(record))
            written.replace(self.path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise

    def hold(self) -> None:
        """Keep other crawls from the job until this one adds no more; nothing is written for that.

        :raises ConfigurationError: if another one has it.
        """
        try:
            directory = os.open(self.path.parent, os.O_RDONLY)
        except OSError:  # pragma: no cover - Windows opens no directory
            return
        try:
            lock(directory, self.path.parent, "JOBDIR")
        except ConfigurationError:
            os.close(directory)
            raise
        self._directory = directory

    def open(self, rules: bytes = b"") -> None:
        """Begin to add, after the last record that the scan found.

        :param rules: the digest of those that the fingerprints are of.
        :raises OSError: if that cannot be written down; it is tried again with each record.
        """
        self._is_torn = True
        try:
            self.add(Record(Kind.OPENED, rules))
        except OSError:
            if self.last_kind is Kind.CLOSED:
                # The job is not to look closed while it runs; a file can always be cut.
                self._end = self._last
                self._mend()
            raise

    def close(self) -> None:
        """Add no more."""
        if self._file:
            self._file.close()
        if self._directory is not None:
            os.close(self._directory)
        self._file = self._directory = None

    def add(self, record: Record) -> None:
        """Add *record*, or nothing at all.

        :raises ValueError: if its request cannot be pickled.
        :raises OSError: if it cannot be written.
        """
        written = _encode(record)
        if not self._end:
            written = FORMAT + written
        file = self._mend()
        self._is_torn = True
        if file.write(written) != len(written):
            # A full disk takes what it has room for.
            self._mend()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self._is_torn = False
        self._end += len(written)

    def _mend(self) -> BinaryIO:
        """Return the file, cut off after its last whole record."""
        if self._file is None:
            # It stays open for as long as the crawl runs.
            self._file = self.path.open("ab", buffering=0)
            lock(self._file, self.path.parent, "JOBDIR")
        if self._is_torn:
            self._file.truncate(self._end)
            self._is_torn = False
        return self._file


def _encode(record: Record) -> bytes:
    kind, *rest = record
    try:
        data = pickle.dumps((int(kind), *rest), protocol=4)
    except Exception as error:
        # As many as there are things that cannot be pickled.
        raise ValueError(str(error)) from error
    return _HEADER.pack(len(data), crc32(data)) + data


def _decode(header: bytes, file: BinaryIO) -> Record:
    if len(header) < _HEADER.size:
        raise ValueError("half a record")
    size, checksum = _HEADER.unpack(header)
    data = file.read(size)
    if len(data) < size:
        raise ValueError("half a record")
    if crc32(data) != checksum:
        raise ValueError("a record with a wrong checksum")
    record = _record(data)
    of_request = dict if record.kind in _HAVE_REQUEST else NoneType
    expected = (Kind, bytes, bytes, str, bytes, of_request, bytes)
    if not all(map(isinstance, record, expected)):
        raise ValueError("a record of another shape")
    return record


def _record(data: bytes) -> Record:
    kind, *rest = pickle.loads(data)  # noqa: S301 - a job is trusted, as Scrapy's queue is
    if len(rest) != len(Record._fields) - 1:
        raise ValueError("a record of another shape")
    return Record(Kind(kind), *rest)
