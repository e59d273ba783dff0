"""Tells a page that breaks off, though nothing says so, from those that have no end tag."""

from __future__ import annotations

from typing import Final

from scrapy.http import HtmlResponse, Response

from scrapy_urlcanon.canonicalizer.registrable_domain import host_of
from scrapy_urlcanon.crawl.answers import BREAKS_OFF, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

_FEW: Final = 0.2
"""The share of the pages of a host up to which those without an end break off. As large a share of
fetches more it may cost, where they never have one."""
_HOSTS: Final = 10_000
_NEAR: Final = 4_096
"""Bytes in which most pages begin."""
_BEGINNINGS: Final = b"<html", b"<body"
_ENDS: Final = b"</html", b"</body", b"</HTML", b"</BODY"


class PageEnds:
    """Marks pages that break off: those without an end tag, where few of their host are so.

    A program that fails, or has no time left, while it writes a page sends what it has, and ends it
    in order: with the status 200, and all the bytes that it says it sends. HTML needs no end tag
    (HTML Standard, section 13.1.2.4), but what makes one page of a host with it makes most so.

    >>> ends = PageEnds()
    >>> def is_marked(body):
    ...     response = HtmlResponse("http://a.example/", body=body)
    ...     ends.note(response)
    ...     return BREAKS_OFF in response.flags
    >>> [is_marked(body) for body in (b"<html><p>a</html>", b"<html><p>b", b"<p>c", b"<html><p>d")]
    [False, True, False, False]
    """

    def __init__(self) -> None:
        # By host: how many pages have an end, and how many do not.
        self._counts: BoundedMapping[str, tuple[int, int]] = BoundedMapping(_HOSTS)

    def note(self, response: Response) -> None:
        """Take note of *response*, and mark it where it breaks off."""
        if not isinstance(response, HtmlResponse) or not is_success(response):
            return
        has_end = _has_end(response.body)
        if has_end is None:
            return
        host = host_of(response.url)
        ended, broken_off = self._counts.get(host) or (0, 0)
        self._counts[host] = ended + has_end, broken_off + (not has_end)
        if not has_end and broken_off < _FEW * ended:
            response.flags.append(BREAKS_OFF)


def _has_end(body: bytes) -> bool | None:
    """Tell whether a page has an end tag; None where it has no beginning either."""
    # From the end: most have it there. To fold the case of all of it takes longer than two of each.
    if any(body.rfind(tag) >= 0 for tag in _ENDS):
        return True
    beginning = body[:_NEAR].lower()
    return False if any(tag in beginning for tag in _BEGINNINGS) else None
