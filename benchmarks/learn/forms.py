"""Judges learning on generated sites with the URL forms of widely used programs.

``python -m benchmarks.learn.forms [NAME ...] [--seeds SEED ...] [--changing SHARE ...] [--rules]
[--json FILE]``.

A form lists the URLs under which a program shows one page. A site has them for three hundred
things, with titles, parts, posts and sessions. Rules are learned from half of the URLs and
judged on the other half, as by ``../shared/corpora/score.py``. URLs that are not known to show
one page are different pages here. Each form has a trap beside it: URLs that look the same, in
which the difference selects content.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from base64 import b32encode, urlsafe_b64encode
from collections import Counter
from dataclasses import dataclass
from hashlib import sha1
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.learn import (
    forms_of_collections,
    forms_of_communities,
    forms_of_frameworks,
    forms_of_programs,
    forms_of_publishers,
    forms_of_records,
    forms_of_services,
    forms_of_today,
)
from benchmarks.learn.judge import SINK_SIZE, Page, Score, score
from benchmarks.learn.methods import Rules
from scrapy_urlcanon.learn import Observation, learn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmarks.learn.forms_of_programs import Form

FORMS = {
    **forms_of_programs.FORMS,
    **forms_of_publishers.FORMS,
    **forms_of_collections.FORMS,
    **forms_of_services.FORMS,
    **forms_of_records.FORMS,
    **forms_of_communities.FORMS,
    **forms_of_frameworks.FORMS,
    **forms_of_today.FORMS,
}

HOST = "www.site.example"

THINGS, PARTS = 300, 3
"""The number of things with a page, and of parts of the longest one."""

POSTS = 3
"""Posts on a part."""

LINKED = 0.8
"""The share of the other URLs of a page that are linked."""

_SITE = "http://site.example/"

_PLACE = re.compile(r"\{(\w+)\}")
_WORDS = (
    *("alder", "birch", "cedar", "elder", "hazel", "rowan", "willow", "plum", "maple", "larch"),
    *("poplar", "quince", "walnut", "spruce", "linden", "acacia", "almond", "aspen", "beech"),
)


@dataclass(frozen=True)
class Thing:
    """A thing that the site has a page of."""

    number: int
    seed: int

    def draw(self, what: str) -> Random:
        """Return a random source for a property of it, always the same."""
        return Random(f"{self.seed} {self.number} {what}")

    @property
    def titles(self) -> list[str]:
        """Its title, and the former title of some."""
        draw = self.draw("title")
        count = 1 + (draw.random() < 0.3)  # noqa: PLR2004
        return ["-".join(draw.sample(_WORDS, 4)) for _ in range(count)]

    @property
    def parts(self) -> int:
        """How many parts it has."""
        return 1 + self.draw("parts").randrange(PARTS)

    def values(self, place: str, part: int) -> list[str]:
        """Return the values of the placeholders in the URLs of one of its parts."""
        draw, posts = self.draw("rest"), range(self.number * 10 + part * 3, 10**9)[:POSTS]
        section = self.number % 7 + 1
        digest = sha1(f"{self.seed} {self.number}".encode()).hexdigest()
        values: Mapping[str, list[object]] = {
            "n": [self.number],
            "padded": [f"{self.number:07}"],
            "hex": [digest[:32]],
            "abbreviated": [digest[:10]],
            "title": [*self.titles],
            "now": self.titles[:1],
            "Title": [self.titles[0].title().replace("-", "")],
            "k": [part],
            "start": [(part - 1) * 15],
            "post": [*posts],
            "in_part": [(part - 1) * 20 + i for i in range(2, 5)],
            "c": [section],
            "other": [(section + 3) % 7 + 1],
            "any": sorted({section, draw.randrange(1, 8), draw.randrange(1, 8)}),
            "section": [_WORDS[section]],
            "year": [2000 + draw.randrange(20)],
            "month": [f"{draw.randrange(1, 13):02}"],
            "s": [sha1(f"{self.number} {part} {i}".encode()).hexdigest()[:32] for i in range(2)],
            "tail": [draw.randrange(10**6)],
            "short": [b32encode(str(self.number).encode()).decode().rstrip("=").lower()],
            "encoded": [urlsafe_b64encode(f"/item/{self.number}".encode()).decode().rstrip("=")],
            "last": [self.parts],
            "revision": [self.number * 10_000 + part],
            "newest": [self.number * 10_000 + self.parts],
        }
        return [*map(str, values[place])]


@dataclass
class FormSite:
    """A site whose program has a form.

    >>> site = FormSite(FORMS["phpBB 3"], seed=1)
    >>> site.pages["http://www.site.example/viewtopic.php?f=2&t=1"]
    't 1 1'
    """

    form: Form
    seed: int = 0
    changing: float = 0.0
    """The share of captures with a content of their own, as if the page had changed."""

    def __post_init__(self) -> None:
        self.pages: dict[str, str] = {}
        # What two things have in common is no URL of either.
        every = [Thing(number, self.seed) for number in range(1, THINGS + 1)]
        times = Counter(title for thing in every for title in thing.titles)
        self._things = [thing for thing in every if {times[t] for t in thing.titles} == {1}]
        draw = Random(f"linked {self.seed}")
        for page, urls in self.form.items():
            for place, url in enumerate(urls):
                for text, shown in self._filled(url, page):
                    # Each page has one that all links to it have.
                    if not place or draw.random() < LINKED:
                        full = text if "://" in text else f"http://{HOST}/{text}"
                        self.pages.setdefault(full, shown)

    def _filled(self, url: str, page: str) -> Iterator[tuple[str, str]]:
        url, _, share = url.partition(" @")
        places = [*dict.fromkeys(_PLACE.findall(url + page))]
        is_parted = not {"k", "start", "post", "in_part", "revision"}.isdisjoint(places)
        for thing in self._things:
            if share and thing.draw(url).random() >= float(share):
                continue
            for part in range(1, thing.parts + 1) if is_parted else (1,):
                if "{start}" in url and part == 1:
                    continue
                texts = [thing.values(place, part) for place in places]
                for values in product(*texts):
                    found = dict(zip(places, values, strict=True))
                    yield url.format_map(found), page.format_map(found)

    def observations(self) -> Iterator[Observation]:
        """Yield a capture of each URL."""
        draw = Random(f"changes {self.seed}")
        for url, page in self.pages.items():
            digest = sha1(f"{self.seed} {page}".encode()).digest()
            if draw.random() < self.changing:
                digest = draw.randbytes(20)
            yield Observation(
                url, main_sha1=digest.hex(), simhash64=int.from_bytes(digest[:8], "big"), bytes=9000
            )


def half(url: str) -> int:
    """Return the half of a URL as ``score.py`` does: 0 to learn from, 1 to judge."""
    return sha1(url.encode()).digest()[0] & 1


def judged(site: FormSite) -> tuple[Score, Score, Rules, Mapping[str, object]]:
    """Return the scores of rewrites on the judged half, without and with skips, and the rules."""
    learned = learn(one for one in site.observations() if half(one.url) == 0)
    rules = Rules(learned.rules)
    numbers = {page: number for number, page in enumerate(sorted(set(site.pages.values())))}
    urls = [url for url in site.pages if half(url)]
    sizes: dict[str, int] = {}
    for url in urls:
        sizes[site.pages[url]] = sizes.get(site.pages[url], 0) + 1
    # A port makes no other site.
    pages = [
        Page(f"{_SITE}{url}", numbers[site.pages[url]], sizes[site.pages[url]] > SINK_SIZE)
        for url in urls
    ]
    fetched = frozenset(
        numbers[page] for url, page in site.pages.items() if not half(url) and not rules.skips(url)
    )

    def key(url: str) -> str:
        return rules.key(url.removeprefix(_SITE))

    def key_or_skip(url: str) -> str | None:
        return None if rules.skips(url.removeprefix(_SITE)) else key(url)

    scores = score(pages, key), score(pages, key_or_skip, fetched)
    return *scores, rules, learned.as_rules()


def false_merges(site: FormSite, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield pairs of URLs of different pages that the rules merge."""
    first: dict[str, str] = {}
    for url in sorted(site.pages):
        other = first.setdefault(rules.key(url), url)
        if site.pages[other] != site.pages[url]:
            yield other, url


