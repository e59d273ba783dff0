"""What other words in the place of a template's own show: whether a few pages may agree by luck.

Where ``/user/7/friends`` and ``/user/7/likes`` show one page for most users, since most have
neither, some pair of words will always look as if it made no difference. So the record of one
pair is held against those of its siblings: the same template with other words.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.confidence import MAX_FALSE
from scrapy_urlcanon.learn.location import host_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operation import Operation

Words: TypeAlias = "tuple[str, ...]"
_Context: TypeAlias = "tuple[str, Words, Words]"

# A number that a template leaves out.
_ANY_NUMBER = re.compile(r"\{_\w+:digits\}")

#: Words in one place that are compared with each other.
MAX_WORDS = 12


def is_choice(candidate: Sequence[Operation], changes: Mapping[Location, Location]) -> bool:
    """Tell whether a candidate replaces some of few words or numbers that many URLs have.

    That is a choice, such as a version, a section or a season. Any text beside the number of a
    page is a title.
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


def chance_of_luck(groups: Groups, candidate: Sequence[Operation], pages: int) -> float:
    """Return how probable it is that so many *pages* agree as do under the likeliest sibling.

    It is 0 where the candidate replaces neither words of the path nor the host by another, or where
    each sibling is always right or always wrong. All siblings that are right at times count as
    tried.
    """
    segments, places = _places(candidate)
    new = candidate[0].shapes[1].partition("?")[0].split("/")
    own = frozenset(tuple(text[place] for place in places) for text in (segments, new))
    hosts = candidate[0].hosts if len(candidate) == 1 else frozenset()
    if hosts:
        own = frozenset((host,) for host in hosts)
    elif not places or any("{" in word for words in own for word in words):
        return 0.0
    contexts = _by_host(groups) if hosts else _by_context(groups, len(segments), places)
    agree: Counter[frozenset[Words]] = Counter()
    differ: Counter[frozenset[Words]] = Counter()
    for context, seen in contexts.items():
        is_here = hosts or all(
            "{" in s or not c or s == c for s, c in zip(segments, context[1], strict=True)
        )
        for one, other in combinations(sorted(seen)[:MAX_WORDS], 2):
            pair = frozenset((one, other))
            if not (is_here and pair == own):
                (agree if seen[one] == seen[other] else differ)[pair] += 1
    # Of two names of one host a few pages differ, which print their own address.
    few = MAX_FALSE if hosts else 0.0
    shares = [
        count / (count + differ[pair])
        for pair, count in agree.items()
        if differ[pair] > few * (count + differ[pair])
    ]
    return min(1.0, len(shares) * max(shares) ** pages) if shares else 0.0


def _places(candidate: Sequence[Operation]) -> tuple[list[str], list[int]]:
    """Return the segments of the first template, and where the second one has others."""
    (source, _, query), (target, _, new_query) = (t.partition("?") for t in candidate[0].shapes)
    segments, new = source.split("/"), target.split("/")
    if len(candidate) > 1 or query != new_query or len(segments) != len(new):
        return segments, []
    return segments, [place for place, segment in enumerate(segments) if segment != new[place]]


def _by_context(
    groups: Groups, depth: int, places: Sequence[int]
) -> dict[_Context, dict[Words, object]]:
    """Return the pages of the words in some places of paths of a depth, by all around them."""
    found: dict[_Context, dict[Words, object]] = {}
    for location, page in groups.pages.items():
        parts = location.path.split("/")
        if page == NO_EVIDENCE or len(parts) != depth:
            continue
        words = tuple(parts[place] for place in places)
        for place in places:
            parts[place] = ""
        context = host_of(location.origin), tuple(parts), location.params
        found.setdefault(context, {})[words] = page
    return found


def _by_host(groups: Groups) -> dict[_Context, dict[Words, object]]:
    """Return the pages of the hosts that have the same path and parameters."""
    found: dict[_Context, dict[Words, object]] = {}
    for ((_, host), path, params), page in groups.pages.items():
        if page != NO_EVIDENCE:
            found.setdefault(("", (path,), params), {})[host,] = page
    return found
