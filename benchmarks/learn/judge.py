"""Scores ways of merging URLs, on URLs whose content is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_urlcanon.learn.simhash import SimhashIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy_urlcanon.learn import Observation

SINK_SIZE = 20
"""A content of more URLs than this is a sink."""


@dataclass(frozen=True)
class Page:
    """A URL and the content that it shows."""

    url: str
    cluster: int
    """Equal if the content is one page."""
    in_sink: bool


@dataclass
class Score:
    """Counts of one site, or of several added up."""

    urls: int = 0
    pages: int = 0
    redundant: int = 0
    found: int = 0
    wrong: int = 0
    lost: int = 0
    redundant_outside_sinks: int = 0
    found_outside_sinks: int = 0

    @property
    def precision(self) -> float:
        """The share of the merges that are right; 1 if there are none."""
        merges = self.found + self.wrong
        return self.found / merges if merges else 1.0

    @property
    def recall(self) -> float:
        """The share of the redundant URLs that are found."""
        return self.found / self.redundant if self.redundant else 0.0

    @property
    def recall_outside_sinks(self) -> float:
        """The same without contents of more than :data:`SINK_SIZE` URLs."""
        return (
            self.found_outside_sinks / self.redundant_outside_sinks
            if self.redundant_outside_sinks
            else 0.0
        )

    def __add__(self, other: Score) -> Score:
        return Score(
            *(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__)
        )


def pages_of(observations: Iterable[Observation]) -> list[Page]:
    """Cluster the observations of a site by content.

    Equal ``main_sha1``, or ``simhash64`` within 4 bits.

    A cluster has what is near its first member in the order of the URLs; it does not grow by
    chains. URLs without evidence, such as redirects, are left out.
    """
    rows = {o.url: o for o in observations if o.has_content}
    index = SimhashIndex(row.simhash64 for row in rows.values() if row.simhash64 is not None)
    by_main: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for url in sorted(rows):
        row = rows[url]
        cluster = by_main.get(row.main_sha1) if row.main_sha1 else None
        if cluster is None:
            cluster = len(clusters)
            if row.simhash64 is not None:
                cluster = index.setdefault(row.simhash64, cluster)
        if row.main_sha1:
            by_main.setdefault(row.main_sha1, cluster)
        clusters[url] = cluster
    sizes: dict[int, int] = {}
    for cluster in clusters.values():
        sizes[cluster] = sizes.get(cluster, 0) + 1
    return [Page(url, cluster, sizes[cluster] > SINK_SIZE) for url, cluster in clusters.items()]


def score(
    pages: Sequence[Page], key: Callable[[str], str | None], elsewhere: frozenset[int] = frozenset()
) -> Score:
    """Score a way of merging URLs.

    ``key`` maps a URL to a key for its page, or to None if the URL would not be fetched at all.
    That is right if the page is found under another of these URLs, or is one of the clusters
    ``elsewhere``.
    """
    kept: dict[str, list[Page]] = {}
    by_cluster: dict[tuple[str, int], list[Page]] = {}
    keys: dict[str, str | None] = {}
    for page in sorted(pages, key=lambda page: page.url):
        by_cluster.setdefault((_host(page.url), page.cluster), []).append(page)
        keys[page.url] = key(page.url)
    reached = set(elsewhere)
    for page in sorted(pages, key=lambda page: page.url):
        group = keys[page.url]
        if group is not None:
            kept.setdefault(group, []).append(page)
            reached.add(page.cluster)
    result = Score(urls=len(pages), pages=len({page.cluster for page in pages}))
    fetched = {group[0].cluster for group in kept.values()} | elsewhere
    for group in kept.values():
        result.wrong += len({page.cluster for page in group}) - 1
    result.wrong += sum(
        1 for page in pages if keys[page.url] is None and page.cluster not in reached
    )
    result.lost = len({page.cluster for page in pages} - fetched)
    for members in by_cluster.values():
        distinct = len({keys[page.url] for page in members} - {None})
        # Where all members are skipped the page itself comes from elsewhere, or is counted as lost.
        found = len(members) - max(1, distinct)
        result.redundant += len(members) - 1
        result.found += found
        if not members[0].in_sink:
            result.redundant_outside_sinks += len(members) - 1
            result.found_outside_sinks += found
    return result


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower()
