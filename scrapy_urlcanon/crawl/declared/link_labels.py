"""What links call the pages that they lead to: a witness of what these declare."""

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
"""So many labels that went with a right declaration are kept for each way of declaring."""
_ALIKE = 2
"""So many titles have to go around their labels alike for that to say anything."""
_SEVERAL = b""


class LinkLabels:
    """Tells whether a page is called what the page is called that declares it.

    A page that is dropped for what another one declares was never seen: the title that it would
    have had is not known, but what a link calls it is. There are two such witnesses: the label is
    the one that the declaring page was linked with, and it stands in that page's title, as
    "Red shoes" in "Red shoes - Shop". Each counts where it went with a declaration that was right;
    then it has to go with all that declare so. Where all links say "more" neither says anything.

    What many pages link is looked at now and then (:class:`.LinkCounts`): nearly all links lead to
    what was met before, and to read what they are called takes longer than all else done for them.

    :param limit: how many pages, labels and ways are remembered, at most.
    """

    def __init__(self, limit: int) -> None:
        # A tuple of one takes a quarter of the memory of a set.
        self._labels: BoundedMapping[bytes, tuple[str, ...]] = BoundedMapping(limit)
        # What each label is about: the declared page, or several, and then it tells nothing.
        self._owners: BoundedMapping[str, bytes] = BoundedMapping(limit)
        self._same: BoundedMapping[Way, frozenset[str]] = BoundedMapping(limit)
        self._frames: BoundedMapping[Way, frozenset[tuple[str, str]]] = BoundedMapping(limit)
        self.takes: Callable[[str], bool] = LinkCounts(limit, _LABELS_OF_A_PAGE).takes
        """Counts a link to a URL; tells whether what it is called is to be noted."""
        # Of one response.
        self._links: WeakKeyDictionary[Response, dict[str, list[etree._Element]]]
        self._links = WeakKeyDictionary()

    def note(self, request: Request, page: bytes, response: Response) -> None:
        """Note what *response* calls *page*, which it links with the URL of *request*."""
        # Once for all that differ in their fragments: they are read each time.
        links = self._links_of(response).pop(as_sent(request.url), ())
        # Of several the last one that is called anything.
        label = next(filter(None, map(_label, reversed(links))), "")
        known = self._labels.get(page) or ()
        if label and label not in known and len(known) < _LABELS_OF_A_PAGE:
            self._labels[page] = (*known, label)

    def claimed(self, claim: Claim) -> None:
        """Note that what both pages of *claim* are called is said to be about one page."""
        for label in self._of(claim.page) | self._of(claim.target_page):
            is_first = self._owners.get(label) in {None, claim.target_page}
            self._owners[label] = claim.target_page if is_first else _SEVERAL

    def proved(self, claim: Claim) -> None:
        """Note that *claim* was right, and which of the witnesses went with it."""
        self.claimed(claim)
        way = claim.way
        same = self._same.get(way) or frozenset()
        self._same[way] = frozenset(islice(self._shared(claim) | same, _PROVED))
        frames = self._frames.get(way) or frozenset()
        self._frames[way] = frozenset(islice(frames.union(self._framed(claim)), _PROVED))

    def is_contradicted(self, claim: Claim) -> bool:
        """Tell whether a witness that counts speaks against *claim*."""
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
        """Yield the labels of the declared page, each with what the title has around it."""
        title = _folded(claim.title)
        for label in self._of(claim.target_page):
            if self._is_telling(label) and label in title:
                yield label, "\0".join(title.partition(label)[::2])

    def _links_of(self, response: Response) -> dict[str, list[etree._Element]]:
        """Return the links of *response* by URL; looked for once for each response."""
        found = self._links.get(response)
        if found is None:
            self._links.clear()
            found = self._links[response] = _links_by_url(response)
        return found


def _links_by_url(response: Response) -> dict[str, list[etree._Element]]:
    # Where there is none there may be no text to look for a base in either.
    if not isinstance(response, HtmlResponse) or not (links := links_of(response)):
        return {}
    base = get_base_url(response)
    found: dict[str, list[etree._Element]] = {}
    for link, address in links:
        found.setdefault(as_sent(absolute(base, address)), []).append(link)
    return found


def _label(link: etree._Element) -> str:
    # Most links hold but text, and to walk through them takes several times as long. A link holds
    # no other one, but where its end is missing, and then all that stands behind it.
    is_open = len(link) > 0 and next(link.iterdescendants("a"), None) is not None
    text = "" if is_open else "".join(link.itertext()) if len(link) else link.text
    return _folded(text or "") or _folded(link.get("title") or "")


def _folded(text: str) -> str:
    return " ".join(text.split())[:_MAX_LENGTH].casefold()
