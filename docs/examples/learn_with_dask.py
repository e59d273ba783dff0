"""Learn the rules of many domains at once from a Parquet file of observations, with Dask.

    python learn_with_dask.py observations.parquet -o urlcanon.toml
    python learn_with_dask.py s3://crawl/observations/ -o urlcanon.toml --scheduler tcp://head:8786

Needs what ``pip install 'scrapy-urlcanon[scale]'`` installs, there and on each worker. The file is
the same, byte for byte, as the one that ``scrapy urlcanon learn`` writes from the same observations
outside of a project.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import dask.dataframe as dd
import pyarrow as pa
from dask import delayed
from dask.distributed import Client

from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.learn import Learned, Observation, learn_site, merge
from scrapy_urlcanon.learn.captures import by_domain
from scrapy_urlcanon.learn.observation import BadObservationError
from scrapy_urlcanon.learn.results.rules_file import LearnedFile
from scrapy_urlcanon.learn.results.secret_values import without_secrets
from scrapy_urlcanon.profiles.suspicions import prior_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from scrapy_urlcanon.learn.site import Site

COLUMNS = ["url", "status", "main_sha1", "simhash64", "canonical", "redirect"]


class Part(NamedTuple):
    """What is learned from the domains of one partition."""

    learned: Learned
    skipped: Counter[str]
    """Rows that are no observations, by what is wrong with them."""
    failed: dict[str, str]
    """Domains that nothing could be learned of, and why."""


def main() -> int:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", metavar="OBSERVATIONS.parquet")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.toml")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster; else this machine")
    parser.add_argument("--workers", type=int, help="processes on this machine (default: all CPUs)")
    parser.add_argument(
        "--partitions", type=int, default=64, help="a worker has one at a time in memory"
    )
    options = parser.parse_args()
    logging.getLogger("distributed.shuffle").setLevel(logging.ERROR)  # warns of each shuffle
    # Learning is Python code and all CPU: a thread more would only wait for the first.
    where = {"n_workers": options.workers, "threads_per_worker": 1, "dashboard_address": None}
    with Client(options.scheduler) if options.scheduler else Client(**where) as client:
        rows = dd.read_parquet(
            # A row group at a time: a file may be larger than a worker's memory.
            options.input,
            columns=COLUMNS,
            dtype_backend="pyarrow",
            split_row_groups=True,
        )
        rows["domain"] = rows["url"].map(domain_or_nothing, meta=("domain", "string[pyarrow]"))
        # All rows of a domain get into one partition, by way of the workers' disks.
        rows = rows.shuffle("domain", npartitions=options.partitions)
        parts = client.gather(client.compute([learn_part(part) for part in rows.to_delayed()]))
    learned, left_out = without_secrets(merge(part.learned for part in parts))
    LearnedFile(options.output).write(learned, turned_off=["skip"])
    for reason, count in sum((part.skipped for part in parts), Counter()).most_common():
        print(f"skipped: {count:,} {reason}")
    if left_out:
        print(f"left out: {left_out:,} rules that would show the value of a secret")
    failed = {domain: error for part in parts for domain, error in part.failed.items()}
    for domain, error in sorted(failed.items()):
        print(f"{domain}: {error}", file=sys.stderr)
    return 1 if failed else 0


def domain_or_nothing(url: str | None) -> str:
    """Return the registrable domain of a URL; of what is none, any will do."""
    try:
        return domain_of(url or "")
    except ValueError:
        return ""


@delayed
def learn_part(rows: pd.DataFrame) -> Part:
    """Learn from rows that hold each of their domains whole."""
    skipped: Counter[str] = Counter()
    found, failed = [], {}
    for domain, captures in by_domain(observations_of(rows, skipped)).items():
        try:
            found.append(learn_domain(captures.site(domain)))
        except Exception as error:  # noqa: BLE001 - one domain of thousands stops no other
            failed[domain] = repr(error)
    return Part(merge(found), skipped, failed)


def learn_domain(site: Site) -> Learned:
    """Learn from one domain, with what is known of the programs that sites run on."""
    prior = prior_of(location.url for location in site.locations)
    return learn_site(site, preset=DEFAULT_PRESET, prior=prior)


def observations_of(rows: pd.DataFrame, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of the rows."""
    for batch in pa.Table.from_pandas(rows[COLUMNS], preserve_index=False).to_batches(10_000):
        for fields in batch.to_pylist():
            try:
                yield Observation.from_fields(fields)
            except BadObservationError as error:
                skipped[error.reason] += 1


if __name__ == "__main__":
    sys.exit(main())
