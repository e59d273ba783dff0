"""Tests by the siblings of a template whether its evidence may be luck.

Most users have neither friends nor likes, so ``/user/7/friends`` and ``/user/7/likes`` mostly show
the same page, and some pair of words will always look interchangeable. So the record of one pair of
words is judged beside its *siblings*: the same template with other words.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.confidence import MAX_FALSE, at_most_drawn
from scrapy_urlcanon.learn.location import host_of, name_of, without_param
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import is_ordering

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation

_Words: TypeAlias = "tuple[str, ...]"
_Context: TypeAlias = "tuple[str, _Words, _Words]"

# A number that a template drops.
_ANY_NUMBER = re.compile(r"\{_\w+:digits\}")

# A parameter that a template drops with any value.
_ANY_VALUE = re.compile(r"[^=]+=\{_\w+\}")

# Separates a name from its value within a segment of a path: `sort:votes`.
_ENDS_NAME = re.compile("[:=,]")

_MAX_CHANCE = 0.05
"""Significance level for a sort order never showing another page while others do."""

MAX_WORDS = 12
"""The most words in one place that are compared with each other."""


def is_choice(candidate: Sequence[Operation], changes: Mapping[Location, Location]) -> bool:
    """Tell whether a candidate replaces words of a small set that many URLs share.

    They are a choice, such as a version, a section or a season. Text beside the number of a page is
    a title, not a choice.
    """
    segments, places = _places(candidate)
    source = str(candidate[0].setting)
    is_numbered = ":digits}" in source and not _ANY_NUMBER.search(source)
    if is_numbered and all("{" in segments[p] for p in places):
        return False
    words = {
        tuple(parts[place] for place in places)
        for location in changes
        if places and len(parts := location.path.split("/")) == len(segments)
    }
    return bool(words) and 2 * len(words) <= len(changes)


def luck_of_siblings(
    groups: Groups, candidate: Sequence[Operation], changes: Mapping[Location, Location]
) -> list[float]:
    """Return the share of right pages of each sibling that is sometimes right, sometimes wrong.

    The list is empty if the candidate replaces neither words of the path nor the host, or if each
    sibling is always right or always wrong. It is ``[1.0]`` if the candidate adds or drops a sort
    order in the path that matters elsewhere: a short listing is the same in any order.

    :param changes: what the candidate changes, and into what.
    """
    if _leaves_out_an_order(groups, changes):
        return [1.0]
    segments, places = _places(candidate)
    new = candidate[0].shapes[1].partition("?")[0].split("/")
    own = frozenset(tuple(text[place] for place in places) for text in (segments, new))
    hosts = candidate[0].hosts if len(candidate) == 1 else frozenset()
    if hosts:
        own = frozenset((host,) for host in hosts)
    elif not places or any("{" in word for words in own for word in words):
        return []
    contexts = (
        _by_host(groups)
        if hosts
        else _by_context(groups, len(segments), places, candidate[0].subjects)
    )
    agree: Counter[frozenset[_Words]] = Counter()
    differ: Counter[frozenset[_Words]] = Counter()
    for context, seen in contexts.items():
        is_here = hosts or all(
            "{" in s or not c or s == c for s, c in zip(segments, context[1], strict=True)
        )
        for one, other in combinations(sorted(seen)[:MAX_WORDS], 2):
            pair = frozenset((one, other))
            if not (is_here and pair == own):
                (agree if seen[one] == seen[other] else differ)[pair] += 1
    # Between two names of one host a few pages differ, which show their own address.
    few = MAX_FALSE if hosts else 0.0
    return [
        count / (count + differ[pair])
        for pair, count in agree.items()
        if differ[pair] > few * (count + differ[pair])
    ]


def led_astray(
    groups: Groups, candidate: Sequence[Operation], changes: Mapping[Location, Location]
) -> list[Location]:
    """Return the URLs that a template maps to one word, but whose pages are found under another.

    If ``/{a}/latest`` is ``/{a}/2.3`` for some and ``/{a}/1.0`` for others, the template
    ``/{a}/latest`` -> ``/{a}/2.3`` is right only where 2.3 happens to be the latest. Pages that do
    not change between versions say nothing about that: they are found both at this version and at
    another.

    :param changes: what the candidate changes, and into what.
    """
    source, target = (text.partition("?")[0].split("/") for text in candidate[0].shapes)
    places = {n for n, word in enumerate(target) if "{" not in word and word not in source}
    if len(candidate) > 1 or not places:
        return []
    astray: list[Location] = []
    found: Counter[tuple[bool, bool]] = Counter()
    for url, to in changes.items():
        (page, *others), there = groups.pages_of(url), groups.pages.get(to)
        if others or page == NO_EVIDENCE or groups.site.is_sink(page):
            continue
        is_seen = there not in {None, NO_EVIDENCE}
        # To list the URLs of a page takes long, and most have one.
        several = groups.forms(page) if groups.site.sizes[page] > 1 else ()
        forms = (form for form in several if changes.get(form) != to)
        is_elsewhere = any(_places_between(to, form) == places for form in forms)
        found[is_seen, is_elsewhere] += 1
        if is_elsewhere and not is_seen:
            astray.append(url)
    seen, unseen = (found[is_seen, True] + found[is_seen, False] for is_seen in (True, False))
    return astray if len(astray) * seen > 2 * found[True, True] * unseen else []


def _places_between(one: Location, other: Location) -> set[int] | None:
    """Return the indices of the path segments in which two URLs differ; None if more differs."""
    mine, theirs = one.path.split("/"), other.path.split("/")
    if one.origin != other.origin or one.params != other.params or len(mine) != len(theirs):
        return None
    return {n for n, pair in enumerate(zip(mine, theirs, strict=True)) if len({*pair}) > 1}


def _leaves_out_an_order(groups: Groups, changes: Mapping[Location, Location]) -> bool:
    """Tell whether the candidate adds or drops a sort order in the path that matters elsewhere.

    Short listings look the same in any order, which says nothing about longer ones.
    """
    orders: dict[str, set[str]] = {}
    for source, target in changes.items():
        if source.path != target.path:
            one, other = _orders(source), _orders(target)
            # An order that moves into a parameter is not dropped.
            for order in one.keys() ^ other.keys():
                orders.setdefault(order[0], set()).add({**one, **other}[order])
    if not orders:
        return False
    # By name of the order, then by the URL without it.
    listings: dict[str, dict[Location, dict[str, Location]]] = {name: {} for name in orders}
    for location in groups.pages:
        for (name, _), text in _orders(location).items():
            if name in orders and groups.pages[location] != NO_EVIDENCE:
                listings[name].setdefault(_without(location, text), {})[text] = location
    return any(
        not _is_default_order(groups, texts, listings[name]) for name, texts in orders.items()
    )


def _is_default_order(
    groups: Groups,
    texts: Collection[str],
    listings: Mapping[Location, Mapping[str, Location]],
) -> bool:
    """Tell whether a sort order is the default one, or no order makes a difference.

    Any order looks like the default in short listings. So it must never show another page than the
    URL without an order, while other orders do so significantly often (Fisher's exact test, 5 %).

    :param texts: the segments or parameters that set the order; more than one if there are several
        orders.
    :param listings: by URL without an order, the URL seen for each order.
    """
    matters = False
    own: Counter[bool] = Counter()
    others: Counter[bool] = Counter()
    for without, seen in listings.items():
        pairs = combinations(seen.values(), 2)
        matters = matters or any(groups.shows_another(*pair) for pair in pairs)
        for text, location in seen.items() if without in groups.pages else ():
            (own if text in texts else others)[groups.shows_another(without, location)] += 1
    if not (matters or own[True] or others[True]):
        return True
    chance = at_most_drawn(0, own.total(), others[True], own.total() + others.total())
    return len(texts) == 1 and not own[True] and chance <= _MAX_CHANCE


def _without(location: Location, text: str) -> Location:
    """Return a URL without one segment or parameter."""
    if text in location.params:
        return without_param(location, text)
    segments = location.path.split("/")
    segments.remove(text)
    return location._replace(path="/".join(segments))


def _orders(location: Location) -> dict[tuple[str, str], str]:
    """Return the sort orders in a URL, each with the segment or parameter that sets it.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> _orders(locate("http://a.example/sort:age/order-by-votes/order-12/?dir=up"))
    {('sort', 'age'): 'sort:age', ('dir', 'up'): 'dir=up', ('order', 'by-votes'): 'order-by-votes'}
    """
    segments = location.path.split("/")
    split = [(_ENDS_NAME.split(part, maxsplit=1), part) for part in (*segments, *location.params)]
    # A hyphen counts only before words: `order-12` is the number of an order of goods.
    worded = (segment for segment in segments if not any(map(str.isdigit, segment)))
    split += [(segment.split("-", maxsplit=1), segment) for segment in worded]
    return {(name, value[0]): part for (name, *value), part in split if value and is_ordering(name)}


def _places(candidate: Sequence[Operation]) -> tuple[list[str], list[int]]:
    """Return the segments of the first template, and the indices where the second one differs.

    Templates that also drop parameters with any value count as replacing words of the path.
    """
    (source, _, query), (target, _, new_query) = (t.partition("?") for t in candidate[0].shapes)
    segments, new = source.split("/"), target.split("/")
    kept, old = ({*text.split("&")} - {""} for text in (new_query, query))
    is_left_out = all(_ANY_VALUE.fullmatch(param) for param in old - kept)
    if len(candidate) > 1 or kept - old or not is_left_out or len(segments) != len(new):
        return segments, []
    return segments, [place for place, segment in enumerate(segments) if segment != new[place]]


def _by_context(
    groups: Groups, depth: int, places: Sequence[int], left_out: Collection[str]
) -> dict[_Context, dict[_Words, object]]:
    """Return the page of each combination of words in *places*, by the rest of the URL.

    :param depth: the number of path segments of the URLs that are looked at.
    :param left_out: names of parameters that make no difference.
    """
    found: dict[_Context, dict[_Words, object]] = {}
    for location, page in groups.pages.items():
        parts = location.path.split("/")
        if page == NO_EVIDENCE or len(parts) != depth:
            continue
        words = tuple(parts[place] for place in places)
        for place in places:
            parts[place] = ""
        params = tuple(param for param in location.params if name_of(param) not in left_out)
        context = host_of(location.origin), tuple(parts), params
        pages = found.setdefault(context, {})
        other = pages.setdefault(words, page)
        if other != page:
            # A fixed choice, so that the order of the URLs does not matter.
            pages[words] = min(other, page, key=str)
    return found


def _by_host(groups: Groups) -> dict[_Context, dict[_Words, object]]:
    """Return the page of each host, by the rest of the URL."""
    found: dict[_Context, dict[_Words, object]] = {}
    for ((_, host), path, params), page in groups.pages.items():
        if page != NO_EVIDENCE:
            found.setdefault(("", (path,), params), {})[host,] = page
    return found
