"""Estimates the odds of rules before any pages of a site were compared, for the learner.

They come from the program that the URLs suggest, or from names of parameters that mean the same on
most sites.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.installation import options_at
from scrapy_urlcanon.profiles.known_urls import recognised_by_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.patterns import Pattern
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.profiles.profile import Profile
    from scrapy_urlcanon.profiles.rules import ProfileRule

ODDS: Final[Mapping[str, float]] = {
    "profile": 3.0,
    "view": 0.6,
    "session": 2.2,
    "return address": 3.3,
    "answer": 1.5,
    "print view": 0.6,
    "order": -0.1,
}
"""The natural logarithm of the odds that a suspected rule is right, by kind of suspicion.

They are relative to those of any parameter of any site: of 224 that could be judged on 70 real
sites, 49 could be dropped, with at most 2 % of counter-examples. One right and one wrong case are
added to what was counted. ``benchmarks/profiles/odds.py`` counts them, and computes the odds
without one site or one program; ``benchmarks/profiles/prior.py`` judges each site by the odds
without it.

``profile`` is a rule of a program that the URLs suggest: 16 of 18 were right. ``view`` is such a
rule for other views of the same things: 2 of 7. The others are the meanings of :data:`NAMES`: 4 of
5, 14 of 15, 4 of 7, 1 of 4, and none of 3 for an order, which is another page. Links to parts of
pages are not suspected: a crawl holds them back until a page shows the part, which loses nothing,
while a learned rule would lose what no page shows.
"""

_SESSION = """
    sid phpsessid jsessionid sessionid sessid session oscsid zenid sesskey xtcsid mscssid
    aspnetsessionid cfid cftoken
"""
_RETURN = """
    return returnto returnurl returnuri returnpath returntoquery back backurl backto camefrom
    redirectto redirecturl redirecturi destination referer referrer
"""
_ORDER = """
    sort order orderby sortby sortorder sortdir sortkey sortfield orderdir ordering dir desc asc
"""
NAMES: Final[Mapping[str, str]] = {
    "session": _SESSION,
    "return address": _RETURN,
    "answer": "replytocom replyto inreplyto",
    "print view": "print printable printview printer printfriendly printerfriendly printversion",
    "order": _ORDER,
}
"""Names of parameters by their usual meaning, without all characters but letters and digits:
``sort_by`` is ``sortby``."""

MAX_URLS: Final = 50_000
"""The most URLs of a site that are read."""

_MEANINGS: Final = {name: meaning for meaning, names in NAMES.items() for name in names.split()}
_OF_PARAMETERS: Final = ("drop_params", "default_params")
"""The options whose entries are parameters."""
_PLACE = re.compile(r"\{[^{}]*\}")


class Parameters:
    """The URLs of a host by the names of their parameters."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._by_name: dict[str, list[Url]] = defaultdict(list)
        for text in urls:
            url = split(text)
            for name in {decode_parameter(piece)[0] for piece in url.query or ()}:
                self._by_name[name].append(url)

    def are_within(self, name: str, patterns: Iterable[Pattern]) -> bool:
        """Tell whether all URLs with a parameter *name* match one of *patterns*."""
        patterns = tuple(patterns)
        return all(
            any(pattern.matches_on_its_host(url) for pattern in patterns)
            for url in self._by_name.get(name, ())
        )


class Suspected(NamedTuple):
    """A program that the URLs of a host suggest."""

    profile: Profile
    host: str
    place: str
    parameters: Parameters

    def entries(self) -> Iterator[tuple[ProfileRule, str, str, bool]]:
        """Yield each entry of each rule with its option, and whether it may be suspected.

        The learner asks about rules for a whole site. A profile's rule for some URLs says nothing
        about a parameter that other URLs have too: the log-in form is the same page whatever page
        it leads back to, but the page after logging out shows that page.
        """
        for rule in self.profile.rules:
            patterns = [parse_pattern(f"{self.host}{self.place}{where}") for where in rule.where]
            for option, value in options_at(self.place, rule.options).items():
                for entry in _entries(value):
                    name = entry.partition("=")[0] if isinstance(value, dict) else entry
                    applies = (
                        option not in _OF_PARAMETERS
                        or rule.where == ("",)
                        or self.parameters.are_within(name, patterns)
                    )
                    yield rule, option, entry, applies


