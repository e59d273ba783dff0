"""Formats the summary of a crawl for the log, in at most 20 lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules import documentation
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_TITLE
from scrapy_urlcanon.crawl.stats import OTHER_DOMAINS, OWN_REQUESTS, Stat
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_EVENTS = {
    Stat.SEEN_SKIPPED: "refused: an earlier run has got the page",
    Stat.RESCUED: "rescued: the URL that was kept failed",
    Stat.AUDITED: "audited: fetched, and compared with the page that was kept",
    Stat.AUDIT_FALSE_MERGE: "  another page than the one kept",
    Stat.AUDIT_UNJUDGED: "fetched for the audit too, which could tell nothing of them",
    Stat.RECORD_REVISITED: "fetched a second time for the store, and not counted above",
}
_LINES = 20
_OPTIONS = 4
_DOMAINS = 2


def summary(stats: Mapping[str, Any]) -> str:
    """Return what the plugin did in a crawl as a short table.

    :param stats: the stats of the crawl, with its final figures.

    >>> print(summary({"urlcanon/requests": 10, "urlcanon/dropped": 4,
    ...     "urlcanon/dropped/exact": 1, "urlcanon/dropped/variant": 3,
    ...     "urlcanon/dropped/scrapy_would_keep": 2, "urlcanon/dropped/rule/drop_params": 3,
    ...     "urlcanon/dropped/domain/example.com": 4, "urlcanon/rescued": 1}))
    Duplicate requests
            10  requests
             4  dropped (40.0 %)
             2    Scrapy alone would have dropped them too
             2    Scrapy alone would have fetched them
             1  rescued: the URL that was kept failed
    By option (a duplicate may be due to several)
             3  drop_params  Drop parameters that do not select the page
    By domain
             4  example.com
    """
    lines = [*_events(stats)]
    # All events are shown. The tables share the remaining lines, apart from their titles and the
    # rows for others.
    room = _LINES - len(lines) - 4
    domains = min(_DOMAINS, room // 3)
    lines += _tables(stats, options=min(_OPTIONS, room - domains), domains=domains)
    return "\n".join(lines)


def title_of(name: str) -> str:
    """Return a sentence about what drops requests under this *name* in the stats, or ""."""
    if name == DECLARED_CANONICAL:
        return DECLARED_CANONICAL_TITLE
    return documentation.title_of(name)


def _events(stats: Mapping[str, Any]) -> Iterator[str]:
    requests, dropped = stats[Stat.REQUESTS.key()], stats[Stat.DROPPED.key()]
    saved = stats[Stat.DROPPED_SCRAPY_WOULD_KEEP.key()]
    share = dropped / requests if requests else 0
    is_one_of_several = Stat.JOB_RESUMED.key() in stats
    yield "Duplicate requests" + (" in this run of the job" if is_one_of_several else "")
    own = sum(stats.get(stat.key(), 0) for stat in OWN_REQUESTS)
    yield _row(requests, f"requests, {own:,} of them of the plugin itself" if own else "requests")
    yield _row(dropped, f"dropped ({share:.1%})".replace("%", " %"))
    yield _row(dropped - saved, "  Scrapy alone would have dropped them too")
    yield _row(saved, "  Scrapy alone would have fetched them")
    for stat, text in _EVENTS.items():
        count = stats.get(stat.key(), 0)
        if count:
            yield _row(count, text)
    skipped = sum(Stat.SKIPPED.counts(stats).values())
    if skipped:
        yield _row(skipped, "skipped: not fetched at all")
        placed = stats.get(Stat.SKIP_PLACED.key(), 0)
        if placed:
            yield _row(placed, "  but their pages, which are known, were requested")
    suspended = Stat.AUDIT_SUSPENDED.counts(stats)
    if suspended:
        # By the names they have everywhere else.
        names = ", ".join(name.replace("/", ":", 1) for name in suspended)
        yield _row(len(suspended), f"suspended: {names}")


def _tables(stats: Mapping[str, Any], *, options: int, domains: int) -> Iterator[str]:
    """Yield the lines of the tables.

    :param options: how many options get a row.
    :param domains: how many domains get a row.
    """
    by_option = Stat.DROPPED_BY_RULE.counts(stats)
    width = max(map(len, list(by_option)[:options]), default=0)
    yield from _table(
        "By option (a duplicate may be due to several)",
        {f"{name:{width}}  {title_of(name)}".rstrip(): count for name, count in by_option.items()},
        options,
    )
    by_domain = Stat.DROPPED_ON_DOMAIN.counts(stats)
    rest = by_domain.pop(OTHER_DOMAINS, 0)
    yield from _table("By domain", by_domain, domains, rest)


def _table(title: str, counts: Mapping[str, int], rows: int, rest: int = 0) -> Iterator[str]:
    """Yield the lines of a table.

    :param rest: the count for all that is not in *counts*.
    """
    if not counts:
        return
    yield title
    ranked = list(counts.items())
    # One more fits in place of "1 other".
    shown = ranked if len(ranked) == rows + 1 and not rest else ranked[:rows]
    for name, count in shown:
        yield _row(count, name)
    others = ranked[len(shown) :]
    count = sum(count for _, count in others) + rest
    if count:
        yield _row(count, "others" if rest else count_of(len(others), "other"))


def _row(count: int, text: str) -> str:
    return f"{count:10,}  {text}"
