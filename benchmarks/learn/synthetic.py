"""Judges learning on synthetic sites, for which it is known which URLs show one page.

``python -m benchmarks.learn.synthetic [SITES] [--json FILE]``.

Each site draws, from its own seed, how it is built: which parameters select its pages, which are
noise, whether a sort order, a slug or a print view changes what is shown, how much of it is gone
(soft 404) or not yet translated. The same names play different parts on different sites, so that
no list of names can pass.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.learn.methods import Rules
from benchmarks.learn.places import Places
from scrapy_urlcanon.learn import Observation, learn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.learn.places import Place

_NAMES = (
    "id",
    "item",
    "ref",
    "cat",
    "view",
    "src",
    "s",
    "q",
    "tab",
    "mode",
    "t",
    "uid",
    "c",
    "pid",
    "show",
    "x",
)
"""Names of parameters that select pages on one site and mean nothing on the next."""


@dataclass(frozen=True)
class Visit:
    """A URL of the site, and the truth about it."""

    url: str
    page: str
    """The identity of the page. It is equal if a rule could know that two URLs are one."""
    content: str
    """The content. It is also equal for dead pages, untranslated pages, and days without events."""


@dataclass
class SyntheticSite:
    """A site drawn from a seed.

    >>> site = SyntheticSite(7)
    >>> site.visits(3) == SyntheticSite(7).visits(3)
    True
    """

    seed: int
    soft_404: float | None = None
    """The share of the numbered pages that are gone; drawn between 0 and 0.8 if not given."""
    changing: float = 0.0
    """The share of captures with a content of their own, as if the page had changed."""
    host: str = field(init=False)

    def __post_init__(self) -> None:
        draw = Random(self.seed)
        self.host = f"site{self.seed}.example"
        names = draw.sample(_NAMES, len(_NAMES))
        self._content, self._listing = names[0], names[1]
        self._noise = names[2 : 2 + draw.randint(1, 3)]
        if self.soft_404 is None:
            self.soft_404 = draw.choice([0.0, 0.0, 0.1, 0.3, 0.5, 0.8])
        self._session = draw.choice(["sid", "PHPSESSID", "session", "token", "k", ""])
        self._sort_matters = draw.random() < 0.5  # noqa: PLR2004
        self._sort_name = draw.choice(["sort", "order", "o", "by"])
        self._print = draw.choice(["segment", "param", "other page", ""])
        self._slug = draw.choice(["free", "free", "matters", ""])
        self._index = draw.choice(["same", "other", ""])
        self._index_name = draw.choice(["index.html", "index.php", "default.aspx"])
        self._slash = draw.choice(["same", "", ""])
        self._calendar = draw.random() < 0.4  # noqa: PLR2004
        self._translated = draw.choice([None, 0.3, 0.6, 0.95])
        self._language_name = draw.choice(["lang", "hl", "l"])
        self._rotates = draw.random() < 0.2  # noqa: PLR2004
        self._numbered = draw.choice(["query", "path"])
        self._pages = draw.randint(60, 150)
        kinds: list[Callable[[Random], Visit]] = [
            self._article,
            self._article,
            self._article,
            self._list,
            self._section,
        ]
        if self._slug:
            kinds += [self._slugged, self._slugged]
        if self._calendar:
            kinds.append(self._day)
        if self._translated is not None:
            kinds.append(self._language)
        kinds += [self._at(place) for place in Places(self.seed, self.host, self._pages).kinds]
        self._kinds = kinds

    def visits(self, count: int, salt: int = 0) -> list[Visit]:
        """Return the visits of a crawl: distinct URLs, drawn from all that the site answers."""
        draw = Random(f"{self.seed} {salt}")
        found: dict[str, Visit] = {}
        for _ in range(count * 20):
            visit = draw.choice(self._kinds)(draw)
            found.setdefault(visit.url, visit)
            if len(found) == count:
                break
        return list(found.values())

    def observations(self, count: int, salt: int = 0) -> Iterator[Observation]:
        """Yield the visits as a crawler records them."""
        draw = Random(f"blocks {self.seed} {salt}")
        for visit in self.visits(count, salt):
            yield self.observation(visit, draw)

    def observation(self, visit: Visit, draw: Random) -> Observation:
        """Return a visit as a crawler records it, with digests of the page."""
        digest = sha1(f"{self.host} {visit.content}".encode()).digest()
        simhash = int.from_bytes(digest[:8], "big")
        main = digest.hex()
        if draw.random() < self.changing:
            main, simhash = draw.randbytes(20).hex(), draw.getrandbits(64)
        elif self._rotates and draw.random() < 0.3:  # noqa: PLR2004
            # A block that changes with every request, too small to move more than two bits.
            main = draw.randbytes(20).hex()
            simhash ^= 1 << draw.randrange(64)
        return Observation(visit.url, main_sha1=main, simhash64=simhash, bytes=len(visit.content))

    def _at(self, place: Callable[[Random], Place]) -> Callable[[Random], Visit]:
        def visit(draw: Random) -> Visit:
            host, path, params, page, content = place(draw)
            url = self._url(path, params, draw, 0.1)
            return Visit(url.replace(self.host, host, 1), page, content)

        return visit

    def _url(
        self, path: str, params: list[tuple[str, object]], draw: Random, noise: float = 0.4
    ) -> str:
        params = list(params)
        for name in self._noise:
            if draw.random() < noise:
                params.append(
                    (
                        name,
                        draw.choice(["a", "b", "home", draw.randrange(9), draw.randrange(10**6)]),
                    )
                )
        if self._session and draw.random() < noise:
            params.append((self._session, f"{draw.getrandbits(64):016x}"))
        draw.shuffle(params)
        query = "&".join(f"{name}={value}".removesuffix("=") for name, value in params)
        return f"http://{self.host}{path}" + (f"?{query}" if query else "")

    def _number(self, draw: Random) -> tuple[int, bool]:
        number = draw.randrange(1, self._pages)
        assert self.soft_404 is not None
        return number, Random(f"{self.seed} dead {number}").random() < self.soft_404

    def _article(self, draw: Random) -> Visit:
        number, dead = self._number(draw)
        page, params = f"article {number}", []
        if self._numbered == "query":
            path = "/article"
            params = [(self._content, number)]
        else:
            path = f"/article/{number}"
        if self._print and draw.random() < 0.3:  # noqa: PLR2004
            if self._print == "segment" and self._numbered == "path":
                path += "/print"
            else:
                params.append(("print", 1))
                page += " printed" if self._print == "other page" else ""
        return Visit(self._url(path, params, draw), page, "gone" if dead else page)

    def _list(self, draw: Random) -> Visit:
        category, number, order = (
            draw.randrange(12),
            draw.randrange(1, 9),
            draw.choice(["date", "name", "size", ""]),
        )
        params: list[tuple[str, object]] = [(self._listing, f"c{category}")]
        if number > 1 or draw.random() < 0.5:  # noqa: PLR2004
            params.append(("page", number))
        if order:
            params.append((self._sort_name, order))
        last = Random(f"{self.seed} last {category}").randrange(2, 9)
        page = f"list {category} {number} {order if self._sort_matters and order != 'date' else ''}"
        # Past the end there is an empty listing, the same for all pages; a rule cannot know where
        # that is.
        content = f"list {category} empty" if number > last else page
        return Visit(self._url("/list", params, draw), page, content)

    def _section(self, draw: Random) -> Visit:
        section = draw.randrange(40)
        path, page = f"/section/s{section}-{section * 7}/", f"section {section}"
        if self._index and draw.random() < 0.4:  # noqa: PLR2004
            path += self._index_name
            page += " index" if self._index == "other" else ""
        elif self._slash and draw.random() < 0.4:  # noqa: PLR2004
            path = path.rstrip("/")
        return Visit(self._url(path, [], draw, 0.2), page, page)

    def _slugged(self, draw: Random) -> Visit:
        number, dead = self._number(draw)
        if self._slug == "free":
            slug, page = (
                draw.choice(["a-good-title", "title", f"title-{number}", "old-name"]),
                f"book {number}",
            )
        else:
            slug = f"part-{draw.randrange(3)}"
            page = f"book {number} {slug}"
        return Visit(
            self._url(f"/books/{number}/{slug}", [], draw, 0.2), page, "gone" if dead else page
        )

    def _day(self, draw: Random) -> Visit:
        year, month, day = draw.randrange(2000, 2030), draw.randrange(1, 13), draw.randrange(1, 29)
        page = f"day {year} {month} {day}"
        event = Random(f"{self.seed} {page}").random() < 0.1  # noqa: PLR2004
        params: list[tuple[str, object]] = [("y", year), ("m", month), ("d", day)]
        return Visit(
            self._url("/calendar", params, draw, 0.1), page, page if event else "no events"
        )

    def _language(self, draw: Random) -> Visit:
        number = draw.randrange(60)
        language = draw.choice(["en", "de", "fr"])
        assert self._translated is not None
        translated = Random(f"{self.seed} {number} {language}").random() < self._translated
        page = f"text {number} {language}"
        content = page if translated and language != "en" else f"text {number} en"
        return Visit(
            self._url(f"/text/{number}", [(self._language_name, language)], draw, 0.1),
            page,
            content,
        )


def judged(
    seed: int, rows: int = 1000, changing: float = 0.0
) -> tuple[Counter[str], Counter[str], int, int]:
    """Return the scores of rules learned from this many URLs of a site, judged on as many others.

    That is: the redundant URLs and those found, by the first word of their page; the wrong
    merges; and the number of rules.
    """
    site = SyntheticSite(seed, changing=changing)
    rules = learn(site.observations(rows)).rules
    key = Rules(rules).key
    contents: dict[str, set[str]] = {}
    keys: dict[str, list[str]] = {}
    for visit in site.visits(rows, salt=1):
        canonical = key(visit.url)
        contents.setdefault(canonical, set()).add(visit.content)
        keys.setdefault(visit.page, []).append(canonical)
    redundant: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for page, forms in keys.items():
        redundant[page.split()[0].rstrip("0123456789")] += len(forms) - 1
        found[page.split()[0].rstrip("0123456789")] += len(forms) - len(set(forms))
    wrong = sum(len(merged) - 1 for merged in contents.values())
    return redundant, found, wrong, len(rules)


def report(seeds: Iterable[int], changing: float = 0.0) -> dict[str, float]:
    """Print and return the scores for some sites."""
    redundant: Counter[str] = Counter()
    found: Counter[str] = Counter()
    wrong = sites = rules = 0
    for seed in seeds:
        counts = judged(seed, changing=changing)
        redundant += counts[0]
        found += counts[1]
        wrong += counts[2]
        rules += counts[3]
        sites += 1
        if counts[2]:
            print(f"site {seed}: {counts[2]} wrong merges")
    for kind in sorted(redundant):
        print(f"{kind:12}{redundant[kind]:8} redundant{found[kind] / redundant[kind]:8.1%} found")
    print(
        f"{sites} sites, {sites * 1000} URLs judged, {redundant.total()} redundant, "
        f"{found.total() / redundant.total():.1%} found, {wrong} wrong merges, {rules} rules"
    )
    return {
        "changing": changing,
        "sites": sites,
        "redundant": redundant.total(),
        "found": found.total(),
        "wrong": wrong,
        "rules": rules,
    }


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("sites", type=int, nargs="?", default=200, help="how many: seeds from 0 on")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    found = []
    for rate in (0.0, 0.01, 0.03, 0.1):
        print(f"{rate:.0%} of the captures differ")
        found.append(report(range(options.sites), rate))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
