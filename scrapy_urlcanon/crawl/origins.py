"""What redirected to a request, and of which URL its answer is.

Scrapy notes redirects in ``meta``, and there they stay: a spider that copies the meta of a response
to its own requests (``meta=response.meta``) has them look as if they were redirected, from pages
that have nothing to do with them. So it is noted beside them where redirects ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.canonicalizer.url import is_route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.http import Response

LANDED_KEY: Final = "_urlcanon_landed"
"""In ``request.meta``: the URL at which redirects ended, and which of all that
stand there these were, from and to. Plain data, as any queue can store it."""


def land(request: Request) -> None:
    """Note that what redirected to *request* ends there: no further redirect follows."""
    count = len(_redirect_urls(request))
    if count:
        request.meta[LANDED_KEY] = [request.url, count - len(sources_of(request)), count]


def sources_of(request: Request) -> Sequence[str]:
    """Return the URLs from which redirects led to *request*, the first one first.

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
    """Return what Scrapy notes of redirects; a spider may have put anything there."""
    urls = request.meta.get("redirect_urls")
    return urls if urls and isinstance(urls, (list, tuple)) else ()


def answered_by(request: Request, response: Response) -> str:
    """Return of which URL *response* to *request* is.

    The HTTP cache may have had the page by another one of it: what Scrapy gives is that URL
    (Scrapy 2.19, ``extensions/httpcache.py``).

    >>> from scrapy import Request
    >>> from scrapy.http import Response
    >>> answered_by(Request("http://a.example/?b"), Response("http://a.example/", flags=["cached"]))
    'http://a.example/'
    """
    return response.url if "cached" in response.flags else request.url


def as_sent(url: str) -> str:
    """Return *url* as it is sent: without its fragment."""
    return url.partition("#")[0]


def as_shown(url: str) -> str:
    """Return *url* without what makes no other page of it, even in a browser.

    >>> as_shown("http://a.example/p#top"), as_shown("http://a.example/#!/p")
    ('http://a.example/p', 'http://a.example/#!/p')
    """
    address, _, fragment = url.partition("#")
    return url if is_route(fragment) else address


def address_of(url: str) -> str:
    """Return *url* without what sites redirect to change: scheme, ``www``, a slash at the end."""
    path, mark, query = as_sent(url).partition("://")[2].partition("?")
    return f"{path.removeprefix('www.').rstrip('/')}{mark}{query}"
