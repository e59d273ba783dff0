"""Classes of URLs: templates of ``skip`` with the URLs of the crawl that fit them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.exceptions import TemplateError
from scrapy_urlcanon.learn.classes.coverage import MIN_URLS
from scrapy_urlcanon.learn.classes.index import ClassIndex
from scrapy_urlcanon.learn.classes.shapes import ANY_PATH, templates_of
from scrapy_urlcanon.learn.location import (
    host_of,
    is_for_names,
    name_of,
    reading_order,
    to_url,
    value_of,
    without_param,
)
from scrapy_urlcanon.learn.results.rule import LearnedRule
from scrapy_urlcanon.learn.vocabulary import is_date, is_name_of_version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import Evidence

# A number at the end of a path, behind a field for the thing whose part it numbers.
_OF_PARTS = re.compile(r"\{\w+(?::(?!path\})\w+)?\}[^?]*/\{\w+:digits\}/?(?:\?|\Z)")

# A parameter with a number.
_NUMBERED = re.compile(r"[?&]([^=&?]+)=\{\w+:digits\}(?=&|\Z)")

_SINGLE = 1.05
"""How many URLs of a page a class may have on average to count as having one for each page."""

MIN_MEMBERS = 4
"""How many URLs of a class must have been seen."""

Key: TypeAlias = tuple[str, str]
"""The host and the template of a class."""


@dataclass(slots=True, eq=False)
class SkipClass:
    """The URLs of one host that fit a template."""

    host: str
    template: str
    members: set[Location] = field(default_factory=set)
    pages: dict[int, list[Location]] = field(default_factory=dict)
    """The pages that members show, each with these members."""
    sections: tuple[SkipClass, ...] = ()
    """If this stands for several classes that are judged together: these classes."""

    @property
    def key(self) -> Key:
        """What identifies the class."""
        return self.host, self.template

    def add(self, location: Location, groups: Groups) -> None:
        """Add a member, with the page that it shows if that is known."""
        self.members.add(location)
        page = groups.pages[location]
        if isinstance(page, int) and page >= 0:
            self.pages.setdefault(page, []).append(location)

    def rule(self, domain: str, evidence: Evidence, doubt: str = "") -> LearnedRule:
        """Return the rule that skips it."""
        template = [self.template]
        return LearnedRule(domain, self.host, SKIP, template, "skip", evidence, doubt)

    def order(self, made: set[Location]) -> tuple[object, ...]:
        """Return a sort key: classes are judged in this order.

        It matters since a skipped class is no place to look for the pages of a later one. First
        come classes with many URLs for each page, and large ones. Classes to which rewrites lead
        come later, since pages are to be found there, and small ones come last.

        :param made: the URLs that rewrites make of others.
        """
        count = sum(map(len, self.pages.values()))
        return (
            len(self.pages) < MIN_URLS,
            self.is_place_of(made),
            -count / max(1, len(self.pages)),
            -count,
            ANY_PATH in self.template,
            self.template,
        )

    @property
    def telling(self) -> Collection[int]:
        """The pages from which to conclude what the unseen members show.

        A number behind a thing is that of a part or a version (``/r/{a}/diff/{b:digits}/``,
        ``/text/{a}?oldid={b:digits}``). A thing of which only one number was seen does not count:
        it may be the last version, which is found elsewhere as well, while those before it are
        not.
        """
        names = filter(is_name_of_version, _NUMBERED.findall(self.template))
        version = next(names, "")
        if not version and not _OF_PARTS.search(self.template):
            return self.pages

        def thing_of(url: Location) -> Location | str:
            number = next((param for param in url.params if name_of(param) == version), "")
            return without_param(url, number) if number else _path_of_thing(url)

        parts = Counter(map(thing_of, self.members))
        return {
            page
            for page, showing in self.pages.items()
            if any(parts[thing_of(url)] > 1 for url in showing)
        }

    @property
    def is_of_one_date(self) -> bool:
        """Whether all members have the same date, so that nothing is known about other days."""
        values = {value_of(param) for member in self.members for param in member.params}
        return sum(map(is_date, values)) == 1

    @property
    def is_single(self) -> bool:
        """Whether the class has enough pages, and one URL for each."""
        count = sum(map(len, self.pages.values()))
        return len(self.pages) >= MIN_URLS and count <= _SINGLE * len(self.pages)

    def is_place_of(self, made: set[Location]) -> bool:
        """Tell whether rewrites lead to this class: for one page in five, to one of its URLs.

        The class may have several URLs for a page, such as a record in each library. But if
        rewrites lead to several of them, these are links to parts of a page, such as posts.

        :param made: the URLs that rewrites make of others.
        """
        led = [*filter(None, (len(made.intersection(urls)) for urls in self.pages.values()))]
        further = sum(led) - len(led)
        are_enough = len(self.pages) >= MIN_URLS and 5 * len(led) >= len(self.pages)
        return are_enough and further <= (_SINGLE - 1.0) * len(self.pages)

    @property
    def largest_part(self) -> Collection[int]:
        """The pages of a narrower class that most pages are in; all pages if there is none.

        A class for any path must also hold for the path that most of its pages have.
        """
        parts: dict[str, set[int]] = {}
        for page, showing in self.pages.items():
            for url in showing:
                parts.setdefault(next(templates_of(url), ""), set()).add(page)
        largest = max(parts.values(), key=len)
        return largest if 2 * len(largest) > len(self.pages) else self.pages


def _path_of_thing(location: Location) -> str:
    """Return the path of a URL without the number at its end."""
    return location.path.rstrip("/").rpartition("/")[0]


def classes_of(likely: Iterable[Location], groups: Groups) -> list[SkipClass]:
    """Return the classes that some URLs are in, with all their members."""
    classes: dict[Key, SkipClass] = {}
    index: ClassIndex[SkipClass] = ClassIndex()
    for location in likely:
        host = host_of(location.origin)
        for text in templates_of(location):
            if (host, text) in classes:
                continue
            try:
                template = parse_template(text)
            except TemplateError:
                continue  # URLs of a site may contain anything
            if is_for_names(template):
                continue
            found = classes[host, text] = SkipClass(host, text)
            index.add(location, template, found)
    for location in sorted(groups.pages, key=reading_order) if classes else ():
        if location in groups.promised:
            continue
        for template, found in index.likely(location):
            if template.match(to_url(location)) is not None:
                found.add(location, groups)
    return list(classes.values())
