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
"""After so many texts all counts are halved. In a broad crawl each of the places would else have
had its four texts after a million URLs, and no text would be rare."""
_MAX_SEGMENTS, _MAX_PARAMETERS, _MAX_TOKEN = 6, 12, 60
_LEAST_HASH, _LEAST_UUID = 7, 36
_SIZE: Final = len(packed([0]))
_KEPT: Final = 1 << 12
_KEPT_OF_FETCHED: Final = 1 << 6
"""Of what was fetched two models learn, some pages apart."""

_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_FOLDED = re.compile(
    rf"(?P<u>{_UUID.pattern})"
    r"|(?P<d>(?<!\d)\d{4}[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:[0-2]\d|3[01])(?!\d))"
    r"|(?P<h>(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{7,}(?![0-9a-z]))"
    r"|(?P<t>(?<![0-9a-z])(?=[a-z]*\d)[0-9a-z]{16,}(?![0-9a-z]))"
    r"|(?P<n>\d+)"
)
# Of letters and digits both, since a number may be that of a record, and if short by turns.
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
    r"|(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{7,}"
    r"|(?=(?:[0-9]+[A-Za-z]+){2}|(?:[A-Za-z]+[0-9]+){2})[0-9A-Za-z]{8,})(?![0-9A-Za-z])"
)
_SEPARATOR = re.compile(r"[&;]")
_DIGIT = re.compile("[0-9]")
_ANY_DIGIT = re.compile(r"\d")
_NUMBER = re.compile("[0-9]+")
# How a date begins, and what may be a hash or a token.
_DATE_OR_LONG = re.compile(f"[0-9]{{4}}[-_.]?[01][0-9]|[0-9a-z]{{{_LEAST_HASH},}}")
_WORD = re.compile(r"[^a-z%]")
_NO_WORD = re.compile(r"[^\w%-]+")


class Features(NamedTuple):
    """What is learned from of one request, packed: as numbers they take nine times as much."""

    coarse: bytes
    """Of the shape of the URL alone: few kinds of these are on a site."""
    all: bytes
    """These and finer ones, and last that of all together; requests with the same ones wait in one
    queue."""


def feature_of(text: str) -> int:
    """Return the number of *text* as a feature of all hosts."""
    return unpacked(_hashed((text,), 0))[0]


def fold(text: str) -> str:
    """Return *text* in small letters, with digits, hashes, UUIDs and dates as one letter each.

    >>> fold("Page-12"), fold("3f2a9c01"), fold("2024-05-17"), fold("cafe")
    ('page-#n', '#h', '#d', 'cafe')
    >>> fold("123456"), fold("1234567"), fold("knitting-2024-05-17"), fold("knitting-7")
    ('#n', '#h', 'knitting-#d', 'knitting-#n')
    """
    # Numbers without end, and titles, would drive all else from what is kept.
    if len(text) < _LEAST_HASH and text.isdecimal():
        return "#n"
    if len(text) < _LEAST_UUID and text.replace("-", "").isalpha():
        return text.lower()
    return _folded(text)


