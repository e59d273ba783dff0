"""Classes of URLs that never show anything but one page.

Log-in forms, "send to a friend", and the like.

Such a page is no evidence for a general rule: that ``returnto`` makes no difference to a log-in
form says nothing about any other page. Yet the class itself may be most of a crawl. It is
collapsed only where its parameters name other URLs of the site, so that they are where to go
*next*. A number whose pages were all down when the crawl passed looks just like a sink otherwise.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from scrapy_urlcanon.learn.bounds import lower_bound
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.rule import Evidence, LearnedRule
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.learn.site import SINK_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location, Place

#: Share of the values of a parameter that must name a URL of the site.
_REFERENCES = 0.8

#: Shorter texts are found anywhere.
_MIN_TEXT = 3


def sink_rules(
    groups: Groups, thresholds: Thresholds
) -> tuple[list[LearnedRule], list[LearnedRule]]:
    """Return the classes of URLs of a site that are one page, and those that may be."""
    counts = Counter(location.place for location in groups.pages)
    crowded = {place for place, count in counts.items() if thresholds.accept(count - 1, 0)}
    by_place: dict[Place, list[Location]] = {}
    for location in groups.pages:
        if location.place in crowded:
            by_place.setdefault(location.place, []).append(location)
    texts: set[str] | None = None
    sure: list[LearnedRule] = []
    unsure: list[LearnedRule] = []
    for place in sorted(by_place):
        locations = sorted(by_place[place])
        for scope, members in _classes(place, locations, groups):
            known = [member for member in members if groups.pages[member] != -1]
            if not scope.is_expressible or not thresholds.accept(len(known) - 1, 0):
                continue
            kept = [name_of(scope.condition)] if scope.condition else []
            dropped = {name_of(param) for member in members for param in member.params} - set(kept)
            if not dropped:
                continue
            rule = LearnedRule(
                groups.site.domain,
                scope.pattern,
                "keep_params",
                [unquote_plus(name) for name in kept],
                "sink",
                Evidence(
                    pages=1,
                    merges=len(members) - 1,
                    bound=lower_bound(len(known) - 1, 0, thresholds.confidence),
                    confidence=thresholds.confidence,
                    examples=tuple((member.url, members[0].url) for member in members[1:4]),
                ),
            )
            if texts is None:
                texts = _texts(groups)
            if any(_refers(name, members, texts) for name in dropped):
                sure.append(rule)
            elif len(known) > SINK_SIZE:
                unsure.append(rule)
            break
    return sure, unsure


def _classes(
    place: Place, locations: Sequence[Location], groups: Groups
) -> Iterator[tuple[Scope, list[Location]]]:
    """Yield the classes of the URLs of one place that show one page, the largest first."""
    host = place.host.partition(":")[0]
    segments = tuple(segment for segment in place.path.split("/") if segment)
    if _one_page(locations, groups):
        yield Scope(host, segments), list(locations)
        return
    by_param: dict[str, list[Location]] = {}
    for location in locations:
        for param in location.params:
            by_param.setdefault(param, []).append(location)
    for param in sorted(by_param, key=lambda p: (-len(by_param[p]), p)):
        if len(by_param[param]) > 1 and _one_page(by_param[param], groups):
            yield Scope(host, segments, param), by_param[param]


def _one_page(locations: Iterable[Location], groups: Groups) -> bool:
    pages = {groups.pages[location] for location in locations} - {-1}
    return len(pages) == 1 and isinstance(next(iter(pages)), int)


def _texts(groups: Groups) -> set[str]:
    """Return what a value may name.

    The paths of the site's URLs, and their last segments or the values of titles.
    """
    found = set()
    for location in groups.pages:
        path = unquote_plus(location.place.path)
        found.add(path)
        found.add(path.rstrip("/").rpartition("/")[2])
        for param in location.params:
            if name_of(param) in {"title", "page", "topic", "id"}:
                found.add(unquote_plus(value_of(param)))
    return {
        text.replace("_", " ") for text in found if len(text) >= _MIN_TEXT and not text.isdigit()
    }


def _refers(name: str, members: Iterable[Location], texts: set[str]) -> bool:
    values = {
        value_of(param) for member in members for param in member.params if name_of(param) == name
    }
    if len(values) < 3:  # noqa: PLR2004 - one target for all is a constant
        return False
    return sum(_names_a_url(value, texts) for value in values) >= _REFERENCES * len(values)


def _names_a_url(value: str, texts: set[str]) -> bool:
    text = unquote_plus(value)
    if text.replace("_", " ") in texts or text.startswith(
        ("http://", "https://", "/", "http%3A", "https%3A")
    ):
        return True
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True).startswith(
            (b"http://", b"https://")
        )
    except (Base64Error, ValueError):
        return False
