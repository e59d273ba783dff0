"""Finds which pages a crawl would miss if it skipped some URLs, by the links that it has seen.

Even if a page has another URL, it is lost if only the skipped URL links to that, and so are the
pages that only it links to.

Thousands of classes may be judged, so links are not followed anew for each. What is reached has a
number, larger than that of something that leads to it. If a class is not fetched, only what has no
other way from a smaller number is looked at (Even and Shiloach, "An on-line edge-deletion problem",
1981).
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.links import ALL_KEPT
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.links import Links
    from scrapy_urlcanon.learn.location import Location


class Reach:
    """The link graph of a site: forms of URLs, after the accepted rewrites, and who links them.

    Of a URL that many pages link, only some of the links were kept. So if one URL of a page links
    it, all URLs of that page are taken to. A URL that no known link leads to counts as found, and
    so do the start URLs.
    """

    def __init__(self, links: Links, groups: Groups, form: Callable[[Location], Location]) -> None:
        """Build the graph of the present forms, which must not change afterwards.

        :param form: returns what the accepted rewrite rules make of a URL.
        """
        self.seen = links.seen
        """How many of the linked URLs were fetched."""
        site = groups.site
        self._forms, self._pages = groups.pages, len(site.sizes)
        form_of = array("i", (self._forms.row_of(form(url)) for url in site.locations))
        counts = Counter(links.targets)
        # The numbers of pages, and behind them those of the rows of forms.
        sources, targets = array("i"), array("i")
        read: set[int] = set()
        linked: set[int] = set()
        """Forms that were linked before their own page was read."""
        for row, target in zip(links.sources, links.targets, strict=True):
            source, to = form_of[row], form_of[target]
            if NO_ROW in {source, to}:
                continue
            read.add(source)
            if to not in read:
                linked.add(to)
            is_all = counts[target] < ALL_KEPT
            sources.append(self._pages + source if is_all else self._place_of(source))
            targets.append(self._pages + to)
        forms = {*form_of} - {NO_ROW}
        starts = {self._pages + row for row in forms}.difference(targets)
        starts.update(
            self._pages + row for row in forms.intersection(map(form_of.__getitem__, links.starts))
        )
        # A URL that redirects shows no page itself.
        for row in {form for row, form in enumerate(form_of) if row not in site.redirects}:
            for page in self._shown_by(row):
                sources.append(self._pages + row)
                targets.append(page)
        size = self._pages + max(forms, default=NO_ROW) + 1
        self._next = _Neighbours(sources, targets, size)
        self._before = _Neighbours(targets, sources, size)
        self._order = array("i", bytes(4 * size))
        """By page and form: its number; 0 if it is not reached."""
        self._last = 0
        self._starts = starts
        self._number(starts)
        # If URLs can only be reached from one another, some link to them was not recorded: probably
        # to those that no page had linked when they were read. The rest are taken for found, too.
        for found in (forms - linked, forms):
            more = {self._pages + row for row in found if not self._order[self._pages + row]}
            self._starts |= more
            self._number(more)

    def missing_without(self, forms: Iterable[Location]) -> set[int]:
        """Return the pages that a crawl misses if it does not fetch these *forms* either."""
        lost, _ = self._without(forms)
        return {place for place in lost if place < self._pages}

    def skip(self, forms: Iterable[Location]) -> None:
        """Take it that a crawl does not fetch these *forms*, from now on."""
        lost, back = self._without(forms)
        for place in lost:
            self._order[place] = 0
        self._starts -= lost
        self._give_numbers(back)

    def linked_by(self, forms: Iterable[Location]) -> int:
        """Return how many forms the given forms link, or may link."""
        rows = [self._forms.row_of(form) for form in forms]
        places = {self._pages + row for row in rows} | {self._place_of(row) for row in rows}
        return len({to for place in places for to in self._next[place] if to >= self._pages})

    def _without(self, forms: Iterable[Location]) -> tuple[set[int], list[int]]:
        """Return what is not reached without these forms, and what is reached by another way.

        The second is in an order such that something before it, or outside both, leads to each.
        """
        order, rows = self._order, map(self._forms.row_of, forms)
        removed = {self._pages + row for row in rows if row != NO_ROW and order[self._pages + row]}
        doubtful, left = {*removed}, [*removed]
        while left:
            for to in self._next[left.pop()]:
                if (
                    order[to]
                    and to not in doubtful
                    and to not in self._starts
                    and not any(
                        0 < order[place] < order[to] and place not in doubtful
                        for place in self._before[to]
                    )
                ):
                    doubtful.add(to)
                    left.append(to)
        lost = doubtful - removed
        back = [
            to
            for to in sorted(lost, key=order.__getitem__)
            if any(order[place] and place not in doubtful for place in self._before[to])
        ]
        lost.difference_update(back)
        for place in back:
            more = [to for to in dict.fromkeys(self._next[place]) if to in lost]
            lost.difference_update(more)
            back += more
        return lost | removed, back

    def _number(self, places: Iterable[int]) -> None:
        """Give numbers to *places*, and to what they lead to."""
        found = [*places]
        while found:
            self._give_numbers(found)
            found = [
                to
                for to in dict.fromkeys(to for place in found for to in self._next[place])
                if not self._order[to]
            ]

    def _give_numbers(self, places: Collection[int]) -> None:
        for number, place in enumerate(places, self._last + 1):
            self._order[place] = number
        self._last += len(places)

    def _shown_by(self, row: int) -> list[int]:
        """Return the pages that a form shows."""
        pages = self._forms.pages_at(row)
        several = (pages,) if isinstance(pages, int) else pages
        return [page for page in several if page != NO_EVIDENCE]

    def _place_of(self, row: int) -> int:
        """Return the page of a form, or a number of its own if its page is not known."""
        pages = self._forms.pages_at(row)
        return pages if isinstance(pages, int) and pages != NO_EVIDENCE else self._pages + row


class _Neighbours:
    """What each place leads to, or what leads to it."""

    def __init__(self, places: Sequence[int], others: Sequence[int], size: int) -> None:
        """Take pairs of neighbours; *size* is how many places there are."""
        counts = array("i", bytes(4 * (size + 1)))
        for place in places:
            counts[place + 1] += 1
        self._begins = array("i", accumulate(counts))
        free = self._begins[:]
        self._others = array("i", bytes(4 * len(others)))
        for place, other in zip(places, others, strict=True):
            self._others[free[place]] = other
            free[place] += 1

    def __getitem__(self, place: int) -> array[int]:
        """Return the neighbours of a place."""
        return self._others[self._begins[place] : self._begins[place + 1]]
