"""Candidate rules: the differences between URLs that show one page."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import is_identifier, name_of
from scrapy_urlcanon.learn.operations import (
    CollapseSlashes,
    DropIndexFile,
    DropParam,
    DropPathParam,
    DropRepeated,
    DropValue,
    LowerPath,
    SetScheme,
    StripTrailingSlash,
    StripWww,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations import Operation

#: A candidate: operations that are tried together, in this order.
Candidate = tuple["Operation", ...]

#: Pages of one site that are looked at for candidates. Each candidate is tried on all URLs all
#: the same.
MAX_PAGES = 20_000

#: A candidate that fewer pages suggest cannot reach any bound worth having.
MIN_PROPOSERS = 3

#: URLs of one page that are compared with each other.
MAX_URLS = 12

#: More parameters than this at once are no rule but another page.
MAX_JOINT = 4

# Names of parameters that number the parts of a listing, say how long these are, or choose a
# language. Where they make no difference in a crawl it is because a listing was short or a page not
# yet translated, and that changes; only the number of a first page may be learned.
PAGINATION = re.compile(
    r"""(?:p|pg|pn|page|paged|pagina|pagenum|page_?no|page_?number|page_?index|seite|
        start|offset|from|first|skip|begin|cursor|after|before|limitstart|startat|start_?index)""",
    re.VERBOSE | re.IGNORECASE,
)
PAGE_SIZE = re.compile(
    r"limit|(?:(?:items|results|rows|posts)_?)?per_?page|page_?size|max[-_]?results|rpp",
    re.IGNORECASE,
)
LANGUAGE = re.compile(
    "l|lang|language|langue|lng|hl|locale|sprache|idioma|variant|uselang|setlang", re.IGNORECASE
)

#: Numbers of a first page.
FIRST_PAGE = frozenset(("", "0", "1"))


def is_protected(name: str) -> bool:
    """Whether a parameter numbers or sizes pages or chooses a language, by its name."""
    return any(names.fullmatch(name) for names in (PAGINATION, PAGE_SIZE, LANGUAGE))


def may_be_default(name: str, value: str) -> bool:
    """Whether a value may be what a parameter means where it is not given.

    A digest or a token may not: it is one of many, or another one in the next crawl.

    >>> may_be_default("page", "1"), may_be_default("page", "7"), may_be_default("sort", "up")
    (True, False, True)
    """
    if is_protected(name):
        return bool(PAGINATION.fullmatch(name)) and value in FIRST_PAGE
    return value.isdigit() or not is_identifier(value)


_INDEX_FILE = re.compile(r"[A-Za-z][\w-]{0,30}\.[A-Za-z]{2,5}", re.ASCII)


def proposals(groups: Groups) -> dict[Candidate, set[int]]:
    """Return the candidates that the site's duplicates suggest.

    Each with the pages that suggest it.
    """
    found: dict[Candidate, set[int]] = {}
    for page, locations in duplicates(groups):
        for one, other in pairs(locations):
            for candidate in differences(one, other):
                found.setdefault(candidate, set()).add(page)
    return found


def duplicates(groups: Groups) -> list[tuple[int, list[Location]]]:
    """Return the pages that are still found under several URLs, sinks left out.

    Each with these URLs, sorted.
    """
    numbers = groups.duplicates()
    if len(numbers) > MAX_PAGES:
        # Page numbers follow the sorted URLs, so that an even sample reaches every part of the
        # site.
        step = len(numbers) / MAX_PAGES
        numbers = [numbers[int(i * step)] for i in range(MAX_PAGES)]
    return [(page, sorted(groups.forms(page))) for page in numbers]


def pairs(locations: Sequence[Location]) -> Iterator[tuple[Location, Location]]:
    """Yield pairs of URLs to compare: all of a small cluster, the first ones of a larger one."""
    yield from combinations(locations[:MAX_URLS], 2)


def differences(one: Location, other: Location) -> Iterator[Candidate]:
    """Yield what would make two URLs one: each difference alone, and all of them together.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/x?sid=1"), locate("http://a.example/x")
    >>> for candidate in differences(one, other):
    ...     print(*candidate)
    DropParam(name='sid')
    DropValue(name='sid', value='1')
    """
    outside = list(_host_differences(one, other))
    path = _path_differences(one.place.path, other.place.path)
    if path is None or (one.place.host != other.place.host and not outside):
        return
    outside += path
    if one.params != other.params and set(one.params) == set(other.params):
        outside.append(DropRepeated())
    names, values = _param_differences(one.params, other.params)
    if len(names) > MAX_JOINT:
        return
    by_name: list[Operation] = [DropParam(name) for name in names if not is_protected(name)]
    whole = len(by_name) == len(names)
    for operation in (*outside, *by_name, *values):
        yield (operation,)
    if whole and len(outside) + len(by_name) > 1:
        if len(by_name) > 1:
            yield tuple(by_name)
        if outside:
            yield (*outside, *by_name)
    if len(values) > 1 or (values and outside):
        yield (*outside, *values)


def _host_differences(one: Location, other: Location) -> Iterator[Operation]:
    if one.place.scheme != other.place.scheme:
        yield SetScheme("https")
    first, second = one.place.host, other.place.host
    if first != second and StripWww().apply(one).place.host == StripWww().apply(other).place.host:
        yield StripWww()


def _path_differences(one: str, other: str) -> list[Operation] | None:
    """Return the operations that make two paths one, or None where there are none."""
    if one == other:
        return []
    found: list[Operation] = []
    if "//" in one + other and one.replace("//", "/") != one + "?":
        found.append(CollapseSlashes())
    if ";" in one + other:
        found += [DropPathParam(name) for name in sorted(_path_params(one) ^ _path_params(other))]
        names = sorted(_path_params(one) | _path_params(other))
        found = found or [DropPathParam(name) for name in names]
    one, other = _folded(one, found), _folded(other, found)
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


def _folded(path: str, operations: Sequence[Operation]) -> str:
    for operation in operations:
        if isinstance(operation, CollapseSlashes):
            path = re.sub("//+", "/", path)
        elif isinstance(operation, DropPathParam):
            path = re.sub(rf";{re.escape(operation.name)}(=[^/;]*)?(?=[/;]|$)", "", path)
    return path


def _path_params(path: str) -> set[str]:
    return {name_of(param) for segment in path.split("/") for param in segment.split(";")[1:]}


def _param_differences(
    one: tuple[str, ...], other: tuple[str, ...]
) -> tuple[list[str], list[Operation]]:
    """Return the parameters that differ, and the default values that would explain it."""
    if one == other:
        return [], []
    alone = set(one) ^ set(other)
    names = sorted({name_of(param) for param in alone})
    first, second = {name_of(param) for param in one}, {name_of(param) for param in other}
    values: list[Operation] = []
    for param in sorted(alone):
        name, _, value = param.partition("=")
        if not (name in first and name in second) and may_be_default(name, value):
            values.append(DropValue(name, value))
    return names, values
