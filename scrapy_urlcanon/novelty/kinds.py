"""Counts fetches and news by kind of URL, and finds crawler traps among the kinds."""

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
# Texts that need no quoting in a template.
_PLAIN = re.compile(r"[a-zA-Z0-9._~@-]+")
# More characters that need none in the names of parameters.
_SAFE: Final = "!$'()*,:@[]~"
MAX_KINDS: Final = 5_000
_MAX_SEGMENTS, _MAX_NAMES, _MAX_TEXT = 6, 12, 40
_KEPT: Final = 1 << 8
"""Cache size: few pages at a time link most of what is fetched."""
OTHER: Final = "other"

_SOME: Final = 20
"""Kinds with fewer fetches are not judged."""
_MUCH: Final = 0.2
"""A kind brings much if more than this share of its fetches has news."""
_FIRST: Final = 3
"""How many pages of a trap may have news, all within the first quarter of its fetches: the first
login form is new too."""
_HIDDEN: Final = 10
"""If the server shows less than one of this many pages of a kind, that it refuses the others is
usual."""
_MAX_FOUND: Final = 10_000
"""For how many pages it is remembered which page linked them."""
_MAX_WAYS: Final = 16
"""How many combinations of empty and non-empty parameters of a kind are remembered: those of four
filters."""


_Place: TypeAlias = "tuple[str, str]"


class Kind(NamedTuple):
    """The URLs of one host with the same shape of path and the same parameter names.

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
        """Host and shape of path."""
        return self.host, self.path

    @property
    def text(self) -> str:
        """The kind as text."""
        query = "&".join(f"{name}=" for name in self.names)
        return f"{self.host}{self.path}{'?' if query else ''}{query}"


@define
class Tally:
    """What the fetches of one kind brought."""

    fetches: int = 0
    new: int = 0
    with_news: int = 0
    led: int = 0
    """How many pages with news were linked by a page of the kind, directly or in more steps."""
    shown: int = 0
    """How many of its pages the server did show; a page that it refused may have news all the same.
    """
    until: int = 0
    """The number of fetches when the kind last had news or led to news."""
    texts: tuple[str, ...] = ()
    """The text that all of its URLs have in each path segment; empty where they differ."""
    urls: dict[str, str] = field(factory=dict)
    """The first URL for each combination of parameters with values, on which a rule is tested."""

    @property
    def is_trap(self) -> bool:
        """Whether the kind had nearly no news, and led to none.

        Leading counts, since a list or a page of thumbnails has no text of its own, and without it
        nothing else is found.
        """
        return self.fetches >= _SOME and self.with_news + self.led <= self.fetches // 50

    @property
    def may_end(self) -> bool:
        """Whether the kind can be excluded without losing anything, as far as is known.

        A trap may still have news on one of fifty pages, or have had news until the server refused.
        """
        return (
            self.is_trap
            and self.with_news + self.led <= _FIRST
            and self.until <= self.fetches // 4
            and self.shown > self.fetches // 2
        )

    @property
    def is_kept(self) -> bool:
        """Whether a rule against another kind must not exclude this one."""
        much = self.fetches >= _SOME or self.with_news + self.led > self.fetches * _MUCH
        return much and not self.may_end

    def came(self) -> None:
        """Note that the last fetch had news, or that the kind led to news."""
        self.until = self.fetches


@frozen
class Trap:
    """A kind that took many fetches and had nearly no news."""

    kind: str
    fetches: int
    new: int
    setting: str
    """A line for ``URLCANON_RULES`` that excludes the kind; empty if every one would
    also exclude something useful."""


def kind_of(url: str) -> Kind:
    """Return the kind of *url*."""
    return _parts(url)[0]


@lru_cache(_KEPT)
def _parts(url: str) -> tuple[Kind, tuple[str, ...], str]:
    """Return the kind of *url*, its path segments, and which parameters have values."""
    rest = url.partition("#")[0].partition("://")[2]
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    # Userinfo must not appear in reports.
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
    # A first segment and the name of a script are kept; any other word may be a title.
    if _WORD.fullmatch(segment) and (number == 0 or "." in segment):
        return segment[:_MAX_TEXT]
    return f"{{{number}}}"


class Kinds:
    """Tallies of a bounded number of kinds; all further kinds are counted as one."""

    def __init__(self) -> None:
        self.tallies: dict[Kind, Tally] = {}
        # By URL of a page without news, and that has not led to any yet: the page that links it.
        self._found_on: dict[str, str] = {}

    @property
    def fetches(self) -> int:
        """The number of fetches."""
        return sum(tally.fetches for tally in self.tallies.values())

    def state(self) -> bytearray:
        """Return the whole state as bytes."""
        tallies = [(kind, asdict(tally)) for kind, tally in self.tallies.items()]
        return bytearray(json.dumps((tallies, self._found_on)).encode())

    def restore(self, state: bytes) -> None:
        """Replace the state by what :meth:`state` returned.

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

    def are_shown(self, url: str) -> bool:
        """Tell whether the server usually shows the pages of the kind of *url*."""
        tally = self.tallies.get(kind_of(url))
        return tally is not None and _HIDDEN * tally.shown > tally.fetches

    def note(
        self,
        url: str,
        new: int,
        *,
        has_news: bool,
        is_shown: bool = True,
        found_on: str = "",
    ) -> None:
        """Count a fetch of *url*.

        :param url: the canonical URL, to which rules are applied.
        :param new: how many words on the page are new.
        :param has_news: whether that is enough to be news.
        :param is_shown: whether the server showed the page or said that there is none.
        :param found_on: the canonical URL of the page that links it; empty if it is not known.
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
        """Count that the page of *url*, and those that led to it, led to a page with news.

        A list of years leads to what is linked by the lists of its days. But a chain of pages of
        one kind, such as the days of a calendar, counts once: it may be endless.
        """
        kinds = set()
        while url:
            kind = kind_of(url)
            tally = self.tallies.get(kind)
            if tally and kind not in kinds:
                tally.led += 1
                tally.came()
            kinds.add(kind)
            # Pages above are counted once for all that is found through this page.
            url = self._found_on.pop(url, "")

    def traps(self, least_fetches: int = _SOME) -> Iterator[Trap]:
        """Yield the traps, those with the most fetches first."""
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
    """The kinds that a rule against a trap must not exclude."""

    def __init__(self, tallies: Mapping[Kind, Tally]) -> None:
        self._kinds: list[Kind] = []
        # The parameters of kinds that may be excluded.
        self._of_traps: dict[_Place, set[str]] = {}
        # The kinds to keep, by their parameters.
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
        """Tell whether a rule that excludes a *trap* would also exclude a kind to keep.

        :param path: the path of the trap from :func:`_with_texts`.
        """
        return any(
            _is_of(kind.host, trap.host) and _fits(path, kind.path)
            for kind in self._kept.get(trap.names, ())
        )

    def dropped_at(self, place: _Place) -> set[str]:
        """Return the names of the parameters that a rule for *place* should drop.

        These are parameters that only traps have, if other URLs of the place bring much; else none.
        Since a rule for a path holds for all paths below it, parameters of any kind there are kept,
        and no rule is made for the front page.
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
        # In an option these would be patterns.
        special = {name for name in self._of_traps.get(place, ()) if "*" in name or name[:1] == "!"}
        return self._of_traps.get(place, set()) - kept - special


