"""What the duplicates that a method does not find look like."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import locate, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.learn.judge import Page
    from scrapy_urlcanon.learn.location import Location

_NUMBER = re.compile("[0-9]+")

#: From what is nearest to what is farthest.
KINDS = (
    "a parameter more",
    "another value of a parameter",
    "another spelling of the path",
    "another number in the path",
    "another text in the path",
    "a deeper path",
    "a path for a parameter",
)


def kind_of(one: Location, other: Location) -> int:
    """Return how two URLs of one page differ, as an index of :data:`KINDS`.

    >>> KINDS[kind_of(locate("http://a.example/?p=1"), locate("http://a.example/slug/"))]
    'a path for a parameter'
    """
    path, path_ = one.path, other.path
    if path == path_:
        names, names_ = ({name_of(param) for param in x.params} for x in (one, other))
        alone = {name_of(param) for param in set(one.params) ^ set(other.params)}
        return 1 if alone & names & names_ else 0
    if path.lower().rstrip("/") == path_.lower().rstrip("/"):
        return 2
    if bool(one.params) != bool(other.params):
        return 6
    if _NUMBER.sub("0", path) == _NUMBER.sub("0", path_):
        return 3
    return 4 if path.count("/") == path_.count("/") else 5


def missed(
    pages: Iterable[Page],
    key: Callable[[str], str | None],
    oracle: Callable[[str], str | None],
) -> tuple[Counter[str], Counter[str]]:
    """Return the redundant URLs outside sinks that are not found, by kind.

    Each compared with the URL of the same page that is nearest to it; and those of them that the
    oracle finds.
    """
    clusters: dict[tuple[str, int], dict[str | None, str]] = {}
    for page in sorted(pages, key=lambda page: page.url):
        if not page.in_sink:
            host = locate(page.url).origin.host
            clusters.setdefault((host, page.cluster), {}).setdefault(key(page.url), page.url)
    found: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for forms in clusters.values():
        urls = [url for form, url in forms.items() if form is not None]
        for i, url in enumerate(urls[1:], 1):
            kind = KINDS[min(kind_of(locate(url), locate(other)) for other in urls[:i])]
            found[kind] += 1
            known[kind] += oracle(url) in {oracle(other) for other in urls[:i]}
    return found, known
