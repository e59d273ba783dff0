"""Options for what stands before the path: scheme and host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain
from scrapy_urlcanon.canonicalizer.rules.base import Example, Rule
from scrapy_urlcanon.canonicalizer.values import Choice

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


class Scheme(Rule):
    """Make ``http://`` and ``https://`` one.

    What it does: the scheme becomes the one that is given. A URL with a port of its own
    keeps its scheme, because the port belongs to it.

    Why it is safe: nearly every site answers under both, or redirects one to the other.

    When it is wrong: one of the two answers with another site, typically a default page
    of the hosting company, or does not answer at all and was the one seen first.
    """

    name = "scheme"
    component = "authority"
    values = Choice(("keep", "http", "https"))
    neutral = "keep"
    changes = (
        Example("https", "http://example.com/", "https://example.com/"),
        Example("http", "https://example.com:443/", "http://example.com/"),
    )
    keeps = (Example("https", "http://example.com:8080/", "http://example.com:8080/"),)

    def apply(self, url: Url) -> Url:
        return url if url.port else url._replace(scheme=self.value)


class Www(Rule):
    """Make ``www.example.com`` and ``example.com`` one.

    What it does: drops the first label of the host where it is ``www``, alone or with
    digits (``www2``), as long as a registrable domain remains by the Public Suffix List.

    Why it is safe: where both names exist, one nearly always redirects to the other.

    When it is wrong: the bare domain has no address or serves something else, as for
    universities and public bodies, or ``www2`` is a machine with content of its own.
    """

    name = "www"
    component = "authority"
    values = Choice(("keep", "strip"))
    neutral = "keep"
    changes = (
        Example("strip", "http://www.example.com/a", "http://example.com/a"),
        Example("strip", "http://www.www2.example.co.uk/", "http://example.co.uk/"),
    )
    keeps = (
        Example("strip", "http://www.com/", "http://www.com/"),
        Example("strip", "http://www.co.uk/", "http://www.co.uk/"),
        Example("strip", "http://wwwx.example.com/", "http://wwwx.example.com/"),
    )

    _label = re.compile(r"www[0-9]*\.")

    def apply(self, url: Url) -> Url:
        host = url.host
        while (label := self._label.match(host)) and registrable_domain(host[label.end() :]):
            host = host[label.end() :]
        return url if host == url.host else url._replace(host=host)