def _is_of(host: str, other: str) -> bool:
    """Tell whether a rule for the host *other* holds for *host*, on any port or subdomain.

    >>> _is_of("www.a.example:8080", "a.example"), _is_of("a.example", "www.a.example")
    (True, False)
    """
    host, other = _PORT.sub("", host), _PORT.sub("", other)
    return host == other or host.endswith(f".{other}")


def _with_texts(path: str, texts: tuple[str, ...]) -> str:
    """Return the path of a kind with the texts that all of its URLs have in place of fields.

    >>> _with_texts("/{0}/{1}/", ("_accounts", "", ""))
    '/_accounts/{1}/'
    """
    parts = zip(path[1:].split("/"), texts, strict=True)
    return "/" + "/".join(
        text if _PLACE.fullmatch(part) and _PLAIN.fullmatch(text) else part for part, text in parts
    )


def _is_open(kind: Kind, path: str) -> bool:
    """Tell whether a path matches any other path with as many segments.

    >>> [_is_open(kind_of(f"http://a.example{path}"), path)
    ...     for path in ("/{0}/{1}/", "/{0}/likes/", "/{0}/{1:digits}")]
    [True, False, False]
    """
    return not kind.names and all(map(_PLACE.fullmatch, filter(None, path.split("/"))))


def _fits(path: str, other: str) -> bool:
    """Tell whether a path may match URLs with the path of another kind.

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
    """Return a line for ``URLCANON_RULES`` that excludes *kind*; empty if there is none.

    If parameters are *dropped* at its path, the rule drops them; else it skips the kind. Each line
    is tested on *urls*: a template cannot express repeated parameters, nor a URL longer than what a
    kind keeps of it.

    :param path: the path of the kind from :func:`_with_texts`.
    :param urls: one URL of the kind for each combination of empty parameters.
    :param dropped: what :meth:`_Others.dropped_at` returned.
    """
    # A pattern has no port.
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
    """Return the template of a kind. Empty values are literal, as a field matches none."""
    query = _SEPARATOR.sub("&", url.partition("?")[2])
    values = dict(parse_qsl(query, keep_blank_values=True))
    params = [
        f"{quote_plus(name, safe=_SAFE)}={f'{{q{number}}}' if values.get(name) else ''}"
        for number, name in enumerate(kind.names)
    ]
    path = re.sub(r"\{(\d)", r"{p\1", path)
    return f"{path}{'?' if params else ''}{'&'.join(params)}"


def _ends(url: str, pattern: str, option: str, entries: list[str]) -> bool:
    """Tell whether a rule has an effect on *url*: skips it, or changes its canonical URL.

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
