"""Keeps the canonical URLs that pages declare, and decides which of these claims are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

if TYPE_CHECKING:
    from collections.abc import Hashable

_CLAIMS_ON_A_PAGE = 8
_PROBE = 20


class Way(NamedTuple):
    """A way of declaring canonical URLs, which is believed or not as a whole."""

    domain: str
    """The registrable domain: another site may declare in the same way and be wrong."""
    change: Hashable
    """What differs between the two URLs, as :func:`scrapy_urlcanon.learn.canonicals.way_of` returns
    it."""


class Claim(NamedTuple):
    """The claim of one page that another URL shows the same page."""

    page: bytes
    """The fingerprint of the declaring page, which the spider has."""
    url: str
    """The URL of the declaring page."""
    content: bytes
    """The digest of the declaring page."""
    title: str
    """The title of the declaring page."""
    target: str
    """The URL that it declares."""
    target_page: bytes
    """The fingerprint of that URL."""
    way: Way
    callback: Hashable
    """The callback that was given the declaring page."""
    contradictions: frozenset[str] = frozenset()
    """The names of other addresses in the page, such as ``og:url``, that contradict the claim."""


class Belief:
    """Counts how often each way of declaring was right, and decides which ways are believed.

    For each way a content counts once: if a thousand URLs show the log-in form, and so do the URLs
    that they declare, that is the evidence of one page.

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

    :param limit: the most ways, and the most contents, that are remembered.
    """

    def __init__(self, limit: int) -> None:
        self._pages: BoundedMapping[Way, tuple[int, int]] = BoundedMapping(limit)
        self._counted: BoundedMapping[tuple[Way, bytes, bool], bool] = BoundedMapping(limit)
        self._drops: BoundedMapping[Way, int] = BoundedMapping(limit)
        self._discredited: BoundedMapping[Way, frozenset[str]] = BoundedMapping(limit)

    def add(self, way: Way, content: bytes, *, same_page: bool) -> None:
        """Count whether a page and the one that it declared were the same.

        :param content: the digest of the page.
        """
        key = (way, content, same_page)
        if key in self._counted:
            return
        self._counted[key] = True
        right, wrong = self._pages.get(way) or (0, 0)
        self._pages[way] = (right + same_page, wrong + (not same_page))

    def discredit(self, claim: Claim) -> None:
        """Note that *claim* was right: what contradicted it is no longer a reason for doubt."""
        known = self._discredited.get(claim.way) or frozenset()
        self._discredited[claim.way] = known | claim.contradictions

    def is_contradicted(self, claim: Claim) -> bool:
        """Tell whether another address in the declaring page is a reason to doubt *claim*."""
        return not claim.contradictions <= (self._discredited.get(claim.way) or frozenset())

    def takes_probe(self, way: Way) -> bool:
        """Count a page that is to be dropped; tell whether to fetch it all the same, as a probe.

        One in twenty is fetched, since a site that was right may become wrong.
        """
        drops = (self._drops.get(way) or 0) + 1
        self._drops[way] = drops
        return drops > 1 and drops % _PROBE == 1

    def is_refuted(self, way: Way) -> bool:
        """Tell whether this *way* was wrong so often that it is far from being believed."""
        right, wrong = self._pages.get(way) or (0, 0)
        return wrong > 0 and not is_enough(right, wrong)

    def holds(self, way: Way) -> bool:
        """Tell whether pages that declare in this *way* are believed."""
        return is_enough(*(self._pages.get(way) or (0, 0)))


def is_enough(right: int, wrong: int) -> bool:
    """Tell whether a way of declaring is believed that was *right* and *wrong* this many times."""
    # Imported here for a faster start: on most sites pages declare only themselves.
    from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS  # noqa: PLC0415

    return DEFAULT_THRESHOLDS.accept_alias(right, wrong)


class Claims:
    """The claims about pages that were not fetched yet.

    :param limit: the most pages whose claims are remembered; at least half as many are.
    """

    def __init__(self, limit: int) -> None:
        self._claims: BoundedMapping[bytes, tuple[Claim, ...]] = BoundedMapping(limit)
        self._disputed: BoundedMapping[bytes, bool] = BoundedMapping(limit)
        # By content: the page that it belongs to, or empty if there are several.
        self._owners: BoundedMapping[bytes, bytes] = BoundedMapping(limit)
        self.are_any = False
        """Whether there ever was a claim. Most sites make none, and this is checked for each
        link."""

    def about(self, page: bytes) -> tuple[Claim, ...]:
        """Return the claims about *page*."""
        return self._claims.get(page) or ()

    def add(self, page: bytes, claim: Claim) -> None:
        """Store *claim*, which is about *page*."""
        claims = self.about(page)
        self.are_any = True
        if len(claims) < _CLAIMS_ON_A_PAGE:
            self._claims[page] = (*claims, claim)

    def settle(self, page: bytes) -> tuple[Claim, ...]:
        """Remove and return the claims about *page*, which was fetched."""
        return self._claims.pop(page) or ()

    def withdraw(self, page: bytes, declaring: bytes, callback: Hashable) -> None:
        """Remove the claim of *declaring* about *page*, since *callback* raised on getting it."""
        claims = self.about(page)
        kept = tuple(c for c in claims if (c.page, c.callback) != (declaring, callback))
        if len(kept) < len(claims):
            self._claims[page] = kept

    def dispute(self, page: bytes) -> None:
        """Note that one of the claims about *page* is wrong."""
        self._disputed[page] = True

    def own(self, content: bytes, page: bytes) -> bytes | None:
        """Note that a page with *content* declares *page*, which may be itself.

        :return: another page that was declared with the same content, if any. Such a content (a
            log-in form, "not found") says nothing about either page.
        """
        owner = self._owners.get(content)
        if owner is None:
            self._owners[content] = page
        elif owner not in {page, b""}:
            self._owners[content] = b""
            return owner
        return None

    def is_disputed(self, page: bytes, claim: Claim) -> bool:
        """Tell whether another claim, or its own content, speaks against *claim* about *page*."""
        return page in self._disputed or self._owners.get(claim.content) != page
