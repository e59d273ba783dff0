"""Options for a URL in another one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Rule, distinct
from scrapy_urlcanon.canonicalizer.rules.param_names import listed
from scrapy_urlcanon.canonicalizer.url import (
    fix_slashes,
    normalize_host,
    normalize_port,
    split,
    strip_whitespace,
)
from scrapy_urlcanon.canonicalizer.values import Choice, NameList
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


class NestedUrl(Rule):
    """Replace a URL that has another URL in its path by that other URL.

    What it does: where segments of the path begin with ``http://`` or ``https://``, ``unwrap``
    takes what begins with the last of them, query and fragment included, for the URL. The rules
    for that URL then apply, not those for the outer one. A URL in the query, as in
    ``?url=http://...``, is left alone.

    Why it is safe: an absolute link that a template appended to the address of its page leads
    nowhere else; and where the outer site counts clicks, it redirects to the inner URL.

    When it is wrong: the outer site shows something of its own about the inner URL, as web
    archives, proxies, translators and validators do. Their pages would be taken for those of
    other sites. Set it only for the domains that need it.
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

    # Compiled where it is used, as that below.
    _start = "/https?://"

    def apply(self, url: Url) -> Url:
        last = None
        for last in re.finditer(self._start, url.path, re.IGNORECASE):  # noqa: B007 - the last one is wanted
            pass
        if last is None:
            return url
        inner = _read(url.path[last.start() + 1 :])
        return inner._replace(query=url.query, fragment=url.fragment) if inner else url


class UnwrapParams(Rule):
    """Replace a URL that has another URL in a parameter by that other URL.

    What it does: where one of these parameters is an absolute URL, as in
    ``/out?url=https%3A%2F%2Fexample.org%2Fa``, takes that for the URL; the first one, if there are
    several. The rules for that URL then apply. ``*`` in a name stands for any text.

    Why it is safe: a script that counts clicks and redirects has no page of its own.

    When it is wrong: the outer site shows something of its own about the inner URL: a form to
    share it, a preview, a translation, a login page that leads there afterwards (``next``,
    ``return``). Then that page is lost. Set it for the path of the script that redirects.
    """

    name = "unwrap_params"
    component = "url"
    # What the inner URL says is not to be taken for a part of the outer one.
    as_written = True
    values = NameList()
    neutral = ()
    place = 12
    classical = (
        Classical(
            "Redirect with the target in a variable",
            "http://example.com/out?url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1",
            value=["url"],
        ),
    )
    changes = (
        Example(
            ["url"],
            "http://example.com/out?id=1&url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1",
            "https://example.org/a?b=1",
        ),
        Example(["u", "to"], "http://example.com/?to=HTTP://example.org", "http://example.org/"),
    )
    keeps = (
        Example(["url"], "http://example.com/?url=%2Fa", "http://example.com/?url=%2Fa"),
        Example(
            ["url"],
            "http://example.com/?url=http%3A%2F%2F",
            "http://example.com/?url=http%3A%2F%2F",
        ),
        Example(
            ["url"],
            "http://example.com/?u=http%3A%2F%2Fa.b",
            "http://example.com/?u=http%3A%2F%2Fa.b",
        ),
    )

    _start = r"\s*https?://"

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = listed(options, self.name)

    def apply(self, url: Url) -> Url:
        return self._inner(url)[0]

    def _inner(self, url: Url) -> tuple[Url, str]:
        """Return the URL that is meant, and the name of the parameter that it stands in."""
        for name, value in map(decode_parameter, url.query or ()):
            if name in self._names and re.match(self._start, value, re.IGNORECASE):
                inner = _read(value)
                if inner:
                    return inner, name
        return url, ""

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct((self._names.cause_of(self._inner(before)[1]),))


class Amp(Rule):
    """Replace the URL of a page in an AMP cache by its URL on the site.

    What it does: ``https://example-com.cdn.ampproject.org/c/s/example.com/a`` becomes
    ``https://example.com/a``, or ``http`` without the ``s``; so does ``/amp/s/example.com/a`` on a
    Google host. For AMP pages on the site itself, use ``drop_labels``, ``drop_params`` or
    ``rewrite_path``.

    Why it is safe: the cache serves what the site has at that address (Google's documentation of
    the AMP Cache, "AMP Cache URL format").

    When it is wrong: the site answers a crawler differently than the cache does.
    """

    name = "amp"
    component = "url"
    values = Choice(("keep", "unwrap"))
    neutral = "keep"
    place = 102
    classical = (
        Classical(
            "URL of an AMP cache",
            "https://example-com.cdn.ampproject.org/c/s/example.com/a.html",
            value="unwrap",
        ),
    )
    changes = (
        Example(
            "unwrap",
            "https://example-com.cdn.ampproject.org/v/s/example.com/a?b=1",
            "https://example.com/a?b=1",
        ),
        Example("unwrap", "https://www.google.com/amp/example.com/a", "http://example.com/a"),
        Example("unwrap", "https://www.google.com/amp/s/example.com", "https://example.com/"),
    )
    keeps = (
        Example("unwrap", "https://cdn.ampproject.org/v0.js", "https://cdn.ampproject.org/v0.js"),
        Example("unwrap", "https://example.com/amp/s/a.com/", "https://example.com/amp/s/a.com/"),
        Example("unwrap", "https://www.google.com/amp/s/", "https://www.google.com/amp/s/"),
    )

    # Compiled where one of these hosts comes.
    _cache = r"[a-z0-9-]+\.cdn\.ampproject\.org"
    _google = r"(?:www\.)?google\.(?:com|[a-z]{2}|com?\.[a-z]{2})"
    _path_of_cache = r"/(?:c|v|wp)/(s/)?([^/]*\.[^/]*)(/.*)?"
    _path_of_google = r"/amp/(s/)?([^/]*\.[^/]*)(/.*)?"

    def apply(self, url: Url) -> Url:
        if "google." in url.host and re.fullmatch(self._google, url.host):
            found = re.fullmatch(self._path_of_google, url.path)
        elif url.host.endswith(".cdn.ampproject.org") and re.fullmatch(self._cache, url.host):
            found = re.fullmatch(self._path_of_cache, url.path)
        else:
            return url
        inner = (
            _read(f"http{'s' if found[1] else ''}://{found[2]}{found[3] or '/'}") if found else None
        )
        return inner._replace(query=url.query, fragment=url.fragment) if inner else url


def _read(text: str) -> Url | None:
    """Return the components of *text*, which begins with a scheme, or None where it is no URL."""
    try:
        url = split(fix_slashes(strip_whitespace(text)))
        normalize_host(url.host)
        normalize_port(url.port or "")
    except UnparsableUrlError:
        return None
    return url