def suspected(urls: Iterable[str]) -> Iterator[Suspected]:
    """Yield the programs that the URLs of a site suggest."""
    plain = Canonicalizer()
    hosts: dict[str, list[str]] = {}
    for text in islice(urls, MAX_URLS):
        url = plain.canonical_or_none(text)
        if url is not None:
            hosts.setdefault(_host_of(url.split("/", 3)[2]), []).append(url)
    for host, found in hosts.items():
        recognised = recognised_by_urls(found, our_profiles())
        parameters = Parameters(found if recognised else ())
        for profile, place in recognised:
            yield Suspected(profile, host, place, parameters)


@lru_cache(1024)
def _host_of(authority: str) -> str:
    return split(f"http://{authority}/").host


class Suspicions:
    """The odds of rules of one site.

    >>> urls = [f"http://a.example/forum/viewtopic.php?f=1&t={number}" for number in range(5)]
    >>> found = Suspicions.of([*urls, "http://a.example/forum/viewforum.php?f=1"])
    >>> found.log_odds("drop_params", ["hilit"]), found.log_odds("drop_params", ["unknown"])
    (3.0, 0.0)
    """

    def __init__(self, entries: Mapping[tuple[str, str], float], odds: Mapping[str, float]) -> None:
        self._entries = entries
        self._odds = odds

    @classmethod
    def of(cls, urls: Iterable[str], odds: Mapping[str, float] = ODDS) -> Self:
        """Return the odds for the site with *urls*.

        :param odds: the odds by kind of suspicion, in the form of :data:`ODDS`.
        """
        entries: dict[tuple[str, str], float] = {}
        for one in suspected(urls):
            for rule, option, entry, applies in one.entries():
                # A parameter of the program that is for other URLs is not suspected by name either.
                known = entries.get((option, entry), 0.0)
                found = odds["view" if rule.is_view else "profile"] if applies else 0.0
                entries[option, entry] = max(known, found)
        return cls(entries, odds)

    def log_odds(self, option: str, setting: object) -> float:
        """Return the logarithm of the odds of a rule: that of its least likely entry.

        It is 0 if nothing is known.
        """
        found = []
        for entry in _entries(setting):
            known = self._entries.get((option, entry))
            if known is None:
                meaning = meaning_of(entry) if option == "drop_params" else ""
                known = self._odds[meaning] if meaning else 0.0
            found.append(known)
        return min(found, default=0.0)


def meaning_of(name: str) -> str:
    """Return the key of :data:`NAMES` for the usual meaning of a parameter, if it has one.

    >>> meaning_of("Return-To"), meaning_of("page")
    ('return address', '')
    """
    return _MEANINGS.get("".join(filter(str.isalnum, name)).lower(), "")


def prior_of(urls: Iterable[str]) -> Callable[[str, object], float]:
    """Return a function that gives the log odds of rules for the site with *urls*."""
    return Suspicions.of(urls).log_odds


def _entries(value: Any) -> Iterator[str]:
    """Yield the entries of a value, each as text; templates without the names of their fields.

    >>> list(_entries({"page": "1"})), list(_entries([["/a/{b}", "/a"]]))
    (['page=1'], ['/a/{} -> /a'])
    """
    if isinstance(value, dict):
        for name, text in value.items():
            yield f"{name}={text}"
    elif isinstance(value, (list, tuple)):
        for each in value:
            pair = each if isinstance(each, (list, tuple)) else [each]
            yield _PLACE.sub("{}", " -> ".join(map(str, pair)))
    else:
        yield str(value)
