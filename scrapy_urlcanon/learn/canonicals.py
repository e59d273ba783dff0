"""Decides when to believe a page that declares another URL as its canonical URL (RFC 6596).

Declared canonicals merge URLs that no rewrite could, and are wrong on one site of five: every page
of a listing declares the first, an edit form declares the article, and so does ``replytocom``, or
every page declares the home page. So a declaration alone is not believed. Declarations are grouped
by *way*: which parameters they drop, and from what kind of path. A way is believed once enough URLs
that declare so were fetched together with the URL that they declare, and both showed the same page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.canonicalizer.url import home_of
from scrapy_urlcanon.learn.classes.shapes import shape_of, templates_of
from scrapy_urlcanon.learn.location import Location, name_of, value_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS, Thresholds
from scrapy_urlcanon.learn.vocabulary import is_protected

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scrapy_urlcanon.learn.site import Site

_ADDRESSES = ("/", "http://", "https://")
_PAGE_SEGMENT = re.compile(r"(?:comment-)?(?:page|p|pg|seite|pagina)[-_]?\d+|\d+", re.IGNORECASE)


def way_of(source: Location, target: Location) -> Hashable:
    """Return the way in which *source* declares *target*, a key to be compared for equality.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> home = "http://a.example/"
    >>> one = way_of(locate(home + "?p=1"), locate(home + "x/"))
    >>> one == way_of(locate(home + "?p=2"), locate(home + "y/"))
    True
    """
    mine, theirs = ({*map(name_of, location.params)} for location in (source, target))
    gone, new = tuple(sorted(mine - theirs)), tuple(sorted(theirs - mine))
    same_host = source.origin == target.origin
    if source.path == target.path:
        return (same_host, gone, new, "same path")
    if source.path.rstrip("/") == target.path.rstrip("/"):
        return (same_host, gone, new, "slash")
    return (
        same_host,
        gone,
        new,
        next(templates_of(source), "").partition("?")[0] or shape_of(source.path),
    )


def is_implausible(source: Location, target: Location) -> bool:
    """Tell whether a declaration is of a kind that is wrong on most sites that make it.

    Such are a page of a listing that declares another page, any page that declares the home page,
    and a page of one user of a server that declares a page outside that user's directory.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> home = locate("http://a.example/")
    >>> is_implausible(locate("http://a.example/?page=2"), home)
    True
    >>> is_implausible(locate("http://a.example/b/"), home)
    True
    >>> is_implausible(locate("http://a.example/?sid=2"), home)
    False
    >>> is_implausible(locate("http://a.example/~ann/?a=1"), locate("http://a.example/~ben/"))
    True
    """
    if not target.path.startswith(home_of(source.path)):
        return True
    if (
        target.path == "/"
        and not target.params
        and source.path.strip("/")
        and "." not in source.path
    ):
        return True
    kept = set(target.params)
    for param in source.params:
        name = name_of(param)
        if param in kept or name == "p":
            continue
        if is_protected(name) and value_of(param) not in {"", "0", "1"}:
            return True
    paged = [s for s in source.path.split("/") if _PAGE_SEGMENT.fullmatch(s) and not s.isdigit()]
    return any(segment not in target.path.split("/") for segment in paged) or (
        "/page/" in source.path and "/page/" not in target.path
    )


class DeclaredCanonicals:
    """The ways of declaring canonical URLs on one site, each with how often it was right.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> canonicals = DeclaredCanonicals()
    >>> for i in range(8):
    ...     short, slug = f"http://a.example/?p={i}", f"http://a.example/{i}-x/"
    ...     canonicals.compare(locate(short), locate(slug), same_page=True)
    >>> canonicals.believes(locate("http://a.example/?p=99"), locate("http://a.example/z/"))
    True
    """

    def __init__(self, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> None:
        self.thresholds = thresholds
        self._seen: dict[Hashable, list[int]] = {}

    def compare(self, source: Location, target: Location, *, same_page: bool) -> None:
        """Count whether a URL and the one that it declares showed the same page."""
        counts = self._seen.setdefault(way_of(source, target), [0, 0])
        counts[0 if same_page else 1] += 1

    def believes(self, source: Location, target: Location) -> bool:
        """Tell whether *target*, declared by *source*, may be taken for the same page."""
        if source == target or is_implausible(source, target):
            return False
        right, wrong = self._seen.get(way_of(source, target), (0, 0))
        return self.thresholds.accept_alias(right, wrong)

    def is_trusted(self, source: Location, target: Location) -> bool:
        """Tell whether this way of declaring was right more than once, and never wrong.

        Then it may serve as evidence for rules.
        """
        if not self._seen:
            return False
        right, wrong = self._seen.get(way_of(source, target), (0, 0))
        return right > 1 and not wrong and not is_implausible(source, target)


def promised_pages(site: Site, canonicals: DeclaredCanonicals) -> dict[Location, int]:
    """Return the pages of URLs that were not fetched, as redirects and trusted canonicals tell.

    A redirect to a URL that names its source in a parameter does not count: that is mostly a login
    form, which is the same page for all sources.
    """
    found: dict[Location, int] = {}
    for targets, tells in (
        (site.redirects, lambda source, target: not _leads_back(source, target)),
        (site.declared, canonicals.is_trusted),
    ):
        for row in sorted(targets):
            source, target, page = site.locations[row], targets[row], site.pages[row]
            if page != NO_EVIDENCE and target not in site.row_of and tells(source, target):
                found.setdefault(target, page)
    return found


def _leads_back(source: Location, target: Location) -> bool:
    """Tell whether *target* has the address of *source*, which redirects to it, in a parameter.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> source = locate("http://a.example/write/7")
    >>> targets = ["/in?next=%2Fwrite%2F7%3Fdraft", "/in?to=http://a.example/write/7", "/?p=7"]
    >>> [_leads_back(source, locate("http://a.example" + target)) for target in targets]
    [True, True, False]
    """
    path = unquote(source.path)
    values = (decode_query_text(value_of(param)) for param in target.params)
    return any(path in value for value in values if value.startswith(_ADDRESSES))


def declared_canonicals(
    site: Site, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> DeclaredCanonicals:
    """Return what a crawl shows about the declared canonicals of a site."""
    canonicals = DeclaredCanonicals(thresholds)
    for row in sorted(site.declared):
        target = site.declared[row]
        other = site.row_of.get(target)
        if other is None or NO_EVIDENCE in (site.pages[row], site.pages[other]):
            continue
        canonicals.compare(
            site.locations[row], target, same_page=site.pages[row] == site.pages[other]
        )
    return canonicals
