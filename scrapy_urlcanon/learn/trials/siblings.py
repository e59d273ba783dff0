"""Compares the evidence for one word or value with that for the others in the same place.

If ``/{a}/print`` and ``/{a}/edit`` are both tried, and fail together, the one with the better
record may just be lucky. So a rule about one word is judged beside its *siblings*: the same rule
with other words.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import at_most_drawn, lower_bound
from scrapy_urlcanon.learn.candidates import common
from scrapy_urlcanon.learn.location import IN_QUERY, name_of, value_of
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.thresholds import Record
from scrapy_urlcanon.learn.vocabulary import FIRST_PAGE, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation
    from scrapy_urlcanon.learn.scope import Scope

_OTHER_PAGES = 0.5
"""A sibling that is wrong on at least this share of its pages is another kind of rule, not one that
fails now and then."""

_MAX_CHANCE = 0.05
"""Significance level for a value being absent where others are the default."""

_BEYOND_DOUBT = 0.001
"""Significance level for a word being wrong more often than its siblings. It is low because such a
word is left out of the evidence against them, and losing a page is the worse error."""


class Siblings(NamedTuple):
    """The evidence for a rule beside that for its siblings in one place."""

    own: Record
    pooled: Record
    """The sum of all records that are alike."""
    rivals: int
    """How many of them have at least as many pages, this rule included."""
    is_last: bool
    """Whether the rule drops the number of a last part or version.

    A thing with three parts may show the third under the URL without a number. Then dropping ``/3``
    seems right for it, dropping ``/5`` for a thing with five parts, and neither is right in
    general.
    """


def siblings(
    groups: Groups,
    candidate: Sequence[Operation],
    changes: Mapping[Location, Location],
    scope: Scope,
) -> Iterator[Siblings]:
    """Yield the siblings of a candidate within a scope, for each place where it names one word.

    :param changes: the URLs that the candidate changes, each with its new form.
    """
    for wider, word_of in _wider(candidate):
        parts: dict[object, dict[Location, Location]] = {}
        own: set[object] = set()
        for source, target in groups.each_affected(wider, scope):
            word = word_of(source)
            known = changes.get(source)
            # The known object is reused: a second copy for each of millions of URLs would not fit.
            parts.setdefault(word, {})[source] = known if known == target else target
            if known == target:
                own.add(word)
        if len(parts) == 1:
            continue
        records = {word: _record(groups, part) for word, part in parts.items()}
        word = own.pop() if len(own) == 1 else None
        alike = alike_to(word, records)
        if alike:
            mine, pooled, rivals = among(alike, word)
            is_last = False
            if _is_number(word) and _leaves_out_behind(*wider):
                others = [parts[other] for other in alike if other != word and _is_number(other)]
                is_last = _is_apart(groups, parts[word], others)
            elif (number := _number_in(word)) and number not in FIRST_PAGE:
                others = [p for other, p in parts.items() if other != word and _number_in(other)]
                is_last = _is_absent(groups, parts[word], others)
            yield Siblings(mine, pooled, rivals, is_last)


def alike_to(word: object, records: Mapping[object, Record]) -> dict[object, Record]:
    """Return the records of a word and of those like it, or nothing if no other is like it."""
    alike = {other: record for other, record in records.items() if _may_be_alike(record)}
    if word not in alike:
        return {}
    pooled, count = _sum(alike.values()), len(alike)
    alike = {w: r for w, r in alike.items() if w == word or not _is_worse(r, pooled, count)}
    return alike if len(alike) > 1 else {}


def among(alike: Mapping[object, Record], word: object) -> tuple[Record, Record, int]:
    """Return the record of a word, the sum of all, and how many have at least as many pages."""
    mine = alike[word]
    return mine, _sum(alike.values()), sum(one.pages >= mine.pages for one in alike.values())


def _sum(records: Iterable[Record]) -> Record:
    return Record(*map(sum, zip(*records, strict=True)))


def _is_apart(
    groups: Groups, part: dict[Location, Location], others: list[dict[Location, Location]]
) -> bool:
    """Tell whether the pages of a *part* are hardly found in the *others*, if these have pages.

    Less than a quarter of them: even a crawl that was cut short sees half of what two parts share.
    """
    own = _pages(groups, part)
    elsewhere = set[int]().union(*(_pages(groups, other) for other in others))
    return bool(elsewhere) and len(own & elsewhere) < len(own) / 4


def _is_absent(
    groups: Groups, part: dict[Location, Location], others: list[dict[Location, Location]]
) -> bool:
    """Tell whether a value is absent where others are the default, more often than by chance.

    A thing whose second part is its last has no third, so its numbers exclude each other. Where a
    parameter offers a choice, such as the days of a list, all values occur where any does (Fisher's
    exact test, 5 %).
    """
    having = {*part.values()}
    places = {target for changes in others for target in changes.values()}
    agreeing = {
        merge.target
        for changes in others
        for merge in groups.merges(changes)
        if merge.pages and not merge.agreement.lost
    }
    chance = at_most_drawn(len(agreeing & having), len(agreeing), len(places & having), len(places))
    return bool(agreeing) and chance <= _MAX_CHANCE


def _pages(groups: Groups, changes: dict[Location, Location]) -> set[int]:
    return {page for merge in groups.merges(changes) for page in merge.pages}


def _is_number(word: object) -> bool:
    return isinstance(word, str) and is_number(word)


def _number_in(word: object) -> str:
    """Return the numeric value of a word that is a single parameter; else the empty string."""
    value = value_of(word[0]) if isinstance(word, tuple) and len(word) == 1 else ""
    return value if is_number(value) else ""


def _leaves_out_behind(*wider: Operation) -> bool:
    return any(isinstance(step, RewriteTemplates) and step.left_out_behind for step in wider)


def _may_be_alike(record: Record) -> bool:
    """Tell whether a record may be that of a rule which is right more often than wrong.

    A word that is never right, such as ``edit``, or mostly wrong, says nothing about the others.
    """
    return record.pages > 0 and lower_bound(record.lost, record.pages) < _OTHER_PAGES


def _is_worse(record: Record, pooled: Record, count: int) -> bool:
    """Tell whether a word is wrong significantly more often than all that are alike.

    Then its counter-examples say nothing about the others (Fisher's exact test, corrected for the
    number of words).

    :param pooled: the sum of all records that are alike.
    :param count: how many these are.
    """
    if not record.lost:
        return False
    of = pooled.pages + pooled.lost
    fewer = at_most_drawn(record.lost - 1, record.pages + record.lost, pooled.lost, of)
    return (1.0 - fewer) * count <= _BEYOND_DOUBT


def _record(groups: Groups, changes: dict[Location, Location]) -> Record:
    pages: set[int] = set()
    lost = far = 0
    for merge in groups.merges(changes):
        pages.update(merge.pages)
        lost += merge.agreement.lost + len(merge.agreement.moved)
        far += len(merge.agreement.far)
    return Record(len(pages), lost, far)


def _wider(
    candidate: Sequence[Operation],
) -> Iterator[tuple[tuple[Operation, ...], Callable[[Location], object]]]:
    """Yield the candidate generalised to any word in one place, with a function that reads it."""
    names = {name for step in candidate if step.default is not None for name in step.drops}
    if names:
        yield (
            tuple(step if step.default is None else DropParam(*step.drops) for step in candidate),
            partial(_values, names),
        )
    (rewrite,) = candidate if len(candidate) == 1 else (None,)
    if isinstance(rewrite, RewriteTemplates) and ":path}" not in rewrite.source:
        for place, wider in _wider_templates(rewrite):
            yield (wider,), partial(_segment, place)
        for name, wider in _of_any_value(rewrite):
            yield (wider,), partial(_values, frozenset((name,)))


def _segment(place: int, url: Location) -> str:
    return url.path.split("/")[place]


def _values(names: Collection[str], url: Location) -> tuple[str, ...]:
    return tuple(param for param in url.params if name_of(param) in names)


def _of_any_value(rewrite: RewriteTemplates) -> Iterator[tuple[str, RewriteTemplates]]:
    """Yield *rewrite* generalised to any value of one dropped parameter, with its name."""
    path, _, query = rewrite.source.partition("?")
    params = query.split("&")
    kept = rewrite.target.partition("?")[2].split("&")
    for place, param in enumerate(params):
        name, _, value = param.partition("=")
        if value and "{" not in value and param not in kept:
            others = [*params[:place], f"{name}={{_word}}", *params[place + 1 :]]
            wider = RewriteTemplates(f"{path}?{'&'.join(others)}", rewrite.target)
            if wider.is_valid:
                yield name, wider


def _wider_templates(rewrite: RewriteTemplates) -> Iterator[tuple[int, RewriteTemplates]]:
    """Yield *rewrite* generalised to any word in one segment of the path, with its index.

    >>> for place, wider in _wider_templates(RewriteTemplates("/u/{a}/friends", "/u/{a}")):
    ...     print(place, wider.source, wider.target)
    1 /{word}/{a}/friends /{word}/{a}
    3 /u/{a}/{_word} /u/{a}
    """
    path, mark, query = rewrite.source.partition("?")
    new, new_mark, new_query = rewrite.target.partition("?")
    segments, target = path.split("/"), new.split("/")
    bare = rewrite.shapes[0].partition("?")[0].split("/")
    head, tail = common(bare, target), common(bare[::-1], target[::-1])
    for place, segment in enumerate(segments):
        if segment in {"", IN_QUERY} or "{" in segment:
            continue
        from_end = place - len(segments)
        is_kept = place < head or from_end >= -tail
        one, other = segments[:], target[:]
        one[place] = "{word}" if is_kept else "{_word}"
        if is_kept:
            other[place if place < head else from_end] = one[place]
        wider = RewriteTemplates(
            "/".join(one) + mark + query, "/".join(other) + new_mark + new_query
        )
        if wider.is_valid:
            yield place, wider
