"""Hashed features of a URL and of the link to it: what a model learns from."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from sys import byteorder
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from scrapy_urlcanon.novelty.inner_loops import hash_texts, note_texts, split_url
from scrapy_urlcanon.novelty.inner_loops.in_python import RARE
from scrapy_urlcanon.novelty.packing import BITS, MASK, SPREAD, packed, unpacked

_Path: TypeAlias = "tuple[str, ...]"
_Query: TypeAlias = "tuple[tuple[str, str], ...]"
_Parts: TypeAlias = "tuple[str, _Path, _Query]"


_HALVED = bytes(count // 2 for count in range(256))
_YOUNG: Final = 1 << BITS
"""After this many texts all counts are halved. Else every counter would exceed four after a million
URLs of a broad crawl, and no text would be rare."""
_MAX_SEGMENTS, _MAX_PARAMETERS, _MAX_TOKEN = 6, 12, 60
_LEAST_HASH, _LEAST_UUID = 7, 36
_SIZE: Final = len(packed([0]))
_KEPT: Final = 1 << 12
_KEPT_OF_FETCHED: Final = 1 << 6
"""Cache size for fetched URLs, from which two models learn, some pages apart."""

_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_FOLDED = re.compile(
    rf"(?P<u>{_UUID.pattern})"
    r"|(?P<d>(?<!\d)\d{4}[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:[0-2]\d|3[01])(?!\d))"
    r"|(?P<h>(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{7,}(?![0-9a-z]))"
    r"|(?P<t>(?<![0-9a-z])(?=[a-z]*\d)[0-9a-z]{16,}(?![0-9a-z]))"
    r"|(?P<n>\d+)"
)
# Tokens have both letters and digits, since a number may be that of a record; short ones must
# alternate.
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
    r"|(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{7,}"
    r"|(?=(?:[0-9]+[A-Za-z]+){2}|(?:[A-Za-z]+[0-9]+){2})[0-9A-Za-z]{8,})(?![0-9A-Za-z])"
)
_SEPARATOR = re.compile(r"[&;]")
_DIGIT = re.compile("[0-9]")
_ANY_DIGIT = re.compile(r"\d")
_NUMBER = re.compile("[0-9]+")
# The beginning of a date, or what may be a hash or a token.
_DATE_OR_LONG = re.compile(f"[0-9]{{4}}[-_.]?[01][0-9]|[0-9a-z]{{{_LEAST_HASH},}}")
_NUMBERS = frozenset({"#n", "#h"})
"""What :func:`fold` makes of a number; if it is long it might be a hash."""
_UP_TO_NUMBER = re.compile(".*/[0-9]+(?=/|$)")
_WORD = re.compile(r"[^a-z%]")
_NO_WORD = re.compile(r"[^\w%-]+")


class Features(NamedTuple):
    """The features of one request, packed, which takes a ninth of the memory of numbers."""

    coarse: bytes
    """The features of the shape of the URL. A site has few different ones."""
    all: bytes
    """These, finer ones, and a last one for their combination. Requests with the same features wait
    in one queue."""


def feature_of(text: str) -> int:
    """Return *text* as a feature of all hosts, hashed to a number."""
    return unpacked(_hashed((text,), 0))[0]


def fold(text: str) -> str:
    """Return *text* in lower case, with numbers, hashes, UUIDs and dates as one token each.

    >>> fold("Page-12"), fold("3f2a9c01"), fold("2024-05-17"), fold("cafe")
    ('page-#n', '#h', '#d', 'cafe')
    >>> fold("123456"), fold("1234567"), fold("knitting-2024-05-17"), fold("knitting-7")
    ('#n', '#h', 'knitting-#d', 'knitting-#n')
    """
    # Not cached: the many numbers and titles would evict everything else.
    if len(text) < _LEAST_HASH and text.isdecimal():
        return "#n"
    if len(text) < _LEAST_UUID and text.replace("-", "").isalpha():
        return text.lower()
    return _folded(text)


@lru_cache(_KEPT)
def _folded(text: str) -> str:
    text = text[:_MAX_TOKEN].lower()
    # Searching titles for all of these took most of the time of making features.
    if len(text) >= _LEAST_UUID and _UUID.search(text):
        return _FOLDED.sub(_kind, text)
    if not _ANY_DIGIT.search(text):
        return text
    if text.isascii() and all(map(str.isalpha, _DATE_OR_LONG.findall(text))):
        return _NUMBER.sub("#n", text)
    return _FOLDED.sub(_kind, text)


def _kind(found: re.Match[str]) -> str:
    return f"#{found.lastgroup}"


class Standing:
    """Describes the relation of a link's URL to that of the page as a feature of the link.

    The print view, the edit form and the next page of a page add something to its URL, whatever
    they are called on a site.

    >>> standing = Standing("http://a.example/post/7?lang=en")
    >>> for path in ("7?lang=en&print=1", "7?view=2", "7/edit", "8", ""):
    ...     print(standing.of(*split_url(f"http://a.example/post/{path}")))
    stands for more of it
    stands at its path
    stands below it
    stands beside it
    stands above it

    :param page: the URL of the page.
    """

    __slots__ = ("_below", "_folder", "_leaf", "_path", "_query")

    def __init__(self, page: str) -> None:
        self._folder, self._leaf, query = split_url(page)
        self._path = self._folder + self._leaf
        self._query = {*_SEPARATOR.split(query)} if query else set()
        self._below = f"{self._path.rstrip('/')}/"

    def of(self, folder: str, leaf: str, query: str) -> str:
        """Return the relation of a URL, split by :func:`split_url`, to the page."""
        is_of_folder = folder == self._folder
        if is_of_folder and leaf == self._leaf:
            is_more = self._query <= {*_SEPARATOR.split(query)}
            return "stands for more of it" if is_more else "stands at its path"
        if folder.startswith(self._below):
            return "stands below it"
        if is_of_folder and leaf:
            return "stands beside it"
        is_above = self._path.startswith(f"{(folder + leaf).rstrip('/')}/")
        return "stands above it" if is_above else "stands elsewhere"


class KnownIdentifiers:
    """Tells whether an earlier URL had the same numbers, or was the same apart from tokens.

    To the other features all numbers are the same. But a second URL with ``id=7`` is one more view
    of a record that waits already, while ``id=8`` is another record. So is a second URL that begins
    with ``/photo/7``. And if all links of a page contain a session id, no URL is known, but the
    rest of it is.

    >>> identifiers = KnownIdentifiers()
    >>> for query in ("id=7&back=/list?page=1", "id=8&back=/list?page=1", "id=7&back=/all"):
    ...     print(identifiers.of("http://a.example/", "show", query, _pairs(query)))
    ()
    ('known back',)
    ('known id',)
    >>> for leaf in ("red", "blue"):
    ...     print(identifiers.of("http://a.example/photo/7/in/", leaf, "", ()))
    ()
    ('number known',)
    >>> for session in ("3fa7c01d9e", "9c2e77ab04"):
    ...     print(identifiers.of(f"http://a.example/{session}/", "show", "id=7", [("id", "#n")]))
    ('new but for tokens',)
    ('known but for tokens', 'met id')
    """

    def __init__(self) -> None:
        self.tags = bytearray(MASK + 1)
        """A hash table with 8 more bits of the last hash in each slot. An overwritten entry counts
        as new."""

    def of(self, folder: str, leaf: str, query: str, pairs: _Query) -> tuple[str, ...]:
        """Return the features of a URL, split by :func:`split_url`, and remember it.

        A URL that is new apart from its tokens gets a feature for that. Else the first link to the
        next page of a list would be predicted to be as poor as all later links to it.

        :param pairs: the names and values of its parameters, from :func:`fold`.
        """
        path = folder + leaf
        bare = _folder(folder)[2] + _without_tokens(leaf)
        has_tokens = bare != path
        known = []
        record = _UP_TO_NUMBER.match(path)
        # With newlines, lest it be taken for a URL that is known but for tokens.
        if record and self._is_known(f"{record[0]}\n\n"):
            known.append("number known")
        pieces = [query]
        if "=" in query and _DIGIT.search(query):
            pieces = _SEPARATOR.split(query)[:_MAX_PARAMETERS]
            for number, (name, value) in enumerate(pairs):
                if "#" not in value:
                    continue
                piece = pieces[number]
                if self._is_known(f"{path}?{piece}"):
                    known.append(f"known {name}")
                elif bare != path and self._is_known(f"{bare}?{piece}"):
                    known.append(f"met {name}")
                if value != "#n" and _may_have_token(value):
                    pieces[number] = _without_tokens(piece)
                    has_tokens = has_tokens or pieces[number] != piece
        if has_tokens:
            # With a newline, lest a query of one parameter be taken for that parameter.
            is_known = self._is_known(f"{bare}\n{'&'.join(pieces)}")
            known.append(f"{'known' if is_known else 'new'} but for tokens")
        return tuple(sorted(known))

    def _is_known(self, text: str) -> bool:
        """Tell whether *text* was met before, and remember it."""
        number = crc32(text.encode("utf-8", "replace"))
        place, tag = number & MASK, number >> 24 or 1
        is_known = self.tags[place] == tag
        self.tags[place] = tag
        return is_known


class UrlFeatures:
    """Makes features of URLs, and counts how often it met their texts.

    Each feature is made twice, for its host and for all hosts, so that a new host starts with what
    others taught. Rare texts share two features, "never met" and "met in another URL": that is all
    that can be learned about them. It distinguishes an article, such as ``/knitting``, from its
    print view or its place in a search, since features of the very same URL are not asked for
    again.

    >>> features = UrlFeatures()
    >>> urls = [f"http://a.example/post/{n}?page=2" for n in range(9)]
    >>> one, other = [features.of(url) for url in urls][-2:]
    >>> one == other, one == features.of("http://a.example/post/7?sort=2")
    (True, False)
    """

    def __init__(self) -> None:
        self.counts = bytearray(MASK + 1)
        """How often each hash was met of late, at most 255."""
        self.identifiers = KnownIdentifiers()
        self._met = 0
        # Features by all that determines them, if none of the texts is nearly rare: most pages have
        # the same links.
        self._known: dict[tuple[object, ...], Features] = {}

    def of(self, url: str, context: tuple[str, ...] = (), linked_by: bytes = b"") -> Features:
        """Return the features of *url*.

        :param context: more features, as texts, of the link or of the page with the link.
        :param linked_by: the coarse features of the page with the link.
        """
        return self.of_split(*split_url(url), context, linked_by)

    def of_split(
        self, folder: str, leaf: str, query: str, context: tuple[str, ...], linked_by: bytes
    ) -> Features:
        """Return the features of a URL as :func:`split_url` returns it; see :meth:`of`."""
        host, above, bare = _folder(folder)
        last = fold(leaf) if host else leaf
        pairs = _pairs(query) if query else ()
        if (
            query
            or bare != folder
            or last in _NUMBERS
            or not _NUMBERS.isdisjoint(above)
            or ("#" in last and _may_have_token(last))
        ):
            context += self.identifiers.of(folder, leaf, query, pairs)
        asked = (host, above, last, pairs, context, linked_by)
        known = self._known.get(asked)
        if known:
            return known
        features, least = self._made(_parts(host, above, last, pairs), context, linked_by)
        # At least twice, so that the entry is still right when all counts are halved.
        if least >= 2 * RARE:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[asked] = features
        return features

    def _made(
        self, parts: _Parts, context: tuple[str, ...], linked_by: bytes
    ) -> tuple[Features, int]:
        """Return the features, and the least count of the texts."""
        host, path, query = parts
        of_host = _of_host(host)
        coarse = _shape_of(path, query, of_host)
        if coarse == linked_by:
            context = (*context, "from its own kind")
        if self._met >= _YOUNG:
            self._met = 0
            self.counts[:] = self.counts.translate(_HALVED)
            self._known.clear()
        of_texts, least, number = note_texts(self.counts, path, query, of_host)
        self._met += number
        return Features(coarse, _with_kind(coarse + _hashed(context, of_host) + of_texts)), least

    def renewed(self, url: str, features: Features) -> bytes:
        """Return what :attr:`Features.all` of *url* would be now; empty if it has not changed.

        A text that was rare when its features were made may have been met often since.

        >>> features = UrlFeatures()
        >>> urls = [f"http://a.example/api/class.{name}.html" for name in "abcdefg"]
        >>> first, *_, last = map(features.of, urls)
        >>> features.renewed(urls[0], first) == last.all
        True
        >>> features.renewed(urls[-1], last)
        b''
        """
        own = _of_texts(url)
        begin = len(features.all) - len(own) - _SIZE
        if begin < len(features.coarse):
            # If very many kinds wait, requests have the features of their shape only.
            return b""
        of_texts = features.all[begin : begin + len(own)]
        if of_texts == own:
            return b""
        numbers, others = unpacked(of_texts), unpacked(own)
        for at in range(0, len(others), 2):
            # Once was for this URL itself.
            if self.counts[others[at + 1]] > RARE:
                numbers[at : at + 2] = others[at : at + 2]
        renewed = packed(numbers)
        return b"" if renewed == of_texts else _with_kind(features.all[:begin] + renewed)


@lru_cache(_KEPT_OF_FETCHED)
def _of_texts(url: str) -> bytes:
    """Return the packed features of the texts in *url* as if none was rare, two for each."""
    folder, leaf, query = split_url(url)
    host, above, _ = _folder(folder)
    host, path, pairs = _parts(host, above, fold(leaf) if host else leaf, _pairs(query))
    return hash_texts(path, pairs, _of_host(host))


def _with_kind(features: bytes) -> bytes:
    """Return packed *features* followed by one for their combination."""
    # Making an array of one number takes several times as long.
    return features + (crc32(features) & MASK).to_bytes(_SIZE, byteorder)


def _without_tokens(text: str) -> str:
    """Return *text* without hashes, UUIDs and tokens.

    >>> _without_tokens("(S(0a1b2c3d4e5f6a7b))"), _without_tokens("part-12-of-1234567")
    ('(S())', 'part-12-of-1234567')
    """
    return _TOKEN.sub("", text) if len(text) >= _LEAST_HASH else text


def _may_have_token(folded: str) -> bool:
    """Tell whether a *folded* text may have a token, and not just one number or date.

    That is faster than searching each title that has a number.
    """
    return folded.count("#") > 1 or ("#n" not in folded and "#d" not in folded)


# Cached what a site has few of: hashing it again for each link took most of the time.


@lru_cache(_KEPT)
def _of_host(host: str) -> int:
    return crc32(host.encode("utf-8", "replace")) * SPREAD


@lru_cache(_KEPT)
def _hashed(texts: tuple[str, ...], of_host: int) -> bytes:
    numbers: list[int] = []
    for text in texts:
        number = crc32(text.encode("utf-8", "replace"))
        numbers += (number & MASK, (number * SPREAD ^ of_host) >> 7 & MASK)
    return packed(numbers)


def _parts(host: str, above: _Path, last: str, pairs: _Query) -> _Parts:
    """Return the host, the path segments and the parameters of a URL.

    :param host: from :func:`_folder`, like the segments *above* the last one.
    :param last: the last segment; or the host, if *host* is empty because the last slash of the URL
        is that of the scheme.
    """
    return (host, (*above, last), pairs) if host else (last, ("",), pairs)


def _pairs(query: str) -> _Query:
    """Return the names and values of the parameters of *query*, from :func:`fold`."""
    if not query:
        return ()
    if "=" not in query:
        # Search words (RFC 3875, section 4.4). As values: each may be of one page only, and as a
        # name would make a shape of its own.
        words = filter(None, _NO_WORD.split(query))
        return tuple(("", fold(word)) for word in islice(words, _MAX_PARAMETERS))
    pairs = []
    for piece in _SEPARATOR.split(query)[:_MAX_PARAMETERS]:
        name, _, value = piece.partition("=")
        pairs.append((_folded(name), fold(value)))
    return tuple(pairs)


@lru_cache(_KEPT)
def _folder(text: str) -> tuple[str, _Path, str]:
    """Return the host and the folded segments of a URL up to its last slash.

    The third value is that part of the URL without tokens.
    """
    host, *segments = text.partition("://")[2].split("/")[:-1] or [""]
    return host, tuple(map(fold, segments[: _MAX_SEGMENTS - 1])), _without_tokens(text)


def _shape_of(path: _Path, query: _Query, of_host: int) -> bytes:
    """Return the packed features of the shape of a URL; a site has few shapes."""
    leaf = path[-1]
    extension = leaf.rpartition(".")[2][:8] if "." in leaf else ""
    names = tuple(sorted({name for name, _ in query})) if query else ()
    # Search words count as one: any number would make a shape of its own.
    number = 1 if names == ("",) else len(query)
    if len(path) > 1:
        return _shape(path[0], len(path), extension, number, names, of_host)
    kind = "w" if leaf.isalpha() else _WORD.sub("", leaf)[:8]
    return _shape(None, kind, extension, number, names, of_host)


@lru_cache(_KEPT)
def _shape(  # noqa: PLR0917 - all that a shape is
    first: str | None,
    kind: str | int,
    extension: str,
    number: int,
    names: tuple[str, ...],
    of_host: int,
) -> bytes:
    texts = [
        "any",
        f"shape {kind} {extension}",
        f"number {number}",
        f"file {extension}" if first is None else f"first {first}",
    ]
    if number:
        texts += [f"names {' '.join(names)}", *(f"name {name}" for name in names)]
    return _hashed(tuple(texts), of_host)
