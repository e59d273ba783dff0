"""Reads observations from files of any known format."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.files import is_special
from scrapy_urlcanon.learn.readers.captures import read_warc
from scrapy_urlcanon.learn.readers.cdx import is_cdx, read_cdx
from scrapy_urlcanon.learn.readers.crawls import read_crawls
from scrapy_urlcanon.learn.readers.httpcache import read_httpcache
from scrapy_urlcanon.learn.readers.parquet import MAGIC, read_parquet
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.readers.tabular import open_text, read_jsonl, read_tsv

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy_urlcanon.learn.observation import Observation
    from scrapy_urlcanon.learn.results.in_force import CrawlRecord

    Reader = Callable[[Path, Counter[str]], Iterator[Observation]]

READERS: dict[str, Reader] = {
    "store": read_store,
    "tsv": read_tsv,
    "jsonl": read_jsonl,
    "cdx": read_cdx,
    "warc": read_warc,
    "httpcache": read_httpcache,
    "parquet": read_parquet,
}
"""The reader of each format."""

_BINARY = {b"SQLite format 3\0": "store", MAGIC: "parquet"}


def format_of(path: Path) -> str:
    """Return the format of an input, which is recognised by its content, not its name.

    :raises InputError: if there is no such input, or its format is not known.
    """
    try:
        if path.is_dir():
            return "httpcache"
        if is_special(path):
            # From a pipe the first bytes, read here, would be missing later.
            raise InputError(f"{path}: expected a file, since it is read more than once")
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    for magic, name in _BINARY.items():
        if start.startswith(magic):
            return name
    return _format_of_text(path)


def read(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    r"""Yield the observations of an input in any known format.

    :param path: the input: a file, or a directory of Scrapy's HTTP cache.
    :param skipped: counts rows that are not observations, by reason.
    :raises InputError: if it cannot be read to its end.
    :raises StoreVersionError: if it is a store of a version that cannot be read.

    >>> import tempfile
    >>> from collections import Counter
    >>> from pathlib import Path
    >>> skipped = Counter()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "seen.jsonl")
    ...     _ = path.write_text('{"url": "http://a.example/", "status": 200}\n{"url": 7}\n')
    ...     [observation.url for observation in read(path, skipped)]
    ['http://a.example/']
    >>> skipped.total()
    1
    """
    return READERS[format_of(path)](path, skipped)


def crawls_of(path: Path, skipped: Counter[str] | None = None) -> tuple[CrawlRecord, ...]:
    """Return the rules that the crawls of a store used, and what their audits found.

    The result is empty for other inputs, which do not have that.

    :param skipped: counts rows that cannot be understood, by reason.
    :raises InputError: if it cannot be read.
    :raises StoreVersionError: if it is a store of a version that cannot be read.

    >>> import tempfile
    >>> from datetime import datetime, timezone
    >>> from pathlib import Path
    >>> from scrapy_urlcanon.learn import RuleInForce
    >>> from scrapy_urlcanon.learn.store import ObservationStore
    >>> rule = RuleInForce("a.example", "drop_params", ["sid"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "observations.sqlite")
    ...     with ObservationStore(path) as store:
    ...         store.begin(datetime(2026, 1, 1, tzinfo=timezone.utc), [rule])
    ...     [rule.setting for crawl in crawls_of(path) for rule in crawl.rules]
    [['sid']]
    """
    return tuple(read_crawls(path, skipped)) if format_of(path) == "store" else ()


def _format_of_text(path: Path) -> str:
    """Return the format of an input by its first line.

    :raises InputError: if the format is not known, or the input cannot be read.
    """
    with open_text(path) as text:
        try:
            line = text.readline(1 << 16)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
    if line.startswith("WARC/"):
        return "warc"
    # An object that continues on the next line is a JSON document, such as the report of a crawl.
    if line.startswith("{") and line.rstrip() != "{":
        return "jsonl"
    if "url" in line.rstrip("\r\n").split("\t"):
        return "tsv"
    if is_cdx(line):
        return "cdx"
    begins = f"it begins with {line[:60]!r}" if line else "it is empty"
    raise InputError(
        f"{path}: expected an observation store, TSV, JSON Lines, CDX, CDXJ, WARC, Parquet or an "
        f"HTTP cache directory; {begins}"
    )
