"""Tells which other URL of a page is a better place for it, and which is just another variant."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.learn.location import MARK, name_of, without_editions
from scrapy_urlcanon.learn.vocabulary import LANGUAGE, NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.learn.location import Location, Place


# Where a longer path may be cut off to give a shorter one.
_ENDS = re.compile("[/;]")


class PageUrls:
    """Some URLs of one page; of a log-in form there may be thousands.

    A URL is no better place for the page than they are if, compared with one of them, it

    - has a longer path, also by a session id (``;s=1``);
    - has all of its parameters and further ones, whatever their values, also one of them again;
    - differs only in values without numbers, such as ``tab=a`` and ``tab=b``;
    - is the same but for a language in the path, which it has or lacks: a page that is not
      translated now may be tomorrow;
    - is the same but for an edition that it has or lacks, such as the year of a catalogue: a text
      that is the same this year may be another one next year.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> urls = PageUrls(map(locate, ["http://a.example/p?id=7&tab=a", "http://a.example/q"]))
    >>> better = ["http://a.example/p?id=8&tab=a", "http://a.example/p?id=7", "http://a.example/"]
    >>> [urls.has_better(locate(url)) for url in better]
    [True, True, True]
    >>> worse = ["http://a.example/p?id=7&tab=b", "http://a.example/p?id=8&tab=a&x=1"]
    >>> worse += ["http://a.example/q/more", "http://a.example/q;s=1"]
    >>> worse += ["http://a.example/p?id=7&id=9&tab=a"]
    >>> [urls.has_better(locate(url)) for url in worse]
    [False, False, False, False, False]
    >>> urls = PageUrls([locate("http://a.example/read?7,82")])
    >>> longer = ["http://a.example/read?7,82,83", "http://a.example/read?7,82,print,page=1"]
    >>> [urls.has_better(locate(url)) for url in longer]
    [False, False]
    >>> urls = PageUrls([locate("http://a.example/news/7")])
    >>> [urls.has_better(locate(f"http://a.example/{path}")) for path in ("fr/news/7", "fr/title")]
    [False, True]
    >>> urls = PageUrls([locate("http://a.example/course?id=7&term=2026SP")])
    >>> [urls.has_better(locate(f"http://a.example/{path}")) for path in ("course?id=7", "bees")]
    [False, True]
    """

    def __init__(self, urls: Iterable[Location]) -> None:
        self._languages: set[str] = set()
        self._untranslated: set[str] = set()
        self._paths: set[str] = set()
        # By all other words of a URL, the editions that it names.
        self._editions: dict[frozenset[str], set[frozenset[str]]] = {}
        # The parameters that have numbers, by place and by the names of all.
        self._by_names: dict[Place, dict[frozenset[str], set[frozenset[str]]]] = {}
        for url in urls:
            params = url.params
            # Each path is looked at once: it may have a thousand URLs, as with session ids.
            if url.path not in self._untranslated:
                self._untranslated.add(url.path)
                self._languages.update(filter(LANGUAGE.fullmatch, url.path.split("/")))
            if not params and (path := _segments(url.path).rstrip("/")):
                self._paths.add(path)
            words, editions = _words_and_editions(url)
            self._editions.setdefault(words, set()).add(editions)
            by_names = self._by_names.setdefault(url.place, {})
            names = frozenset(map(name_of, params))
            by_names.setdefault(names, set()).add(frozenset(filter(NUMBER.search, params)))

    def has_better(self, other: Location) -> bool:
        """Tell whether another URL is a better place to look than each of these."""
        segments = other.path.split("/")
        if self._languages and not self._languages.issubset(segments):
            return False
        bare = "/".join(text for text in segments if not LANGUAGE.fullmatch(text))
        if bare != other.path and bare in self._untranslated:
            return False
        words, editions = _words_and_editions(other)
        if editions not in self._editions.get(words, (editions,)):
            return False
        # A query such as `3,5,quote=1` is no path, as it has a "=", but may begin with one: `3,5`.
        texts = (decode_query_text(param) for param in other.params if "%2C" in param)
        paths = (other.path, *(f"{other.path}{MARK}{text}" for text in texts))
        return not (
            any(self._is_longer(_segments(path) + "/") for path in paths)
            or self._is_of_more_or_other_words(other)
        )

    def _is_longer(self, path: str) -> bool:
        if not self._paths:
            return False
        return any(path[: end.start()] in self._paths for end in _ENDS.finditer(path, 1))

    def _is_of_more_or_other_words(self, other: Location) -> bool:
        names = _names(other.params)
        by_names = self._by_names.get(other.place, {})
        if any(fewer < names for fewer in by_names):
            return True  # a view of this thing or of another one: `?t=7` and `?t=6&view=next`
        return frozenset(filter(NUMBER.search, other.params)) in by_names.get(names, ())


def _names(params: tuple[str, ...]) -> frozenset[str]:
    """Return the names of *params*, those that come again with a number."""
    names = frozenset(map(name_of, params))
    if len(names) == len(params):
        return names
    return frozenset(
        f"{name}={number}" if number else name
        for name, count in Counter(map(name_of, params)).items()
        for number in range(count)
    )


def _words_and_editions(url: Location) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a URL, and apart from these the editions that it names."""
    words, editions = without_editions(url)
    # The current edition is the one that a URL without any has, too.
    return words - {"current"}, editions


def _segments(path: str) -> str:
    """Return a path with a slash between all segments: in a query a comma is one, too."""
    before, mark, segments = path.partition(MARK)
    return before + mark + segments.replace(",", "/")
