"""The observation store: what a crawl saw, in one SQLite file, without bodies."""

from __future__ import annotations

import json
import logging
import sqlite3
import struct
import zlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import is_page
from scrapy_urlcanon.learn.store_file import LINKS, open_store
from scrapy_urlcanon.pages.blocks import pack_outlines
from scrapy_urlcanon.pages.canonical_link import absolute
from scrapy_urlcanon.pages.signature import MAX_PACKED, RAW, Lines, Signature, pack_hashes

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.pages.page import Page
    from scrapy_urlcanon.pages.visits import Visits

logger = logging.getLogger(__name__)

BATCH = 200
"""Responses in one transaction. A kill may lose one batch that is collected and one that is
written."""

MAX_WAITING = 50
"""How many batches, some 400 kB each, are kept while the file is locked or the disk is full."""

MAX_ROWS = 10_000_000
"""How many responses a store takes, 0.3 to 1.5 kB each: an endless crawl must not fill the disk."""

SAME_URL = "="
"""Stored as the canonical URL of a page that declares its own URL."""

_NOTHING = Signature("", "", 0, Lines())

_KNOWN_TEXTS = 20_000
"""For how many texts the row is cached: variants of a page share one text."""

_KNOWN_DOMAINS = 2_000
"""For how many domains the first text is cached, 1 to 5 kB each."""
_WINDOW = -14  # 16 kB, for two texts of the most lines that there may be, and no header

_Row = tuple[Any, ...]
_Text = tuple["str | bytes", str, bytes]
"""Digest, title and lines of a page, packed."""


@define
class _Batch:
    """The rows that are written in one transaction."""

    rows: list[tuple[_Row, _Text]] = field(factory=list)
    audits: list[_Row] = field(factory=list)
    visits: list[tuple[_Row, _Text | None]] = field(factory=list)
    links: list[_Row] = field(factory=list)

    @property
    def size(self) -> int:
        """The number of rows that count for the size of a batch."""
        return max(len(self.rows), len(self.audits), len(self.links))

    def __bool__(self) -> bool:
        """Tell whether there is anything to write."""
        return bool(self.size or self.visits)


