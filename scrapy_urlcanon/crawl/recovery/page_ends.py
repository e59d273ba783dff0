"""Recognises pages that break off in the middle without any error."""

from __future__ import annotations

import re
from typing import Final

from scrapy.http import HtmlResponse, Response, XmlResponse

from scrapy_urlcanon.canonicalizer.registrable_domain import host_of
from scrapy_urlcanon.crawl.answers import BREAKS_OFF, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

_FEW: Final = 0.2
"""A page without an end tag counts as broken off only if the host has fewer of these than this
share of its pages with one. It also bounds the extra fetches on hosts that break off by design."""
_FIRST: Final = 5
"""How many pages of a host are searched whole while none has had an end tag."""
_HOSTS: Final = 10_000
_NEAR: Final = 4_096
"""How many bytes at the beginning and at the end of a page are searched first."""
_BEGINNING: Final = re.compile(rb"<(?:html|body)", re.IGNORECASE)
_END: Final = re.compile(rb"</(?:html|body)", re.IGNORECASE)
_GZIP: Final = frozenset({b"gzip", b"x-gzip"})
_SIZE: Final = 4
"""How many bytes at the end of a gzip file say how long its content is (RFC 1952, 2.3.1)."""
_MOST_PACKED: Final = 1_032
"""Deflate makes at most this many bytes of one (zlib's technical details, ``zlib.net``)."""
_ROOT: Final = rb"(?:\xef\xbb\xbf)?\s*(?=<)[^\0]*?<([A-Za-z_][^\s<>/]*)"
"""The start of an XML document up to the name of its root element. A tag within a leading comment
is taken for the root, which costs an extra fetch; compressed data does not match. Compiled on
use."""


class PageEnds:
    """Marks pages that break off: XML with an open root, and HTML that lacks its usual end tag.

    A program that fails or times out while writing a page sends what it has, with status 200 and a
    ``Content-Length`` that fits. HTML needs no end tag (HTML Standard, section 13.1.2.4), but a
    program that writes one usually writes it on every page. XML, as in feeds and sitemaps, must
    close its root (XML 1.0, section 2.1), though some readers do not insist.

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
        """Count *response* for its host, and flag it with ``BREAKS_OFF`` if it breaks off."""
        if not is_success(response):
            return
        if isinstance(response, XmlResponse) and _is_xml_open(response.body):
            response.flags.append(BREAKS_OFF)
        if not isinstance(response, HtmlResponse):
            return
        host = host_of(response.url)
        ended, broken_off = self._counts.get(host) or (0, 0)
        # Searching a whole page is slow. If the first pages of a host had no end tag, others are
        # not expected to have one that is followed by more than ``_NEAR`` bytes.
        has_end = _has_end(response.body, anywhere=ended > 0 or broken_off < _FIRST)
        if has_end is None:
            return
        self._counts[host] = ended + has_end, broken_off + (not has_end)
        if not has_end and broken_off < _FEW * ended:
            response.flags.append(BREAKS_OFF)


def breaks_off_packed(response: Response) -> bool:
    """Tell whether *response*, still compressed by gzip, lacks its end.

    Scrapy makes a page of what there is (Scrapy 2.19, ``utils/gz.py``). The end of a gzip file says
    how long its content is. Where it is missing other bytes stand there, and these, taken for a
    length, are nearly always longer than any content can be.

    >>> from gzip import compress
    >>> whole, headers = compress(bytes(range(256))), {"Content-Encoding": "gzip"}
    >>> response = Response("http://a.example/", headers=headers, body=whole)
    >>> breaks_off_packed(response), breaks_off_packed(response.replace(body=whole[:-9]))
    (False, True)
    """
    encoding = response.headers.get("Content-Encoding")
    if not encoding or encoding.strip().lower() not in _GZIP:
        return False
    size = int.from_bytes(response.body[-_SIZE:], "little")
    return size > _MOST_PACKED * len(response.body)


def _has_end(body: bytes, *, anywhere: bool) -> bool | None:
    """Tell whether a page has an end tag, or None if it has no start tag either.

    :param anywhere: whether to search the whole body, not only its end.
    """
    # Most pages have it in the last bytes. One case-insensitive search is ten times as fast as a
    # search for each of four spellings where there is none.
    if _END.search(body, max(0, len(body) - _NEAR)) or (anywhere and _END.search(body)):
        return True
    return False if _BEGINNING.search(body, 0, _NEAR) else None


def _is_xml_open(body: bytes) -> bool:
    r"""Tell whether the root element of an XML document is not closed.

    >>> bodies = b"<?xml version='1.0'?><a><b/>", b" <a><b/></a>", b"<a:b c='d'/>", b"\x1f\x8b<a>"
    >>> [_is_xml_open(body) for body in bodies]
    [True, False, False, False]
    """
    root = re.compile(_ROOT).match(body, 0, _NEAR)
    if root is None:
        return False
    # Child elements may have names that begin alike, such as ``feedburner:`` in a ``feed``.
    _, end, after = body.rpartition(b"</" + root[1])
    if end and after.lstrip().startswith(b">"):
        return False
    return not body[root.end() :].partition(b">")[0].endswith(b"/")
