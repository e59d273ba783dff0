"""Stores the waiting requests, in memory or in files, under growing numbers."""

from __future__ import annotations

import logging
import pickle
import struct
from typing import TYPE_CHECKING, BinaryIO
from zlib import crc32

from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Request, Spider

logger = logging.getLogger(__name__)

_HEADER = struct.Struct(">LL")
_SEGMENT = 1 << 24
"""The size of one file in bytes. A file is deleted when none of its requests waits any longer."""


class MemoryStore:
    """Stores requests in memory, by number."""

    def __init__(self) -> None:
        self._requests: dict[int, Request] = {}
        self._last = 0

    def put(self, request: Request) -> int:
        """Store *request*; return its number, which is higher than all before."""
        self._last += 1
        self._requests[self._last] = request
        return self._last

    def get(self, number: int) -> Request:
        """Return the request with this *number*."""
        return self._requests[number]

    def take(self, number: int) -> Request:
        """Return and remove the request with this *number*."""
        return self._requests.pop(number)


class DiskStore:
    """Stores requests in files of a directory, pickled as Scrapy does.

    A number is an offset in the concatenation of all files, so that a waiting request takes only a
    number in memory.

    :param spider: has the callbacks, which are stored by name.
    """

    def __init__(self, directory: Path, spider: Spider | None) -> None:
        self.directory = directory
        self._spider = spider
        directory.mkdir(parents=True, exist_ok=True)
        found = [int(path.suffix[1:]) for path in segments_in(directory)]
        # Always starts a new file: a kill may have torn the end of the last one.
        self._segment = max(found, default=-1) + 1
        self._end = 0
        self._waiting: dict[int, int] = {}
        self._writer: BinaryIO | None = None
        self._reader: tuple[int, BinaryIO] | None = None

    def put(self, request: Request) -> int:
        """Write *request*; return its number, which is higher than all before.

        :raises ValueError: if it cannot be pickled.
        :raises OSError: if it cannot be written.
        """
        try:
            data = pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        # As Scrapy's queues do (scrapy/squeues.py); RecursionError for what is nested too deep.
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise ValueError(str(error)) from error
        if self._end >= _SEGMENT:
            self._begin_segment()
        if self._writer is None:
            self._writer = self._path(self._segment).open("ab", buffering=0)
        self._writer.seek(self._end)
        record = _HEADER.pack(len(data), crc32(data)) + data
        if self._writer.write(record) != len(record):
            self._writer.truncate(self._end)
            raise OSError("No room for a request on the disk")
        number = self._segment * _SEGMENT * 2 + self._end
        self._end += len(record)
        self.restore(number)
        return number

    def restore(self, number: int) -> None:
        """Note that a request that was written before waits under *number*."""
        segment = number // (2 * _SEGMENT)
        self._waiting[segment] = self._waiting.get(segment, 0) + 1

    def get(self, number: int) -> Request | None:
        """Return the request with this *number*, or None if it can no longer be read."""
        segment, offset = divmod(number, 2 * _SEGMENT)
        try:
            file = self._file(segment)
            file.seek(offset)
            size, checksum = _HEADER.unpack(file.read(_HEADER.size))
            data = file.read(size)
            if crc32(data) != checksum:
                raise ValueError("wrong checksum")  # noqa: TRY301 - all that is wrong is told once
            # A job is trusted, as Scrapy's queue is.
            return request_from_dict(pickle.loads(data), spider=self._spider)  # noqa: S301
        # A class or a callback may have changed since, with any exception.
        except Exception as error:  # noqa: BLE001
            logger.error(  # noqa: TRY400 - the message says it all
                "A waiting request can no longer be read: %(error)s",
                {"error": error},
                extra={"spider": self._spider},
            )
            return None

    def take(self, number: int) -> Request | None:
        """Return and remove the request with this *number*."""
        request = self.get(number)
        segment = number // (2 * _SEGMENT)
        self._waiting[segment] -= 1
        if not self._waiting[segment]:
            del self._waiting[segment]
            if segment == self._segment:
                self._begin_segment()
            self._delete(segment)
        return request

    def close(self) -> None:
        """Close the files."""
        for file in (self._writer, self._reader and self._reader[1]):
            if file:
                file.close()
        self._writer = self._reader = None

    def _begin_segment(self) -> None:
        if self._writer:
            self._writer.close()
        self._writer = None
        self._segment += 1
        self._end = 0

    def _delete(self, segment: int) -> None:
        if self._reader and self._reader[0] == segment:
            self._reader[1].close()
            self._reader = None
        self._path(segment).unlink(missing_ok=True)

    def _file(self, segment: int) -> BinaryIO:
        if self._reader is None or self._reader[0] != segment:
            if self._reader:
                self._reader[1].close()
                self._reader = None
            # It stays open, since the next requests are mostly in the same file.
            self._reader = segment, self._path(segment).open("rb", buffering=0)
        return self._reader[1]

    def _path(self, segment: int) -> Path:
        return self.directory / f"urlcanon.{segment}"


def segments_in(directory: Path) -> list[Path]:
    """Return the files of requests in *directory*."""
    return [path for path in directory.glob("urlcanon.*") if path.suffix[1:].isdecimal()]
