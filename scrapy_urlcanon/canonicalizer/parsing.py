"""Parsing a URL, the normalizations that are always on, and the URL to be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.explanation import Step
from scrapy_urlcanon.canonicalizer.layers import ALWAYS
from scrapy_urlcanon.canonicalizer.percent_encoding import as_path, encode_query, encode_query_text
from scrapy_urlcanon.canonicalizer.rules import NORMALIZATIONS, TEXT_NORMALIZATIONS
from scrapy_urlcanon.canonicalizer.url import is_utf8, split
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Container

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
    """Return the canonical URL with each parameter of the linked URL spelled as it is there.

    A program that reads its query as a path, such as ``?/topic/12`` or ``?12-title``, does not
    find ``?%2Ftopic%2F12=``. One that reads it by itself does not find ``?url=topic%2F12`` either.

    >>> as_fetched("http://a.example/?%2Ftopic%2F12=&b=", "http://a.example/?/topic/12&b=&sid=1")
    'http://a.example/?/topic/12&b='
    >>> as_fetched("http://a.example/?url=topic%2F12", "http://a.example/?sid=1&url=topic/12")
    'http://a.example/?url=topic/12'
    """
    url = split(canonical)
    if not url.query:
        return canonical
    pieces = split(linked).query or ()
    as_linked = {encode_query(piece): piece for piece in pieces}
    with_value = {encode_query_text(piece.partition("=")[0]) for piece in pieces if "=" in piece}
    query = [
        as_linked.get(piece) or (piece if _has_value(piece, with_value) else as_path(piece[:-1]))
        for piece in url.query
    ]
    return str(url._replace(query=tuple(query)))


def _has_value(piece: str, names: Container[str]) -> bool:
    """Tell whether a parameter has a value, or its name is in *names*: linked with a ``=``.

    A parameter that only a template produced has neither. It is spelled like a path.
    """
    return piece[-1:] != "=" or piece[:-1] in names
