"""Reads observations from tab-separated values and JSON Lines, gzip or not."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from typing import IO, TYPE_CHECKING, cast

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

#: One line of a table; a file without line ends must not be read into memory whole.
MAX_LINE_LENGTH = 1 << 16

_GZIP_MAGIC = b"\x1f\x8b"


def open_text(path: Path) -> IO[str]:
    """Open a text file, which may be gzipped.

    That is told by its first bytes, not by its name. Undecodable bytes become U+FFFD.

    :raises InputError: where there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
        binary = cast("IO[bytes]", gzip.open(path) if packed else path.open("rb"))  # noqa: SIM115 - the wrapper closes it
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return io.TextIOWrapper(binary, encoding="utf-8", errors="replace", newline="\n")


def lines_of(path: Path, skipped: Counter[str]) -> Iterator[str]:
    """Yield the lines of a text file without their line ends.

    A file cut short ends early and is counted, and so is a line that is too long.

    :raises InputError: where it cannot be read to its end.
    """
    is_rest = False
    with open_text(path) as file:
        while True:
            try:
                line = file.readline(MAX_LINE_LENGTH)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                # What a killed crawl leaves behind: everything up to here is whole.
                skipped["file cut short"] += 1
                return
            except OSError as error:
                raise InputError(f"{path}: cannot be read to its end: {error}") from error
            if not line:
                return
            is_whole = line.endswith("\n")
            if is_rest:
                is_rest = not is_whole
            elif len(line) == MAX_LINE_LENGTH and not is_whole:
                skipped["line too long"] += 1
                is_rest = True
            else:
                yield line.rstrip("\r\n")


def read_tsv(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a tab-separated file whose first line names the columns.

    Unknown columns are ignored and known ones may be missing, but ``url``; rows that are no
    observations are counted in ``skipped`` by what is wrong with them.

    :raises InputError: where the first line has no column ``url``.
    """
    lines = lines_of(path, skipped)
    columns = next(lines, "").split("\t")
    if "url" not in columns:
        raise InputError(
            f"{path}: the first line must name the columns, one of them 'url'; "
            f"it is {columns[:12]!r}"
        )
    for line in lines:
        if not line:
            continue
        values = line.split("\t")
        if len(values) != len(columns):
            skipped["row cut short" if len(values) < len(columns) else "too many columns"] += 1
            continue
        try:
            yield Observation.from_fields(dict(zip(columns, values, strict=True)))
        except BadObservationError as error:
            skipped[error.reason] += 1


def read_jsonl(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a file with one JSON object a line.

    The keys are the columns of :func:`read_tsv`.
    """
    for line in lines_of(path, skipped):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            skipped["not JSON"] += 1
            continue
        if not isinstance(fields, dict):
            skipped["not a JSON object"] += 1
            continue
        try:
            yield Observation.from_fields(fields)
        except BadObservationError as error:
            skipped[error.reason] += 1
