"""Options whose values are templates: what to rewrite, and what not to fetch."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import SKIP, Cause
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Option, Rule, distinct
from scrapy_urlcanon.canonicalizer.rules.path import TrailingSlash
from scrapy_urlcanon.canonicalizer.values import RewriteList, TemplateList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.templates import Template, TemplateIndex
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


class RewritePath(Rule):
    """Rewrite the path, and parameters, from one shape to another.

    What it does: takes pairs of templates. A URL that has the shape of the first is rewritten to
    that of the second, with what was found in the named places. The order of parameters makes no
    difference, and those that the first template does not name stay. A place ``{name}`` takes one
    or more characters: any but ``/``, or those of its class, as in ``{isbn:digits}``. The classes
    are ``digits``, ``hex``, ``word`` (letters, digits and what is percent-encoded), ``slug`` (the
    same, ``-`` and ``_``), ``path`` (``/`` too), and a choice of texts, as in ``{lang:en|de}``. A
    literal brace is written ``%7B`` or ``%7D``. What follows the ``?`` without a ``=`` may have
    places too, and is read like a path. Where the value of a parameter begins with a slash, as in
    ``/login?to=/{page}``, it is an address: one that has a query or a fragment becomes no path.

    With ``trailing_slash: strip`` a slash at the end of a template says nothing, since no path has
    one.

    A pair is applied once to a URL. If the result still had the shape of the first template, the
    URL is left as it is, since what would be dropped next may no longer be a page number.

    A pair is refused if it is ambiguous where a place ends, if rewriting with it would never come
    to an end, or if it loses what may tell pages apart: a place that the second template does not
    have may only be text for readers (no class, ``word``, ``slug`` or ``path``). If it takes
    ``digits``, ``hex`` or a choice, or is in a parameter, its name must begin with ``_`` to say
    that it is dropped on purpose.

    Why it is safe: the site itself maps both shapes to one page, because it has a router, or reads
    only the number in a path that also has a title.

    When it is wrong: on some of the paths with this shape, the text that is dropped selects the
    page. Make the template as narrow as the set of URLs that you know.
    """

    name = "rewrite_path"
    component = "url"
    values = RewriteList()
    neutral = ()
    # Before the rules that drop parameters: it may need one of them.
    place = 320
    classical = (
        Classical(
            "DUST rule: substitution",
            "http://example.com/story.php?id=17",
            value=[["/story.php?id={id}", "/story_{id}"]],
        ),
        Classical(
            "DUST rule: text for readers in the path",
            "http://www.example.com/books/amazon-sucks/9780470170779-item.html",
            value=[["/books/{slug}/{isbn:digits}-item.html", "/books/{isbn}"]],
        ),
        Classical(
            "Variable in the path",
            "http://www.example.com/test?id=123",
            value=[["/test?id={id}", "/test_{id}"]],
        ),
    )
    changes = (
        Example(
            [["/books/{slug}/{isbn:digits}-item.html", "/books/{isbn}"]],
            "http://www.example.com/books/amazon-sucks/9780470170779-item.html",
            "http://www.example.com/books/9780470170779",
        ),
        Example(
            [["/books/{slug}/{isbn:digits}-item.html", "/books/{isbn}"]],
            "http://www.example.com/books/anything/9780470170779-item.html",
            "http://www.example.com/books/9780470170779",
        ),
        Example(
            [["/test?id={id}", "/test_{id}"]],
            "http://www.example.com/test?id=123&page=2",
            "http://www.example.com/test_123?page=2",
        ),
        Example(
            [["/test_{id}", "/test?id={id}"]],
            "http://www.example.com/test_123",
            "http://www.example.com/test?id=123",
        ),
        Example(
            [["/{lang:en|de}/{rest:path}/print", "/{lang}/{rest}"]],
            "http://example.com/de/a/b/print",
            "http://example.com/de/a/b",
        ),
        Example(
            [["/showthread.php?{id:digits}-{title}", "/showthread.php?{id}-"]],
            "http://example.com/showthread.php?12-a-title&page=2",
            "http://example.com/showthread.php?12-=&page=2",
        ),
        Example(
            [["/index.php?/topic/{id:digits}-{title}/", "/index.php?showtopic={id}"]],
            "http://example.com/index.php?/topic/12-a-title/",
            "http://example.com/index.php?showtopic=12",
        ),
        Example(
            [["/s-{_session:hex}/{page}", "/{page}"]],
            "http://example.com/s-0a1b/about",
            "http://example.com/about",
        ),
    )
    keeps = (
        Example(
            [["/books/{slug}/{isbn:digits}-item.html", "/books/{isbn}"]],
            "http://example.com/books/new/list-item.html",
            "http://example.com/books/new/list-item.html",
        ),
        Example(
            [["/test?id={id}", "/test_{id}"]],
            "http://example.com/test?id=1&id=2",
            "http://example.com/test?id=1&id=2",
        ),
        Example(
            [["/index.php?/topic/{id:digits}-{title}", "/index.php?/topic/{id}"]],
            "http://example.com/index.php?%2Ftopic%2F12-a-title%2Fpage2=",
            "http://example.com/index.php?%2Ftopic%2F12-a-title%2Fpage2=",
        ),
        Example(
            [["/dir?name={name}", "/dir/{name}"]],
            "http://example.com/dir?name=..",
            "http://example.com/dir?name=..",
        ),
        Example(
            [["/login?to=/{page}", "/{page}"]],
            "http://example.com/login?to=%2Fthread%3Fid%3D7",
            "http://example.com/login?to=%2Fthread%3Fid%3D7",
        ),
        Example(
            [["/{_lang:en|de}/{page}", "/{page}"]],
            "http://example.com/fr/about",
            "http://example.com/fr/about",
        ),
        Example(
            [["/{rest:path}/{_page:digits}", "/{rest}"]],
            "http://example.com/archive/2020/05/3",
            "http://example.com/archive/2020/05/3",
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        # Few crawls have any, and the others are not to wait for the import.
        from scrapy_urlcanon.canonicalizer.rewrites import index_of, stripped  # noqa: PLC0415

        super().__init__(options)
        strips = _strips_slashes(options)
        pairs: dict[Rewrite, Cause] = {}
        for written, layer in self.value:
            pair = stripped(written) if strips else written
            if pair:
                pairs.setdefault(pair, Cause(layer, written.source.text))
        self._pairs = pairs
        self._rewrites = index_of(tuple(pairs))
        self.goes_by_path = not any(
            rewrite.source.has_query or rewrite.target.has_query for rewrite in pairs
        )
        """Whether parameters make no difference to it, and it none to them."""
        self._last: Url | str | None = None

    def apply(self, url: Url) -> Url:
        # All options are applied until nothing changes, and so to what this one made before.
        if self._last == (url.path if self.goes_by_path else url):
            return url
        for _, changed in self._rewrites.follow(url):
            url = changed
        self._last = url.path if self.goes_by_path else url
        return url

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct(self._pairs[rewrite] for rewrite, _ in self._rewrites.follow(before))


class Skip(Option):
    """Do not fetch URLs of these shapes at all.

    What it does: takes templates, as ``rewrite_path`` does. A GET or HEAD request whose canonical
    URL has one of these shapes is not fetched, unless it bypasses the filter (``dont_filter``, as
    start URLs do). A URL with a parameter that the template does not name has another shape. With
    ``trailing_slash: strip`` a slash at the end of a template says nothing. The option does not
    change the canonical URL.

    Why it is safe: the page is always found under another URL as well, though that cannot be
    computed from this one: ``/?p=17`` redirects to the article that every list links.

    When it is wrong: for some of the URLs of that shape, the other one is never linked. What is
    skipped is never seen, so this does not show by itself. With ``URLCANON_AUDIT`` some of these
    URLs are fetched, to see whether their pages are found; and where ``URLCANON_SKIP_PLACES`` has
    the other URL, that is fetched.
    """

    name = SKIP
    acts = "It skips"
    values = TemplateList()
    neutral = ()
    # It looks at what the others left.
    place = 510
    classical = (
        Classical(
            "Pages always found elsewhere: not fetched",
            "http://example.com/?p=17",
            value=["/?p={id:digits}"],
        ),
    )
    changes = (
        Example(["/?p={id:digits}"], "http://example.com/?p=17", "http://example.com/?p=17"),
        Example(
            ["/print/{rest:path}"], "http://example.com/print/a/b", "http://example.com/print/a/b"
        ),
    )
    keeps = (
        Example(["/?p={id:digits}"], "http://example.com/", "http://example.com/"),
        Example(
            ["/?p={id:digits}"], "http://example.com/?p=17&q=a", "http://example.com/?p=17&q=a"
        ),
        Example(["/?p={id:digits}"], "http://example.com/?p=new", "http://example.com/?p=new"),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        # Few crawls have any, and the others are not to wait for the import.
        from scrapy_urlcanon.canonicalizer.templates import stripped  # noqa: PLC0415

        super().__init__(options)
        strips = _strips_slashes(options)
        self._templates = tuple(
            stripped(template) if strips else template for template, _ in self.value
        )
        self._index = _index_of(self._templates)

    def cause(self, url: Url) -> Cause | None:
        """Return the template that the canonical *url* fits, with its layer, or None."""
        for position in self._index.candidates(url):
            match = self._templates[position].match(url)
            if match is not None and not match.others:
                template, layer = self.value[position]
                return Cause(layer, str(template))
        return None


def _strips_slashes(options: Mapping[str, Setting]) -> bool:
    """Tell whether the slash at the end of a path is gone before a template sees it."""
    setting = options.get(TrailingSlash.name)
    return setting is not None and setting.value == "strip"


@lru_cache(maxsize=100)
def _index_of(templates: tuple[Template, ...]) -> TemplateIndex:
    """Return the index of *templates*; the policies of many hosts have the same ones."""
    # Few crawls have any, and the others are not to wait for the import.
    from scrapy_urlcanon.canonicalizer.templates import TemplateIndex  # noqa: PLC0415

    return TemplateIndex(templates)
