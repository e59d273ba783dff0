"""The URLs of a site, grouped by the *form* that the rules accepted so far give them."""

from __future__ import annotations

from array import array
from functools import lru_cache, partial
from heapq import nsmallest
from itertools import accumulate, chain, compress, count
from operator import and_
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from scrapy_urlcanon.learn.held.forms import Forms, Pages
from scrapy_urlcanon.learn.held.merges import Agreement, Merges
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.operations.base import (
    apply_all,
    handles_of,
    handles_of_origin,
    handles_of_params,
    handles_of_path,
)
from scrapy_urlcanon.learn.rates import NO_RATE
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation
    from scrapy_urlcanon.learn.scope import Scope
    from scrapy_urlcanon.learn.site import Site

_Part = TypeVar("_Part")

CLEAR = 3
"""At least this many URLs must agree before one that differs is taken for a page that changed."""

MAX_COMPARED = 100
"""With how many others a page is compared, to tell whether its text is another one altogether."""


class Groups:
    """The current form of each URL, and the pages that are found under it.

    A form is what the accepted rules make of a URL, at first the URL itself.
    """

    def __init__(self, site: Site, promised: Mapping[Location, int] = MappingProxyType({})) -> None:
        """Group the URLs by themselves, as before any rule.

        :param promised: URLs that the crawl has not seen, each with the page that it shows
            according to declarations that are believed.
        """
        self.site = site
        self.pages = Forms(site.locations, site.pages)
        """The page of each form; a tuple if URLs of several pages have become one form."""
        self.promised = promised.keys()
        self.settled: Callable[[Location], Location] = as_it_is
        """Applies the accepted templates to a URL that was not seen."""
        self.rate_of_change = NO_RATE
        """How often a capture differs because its page changed, as far as is known."""
        # By handle: the rows of the URLs whose forms have it or had it.
        self._handles: dict[str, array[int]] = {}
        self._joined = _Joined(len(site.sizes))
        for location, page in promised.items():
            self._joined.add(page, self.pages.add(location, page))
        self._rows = _RowsOfPages(site, self._joined)
        # The current forms of redirect targets that were not seen; their pages begin at `contents`.
        self._unseen = [*site.unseen]
        self._duplicates = array("i", filter(self._rows.has, range(len(site.sizes))))

    def duplicates(self) -> Sequence[int]:
        """Return the pages that are found under several forms."""
        # Pages without duplicates stay so, since no rule adds a form to a page.
        self._duplicates = array("i", filter(self._is_duplicate, self._duplicates))
        return self._duplicates

    def _is_duplicate(self, page: int) -> bool:
        count = self.pages.count(self._rows.of(page))
        if count <= 1 and page in self._joined:
            count += self.pages.count({*self._joined.of(page)})
        return count > 1

    @property
    def redundant(self) -> int:
        """How many forms of seen URLs show a page that another form shows too."""
        counts = (self.pages.count(self._rows.of(page)) for page in self.duplicates())
        return sum(count - 1 for count in counts if count)

    def forms(self, page: int) -> list[Location]:
        """Return the forms under which a page is found; none if only one URL showed it."""
        is_form, location_of = self.pages.is_form, self.site.locations.__getitem__
        forms = [location_of(row) for row in self._rows.of(page) if is_form[row]]
        if page in self._joined:
            joined = dict.fromkeys(self._joined.of(page))
            forms += [self.pages.form_at(row) for row in joined if is_form[row]]
        return forms

    def pages_of(self, form: Location) -> tuple[int, ...]:
        """Return the pages that are found under a form."""
        return _as_tuple(self.pages[form])

    def shows_another(self, form: Location, other: Location) -> bool:
        """Tell whether the pages under two forms are known, and none is under both."""
        one, two = self.pages_of(form), self.pages_of(other)
        return NO_EVIDENCE not in {*one, *two} and set(one).isdisjoint(two)

    def is_blurred(self, page: int, changes: dict[Location, Location]) -> bool:
        """Tell whether a page is still found under several URLs of one shape after *changes*.

        Listings past their end, days without events and missing translations show one page for any
        value of the parameter that selects it. Their URLs agree whatever a rule does to them, so
        they are weak evidence. A listing past its end counts as blurred even if it has one URL
        only.
        """
        forms = {changes.get(location, location) for location in self.forms(page)}
        if len(forms) > 1:
            shapes = {
                (host, NUMBER.sub("0", path), *map(name_of, params))
                for (_, host), path, params in forms
            }
            if len(shapes) < len(forms):
                return True
        return bool(forms) and all(map(self.site.is_past_an_end, forms))

    @property
    def handles(self) -> Collection[str]:
        """The handles that are in the index."""
        return self._handles.keys()

    def index(self, handles: Collection[str]) -> None:
        """Add *handles* to the index, in one pass over all URLs.

        A handle marks the URLs that an operation may change. It is, for example, ``?`` and the name
        of a parameter.
        """
        missing = {handle for handle in handles if handle not in self._handles}
        if not missing:
            return
        for handle in missing:
            self._handles[handle] = array("i")
        table = {handle: self._handles[handle] for handle in missing}
        seen = self.site.locations
        # Each distinct part is looked at once, not once for each URL that has it.
        for part_of, rows_of_parts in (
            (seen.origin_of, _rows_to_mark(seen.origins, handles_of_origin, table)),
            (seen.path_of, _rows_to_mark(seen.paths, handles_of_path, table)),
            (seen.params_of, _rows_to_mark(seen.params, handles_of_params, table)),
        ):
            is_marked = bytearray(map(bool, rows_of_parts))
            marked = map(and_, map(is_marked.__getitem__, part_of), self.pages.is_form)
            for row in compress(count(), marked):
                for rows in rows_of_parts[part_of[row]]:
                    rows.append(row)
        rows_made = self.pages.rows_made()
        for row, location in zip(rows_made, self.pages.among([*rows_made]), strict=True):
            for handle in missing.intersection(handles_of(location)):
                table[handle].append(row)

    def _forms_with(self, handle: str) -> Iterator[Location]:
        """Return the forms that have a handle, which must be in the index."""
        return self.pages.among(self._handles[handle])

    def with_any(self, names: Iterable[str]) -> Iterator[Location]:
        """Yield the forms that have any of these parameters, whose handles must be in the index."""
        return chain.from_iterable(self._forms_with("?" + name) for name in names)

    def values_of(self, name: str) -> set[str]:
        """Return the values of a parameter as ``name=value``; its handle must be in the index."""
        beginning = name + "="
        seen = {location.params for location in self._forms_with("?" + name)}
        return {param for params in seen for param in params if param.startswith(beginning)}

    def affected(
        self, operations: Sequence[Operation], scope: Scope | None = None
    ) -> dict[Location, Location]:
        """Return the forms that the operations change, each with its new form."""
        return dict(self.each_affected(operations, scope))

    def each_affected(
        self, operations: Sequence[Operation], scope: Scope | None
    ) -> Iterator[tuple[Location, Location]]:
        """Yield each form that the operations, applied in turn, change, with its new form."""
        self.index({operation.handle for operation in operations})
        are_several = len(operations) > 1
        apply = partial(apply_all, operations) if are_several else operations[0].apply
        seen: set[Location] = set()
        for operation in operations:
            for location in self._forms_with(operation.handle):
                if scope is not None and not scope.holds(location):
                    continue
                if are_several and location in seen:
                    continue
                changed = apply(location)
                if changed is not location:
                    if are_several:
                        seen.add(location)
                    yield location, changed

    def merges(self, changes: dict[Location, Location]) -> Merges:
        """Return the merges: groups of two or more forms that *changes* map to one form."""
        # Most targets have one source, for which a list would take 110 bytes.
        first: dict[Location, Location] = {}
        more: dict[Location, list[Location]] = {}
        for source, target in changes.items():
            end = self._end(target)
            # Skipped if an accepted template maps it back to where it was.
            if end != source and first.setdefault(end, source) is not source:
                more.setdefault(end, []).append(source)
        found = Merges()
        for target, source in first.items():
            known = None if target in changes else self.pages.get(target)
            others = more.get(target)
            if known is None and others is None:
                continue
            sources = [source, *others] if others else [source]
            shown = [self.pages[source] for source in sources]
            if known is not None:
                sources.append(target)
                shown.append(known)
            found.append(target, sources, *self._shown_by(sources, shown))
        return found

    def _shown_by(
        self, sources: list[Location], shown: list[Pages]
    ) -> tuple[tuple[int, ...], Agreement]:
        """Return the pages that at least two of the URLs show, and how far all URLs agree.

        :param shown: the pages of each URL.
        """
        first = shown[0]
        if isinstance(first, int) and shown.count(first) == len(shown):
            # The usual case: all show one page.
            if first == NO_EVIDENCE:
                return (), _NOTHING_SHOWN
            return (first,), _all_agree(len(sources))
        counts: dict[int, int] = {}
        for pages in shown:
            for page in (pages,) if isinstance(pages, int) else pages:
                if page != NO_EVIDENCE:
                    counts[page] = counts.get(page, 0) + 1
        evidence = tuple([page for page, count in counts.items() if count > 1])
        return evidence, self._agreement(sources, shown, counts)

    def _agreement(
        self, sources: list[Location], shown: list[Pages], counts: Mapping[int, int]
    ) -> Agreement:
        """Return how far URLs agree that do not all show the same page.

        :param shown: the pages of each URL.
        :param counts: by page, how many of the URLs show it.
        """
        unlike = self._known_to_differ(counts, sources)
        several = [pages for pages in shown if not isinstance(pages, int)]
        lost_before = sum(max(0, len(unlike.intersection(pages)) - 1) for pages in several)
        lost = max(0, len(unlike) - 1 - lost_before)
        once = {page for page in unlike if self.site.sizes[page] == 1 and counts[page] == 1}
        most = max(counts, key=lambda page: counts[page], default=NO_EVIDENCE)
        agreeing = counts.get(most, 0)
        before = once
        if agreeing >= CLEAR:
            # An earlier version of a page with many URLs may have been captured under several.
            others = unlike - {most}
            before = once | {page for page in others if counts[page] == len(self.forms(page))}
        if agreeing >= max(CLEAR, 2 * sum(counts[page] for page in before)):
            once = before
        elif agreeing < max(CLEAR, 2 * len(once)):
            known = sum(counts.values())
            odd = [s for s, p in zip(sources, shown, strict=True) if agreeing > 1 and p in once]
            changed = min(lost, len(once))
            far = self._far_from(unlike, once, sources)[:changed]
            return Agreement(lost, changed, known, odd=tuple(odd), far=far)
        left = max(0, len(unlike - once) - 1 - lost_before)
        odd = [source for source in sources if not once.isdisjoint(self.pages_of(source))]
        moved = tuple(sorted(odd)[: lost - left])
        unbiased = agreeing if agreeing > max(CLEAR, 2 * len(odd)) else 0
        far = self._far_from({most}, once, moved)
        return Agreement(left, moved=moved, agreeing=agreeing, unbiased=unbiased, far=far)

    def _far_from(
        self, others: Collection[int], pages: Iterable[int], sources: Iterable[Location]
    ) -> tuple[Location, ...]:
        """Return those of *sources* that show a page of *pages* far from all *others*.

        Of more than :data:`MAX_COMPARED` pages the first ones are looked at: to compare all with
        all would take quadratic time, and nobody takes so many for one that changed.
        """
        are_far, some = self.site.are_far, nsmallest(MAX_COMPARED, others)
        far = {p for p in pages if all(are_far(p, other) for other in some if other != p)}
        return tuple(s for s in sources if far and not far.isdisjoint(self.pages_of(s)))

    def _known_to_differ(self, pages: Collection[int], sources: Sequence[Location]) -> set[int]:
        """Return those of *pages* that are known to differ from each other.

        A page that is known only as the target of a redirect was not fetched. It may be the same as
        the others if only URLs of the merge redirect to it, or if the target is in the merge.
        """
        known = {page for page in pages if page < self.site.contents}
        out = {page for page in pages if page not in known and self._leads_out(page, sources)}
        if out and not known:
            # If one redirect leads out of the merge and another one does not, they show two pages.
            known.update(sorted(set(pages) - out)[:1])
        return known | out

    def _leads_out(self, page: int, sources: Sequence[Location]) -> bool:
        forms = self.forms(page)
        leads_elsewhere = not forms or not set(forms).issubset(sources)
        return leads_elsewhere and self._unseen[page - self.site.contents] not in sources

    def forget_index(self) -> None:
        """Free the index, which the next round fills anew, and the memory of former forms."""
        self._handles.clear()
        self.pages.compact()

    def apply(self, changes: dict[Location, Location]) -> None:
        """Apply an accepted rule: replace each form in *changes* by its new form."""
        handles = self._handles
        for source, made in changes.items():
            pages = self.pages.pop(source)
            target = self._end(made)
            row = self.pages.row_of(target)
            known = None if row == NO_ROW else self.pages.pages_at(row)
            self._follow(pages, source, target)
            if known == pages:
                continue
            if known is None:
                row = self.pages.add(target, pages)
                for handle in handles_of(target):
                    if handle in handles:
                        handles[handle].append(row)
            else:
                both = {*_as_tuple(known), *_as_tuple(pages)} - {NO_EVIDENCE}
                self.pages.put(row, self._settled(both))
            there = () if known is None else _as_tuple(known)
            for page in _as_tuple(pages):
                if page not in there and self._rows.has(page):
                    self._joined.add(page, row)

    def _end(self, target: Location) -> Location:
        """Return the form of *target*, the result of a candidate, under the accepted rules.

        If ``/q/7/title`` has become ``/q/7``, a URL that a candidate maps to ``/q/7/title`` becomes
        ``/q/7`` too.
        """
        return target if target in self.pages else self.settled(target)

    def _follow(self, pages: Pages, source: Location, target: Location) -> None:
        """Update the form of a redirect's unseen target, if *source* is one."""
        for page in _as_tuple(pages):
            number = page - self.site.contents
            if number >= 0 and self._unseen[number] == source:
                self._unseen[number] = target

    def _settled(self, pages: set[int]) -> Pages:
        """Return the pages of a form without those that are another state of one of them."""
        sizes = self.site.sizes
        once = [page for page in pages if sizes[page] == 1]
        if len(pages) > 1 and max(map(sizes.__getitem__, pages)) >= max(CLEAR, 2 * len(once)):
            pages = pages.difference(once)
        return pages.pop() if len(pages) == 1 else tuple(sorted(pages))


