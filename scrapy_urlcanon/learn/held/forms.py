"""The current form of every URL of a site, and the pages found under it."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import chain, compress, count
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.location import Location, Origin
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.held.locations import Locations

Pages: TypeAlias = "tuple[int, ...] | int"
"""The page of a form; a tuple if URLs of several pages have become one form."""

# Stands for the page of a form that has several.
_SEVERAL = NO_EVIDENCE - 1

# Stands for a form that a rule made and that is a form no longer.
_GONE = Location(Origin("", ""), "", ())


class Forms:
    """A mapping from forms to their pages, in insertion order.

    Each form has a row number of its own, which is never used again. Most forms are URLs that were
    seen and keep the row that they have there; only a page number is stored for these. Forms that
    rules made have the rows after them.

    >>> from scrapy_urlcanon.learn import Observation
    >>> from scrapy_urlcanon.learn.captures import site_of
    >>> from scrapy_urlcanon.learn.location import locate
    >>> home, other = "http://a.example/", locate("http://a.example/other")
    >>> site = site_of("a.example", [Observation(home, main_sha1="d7a8fbb307d7809469ca")])
    >>> forms = Forms(site.locations, site.pages)
    >>> forms.add(other, forms.pop(locate(home)))
    1
    >>> [(form.url, page) for form, page in forms.items()], locate(home) in forms
    ([('http://a.example/other', 0)], False)
    """

    def __init__(self, locations: Locations, pages: array[int]) -> None:
        """Begin with the URLs that were seen.

        :param pages: the page of each row.
        """
        self._locations = locations
        self._pages = array("i", pages)
        self.is_form = bytearray(b"\1") * len(pages)
        """By row: whether it is the row of a form."""
        self._several: dict[int, tuple[int, ...]] = {}
        # Forms that were not seen, or that were removed and added again: by row, and their rows.
        self._made: list[Location] = []
        self._rows_made: dict[Location, int] = {}

    def __len__(self) -> int:
        return self.is_form.count(1)

    def __iter__(self) -> Iterator[Location]:
        return chain(compress(self._locations, self.is_form), self._rows_made)

    def items(self) -> Iterator[tuple[Location, Pages]]:
        """Yield each form with its pages."""
        rows = chain(compress(count(), self.is_form[: len(self._locations)]), self.rows_made())
        return zip(self, map(self.pages_at, rows), strict=True)

    def paths(self) -> Iterator[str]:
        """Yield the path of each form."""
        paths, path_of = self._locations.paths, self._locations.path_of
        yield from map(paths.__getitem__, compress(path_of, self.is_form))
        yield from (location.path for location in self._rows_made)

    def row_of(self, form: Location) -> int:
        """Return the row of a form; :data:`NO_ROW` if it is not a form."""
        row = self._locations.find(form)
        if row != NO_ROW and self.is_form[row]:
            return row
        return self._rows_made.get(form, NO_ROW)

    def form_at(self, row: int) -> Location:
        """Return the form with this row."""
        made = row - len(self._locations)
        return self._made[made] if made >= 0 else self._locations[row]

    def pages_at(self, row: int) -> Pages:
        """Return the pages of the form with this row."""
        page = self._pages[row]
        return self._several[row] if page == _SEVERAL else page

    def __contains__(self, form: Location) -> bool:
        return self.row_of(form) != NO_ROW

    def __getitem__(self, form: Location) -> Pages:
        row = self.row_of(form)
        if row == NO_ROW:
            raise KeyError(form)
        return self.pages_at(row)

    def get(self, form: Location) -> Pages | None:
        """Return the pages of a form; None if it is not a form."""
        row = self.row_of(form)
        return None if row == NO_ROW else self.pages_at(row)

    def pop(self, form: Location) -> Pages:
        """Remove a form, and return its pages."""
        row = self.row_of(form)
        if row == NO_ROW:
            raise KeyError(form)
        pages = self.pages_at(row)
        self.is_form[row] = False
        if row >= len(self._locations):
            self._made[row - len(self._locations)] = _GONE
            del self._rows_made[form]
        if not isinstance(pages, int):
            del self._several[row]
        return pages

    def add(self, form: Location, pages: Pages) -> int:
        """Add a new form with its pages; return its row."""
        row = self._rows_made[form] = len(self._pages)
        self._made.append(form)
        self.is_form.append(True)
        self._pages.append(NO_EVIDENCE)
        self.put(row, pages)
        return row

    def put(self, row: int, pages: Pages) -> None:
        """Set the pages of the form with this row."""
        if isinstance(pages, int):
            self._pages[row] = pages
        else:
            self._pages[row] = _SEVERAL
            self._several[row] = pages

    @property
    def confused(self) -> int:
        """How many pages can no longer be distinguished, since others have the same form."""
        return sum(len(pages) - 1 for pages in self._several.values())

    def compact(self) -> None:
        """Free the memory of removed forms, which a dict keeps for new entries."""
        self._rows_made = dict(self._rows_made)

    def rows_made(self) -> Iterable[int]:
        """Return the rows of the forms that were not seen, or that were added again."""
        return self._rows_made.values()

    def among(self, rows: Sequence[int]) -> Iterator[Location]:
        """Yield the forms among these rows, in which those of seen URLs must come first."""
        left = array("i", compress(rows, map(self.is_form.__getitem__, rows)))
        seen = len(self._locations)
        end = bisect_left(left, seen)
        made = (self._made[row - seen] for row in left[end:])
        return chain(self._locations.at(left[:end]), made)

    def count(self, rows: Iterable[int]) -> int:
        """Return how many of these rows are rows of forms."""
        return sum(map(self.is_form.__getitem__, rows))
