"""Proposes the usual size of the parts of listings as a default: ``/list?page=2&limit=20``.

A listing with fewer entries than a part has looks the same in every size, and so may the last part
of any. So a size is proposed only by parts between the first one and the last one seen: in another
size these begin or end elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.parts_seen import part_of
from scrapy_urlcanon.learn.location import name_of, value_of, without_param
from scrapy_urlcanon.learn.operations.parameters import DropValue
from scrapy_urlcanon.learn.vocabulary import is_number, is_page_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.candidates import Candidate, Duplicates
    from scrapy_urlcanon.learn.location import Location


def usual_sizes(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the sizes that make no difference to a part, each with the page that suggests it."""
    found = [
        (page, target, param)
        for page, locations in duplicates.clusters
        for source in locations
        for param in source.params
        if is_page_size(name_of(param))
        and is_number(value_of(param))
        and (target := without_param(source, param)) in locations
    ]
    last = _last_parts(duplicates.groups.pages) if found else {}
    for page, target, param in found:
        part = part_of(target)
        if part and part.is_named and 1 < part.number < last[part.thing]:
            yield (DropValue(name_of(param), value_of(param)),), page


def _last_parts(locations: Iterable[Location]) -> dict[Location, int]:
    """Return the number of the last part that was seen of each thing."""
    last: dict[Location, int] = {}
    for part in map(part_of, locations):
        if part and part.is_named:
            last[part.thing] = max(part.number, last.get(part.thing, 0))
    return last
