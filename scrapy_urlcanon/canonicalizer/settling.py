"""Finds pairs of templates that would change a URL again and again."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.percent_encoding import as_query_text
from scrapy_urlcanon.canonicalizer.rewrites import RewriteIndex
from scrapy_urlcanon.canonicalizer.text_templates import Place
from scrapy_urlcanon.canonicalizer.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.canonicalizer.text_templates import TextTemplate

_FEW = 50
"""Up to how many pairs are each compared with each; mostly that shows at once that they settle."""
_MAX_TRIES = 2_000_000
"""How many times, in all, a pair may be tried on a sample."""
_MAX_GROWTH = 1 << 14
"""By how many characters a path may grow before it is taken for one that grows for ever."""


def find_unsettled(rewrites: Sequence[Rewrite]) -> list[Url] | None:
    """Return a URL that *rewrites* change again and again, with what becomes of it, or None.

    They are tried on samples of their own shapes. What the samples do not show is found
    for each URL by the limit on the number of passes. The time is nearly linear in the number of
    pairs: each sample meets only those whose literal texts it has, what is known to settle is not
    followed up again, and there is an end to the tries.
    """
    if len(rewrites) <= _FEW and not any(
        first.may_lead_to(second) for first, second in product(rewrites, repeat=2)
    ):
        return None
    words = _words(rewrites)
    ways = _Ways(rewrites)
    for rewrite in rewrites:
        for sample in _samples(rewrite.source, words):
            way = ways.endless(sample)
            if way or ways.tries_left < 0:
                return way
    return None


class _State(NamedTuple):
    """A URL, and the pair that changes it next."""

    url: Url
    position: int


class _Ways:
    """Follows URLs through pairs of templates, from one to the next.

    :param rewrites: in the order in which they are applied, round after round.
    """

    def __init__(self, rewrites: Sequence[Rewrite]) -> None:
        self._rewrites = rewrites
        self._index = RewriteIndex(rewrites)
        self.tries_left = _MAX_TRIES
        # How many rounds are left until nothing changes, this one included.
        self._rounds: dict[_State, int] = {}

    def endless(self, sample: Url) -> list[Url] | None:
        """Return *sample* and what becomes of it where that takes more rounds than may be."""
        way = [sample]
        states: dict[_State, int] = {}
        rounds = 1
        position = 0
        longest = len(sample.path) + _MAX_GROWTH
        while True:
            url = way[-1]
            change = self._next(url, position)
            if change is None and position:
                rounds += 1
                change = self._next(url, 0)
            if change is None:
                # A round in which nothing changed does not count.
                rounds -= 1
                break
            state = _State(url, change[0])
            if state in self._rounds:
                rounds += self._rounds[state] - 1
                break
            way.append(change[1])
            if state in states or len(change[1].path) > longest:
                return way
            states[state] = rounds
            if rounds > len(self._rewrites) + 1:
                return way
            position = change[0] + 1
        self._rounds.update((state, rounds - before + 1) for state, before in states.items())
        return way if rounds > len(self._rewrites) + 1 else None

    def _next(self, url: Url, start: int) -> tuple[int, Url] | None:
        """Return the first pair from *start* on that changes *url*, and what it makes of it."""
        if self.tries_left < 0:
            return None
        candidates = self._index.candidates(url)
        self.tries_left -= len(candidates)
        for position in candidates:
            if position >= start:
                changed = self._rewrites[position].apply(url)
                if changed != url:
                    return position, changed
        return None


def _words(rewrites: Sequence[Rewrite]) -> list[str]:
    """Return texts to fill places with: two without meaning, and the literals of the templates."""
    literal = (
        word
        for rewrite in rewrites
        for template in (rewrite.source, rewrite.target)
        for part in template.path.parts
        if isinstance(part, str)
        for word in re.findall("[A-Za-z0-9]+", part)
    )
    return ["x1", "y2", *list(dict.fromkeys(literal))[:4]]


def _samples(template: Template, words: list[str]) -> Iterator[Url]:
    """Yield URLs of the shape *template*: with equal and with different texts in its places."""
    places = template.places
    fillings = {
        tuple(
            _sample(place, words, turn + step * position) for position, place in enumerate(places)
        ): None
        for turn in range(len(words))
        for step in (0, 1)
    }
    for texts in fillings:
        found = {place.name: text for place, text in zip(places, texts, strict=True)}
        path = _filled(template.path, found)
        query = tuple(f"{name}={_filled(shape, found)}" for name, shape in template.params.items())
        if template.bare:
            query = (as_query_text(_filled(template.bare, found)) + "=", *query)
        url = Url("http", None, "host.invalid", None, path, query or None, None)
        if template.match(url):
            yield url


def _sample(place: Place, words: list[str], number: int) -> str:
    if place.choices:
        return place.choices[number % len(place.choices)]
    word = words[number % len(words)]
    return word if place.takes(word) else str(number + 1)


def _filled(shape: TextTemplate, found: Mapping[str, str]) -> str:
    return "".join(found[p.name] if isinstance(p, Place) else p for p in shape.parts)
