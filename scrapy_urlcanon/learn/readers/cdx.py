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

_COLUMNS = {11: "N b a m s k r M S V g", 7: "N b a m s k S"}
"""The columns of an index without a header, by their number.

pywb and OutbackCDX write eleven, and a Wayback CDX server answers with seven
(https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server).
"""


def is_cdx(line: str) -> bool:
    """Tell whether *line* can be the first one of an index.

    >>> is_cdx("example,a)/ 20260101000000 http://a.example/ text/html 200 ABC 512")
    True
    """
    fields = line.split(" ")
    return (
        line.startswith(" CDX")
        or (" {" in line and line.rstrip().endswith("}"))
        or len(fields) in range(9, 13)
        or (len(fields) == 7 and "://" in fields[2])  # noqa: PLR2004
    )


def read_cdx(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a CDX or CDXJ index; the format is recognised line by line.

    The digests are of whole payloads. Two captures of one page that differ in a date or a counter
    have different digests, so less is learned than from a crawl of one's own.

    :param skipped: counts lines that are not observations, by reason.
    :raises InputError: if the header of a CDX index has no URL column.
    """

    def rows() -> Iterator[tuple[str, list[str]]]:
        header: list[str] = []
        for line in lines_of(path, skipped):
            if line.startswith(" CDX"):
                header = line.split()[1:]
                if "a" not in header:
                    message = f"the header names no original URL (a): {line.strip()!r}"
                    raise InputError(f"{path}: {message}")
            elif line.strip():
                yield line, header

    return observations(rows(), lambda row: _fields(*row), skipped)


def _fields(line: str, header: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    # A URL may contain a brace, but no space.
    _, begins, rest = line.partition(" {")
    if begins:
        fields = json_object("{" + rest)
    else:
        values = line.split()
        letters = header or _COLUMNS.get(len(values), _COLUMNS[11]).split()
        for letter, value in named(letters, values).items():
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
