"""Which counter-examples of a candidate are content, though each may be a page that has changed.

Changes come to any of the URLs of a page, whatever their parameters are, and to those that the
candidate leaves as they are too. Where counter-examples have something in common more often than
by chance, that is what they differ by.
"""

from __future__ import annotations

from collections import Counter
from math import exp, factorial, sqrt
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import at_most, at_most_drawn
from scrapy_urlcanon.learn.held.merges import Agreement
from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.scope import ANY_VALUE
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scrapy_urlcanon.learn.held.merges import Merges
    from scrapy_urlcanon.learn.location import Location

_MIN_ODD = 4
"""Captures that differ, and have something in common, before it may be what they differ by."""

_MIN_CONTENT = 5
"""The same where it is no chance that they are most of those that have it."""

_MAX_CHANCE = 0.05
"""How probable it must be that captures which changed have in common what they have."""

_MAX_CHANCE_CHANGED = 0.2
"""The same where all that they have in common is that the candidate changes them: of the two
errors it is the worse one to lose a page."""

_CHANGED = "changed"
"""The mark of a URL that the candidate changes."""

_MIN_PAIRS = 3
"""Fewer pairs of counter-examples with one value say nothing."""

_MIN_WORDED, _MAX_CHANCE_WORDED = 3, 0.001
"""Fewer counter-examples with one word say nothing; and how probable it must be for one to be none
that matters, over all words. Right rules have many, so that chance would often tell of one."""

_MAX_RATE = 0.15
"""How often captures differ at most that should agree; of three URLs of which some differ about as
many differ all."""

_PAIR = 2
"""Of two URLs that differ nothing tells whether others would agree."""

_MANY, _Z = 100, 2.0
"""More pairs than so many need no sum, but so many standard errors."""


def count_content(merges: Merges, changes: Collection[Location], names: Collection[str]) -> bool:
    """Count what is no change between two captures among what the merges lose.

    :param changes: the URLs that the candidate changes.
    :param names: the parameters that it drops.
    :return: whether nothing of it is a change.
    """
    content = _content_of(merges, changes)
    agreements = merges.agreements
    for number, agreement in enumerate(agreements):
        if agreement.moved:
            moved = [s for s in agreement.moved if content.isdisjoint(_marks(s, changes))]
            lost = agreement.lost + len(agreement.moved) - len(moved)
            far = tuple(filter(moved.__contains__, agreement.far))
            agreements[number] = agreement._replace(moved=tuple(moved), lost=lost, far=far)
    unclear = [n for n, agreement in enumerate(agreements) if agreement.unclear]
    odd = [n for n in unclear if agreements[n].changed]
    is_all = (
        _CHANGED in content
        or _is_by_value(merges, unclear, odd, names)
        or _is_by_word(merges, unclear, odd)
        or _is_by_page(merges)
    )
    if is_all:
        # Nor do they tell how often captures differ that should agree.
        agreements[:] = map(_without_changes, agreements)
    return is_all


def _without_changes(agreement: Agreement) -> Agreement:
    lost = agreement.lost + len(agreement.moved)
    return Agreement(lost, odd=agreement.odd)


def _content_of(merges: Merges, changes: Collection[Location]) -> set[str]:
    """Return the marks of URLs that differ from what they are beside for having them."""
    agreements = merges.agreements
    differing = [source for one in agreements for source in one.moved + one.odd]
    odd = Counter(mark for source in differing for mark in _marks(source, changes))
    likely = {mark for mark, count in odd.items() if count >= _MIN_ODD}
    if not likely:
        return likely
    clear = [
        source
        for number, agreement in enumerate(agreements)
        if agreement.agreeing or agreement.odd
        for source in merges.sources(number)
    ]
    among = Counter(mark for s in clear for mark in likely.intersection(_marks(s, changes)))

    def is_content(mark: str) -> bool:
        chance = 1.0 - at_most(odd[mark] - 1, len(differing), among[mark] / len(clear))
        if mark == _CHANGED:
            return chance <= _MAX_CHANCE_CHANGED
        is_most = odd[mark] >= _MIN_CONTENT and 2 * odd[mark] > among[mark]
        return is_most or chance * len(odd) <= _MAX_CHANCE

    return set(filter(is_content, likely))


def _is_by_value(
    merges: Merges, unclear: Sequence[int], odd: Sequence[int], names: Collection[str]
) -> bool:
    """Tell whether few values of the parameters are in more counter-examples than by chance.

    Of two URLs that differ nothing tells which one has changed. Where it is by chance, values
    that are rare are seldom in two such pairs.

    :param unclear: the numbers of the merges of such pairs.
    :param odd: those of which the two differ.
    :param names: of the parameters that go.
    """
    if not names:
        return False

    def params_of(number: int) -> set[str]:
        sources = merges.sources(number)
        return {param for s in sources for param in s.params if name_of(param) in names}

    against = Counter(param for number in odd for param in params_of(number))
    pairs = sum(n * (n - 1) // 2 for n in against.values())
    if pairs < _MIN_PAIRS:
        return False
    count = Counter(param for number in unclear for param in params_of(number))
    expected = len(odd) * (len(odd) - 1) / 2 * sum((n / len(unclear)) ** 2 for n in count.values())
    if pairs < expected:
        return False
    if pairs > _MANY:
        return pairs > expected + _Z * sqrt(expected)
    fewer = sum(expected**n / factorial(n) for n in range(pairs))
    return 1.0 - exp(-expected) * fewer <= _MAX_CHANCE


def _is_by_word(merges: Merges, unclear: Sequence[int], odd: Sequence[int]) -> bool:
    """Tell whether a word that goes from the path is in more counter-examples than by chance.

    Of two URLs that differ nothing tells which one has changed. Where it is by chance, no word goes
    from those that differ so much more often than from others (Fisher's exact test, once for each).

    :param unclear: as of :func:`_is_by_value`, as is *odd*.
    """
    if len(odd) < _MIN_WORDED:
        return False

    def words_of(number: int) -> set[str]:
        kept = merges.targets[number].path.split("/")
        return {s for url in merges.changed(number) for s in url.path.split("/")}.difference(kept)

    against = Counter(word for number in odd for word in words_of(number))
    count = Counter(word for number in unclear for word in words_of(number))
    return any(
        1.0 - at_most_drawn(times - 1, count[word], len(odd), len(unclear))
        <= _MAX_CHANCE_WORDED / len(count)
        for word, times in against.items()
        if times >= _MIN_WORDED
    )


def _is_by_page(merges: Merges) -> bool:
    """Tell whether counter-examples are pages of which each URL shows something else.

    Where captures change one by one, two of three URLs seldom change, and the others agree.
    """
    agreements = enumerate(merges.agreements)
    odd = [number for number, one in agreements if one.changed and one.unclear > _PAIR]
    apart = sum(1 for number in odd if not merges.pages(number))
    return apart > 0 and 1.0 - at_most(apart - 1, len(odd), _MAX_RATE) <= _MAX_CHANCE


def _marks(location: Location, changes: Collection[Location]) -> set[str]:
    """Return what a URL may differ by from others of its page."""
    return set(_all_marks(location, changes))


def _all_marks(location: Location, changes: Collection[Location]) -> Iterator[str]:
    if location in changes:
        yield _CHANGED
    yield "&".join(map(name_of, location.params))
    for param in location.params:
        yield param
        yield name_of(param) + ANY_VALUE
    segments = location.path.split("/")
    yield "/" + NUMBER.sub("0", segments[-1])
    for depth, segment in enumerate(segments):
        yield f"{depth}/{segment}"
