"""Reads observations from Parquet files, the tables of big-data engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import Observation
from scrapy_urlcanon.learn.readers.tabular import observations

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"PAR1"
"""The first bytes of a Parquet file."""

_ROWS = 10_000
"""How many rows are in memory at once; a row group stays compressed until then."""

_COLUMNS = Observation._fields


def read_parquet(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a Parquet file, with the package pyarrow.

    The columns are those of :func:`~scrapy_urlcanon.learn.readers.tabular.read_tsv`: ``status`` and
    ``bytes`` are numbers or text, the others are text.

    :param skipped: counts rows that are not observations, by reason.
    :raises InputError: if pyarrow is not installed, the file is not a whole Parquet file, or it has
        no column ``url``.
    """
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - optional
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from None
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if "url" not in names:
                raise InputError(f"{path}: expected a column 'url'; there are {names[:12]!r}")
            columns = [name for name in _COLUMNS if name in names]
            for batch in file.iter_batches(_ROWS, columns=columns):
                yield from observations(batch.to_pylist(), dict, skipped)
    except ArrowException as error:
        raise InputError(f"{path}: expected a Parquet file: {error}") from error
