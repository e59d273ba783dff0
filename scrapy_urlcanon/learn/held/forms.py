"""The current form of every URL of a site, and the pages found under it."""

from __future__ import annotations

from array import array
from itertools import chain, compress
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.location import Location

Pages: TypeAlias = "tuple[int, ...] | int"
"""The page of a form; a tuple where URLs of several pages have become one form."""

# In place of the page of a row: the URL is no form any more, or of several pages.
_GONE, _SEVERAL = NO_EVIDENCE - 1, NO_EVIDENCE - 2


class Forms:
    """A mapping from forms to their pages, in the order in which they came.

    Most forms are URLs that were seen: of these a number is held, by row.

    >>> from scrapy_urlcanon.learn import Observation
    >>> from scrapy_urlcanon.learn.captures import site_of
    >>> from scrapy_urlcanon.learn.location import locate
    >>> home, other = "http://a.example/", locate("http://a.example/other")
    >>> site = site_of("a.example", [Observation(home, main_sha1="d7a8fbb307d7809469ca")])
    >>> forms = Forms(site.locations, site.pages)
    >>> forms[other] = forms.pop(locate(home))
    >>> [(form.url, page) for form, page in forms.items()], locate(home) in forms
    ([('http://a.example/other', 0)], False)
    """

    def __init__(self, locations: Locations, pages: array[int]) -> None:
        """Begin with the URLs as they were seen.

        :param pages: the page of each row.
        """
        self._locations = locations
        self._pages = array("i", pages)
        self.is_form = bytearray(b"\1") * len(pages)
        """Of each row, whether its URL is a form and has been one all the time."""
        self._several: dict[int, tuple[int, ...]] = {}
        self._others: dict[Location, Pages] = {}

    def __iter__(self) -> Iterator[Location]:
        return chain(compress(self._locations, self.is_form), self._others)

    def items(self) -> Iterator[tuple[Location, Pages]]:
        """Yield each form with its pages."""
        for row, (location, page) in enumerate(zip(self._locations, self._pages, strict=True)):
            if page >= NO_EVIDENCE:
                yield location, page
            elif page == _SEVERAL:
                yield location, self._several[row]
        yield from self._others.items()

    def __contains__(self, form: Location) -> bool:
        if form in self._others:
            return True
        row = self._locations.find(form)
        return row != NO_ROW and self._pages[row] != _GONE

    def __getitem__(self, form: Location) -> Pages:
        row = self._locations.find(form)
        page = _GONE if row == NO_ROW else self._pages[row]
        if page >= NO_EVIDENCE:
            return page
        return self._others[form] if page == _GONE else self._several[row]

    def paths(self) -> Iterator[str]:
        """Yield the path of each form."""
        paths, path_of = self._locations.paths, self._locations.path_of
        yield from map(paths.__getitem__, compress(path_of, self.is_form))
        yield from (location.path for location in self._others)

    def get(self, form: Location) -> Pages | None:
        """Return the pages of a form; None where it is none."""
        row = self._locations.find(form)
        page = _GONE if row == NO_ROW else self._pages[row]
        if page >= NO_EVIDENCE:
            return page
        return self._others.get(form) if page == _GONE else self._several[row]

    def pop(self, form: Location) -> Pages:
        """Take a form out, and return its pages."""
        row = self._locations.find(form)
        page = _GONE if row == NO_ROW else self._pages[row]
        if page == _GONE:
            return self._others.pop(form)
        self._pages[row] = _GONE
        self.is_form[row] = False
        return self._several.pop(row) if page == _SEVERAL else page

    def setdefault(self, form: Location, pages: Pages) -> Pages | None:
        """Add a form with its pages; return those that it has where it is there already."""
        row = self._locations.find(form)
        page = _GONE if row == NO_ROW else self._pages[row]
        if page >= NO_EVIDENCE:
            return page
        if page == _SEVERAL:
            return self._several[row]
        known = self._others.get(form)
        if known is None:
            self._others[form] = pages
        return known

    def __setitem__(self, form: Location, pages: Pages) -> None:
        row = self._locations.find(form)
        if row == NO_ROW or self._pages[row] == _GONE:
            self._others[form] = pages
        elif isinstance(pages, int):
            self._pages[row] = pages
        else:
            self._pages[row] = _SEVERAL
            self._several[row] = pages

    @property
    def others(self) -> Collection[Location]:
        """Those that were not seen, or that came again."""
        return self._others.keys()

    def among(self, rows: Sequence[int]) -> Iterator[Location]:
        """Yield the forms among the URLs of some rows."""
        left = compress(rows, map(self.is_form.__getitem__, rows))
        return self._locations.at(array("i", left))

    def count(self, rows: Iterable[int]) -> int:
        """Return how many there are of these."""
        return sum(map(self.is_form.__getitem__, rows))
