"""What a crawl shows of a class of URLs: where its pages are found, and what they declare."""

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

# What is said of so many pages that speak against a class.
DECLARES_ANOTHER: Final = "declaring a URL that shows another page"
DECLARES_ITSELF: Final = "declaring no other URL than this"
HAS_CHANGED: Final = "declaring a URL that showed another text"
DECLARES_UNSEEN: Final = "declaring a URL that was not seen"
IS_ELSEWHERE: Final = "missing where most others are found"
IS_ALONE: Final = "seen under no other URL"
IS_CUT_OFF: Final = "that nothing else leads to"


@dataclass(slots=True)
class Look:
    """What a crawl shows of a class."""

    others: dict[int, int] = field(default_factory=dict)
    """URLs outside the class under which a page was seen, by page."""
    seen: set[int] = field(default_factory=set)
    """Pages that declare a URL outside the class, which was seen and shows the same page."""
    claimed: set[int] = field(default_factory=set)
    """Pages that declare but URLs outside the class which were not seen."""
    contradicted: int = 0
    """Members that declare another URL which shows another page, unless that may have changed."""
    own: int = 0
    """Members that declare themselves, and whose page was seen nowhere else."""
    changed: set[int] = field(default_factory=set)
    """Pages that declare a URL which shows another page, where both were seen but once."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    is_unsure: bool = False
    """Whether pages of it that were seen nowhere else may or may not be what chance makes."""

    @property
    def against(self) -> Counter[str]:
        """How many members say that their page is found nowhere else, by what they say.

        Where no page of a class declares another URL they all declare themselves: that says
        nothing of the one whose other place was not seen.
        """
        own = self.own if self.told else 0
        return Counter({DECLARES_ANOTHER: self.contradicted, DECLARES_ITSELF: own})

    @property
    def told(self) -> set[int]:
        """The pages that declare a URL outside the class."""
        return self.claimed | self.seen | self.changed

    @property
    def unseen(self) -> float:
        """What share of the URLs that are declared was not seen."""
        return len(self.claimed) / max(1, len(self.claimed | self.seen))


class PagesOfClasses:
    """The pages of the classes of a site: where else each is found, and what its URLs declare.

    :param form: what the accepted rewrite rules make of a URL.
    """

    def __init__(self, groups: Groups, form: Callable[[Location], Location]) -> None:
        """Look for classes."""
        site = groups.site
        self._groups, self._form = groups, form
        relations = site.declared, site.redirects
        # Variants declare the same.
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
        """The members of the classes that are skipped: no place to look for any page."""

    def others_of(self, found: SkipClass) -> Iterator[tuple[int, list[Location]]]:
        """Yield each page of a class, with the other URLs under which it is found."""
        inside = found.members | self.skipped
        for page, showing in found.pages.items():
            of_page = PageUrls([*showing, *self.led(page, found)])
            yield (
                page,
                [
                    other
                    for other in self._by_page[page]
                    if other not in inside
                    # What redirects to what is skipped shows nothing, once that is skipped.
                    and self._redirects.get(other) not in inside
                    and of_page.has_better(other)
                ],
            )

    def look_at(self, found: SkipClass) -> Look:
        """Return what the crawl shows of a class, beside those that are skipped."""
        look = Look()
        inside = found.members | self.skipped
        for page, others in self.others_of(found):
            showing = found.pages[page]
            look.others[page] = len(others)
            if others:
                look.examples.append((showing[0].url, min(others).url))
            for member in showing:
                target = self._declared.get(member)
                if target is None or target in inside:
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
        """Return the URLs of a page that are of another shape, and are led into a class."""
        return [
            url
            for url in self._urls[page]
            if url not in found.members and self._form(url) in found.members
        ]

    def outside(self, found: SkipClass, unsure: AbstractSet[Location]) -> dict[int, list[Location]]:
        """Return of each page of a class the URLs outside it that were seen, before any rule.

        :param unsure: members of classes of which too little is known. They are as little a place
            to look as those that are skipped: links to posts may be all that leads to a part of a
            topic.
        """
        inside = found.members | self.skipped | unsure
        outside = {}
        for page, showing in found.pages.items():
            of_page = PageUrls([*showing, *self.led(page, found)])
            outside[page] = [
                url
                for url in self._urls[page]
                if (form := self._form(url)) not in inside and of_page.has_better(form)
            ]
        return outside

    @cached_property
    def _urls(self) -> dict[int, list[Location]]:
        """The URLs of each page, before any rule."""
        urls: dict[int, list[Location]] = {page: [] for page in self._by_page}
        for location, page in zip(
            self._groups.site.locations, self._groups.site.pages, strict=True
        ):
            if page in urls:
                urls[page].append(location)
        return urls

    @cached_property
    def made(self) -> set[Location]:
        """What rewrites make of URLs of these pages that say it in another way."""
        urls = (url for of_page in self._urls.values() for url in of_page)
        forms = ((url, self._form(url)) for url in urls if url not in self._groups.pages)
        return {
            form
            for url, form in forms
            # Not what is left where parameters go: that says nothing of which is the better place.
            if url.place != form.place or not {*form.params} <= {*url.params}
        }

    def _is_seen(self, location: Location) -> bool:
        return location not in self._groups.promised

    def _shown(self, location: Location) -> tuple[int, ...] | int:
        pages = self._groups.pages.get(location)
        return NO_EVIDENCE if pages is None else pages

    def _shows_another(self, location: Location, page: int) -> bool:
        """Tell whether it is known that a URL shows another page, and not that one too."""
        shown = self._shown(location)
        return shown != NO_EVIDENCE and (isinstance(shown, int) or page not in shown)

    def _is_once(self, pages: tuple[int, ...] | int) -> bool:
        """Tell whether a page was seen under one URL only, as one is that has changed."""
        return isinstance(pages, int) and self._groups.site.sizes[pages] == 1
