"""What a candidate makes one, in columns."""

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
"""Merges of which the URLs are told that may have changed."""

# In place of the one page of a merge that has several.
_SEVERAL = NO_EVIDENCE - 1


class Agreement(NamedTuple):
    """How far the URLs of a merge show the same page."""

    lost: int = 0
    """Pages that would no longer be fetched: the evidence against the merge."""
    changed: int = 0
    """Those of the lost pages that were seen only once, as is a page that has changed."""
    unclear: int = 0
    """URLs in merges where too few agree to say whether a page that differs has changed."""
    moved: tuple[Location, ...] = ()
    """One URL of each page that was seen only here, beside many URLs that agree. Such a page has
    changed, and is not counted in ``lost``."""
    agreeing: int = 0
    """How many URLs agree there."""
    unbiased: int = 0
    """How many of these have enough others beside them that agree, without counting themselves.

    Together with ``moved`` these say without bias how often a capture changes, since what a URL
    shows does not decide whether it is counted."""
    odd: tuple[Location, ...] = ()
    """The URL that differs from two that agree: these are too few to say which one has changed."""
    far: tuple[Location, ...] = ()
    """Those URLs among the ``moved``, or else as many as are ``changed``, whose text is another one
    altogether, and none that was edited."""


class Merge(NamedTuple):
    """Several URLs that a candidate makes one."""

    target: Location
    """What it makes of them."""
    sources: tuple[Location, ...]
    """The URLs, the target itself among them where it was seen."""
    pages: tuple[int, ...]
    """Pages that at least two of them show: the evidence for the candidate."""
    agreement: Agreement
    """How far they agree; those that agree as most do, which are nearly all, share one."""


# By its name the class would take twice as long, as that of URLs.
_merge = partial(tuple.__new__, Merge)


class Merges:
    """Merges by number, in the order in which they were added.

    As objects they would take 260 bytes each, and a candidate makes a million URLs of a large site
    one with others. Here it is some 40 bytes; an object is made each time that one is asked for.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/?b"), locate("http://a.example/")
    >>> merges = Merges()
    >>> merges.append(other, [one, other], (7,), Agreement(unclear=2))
    >>> len(merges), merges[0].pages, merges[0].sources == (one, other), merges.changed(0) == [one]
    (1, (7,), True, True)
    """

    def __init__(self) -> None:
        self.targets: list[Location] = []
        """By number, as all that is public here."""
        self.agreements: list[Agreement] = []
        self._sources: list[Location] = []
        # Where the sources of each end in the list of all.
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
        """Add a merge; what it is made of is as in :class:`Merge`.

        Where the target is one of the sources, it comes last.
        """
        self.targets.append(target)
        self.agreements.append(agreement)
        self._sources += sources
        self._ends.append(len(self._sources))
        self._pages.append(NO_EVIDENCE)
        if pages:
            self.set_pages(len(self._pages) - 1, pages)

    def set_pages(self, number: int, pages: tuple[int, ...]) -> None:
        """Say which pages are the evidence of a merge."""
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
        """Return those of them that the candidate changes: all but the target itself."""
        sources = self.sources(number)
        if sources[-1] is self.targets[number]:
            sources.pop()
        return sources

    def differing(self) -> frozenset[Location]:
        """Return the URLs that become others in the first merges with one that may have changed."""
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
    """Yield the parameters of all URLs of a merge: what may be the condition of a scope.

    Of what selects the content, such as the number of a topic, it is one of many values: there it
    counts that there is one.
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
    """Return the parameters of all URLs of all merges, as :func:`conditions_of` yields them."""
    found: set[str] | None = None
    for merge in merges:
        conditions = set(conditions_of(merge))
        found = conditions if found is None else found & conditions
        if not found:
            break
    return found or set()


def example_of(merge: Merge, changes: Mapping[Location, Location]) -> tuple[str, str]:
    """Return the shortest URL of a merge that is changed, and what it becomes.

    :param changes: what a candidate changes, and into what.
    """
    changed = [source for source in merge.sources if source in changes]
    source = min(changed, key=lambda url: (len(url.url), reading_order(url)))
    return source.url, merge.target.url
