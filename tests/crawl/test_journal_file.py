"""The file of a journal: damaged records, and a replacement that fails."""

import errno
import pickle
import struct
from zlib import crc32

import pytest

from scrapy_urlcanon.crawl.job.journal import FORMAT, Journal, Kind, Record

BEGUN = pickle.dumps((int(Kind.BEGUN), b"x" * 20, b"", "", b"", None, b""))
"""What a record holds that says that a request was sent."""


def scanned(path):
    """Return the journal at *path*, and the kinds of its records."""
    journal = Journal(path)
    journal.scan(lambda _: None)
    return journal, [record.kind for record in journal]


def test_record_of_which_a_bit_was_lost_ends_the_journal(tmp_path):
    """A record with a flipped bit ends the journal, though it can be unpickled."""
    path = tmp_path / "journal"
    header = struct.pack(">LL", len(BEGUN), crc32(BEGUN))
    lost = BEGUN.replace(b"xx", b"xy", 1)
    path.write_bytes(FORMAT + header + BEGUN + header + lost + header + BEGUN)
    journal, kinds = scanned(path)
    assert kinds == [Kind.BEGUN]
    assert journal.problem.startswith("a record with a wrong checksum (at byte ")


def test_journal_that_cannot_be_replaced_is_as_it_was(tmp_path):
    """A replacement that fails halfway leaves the old journal, and no other file."""
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.open()
    journal.close()
    before = path.read_bytes()

    def half():
        yield Record(Kind.BEGUN, b"y" * 20)
        raise OSError(errno.ENOSPC, "No space left")

    journal, _ = scanned(path)
    with pytest.raises(OSError, match="No space left"):
        journal.replace(half())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    journal.replace([Record(Kind.CLOSED)])
    assert scanned(path)[1] == [Kind.CLOSED]
