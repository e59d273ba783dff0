"""Tests which values of a dropped parameter, or dropped words of a path, the evidence covers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.confidence import at_most_drawn
from scrapy_urlcanon.learn.location import name_of, value_of, without_editions
from scrapy_urlcanon.learn.scope import ANY_VALUE
from scrapy_urlcanon.learn.trials.word_pairs import MAX_WORDS
from scrapy_urlcanon.learn.vocabulary import NUMBER, is_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location, Origin
    from scrapy_urlcanon.learn.operations.base import Operation
    from scrapy_urlcanon.learn.scope import Scope

# A segment that a template drops, whatever it is.
_ANY_WORD = re.compile(r"\{_\w+\}")

_MIN_EDITIONS = 0.05
"""The share of things with a year in their URL that must have several, so that the year is that of
an edition. Few articles of different years have one title."""

_MIN_SILENT = 3
"""How many URLs must have a value of which nothing else is known: a few may just stand alone."""

_Value: TypeAlias = "str | None"  # None where a URL has no such parameter

_MAX_VALUES = 100
"""Parameters with more values are not tested: each value is too rare."""

_MIN_PAGES = 2
"""On how many pages two values must agree to be one group. One page is not enough: past their ends
any two listings look the same."""


def only_value(name: str, merges: Iterable[Merge], shows: Callable[[Location], bool]) -> str | None:
    """Return ``name=value`` if all evidence has one value of the parameter, else None.

    :param merges: the merges that are evidence.
    :param shows: tells whether it is known what a URL shows. A URL of which that is not known, such
        as a slide show that needs scripts, is no evidence for its value.
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
    """Tell whether URLs that differ only in values of dropped parameters are several pages.

    Where each article has one category, ``/shoe/7?category=red`` shows the same as ``/shoe/7``.
    That says nothing about ``/list?category=red`` and ``/list?category=blue``, of which a crawl may
    have seen few. If captures had only changed, differences would be as frequent among URLs that
    all have the same value (Fisher's exact test).

    :param names: the names of the dropped parameters.
    :param merges: all merges of the candidate.
    :param chance: the significance level.
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
    """Tell whether the values of a parameter fall into groups that show different pages.

    ``?order=date`` shows the same listing as no order at all, and ``?order=name`` now and then
    shows the same as ``?order=size``. Neither of the latter two is evidence that the parameter may
    be dropped. So values are grouped by whether they repeatedly show one page. The first group is
    that of the URLs without the parameter, or of the most frequent value. If another group agrees
    with the first one significantly less often than the values of the first one agree among
    themselves, the parameter selects content (Fisher's exact test, corrected for the number of
    groups).

    Groups that share no folder with the first are not compared: ``/book/edit?id=7&back=/books`` and
    ``/author/edit?id=7&back=/authors`` have no page in common that could be the same.

    :param merges: those that are evidence.
    :param shows: tells whether it is known what a URL shows.
    :param changes: all URLs that the candidate changes, each with its new form.
    :param is_seen: tells whether the crawl saw such a form itself.
    :param chance: the significance level.
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
    # Groups of one value are not tested: of many values one agrees seldom by chance.
    sets_of_others = [values for values in others if len(values) > 1]
    beside = _pages_beside(first, together)
    # Less one each: a value is in the group because it agreed once.
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


def has_silent_value(
    showing: Counter[_Value], changed: Counter[_Value], against: Collection[_Value], chance: float
) -> bool:
    """Tell whether nothing is known about some word of a parameter that has few values.

    If ``?view=list`` and ``?view=cards`` show what is shown without a view, that says nothing about
    ``?view=month``, if it made a difference elsewhere, or if there are so many URLs with it that
    some should be evidence. Numbers are no such words: there may always be another one.

    :param showing: how many URLs with each value are evidence.
    :param changed: how many URLs have each value.
    :param against: the values that made a difference elsewhere.
    :param chance: the significance level, over all values.
    """
    heard = sum(changed[value] for value in showing)
    return len({*changed, *against}) <= MAX_WORDS and any(
        value in against
        or is_telling(showing.total(), heard, heard + changed[value], chance / len(changed))
        for value in {*changed, *against} - showing.keys()
        if (value in against or changed[value] >= _MIN_SILENT)
        and value is not None
        and not is_identifier(value_of(value))
    )


