"""Parameters whose values name other URLs of the site: where a reader is to go next."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.learn.location import name_of, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy_urlcanon.learn.location import Location

_REFERENCES = ((3, 0.8), (8, 0.5))
"""How many values of a parameter must have been seen, and what share of them must name a URL of the
site. A crawl that was cut short has not seen all that is named, so that many values may do with
fewer; a few of them are words that stand anywhere."""

_ADDRESSES = ("http://", "https://", "/", "http%3A", "https%3A")

_TITLES = frozenset({"title", "page", "topic", "id"})
"""The names of parameters that have the title of a page, or what stands for it."""

_BEHIND_PATH = re.compile("[?#]")

_PART_OF_PAGE = re.compile("[^/#]+/[^#]+#[A-Za-z]")
"""A path and an element of its page, as in ``to=node/7#comments``: nothing but a URL has a fragment
(RFC 3986, section 3.5). The site may have that page under another path."""

_PART_OF_TOKEN = re.compile("[.:]")
"""What separates header, claims and signature of a JSON Web Token (RFC 7519), and the parts of what
frameworks sign. Each part is in the alphabet of base64 for URLs (RFC 4648, section 5)."""
_URL_SAFE = str.maketrans("-_", "+/")

# What a URL or a path is made of, and one of which it has.
_IN_URL = re.compile(rb"[!-~]+")
_SIGNS_OF_URL = frozenset(b"/?")

_MIN_ENCODED = 6
"""Fewer bytes in base64 are no URL."""

_MIN_TEXT = 3
"""Shorter texts are found anywhere."""


def names_of_urls(locations: Iterable[Location]) -> dict[str, str]:
    """Return what a value may name, each with the parameter that it was seen in.

    These are the paths of the site's URLs and their last segments, which have no parameter, and the
    values of titles, and of parameters that have a path.
    """
    found: dict[str, str] = {}
    for location in locations:
        path = decode_query_text(location.path)
        for text in (path, path.rstrip("/").rpartition("/")[2]):
            if _is_name(text):
                found[text.replace("_", " ")] = ""
        for param in location.params:
            name = name_of(param)
            text = decode_query_text(value_of(param))
            if _is_name(text) and (name in _TITLES or "/" in text):
                text = text.replace("_", " ")
                if found.setdefault(text, name) != name:
                    found[text] = ""
    return found


def _is_name(text: str) -> bool:
    return len(text) >= _MIN_TEXT and not text.isdigit()


def refers(name: str, members: Iterable[Location], texts: Mapping[str, str]) -> bool:
    """Tell whether the values of the parameter *name* name other URLs of the site.

    :param members: the URLs that have them.
    :param texts: as of :func:`names_of_urls`.
    """
    values = {
        value_of(param) for member in members for param in member.params if name_of(param) == name
    }
    named = sum(_names_a_url(value, name, texts) for value in values)
    return any(
        len(values) >= count and named >= share * len(values) for count, share in _REFERENCES
    )


def _names_a_url(value: str, name: str, texts: Mapping[str, str]) -> bool:
    text = decode_query_text(value)
    if _PART_OF_PAGE.match(text):
        return True
    named = [text]
    path = _BEHIND_PATH.split(text, maxsplit=1)[0]
    if "/" in path and not path.replace("/", "").isdigit():
        named += [path, f"/{path}"]  # from the root of the site on, as in `to=blog/7#comments`
    # The titles of pages that are down are not named by being asked for.
    if text.startswith(_ADDRESSES) or any(
        texts.get(one.replace("_", " "), name) != name for one in named
    ):
        return True
    return any(map(_encodes_a_url, _PART_OF_TOKEN.split(text)))


def _encodes_a_url(text: str) -> bool:
    """Tell whether a text in base64 is a URL, or the claims of a token one of which is one.

    >>> _encodes_a_url("aHR0cDovL2EuZXhhbXBsZS8"), _encodes_a_url("eyJuZXh0IjoiL2EifQ")
    (True, True)
    >>> _encodes_a_url("L2E_aWQ9MQ"), _encodes_a_url("aW5kZXgucGhwP2lkPTE"), _encodes_a_url("L2Zv")
    (True, True, False)
    """
    try:
        told = b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
        if not told.startswith(b"{"):
            # Short texts are made of the signs of a URL by chance.
            is_text = len(told) >= _MIN_ENCODED and _IN_URL.fullmatch(told) is not None
            return is_text and not _SIGNS_OF_URL.isdisjoint(told)
        claims = json.loads(told)
    except (Base64Error, ValueError, RecursionError):
        return False
    return any(isinstance(claim, str) and claim.startswith(_ADDRESSES) for claim in claims.values())
