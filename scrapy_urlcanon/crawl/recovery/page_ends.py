"""Tells a page that breaks off, though nothing else says so."""

from __future__ import annotations

import re
from typing import Final

from scrapy.http import HtmlResponse, Response, XmlResponse

from scrapy_urlcanon.canonicalizer.registrable_domain import host_of
from scrapy_urlcanon.crawl.answers import BREAKS_OFF, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

_FEW: Final = 0.2
"""The share of the pages of a host up to which those without an end break off. As large a share of
fetches more it may cost, where they never have one."""
_FIRST: Final = 5
"""The pages of a host of which the end is looked for from the beginning, while none has one."""
_HOSTS: Final = 10_000
_NEAR: Final = 4_096
"""Bytes in which most pages begin, and in which most end."""
_BEGINNING: Final = re.compile(rb"<(?:html|body)", re.IGNORECASE)
_END: Final = re.compile(rb"</(?:html|body)", re.IGNORECASE)
_ROOT: Final = rb"(?:\xef\xbb\xbf)?\s*(?=<)[^\0]*?<([A-Za-z_][^\s<>/]*)"
"""What a document in XML begins with. A tag within a comment there costs a fetch more; what is
packed, and said to be XML, begins otherwise. Compiled where there is one."""


class PageEnds:
    """Marks pages that break off: those without an end tag, in HTML where few of their host are so.

    A program that fails, or has no time left, while it writes a page sends what it has, and ends it
    in order: with the status 200, and all the bytes that it says it sends. HTML needs no end tag
    (HTML Standard, section 13.1.2.4), but what makes one page of a host with it makes most so. XML,
    as of feeds and sitemaps, does (XML 1.0, section 2.1), though who reads it may not insist.

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
        if not is_success(response):
            return
        if isinstance(response, XmlResponse) and _is_xml_open(response.body):
            response.flags.append(BREAKS_OFF)
        if not isinstance(response, HtmlResponse):
            return
        host = host_of(response.url)
        ended, broken_off = self._counts.get(host) or (0, 0)
        # To go through all of it takes long. Where the first ones have no end, no other has one
        # that is followed by so much.
        has_end = _has_end(response.body, anywhere=ended > 0 or broken_off < _FIRST)
        if has_end is None:
            return
        self._counts[host] = ended + has_end, broken_off + (not has_end)
        if not has_end and broken_off < _FEW * ended:
            response.flags.append(BREAKS_OFF)


def _has_end(body: bytes, *, anywhere: bool) -> bool | None:
    """Tell whether a page has an end tag; None where it has no beginning either.

    :param anywhere: whether as much as a page may stand behind it.
    """
    # Most have it there. Where there is none, to look for four spellings one by one took ten times
    # as long.
    if _END.search(body, max(0, len(body) - _NEAR)) or (anywhere and _END.search(body)):
        return True
    return False if _BEGINNING.search(body, 0, _NEAR) else None


def _is_xml_open(body: bytes) -> bool:
    r"""Tell whether the root of a document in XML is not closed.

    >>> bodies = b"<?xml version='1.0'?><a><b/>", b" <a><b/></a>", b"<a:b c='d'/>", b"\x1f\x8b<a>"
    >>> [_is_xml_open(body) for body in bodies]
    [True, False, False, False]
    """
    root = re.compile(_ROOT).match(body, 0, _NEAR)
    if root is None:
        return False
    # Elements within may have longer names, such as those of ``feedburner:`` in a ``feed``.
    _, end, after = body.rpartition(b"</" + root[1])
    if end and after.lstrip().startswith(b">"):
        return False
    return not body[root.end() :].partition(b">")[0].endswith(b"/")
