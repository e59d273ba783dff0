"""Measures what profiles alone find and merge wrongly on real sites, recognised by URLs alone.

``python -m benchmarks.profiles.corpus [--json]``. The corpus has neither headers nor pages, so
nothing is certain: each suspicion is used as a rule, first those for the same page, then those
for other views too. A link to a part of a page counts as found if the corpus has a page with the
same content, of a shape that shows parts: in a crawl the ids of elements prove that.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchmarks import results
from benchmarks.learn.corpus import PATH, sites
from benchmarks.learn.judge import Score, pages_of, score
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.installation import Installation, templates_at
from scrapy_urlcanon.profiles.known_urls import told_by_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from benchmarks.learn.judge import Page
    from scrapy_urlcanon.canonicalizer.templates import Template

_LEAST = 10
"""The least number of redundant URLs of a site that is in the means."""


def installations(urls: Iterable[str]) -> list[Installation]:
    """Return the programs that *urls* show, with their places."""
    plain = Canonicalizer()
    hosts: dict[str, list[str]] = defaultdict(list)
    for text in urls:
        url = plain.canonical_or_none(text)
        if url is not None:
            hosts[split(url).host].append(url)
    return [
        Installation(profile, host, None, place)
        for host, found in hosts.items()
        for profile, place in told_by_urls(found, our_profiles())
    ]


class Known:
    """The keys of URLs under the rules of recognised programs."""

    def __init__(self, found: Sequence[Installation], *, views: bool) -> None:
        self.canonicalizer = Canonicalizer()
        hosts: dict[str, list[Installation]] = defaultdict(list)
        for one in found:
            hosts[one.host].append(one)
        self.links: list[tuple[str, tuple[Template, ...]]] = []
        self.pages: list[tuple[str, tuple[Template, ...]]] = []
        for host, here in hosts.items():
            rule_sets = [
                rule_set
                for one in here
                for certain in (False, True)
                for rule_set in one.rule_sets(
                    certain=certain, others=tuple(other.place for other in here), views=views
                )
            ]
            self.canonicalizer.declare(host, tuple(rule_sets))
            for one in here:
                for part in one.profile.parts:
                    self.links.append((host, templates_at(one.place, part.links)))
                    self.pages.append((host, templates_at(one.place, part.pages)))

    def fits(self, shapes: Sequence[tuple[str, tuple[Template, ...]]], canonical: str) -> bool:
        """Tell whether a canonical URL has one of *shapes*."""
        url = split(canonical)
        for host, templates in shapes:
            if host != url.host:
                continue
            for template in templates:
                match = template.match(url)
                if match is not None and not match.others:
                    return True
        return False

    def key(self, pages: Sequence[Page]) -> Callable[[str], str | None]:
        """Return the key of a URL's page, or None if the URL is not fetched."""
        clusters = {page.url: page.cluster for page in pages}
        canonical = {page.url: self.canonicalizer.canonicalize(page.url) for page in pages}
        shown = {
            clusters[url]
            for url, form in canonical.items()
            if self.fits(self.pages, form) and not self.fits(self.links, form)
        }

        def key(url: str) -> str | None:
            form = canonical[url]
            if self.canonicalizer.skips(url):
                return None
            if clusters[url] in shown and self.fits(self.links, form):
                return None
            return form

        return key


def measure(path: Path, *, views: bool) -> dict[str, Any]:
    """Print what is found on each site with a known program, and the means; return these.

    :param views: whether suspicions about other views of the same things are used as rules too.
    """
    print(f"{path.name}, {'with' if views else 'without'} other views of the same things")
    print(
        f"  {'site':18}{'redundant':>10}{'found':>8}{'wrong':>7}{'lost':>6}  without: found, wrong"
    )
    total, without = Score(), Score()
    recalls = []
    recognised = 0
    for name, observations in sites(path).items():
        found = installations(row.url for row in observations)
        pages = pages_of(observations)
        known = Known(found, views=views)
        result = score(pages, known.key(pages)) if found else score(pages, lambda url: url)
        if result.redundant >= _LEAST:
            recalls.append(result.recall)
        if not found:
            continue
        recognised += 1
        # What the preset merges on a site that changed between two captures is not the profile's.
        plain = Canonicalizer()
        before = score(pages, plain.canonicalize)
        total += result
        without += before
        programs = ", ".join(sorted({one.profile.name for one in found}))
        print(
            f"  {name:18}{result.redundant:10,}{result.found:8,}{result.wrong:7,}"
            f"{result.lost:6,}  {before.found:,}, {before.wrong:,}; {programs}"
        )
    macro = sum(recalls) / len(recalls)
    print(
        f"  {recognised} sites: precision {_precision(total, without):.4f} of what profiles add, "
        f"recall {total.recall:.3f} (without {without.recall:.3f}), "
        f"lost {total.lost}; macro recall of all {len(recalls)} sites {macro:.3f}"
    )
    return {
        "corpus": path.name,
        "views": views,
        "sites": recognised,
        "redundant": total.redundant,
        "found": total.found - without.found,
        "wrong": max(total.wrong - without.wrong, 0),
        "precision": _precision(total, without),
        "recall": total.recall,
        "recall without": without.recall,
        "macro recall": macro,
        "macro sites": len(recalls),
    }


def _precision(total: Score, without: Score) -> float:
    """Return the share of right merges among those beyond the preset."""
    found, wrong = total.found - without.found, max(total.wrong - without.wrong, 0)
    return found / (found + wrong) if found + wrong else 1.0


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="write the results")
    options = parser.parse_args()
    found = [
        measure(corpus, views=views)
        for views in (False, True)
        for corpus in (PATH, PATH.with_name("observations-2.tsv.gz"))
    ]
    if options.json:
        results.write("profiles-corpus", {"alone": found}, [])


if __name__ == "__main__":
    main()
