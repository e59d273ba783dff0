"""Which page a URL leads to: a function from requests to responses."""

from __future__ import annotations

import re
from pathlib import Path

from loopback import Request, Response, page, redirect

from shop_site import forum, shop
from shop_site.markup import HOST, View
from shop_site.stock import CATEGORIES, INFO, PRODUCTS

START = f"https://{HOST}/"
"""URL of the start page."""

_STYLE = Path(__file__).with_name("style.css").read_bytes()
_PRODUCT = re.compile(r"/product/[^/]+/(\d+)")  # whatever the slug is
_DIRECTORIES = {*CATEGORIES, *INFO, "new", "forum"}


def respond(request: Request) -> Response:
    """Answer a request to the shop or to its forum.

    >>> from loopback import Request
    >>> respond(Request("GET", "http", "shop.example", "/lamps", {})).headers
    (('Location', 'https://www.shop.example/lamps'),)
    >>> respond(Request("GET", "https", "shop.example", "/lamps?lang=de", {})).headers
    (('Location', '/lamps/?lang=de'),)
    >>> respond(Request("GET", "https", "shop.example", "/lamps/", {})).status
    200
    """
    view = View(request)
    if request.scheme == "http" and not view.local:
        return redirect(f"https://{HOST}{request.target}")
    if request.path == "/style.css":
        return Response(headers=(("Content-Type", "text/css"),), body=_STYLE)
    if request.path == "/robots.txt":
        return Response(headers=(("Content-Type", "text/plain"),))
    if request.path[1:] in _DIRECTORIES:
        query = f"?{request.query}" if request.query else ""
        return redirect(f"{request.path}/{query}")
    html = _html(view)
    return page("<h1>Not found</h1>", status=404) if html is None else page(html)


def _html(view: View) -> str | None:  # noqa: PLR0911 - a table of routes
    """Return the page that *view* asks for, or None where there is none."""
    name = view.path.strip("/")
    if view.path == "/":
        return shop.home(view)
    if name in CATEGORIES:
        return shop.category(view, name)
    if name in INFO:
        return shop.info(view, name)
    if view.path == "/new/":
        return shop.new(view)
    if view.path.startswith("/forum/"):
        return forum.forum(view)
    match = _PRODUCT.fullmatch(view.path)
    if match and int(match[1]) in PRODUCTS:
        return shop.product(view, PRODUCTS[int(match[1])])
    return None
