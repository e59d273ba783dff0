"""What a set of fingerprints is."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

COMPACT_FILE: Final = "urlcanon.seen"
DISK_FILE: Final = "urlcanon.seen.db"
_DIGEST_SIZE = 20


class SeenSet(ABC):
    """A set of fingerprints that grows; it may know them by a part of their bits only."""

    @abstractmethod
    def add(self, fingerprint: bytes) -> bool:
        """Add *fingerprint*, and return whether it is new."""

    @abstractmethod
    def discard(self, fingerprint: bytes) -> None:
        """Forget *fingerprint*."""

    @abstractmethod
    def __contains__(self, fingerprint: object) -> bool: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def close(self) -> None:
        """Write what is not written yet, and let go of the file."""


def bits_of(fingerprint: bytes) -> bytes:
    """Return at least 16 bytes of *fingerprint* that are spread as those of a hash.

    >>> bits_of(b"short").hex()
    'e0a31a29d910268d15c3f35e2adb3107'
    """
    if len(fingerprint) == _DIGEST_SIZE:
        # A SHA-1 digest, as those of Scrapy and ours.
        return fingerprint
    return blake2b(fingerprint, digest_size=16).digest()


class Unwritten:
    """Says of a file that it cannot be written: once, until it can again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_so = False
        """Whether it cannot be written, as far as is known."""

    def note(self, error: Exception) -> None:
        """Note that it could not."""
        if not self.is_so:
            self.is_so = True
            logger.error(
                "%(path)s cannot be written: %(error)s. What is seen stays in memory until it can; "
                "if the crawl is killed before, more is fetched again.",
                {"path": self._path, "error": error},
            )
