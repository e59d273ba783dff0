"""Proposes single options, from the differences between URLs that show one page."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import name_of, parts_of
from scrapy_urlcanon.learn.operations.hosts import SetScheme, StripWww
from scrapy_urlcanon.learn.operations.parameters import DropParam, DropRepeated, DropValue
from scrapy_urlcanon.learn.operations.paths import (
    CollapseSlashes,
    DropIndexFile,
    DropPathParam,
    LowerPath,
    StripTrailingSlash,
)
from scrapy_urlcanon.learn.vocabulary import is_paging, is_protected, may_be_default

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_urlcanon.learn.candidates import Candidate, Duplicates
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation

MAX_JOINT = 8
"""How many parameters one candidate may drop. URLs that differ in more are not compared. Click
counters come with six to eight parameters that no link has alone, and so do empty forms."""

_STRIP_WWW = StripWww()
_INDEX_FILE = re.compile(r"[A-Za-z][\w-]{0,30}\.[A-Za-z]{2,5}", re.ASCII)


def differing_options(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the candidates that the differences of URLs suggest, each with the page."""
    worded = duplicates.groups.site.worded
    for page, locations in duplicates.clusters:
        # Most pairs of a page suggest the same candidates.
        yield from ((candidate, page) for candidate in set(_differences_among(locations, worded)))


def _differences_among(
    locations: Sequence[Location], worded: frozenset[str]
) -> Iterator[Candidate]:
    """Yield what would make two URLs of a page one, for each pair."""
    first: dict[object, int] = {}
    variants: dict[int, list[Location]] = {}
    kinds: list[int] = []
    for number, location in enumerate(locations):
        names = tuple(map(name_of, location.params))
        is_repeated = len(set(names)) < len(names)
        # URLs with a repeated name are compared one by one, not by the names that differ alone.
        kind = number if is_repeated else first.setdefault((location.place, names), number)
        kinds.append(kind)
        variants.setdefault(kind, []).append(location)
    for alike in variants.values():
        yield from _differences_of_values(alike, worded)
    if len(variants) > 1:
        pairs = combinations(zip(locations, kinds, strict=True), 2)
        for (one, kind), (other, kind_of_other) in pairs:
            if kind != kind_of_other:
                yield from differences(one, other, worded)


def _differences_of_values(
    locations: Sequence[Location], worded: frozenset[str]
) -> Iterator[Candidate]:
    """Yield which parameters differ among URLs that have the same names, such as session ids."""
    columns = zip(*(location.params for location in locations), strict=True)
    varying = [column for column in columns if len(set(column)) > 1]
    names = tuple(name_of(column[0]) for column in varying)
    if len(names) <= 1:
        yield from _of_names((), names, worded)
        return
    known: set[tuple[str, ...]] = set()
    for one, other in combinations(zip(*varying, strict=True), 2):
        values = zip(names, one, other, strict=True)
        differing = tuple([name for name, mine, theirs in values if mine != theirs])
        if len(differing) <= MAX_JOINT and differing not in known:
            known.add(differing)
            yield from _of_names((), tuple(sorted(differing)), worded)


