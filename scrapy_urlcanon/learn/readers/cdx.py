"""Reads observations from the indexes of web archives: CDX and CDXJ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError
from scrapy_urlcanon.learn.readers.tabular import json_object, lines_of, named, observations

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_urlcanon.learn.observation import Observation

_LETTERS = {"a": "url", "s": "status", "k": "digest", "S": "length", "r": "redirect"}
"""Letters of a CDX header (https://iipc.github.io/warc-specifications/specifications/cdx-format/).
"""

_ELEVEN = "N b a m s k r M S V g"
"""The columns of an index without a header, as pywb and OutbackCDX write it."""


def read_cdx(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a CDX or CDXJ index; the format is recognised line by line.

    The digests are of whole payloads. Two captures of one page that differ in a date or a counter
    have different digests, so less is learned than from a crawl of one's own.

    :param skipped: counts lines that are not observations, by reason.
    :raises InputError: if the header of a CDX index has no URL column.
    """

    def rows() -> Iterator[tuple[str, list[str]]]:
        letters = _ELEVEN.split()
        for line in lines_of(path, skipped):
            if line.startswith(" CDX"):
                letters = line.split()[1:]
                if "a" not in letters:
                    message = f"the header names no original URL (a): {line.strip()!r}"
                    raise InputError(f"{path}: {message}")
            elif line.strip():
                yield line, letters

    return observations(rows(), lambda row: _fields(*row), skipped)


def _fields(line: str, letters: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    # A URL may contain a brace, but no space.
    _, begins, rest = line.partition(" {")
    if begins:
        fields = json_object("{" + rest)
    else:
        for letter, value in named(letters, line.split()).items():
            if letter in _LETTERS and value != "-":
                fields[_LETTERS[letter]] = value
    digest = fields.get("digest") or ""
    status = fields.get("status") or ""
    # Revisits and DNS records have no status of their own.
    if status == "-":
        raise BadObservationError("no status")
    return {
        "url": fields.get("url"),
        "status": status,
        "raw_sha1": digest,
        "main_sha1": f"raw:{digest}" if digest else "",
        "bytes": fields.get("length"),
        "redirect": fields.get("redirect"),
    }
