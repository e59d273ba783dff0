"""What the sets of seen fingerprints share: their files, and the bits that they keep."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.failing_files import FailingFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMPACT_FILE: Final = "urlcanon.seen"
DISK_FILE: Final = "urlcanon.seen.db"
_DIGEST_SIZE = 20


def bits_of_digest(fingerprint: bytes) -> bytes:
    """Return *fingerprint* itself if it has the length of a SHA-1 digest, else a hash of it.

    For the fingerprints of Scrapy and of the plugin: where no others are made, those of that length
    are digests.
    """
    return fingerprint if len(fingerprint) == _DIGEST_SIZE else bits_of_any(fingerprint)


def bits_of_any(fingerprint: bytes) -> bytes:
    r"""Return 16 bytes of a hash of *fingerprint*.

    A fingerprinter of the user may return the text of a number or of a URL.

    >>> bits_of_any(b"%020d" % 1).hex(), bits_of_any(b"%020d" % 2).hex()
    ('20a1b1c5f1067ac5b5a9705f7cef6757', 'c8ad7f4e491a576a235afd75699c4fed')
    """
    return blake2b(fingerprint, digest_size=16).digest()


def bits_by(fingerprinter: object) -> Callable[[bytes], bytes]:
    """Return the function that makes at least 16 hashed bytes of what *fingerprinter* returns."""
    return bits_of_digest if getattr(fingerprinter, "gives_digests", False) else bits_of_any


def failing(path: Path) -> FailingFile:
    """Return what logs that the file of a set at *path* cannot be written."""
    return FailingFile(
        path,
        "written",
        "What is seen stays in memory until it can; if the crawl is killed before, more is fetched "
        "again.",
    )
