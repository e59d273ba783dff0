"""Parsing a URL, the normalizations that are always on, and the URL to be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.explanation import Step
from scrapy_urlcanon.canonicalizer.layers import ALWAYS
from scrapy_urlcanon.canonicalizer.percent_encoding import as_path, encode_query_text
from scrapy_urlcanon.canonicalizer.rules import NORMALIZATIONS, TEXT_NORMALIZATIONS
from scrapy_urlcanon.canonicalizer.url import is_utf8, split
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


def parse(text: str, steps: list[Step]) -> Url:
    """Return the components of *text*, normalized as far as parsing needs it.

    :param steps: gets a step for each normalization that changed it.
    :raises UnparsableUrlError: if it is not an http or https URL.
    """
    if not is_utf8(text):
        raise UnparsableUrlError("it holds half of a surrogate pair")
    for normalization in TEXT_NORMALIZATIONS:
        changed = normalization.apply(text)
        if changed != text:
            steps.append(Step(normalization.name, text, changed, (Cause(ALWAYS),)))
            text = changed
    return split(text)


def normalize(url: Url, steps: list[Step]) -> Url:
    """Return *url* with the normalizations that are always on.

    :param steps: gets a step for each that changed it.
    :raises UnparsableUrlError: if its host or its port cannot be one.
    """
    for normalization in NORMALIZATIONS:
        changed = normalization.apply(url)
        if changed != url:
            steps.append(Step(normalization.name, str(url), str(changed), (Cause(ALWAYS),)))
            url = changed
    return url


def as_fetched(canonical: str, linked: str) -> str:
    """Return the canonical URL without each ``=`` that the linked URL does not have.

    A program that reads its query as a path, such as ``?/topic/12`` or ``?12-title``, does not
    find ``?%2Ftopic%2F12=``.

    >>> as_fetched("http://a.example/?%2Ftopic%2F12=&b=", "http://a.example/?/topic/12&b=&sid=1")
    'http://a.example/?/topic/12&b='
    """
    url = split(canonical)
    if not any(piece.endswith("=") for piece in url.query or ()):
        return canonical
    pieces = [piece.partition("=") for piece in split(linked).query or ()]
    with_value = {encode_query_text(name) for name, equals, _ in pieces if equals}
    as_linked = {encode_query_text(name): name for name, equals, _ in pieces if not equals}
    query = [
        piece
        if piece[-1:] != "=" or (name := piece[:-1]) in with_value
        # What a template has made is spelled as it spells paths.
        else as_linked.get(name) or as_path(name)
        for piece in url.query or ()
    ]
    return str(url._replace(query=tuple(query)))
