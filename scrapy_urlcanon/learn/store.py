"""The observation store: what a crawl saw, in one SQLite file, without the bodies."""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.domains import domain_of
from scrapy_urlcanon.learn.exceptions import InputError, StoreVersionError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.signature import (
    BOILERPLATE_SHARE,
    Signature,
    absolute,
    signature_of,
    unpack,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Version of the schema; a higher one was written by a newer version of this package.
VERSION = 1

#: Responses that are written at once, in one transaction: what a kill may lose.
BATCH = 200

#: Responses that a store takes, about 3 kB each: a crawl without end must not fill the disk.
MAX_ROWS = 10_000_000

#: A site with fewer distinct texts has no boilerplate that could be told from its content.
MIN_TEXTS = 5

_SUCCESS = 2  # the first digit of the status

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS responses (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    raw_sha1 TEXT NOT NULL,
    text_sha1 TEXT NOT NULL,
    lines BLOB NOT NULL,
    canonical TEXT NOT NULL,
    redirect TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS responses_by_domain ON responses (domain);
CREATE TABLE IF NOT EXISTS audits (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    url TEXT NOT NULL,
    kept TEXT NOT NULL,
    pattern TEXT NOT NULL,
    option TEXT NOT NULL,
    same INTEGER NOT NULL
);
"""

_Row = tuple[str, str, int, int, str, str, bytes, str, str]


class ObservationStore:
    """Writes the responses of a crawl, in batches.

    It never stops a crawl: where it cannot write (a full disk), it says so once in the log and
    counts what it refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, "observations.sqlite")
    ...     with ObservationStore(path) as store:
    ...         store.add("http://a.example/", status=200, body=b"<p>Hello", text="<p>Hello")
    ...     [observation.url for observation in read_store(path)]
    ['http://a.example/']
    """

    def __init__(self, path: str | os.PathLike[str], *, max_rows: int = MAX_ROWS) -> None:
        """Open a store, or make one.

        :raises StoreVersionError: where a newer version wrote it.
        :raises InputError: where it is something else, or cannot be written.
        """
        self.refused = 0
        """Responses that were not kept: the store was full, or could not be written."""
        self._connection = _open(Path(path), writable=True)
        self._rows: list[_Row] = []
        self._audits: list[tuple[str, str, str, str, str, int]] = []
        self._room = (
            max_rows - self._connection.execute("SELECT count(*) FROM responses").fetchone()[0]
        )
        self._failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def add(
        self,
        url: str,
        *,
        status: int,
        body: bytes = b"",
        text: str | None = None,
        canonical: str = "",
        redirects: Sequence[tuple[str, int]] = (),
    ) -> None:
        """Keep one response.

        :param url: that was answered, the last one of a chain of redirects.
        :param body: as received, decompressed.
        :param text: the decoded body where it is HTML.
        :param canonical: what :func:`~scrapy_urlcanon.learn.signature.declared_canonical` found.
        :param redirects: URLs that led here, in order, each with its status.
        """
        if self._room <= 0 or self._failed:
            self.refused += 1
            return
        signature = (
            signature_of(body, text)
            if body and status // 100 == _SUCCESS
            else Signature("", "", ())
        )
        for (source, hop), (target, _) in zip(
            redirects, [*redirects[1:], (url, status)], strict=False
        ):
            self._rows.append((domain_of(source), source, hop, 0, "", "", b"", "", target))
        digests = (signature.raw_sha1, signature.text_sha1, signature.pack())
        self._rows.append((domain_of(url), url, status, len(body), *digests, canonical, ""))
        self._room -= 1 + len(redirects)
        if len(self._rows) >= BATCH:
            self.flush()

    def add_redirect(self, url: str, status: int, target: str) -> None:
        """Keep a redirect of which only the target is known, absolute or relative."""
        if self._room <= 0 or self._failed:
            self.refused += 1
            return
        self._rows.append((domain_of(url), url, status, 0, "", "", b"", "", absolute(url, target)))
        self._room -= 1
        if len(self._rows) >= BATCH:
            self.flush()

    def add_audit(self, url: str, kept: str, *, pattern: str, option: str, same: bool) -> None:
        """Keep what an audit saw.

        Whether a URL that a rule would have dropped shows what the kept one shows.
        """
        self._audits.append((domain_of(url), url, kept, pattern, option, int(same)))
        if len(self._audits) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was added since the last time."""
        rows, audits = self._rows, self._audits
        self._rows, self._audits = [], []
        if self._failed or not (rows or audits):
            return
        try:
            with self._connection:
                self._connection.executemany(
                    "INSERT INTO responses (domain, url, status, bytes, raw_sha1, text_sha1, "
                    "lines, canonical, redirect) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
                self._connection.executemany(
                    "INSERT INTO audits (domain, url, kept, pattern, option, same) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    audits,
                )
        except sqlite3.Error as error:
            self._failed = True
            self.refused += len(rows)
            logger.error("Observations are no longer recorded: %s", error)  # noqa: TRY400 - no trace of ours to show

    def close(self) -> None:
        """Write the rest and close the file."""
        self.flush()
        self._connection.close()


def read_store(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[Observation]:
    """Yield the observations of a store, domain by domain.

    With the digests of the text without boilerplate.

    :raises StoreVersionError: where a newer version wrote it.
    :raises InputError: where it is no store.
    """
    skipped = Counter() if skipped is None else skipped
    with closing(_open(Path(path), writable=False)) as connection:
        domains = connection.execute(
            "SELECT DISTINCT domain FROM responses ORDER BY domain"
        ).fetchall()
        for (domain,) in domains:
            boilerplate = _boilerplate(connection, domain)
            rows = connection.execute(
                "SELECT url, status, bytes, raw_sha1, text_sha1, lines, canonical, redirect "
                "FROM responses WHERE domain = ? ORDER BY id",
                (domain,),
            )
            for url, status, size, raw, text, lines, canonical, redirect in rows:
                try:
                    main, simhash = Signature(raw, text, unpack(lines)).main(boilerplate)
                    yield Observation.from_fields(
                        {
                            "url": url,
                            "status": status,
                            "raw_sha1": raw,
                            "text_sha1": text,
                            "main_sha1": main,
                            "simhash64": None if simhash is None else f"{simhash:x}",
                            "bytes": size,
                            "canonical": canonical,
                            "redirect": redirect,
                        }
                    )
                except BadObservationError as error:
                    skipped[error.reason] += 1
                except ValueError:
                    skipped["lines cut short"] += 1


def read_audits(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield what audits saw.

    The pattern and the option of a rule, and whether the pages were the same.
    """
    with closing(_open(Path(path), writable=False)) as connection:
        for pattern, option, same in connection.execute(
            "SELECT pattern, option, same FROM audits ORDER BY id"
        ):
            yield pattern, option, bool(same)


def _boilerplate(connection: sqlite3.Connection, domain: str) -> set[int]:
    """Return the masked lines that stand on too many of a domain's distinct texts to be content."""
    counts: Counter[int] = Counter()
    texts = 0
    rows = connection.execute(
        "SELECT lines FROM responses WHERE domain = ? AND text_sha1 != '' GROUP BY text_sha1",
        (domain,),
    )
    for (lines,) in rows:
        texts += 1
        try:
            counts.update({line.masked for line in unpack(lines)})
        except ValueError:
            continue
    if texts < MIN_TEXTS:
        return set()
    return {masked for masked, count in counts.items() if count > max(1, BOILERPLATE_SHARE * texts)}


def _open(path: Path, *, writable: bool) -> sqlite3.Connection:
    if not writable and not path.exists():
        raise InputError(f"{path}: no such file")
    try:
        connection = sqlite3.connect(path)
        try:
            if writable:
                # A reader may look on while the crawl writes, and a kill leaves commits whole.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.executescript(_SCHEMA)
                with connection:
                    connection.execute(
                        "INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),)
                    )
            version = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise InputError(f"{path}: expected an observation store: {error}") from None
    if version is None or int(version[0]) > VERSION:
        connection.close()
        found = version[0] if version else "none"
        raise StoreVersionError(
            f"{path}: version {found}, and this package reads up to version {VERSION}"
        )
    return connection