@lru_cache(_KEPT)
def _folded(text: str) -> str:
    text = text[:_MAX_TOKEN].lower()
    # To look for all of these in a title took most of what it costs to know its URL.
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
    """Tells how URLs stand to that of the page that links them, as a feature of the link.

    The print view, the edit form and the next page of what is shown add something to its URL,
    whatever they are called on this site.

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
        """Return how a URL stands to the page, by what :func:`split_url` returns of it."""
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
    """Tells whether an earlier URL had the same numbers, or was the same apart from its tokens.

    For the other features all numbers are one token. But the second URL with ``id=7`` is one more
    way to a record that waits already, while one with ``id=8`` is another record. And if all links
    of a page have the session of a visit in them, no URL is known, but the rest of it is.

    >>> identifiers = KnownIdentifiers()
    >>> for query in ("id=7&back=/list?page=1", "id=8&back=/list?page=1", "id=7&back=/all"):
    ...     print(identifiers.of("http://a.example/", "show", query, _pairs(query)))
    ()
    ('known back',)
    ('known id',)
    >>> for session in ("3fa7c01d9e", "9c2e77ab04"):
    ...     print(identifiers.of(f"http://a.example/{session}/", "show", "id=7", [("id", "#n")]))
    ('new but for tokens',)
    ('known but for tokens', 'met id')
    """

    def __init__(self) -> None:
        self.tags = bytearray(MASK + 1)
        """A hash table: at each place 8 further bits of the hash that was met last there. An old
        one may be overwritten, and is then taken for new, as if nothing was known about it."""

    def of(self, folder: str, leaf: str, query: str, pairs: _Query) -> tuple[str, ...]:
        """Return these features of a URL, in parts of :func:`split_url`; it is known from now on.

        A URL that is new apart from its tokens has a feature for that: otherwise the first link to
        the next page of a list would be expected to bring as little as all further links to it.

        :param pairs: names and values of its parameters, folded.
        """
        path = folder + leaf
        bare = _folder(folder)[2] + _without_tokens(leaf)
        has_tokens = bare != path
        known = []
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
            # With a newline, so that a query of one parameter is not taken for that parameter.
            is_known = self._is_known(f"{bare}\n{'&'.join(pieces)}")
            known.append(f"{'known' if is_known else 'new'} but for tokens")
        return tuple(sorted(known))

    def _is_known(self, text: str) -> bool:
        """Tell whether *text* was met; it is known from now on."""
        number = crc32(text.encode("utf-8", "replace"))
        place, tag = number & MASK, number >> 24 or 1
        is_known = self.tags[place] == tag
        self.tags[place] = tag
        return is_known


class UrlFeatures:
    """Makes features of URLs, and remembers how often it has met what.

    Each feature counts twice: as one of its host, and as one of all hosts. So a new host starts
    where the others are. Texts that were rare so far share two features: whether one was met
    before is all that can be learned of them. It tells the print view of an article, or its place
    in another search, from the article, since the very same URL is not asked about again.

    >>> features = UrlFeatures()
    >>> urls = [f"http://a.example/post/{n}?page=2" for n in range(9)]
    >>> one, other = [features.of(url) for url in urls][-2:]
    >>> one == other, one == features.of("http://a.example/post/7?sort=2")
    (True, False)
    """

    def __init__(self) -> None:
        self.counts = bytearray(MASK + 1)
        """How often each hash was met of late, up to 255."""
        self.identifiers = KnownIdentifiers()
        self._met = 0
        # By all that tells URLs apart, where no text is near to be rare: the links of a page are
        # alike, and most pages have the same ones.
        self._known: dict[tuple[object, ...], Features] = {}

    def of(self, url: str, context: tuple[str, ...] = (), linked_by: bytes = b"") -> Features:
        """Return the features of *url*.

        :param context: further ones, of the link or of the page with the link.
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
        if query or bare != folder or ("#" in last and last != "#n" and _may_have_token(last)):
            context += self.identifiers.of(folder, leaf, query, pairs)
        asked = (host, above, last, pairs, context, linked_by)
        known = self._known.get(asked)
        if known:
            return known
        features, least = self._made(_parts(host, above, last, pairs), context, linked_by)
        # Twice as often: they are known until all counts are halved.
        if least >= 2 * RARE:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[asked] = features
        return features

    def _made(
        self, parts: _Parts, context: tuple[str, ...], linked_by: bytes
    ) -> tuple[Features, int]:
        """Return features, and how often the text was met that was met least often."""
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
        """Return all *features* of *url* as they would be now, or nothing where they still are so.

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
            # Where very many kinds wait, requests are told apart by their shape alone.
            return b""
        of_texts = features.all[begin : begin + len(own)]
        if of_texts == own:
            return b""
        numbers, others = unpacked(of_texts), unpacked(own)
        for at in range(0, len(others), 2):
            # It was met once for this URL itself.
            if self.counts[others[at + 1]] > RARE:
                numbers[at : at + 2] = others[at : at + 2]
        renewed = packed(numbers)
        return b"" if renewed == of_texts else _with_kind(features.all[:begin] + renewed)


@lru_cache(_KEPT_OF_FETCHED)
def _of_texts(url: str) -> bytes:
    """Return the features of the texts in *url* where none is rare, packed: two of each."""
    folder, leaf, query = split_url(url)
    host, above, _ = _folder(folder)
    host, path, pairs = _parts(host, above, fold(leaf) if host else leaf, _pairs(query))
    return hash_texts(path, pairs, _of_host(host))


def _with_kind(features: bytes) -> bytes:
    """Return packed *features*, and after them that of all of them together."""
    # An array of one takes several times as long.
    return features + (crc32(features) & MASK).to_bytes(_SIZE, byteorder)


def _without_tokens(text: str) -> str:
    """Return *text* without the hashes, UUIDs and tokens in it.

    >>> _without_tokens("(S(0a1b2c3d4e5f6a7b))"), _without_tokens("part-12-of-1234567")
    ('(S())', 'part-12-of-1234567')
    """
    return _TOKEN.sub("", text) if len(text) >= _LEAST_HASH else text


def _may_have_token(folded: str) -> bool:
    """Tell whether there may be a token in what is *folded*, and not just one number, or one date.

    To look for one in each title with a number takes longer.
    """
    return folded.count("#") > 1 or ("#n" not in folded and "#d" not in folded)


# What a site has few of is kept: to hash it again for each link took most of the time.


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
    """Return host, segments of the path and names and values of the parameters of a URL.

    :param host: as :func:`_folder` returns it, as the segments *above* the last one.
    :param last: its last segment, or its host where there is no path: then the last slash is that
        of the scheme.
    """
    return (host, (*above, last), pairs) if host else (last, ("",), pairs)


def _pairs(query: str) -> _Query:
    """Return names and values of the parameters of *query*."""
    if not query:
        return ()
    if "=" not in query:
        # Words that are searched for (RFC 3875, section 4.4): each may be of one page alone, and as
        # a name each would make a shape of its own.
        words = filter(None, _NO_WORD.split(query))
        return tuple(("", fold(word)) for word in islice(words, _MAX_PARAMETERS))
    pairs = []
    for piece in _SEPARATOR.split(query)[:_MAX_PARAMETERS]:
        name, _, value = piece.partition("=")
        pairs.append((_folded(name), fold(value)))
    return tuple(pairs)


@lru_cache(_KEPT)
def _folder(text: str) -> tuple[str, _Path, str]:
    """Return the host, and the segments above the last one, of a URL up to its last slash.

    And all of that without the tokens in it.
    """
    host, *segments = text.partition("://")[2].split("/")[:-1] or [""]
    return host, tuple(map(fold, segments[: _MAX_SEGMENTS - 1])), _without_tokens(text)


def _shape_of(path: _Path, query: _Query, of_host: int) -> bytes:
    """Return packed features of what tells kinds of URLs apart: of each there are few on a site."""
    leaf = path[-1]
    extension = leaf.rpartition(".")[2][:8] if "." in leaf else ""
    names = tuple(sorted({name for name, _ in query})) if query else ()
    # A title has any number of words: each would make a shape of its own.
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
