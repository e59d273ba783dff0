"""Reads observations from tab-separated values and JSON Lines, gzip or not."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from typing import IO, TYPE_CHECKING, TypeVar, cast

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.readers.content_coding import GZIP

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

Row = TypeVar("Row")

MAX_LINE_LENGTH = 1 << 16
"""The most characters in a line: a file without line ends must not be read into memory whole."""


def open_text(path: Path) -> IO[str]:
    """Open a text file, which may be gzipped: its first bytes tell, not its name.

    Undecodable bytes become U+FFFD; a byte order mark is skipped.

    :raises InputError: if there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
        binary = cast("IO[bytes]", gzip.open(path) if packed else path.open("rb"))  # noqa: SIM115 - the wrapper closes it
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return io.TextIOWrapper(binary, encoding="utf-8-sig", errors="replace", newline="\n")


def lines_of(path: Path, skipped: Counter[str]) -> Iterator[str]:
    """Yield the lines of a text file without line ends.

    :param skipped: counts lines that are too long, and a gzip file that ends too early.
    :raises InputError: if the file cannot be read to its end.
    """
    is_rest = False
    with open_text(path) as file:
        while True:
            try:
                line = file.readline(MAX_LINE_LENGTH)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                # A killed crawl leaves such a file: all lines up to here are whole.
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

    Unknown columns are ignored; known ones may be missing, except ``url``.

    :param skipped: counts rows that are not observations, by reason.
    :raises InputError: if the first line has no column ``url``.
    """
    lines = lines_of(path, skipped)
    columns = next(lines, "").split("\t")
    if "url" not in columns:
        raise InputError(
            f"{path}: the first line must name the columns, one of them 'url'; "
            f"it is {columns[:12]!r}"
        )
    yield from observations(
        filter(None, lines), lambda line: named(columns, line.split("\t")), skipped
    )


def read_jsonl(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a file with one JSON object a line.

    The keys are the columns of :func:`read_tsv`.
    """
    return observations(filter(str.strip, lines_of(path, skipped)), json_object, skipped)


def observations(
    rows: Iterable[Row], fields_of: Callable[[Row], Mapping[str, object]], skipped: Counter[str]
) -> Iterator[Observation]:
    """Yield the observations of rows; count rows that are not observations, by reason."""
    for row in rows:
        try:
            yield Observation.from_fields(fields_of(row))
        except BadObservationError as error:
            skipped[error.reason] += 1


def named(columns: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Return values by the names of their columns.

    :raises BadObservationError: if their numbers differ.
    """
    if len(values) != len(columns):
        raise BadObservationError(
            "row cut short" if len(values) < len(columns) else "too many columns"
        )
    return dict(zip(columns, values, strict=True))


def json_object(text: str) -> dict[str, object]:
    """Return a JSON object.

    :raises BadObservationError: if the text is not a JSON object.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise BadObservationError("not JSON") from None
    if not isinstance(fields, dict):
        raise BadObservationError("not a JSON object")
    return fields
