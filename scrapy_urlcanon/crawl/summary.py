"""The summary of a crawl for the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_ROWS = 5


def summary(stats: Mapping[str, Any]) -> str:
    """Return what the plugin did in a crawl, as a short table.

    >>> print(summary({"urlcanon/requests": 10, "urlcanon/dropped": 4,
    ...     "urlcanon/dropped/exact": 1, "urlcanon/dropped/variant": 3,
    ...     "urlcanon/dropped/scrapy_would_keep": 2, "urlcanon/dropped/rule/drop_params": 3,
    ...     "urlcanon/dropped/domain/example.com": 4}))
    Duplicate requests
            10  requests
             4  dropped (40.0 %)
             1    exact: the URL was seen before
             3    variant: another URL of a page was
             2  of them Scrapy alone would have fetched
    By rule (a duplicate may be due to several)
             3  drop_params
    By domain
             4  example.com
    """
    return "\n".join(_lines(stats))


def _lines(stats: Mapping[str, Any]) -> Iterator[str]:
    requests, dropped = stats["urlcanon/requests"], stats["urlcanon/dropped"]
    yield "Duplicate requests"
    yield _row(requests, "requests")
    yield _row(dropped, f"dropped ({dropped / requests if requests else 0:.1%})".replace("%", " %"))
    yield _row(stats["urlcanon/dropped/exact"], "  exact: the URL was seen before")
    yield _row(stats["urlcanon/dropped/variant"], "  variant: another URL of a page was")
    yield _row(
        stats["urlcanon/dropped/scrapy_would_keep"], "of them Scrapy alone would have fetched"
    )
    yield from _table(
        stats, "urlcanon/dropped/rule/", "By rule (a duplicate may be due to several)"
    )
    yield from _table(stats, "urlcanon/dropped/domain/", "By domain")


def _table(stats: Mapping[str, Any], prefix: str, title: str) -> Iterator[str]:
    counts = {
        name.removeprefix(prefix): count for name, count in stats.items() if name.startswith(prefix)
    }
    if not counts:
        return
    yield title
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for name, count in ranked[:_ROWS]:
        yield _row(count, name)
    if ranked[_ROWS:]:
        yield _row(sum(count for _, count in ranked[_ROWS:]), f"{len(ranked) - _ROWS} others")


def _row(count: int, text: str) -> str:
    return f"{count:10,}  {text}"
