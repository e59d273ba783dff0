"""Which parameters of fetched URLs vary most: where a rule may be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules.base import parameter
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.report.document import COUNTED_VALUES, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTED_PARAMETERS = 2_000
_LISTED = 50
_MAX_NAME = 100


class VaryingParameters:
    """Counts, of the parameters that no rule drops, the values that fetched URLs have.

    Its memory is bounded: by the number of parameters, first come, and of values of each.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], set[int]] = {}
        self._pages: dict[tuple[str, str], int] = {}

    def add(self, canonical: str, domain: str) -> None:
        """Note that the page with this *canonical* URL of *domain* was fetched."""
        for name, value in dict(parameter(piece) for piece in split(canonical).query or ()).items():
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

    def most_varying(self) -> tuple[Parameter, ...]:
        """Return those with more than one value, those that vary most first."""
        return tuple(sorted(self._varying(), key=_rank)[:_LISTED])

    def _varying(self) -> Iterator[Parameter]:
        for (domain, name), values in self._values.items():
            if len(values) > 1:
                pages = self._pages[domain, name]
                yield Parameter(domain, name[:_MAX_NAME], len(values), pages)


def _rank(parameter: Parameter) -> tuple[int, int, str, str]:
    return -parameter.values, -parameter.pages, parameter.domain, parameter.name