def _rows_to_mark(
    parts: Iterable[_Part],
    handles_of_part: Callable[[_Part], Iterable[str]],
    table: Mapping[str, array[int]],
) -> list[tuple[array[int], ...]]:
    """Return for each part the row lists in *table* of the handles that it has."""
    known: dict[tuple[str, ...], tuple[array[int], ...]] = {}
    found = []
    for part in parts:
        handles = tuple([handle for handle in handles_of_part(part) if handle in table])
        if handles not in known:
            # One tuple is shared by all parts with the same handles.
            known[handles] = tuple([table[handle] for handle in handles])
        found.append(known[handles])
    return found


class _Joined:
    """By page: the rows of the forms that rules gave it, also of those that are forms no longer.

    Linked lists in arrays take 8 bytes for each row; a list for each page would take 170 bytes.
    """

    def __init__(self, count: int) -> None:
        """Make room for *count* pages."""
        self._last = array("i", [_NONE]) * count
        self._before = array("i")
        self._rows = array("i")

    def __contains__(self, page: int) -> bool:
        return self._last[page] != _NONE

    def add(self, page: int, row: int) -> None:
        """Add the row of a form that a rule gave a page."""
        self._before.append(self._last[page])
        self._last[page] = len(self._rows)
        self._rows.append(row)

    def of(self, page: int) -> Iterator[int]:
        """Yield the rows of the forms that rules gave a page, the last one first."""
        number = self._last[page]
        while number != _NONE:
            yield self._rows[number]
            number = self._before[number]


