"""Measures what rewrites could find on archived sites at best, and what no rewrite finds.

``python -m benchmarks.learn.ceiling [--sites NAMES] [--most ROWS] [--examples N]``.

Rules are learned from all URLs of a site and tried on them. Then, one after the other,
candidates are added that the differences of its URLs suggest and of whose merges 98 % are right,
on at least three pages, by the truth that the judge knows: for the whole site, a part of it, or
URLs with a certain parameter. What is left is counted by how the URLs differ.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from benchmarks.learn.unseen import CORPORA, MIN_REDUNDANT, OPTIONS, SCORE, SINK_SIZE, scorer
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS, Duplicates, collect
from scrapy_urlcanon.learn.candidates.differences import differing_options
from scrapy_urlcanon.learn.candidates.substitutions import (
    paths_in_parameters,
    substitutions_of_paths,
)
from scrapy_urlcanon.learn.candidates.templates import pairs_of_templates
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.location import locate, name_of, value_of
from scrapy_urlcanon.learn.results.rule import as_rules
from scrapy_urlcanon.learn.scope import scopes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.learn.location import Location

    Rows = Sequence[Mapping[str, str]]
    Page = tuple[object, object]
    Changes = Mapping[Location, Location]

MIN_PRECISION = 0.98
"""The share of the merges of a rule that must be right."""

MAX_CANDIDATES, MAX_ROUNDS, MAX_PARTS = 120, 4, 20
"""The most candidates in one round, rounds, and parts of a site or parameters for which a
candidate is tried."""

_MAKERS = (
    (differing_options,),
    (pairs_of_templates, substitutions_of_paths, paths_in_parameters),
)

DIFFERENCES = (
    "a parameter more",
    "another value of a parameter",
    "other parameters",
    "words and numbers more",
    "another number in the path",
    "other words and numbers",
    "nothing in common",
)
"""How two URLs of a page may differ, from the easiest for a rule to the impossible."""

_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+")


def difference_of(one: Location, other: Location) -> int:
    """Return how two URLs of one page differ, as an index of :data:`DIFFERENCES`.

    >>> DIFFERENCES[difference_of(locate("http://a.example/?p=12"), locate("http://a.example/slug"))]
    'nothing in common'
    >>> DIFFERENCES[difference_of(locate("http://a.example/x/print"), locate("http://a.example/x"))]
    'words and numbers more'
    """
    if one.path == other.path:
        mine, theirs = set(one.params), set(other.params)
        if mine < theirs or theirs < mine:
            return 0
        return 1 if {*map(name_of, mine)} == {*map(name_of, theirs)} else 2
    mine, theirs = _tokens(one), _tokens(other)
    if mine <= theirs or theirs <= mine:
        return 3
    if all(map(str.isdigit, mine ^ theirs)):
        return 4
    return 5 if mine & theirs else 6


def _tokens(location: Location) -> set[str]:
    """Return the words and numbers of a URL, without the names of its parameters."""
    texts = (location.path, *map(value_of, location.params))
    return set(chain.from_iterable(_TOKEN.findall(text.lower()) for text in texts))


class Ceiling:
    """One site, with the right rules for it."""

    def __init__(self, score: Any, rows: Rows) -> None:
        """Begin with the rules learned from all of its URLs."""
        observations = [Observation.from_fields(row) for row in rows]
        site = site_of("", observations)
        self._groups = Groups(site)
        self._pages: dict[Location, Counter[Page]] = {}
        """For each form, the number of its URLs by page."""
        truth, _ = score.truth(rows, Namespace(**OPTIONS, split="url"))
        self._sizes: Counter[Page] = Counter(
            (place, page) for place in truth for page in truth[place].values()
        )
        for place, page_of in truth.items():
            for url, page in page_of.items():
                location = locate(url, site.semicolon_hosts)
                self._pages.setdefault(location, Counter())[place, page] += 1
        rules = [rule for rule in learn(observations).rules if not rule.is_skip]
        learned = Canonicalizer(as_rules(rules))
        forms = {one: locate(learned.canonicalize(one.url)) for one in self._groups.pages}
        self._apply({one: to for one, to in forms.items() if one != to})
        self.learned = self.found
        """The number of URLs outside sinks that learned rules save."""
        self.accepted: list[str] = []
        """Further right rules, each with its right and wrong merges."""

    @property
    def redundant(self) -> int:
        """The number of URLs outside sinks that show the page of another URL."""
        return sum(count - 1 for count in self._sizes.values() if count <= SINK_SIZE)

    @property
    def found(self) -> int:
        """The number of these that the rules save."""
        forms = Counter(page for pages in self._pages.values() for page in pages)
        return sum(
            self._sizes[page] - count
            for page, count in forms.items()
            if self._sizes[page] <= SINK_SIZE
        )

    def left(self) -> Counter[str]:
        """Return the number of those left, by the difference to the nearest URL of their page."""
        forms: dict[Page, list[Location]] = {}
        for form in sorted(self._pages):
            for page in self._pages[form]:
                if self._sizes[page] <= SINK_SIZE:
                    forms.setdefault(page, []).append(form)
        return Counter(
            DIFFERENCES[min(difference_of(one, other) for other in of_page[:number])]
            for of_page in forms.values()
            for number, one in enumerate(of_page[1:], 1)
        )

    def climb(self) -> None:
        """Accept right candidates until there are no more."""
        for _ in range(MAX_ROUNDS):
            if not sum([self._round(makers) for makers in _MAKERS]):
                break

    def _round(self, makers: Sequence[Callable[..., Any]]) -> int:
        duplicates = Duplicates(self._groups)
        found = collect(chain.from_iterable(maker(duplicates) for maker in makers))
        likely = sorted(
            (candidate for candidate, pages in found.items() if len(pages) >= MIN_PROPOSERS),
            key=lambda candidate: (-len(found[candidate]), repr(candidate)),
        )[:MAX_CANDIDATES]
        likely = [candidate for candidate in likely if all(step.is_valid for step in candidate)]
        self._groups.index({step.handle for candidate in likely for step in candidate})
        judged = [(self._judge(self._groups.affected(one)), one) for one in likely]
        judged = [each for each in judged if each[0][0] >= MIN_PROPOSERS]
        # What is never wrong goes first, and of that what finds most.
        judged.sort(key=lambda each: (each[0][1] > 0, -each[0][0], repr(each[1])))
        before = len(self.accepted)
        for _, candidate in judged:
            changes = self._groups.affected(candidate)
            for part, inside in _parts(changes):
                right, wrong, pages = self._judge(inside)
                if pages >= MIN_PROPOSERS and right >= MIN_PRECISION * (right + wrong):
                    steps = " ".join(f"{step.option.name} {step.setting}" for step in candidate)
                    self.accepted.append(f"{steps}, {part}: {right} right, {wrong} wrong")
                    self._apply(inside)
                    break
        return len(self.accepted) - before

    def _judge(self, changes: Changes) -> tuple[int, int, int]:
        """Return the numbers of right and wrong merges of forms, and of pages with right ones."""
        # What is one already is no merge of this rule: forms count, and not their URLs.
        merged: dict[Location, Counter[Page]] = {}
        for one, to in changes.items():
            merged.setdefault(to, Counter()).update(self._pages.get(one, {}).keys())
        right = wrong = 0
        several: set[Page] = set()
        for to, pages in merged.items():
            if to not in changes:
                pages.update(self._pages.get(to, {}).keys())
            right += pages.total() - len(pages)
            wrong += max(0, len(pages) - 1)
            several.update(page for page, count in pages.items() if count > 1)
        return right, wrong, len(several)

    def _apply(self, changes: Changes) -> None:
        self._groups.apply(dict(changes))
        moved = [(to, self._pages.pop(one)) for one, to in changes.items() if one in self._pages]
        for to, pages in moved:
            self._pages.setdefault(to, Counter()).update(pages)


def _parts(changes: Changes) -> Iterator[tuple[str, Changes]]:
    """Yield the changes of a rule on all of a site, in parts, and for URLs with a parameter."""
    yield "everywhere", changes
    scopes = Counter(scope for one in changes for scope in scopes_of("", one)[1:])
    for scope, _ in scopes.most_common(MAX_PARTS):
        yield scope.text, {one: to for one, to in changes.items() if scope.holds(one)}
    params = Counter(param for one in changes for param in one.params)
    for param, count in params.most_common(MAX_PARTS):
        if count >= MIN_PROPOSERS:
            yield f"with {param}", {one: to for one, to in changes.items() if param in one.params}


def show(score: Any, name: str, sites: Mapping[str, Rows], examples: int) -> None:
    """Print what is found on each of some sites, and the mean of their shares.

    :param examples: how many of the further rules are listed for each site.
    """
    shares: dict[str, list[float]] = {}
    count = 0
    for site, rows in sorted(sites.items()):
        ceiling = Ceiling(score, rows)
        redundant = ceiling.redundant
        if redundant < MIN_REDUNDANT:
            continue
        ceiling.climb()
        count += 1
        found = {
            "learned": ceiling.learned,
            "further rules that are right": ceiling.found - ceiling.learned,
            **ceiling.left(),
        }
        for what, number in found.items():
            shares.setdefault(what, []).append(number / redundant)
        print(f"{site}, {redundant:,} redundant:", *(f"{n:,} {what}," for what, n in found.items()))
        for text in islice(ceiling.accepted, examples):
            print(f"    {text}")
    print(f"\n{name}, mean of {count} sites")
    for what in ("learned", "further rules that are right", *DIFFERENCES):
        of_sites = shares.get(what, [])
        here = sum(share > 0 for share in of_sites)
        print(f"{what:32}{sum(of_sites) / max(1, count):7.3f}{here:5} sites")


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sites", help="these only")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="no sites of more rows")
    parser.add_argument("--examples", type=int, default=0, help="rules to list of each site")
    options = parser.parse_args()
    if not SCORE.exists():
        print(f"{SCORE.name} is not there: nothing to measure")
        return 1
    score = scorer()
    for path in CORPORA:
        sites: dict[str, list[dict[str, str]]] = {}
        for row in score.load(str(path))[1]:
            sites.setdefault(row["site"], []).append(row)
        chosen = {
            site: rows
            for site, rows in sites.items()
            if len(rows) <= options.most
            and (options.sites is None or site in options.sites.split(","))
        }
        show(score, path.name, chosen, options.examples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
