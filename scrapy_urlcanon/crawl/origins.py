"""Tells from where a request was redirected, and to which URL its response belongs.

Scrapy notes redirects in ``meta``, where they stay. If a spider copies the meta of a response to
its own requests (``meta=response.meta``), these look as if they had been redirected from unrelated
pages. So the URL at which redirects ended is noted beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.canonicalizer.url import is_route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.http import Response

LANDED_KEY: Final = "_urlcanon_landed"
"""In ``request.meta``: the URL at which redirects ended, and the range of entries in
``redirect_urls`` that led to it. Plain data, so that any queue can store it."""


def land(request: Request) -> None:
    """Note that the redirects to *request* end there: no further one follows."""
    count = len(_redirect_urls(request))
    if count:
        request.meta[LANDED_KEY] = [request.url, count - len(sources_of(request)), count]


def sources_of(request: Request) -> Sequence[str]:
    """Return the URLs from which redirects led to *request*, in order.

    >>> from scrapy import Request
    >>> request = Request("http://a.example/b", meta={"redirect_urls": ["http://a.example/a"]})
    >>> land(request)
    >>> copied = Request("http://a.example/c", meta=request.meta)
    >>> sources_of(request), sources_of(copied)
    (['http://a.example/a'], ())
    """
    urls = _redirect_urls(request)
    if urls and LANDED_KEY in request.meta:
        url, begin, end = request.meta[LANDED_KEY]
        urls = urls[begin:end] if url == request.url else urls[end:]
    return [url for url in urls if isinstance(url, str)] if urls else ()


def _redirect_urls(request: Request) -> Sequence[object]:
    """Return what Scrapy notes of redirects. A spider may have put anything there."""
    urls = request.meta.get("redirect_urls")
    return urls if urls and isinstance(urls, (list, tuple)) else ()


def answered_by(request: Request, response: Response) -> str:
    """Return the URL to which *response* to *request* belongs.

    The HTTP cache may have stored the page for another of its URLs, which the response then has
    (Scrapy 2.19, ``extensions/httpcache.py``).

    >>> from scrapy import Request
    >>> from scrapy.http import Response
    >>> answered_by(Request("http://a.example/?b"), Response("http://a.example/", flags=["cached"]))
    'http://a.example/'
    """
    return response.url if "cached" in response.flags else request.url


def as_sent(url: str) -> str:
    """Return *url* as it is sent, without its fragment."""
    return url.partition("#")[0]


def as_shown(url: str) -> str:
    """Return *url* without its fragment, unless that selects a page (routes: ``#!``, ``#/``).

    >>> as_shown("http://a.example/p#top"), as_shown("http://a.example/#!/p")
    ('http://a.example/p', 'http://a.example/#!/p')
    """
    address, _, fragment = url.partition("#")
    return url if is_route(fragment) else address


def address_of(url: str) -> str:
    """Return *url* without what redirects often change: scheme, ``www`` and a final slash."""
    path, mark, query = as_sent(url).partition("://")[2].partition("?")
    return f"{path.removeprefix('www.').rstrip('/')}{mark}{query}"
