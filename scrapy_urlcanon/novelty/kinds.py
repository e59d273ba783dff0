"""Kinds of URLs, as a reader names them: how much of a crawl each took, and what it brought."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote_plus, unquote_plus

from attrs import asdict, define, field, frozen

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SEPARATOR = re.compile(r"[&;]")
_WORD = re.compile(r"[a-zA-Z][a-zA-Z_-]*(?:\.[a-zA-Z]{2,5})?")
_PORT = re.compile(r":\d*$", re.ASCII)
_PLACE = re.compile(r"\{\d+\}", re.ASCII)
# What a template takes as it is.
_PLAIN = re.compile(r"[a-zA-Z0-9._~@-]+")
# And in the names of parameters, besides.
_SAFE: Final = "!$'()*,:@[]~"
MAX_KINDS: Final = 5_000
_MAX_SEGMENTS, _MAX_NAMES, _MAX_TEXT = 6, 12, 40
_KEPT: Final = 1 << 8
"""The pages that link most of what is fetched are few at a time."""
OTHER: Final = "other"

_SOME: Final = 20
"""Of fewer fetches nothing is said."""
_MUCH: Final = 0.2
"""A kind brings much where so many of its fetches do."""
_FIRST: Final = 3
"""So many pages of a kind at most have news because they are the first of it, as the first form to
log in, and they are among its first quarter."""
_MAX_FOUND: Final = 10_000
"""Of so many pages it is known where they were found."""
_MAX_WAYS: Final = 16
"""So many ways are known in which some parameters of a kind have values and others have none, as
many as four filters have."""


_Place: TypeAlias = "tuple[str, str]"


class Kind(NamedTuple):
    """A kind of URLs: those of a host with one shape of path and the same parameters.

    >>> kind_of("http://a.example/w/index.php?title=One&oldid=7").text
    'a.example/w/index.php?oldid=&title='
    >>> kind_of("http://a.example/calendar/2024/05/").text
    'a.example/calendar/{1:digits}/{2:digits}/'
    """

    host: str
    path: str
    names: tuple[str, ...]

    @property
    def place(self) -> _Place:
        """Its host and its path."""
        return self.host, self.path

    @property
    def text(self) -> str:
        """The kind as one text."""
        query = "&".join(f"{name}=" for name in self.names)
        return f"{self.host}{self.path}{'?' if query else ''}{query}"


@define
class Tally:
    """What came of a kind."""

    fetches: int = 0
    new: int = 0
    with_news: int = 0
    led: int = 0
    """How many pages with news were found on one of it, or on what was found there, and so on."""
    shown: int = 0
    """How many of its pages the server did show: another one may have something all the same."""
    until: int = 0
    """How many of it were fetched when it last brought something, or led to it."""
    texts: tuple[str, ...] = ()
    """What all of its URLs have in each segment of the path; empty where they differ."""
    urls: dict[str, str] = field(factory=dict)
    """By the parameters that have a value the first one of them, to try on what would end them."""

    @property
    def is_trap(self) -> bool:
        """Whether it brought next to nothing, and led to nothing, as far as can be told.

        Lists have no items, and a page of thumbnails no text: without them nothing else is found.
        """
        return self.fetches >= _SOME and self.with_news + self.led <= self.fetches // 50

    @property
    def may_end(self) -> bool:
        """Whether a rule that ends it would end nothing that is wanted, as far as can be told.

        A trap may bring something on one of fifty pages, or have done so until the server refused.
        """
        return (
            self.is_trap
            and self.with_news + self.led <= _FIRST
            and self.until <= self.fetches // 4
            and self.shown > self.fetches // 2
        )

    @property
    def is_kept(self) -> bool:
        """Whether a rule against another kind is to leave it alone."""
        much = self.fetches >= _SOME or self.with_news + self.led > self.fetches * _MUCH
        return much and not self.may_end

    def came(self) -> None:
        """Note that the last one of it brought something, or led to it."""
        self.until = self.fetches


@frozen
class Trap:
    """A kind that took many fetches and brought little."""

    kind: str
    fetches: int
    new: int
    setting: str
    """A line of configuration that would end it; empty where none would, or where it would end what
    brings something."""


def kind_of(url: str) -> Kind:
    """Return the kind of *url*."""
    return _parts(url)[0]


@lru_cache(_KEPT)
def _parts(url: str) -> tuple[Kind, tuple[str, ...], str]:
    """Return the kind of *url*, the segments of its path, and which parameters have a value."""
    rest = url.partition("#")[0].partition("://")[2]
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    # Who logs in is nobody's to see.
    host = authority.rpartition("@")[2]
    segments = tuple(path.split("/")[:_MAX_SEGMENTS])
    shape = "/".join(_shape(number, segment) for number, segment in enumerate(segments))
    pieces = [piece.partition("=") for piece in _SEPARATOR.split(query) if piece]
    pairs = sorted((unquote_plus(name), value) for name, _, value in pieces)
    names = [*dict.fromkeys(name for name, _ in pairs)][:_MAX_NAMES]
    filled = "&".join(name for name, value in pairs if value)
    return Kind(host[:100], f"/{shape}", tuple(names)), segments, filled


def _shape(number: int, segment: str) -> str:
    if not segment:
        return ""
    if segment.isdecimal():
        return f"{{{number}:digits}}"
    # A word that stands first, or names a script, is the site's; any other one may be a title.
    if _WORD.fullmatch(segment) and (number == 0 or "." in segment):
        return segment[:_MAX_TEXT]
    return f"{{{number}}}"


class Kinds:
    """Tallies of kinds, of a bounded number; all others count as one."""

    def __init__(self) -> None:
        self.tallies: dict[Kind, Tally] = {}
        # Where pages without news were found that have not led to any yet.
        self._found_on: dict[str, str] = {}

    @property
    def fetches(self) -> int:
        """How many fetches were noted."""
        return sum(tally.fetches for tally in self.tallies.values())

    def state(self) -> bytearray:
        """Return all that was noted, as bytes."""
        tallies = [(kind, asdict(tally)) for kind, tally in self.tallies.items()]
        return bytearray(json.dumps((tallies, self._found_on)).encode())

    def restore(self, state: bytes) -> None:
        """Go on from what :meth:`state` returned.

        >>> kinds, later = Kinds(), Kinds()
        >>> kinds.note("http://a.example/tag/7", 0, has_news=False)
        >>> later.restore(kinds.state())
        >>> later.tallies == kinds.tallies
        True
        """
        tallies, self._found_on = json.loads(state)
        self.tallies = {
            Kind(host, path, tuple(names)): Tally(**{**tally, "texts": tuple(tally["texts"])})
            for (host, path, names), tally in tallies
        }

    def note(
        self,
        url: str,
        new: int,
        *,
        has_news: bool,
        is_shown: bool = True,
        found_on: str = "",
    ) -> None:
        """Note what came of *url*.

        :param url: as it is canonical: that is what rules are held against.
        :param is_shown: the server showed what is there, or said that nothing is.
        :param found_on: the page that links it, as it is canonical; empty where it is not known.
        """
        kind, segments, filled = _parts(url)
        tally = self.tallies.get(kind)
        if tally is None:
            if len(self.tallies) >= MAX_KINDS:
                kind, segments = Kind(OTHER, "", ()), ()
            tally = self.tallies.setdefault(kind, Tally(texts=segments))
        if tally.texts != segments:
            pairs = zip(tally.texts, segments, strict=True)
            tally.texts = tuple([one if one == other else "" for one, other in pairs])
        if len(tally.urls) < _MAX_WAYS:
            tally.urls.setdefault(filled, url)
        tally.fetches += 1
        tally.new += new
        tally.with_news += has_news
        tally.shown += is_shown
        if has_news:
            tally.came()
            self._led(found_on)
        elif found_on:
            self._found_on[url] = found_on
            if len(self._found_on) > _MAX_FOUND:
                del self._found_on[next(iter(self._found_on))]

    def _led(self, url: str) -> None:
        """Note that a page with news was found on that of *url*.

        A list of years leads to what the lists of its days name. But of a chain, as that of the
        days of a calendar, all together have led there once: it may be without end.
        """
        kinds = set()
        while url:
            kind = kind_of(url)
            tally = self.tallies.get(kind)
            if tally and kind not in kinds:
                tally.led += 1
                tally.came()
            kinds.add(kind)
            # What lies above it has led to all that is found by way of this page.
            url = self._found_on.pop(url, "")

    def traps(self, least_fetches: int = _SOME) -> Iterator[Trap]:
        """Yield the kinds that brought next to nothing, those with the most fetches first."""
        found = [
            (kind, tally)
            for kind, tally in self.tallies.items()
            if tally.fetches >= least_fetches and tally.is_trap and kind.host != OTHER
        ]
        if not found:
            return
        others = _Others(self.tallies)
        dropped = {place: others.dropped_at(place) for place in {kind.place for kind, _ in found}}
        for kind, tally in sorted(found, key=lambda item: (-item[1].fetches, item[0].text)):
            path = _with_texts(kind.path, tally.texts)
            setting = ""
            if tally.may_end and not _is_open(kind, path) and not others.are_ended_with(kind, path):
                setting = _setting(kind, path, [*tally.urls.values()], dropped[kind.place])
            yield Trap(kind.text, tally.fetches, tally.new, setting)


class _Others:
    """The kinds that may not end, which a rule against one that may is to leave alone."""

    def __init__(self, tallies: Mapping[Kind, Tally]) -> None:
        self._kinds: list[Kind] = []
        # The parameters of those that may end.
        self._of_traps: dict[_Place, set[str]] = {}
        # Those that are to be left alone, by their parameters.
        self._kept: dict[tuple[str, ...], list[Kind]] = {}
        self._places: set[_Place] = set()
        for kind, tally in tallies.items():
            if tally.may_end:
                self._of_traps.setdefault(kind.place, set()).update(kind.names)
                continue
            self._kinds.append(kind)
            if tally.with_news > tally.fetches * _MUCH:
                self._places.add(kind.place)
            if tally.is_kept:
                self._kept.setdefault(kind.names, []).append(kind)

    def are_ended_with(self, trap: Kind, path: str) -> bool:
        """Tell whether what ends a *trap* would end one that brings something.

        :param path: that of the trap, with the texts that all of its URLs have.
        """
        return any(
            _is_of(kind.host, trap.host) and _fits(path, kind.path)
            for kind in self._kept.get(trap.names, ())
        )

    def dropped_at(self, place: _Place) -> set[str]:
        """Return the names of the parameters that a rule for a host and a path would drop.

        Those are the ones that only traps have: other URLs may have any that none was met with yet,
        as the parts of a list that come last. Of a listing a few parts may be all there are, and
        bring nothing but their links. A rule is one for all that lies below, too: that of the front
        page would be for the whole site.

        :returns: none where none of the URLs bring much.
        """
        host, path = place
        if place not in self._places or path == "/":
            return set()
        below = f"{path.rstrip('/')}/"
        kept = {
            name
            for kind in self._kinds
            if f"{kind.path}/".startswith(below) and _is_of(kind.host, host)
            for name in kind.names
        }
        # These stand for other names.
        special = {name for name in self._of_traps.get(place, ()) if "*" in name or name[:1] == "!"}
        return self._of_traps.get(place, set()) - kept - special


def _is_of(host: str, other: str) -> bool:
    """Tell whether a rule for the host *other* is one for *host*: for all ports, and subdomains.

    >>> _is_of("www.a.example:8080", "a.example"), _is_of("a.example", "www.a.example")
    (True, False)
    """
    host, other = _PORT.sub("", host), _PORT.sub("", other)
    return host == other or host.endswith(f".{other}")


def _with_texts(path: str, texts: tuple[str, ...]) -> str:
    """Return the path of a kind with what all of its URLs have in the places for texts.

    >>> _with_texts("/{0}/{1}/", ("_accounts", "", ""))
    '/_accounts/{1}/'
    """
    parts = zip(path[1:].split("/"), texts, strict=True)
    return "/" + "/".join(
        text if _PLACE.fullmatch(part) and _PLAIN.fullmatch(text) else part for part, text in parts
    )


def _is_open(kind: Kind, path: str) -> bool:
    """Tell whether a path with places for texts takes any other one of as many segments.

    >>> [_is_open(kind_of(f"http://a.example{path}"), path)
    ...     for path in ("/{0}/{1}/", "/{0}/likes/", "/{0}/{1:digits}")]
    [True, False, False]
    """
    return not kind.names and all(map(_PLACE.fullmatch, filter(None, path.split("/"))))


def _fits(path: str, other: str) -> bool:
    """Tell whether a path with places for texts takes any of what is of the kind of another.

    >>> _fits("/{0}/{1}/", "/articles/{1:digits}/"), _fits("/{0}/{1}/", "/articles/")
    (True, False)
    >>> _fits("/articles/{1}", "/articles/")
    False
    >>> _fits("/{0:digits}/forum", "/{0:digits}/{1}"), _fits("/{0:digits}", "/{0}")
    (True, False)
    """
    parts, others = path.split("/"), other.split("/")
    return len(parts) == len(others) and all(
        part == its
        or (its and _PLACE.fullmatch(part))
        or ("{" not in part and part and _PLACE.fullmatch(its))
        for part, its in zip(parts, others, strict=True)
    )


def _setting(kind: Kind, path: str, urls: Sequence[str], dropped: set[str]) -> str:
    """Return a line for ``URLCANON_RULES`` that would end *kind*; empty where there is none.

    Where URLs of the same path bring much, the parameters are dropped that only those have which
    are known to bring next to nothing; else the kind is not fetched at all. No template has a
    parameter twice, and a kind does not have all of a long URL: such a line would end nothing, or
    another page.

    :param path: that of the kind, with the texts that all of its URLs have.
    :param urls: of the kind, one for each way in which its parameters are filled in.
    :param dropped: the names of these parameters, as of :meth:`_Others.dropped_at`.
    """
    # A pattern is for all ports.
    pattern = _PORT.sub("", kind.host)
    if not dropped.isdisjoint(kind.names) and "{" not in kind.path:
        pattern, option, entries = pattern + kind.path, "drop_params", sorted(dropped)
        if not _ends(urls[0], pattern, option, entries):
            return ""
    else:
        option = "skip"
        templates = [(_template(kind, path, url), url) for url in urls]
        entries = [each for each, url in templates if _ends(url, pattern, option, [each])]
        if not entries:
            return ""
    return f"{_quoted(pattern)}: {{{_quoted(option)}: {_list(entries)}}},"


def _template(kind: Kind, path: str, url: str) -> str:
    """Return the template of a kind. A place takes no empty value, so that these stand there."""
    query = _SEPARATOR.sub("&", url.partition("?")[2])
    values = dict(parse_qsl(query, keep_blank_values=True))
    params = [
        f"{quote_plus(name, safe=_SAFE)}={f'{{q{number}}}' if values.get(name) else ''}"
        for number, name in enumerate(kind.names)
    ]
    path = re.sub(r"\{(\d)", r"{p\1", path)
    return f"{path}{'?' if params else ''}{'&'.join(params)}"


def _ends(url: str, pattern: str, option: str, entries: list[str]) -> bool:
    """Tell whether a rule does what it is meant to do to *url*.

    >>> _ends("http://a.example/c?x=1", "a.example", "skip", ["/c?x={x}"])
    True
    >>> _ends("http://a.example/c?x=1&x=2", "a.example", "skip", ["/c?x={x}"])
    False
    """
    try:
        canonicalizer = Canonicalizer({pattern: {option: entries}}, preset="scrapy")
    except ConfigurationError:
        return False
    if option == "skip":
        return canonicalizer.skips(url) is not None
    return canonicalizer.canonicalize(url) != Canonicalizer(preset="scrapy").canonicalize(url)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _list(texts: list[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"
