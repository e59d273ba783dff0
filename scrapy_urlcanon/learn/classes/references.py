"""Tells whether the values of a parameter name other URLs of the site, as ``returnto`` does."""

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
site. A crawl that was cut short has not seen all URLs, so a lower share is enough for many values;
among a few it might be words that occur anywhere."""

_ADDRESSES = ("http://", "https://", "/", "http%3A", "https%3A")

_TITLES = frozenset({"title", "page", "topic", "id"})
"""The names of parameters whose value is often the title or name of a page."""

_BEHIND_PATH = re.compile("[?#]")

_PART_OF_PAGE = re.compile("[^/#]+/[^#]+#[A-Za-z]")
"""A path and an element of its page, as in ``to=node/7#comments``: nothing but a URL has a fragment
(RFC 3986, section 3.5). The site may have that page under another path."""

_PART_OF_TOKEN = re.compile("[.:]")
"""What separates header, claims and signature of a JSON Web Token (RFC 7519), and the parts of what
frameworks sign. Each part is in the alphabet of base64 for URLs (RFC 4648, section 5)."""
_URL_SAFE = str.maketrans("-_", "+/")

# The characters of a URL or a path, and those of which it has at least one.
_IN_URL = re.compile(rb"[!-~]+")
_SIGNS_OF_URL = frozenset(b"/?")

_MIN_ENCODED = 6
"""How many bytes a text in base64 must have to be taken for a URL."""

_MIN_TEXT = 3
"""How many characters a name must have: shorter texts occur anywhere."""


def names_of_urls(locations: Iterable[Location]) -> dict[str, str]:
    """Return the texts that name URLs of the site, each with the parameter that it was seen in.

    These are the paths of the URLs and their last segments, with an empty text for the parameter;
    the values of parameters such as ``title``; and values that are paths. A text that was seen in
    several parameters has an empty text, too.
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

    :param members: the URLs that have the parameter.
    :param texts: the result of :func:`names_of_urls`.
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
        named += [path, f"/{path}"]  # relative to the root of the site: `to=blog/7#comments`
    # A text that was seen in this very parameter only does not name another URL.
    if text.startswith(_ADDRESSES) or any(
        texts.get(one.replace("_", " "), name) != name for one in named
    ):
        return True
    return any(map(_encodes_a_url, _PART_OF_TOKEN.split(text)))


def _encodes_a_url(text: str) -> bool:
    """Tell whether a text in base64 is a URL, or the claims of a token with a URL among them.

    >>> _encodes_a_url("aHR0cDovL2EuZXhhbXBsZS8"), _encodes_a_url("eyJuZXh0IjoiL2EifQ")
    (True, True)
    >>> _encodes_a_url("L2E_aWQ9MQ"), _encodes_a_url("aW5kZXgucGhwP2lkPTE"), _encodes_a_url("L2Zv")
    (True, True, False)
    """
    try:
        told = b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
        if not told.startswith(b"{"):
            # Short texts may consist of characters of URLs by chance.
            is_text = len(told) >= _MIN_ENCODED and _IN_URL.fullmatch(told) is not None
            return is_text and not _SIGNS_OF_URL.isdisjoint(told)
        claims = json.loads(told)
    except (Base64Error, ValueError, RecursionError):
        return False
    return any(isinstance(claim, str) and claim.startswith(_ADDRESSES) for claim in claims.values())