class ObservationStore:
    """Records the responses of a crawl, in batches, in a thread of its own.

    It never stops a crawl. If the file is locked by another process, or the disk is full, it logs
    that, tries again with each batch, and counts in :attr:`refused` what no longer fits in memory.
    :func:`~scrapy_urlcanon.learn.readers.read` reads what it recorded.

    >>> import tempfile
    >>> from scrapy_urlcanon.learn.readers.store import read_store
    >>> from scrapy_urlcanon.pages.page import Page
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, "observations.sqlite")
    ...     with ObservationStore(path) as store:
    ...         store.add(Page("http://a.example/", b"<p>Hello", "<p>Hello"), status=200)
    ...     [observation.url for observation in read_store(path)]
    ['http://a.example/']
    """

    def __init__(self, path: str | os.PathLike[str], *, max_rows: int = MAX_ROWS) -> None:
        """Open a store, or create one.

        :raises StoreVersionError: if another version wrote it.
        :raises InputError: if the file is something else, or cannot be written.
        """
        self.refused = 0
        """Responses and redirects that were not kept: the store was full, or could not be
        written."""
        self._path = Path(path)
        self._connection = open_store(self._path, writable=True)
        self._writer = ThreadPoolExecutor(1, "observations")
        self._writing: Future[None] | None = None
        self._is_late = False
        self._batch = _Batch()
        # The writer removes a batch from the left once it is written.
        self._waiting: deque[_Batch] = deque()
        self._numbers = count()
        self._texts: dict[int, int | None] = {}
        self._firsts: dict[str, tuple[int | None, bytes]] = {}
        self._crawl: int | None = None
        try:
            (rows,) = self._connection.execute("SELECT count(*) FROM responses").fetchone()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            msg = f"{path}: cannot be read to its end: {error}"
            raise InputError(msg) from error
        self._room = max_rows - rows
        self._failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def begin(self, started: datetime, rules: Iterable[RuleInForce]) -> None:
        """Begin a crawl under *rules*, in their order; what is added from now on belongs to it."""
        self.flush()
        text = json.dumps([(rule.pattern, rule.option, rule.setting) for rule in rules])
        version = sha1(text.encode(), usedforsecurity=False).hexdigest()
        try:
            with self._connection:
                self._connection.execute(
                    "INSERT OR IGNORE INTO rules VALUES (?, ?)", (version, text)
                )
                self._crawl = self._connection.execute(
                    "INSERT INTO crawls (started, rules) VALUES (?, ?)",
                    (started.isoformat(timespec="microseconds"), version),
                ).lastrowid
        except sqlite3.Error as error:
            self._give_up(error)

    def end(self, reason: object) -> None:
        """End the crawl that was begun; *reason* is Scrapy's, ``finished`` if nothing was left.

        A spider may give anything as its reason, such as an exception or what a page said.
        """
        self.flush()
        written = str(reason).encode("utf-8", "backslashreplace").decode()
        try:
            with self._connection:
                self._connection.execute(
                    "UPDATE crawls SET ended = ? WHERE id = ?", (written, self._crawl)
                )
        except sqlite3.Error as error:
            self._give_up(error)

    def add(
        self,
        page: Page,
        *,
        status: int,
        is_whole: bool = True,
        key: int | None = None,
    ) -> None:
        """Record one response.

        :param is_whole: whether the whole body came; the beginning of a page does not identify it.
        :param key: identifies the page in links: a signed 64-bit number.
        """
        if not self._has_room():
            return
        has_content = is_whole and bool(page.body) and is_page(status)
        signature = page.signature if has_content else _NOTHING
        self._add_row(page.url, status, len(page.body), signature, page.canonical, key=key)
        self._flush_batch()

    def add_redirect(self, url: str, status: int, target: str, *, key: int | None = None) -> None:
        """Record a redirect; *target* may be relative."""
        if self._has_room():
            self._add_row(url, status, redirect=absolute(url, target), key=key)
            self._flush_batch()

    def add_links(self, domain: str, key: int | None, linked: Sequence[int]) -> None:
        """Record which pages of *domain* a page links to, in a crawl that was begun.

        :param key: that of the page; None if *linked* are the start requests of the crawl.
        """
        if self._crawl is not None and not self._failed:
            packed = struct.pack(f"<{len(linked)}q", *linked)
            self._batch.links.append((domain, self._crawl, next(self._numbers), key, packed))
            self._flush_batch()

    def add_audit(
        self, url: str, kept: str, *, entry: RuleEntry, rule: RuleInForce | None = None, same: bool
    ) -> None:
        """Record what an audit found.

        :param url: a URL that *entry* would have dropped.
        :param kept: the URL that stood for it.
        :param rule: the rule that has *entry*; None if it is none of those that the crawl began
            with, for example that of a preset.
        :param same: whether both URLs show one page.
        """
        if self._failed:
            return
        credit = (rule.pattern, json.dumps(rule.setting)) if rule else (None, None)
        self._batch.audits.append(
            (self._crawl, domain_of(url), url, kept, str(entry), *credit, int(same))
        )
        self._flush_batch()

    def add_visits(self, url: str, visits: Visits, again: Signature | None = None) -> None:
        """Record what two visits of *url* showed about its site.

        :param again: what the second visit showed; None if that was the same byte for byte.
        """
        if not self._failed:
            kept = (
                pack_hashes(visits.steady),
                pack_hashes(visits.noise),
                pack_outlines(*visits.outlines),
            )
            row = self._crawl, domain_of(url), *kept, url
            self._batch.visits.append((row, _text_of(again) if again else None))
            self._flush_batch()

    def flush(self) -> None:
        """Write everything that was added, and wait until it is written."""
        # Twice: a process that had locked the file may be done by now.
        for _ in range(2):
            self._write_batch()
            if self._writing:
                self._writing.result()
        if self._waiting:
            self._give_up("it could not be written to the end")

    def _write_batch(self) -> None:
        """Queue what was added since the last time for writing, after the batches before it."""
        if self._writing and not self._is_late:
            self._writing.result()
        if self._batch:
            self._waiting.append(self._batch)
            self._batch = _Batch()
        if self._waiting and (self._writing is None or self._writing.done()):
            self._writing = self._writer.submit(self._write)

    def _write(self) -> None:
        """Write the waiting batches until one fails."""
        while self._waiting:
            try:
                self._insert(self._waiting[0])
            except sqlite3.OperationalError as error:
                # The batch is rolled back, and tried again later.
                self._texts.clear()
                self._firsts.clear()
                if not self._is_late:
                    self._is_late = True
                    logger.warning("Observations wait to be recorded in %s: %s", self._path, error)
                return
            except sqlite3.Error as error:
                self._give_up(error)
                return
            self._waiting.popleft()
            if self._is_late:
                self._is_late = False
                logger.info("Observations are recorded in %s again", self._path)

    def _insert(self, batch: _Batch) -> None:
        """Write *batch*, all of it or nothing.

        :raises sqlite3.Error: where it cannot be written.
        """
        with self._connection:
            self._connection.executemany(
                "INSERT INTO responses (crawl, domain, url, status, bytes, raw_sha1, "
                "canonical, redirect, key, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, self._id_of(text, str(row[1]))) for row, text in batch.rows],
            )
            self._connection.executemany(
                "INSERT INTO audits (crawl, domain, url, kept, option, pattern, setting, same) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                batch.audits,
            )
            self._connection.executemany(
                "INSERT INTO visits (crawl, domain, steady, noise, outlines, url, text) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*row, text and self._id_of(text, str(row[1]))) for row, text in batch.visits],
            )
            if batch.links:
                self._connection.execute(LINKS)
                self._connection.executemany(
                    "INSERT INTO links VALUES (?, ?, ?, ?, ?)", batch.links
                )

    def _id_of(self, text: _Text, domain: str) -> int | None:
        """Return the row of *text*, of a page of *domain*; write it unless it is cached."""
        # 64 bits distinguish 20,000 texts, in a third of the memory.
        key = hash(text)
        known = self._texts.get(key)
        if known is None:
            if len(self._texts) >= _KNOWN_TEXTS:
                self._texts.clear()
            known = self._texts[key] = self._add_text(*text, domain)
        return known

    def _add_text(self, digest: str | bytes, title: str, lines: bytes, domain: str) -> int | None:
        """Write a text, its lines compressed against those of the first text of *domain*."""
        first, dictionary = self._firsts.get(domain, (None, b""))
        packed = compress(lines, dictionary) if dictionary else lines
        added = self._connection.execute(
            "INSERT INTO texts (text_sha1, title, lines, other) VALUES (?, ?, ?, ?)",
            (digest, title, packed, first),
        ).lastrowid
        if lines and not dictionary:
            if len(self._firsts) >= _KNOWN_DOMAINS:
                self._firsts.clear()
            self._firsts[domain] = added, lines
        return added

    def close(self) -> None:
        """Write the rest and close the file."""
        self.flush()
        self._writer.shutdown()
        self._connection.close()

    def _has_room(self) -> bool:
        """Tell whether one more row may be added; count it as added or refused."""
        if self._room <= 0 or self._failed or len(self._waiting) >= MAX_WAITING:
            self.refused += 1
            if self._waiting and not self.refused % BATCH:
                self._write_batch()
            return False
        self._room -= 1
        return True

    def _add_row(
        self,
        url: str,
        status: int,
        size: int = 0,
        signature: Signature = _NOTHING,
        canonical: str = "",
        *,
        redirect: str = "",
        key: int | None,
    ) -> None:
        canonical = SAME_URL if canonical == url else canonical
        row = url, status, size, _packed_digest(signature.raw_sha1), canonical, redirect, key
        self._batch.rows.append(((self._crawl, domain_of(url), *row), _text_of(signature)))

    def _flush_batch(self) -> None:
        if self._batch.size >= BATCH:
            self._write_batch()

    def _give_up(self, error: object) -> None:
        """Refuse all that is waiting, and all that comes."""
        self._failed = True
        self.refused += sum(len(batch.rows) for batch in self._waiting)
        self._waiting.clear()
        logger.error("Observations are no longer recorded in %s: %s", self._path, error)


