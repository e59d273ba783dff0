"""Whether two responses are one page: by their visible text."""

from __future__ import annotations

import re
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

from attrs import frozen
from rensa import RMinHash
from scrapy.http import HtmlResponse, TextResponse, XmlResponse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response
    from typing_extensions import Self

SAME_PAGE = 0.95
"""The Jaccard similarity of the words from which two pages are one.

Two pages of one site share the words of their navigation and footer, often 300 or more:
20 words that only one of them has make it 0.94. A counter or an advertisement is less.
"""

# The standard error of the similarity is sqrt(s * (1 - s) / permutations): 0.02 at 0.95.
_PERMUTATIONS = 128
_SEED = 2001

# Not what a visitor reads; `parent` is enough, they hold no elements.
_VISIBLE = "//text()[not(parent::script or parent::style or parent::noscript or parent::template)]"
# Two pages of a gallery may differ in nothing else. The query is often the time of a change.
_IMAGES = "//img/@src"

_WORD = re.compile(r"\w+")
# What is another one at each visit: times of day, dates with a time, Unix times, and the
# tokens and digests of forms and assets.
_VOLATILE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|\+\d\d:?\d\d)?(?!\w)"
    r"|\b1\d{9}(?:\d{3})?\b"
    r"|\b[0-9a-fA-F]{32,}\b"
)


@frozen
class Content:
    """What there is to compare of a response, in some 700 bytes at most.

    >>> from scrapy.http import HtmlResponse
    >>> def content(html):
    ...     return Content.of(HtmlResponse("http://example.com/", body=html, encoding="utf-8"))
    >>> one = content("<title>A</title><p>One page, at 12:30:05</p>")
    >>> one.is_same_page(content("<title>A</title><p>One page, at <b>12:31:00</b></p>"))
    True
    >>> one.is_same_page(content("<title>A</title><p>Quite another</p>"))
    False
    """

    digest: bytes
    """Of the words, each once and in order of the alphabet; of the body where it is no text."""
    title: bytes | None = None
    """Digest of the title; None where there is none."""
    signature: bytes | None = None
    """MinHash of the words; None where the body is no text, or too much of it."""

    @classmethod
    def of(cls, response: Response, max_size: int = 1_048_576) -> Self:
        """Return what there is to compare of *response*.

        :param max_size: up to which size of the body, in bytes, its text is read.
        """
        if not isinstance(response, TextResponse) or len(response.body) > max_size:
            return cls(_digest(response.body))
        if isinstance(response, (HtmlResponse, XmlResponse)):
            root = response.selector.root
            title = " ".join(root.xpath("string(//title)").split())
            pieces: Iterable[str] = root.xpath(_VISIBLE, smart_strings=False)
            images = {
                source.partition("?")[0] for source in root.xpath(_IMAGES, smart_strings=False)
            }
        else:
            title, pieces, images = "", [response.text], set()
        text = _VOLATILE.sub(" ", " ".join(pieces))
        words = sorted({*_WORD.findall(text), *images})
        minhash = RMinHash(num_perm=_PERMUTATIONS, seed=_SEED)
        minhash.update(words)
        return cls(
            _digest("\n".join(words).encode(errors="replace")),
            _digest(_VOLATILE.sub(" ", title).encode(errors="replace")) if title else None,
            array("I", minhash.digest()).tobytes() if words else None,
        )

    def is_same_page(self, other: Content) -> bool | None:
        """Tell whether *other* is the content of the same page; None where that is not clear."""
        if self.digest == other.digest and self.title == other.title:
            return True
        if self.signature is None or other.signature is None:
            return None
        # A page that could not be found may have all of its site's words around it.
        if self.title != other.title:
            return False
        mine, theirs = array("I", self.signature), array("I", other.signature)
        equal = sum(a == b for a, b in zip(mine, theirs, strict=True))
        return equal >= SAME_PAGE * _PERMUTATIONS


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
