"""Reads observations from Scrapy's HTTP cache, as its ``FilesystemCacheStorage`` writes it."""

from __future__ import annotations

import ast
import zlib
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.readers.captures import through_store
from scrapy_urlcanon.learn.readers.content_coding import GZIP, ungzipped
from scrapy_urlcanon.pages.page import MAX_BODY

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_urlcanon.learn.observation import Observation


def read_httpcache(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a cache directory: ``httpcache``, or that of one spider.

    :param skipped: counts entries that are not observations, by reason.
    :raises InputError: if there is no such directory.
    """
    if not path.is_dir():
        raise InputError(f"{path}: expected a directory of Scrapy's HTTP cache")

    def responses() -> Iterator[tuple[str, int, dict[str, str], bytes]]:
        for meta in sorted(path.rglob("meta")):
            try:
                written = meta.read_bytes()
                # Written with repr(): read as a literal, never evaluated.
                fields = ast.literal_eval(_unpacked(written).decode("utf-8"))
                url, status = fields.get("response_url") or fields["url"], int(fields["status"])
                headers = _headers(_unpacked(meta.with_name("response_headers").read_bytes()))
                body = meta.with_name("response_body").read_bytes()
                # A body may itself be gzip data.
                if written.startswith(GZIP):
                    body = _unpacked(body)
            except (
                OSError,
                EOFError,
                zlib.error,
                ValueError,
                SyntaxError,
                KeyError,
                TypeError,
                AttributeError,
                RecursionError,
            ):
                skipped["bad cache entry"] += 1
                continue
            if not isinstance(url, str) or not url.startswith(("http://", "https://")):
                skipped["not an http(s) response"] += 1
                continue
            yield url, status, headers, body

    yield from through_store(responses(), skipped)


def _unpacked(data: bytes) -> bytes:
    """Return *data*, decompressed if ``HTTPCACHE_GZIP`` compressed them."""
    return ungzipped(data, MAX_BODY)


def _headers(raw: bytes) -> dict[str, str]:
    headers = {}
    for line in raw.decode("latin-1").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return headers