def are_editions(changes: Iterable[tuple[Location, Location]]) -> bool:
    """Tell whether a candidate makes several editions of things one.

    Most courses are the same in ``/2025/course/7`` and ``/2026/course/7``, so far. Nothing is said
    of a year that belongs to a thing, as that of an article does: ``/2026/11/some-title``.

    :param changes: the URLs that it changes, each with its new form.
    """
    editions: dict[Location, set[frozenset[str]]] = {}
    count = 0
    for url, target in changes:
        left_out = without_editions(url)[1] - without_editions(target)[1]
        count += 1 if left_out else -1
        if left_out:
            editions.setdefault(target, set()).add(left_out)
    several = sum(len(of_thing) > 1 for of_thing in editions.values())
    # Some of many numbers look like years.
    return count > 0 and several >= max(_MIN_PAGES, _MIN_EDITIONS * len(editions))


def is_other_choice(param: str, others: Collection[Location]) -> bool:
    """Tell whether all of the *others* have the parameter too, with another value."""
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
    """Return the first condition that separates the evidence from URLs of other kinds, or "".

    One script may serve many things, ``?do=details`` and ``?do=list``. If all evidence has
    ``do=details``, nothing is known about the others, and the rule needs that condition, provided
    that the others have another value of the same parameter, or some have no other parameter that
    could name a thing, or they are so many that some of them should have been evidence.

    :param scopes: the scope narrowed by each condition that all evidence meets.
    :param showing: how many URLs are evidence.
    :param changed: all URLs that the candidate changes.
    :param is_all: whether some URLs have no parameters but the dropped ones.
    :param chance: the significance level.
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
    """Tell whether it is significant that all evidence lies among *count* of the URLs.

    :param showing: how many URLs are evidence. It may exceed *count* if rules accepted earlier gave
        some of them another path.
    :param count: how many URLs there are of the kind that has evidence.
    :param of: how many URLs there are of all kinds.
    :param chance: the significance level.
    """
    likely: float = (1.0 - min(showing, count) / (count + 1)) ** (of - count)
    return likely <= chance


def has_silent_word(
    candidate: Iterable[Operation],
    showing: Collection[Location],
    changed: Collection[Location],
    chance: float,
) -> bool:
    """Tell whether a template drops some word of the path without any evidence for that word.

    If ``/print/7`` shows the same as ``/node/7``, and no ``/comment/7`` does, although there are so
    many of these that some should, then comments have numbers of their own.

    :param showing: the URLs that are evidence, whatever the word.
    :param changed: all URLs that the candidate changes.
    :param chance: the significance level, over all words.
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
        # With more words they are titles, each of one page.
        if len(count) <= MAX_WORDS and any(
            is_telling(shown.total(), heard, heard + count[word], chance / len(count))
            for word in count.keys() - shown.keys()
        ):
            return True
    return False


def is_of_one_path(
    segments: Sequence[str], having: Sequence[Location], urls: Iterable[Location], chance: float
) -> bool:
    """Tell whether a parameter belongs to a single path, such as a script, and to no other.

    That is so if all URLs that have it have this path, and so many URLs with parameters have other
    paths that some of them would have it if it were used across the site.

    :param segments: the segments of the path.
    :param having: the URLs that have it.
    :param urls: all URLs that were seen.
    :param chance: the significance level.
    """
    path = "/".join(("", *segments))
    if any(url.path != path for url in having):
        return False
    paths = [url.path == path for url in urls if url.params]
    return is_telling(len(having), sum(paths), len(paths), chance)


def _sets_of_one_page(
    values: list[_Value], together: Counter[frozenset[_Value]]
) -> list[set[_Value]]:
    """Return the values grouped by whether they repeatedly show one page, in the order given."""
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
    """Return for each value on how many pages it agrees with another value of *some*."""
    pages = Counter[_Value]()
    for values, count in together.items():
        for value in values:
            if not some.isdisjoint(values - {value}):
                pages[value] += count
    return pages


def _folder(url: Location) -> tuple[Origin, str]:
    """Return the origin and folder of a URL, with numbers masked.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> _folder(locate("http://a.example/book/7/edit/?id=1"))[1]
    '/book/0'
    """
    return url.origin, NUMBER.sub("0", url.path.rstrip("/").rpartition("/")[0])


def value_in(url: Location, name: str) -> _Value:
    """Return the parameter with this name as ``name=value``; None if the URL has none."""
    return next((param for param in url.params if name_of(param) == name), None)
