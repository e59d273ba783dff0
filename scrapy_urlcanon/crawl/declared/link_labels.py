"""Collects the texts of links to pages, as evidence for or against declared canonical URLs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse
from scrapy.utils.response import get_base_url

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.origins import as_sent
from scrapy_urlcanon.crawl.reading import links_of
from scrapy_urlcanon.crawl.record.links import LinkCounts
from scrapy_urlcanon.pages.canonical_link import absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml import etree  # type: ignore[import-untyped]
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.declared.claims import Claim, Way

_MAX_LENGTH = 200
_LABELS_OF_A_PAGE = 4
_PROVED = 20
"""The most labels of right claims that are kept for each way of declaring."""
_ALIKE = 2
"""At least this many labels must have the same text around them in titles for that to count."""
_SEVERAL = b""


class LinkLabels:
    """Tells by the labels of links whether a declared page is the same as the declaring one.

    A request that is dropped because of a claim is never fetched. Its title is unknown, but the
    text of a link to it, the *label*, is known. There are two kinds of evidence: both pages are
    linked with the same label; or the label of the declared page stands in the title of the
    declaring one, as "Red shoes" in "Red shoes - Shop". Each kind counts only once it has gone
    along with a right claim of the same way. From then on a claim without it is contradicted. If
    all links say "more", the label says nothing.

    Links to a URL that is linked often are read only now and then (:class:`.LinkCounts`): nearly
    all links lead to known URLs, and reading labels is the slowest step.

    :param limit: the most pages, labels and ways that are remembered.
    """

    def __init__(self, limit: int) -> None:
        # Tuples, since one with a single element takes a quarter of the memory of a set.
        self._labels: BoundedMapping[bytes, tuple[str, ...]] = BoundedMapping(limit)
        # By label: the declared page that it is about, or _SEVERAL, so that it tells nothing.
        self._owners: BoundedMapping[str, bytes] = BoundedMapping(limit)
        self._same: BoundedMapping[Way, frozenset[str]] = BoundedMapping(limit)
        self._frames: BoundedMapping[Way, frozenset[tuple[str, str]]] = BoundedMapping(limit)
        self.takes: Callable[[str], bool] = LinkCounts(limit, _LABELS_OF_A_PAGE).takes
        """Counts a link to a URL; returns whether its label should be noted."""
        # The links of the last response.
        self._links: WeakKeyDictionary[Response, dict[str, list[etree._Element]]]
        self._links = WeakKeyDictionary()

    def note(self, request: Request, page: bytes, response: Response) -> None:
        """Note the label with which *response* links *page*, by the URL of *request*."""
        # Removed when read: links that differ only in the fragment are read once.
        links = self._links_of(response).pop(as_sent(request.url), ())
        # The last link with that URL that has any label.
        label = next(filter(None, map(_label, reversed(links))), "")
        known = self._labels.get(page) or ()
        if label and label not in known and len(known) < _LABELS_OF_A_PAGE:
            self._labels[page] = (*known, label)

    def claimed(self, claim: Claim) -> None:
        """Note that the labels of both pages of *claim* are claimed to be about one page."""
        for label in self._of(claim.page) | self._of(claim.target_page):
            is_first = self._owners.get(label) in {None, claim.target_page}
            self._owners[label] = claim.target_page if is_first else _SEVERAL

    def proved(self, claim: Claim) -> None:
        """Note that *claim* was right, and which evidence went along with it."""
        self.claimed(claim)
        way = claim.way
        same = self._same.get(way) or frozenset()
        self._same[way] = frozenset(islice(self._shared(claim) | same, _PROVED))
        frames = self._frames.get(way) or frozenset()
        self._frames[way] = frozenset(islice(frames.union(self._framed(claim)), _PROVED))

    def is_contradicted(self, claim: Claim) -> bool:
        """Tell whether the labels speak against *claim*."""
        self.claimed(claim)
        same = self._same.get(claim.way) or frozenset()
        if any(map(self._is_telling, same)) and not self._shared(claim):
            return True
        proved = [f for label, f in self._frames.get(claim.way) or () if self._is_telling(label)]
        frames = {frame for frame in proved if proved.count(frame) >= _ALIKE}
        return bool(frames) and frames.isdisjoint(frame for _, frame in self._framed(claim))

    def _of(self, page: bytes) -> frozenset[str]:
        return frozenset(self._labels.get(page) or ())

    def _is_telling(self, label: str) -> bool:
        return self._owners.get(label) != _SEVERAL

    def _shared(self, claim: Claim) -> frozenset[str]:
        """Return the labels that both pages of *claim* have, and no other page."""
        shared = self._of(claim.page) & self._of(claim.target_page)
        return frozenset(filter(self._is_telling, shared))

    def _framed(self, claim: Claim) -> Iterator[tuple[str, str]]:
        """Yield the labels of the declared page, each with the text around it in the title."""
        title = _folded(claim.title)
        for label in self._of(claim.target_page):
            if self._is_telling(label) and label in title:
                yield label, "\0".join(title.partition(label)[::2])

    def _links_of(self, response: Response) -> dict[str, list[etree._Element]]:
        """Return the links of *response* by URL, cached for the last response."""
        found = self._links.get(response)
        if found is None:
            self._links.clear()
            found = self._links[response] = _links_by_url(response)
        return found


def _links_by_url(response: Response) -> dict[str, list[etree._Element]]:
    # Checked first: a response without links may have no text to search for a base URL in.
    if not isinstance(response, HtmlResponse) or not (links := links_of(response)):
        return {}
    base = get_base_url(response)
    found: dict[str, list[etree._Element]] = {}
    for link, address in links:
        found.setdefault(as_sent(absolute(base, address)), []).append(link)
    return found


def _label(link: etree._Element) -> str:
    # Most links contain only text, and reading that is several times as fast as walking through
    # their elements. A link can contain another link only if its end tag is missing, and then it
    # contains all that follows.
    is_open = len(link) > 0 and next(link.iterdescendants("a"), None) is not None
    text = "" if is_open else "".join(link.itertext()) if len(link) else link.text
    return _folded(text or "") or _folded(link.get("title") or "")


def _folded(text: str) -> str:
    return " ".join(text.split())[:_MAX_LENGTH].casefold()
