"""Counts how often a suspicion about a parameter is right.

``python -m benchmarks.profiles.odds``. A parameter of a site is judged if dropping it changes at
least :data:`LEAST` URLs, and is right to drop if at most one in 50 of these shows another page.
A parameter that a profile suspects may also have a name with a usual meaning, and then counts
for both. The odds of a kind of suspicion are the odds among its parameters divided by those
among all, with one right and one wrong parameter added. The range without any one site, and
without any one program, is printed too.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from math import log
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_plus

from benchmarks.learn.corpus import PATH, sites
from benchmarks.learn.judge import pages_of, score
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.profiles.suspicions import NAMES, ODDS, meaning_of, suspected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.learn.judge import Page

LEAST = 3
_WRONG = 0.02
_MOST_NAMES = 60
"""The most parameters of a site that are judged, the most frequent first."""
KINDS = ("profile", "view", *NAMES)
"""Kinds of suspicion that can be counted."""


class Judged(NamedTuple):
    """A parameter of a site."""

    kinds: frozenset[str]
    """The kinds of suspicion about it."""
    site: str
    program: str
    """The program that is known to have it; empty for none."""
    merges: int
    wrong: int

    @property
    def is_right(self) -> bool:
        return self.wrong <= _WRONG * self.merges


def judged() -> Iterator[Judged]:
    """Yield all parameters of all sites that can be judged."""
    for path in (PATH, PATH.with_name("observations-2.tsv.gz")):
        for site, observations in sites(path).items():
            pages = pages_of(observations)
            known = _suspected(row.url for row in observations)
            plain = Canonicalizer()
            before = score(pages, plain.canonicalize)
            for name in _names(pages):
                canonicalizer = Canonicalizer({"*": {"drop_params": [name]}})
                after = score(pages, canonicalizer.canonicalize)
                found, wrong = after.found - before.found, after.wrong - before.wrong
                if found + wrong >= LEAST:
                    kind, program = known.get(name, ("", ""))
                    is_elsewhere = name in known and not kind
                    meaning = "" if is_elsewhere else meaning_of(name)
                    kinds = frozenset({kind, meaning} - {""})
                    yield Judged(kinds, site, program, found + wrong, wrong)


def _suspected(urls: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return for parameters of known programs the kind of suspicion, and the program.

    The kind is empty if the site has the parameter on other URLs than those of the rule.
    """
    found: dict[str, tuple[str, str]] = {}
    for one in suspected(urls):
        for rule, option, name, applies in one.entries():
            kind = "view" if rule.is_view else "profile"
            if option == "drop_params" and (applies or name not in found):
                found[name] = (kind if applies else "", one.profile.name)
    return found


def _names(pages: Sequence[Page]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for page in pages:
        query = page.url.partition("#")[0].partition("?")[2]
        for name in {part.partition("=")[0] for part in query.split("&")} - {""}:
            counts[unquote_plus(name)] += 1
    plain = [name for name in counts if not set("*?[]!") & set(name)]
    return sorted(plain, key=lambda name: (-counts[name], name))[:_MOST_NAMES]


def odds(found: Sequence[Judged], kind: str) -> float:
    """Return the logarithm of the odds of *kind* divided by those of all."""

    def of(some: Sequence[Judged]) -> float:
        right = sum(one.is_right for one in some)
        return (right + 1) / (len(some) - right + 1)

    return log(of([one for one in found if kind in one.kinds]) / of(found))


def _without(
    found: Sequence[Judged], kind: str, part: Callable[[Judged], str]
) -> tuple[float, float]:
    """Return the least and the greatest odds of *kind* without one site or program."""
    values = [
        odds([one for one in found if part(one) != left_out], kind)
        for left_out in {part(one) for one in found if kind in one.kinds} - {""}
    ]
    return min(values, default=0.0), max(values, default=0.0)


def main() -> int:
    if not PATH.exists():
        print(f"{PATH.name} is not there: nothing to measure")
        return 1
    found = list(judged())
    right = sum(one.is_right for one in found)
    print(
        f"{right} of {len(found)} parameters of {len({one.site for one in found})} sites are right"
    )
    print(f"{'':16}{'right':>12}{'odds':>7}{'stated':>8}{'without a site':>18}{'a program':>16}")
    for kind in KINDS:
        own = [one for one in found if kind in one.kinds]
        shown = f"{sum(one.is_right for one in own)} of {len(own)}"
        by_site = "{:.1f} to {:.1f}".format(*_without(found, kind, lambda one: one.site))
        by_program = "{:.1f} to {:.1f}".format(*_without(found, kind, lambda one: one.program))
        print(
            f"{kind:16}{shown:>12}{odds(found, kind):7.1f}{ODDS[kind]:8.1f}{by_site:>18}"
            f"{by_program if any(one.program for one in own) else '-':>16}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
