"""The parameters of fetched URLs that vary most: where a rule may be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.report.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer

COUNTED_VALUES = 200
"""The highest number of values that is counted."""
_COUNTED_PARAMETERS = 2_000
_LISTED = 50
_MAX_NAME = 100


@frozen
class Parameter:
    """A parameter of fetched URLs that no rule drops."""

    domain: str
    name: str
    values: int
    """How many different values it had, up to :data:`COUNTED_VALUES`."""
    pages: int
    """How many fetched URLs had it."""


class Parameters(Section):
    """Counts the values of parameters in fetched URLs that no rule drops.

    Parameters with several values are stored, and shown among the findings. Memory is bounded by
    the number of parameters, first come first served, and of values of each.
    """

    place = 60
    name = "parameters"
    key = "parameters"
    row = Parameter

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._values: dict[tuple[str, str], set[int]] = {}
        self._pages: dict[tuple[str, str], int] = {}

    def note_page(self, canonical: str, domain: str) -> None:
        for name, value in dict(
            decode_parameter(piece) for piece in split(canonical).query or ()
        ).items():
            key = (domain, name)
            values = self._values.get(key)
            if values is None:
                if len(self._values) >= _COUNTED_PARAMETERS:
                    continue
                values = self._values[key] = set()
                self._pages[key] = 0
            self._pages[key] += 1
            if len(values) < COUNTED_VALUES:
                values.add(hash(value))

    def rows(self) -> tuple[Parameter, ...]:
        return tuple(sorted(self._varying(), key=_rank)[:_LISTED])

    def _varying(self) -> Iterator[Parameter]:
        for (domain, name), values in self._values.items():
            if len(values) > 1:
                pages = self._pages[domain, name]
                yield Parameter(domain, name[:_MAX_NAME], len(values), pages)


def _rank(parameter: Parameter) -> tuple[int, int, str, str]:
    return -parameter.values, -parameter.pages, parameter.domain, parameter.name
