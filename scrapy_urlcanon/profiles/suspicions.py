"""What is known of the rules of a site before its pages were compared: odds, for the learner.

A program that the URLs of the site tell, or else a name that means the same on most sites.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.installation import options_at
from scrapy_urlcanon.profiles.known_urls import told_by_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from typing_extensions import Self

# The natural logarithm of the odds that a rule is right, on top of those of any parameter of any
# site: of 224 that could be judged on 76 real sites, 49 could be dropped, with at most 2 % of
# counter-examples. One right and one wrong are added to what was seen. It is counted by
# ``benchmarks/profiles/odds.py``, which says what the odds are without one site or one program.
OF_PROFILE: Final = 1.7
"""A rule of a program that its URLs tell: 11 right of 18; 1.6 to 1.9 without one of the sites, 1.3
to 2.6 without one of the programs."""
OF_VIEW: Final = 1.4
"""One for other views of the same things: 8 of 15; 1.0 to 1.7, and 0.7 to 1.7."""
OF_PART: Final = 2.6
"""A link to a part of a page, such as to a post: not counted, since of the pages on which the parts
stand a crawl that was cut short has too few; crawls of three forums lost nothing by them."""
OF_MEANING: Final = {
    "session": (2.2, "sid phpsessid jsessionid sessionid session_id oscsid zenid sesskey session"),
    "return address": (
        3.3,
        "return returnto return_to returnurl returntoquery back back_url redirect_to destination",
    ),
    "answer": (1.5, "replytocom reply_to replyto"),
    "print view": (0.6, "print printable print_view printview printer"),
    "order": (-0.1, "sort order orderby sortby sort_by order_by sortorder dir desc asc"),
}
"""Names of parameters with their usual meaning, and its odds: 4 of 5 for a session, 14 of 15 for a
return address, 4 of 7, 1 of 4, and none of 3 for an order, which is another page."""

MAX_URLS: Final = 50_000
"""URLs of a site that are looked at."""

_OF_NAME: Final = {name: odds for odds, names in OF_MEANING.values() for name in names.split()}
_PLACE = re.compile(r"\{[^{}]*\}")


class Suspicions:
    """What is suspected of the rules of one site.

    >>> urls = [f"http://a.example/forum/viewtopic.php?f=1&t={number}" for number in range(5)]
    >>> found = Suspicions.of([*urls, "http://a.example/forum/viewforum.php?f=1"])
    >>> found.log_odds("drop_params", ["hilit"]), found.log_odds("drop_params", ["unknown"])
    (1.7, 0.0)
    >>> found.log_odds("skip", ["/forum/viewtopic.php?p={id:digits}"])
    2.6
    """

    def __init__(self, entries: Mapping[tuple[str, str], float]) -> None:
        self._entries = entries

    @classmethod
    def of(cls, urls: Iterable[str]) -> Self:
        """Return what *urls*, those of the site, let suspect."""
        plain = Canonicalizer()
        hosts: dict[str, list[str]] = {}
        for text in islice(urls, MAX_URLS):
            url = plain.canonical_or_none(text)
            if url is not None:
                hosts.setdefault(split(url).host, []).append(url)
        entries: dict[tuple[str, str], float] = {}
        for found in hosts.values():
            for profile, place in told_by_urls(found, our_profiles()):
                for rule in profile.rules:
                    odds = OF_VIEW if rule.is_view else OF_PROFILE
                    for option, value in options_at(place, rule.options).items():
                        for entry in _entries(value):
                            entries[option, entry] = odds
                for part in profile.parts:
                    shapes = options_at(place, {"skip": [str(link) for link in part.links]})
                    for entry in _entries(shapes["skip"]):
                        entries["skip", entry] = OF_PART
        return cls(entries)

    def log_odds(self, option: str, setting: object) -> float:
        """Return the logarithm of the odds of a rule, of the least likely of its entries.

        0 where nothing is known.
        """
        found = []
        for entry in _entries(setting):
            known = self._entries.get((option, entry))
            if known is None:
                known = _OF_NAME.get(entry.lower(), 0.0) if option == "drop_params" else 0.0
            found.append(known)
        return min(found, default=0.0)


def prior_of(urls: Iterable[str]) -> Callable[[str, object], float]:
    """Return what is known of the site with *urls*, as the learner takes it."""
    return Suspicions.of(urls).log_odds


def _entries(value: Any) -> Iterator[str]:
    """Yield what a value has of entries, each as text; templates without the names of their places.

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
