"""Write observations of any kind that ``scrapy urlcanon learn`` reads to a Parquet file.

    python observations_to_parquet.py observations.sqlite more.tsv.gz observations.parquet

Needs what ``pip install 'scrapy-urlcanon[scale]'`` installs.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from scrapy_urlcanon.exceptions import LearnError
from scrapy_urlcanon.learn.readers import read

if TYPE_CHECKING:
    from scrapy_urlcanon.learn import Observation

# The columns of the other tables (see docs/learning.md), all of them that learning looks at.
SCHEMA = pa.schema(
    [
        ("url", pa.string()),
        ("status", pa.int16()),
        ("main_sha1", pa.string()),
        ("simhash64", pa.string()),  # hexadecimal: Parquet's readers disagree on unsigned numbers
        ("canonical", pa.string()),
        ("redirect", pa.string()),
    ]
)

# In a row group, which is what an engine reads at once: some 10 MB in memory.
ROWS = 50_000


def main() -> int:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inputs", nargs="+", type=Path, metavar="INPUT")
    parser.add_argument("output", type=Path, metavar="OUTPUT.parquet")
    options = parser.parse_args()
    skipped: Counter[str] = Counter()
    observations = chain.from_iterable(read(path, skipped) for path in options.inputs)
    try:
        with parquet.ParquetWriter(options.output, SCHEMA) as writer:
            while rows := [fields(one) for one in islice(observations, ROWS)]:
                writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    except LearnError as error:
        print(error, file=sys.stderr)
        return 1
    for reason, count in skipped.most_common():
        print(f"skipped: {count:,} {reason}")
    return 0


def fields(observation: Observation) -> dict[str, object]:
    """Return the row of an observation; what is not known is null."""
    row = {name: getattr(observation, name) or None for name in SCHEMA.names}
    if observation.simhash64 is not None:
        row["simhash64"] = f"{observation.simhash64:016x}"
    return row


if __name__ == "__main__":
    sys.exit(main())
