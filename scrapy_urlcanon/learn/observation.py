"""An observation: what one capture of one URL showed, all that the learner knows of it."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.same_page import PageDigest, same_page

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_URL_LENGTH = 8192
"""In characters. Longer URLs are garbage or an attack: no browser or server takes them."""

STATUSES = range(100, 600)
"""The valid HTTP status codes (RFC 9110, section 15); a server may send any number."""

MAX_BYTES = 1 << 40
"""The largest size of a body, a tebibyte."""

_DIGEST = re.compile(r"[0-9A-Za-z:+/=_.-]{8,200}")
_HASH64 = re.compile(r"[0-9a-fA-F]{1,16}")
_HTTP_URL = re.compile(r"https?://[^/?#\s]+(?:[/?#][^\s\x00-\x1f]*)?", re.IGNORECASE)
_SUCCESS = 2
_MAX_DIGITS = 19


class BadObservationError(ValueError):
    """A row is not an observation; ``reason`` says why, in a few words to count it by."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class Observation(NamedTuple):
    """What one capture of a URL showed.

    A digest is any text of 8 to 200 letters, digits and ``:+/=_.-``, and is only compared for
    equality; the digests of a site must all come from one function. Ours are SHA-1 in hexadecimal
    (:mod:`scrapy_urlcanon.pages` makes them). An empty digest means "unknown", and equals nothing.

    There are three digests: ``raw_sha1`` of the body, ``text_sha1`` of the text that a reader sees,
    and ``main_sha1`` of that text without what many pages of the site share, such as menus. Two
    captures show one page if their titles are equal, and either their ``main_sha1`` are equal or
    their ``simhash64`` differ in a few bits only.

    >>> digest = "d7a8fbb307d7809469ca9abcb0082e4f8d5651e4"
    >>> a = Observation("http://example.com/?p=1", main_sha1=digest)
    >>> b = Observation("http://example.com/one/", main_sha1=digest)
    >>> a.same_page(b)
    True
    >>> a.same_page(Observation("http://example.com/two/"))
    False
    >>> a.same_page(Observation("http://example.com/one/", 206, main_sha1=digest))
    False
    """

    url: str
    """The URL as the crawler requested it."""
    status: int = 200
    """The HTTP status; only captures with that of a page are evidence of content."""
    raw_sha1: str = ""
    """Digest of the body."""
    text_sha1: str = ""
    """Digest of the visible text and title, white space folded."""
    title: int = 0
    """64-bit hash of the title; 0 if there is none, or it is unknown."""
    main_sha1: str = ""
    """Digest of the visible text without the site's boilerplate."""
    simhash64: int | None = None
    """Charikar's simhash of the word bigrams of the main text; None if it is too short to tell."""
    bytes: int = 0
    """Size of the body in bytes."""
    canonical: str = ""
    """The canonical URL that the page declares (link element or ``Link`` header), absolute."""
    redirect: str = ""
    """The target, if the capture is a redirect and its target is known."""
    is_steady: bool | None = None
    """Whether a second visit of the URL showed the same page; None if there was none. Only stores
    have this, not tables."""

    @property
    def has_content(self) -> bool:
        """Whether the capture tells anything about which page the URL shows."""
        return is_page(self.status) and (bool(self.main_sha1) or self.simhash64 is not None)

    def same_page(self, other: Observation) -> bool:
        """Tell whether both captures certainly show one page."""
        return (
            self.has_content
            and other.has_content
            and bool(same_page(self._page_digest, other._page_digest))
        )

    @property
    def _page_digest(self) -> PageDigest:
        return PageDigest(self.main_sha1.encode(), self.title, simhash=self.simhash64)

    @classmethod
    def from_fields(
        cls, fields: Mapping[str, object], *, said: Observation | None = None
    ) -> Observation:
        """Return the observation in a row of a table.

        Each value is a text, or a value of JSON.

        :param said: an observation of the same text, if there is one, from which to copy the fields
            that depend on the text.
        :raises BadObservationError: if a value is not valid for its column.

        >>> fields = {"url": "http://example.com/", "status": "200", "simhash64": "ff"}
        >>> Observation.from_fields(fields).simhash64
        255
        """
        field = fields.get
        url = _url(field("url"), required=True)
        if said is None:
            text_sha1, main_sha1 = _digest(field("text_sha1")), _digest(field("main_sha1"))
            title = _hash64(field("title"), "title") or 0
            simhash64 = _hash64(field("simhash64"), "simhash64")
        else:
            text_sha1, main_sha1 = said.text_sha1, said.main_sha1
            title, simhash64 = said.title, said.simhash64
        canonical = field("canonical")
        # By position, which takes less than half the time of keywords.
        return cls(
            url,
            status_of(field("status")),
            _digest(field("raw_sha1")),
            text_sha1,
            title,
            main_sha1,
            simhash64,
            _number(field("bytes"), "bytes", 0, MAX_BYTES, 0),
            # Most pages that declare a URL declare their own.
            url if canonical == url else _url(canonical),
            _url(field("redirect")),
        )


def status_of(value: object) -> int:
    """Return the HTTP status in a row; 200 if it is missing.

    :raises BadObservationError: if the value is no HTTP status.
    """
    return _number(value, "status", STATUSES.start, STATUSES.stop - 1, 200)


def is_page(status: int) -> bool:
    """Tell whether a response with *status* shows a page: any 2xx but 206 (Partial Content).

    >>> [status for status in (200, 203, 206, 304, 404) if is_page(status)]
    [200, 203]
    """
    return status // 100 == _SUCCESS and status != HTTPStatus.PARTIAL_CONTENT


def _url(value: object, *, required: bool = False) -> str:
    if value is None or value == "":
        if required:
            raise BadObservationError("no URL")
        return ""
    if not isinstance(value, str):
        raise BadObservationError("URL is no text", repr(value)[:80])
    if len(value) > MAX_URL_LENGTH:
        if required:
            raise BadObservationError("URL too long", f"{len(value)} characters")
        return ""
    if _HTTP_URL.fullmatch(value):
        return value
    if required:
        raise BadObservationError("not an http(s) URL", repr(value)[:80])
    # A page may declare any nonsense as its canonical URL; the rest of the row is still valid.
    return ""


def _number(value: object, column: str, lowest: int, highest: int, default: int) -> int:
    if type(value) is int and lowest <= value <= highest:
        # The usual case: a store has numbers.
        return value
    if value is None or value == "":
        return default
    if isinstance(value, float) and value.is_integer():
        # Many tables have floats in a column of integers with missing values.
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadObservationError(f"bad {column}", repr(value)[:80])
    try:
        # int() accepts "1_000" and non-ASCII digits, and takes quadratic time.
        number = (
            value
            if isinstance(value, int)
            else int(value)
            if len(value) <= _MAX_DIGITS and value.isascii()
            else -1
        )
    except ValueError:
        raise BadObservationError(f"bad {column}", repr(value)[:80]) from None
    if not lowest <= number <= highest:
        raise BadObservationError(f"bad {column}", str(value)[:80])
    return number


def _digest(value: object) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value
    raise BadObservationError("bad digest", repr(value)[:80])


def _hash64(value: object, column: str) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and _HASH64.fullmatch(value):
        return int(value, 16)
    raise BadObservationError(f"bad {column}", repr(value)[:80])
