"""The URLs of a site, grouped by what the rules accepted so far make of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.operation import apply_all, handles_of
from scrapy_urlcanon.learn.rates import NO_RATE
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operation import Operation
    from scrapy_urlcanon.learn.scope import Scope
    from scrapy_urlcanon.learn.site import Site


#: So many URLs that agree, for each that does not, say that the latter has changed.
CLEAR = 3


class Agreement(NamedTuple):
    """How far the URLs of a merge show the same."""

    lost: int = 0
    """Pages that would no longer be fetched: the evidence against it."""
    changed: int = 0
    """Those of the lost pages that were seen but once, as a page is that changed."""
    unclear: int = 0
    """URLs that were too few to tell by those that agree whether another one has changed."""
    moved: tuple[Location, ...] = ()
    """One URL of each page that was seen here only, beside many URLs that agree; such pages are not
    counted in ``lost``."""
    agreeing: int = 0
    """Those many URLs."""
    trials: int = 0
    """Those of the many of which, one by one, the others would be many without it.

    With the ``moved`` they tell without bias how often a capture differs: what one shows has no
    part in whether it is looked at."""
    odd: tuple[Location, ...] = ()
    """The one that shows something else than two which agree: too few to say what changed."""


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


class Groups:
    """The current form of every URL, and the pages found under it."""

    def __init__(self, site: Site, promised: Mapping[Location, int] | None = None) -> None:
        """Group the URLs by themselves, as before any rule.

        :param promised: URLs that were not seen, and the page that trustworthy declarations say
            they show.
        """
        self.site = site
        self.pages: dict[Location, tuple[int, ...] | int] = {}
        """Page under each form; a tuple where URLs of several pages have become one form."""
        # One object for each number, not one for each URL.
        numbers = [*range(len(site.sizes)), NO_EVIDENCE]
        for location, page in zip(site.locations, site.pages, strict=True):
            self.pages[location] = numbers[page]
        self.promised = {
            location
            for location in promised or ()
            if self.pages.get(location, NO_EVIDENCE) == NO_EVIDENCE
        }
        for location in self.promised:
            self.pages[location] = (promised or {})[location]
        several = {self.pages[location] for location in self.promised}
        self.rate_of_change = NO_RATE
        """How often a capture shows what no other one of its page does, as far as is known."""
        self._handles: dict[str, list[Location]] = {}
        # Handles some of whose forms are no longer there.
        self._outdated_handles: set[str] = set()
        self._forms: dict[int, list[Location]] = {}
        # Pages some of whose forms are no longer there. To look for that in all of them, several
        # times a round, took a sixth of the time of a site of ten million URLs.
        self._outdated = bytearray(len(site.sizes))
        for location, pages in self.pages.items():
            if not isinstance(pages, int) or pages < 0:
                continue
            if site.sizes[pages] > 1 or pages in several:
                self._forms.setdefault(pages, []).append(location)

    def duplicates(self) -> list[int]:
        """Return the pages that are found under several forms."""
        return sorted(page for page in self._forms if len(self.forms(page)) > 1)

    def forms(self, page: int) -> list[Location]:
        """Return the forms under which a page is found."""
        if page not in self._forms:
            return []
        if self._outdated[page]:
            self._outdated[page] = False
            forms = dict.fromkeys(self._forms[page])
            self._forms[page] = [location for location in forms if location in self.pages]
        return self._forms[page]

    def pages_of(self, form: Location) -> tuple[int, ...]:
        """Return the pages that are found under a form."""
        return _as_tuple(self.pages[form])

    def is_blurred(self, page: int, changes: dict[Location, Location]) -> bool:
        """Tell whether a page is still found under URLs of one shape after the changes.

        Listings past their end, days without events, texts that are not yet translated: such a
        page is the same for *any* value of what selects it, so that two of its URLs agree
        whatever a rule does to them.
        """
        forms = {changes.get(location, location) for location in self.forms(page)}
        if len(forms) == 1:
            return False
        shapes = {
            (host, NUMBER.sub("0", path), *map(name_of, params))
            for (_, host), path, params in forms
        }
        return len(shapes) < len(forms)

    def index(self, handles: Collection[str]) -> None:
        """Make ready for operations with these handles, in one pass."""
        missing = {handle for handle in handles if handle not in self._handles}
        if not missing:
            return
        for handle in missing:
            self._handles[handle] = []
        table = self._handles
        for location in self.pages:
            for handle in handles_of(location):
                if handle in missing:
                    table[handle].append(location)

    def _forms_with(self, handle: str) -> list[Location]:
        """Return the forms that have a handle, which must be in the index."""
        if handle in self._outdated_handles:
            self._outdated_handles.remove(handle)
            found = [location for location in self._handles[handle] if location in self.pages]
            self._handles[handle] = found
        return self._handles[handle]

    def values_of(self, name: str) -> set[str]:
        """Return what a parameter, whose handle must be in the index, was seen as: ``name=1``."""
        beginning = name + "="
        return {
            param
            for location in self._forms_with("?" + name)
            for param in location.params
            if param.startswith(beginning)
        }

    def affected(
        self, operations: Sequence[Operation], scope: Scope | None = None
    ) -> dict[Location, Location]:
        """Return what the operations, one after the other, change, and into what."""
        self.index({operation.handle for operation in operations})
        changes: dict[Location, Location] = {}
        if len(operations) == 1 and scope is None:
            apply = operations[0].apply
            for location in self._forms_with(operations[0].handle):
                changed = apply(location)
                if changed is not location:
                    changes[location] = changed
            return changes
        for operation in operations:
            for location in self._forms_with(operation.handle):
                if location in changes or (scope is not None and not scope.holds(location)):
                    continue
                changed = apply_all(operations, location)
                if changed is not location:
                    changes[location] = changed
        return changes

    def merges(self, changes: dict[Location, Location]) -> list[Merge]:
        """Return the groups of several forms that the changes make one."""
        targets: dict[Location, list[Location]] = {}
        for source, target in changes.items():
            targets.setdefault(target, []).append(source)
        found = []
        while targets:
            # Let go of one by one: of a large site they take as much as what is made of them.
            target, sources = targets.popitem()
            if target in self.pages and target not in changes:
                sources.append(target)
            if len(sources) > 1:
                found.append(self._merge(target, sources))
        found.reverse()
        return found

    def _merge(self, target: Location, sources: list[Location]) -> Merge:
        first = self.pages[sources[0]]
        if isinstance(first, int) and all(self.pages[source] == first for source in sources):
            # As most of them do.
            if first == NO_EVIDENCE:
                return Merge(target, tuple(sources), (), _NOTHING_SHOWN)
            return Merge(target, tuple(sources), (first,), _all_agree(len(sources)))
        counts: dict[int, int] = {}
        several = []
        for source in sources:
            pages = self.pages[source]
            if isinstance(pages, int):
                if pages != NO_EVIDENCE:
                    counts[pages] = counts.get(pages, 0) + 1
                continue
            several.append(pages)
            for page in pages:
                counts[page] = counts.get(page, 0) + 1
        unlike = self._told_apart(counts, sources)
        lost_before = sum(max(0, len(unlike.intersection(pages)) - 1) for pages in several)
        evidence = tuple([page for page, count in counts.items() if count > 1])
        lost = max(0, len(unlike) - 1 - lost_before)
        once = {page for page in unlike if self.site.sizes[page] == 1 and counts[page] == 1}
        most = max(counts, key=lambda page: counts[page], default=NO_EVIDENCE)
        agreeing = counts.get(most, 0)
        # A page with many URLs may be seen as it was before under several of them.
        before = once | {page for page in unlike - {most} if counts[page] == len(self.forms(page))}
        if agreeing >= max(CLEAR, 2 * sum(counts[page] for page in before)):
            once = before
        elif agreeing < max(CLEAR, 2 * len(once)):
            known = sum(counts.values())
            odd = [s for s in sources if agreeing > 1 and self.pages[s] in once]
            changed = min(lost, len(once))
            agreement = Agreement(lost, changed, known, odd=tuple(odd))
            return Merge(target, tuple(sources), evidence, agreement)
        left = max(0, len(unlike - once) - 1 - lost_before)
        odd = [source for source in sources if not once.isdisjoint(self.pages_of(source))]
        moved = tuple(sorted(odd)[: lost - left])
        trials = agreeing if agreeing > max(CLEAR, 2 * len(odd)) else 0
        agreement = Agreement(left, moved=moved, agreeing=agreeing, trials=trials)
        return Merge(target, tuple(sources), evidence, agreement)

    def _told_apart(self, pages: Collection[int], sources: Sequence[Location]) -> set[int]:
        """Return those of the pages of a merge that are known to differ from each other.

        Of a page that is but the unseen target of a redirect nothing is known. Where that target
        is one of the URLs that become one, the redirect leads to where the rule does: what is
        shown there may well be what the others show.
        """
        known = {page for page in pages if page < self.site.contents}
        out = {page for page in pages if page not in known and self._leads_out(page, sources)}
        if out and not known:
            # Some lead out and some do not: these are one page more.
            known.update(sorted(set(pages) - out)[:1])
        return known | out

    def _leads_out(self, page: int, sources: Sequence[Location]) -> bool:
        forms = self.forms(page)
        return not forms or not set(forms).issubset(sources)

    def forget_index(self) -> None:
        """Let go of what :meth:`index` made; the next round will ask for other handles."""
        self._handles.clear()
        self._outdated_handles.clear()

    def apply(self, changes: dict[Location, Location]) -> None:
        """Replace forms by what an accepted rule makes of them."""
        handles = self._handles
        self._outdated_handles.update(handles)
        for source, target in changes.items():
            pages = self.pages.pop(source)
            known = self.pages.get(target)
            there = () if known is None else _as_tuple(known)
            for page in _as_tuple(pages):
                if page in self._forms:
                    self._outdated[page] = True
                    if page not in there:
                        self._forms[page].append(target)
            if known is None:
                self.pages[target] = pages
                for handle in handles_of(target):
                    if handle in handles:
                        handles[handle].append(target)
            else:
                self.pages[target] = self._settled(_union(known, pages))

    def _settled(self, pages: tuple[int, ...] | int) -> tuple[int, ...] | int:
        """Return the pages of a form without those that changed between two captures."""
        if isinstance(pages, int):
            return pages
        once = [page for page in pages if self.site.sizes[page] == 1]
        agreeing = max(self.site.sizes[page] for page in pages)
        if not once or agreeing < max(CLEAR, 2 * len(once)):
            return pages
        left = tuple([page for page in pages if page not in once])
        return left[0] if len(left) == 1 else left


_NOTHING_SHOWN = Agreement()


@lru_cache(1024)
def _all_agree(count: int) -> Agreement:
    """Return how far URLs agree that all show one page."""
    return Agreement(
        unclear=count if count <= CLEAR else 0,
        agreeing=count if count >= CLEAR else 0,
        trials=count if count > CLEAR else 0,
    )


def _union(one: tuple[int, ...] | int, other: tuple[int, ...] | int) -> tuple[int, ...] | int:
    if one == other:
        return one
    both = {*_as_tuple(one), *_as_tuple(other)} - {NO_EVIDENCE}
    if not both:
        return NO_EVIDENCE
    return both.pop() if len(both) == 1 else tuple(sorted(both))


def _as_tuple(pages: tuple[int, ...] | int) -> tuple[int, ...]:
    return (pages,) if isinstance(pages, int) else pages
