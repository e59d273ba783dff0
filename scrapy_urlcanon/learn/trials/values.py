"""Which values of a parameter that goes the evidence is about."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.confidence import at_most_drawn
from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.scope import ANY_VALUE
from scrapy_urlcanon.learn.trials.word_pairs import MAX_WORDS
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location, Origin
    from scrapy_urlcanon.learn.operations.base import Operation
    from scrapy_urlcanon.learn.scope import Scope

# A segment that a template leaves out, whatever it is.
_ANY_WORD = re.compile(r"\{_\w+\}")

_Value: TypeAlias = "str | None"  # None where a URL has no such parameter

_MAX_VALUES = 100
"""Of a parameter with more values each says as little of the next one as any other."""

_MIN_PAGES = 2
"""Pages on which a value agrees before it is one with what it agrees with: any two listings are one
page where both have ended."""


def only_value(name: str, merges: Iterable[Merge], shows: Callable[[Location], bool]) -> str | None:
    """Return the one value of a parameter in all evidence; None if there is not one.

    :param merges: those that are evidence.
    :param shows: tells whether a URL shows anything; what does not, such as a slide show that needs
        scripts, is no evidence for its value.
    """
    found: str | None = None
    for merge in merges:
        for source in merge.sources:
            value = value_in(source, name)
            if value not in {None, found} and shows(source):
                if found is not None:
                    return None
                found = value
    return found


def tell_things_apart(names: Collection[str], merges: Iterable[Merge], chance: float) -> bool:
    """Tell whether URLs that differ in nothing but values of parameters are several things.

    Where each thing has one category, that ``/shoe/7?category=red`` is ``/shoe/7`` says nothing of
    ``/list?category=red`` and ``/list?category=blue``, of which the crawl has seen a few. Captures
    that changed are found among URLs with one value as often (Fisher's exact test).

    :param names: the parameters that go.
    :param merges: all that the candidate does.
    :param chance: how probable it must be that as many of those with several values differ.
    """
    urls, lost = Counter[bool](), Counter[bool]()
    for merge in merges:
        values = {
            tuple(param for param in source.params if name_of(param) in names)
            for source in merge.sources
        }
        are_several = len(values - {()}) > 1
        urls[are_several] += len(merge.sources)
        lost[are_several] += merge.agreement.lost
    if not lost[True]:
        return False
    fewer = at_most_drawn(lost[True] - 1, urls[True], lost.total(), urls.total())
    return 1.0 - fewer <= chance


def fall_apart(
    name: str,
    merges: Iterable[Merge],
    shows: Callable[[Location], bool],
    changes: Collection[tuple[Location, Location]],
    *,
    is_seen: Callable[[Location], bool],
    chance: float,
) -> bool:
    """Tell whether the values of a parameter are several pages, by which of them agree.

    ``?order=date`` shows the listing that there is without an order, and ``?order=name`` now and
    then what ``?order=size`` does. Nothing says then that either is the listing without an order.
    So values that are one page again and again are put together, from the URLs without the
    parameter on. A set of others that agrees with none of these, or less often than they do with
    each other by more than chance, is something else (Fisher's exact test, once for each set).
    A set that no folder has beside these is not: ``/book/edit?id=7&back=/books`` and
    ``/author/edit?id=7&back=/authors`` have no page in common that could be the same.

    :param merges: those that are evidence.
    :param shows: tells whether a URL shows anything.
    :param changes: all URLs that the candidate makes something else of, those of *merges* too, each
        with what it makes of it.
    :param is_seen: tells whether that was seen itself.
    :param chance: how probable it must be that a value agrees as seldom.
    """
    counts = Counter[_Value]()
    for url, _ in changes:
        if (value := value_in(url, name)) is not None:
            counts[value] += 1
        if len(counts) > _MAX_VALUES:
            return False
    together = Counter(
        frozenset(value_in(source, name) for source in merge.sources if shows(source))
        for merge in merges
    )
    by_count = sorted(counts, key=lambda value: (-counts[value], value or ""))
    is_without = any(None in values for values in together)
    first, *others = _sets_of_one_page([None, *by_count] if is_without else by_count, together)
    # Of many values one agrees seldom by chance.
    sets_of_others = [values for values in others if len(values) > 1]
    beside = _pages_beside(first, together)
    # That it agreed at all is why a value is among them.
    told = sum(beside[value] - 1 for value in first if counts[value] and beside[value])
    known = sum(counts[value] for value in first)

    def folders(values: set[_Value]) -> set[tuple[Origin, str]]:
        return {
            _folder(target)
            for url, target in changes
            if value_in(url, name) in values or (None in values and is_seen(target))
        }

    def is_another_page(values: set[_Value]) -> bool:
        if folders(values).isdisjoint(folders(first)):
            return False
        agreeing = sum(beside[value] for value in values)
        urls = sum(counts[value] for value in values)
        seldom = at_most_drawn(agreeing, urls, told + agreeing, known + urls)
        return seldom * len(sets_of_others) <= chance

    return any(map(is_another_page, sets_of_others))


def is_other_choice(param: str, others: Collection[Location]) -> bool:
    """Tell whether URLs differ from those with a parameter by what else that one says in each."""
    name = name_of(param)
    return bool(others) and all(name in map(name_of, other.params) for other in others)


def condition_of_kind(
    scopes: Iterable[Scope],
    showing: int,
    changed: Collection[Location],
    *,
    is_all: bool,
    chance: float,
) -> str:
    """Return the first condition that tells all evidence from URLs of other kinds.

    One script answers for many things, ``?do=details`` and ``?do=list``. Where the candidate makes
    URLs of the one kind one again and again, and never those of the other, the other kind has shown
    nothing: where it is another choice in the same place, or what goes is all that there is of it
    and names no thing, or there are so many of it that it should have.

    :param scopes: of each of these conditions.
    :param showing: how many URLs are evidence.
    :param changed: all URLs that the candidate changes.
    :param is_all: whether what goes is all that some of them have.
    :param chance: how probable it must be that no other kind shows anything.
    """
    for narrow in scopes:
        outside = [source for source in changed if not narrow.holds(source)]
        count = len(changed) - len(outside)
        if narrow.is_expressible and (
            (is_all and narrow.condition.endswith(ANY_VALUE))
            or is_other_choice(narrow.condition, outside)
            or is_telling(showing, count, len(changed), chance)
        ):
            return narrow.condition
    return ""


def is_telling(showing: int, count: int, of: int, chance: float) -> bool:
    """Tell whether it is no chance that only some of *count* URLs show something, of all there are.

    :param showing: how many of these do; those above *count* are where nobody saw them, as a rule
        that was accepted before gave them another path.
    :param of: how many URLs there are, with the others.
    """
    likely: float = (1.0 - min(showing, count) / (count + 1)) ** (of - count)
    return likely <= chance


def has_silent_word(
    candidate: Iterable[Operation],
    showing: Collection[Location],
    changed: Collection[Location],
    chance: float,
) -> bool:
    """Tell whether a template leaves out a word of the path of which no URL shows that it may.

    Where ``/print/7`` is ``/node/7`` and no ``/comment/7`` is either, though there are so many that
    some of them should be, comments have numbers of their own.

    :param showing: the URLs that do, whatever the word.
    :param changed: all that the candidate changes.
    :param chance: how probable it must be, over all words.
    """
    places = [
        place
        for step in candidate
        if step.is_template and ":path}" not in str(step.setting)
        for place, segment in enumerate(step.shapes[0].partition("?")[0].split("/"))
        if _ANY_WORD.fullmatch(segment)
    ]
    for place in places:
        shown = Counter(url.path.split("/")[place] for url in showing)
        count = Counter(url.path.split("/")[place] for url in changed)
        heard = sum(count[word] for word in shown)
        # More are titles, each of one thing.
        if len(count) <= MAX_WORDS and any(
            is_telling(shown.total(), heard, heard + count[word], chance / len(count))
            for word in count.keys() - shown.keys()
        ):
            return True
    return False


def is_of_one_path(
    segments: Sequence[str], having: Sequence[Location], urls: Iterable[Location], chance: float
) -> bool:
    """Tell whether a parameter is one of a single path, such as a script, and of no other.

    All URLs that have it are there, and so many with parameters have other paths that some of these
    should have it, were it one of the whole site.

    :param segments: those of the path.
    :param having: the URLs that have it.
    :param urls: all that were seen.
    """
    path = "/".join(("", *segments))
    if any(url.path != path for url in having):
        return False
    paths = [url.path == path for url in urls if url.params]
    return is_telling(len(having), sum(paths), len(paths), chance)


def _sets_of_one_page(
    values: list[_Value], together: Counter[frozenset[_Value]]
) -> list[set[_Value]]:
    """Return the values in sets that are one page again and again, each from the first one on."""
    found = []
    left = dict.fromkeys(values)
    while left:
        new = {next(iter(left))}
        found.append(agreeing := set[_Value]())
        while new:
            agreeing |= new
            for value in new:
                del left[value]
            beside = _pages_beside(agreeing, together)
            new = {value for value in left if beside[value] >= _MIN_PAGES}
    return found


def _pages_beside(some: set[_Value], together: Counter[frozenset[_Value]]) -> Counter[_Value]:
    """Return by value on how many pages it agrees with another one of *some*."""
    pages = Counter[_Value]()
    for values, count in together.items():
        for value in values:
            if not some.isdisjoint(values - {value}):
                pages[value] += count
    return pages


def _folder(url: Location) -> tuple[Origin, str]:
    """Return where a URL stands: whichever of the things there it is of.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> _folder(locate("http://a.example/book/7/edit/?id=1"))[1]
    '/book/0'
    """
    return url.origin, NUMBER.sub("0", url.path.rstrip("/").rpartition("/")[0])


def value_in(url: Location, name: str) -> _Value:
    """Return the parameter of that name, with its value."""
    return next((param for param in url.params if name_of(param) == name), None)
