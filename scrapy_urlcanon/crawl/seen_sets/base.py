"""The interface of sets of seen fingerprints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.failing_files import FailingFile

if TYPE_CHECKING:
    from pathlib import Path

COMPACT_FILE: Final = "urlcanon.seen"
DISK_FILE: Final = "urlcanon.seen.db"
_DIGEST_SIZE = 20


class SeenSet(ABC):
    """A growing set of fingerprints. It may store only some of their bits."""

    @abstractmethod
    def add(self, fingerprint: bytes) -> bool:
        """Add *fingerprint*; return whether it is new."""

    @abstractmethod
    def discard(self, fingerprint: bytes) -> None:
        """Remove *fingerprint* if it is there."""

    @abstractmethod
    def __contains__(self, fingerprint: object) -> bool: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def close(self) -> None:
        """Write what is not written yet, and close the file."""


def bits_of(fingerprint: bytes) -> bytes:
    """Return at least 16 bytes of *fingerprint* that are distributed like those of a hash.

    >>> bits_of(b"short").hex()
    'e0a31a29d910268d15c3f35e2adb3107'
    """
    if len(fingerprint) == _DIGEST_SIZE:
        # A SHA-1 digest, as Scrapy's fingerprints and ours are.
        return fingerprint
    return blake2b(fingerprint, digest_size=16).digest()


def failing(path: Path) -> FailingFile:
    """Return what logs that the file of a set at *path* cannot be written."""
    return FailingFile(
        path,
        "written",
        "What is seen stays in memory until it can; if the crawl is killed before, more is fetched "
        "again.",
    )
