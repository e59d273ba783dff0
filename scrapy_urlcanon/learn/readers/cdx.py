"""Reads observations from the indexes of web archives: CDX and CDXJ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.readers.tabular import lines_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: Letters of a CDX header (https://iipc.github.io/warc-specifications/specifications/cdx-format/).
_LETTERS = {"a": "url", "s": "status", "k": "digest", "S": "length", "r": "redirect"}

#: Columns of an index without a header: what pywb and OutbackCDX write.
_ELEVEN = "N b a m s k r M S V g"


def read_cdx(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a CDX index, or of a CDXJ one.

    Which of the two a line is of is told by its looks.

    The digest of an index is that of the whole payload: it tells no pages apart that differ in a
    date or a counter, so that such an index teaches less than a crawl of one's own.

    :raises InputError: where the header of a CDX index names no URL.
    """
    letters = _ELEVEN.split()
    for line in lines_of(path, skipped):
        if line.startswith(" CDX"):
            letters = line.split()[1:]
            if "a" not in letters:
                raise InputError(f"{path}: the header names no original URL (a): {line.strip()!r}")
            continue
        if not line.strip():
            continue
        try:
            yield _from_cdxj(line) if "{" in line else _from_cdx(line, letters)
        except BadObservationError as error:
            skipped[error.reason] += 1


def _from_cdxj(line: str) -> Observation:
    try:
        fields = json.loads(line[line.index("{") :])
    except (ValueError, RecursionError):
        raise BadObservationError("not JSON") from None
    if not isinstance(fields, dict):
        raise BadObservationError("not a JSON object")
    return _observation(fields)


def _from_cdx(line: str, letters: list[str]) -> Observation:
    values = line.split()
    if len(values) != len(letters):
        raise BadObservationError(
            "row cut short" if len(values) < len(letters) else "too many columns"
        )
    named = {
        _LETTERS[k]: v for k, v in zip(letters, values, strict=True) if k in _LETTERS and v != "-"
    }
    return _observation(named)


def _observation(fields: Mapping[str, object]) -> Observation:
    digest = fields.get("digest") or ""
    status = fields.get("status") or ""
    # Revisits and DNS records have no status of their own.
    if status == "-":
        raise BadObservationError("no status")
    return Observation.from_fields(
        {
            "url": fields.get("url"),
            "status": status,
            "raw_sha1": digest,
            "main_sha1": f"raw:{digest}" if digest else "",
            "bytes": fields.get("length"),
            "redirect": fields.get("redirect"),
        }
    )
