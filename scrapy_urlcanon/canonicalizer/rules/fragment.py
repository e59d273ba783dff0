"""The option for the fragment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Presets, Rule
from scrapy_urlcanon.canonicalizer.url import is_route
from scrapy_urlcanon.canonicalizer.values import Choice

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


class Fragment(Rule):
    """Drop the fragment, which the server never sees.

    What it does: ``drop`` drops it, ``keep`` keeps it, and ``routing`` keeps it only if it begins
    with ``!`` or ``/``.

    Why it is safe: the response is the same whatever the fragment (RFC 3986, 3.5). Scrapy does the
    same.

    When it is wrong: pages are rendered in a browser, and a script reads the address of the page
    from the fragment. Use ``routing`` or ``keep`` for those.
    """

    name = "fragment"
    component = "fragment"
    values = Choice(("drop", "keep", "routing"))
    neutral = "keep"
    presets = Presets(scrapy="drop")
    place = 410
    classical = (
        Classical("Fragment", "http://example.com/bar.html#section1", value="drop"),
        Classical("Fragment that is an address", "http://example.com/#!/a", value="routing"),
    )
    changes = (
        Example("drop", "http://example.com/#top", "http://example.com/"),
        Example("drop", "http://example.com/#!/a", "http://example.com/"),
        Example("routing", "http://example.com/#top", "http://example.com/"),
    )
    keeps = (
        Example("keep", "http://example.com/#top", "http://example.com/#top"),
        Example("routing", "http://example.com/#!/a", "http://example.com/#!/a"),
        Example("routing", "http://example.com/#/a", "http://example.com/#/a"),
    )

    def apply(self, url: Url) -> Url:
        if url.fragment is None:
            return url
        if self.value == "routing" and is_route(url.fragment):
            return url
        return url._replace(fragment=None)