def differences(
    one: Location, other: Location, worded: frozenset[str] = frozenset()
) -> Iterator[Candidate]:
    """Yield what would make two URLs one: each difference alone, and all of them together.

    :param worded: as for :func:`is_protected`.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/x?sid=1"), locate("http://a.example/x")
    >>> for candidate in differences(one, other):
    ...     print(*candidate)
    DropParam(name='sid')
    DropValue(name='sid', value='1')
    """
    outside = list(_host_differences(one, other))
    (one_path, segments), (other_path, others) = parts_of(one.path), parts_of(other.path)
    path = _path_differences(one_path, other_path) if segments == others else None
    if path is None or (one.origin.host != other.origin.host and not outside):
        return
    outside += path
    if one.params != other.params and set(one.params) == set(other.params):
        outside.append(DropRepeated())
    names, values = _param_differences(one.params, other.params)
    if len(names) > MAX_JOINT:
        return
    yield from _of_names(tuple(outside), tuple(names), worded)
    for operation in values:
        yield (operation,)
    # That a listing without a number shows its first page has to be seen without other differences,
    # unless the value is empty.
    is_of_listing = any(
        is_protected(name, worded) and DropValue(name, "") not in values for name in names
    )
    if (len(values) > 1 and not is_of_listing) or (values and outside):
        yield (*outside, *values)
    # A form repeats what the path says: `/a-m-2/?maker_id=2&sort=price` is `/a-m-2/`. So numbers
    # are dropped with any value, and words only with this one.
    words = {value.name: value for value in values if not value.value.isdigit()}
    if 0 < len(words) < len(names) and not is_of_listing:
        yield (*outside, *(words.get(name) or DropParam(name) for name in names))


@lru_cache(1024)
def _of_names(
    outside: tuple[Operation, ...], names: tuple[str, ...], worded: frozenset[str]
) -> tuple[Candidate, ...]:
    """Return the candidates for two URLs that differ in some parameters, and outside the query.

    They are cached: a site may have a million pairs with few different sets of names.
    """
    by_name: list[Operation] = [
        DropParam(name)
        for name in names
        if not is_protected(name, worded) or is_paging(name, worded)
    ]
    found: list[Candidate] = [(operation,) for operation in (*outside, *by_name)]
    if len(by_name) == len(names) and len(outside) + len(by_name) > 1:
        if len(by_name) > 1:
            found.append(tuple(by_name))
        if outside:
            found.append((*outside, *by_name))
    return tuple(found)


def _host_differences(one: Location, other: Location) -> Iterator[Operation]:
    if one.origin.scheme != other.origin.scheme:
        yield SetScheme("https")
    if one.origin.host != other.origin.host:
        stripped = (_STRIP_WWW.apply(location).origin.host for location in (one, other))
        if len(set(stripped)) == 1:
            yield _STRIP_WWW


def _path_differences(one: str, other: str) -> list[Operation] | None:
    """Return the operations that make two paths one, or None if no operations do."""
    if one == other:
        return []
    found: list[Operation] = []
    if "//" in one + other:
        found.append(CollapseSlashes())
    if ";" in one + other:
        found += [DropPathParam(name) for name in sorted(_path_params(one) ^ _path_params(other))]
        names = sorted(_path_params(one) | _path_params(other))
        found = found or [DropPathParam(name) for name in names]
    for operation in found:
        one, other = operation.on_path(one), operation.on_path(other)
    if one != other and one.lower() == other.lower():
        found.append(LowerPath())
        return found
    if one == other:
        return found
    if one.rstrip("/") == other.rstrip("/"):
        found.append(StripTrailingSlash())
        return found
    shorter, longer = sorted((one, other), key=len)
    directory, _, name = longer.rpartition("/")
    if _INDEX_FILE.fullmatch(name) and shorter in {directory + "/", directory}:
        found.append(DropIndexFile(name))
        if shorter == directory:
            found.append(StripTrailingSlash())
        return found
    return None


def _path_params(path: str) -> set[str]:
    return {name_of(param) for segment in path.split("/") for param in segment.split(";")[1:]}


def _param_differences(
    one: tuple[str, ...], other: tuple[str, ...]
) -> tuple[list[str], list[DropValue]]:
    """Return the names of the parameters that differ, and default values that may explain it."""
    if one == other:
        return [], []
    first, second = set(map(name_of, one)), set(map(name_of, other))
    names: list[str] = []
    values: list[DropValue] = []
    for param in sorted(set(one) ^ set(other)):
        name, _, value = param.partition("=")
        names.append(name)
        if not (name in first and name in second) and may_be_default(name, value):
            values.append(DropValue(name, value))
    return sorted(set(names)), values
