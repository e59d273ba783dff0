"""Separates real counter-examples of a candidate from pages that changed between two captures.

Two URLs that a candidate maps to one form may differ for two reasons: they are two pages, or they
are one page that changed in between. Changes strike at random, whatever a URL looks like and
whether or not the candidate changes it. So if the URLs that differ share a feature (a parameter, a
word of the path) more often than chance explains, that feature selects the content, and the
differences count against the candidate.
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
"""A feature must be shared by at least this many differing captures to be tested."""

_MIN_CONTENT = 5
"""With at least this many, a feature also counts as content if most of the URLs that have it
differ."""

_MAX_CHANCE = 0.05
"""Significance level: a feature whose frequency among the differing captures is less probable than
this, if changes strike at random, selects content."""

_MAX_CHANCE_CHANGED = 0.2
"""The level for the feature "the candidate changes this URL". It is higher because losing a page is
worse than missing a rule."""

_CHANGED = "changed"
"""The feature of a URL that the candidate changes."""

_MIN_PAIRS = 3
"""The least number of pairs of counter-examples with the same value that is tested."""

_MIN_WORDED, _MAX_CHANCE_WORDED = 3, 0.001
"""The least number of counter-examples with the same word that is tested, and the significance
level over all words. The level is low because a right rule may cover many words, of which one would
often stand out by chance."""

_MAX_RATE = 0.15
"""If some URLs of a group of three or more differ through changes alone: the highest plausible
probability that all of them do."""

_PAIR = 2
"""Groups of two URLs are skipped: nothing shows which of the two changed."""

_MANY, _Z = 100, 2.0
"""Above this many pairs a normal approximation with this many standard errors replaces the sum."""


def count_content(merges: Merges, changes: Collection[Location], names: Collection[str]) -> bool:
    """Move differences that are content from ``moved`` to ``lost`` in the agreements of *merges*.

    :param changes: the URLs that the candidate changes.
    :param names: the names of the parameters that it drops.
    :return: whether all differences are content, so that none is put down to a change.
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
        # Then they say nothing about the rate of change either.
        agreements[:] = map(_without_changes, agreements)
    return is_all


def _without_changes(agreement: Agreement) -> Agreement:
    lost = agreement.lost + len(agreement.moved)
    return Agreement(lost, odd=agreement.odd)


def _content_of(merges: Merges, changes: Collection[Location]) -> set[str]:
    """Return the features that explain why URLs differ from the others of their merge."""
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
    """Tell whether some values of the dropped parameters recur in counter-examples too often.

    Used where only two URLs are compared, so that nothing shows which of them changed. If changes
    struck at random, two counter-examples would seldom share a rare value (Poisson test).

    :param unclear: the numbers of the merges where that is so.
    :param odd: those of *unclear* whose URLs differ.
    :param names: the names of the dropped parameters.
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
    """Tell whether a word dropped from the path recurs in counter-examples too often.

    If changes struck at random, no word would be dropped from differing URLs much more often than
    from others (Fisher's exact test, corrected for the number of words).

    :param unclear: as for :func:`_is_by_value`.
    :param odd: as for :func:`_is_by_value`.
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
    """Tell whether in too many merges of three URLs or more no two URLs show the same page.

    If single captures had changed, the other URLs of the merge would mostly still agree.
    """
    agreements = enumerate(merges.agreements)
    odd = [number for number, one in agreements if one.changed and one.unclear > _PAIR]
    apart = sum(1 for number in odd if not merges.pages(number))
    return apart > 0 and 1.0 - at_most(apart - 1, len(odd), _MAX_RATE) <= _MAX_CHANCE


def _marks(location: Location, changes: Collection[Location]) -> set[str]:
    """Return the features of a URL: changed by the candidate, its parameters, its path segments."""
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
