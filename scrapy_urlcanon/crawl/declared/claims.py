"""What pages declare about others, and which of it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Hashable

_CLAIMS_ON_A_PAGE = 8
_PROBE = 20


class Way(NamedTuple):
    """A way of declaring: if it is right for some pages, it is for all that declare so."""

    domain: str
    """A registrable domain: another site may do the same, and be wrong."""
    change: Hashable
    """As :func:`scrapy_urlcanon.learn.canonicals.way_of` returns it."""


class Claim(NamedTuple):
    """What one page declares: that another URL shows the same page."""

    page: bytes
    """The fingerprint of the page that declares it, which the spider has."""
    url: str
    content: bytes
    """Digest of what that page shows."""
    title: str
    target: str
    """The URL that it declares."""
    target_page: bytes
    """The fingerprint of that."""
    way: Way
    callback: Hashable
    """The callback that got that page."""
    contradictions: frozenset[str] = frozenset()
    """What else the page says of its address that does not go with it: names of witnesses."""


class Belief:
    """Which ways of declaring are believed: those that enough pages have shown to be right.

    A page counts once for a way, by what it shows: that a thousand URLs show the form to log in,
    and so do those that they declare, is one page's evidence.

    >>> belief, way = Belief(1000), Way("a.example", "sid goes")
    >>> for digest in (b"1", b"2", b"3", b"4", b"4", b"4"):
    ...     belief.add(way, digest, same_page=True)
    >>> belief.holds(way)
    False
    >>> belief.add(way, b"5", same_page=True)
    >>> belief.holds(way)
    True
    >>> belief.add(way, b"6", same_page=False)
    >>> belief.holds(way)
    False

    :param limit: how many ways are remembered, and how many pages as counted.
    """

    def __init__(self, limit: int) -> None:
        self._pages: BoundedMapping[Way, tuple[int, int]] = BoundedMapping(limit)
        self._counted: BoundedMapping[tuple[Way, bytes, bool], bool] = BoundedMapping(limit)
        self._drops: BoundedMapping[Way, int] = BoundedMapping(limit)
        self._discredited: BoundedMapping[Way, frozenset[str]] = BoundedMapping(limit)

    def add(self, way: Way, content: bytes, *, same_page: bool) -> None:
        """Take note whether a page and the one that it declared showed the same.

        :param content: digest of what the page shows.
        """
        key = (way, content, same_page)
        if key in self._counted:
            return
        self._counted[key] = True
        right, wrong = self._pages.get(way) or (0, 0)
        self._pages[way] = (right + same_page, wrong + (not same_page))

    def discredit(self, claim: Claim) -> None:
        """Note that *claim* was right, so that what contradicted it says nothing about its way."""
        known = self._discredited.get(claim.way) or frozenset()
        self._discredited[claim.way] = known | claim.contradictions

    def is_contradicted(self, claim: Claim) -> bool:
        """Tell whether the page that makes *claim* says otherwise elsewhere."""
        return not claim.contradictions <= (self._discredited.get(claim.way) or frozenset())

    def takes_probe(self, way: Way) -> bool:
        """Count a page that is to be dropped; tell whether it is to be fetched all the same.

        After twenty that are not one is, and so on: a site may begin to lie.
        """
        drops = (self._drops.get(way) or 0) + 1
        self._drops[way] = drops
        return drops > 1 and drops % _PROBE == 1

    def is_refuted(self, way: Way) -> bool:
        """Tell whether it takes many pages more for this *way* to be believed."""
        right, wrong = self._pages.get(way) or (0, 0)
        return wrong > 0 and not DEFAULT_THRESHOLDS.accept_alias(right, wrong)

    def holds(self, way: Way) -> bool:
        """Tell whether pages that declare in this *way* are believed."""
        return DEFAULT_THRESHOLDS.accept_alias(*(self._pages.get(way) or (0, 0)))


class Claims:
    """What pages declare about pages that were not seen yet.

    :param limit: of how many pages it is remembered, at least half and at most all.
    """

    def __init__(self, limit: int) -> None:
        self._claims: BoundedMapping[bytes, tuple[Claim, ...]] = BoundedMapping(limit)
        self._disputed: BoundedMapping[bytes, bool] = BoundedMapping(limit)
        # Which page each content belongs to; none where that is not clear.
        self._owners: BoundedMapping[bytes, bytes] = BoundedMapping(limit)
        self.are_any = False
        """Whether there were any: each link is asked about, and of most sites there are none."""

    def about(self, page: bytes) -> tuple[Claim, ...]:
        """Return what was declared of *page*."""
        return self._claims.get(page) or ()

    def add(self, page: bytes, claim: Claim) -> None:
        """Remember that *claim* is about *page*."""
        claims = self.about(page)
        self.are_any = True
        if len(claims) < _CLAIMS_ON_A_PAGE:
            self._claims[page] = (*claims, claim)

    def settle(self, page: bytes) -> tuple[Claim, ...]:
        """Forget what was declared of *page*, which was seen, and return it."""
        return self._claims.pop(page) or ()

    def withdraw(self, page: bytes, declaring: bytes, callback: Hashable) -> None:
        """Forget what *callback* got from the page *declaring* about *page*: it raised."""
        claims = self.about(page)
        kept = tuple(c for c in claims if (c.page, c.callback) != (declaring, callback))
        if len(kept) < len(claims):
            self._claims[page] = kept

    def dispute(self, page: bytes) -> None:
        """Note that some of what was declared of *page* is wrong."""
        self._disputed[page] = True

    def own(self, content: bytes, page: bytes) -> bytes | None:
        """Note that a page that shows *content* declares *page*, or itself.

        Return the page that another one declared which shows the same: a form to log in, or
        "not found", under the URLs of all pages. It says nothing about any of them.
        """
        owner = self._owners.get(content)
        if owner is None:
            self._owners[content] = page
        elif owner not in {page, b""}:
            self._owners[content] = b""
            return owner
        return None

    def is_disputed(self, page: bytes, claim: Claim) -> bool:
        """Tell whether something that was seen speaks against *claim*, which is about *page*."""
        return page in self._disputed or self._owners.get(claim.content) != page