def report(
    names: Iterable[str], changing: float, seed: int, *, show_rules: bool
) -> dict[str, dict[str, int]]:
    """Print and return the scores for the forms of some programs."""
    columns = ("redundant", "rewrites", "+ skip", "wrong", "lost")
    print(f"seed {seed}, {changing:.0%} of the captures differ")
    print(f"{'form':34}" + "".join(f"{column:>10}" for column in columns))
    found = {}
    for name in names:
        site = FormSite(FORMS[name], seed, changing)
        by_rewrites, with_skips, rules, texts = judged(site)
        print(
            f"{name:34}{by_rewrites.redundant:10}{by_rewrites.recall:10.3f}"
            f"{with_skips.recall:10.3f}{with_skips.wrong:10}{with_skips.lost:10}",
            flush=True,
        )
        found[name] = {
            "redundant": by_rewrites.redundant,
            "rewrites": by_rewrites.found,
            "with skip": with_skips.found,
            "wrong": with_skips.wrong,
            "lost": with_skips.lost,
        }
        if show_rules:
            for pattern, options in texts.items():
                for option, value in options.items():
                    print(f"    {pattern}: {option} = {value}")
        for pair in [*false_merges(site, rules)][:3]:
            print("    WRONG", *pair)
    return found


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which forms; all where none is given")
    parser.add_argument(
        "--changing",
        type=float,
        nargs="+",
        default=[0.0],
        metavar="SHARE",
        help="share of captures that differ, from 0 to 1",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="SEED")
    parser.add_argument("--rules", action="store_true", help="print the rules")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    names = [
        name
        for name in FORMS
        if not options.names or any(part.lower() in name.lower() for part in options.names)
    ]
    runs = [
        {
            "changing": changing,
            "seed": seed,
            "forms": report(names, changing, seed, show_rules=options.rules),
        }
        for changing, seed in product(options.changing, options.seeds)
    ]
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
