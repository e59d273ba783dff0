"""Tells whether two URLs have one canonical form, and if not, which options would give them one.

Options are found by trying: a value is proposed only if both URLs have one canonical form with it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.canonicalizer.values import Choice, Flag, HostMap, NameList, NameMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer, Explanation
    from scrapy_urlcanon.canonicalizer.url import Url

    Options = dict[str, Any]

_SEGMENT = re.compile("[/;]")
_MAX_NAMES = 20
"""In how many parameters two URLs may differ for options to be proposed that list the names."""


@frozen
class Pair:
    """Two URLs and what the rules make of them."""

    first: Explanation
    second: Explanation
    joined_by: tuple[Options, ...] = ()
    """Each of these would make them one; empty if they are one, or if no options would."""

    @property
    def are_one(self) -> bool:
        """Whether a crawl takes them for one page."""
        return self.first.canonical == self.second.canonical

    @property
    def rules(self) -> dict[str, str]:
        """The layer of each rule that changed one of them, by the name of the rule."""
        return {step.option: step.layer for step in (*self.first.steps, *self.second.steps)}

    @property
    def pattern(self) -> str:
        """The pattern under which a rule for both of them would stand."""
        hosts = [split(url.canonical).host for url in (self.first, self.second)]
        domains = {domain_or_host(host) for host in hosts}
        return domains.pop() if len(domains) == 1 else "*"


def pair(canonicalizer: Canonicalizer, first: str, second: str) -> Pair:
    """Return whether *first* and *second* are one URL for *canonicalizer*.

    >>> from scrapy_urlcanon import Canonicalizer
    >>> both = pair(Canonicalizer(), "http://example.com/?sid=1", "http://www.example.com/")
    >>> both.are_one, both.joined_by
    (False, ({'www': 'strip', 'drop_params': ['sid']},))
    """
    explained = Pair(canonicalizer.explain(first), canonicalizer.explain(second))
    if explained.are_one or explained.first.problem or explained.second.problem:
        return explained
    return Pair(explained.first, explained.second, tuple(_Search(canonicalizer, explained).found()))


class _Search:
    """Looks for options that join two URLs."""

    def __init__(self, canonicalizer: Canonicalizer, both: Pair) -> None:
        self._canonicalizer = canonicalizer
        self._first, self._second = both.first.canonical, both.second.canonical
        self._candidates = [
            (name, value)
            for name, value in _candidates(split(self._first), split(self._second))
            if BY_NAME[name].values.problem(value) is None
        ]

    def found(self) -> Iterator[Options]:
        """Yield single options that join them, or else one combination of several."""
        joining: dict[str, Any] = {}
        for name, value in self._candidates:
            if name not in joining and self._joins({name: value}):
                joining[name] = value
        if not joining:
            together = self._combination()
            if together:
                yield together
        for name, value in joining.items():
            yield {name: value}

    def _combination(self) -> Options | None:
        options: Options = {}
        left = self._distance(options)
        while left:
            steps = [
                {**options, name: value} for name, value in self._candidates if name not in options
            ]
            if not steps:
                return None
            best = min(steps, key=self._distance)
            distance = self._distance(best)
            if distance >= left:
                return None
            options, left = best, distance
        # In the order in which options apply.
        return {name: options[name] for name in BY_NAME if name in options}

    def _joins(self, options: Options) -> bool:
        return self._distance(options) == 0

    def _distance(self, options: Options) -> int:
        """Return in how many components and parameters the URLs still differ."""
        canonical = [
            self._canonicalizer.canonical_or_none(url, options=options)
            for url in (self._first, self._second)
        ]
        if canonical[0] == canonical[1]:
            return 0
        first, second = (Counter(_components(split(url or ""))) for url in canonical)
        # They may differ in the order of parameters only.
        return ((first - second) + (second - first)).total() or 1


def _components(url: Url) -> Iterator[tuple[str, str | None]]:
    yield from (("scheme", url.scheme), ("userinfo", url.userinfo), ("port", url.port))
    yield "fragment", url.fragment
    yield from (("host", label) for label in url.host.split("."))
    for kind, texts in (("path", _SEGMENT.split(url.path)), ("query", url.query or ())):
        for text in texts:
            # Counted twice, so that only differing in case counts as closer.
            yield from ((kind, text), (f"{kind} in lower case", text.lower()))


def _candidates(first: Url, second: Url) -> Iterator[tuple[str, Any]]:
    """Yield options with values that might join the two, the usual one of each option first."""
    differing = set(map(decode_parameter, first.query or ())) ^ set(
        map(decode_parameter, second.query or ())
    )
    names = _names(first, second, sorted({name for name, _ in differing}))
    # An option that names two hosts comes last: another may hold for all hosts.
    ranked = sorted(BY_NAME.items(), key=lambda item: isinstance(item[1].values, HostMap))
    for option, rule in ranked:
        values = rule.values
        if isinstance(values, Choice):
            usual = PRESETS["aggressive"].get(option)
            for choice in sorted(values.choices, key=lambda choice: choice != usual):
                if choice != rule.neutral:
                    yield option, choice
        elif isinstance(values, Flag):
            yield option, True
        # A list that may be None says what to keep, and an empty one would join too much.
        elif isinstance(values, NameList) and not values.optional:
            yield from (
                (option, listed)
                for listed in names
                if len(listed) <= _MAX_NAMES and all(map(rule.is_usual, listed))
            )
        elif isinstance(values, HostMap):
            yield option, {second.host: first.host}
        elif isinstance(values, NameMap):
            yield from ((option, {name: value}) for name, value in sorted(differing)[:_MAX_NAMES])


def _names(first: Url, second: Url, parameters: list[str]) -> list[list[str]]:
    """Return lists of the names that only one of the URLs has."""
    urls = (first, second)
    files = {url.path.rpartition("/")[2] for url in urls}
    path_parameters = {piece.partition("=")[0] for url in urls for piece in url.path.split(";")[1:]}
    labels = {label for url in urls for label in url.host.split(".")[:1]}
    singles = [[name] for name in (*parameters, *sorted(files | path_parameters | labels)) if name]
    return [*singles, parameters] if len(parameters) > 1 else singles
