"""Guesses which program a site runs on by the shapes of its URLs, for suspicions only."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.url import split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.profiles.profile import Profile

_END_OF_PATH = re.compile("[?#]")
_ENOUGH_SHAPES = 2
_ENOUGH_URLS = 5
_MAX_URLS = 20_000
_MAX_SEGMENTS = 6


def recognised_by_urls(
    urls: Iterable[str], profiles: Iterable[Profile]
) -> list[tuple[Profile, str]]:
    """Return the profiles whose shapes of URLs a host has, each with its place.

    It takes URLs of two shapes below one place, and five URLs in all.

    :param urls: normalized URLs of one host.

    >>> from scrapy_urlcanon.profiles.catalogue import our_profiles
    >>> urls = [f"http://a.example/forum/viewtopic.php?t={number}" for number in range(5)]
    >>> urls += ["http://a.example/forum/viewforum.php?f=1"]
    >>> [(profile.name, place) for profile, place in recognised_by_urls(urls, our_profiles())]
    [('phpBB', '/forum/')]
    """
    by_first: dict[str, list[tuple[Profile, Template]]] = defaultdict(list)
    by_name = {}
    for profile in profiles:
        by_name[profile.name] = profile
        for shape in profile.shapes:
            first = str(shape).lstrip("/").partition("?")[0].partition("/")[0]
            by_first[first].append((profile, shape))
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for number, text in enumerate(urls):
        if number >= _MAX_URLS:
            break
        path = _END_OF_PATH.split(text, maxsplit=1)[0]
        # Nearly all URLs have no segment with which a shape begins. In the split URL the path
        # begins at the fourth part.
        if by_first.keys().isdisjoint(path.split("/")[3:]):
            continue
        url = split(text)
        segments = url.path.split("/")
        for start in range(1, min(len(segments), _MAX_SEGMENTS + 1)):
            for profile, shape in by_first.get(segments[start], ()):
                rest = url._replace(path="/" + "/".join(segments[start:]))
                if shape.match(rest) is not None:
                    place = "/".join([*segments[:start], ""])
                    seen[profile.name, place][str(shape)] += 1
    return [
        (by_name[name], place)
        for (name, place), counts in sorted(seen.items())
        if len(counts) >= _ENOUGH_SHAPES and counts.total() >= _ENOUGH_URLS
    ]
