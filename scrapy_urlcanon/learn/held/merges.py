"""The merges of a candidate, stored in columns."""

from __future__ import annotations

from array import array
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.learn.location import name_of, reading_order, value_of
from scrapy_urlcanon.learn.scope import ANY_VALUE
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import is_identifier, is_protected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy_urlcanon.learn.location import Location

_MAX_DIFFERING = 1_000
"""The most merges with possibly changed pages whose URLs are collected."""

# Stands for the page of a merge that has several.
_SEVERAL = NO_EVIDENCE - 1


class Agreement(NamedTuple):
    """How far the URLs of a merge show the same page."""

    lost: int = 0
    """Pages that would no longer be fetched: the evidence against the merge."""
    changed: int = 0
    """Those of the lost pages that were captured only once, as the states of a changed page are."""
    unclear: int = 0
    """The number of URLs, if too few of them agree to decide whether one that differs has changed.
    """
    moved: tuple[Location, ...] = ()
    """One URL of each page that was captured only here, beside many URLs that agree. Such a page
    has changed, and is not counted in ``lost``."""
    agreeing: int = 0
    """How many URLs agree, if they are enough."""
    unbiased: int = 0
    """How many of these have enough other URLs beside them that agree.

    Together with ``moved`` this gives an unbiased rate of change: whether a URL is counted does not
    depend on what it shows itself.
    """
    odd: tuple[Location, ...] = ()
    """URLs that differ from others that agree but are too few to decide which one has changed."""
    far: tuple[Location, ...] = ()
    """Those URLs among ``moved``, or if there are none among the ``changed`` pages, whose text is
    completely different, not edited."""


class Merge(NamedTuple):
    """Two or more URLs that a candidate maps to one form."""

    target: Location
    """The form that they are mapped to."""
    sources: tuple[Location, ...]
    """The URLs, with the target itself if that was seen."""
    pages: tuple[int, ...]
    """Pages that at least two of them show: the evidence for the candidate."""
    agreement: Agreement
    """How far the URLs agree. Equal values are mostly one shared object."""


# Calling the class would take twice as long, as for locations.
_merge = partial(tuple.__new__, Merge)


class Merges:
    """A sequence of merges.

    As objects they would take 260 bytes each, and on a large site a candidate may merge a million
    URLs. Here it is some 40 bytes; objects are made on access.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/?b"), locate("http://a.example/")
    >>> merges = Merges()
    >>> merges.append(other, [one, other], (7,), Agreement(unclear=2))
    >>> len(merges), merges[0].pages, merges[0].sources == (one, other), merges.changed(0) == [one]
    (1, (7,), True, True)
    """

    def __init__(self) -> None:
        self.targets: list[Location] = []
        """By number, like everything else here."""
        self.agreements: list[Agreement] = []
        self._sources: list[Location] = []
        # The end of the sources of each merge in the list of all.
        self._ends = array("i", [0])
        self._pages = array("i")
        self._several: dict[int, tuple[int, ...]] = {}

    def append(
        self,
        target: Location,
        sources: Iterable[Location],
        pages: tuple[int, ...],
        agreement: Agreement,
    ) -> None:
        """Add a merge with these attributes; see :class:`Merge`.

        If the target is one of the sources, it must be the last.
        """
        self.targets.append(target)
        self.agreements.append(agreement)
        self._sources += sources
        self._ends.append(len(self._sources))
        self._pages.append(NO_EVIDENCE)
        if pages:
            self.set_pages(len(self._pages) - 1, pages)

    def set_pages(self, number: int, pages: tuple[int, ...]) -> None:
        """Set the pages that are the evidence of a merge."""
        if len(pages) > 1:
            self._several[number] = pages
        self._pages[number] = _SEVERAL if len(pages) > 1 else pages[0] if pages else NO_EVIDENCE

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, number: int, /) -> Merge:
        sources = tuple(self.sources(number))
        return _merge((self.targets[number], sources, self.pages(number), self.agreements[number]))

    def __iter__(self) -> Iterator[Merge]:
        return map(self.__getitem__, range(len(self)))

    def sources(self, number: int) -> list[Location]:
        """Return the URLs of a merge."""
        return self._sources[self._ends[number] : self._ends[number + 1]]

    def changed(self, number: int) -> list[Location]:
        """Return the URLs of a merge that the candidate changes: all but the target itself."""
        sources = self.sources(number)
        if sources[-1] is self.targets[number]:
            sources.pop()
        return sources

    def differing(self) -> frozenset[Location]:
        """Return the URLs that change in the first merges with a page that may have changed."""
        odd = (number for number, one in enumerate(self.agreements) if one.changed)
        return frozenset(
            url for number in islice(odd, _MAX_DIFFERING) for url in self.changed(number)
        )

    def pages(self, number: int) -> tuple[int, ...]:
        """Return the pages that are the evidence of a merge."""
        page = self._pages[number]
        if page >= 0:
            return (page,)
        return self._several[number] if page == _SEVERAL else ()


def conditions_of(merge: Merge) -> Iterator[str]:
    """Yield the parameters that all URLs of a merge have, as conditions of a scope.

    For identifiers, such as the number of a topic, the condition is that there is any value.
    """
    if merge.target.params:
        for param in set(merge.target.params).intersection(*(s.params for s in merge.sources)):
            if "*" in param:
                continue
            if is_identifier(value_of(param)) or is_protected(name_of(param)):
                yield name_of(param) + ANY_VALUE
            else:
                yield param


def common_conditions(merges: Iterable[Merge]) -> set[str]:
    """Return the conditions that :func:`conditions_of` yields for every one of the merges."""
    found: set[str] | None = None
    for merge in merges:
        conditions = set(conditions_of(merge))
        found = conditions if found is None else found & conditions
        if not found:
            break
    return found or set()


def example_of(merge: Merge, changes: Mapping[Location, Location]) -> tuple[str, str]:
    """Return the shortest changed URL of a merge, and the URL that it becomes.

    :param changes: the URLs that the candidate changes, each with its new form.
    """
    changed = [source for source in merge.sources if source in changes]
    source = min(changed, key=lambda url: (len(url.url), reading_order(url)))
    return source.url, merge.target.url