def _text_of(signature: Signature) -> _Text:
    # SQLite has no unsigned integers of 64 bits.
    return _packed_digest(signature.text_sha1), f"{signature.title:x}", signature.pack()


def _packed_digest(digest: str) -> str | bytes:
    """Return a hexadecimal digest as bytes, and any other unchanged."""
    return bytes.fromhex(digest) if digest and not digest.startswith(RAW) else digest


def compress(lines: bytes, other: bytes) -> bytes:
    r"""Compress *lines* with DEFLATE (RFC 1951), with *other* lines as preset dictionary.

    The pages of a site share its menus, so this halves the size.

    >>> lines, other = (bytes(range(100)) + bytes([n]) * 9 for n in (1, 2))
    >>> packed = compress(lines, other)
    >>> len(packed) < 20, decompress(packed, other) == lines
    (True, True)
    """
    made = zlib.compressobj(1, wbits=_WINDOW, zdict=other)
    return made.compress(lines) + made.flush()


def decompress(packed: bytes, other: bytes) -> bytes:
    """Return the lines that :func:`compress` packed.

    :raises ValueError: if the data are broken, or longer than the lines of a page.
    """
    made = zlib.decompressobj(wbits=_WINDOW, zdict=other)
    try:
        lines = made.decompress(packed, MAX_PACKED)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not made.eof:
        raise ValueError("expected compressed lines")
    return lines
