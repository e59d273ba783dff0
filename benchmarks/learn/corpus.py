"""The corpus of real sites, and how it is split."""

from __future__ import annotations

import gzip
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn import Observation

if TYPE_CHECKING:
    from collections.abc import Iterable

PATH = Path(__file__).parents[3] / "shared" / "corpora" / "observations.tsv.gz"


def sites(path: Path = PATH) -> dict[str, list[Observation]]:
    """Return the observations of each site."""
    found: dict[str, list[Observation]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        columns = next(lines).rstrip("\n").split("\t")
        for line in lines:
            fields = dict(zip(columns, line.rstrip("\n").split("\t"), strict=True))
            found.setdefault(fields["site"], []).append(Observation.from_fields(fields))
    return found


def halves(observations: Iterable[Observation]) -> tuple[list[Observation], list[Observation]]:
    """Split observations in two by a hash of the URL."""
    parts: tuple[list[Observation], list[Observation]] = ([], [])
    for observation in observations:
        parts[sha1(observation.url.encode()).digest()[0] & 1].append(observation)
    return parts
