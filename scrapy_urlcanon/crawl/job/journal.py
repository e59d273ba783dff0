"""The journal of a job: what was scheduled, begun and done, in a file that survives a kill.

The file is a line that names its format, followed by records. A record is the length and the CRC-32
checksum of its data, four bytes each, and the data, a pickled tuple. Requests that a page yielded
are written before the page is written as done, so any prefix of the records is a consistent
journal. Reading stops at the first record that cannot be read.
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
    """A run began. In place of the fingerprint it has the digest of the rules."""
    CLOSED = 1
    """The run ended in order: Scrapy has stored its queue and its fingerprints."""
    SCHEDULED = 2
    """A request was given to the scheduler, which may have dropped it."""
    BEGUN = 3
    """A request was sent: its page may have been fetched."""
    FETCHED = 4
    """The spider got the page, and all that its callback yielded was scheduled."""
    FAILED = 5
    """The request failed for good."""
    WAITING = 6
    """At the end of a run, a dropped variant was waiting for its representative."""
    MERGED = 7
    """At the end of a run, the entry that merged a dropped variant could still prove wrong."""
    LED = 8
    """The spider got what a URL of the page gave instead: another page, or a response that it
    handles itself, such as an error."""
    ASKED = 9
    """A callback that got the page asks for it by another request (a second step), and has the page
    only when that has come."""
    ANSWERED = 10
    """The HTTP cache answered the request with what another URL of the page had shown. The outcome
    is that of a request for that URL; the one that was scheduled was not sent."""


OUTCOMES = frozenset({Kind.FETCHED, Kind.FAILED, Kind.LED})
_HAVE_REQUEST = {Kind.SCHEDULED, Kind.WAITING, Kind.MERGED, Kind.ANSWERED}


class Record(NamedTuple):
    """One entry of the journal."""

    kind: Kind
    fingerprint: bytes = b""
    page: bytes = b""
    """The fingerprint of the page, if that of the request differs."""
    callback: str = ""
    """The name of the callback, as :func:`.callback_of` returns it."""
    identity: bytes = b""
    """It tells apart requests for one page, by :func:`.identity_of`. For an outcome or
    ``ANSWERED``: set if the request had ``dont_filter``. For ``SCHEDULED``: set if it is a retry
    that a callback made. For ``ASKED``: the callback of the second step, whose page is in the
    fingerprint."""
    request: dict[str, Any] | None = None
    """The request as :meth:`scrapy.Request.to_dict` returns it, without empty values."""
    digest: bytes = b""
    """For an outcome of a request with the fingerprint of its page: a hash of the request that does
    not depend on the rules (:func:`.digest_of`)."""


class Journal:
    """A file of records that grows by one record at a time.

    Each record is handed to the operating system at once, so it survives whatever happens to the
    process. It is not forced to the disk: a crash of the machine may lose the last ones. The file
    grows by some 200 bytes for each request.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        """Why the rest of the file cannot be read; set by :meth:`scan`."""
        self.last_kind: Kind | None = None
        """The kind of the last record; set by :meth:`scan`."""
        self._file: BinaryIO | None = None
        self._directory: int | None = None
        # Offsets: where the records end, where the last one begins, and where they ended when
        # scanned.
        self._end = self._last = self._readable = 0
        self._is_torn = False

    @staticmethod
    def problem_of(path: Path) -> str | None:
        """Return why the file at *path* is no journal of this version, or None if it is.

        A file with only a part of the first line, or none of it, is one.
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
        """Find where the records end: before the first that is incomplete or invalid.

        :param check: called with each record; raises if the record cannot be used.
        :raises ConfigurationError: if another process is writing to it.
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
        """Yield the records that the scan found, without those added since."""
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
        """Replace the records that the scan found by *records*, all of them or none.

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
        """Lock the job against other crawls until :meth:`close`, without writing anything.

        :raises ConfigurationError: if another crawl has it.
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
        """Start to write after the last record that the scan found.

        :param rules: the digest of the rules under which fingerprints are made.
        :raises OSError: if that cannot be written. It is tried again with each record.
        """
        self._is_torn = True
        try:
            self.add(Record(Kind.OPENED, rules))
        except OSError:
            if self.last_kind is Kind.CLOSED:
                # The job must not look closed while it runs. A file can be cut even if the disk is
                # full.
                self._end = self._last
                self._mend()
            raise

    def close(self) -> None:
        """Close the file and unlock the job."""
        if self._file:
            self._file.close()
        if self._directory is not None:
            os.close(self._directory)
        self._file = self._directory = None

    def add(self, record: Record) -> None:
        """Write *record*, wholly or not at all.

        :raises ValueError: if its request cannot be pickled.
        :raises OSError: if it cannot be written.
        """
        written = _encode(record)
        if not self._end:
            written = FORMAT + written
        file = self._mend()
        self._is_torn = True
        if file.write(written) != len(written):
            # A full disk writes as much as it has room for.
            self._mend()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self._is_torn = False
        self._end += len(written)

    def _mend(self) -> BinaryIO:
        """Return the open file, cut after its last whole record."""
        if self._file is None:
            # It stays open as long as the crawl runs.
            self._file = self.path.open("ab", buffering=0)
            lock(self._file, self.path.parent, "JOBDIR")
        if self._is_torn:
            self._file.truncate(self._end)
            self._is_torn = False
        return self._file


def scheduled(records: Iterable[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield the scheduled requests among *records*: each record, and the data of its request."""
    for record in records:
        if record.kind is Kind.SCHEDULED and record.request is not None:
            yield record, record.request


def _encode(record: Record) -> bytes:
    kind, *rest = record
    try:
        data = pickle.dumps((int(kind), *rest), protocol=4)
    except Exception as error:
        # Anything that cannot be pickled has an exception of its own.
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
