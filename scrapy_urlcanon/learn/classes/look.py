"""Collects where else the pages of a class of URLs were found, and what they declare."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.learn.classes.elsewhere import PageUrls
from scrapy_urlcanon.learn.classes.members import classes_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location

# What pages do that speak against a class; the text follows their number.
DECLARES_ANOTHER: Final = "declaring a URL that shows another page"
DECLARES_ITSELF: Final = "declaring no other URL than this"
HAS_CHANGED: Final = "declaring a URL that showed another text"
DECLARES_UNSEEN: Final = "declaring a URL that was not seen"
IS_ELSEWHERE: Final = "missing where most others are found"
IS_ALONE: Final = "seen under no other URL"
IS_CUT_OFF: Final = "that nothing else leads to"
IS_OF_RIVAL: Final = "showing something else with another word"


@dataclass(slots=True)
class Look:
    """What a crawl shows about a class."""

    others: dict[int, int] = field(default_factory=dict)
    """By page, under how many URLs outside the class it was seen."""
    seen: set[int] = field(default_factory=set)
    """Pages that declare a URL outside the class that was seen and shows the same page."""
    claimed: set[int] = field(default_factory=set)
    """Pages that declare only URLs outside the class that were not seen."""
    contradicted: int = 0
    """How many members declare a URL that shows another page, those in :attr:`changed` left out."""
    own: int = 0
    """How many members declare themselves, and their page was seen nowhere else."""
    changed: set[int] = field(default_factory=set)
    """Pages that declare a URL that shows another page, if each of the two was seen at one URL
    only: one of them may have changed."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """For each page that was seen elsewhere, a member and a URL outside the class."""
    is_unsure: bool = False
    """Whether it is open if chance explains the pages that were seen nowhere else."""

    @property
    def against(self) -> Counter[str]:
        """How many members declare that their page is found nowhere else, by what they declare.

        If no page of the class declares another URL, the site lets every page declare itself, which
        says nothing.
        """
        own = self.own if self.declaring else 0
        return Counter({DECLARES_ANOTHER: self.contradicted, DECLARES_ITSELF: own})

    @property
    def declaring(self) -> set[int]:
        """The pages that declare a URL outside the class, seen or not."""
        return self.claimed | self.seen | self.changed

    @property
    def unseen(self) -> float:
        """Which share of the declared URLs was not seen."""
        return len(self.claimed) / max(1, len(self.claimed | self.seen))


class PagesOfClasses:
    """Finds the classes of a site, where else their pages are found, and what their URLs declare.

    :param form: what the accepted rewrite rules make of a URL.
    """

    def __init__(self, groups: Groups, form: Callable[[Location], Location]) -> None:
        """Find the classes."""
        site = groups.site
        self._groups, self._form = groups, form
        relations = site.declared, site.redirects
        # Once for each target, since many URLs declare the same one.
        forms = {to: form(to) for to in {to for relation in relations for to in relation.values()}}
        declared = {
            site.locations[row]: forms[target]
            for relation in relations
            for row, target in relation.items()
        }
        self._declared = {source: to for source, to in declared.items() if source != to}
        self._redirects = {
            form(site.locations[row]): forms[to] for row, to in site.redirects.items()
        }
        self.canonical = {site.locations[row] for row in site.canonical}
        """The URLs that declare themselves."""
        likely = {location for page in groups.duplicates() for location in groups.forms(page)}
        likely = {url for url in likely | self._declared.keys() if url in groups.pages}
        self.classes = classes_of(likely, groups)
        self._by_page: dict[int, list[Location]] = {
            page: [] for found in self.classes for page in found.pages
        }
        for location, pages in groups.pages.items() if self.classes else ():
            if isinstance(pages, int) and pages in self._by_page and self._is_seen(location):
                self._by_page[pages].append(location)
        self.skipped: set[Location] = set()
        """The members of the classes that are skipped. No page is looked for there any more."""

    def others_of(self, found: SkipClass) -> Iterator[tuple[int, list[Location]]]:
        """Yield each page of a class with the URLs outside of it under which it is found."""
        members, skipped = found.members, self.skipped
        for page, showing in found.pages.items():
            of_page = PageUrls([*showing, *self.led(page, found)])
            yield (
                page,
                [
                    other
                    for other in self._by_page[page]
                    if other not in members
                    and other not in skipped
                    # What redirects to a skipped URL shows nothing once that is skipped.
                    and (to := self._redirects.get(other)) not in members
                    and to not in skipped
                    and of_page.has_better(other)
                ],
            )

    def look_at(self, found: SkipClass) -> Look:
        """Return what the crawl shows about a class, if :attr:`skipped` is not fetched."""
        look = Look()
        for page, others in self.others_of(found):
            showing = found.pages[page]
            look.others[page] = len(others)
            if others:
                look.examples.append((showing[0].url, min(others).url))
            for member in showing:
                target = self._declared.get(member)
                if target is None or target in found.members or target in self.skipped:
                    look.own += not others and member in self.canonical
                elif target in others:
                    look.seen.add(page)
                elif self._is_seen(target) and self._shows_another(target, page):
                    if self._is_once(page) and self._is_once(self._shown(target)):
                        look.changed.add(page)
                    else:
                        look.contradicted += 1
                else:
                    look.claimed.add(page)
        look.claimed -= look.seen
        return look

    def led(self, page: int, found: SkipClass) -> list[Location]:
        """Return the URLs of a page outside a class that rewrites turn into members of it."""
        return [
            url
            for url in self._urls[page]
            if url not in found.members and self._form(url) in found.members
        ]

    def outside(self, found: SkipClass, unsure: AbstractSet[Location]) -> dict[int, list[Location]]:
        """Return for each page of a class its URLs outside the class, as the site links them.

        :param unsure: members of classes about which too little is known. They are left out like
            skipped URLs.
        """
        members, skipped = found.members, self.skipped
        outside = {}
        for page, showing in found.pages.items():
            of_page = PageUrls([*showing, *self.led(page, found)])
            outside[page] = [
                url
                for url in self._urls[page]
                if (form := self._form(url)) not in members
                and form not in skipped
                and form not in unsure
                and of_page.has_better(form)
            ]
        return outside

    @cached_property
    def _urls(self) -> dict[int, list[Location]]:
        """By page, its URLs as the site links them, before any rule."""
        urls: dict[int, list[Location]] = {page: [] for page in self._by_page}
        for location, page in zip(
            self._groups.site.locations, self._groups.site.pages, strict=True
        ):
            if page in urls:
                urls[page].append(location)
        return urls

    @cached_property
    def made(self) -> set[Location]:
        """The URLs that were not crawled but that rewrites make of URLs with other shapes."""
        urls = (url for of_page in self._urls.values() for url in of_page)
        forms = ((url, self._form(url)) for url in urls if url not in self._groups.pages)
        return {
            form
            for url, form in forms
            # A rewrite that only drops parameters does not say which place is the better one.
            if url.place != form.place or not {*form.params} <= {*url.params}
        }

    def _is_seen(self, location: Location) -> bool:
        return location not in self._groups.promised

    def _shown(self, location: Location) -> tuple[int, ...] | int:
        pages = self._groups.pages.get(location)
        return NO_EVIDENCE if pages is None else pages

    def _shows_another(self, location: Location, page: int) -> bool:
        """Tell whether a URL is known to show other pages, and not *page* among them."""
        shown = self._shown(location)
        return shown != NO_EVIDENCE and (isinstance(shown, int) or page not in shown)

    def _is_once(self, pages: tuple[int, ...] | int) -> bool:
        """Tell whether a page was seen under one URL only; so is one that has changed."""
        return isinstance(pages, int) and self._groups.site.sizes[pages] == 1