_NONE = -1


class _RowsOfPages:
    """By page: the rows of its URLs, if several URLs show it or are believed to."""

    def __init__(self, site: Site, promised: _Joined) -> None:
        sizes = (
            size if size > 1 or page in promised else 0 for page, size in enumerate(site.sizes)
        )
        self._starts = array("i", accumulate(sizes, initial=0))
        self._rows = array("i", [0]) * self._starts[-1]
        ends = self._starts[:]
        for row, page in enumerate(site.pages):
            if page != NO_EVIDENCE and (end := ends[page]) < self._starts[page + 1]:
                self._rows[end] = row
                ends[page] = end + 1

    def has(self, page: int) -> bool:
        """Tell whether rows are kept for a page."""
        return page != NO_EVIDENCE and self._starts[page] < self._starts[page + 1]

    def of(self, page: int) -> array[int]:
        """Return the rows of a page."""
        return self._rows[self._starts[page] : self._starts[page + 1]]


_NOTHING_SHOWN = Agreement()


def as_it_is(location: Location) -> Location:
    """Return the URL unchanged: what templates do before any is accepted."""
    return location


@lru_cache(1024)
def _all_agree(count: int) -> Agreement:
    """Return the agreement of *count* URLs that all show one page."""
    return Agreement(
        unclear=count if count <= CLEAR else 0,
        agreeing=count if count >= CLEAR else 0,
        unbiased=count if count > CLEAR else 0,
    )


def _as_tuple(pages: Pages) -> tuple[int, ...]:
    return (pages,) if isinstance(pages, int) else pages
