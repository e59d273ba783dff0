"""The option for a URL in the path of another one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Rule
from scrapy_urlcanon.canonicalizer.url import fix_slashes, normalize_host, normalize_port, split
from scrapy_urlcanon.canonicalizer.values import Choice
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


class NestedUrl(Rule):
    """Make a URL with another one in its path that other one.

    What it does: where segments of the path begin with ``http://`` or ``https://``,
    ``unwrap`` takes the URL to be what begins with the last of them, query and fragment
    included. A URL in the query, as in ``?url=http://...``, stays. Then the rules for the
    URL that was found apply, and not those for the outer one.

    Why it is safe: an absolute link that a template glued
    to the address of its page leads to nothing else; and where the outer
    site is a counter of clicks, it redirects there.

    When it is wrong: the outer site shows something of its own about the inner URL: web
    archives, proxies, translations, validators. Their pages would be taken for those of
    other sites. Give it for the domains that need it.
    """

    name = "nested_url"
    component = "url"
    # Dot segments of the inner URL must not be resolved in the outer one.
    as_written = True
    values = Choice(("keep", "unwrap"))
    neutral = "keep"
    place = 10
    classical = (
        Classical(
            "URL in the path of another one",
            "http://www.example.com/x/y/z/http://www.example.com/a/b/http://www.example.com/../page.html",
            value="unwrap",
        ),
    )
    changes = (
        Example(
            "unwrap",
            "http://www.example.com/x/y/z/http://www.example.com/a/b/http://www.example.com/../page.html",
            "http://www.example.com/page.html",
        ),
        Example(
            "unwrap",
            "http://out.example/click/HTTPS://Shop.example:443/a?id=1",
            "https://shop.example/a?id=1",
        ),
    )
    keeps = (
        Example(
            "unwrap",
            "http://example.com/oembed?url=http%3A%2F%2Fexample.org%2Fa",
            "http://example.com/oembed?url=http%3A%2F%2Fexample.org%2Fa",
        ),
        Example("unwrap", "http://example.com/http://", "http://example.com/http://"),
        Example("unwrap", "http://example.com/ahttp://b/", "http://example.com/ahttp://b/"),
    )

    _start = re.compile("/https?://", re.IGNORECASE)

    def apply(self, url: Url) -> Url:
        last = None
        for last in self._start.finditer(url.path):  # noqa: B007 - the last one is wanted
            pass
        if last is None:
            return url
        inner = split(fix_slashes(url.path[last.start() + 1 :]))
        try:
            normalize_host(inner.host)
            normalize_port(inner.port or "")
        except UnparsableUrlError:
            return url
        return inner._replace(query=url.query, fragment=url.fragment)
