"""Methods that decide which URLs are one page: those of others, and learned rules."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from w3lib.url import canonicalize_url

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.learn.canonicals import declared_canonicals
from scrapy_urlcanon.learn.captures import by_domain
from scrapy_urlcanon.learn.learning import learn
from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.results.rule import as_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy_urlcanon.learn import LearnedRule, Observation, Thresholds

Key = "Callable[[str], str | None]"


MIN_SEEN = 5
"""The least number of pairs of URLs for statistics of a parameter."""


class Halves(NamedTuple):
    """The half that a method may use, and the half that it is judged on."""

    learn: Sequence[Observation]
    judge: Sequence[Observation]


def scrapy_default(halves: Halves) -> Callable[[str], str | None]:
    """Merge what Scrapy's default fingerprint merges."""
    del halves
    return canonicalize_url


def preset(name: str) -> Callable[[Halves], Callable[[str], str | None]]:
    """Apply a preset, without any rule for the site."""
    return lambda _halves: Canonicalizer(preset=name).canonicalize


def no_query(halves: Halves) -> Callable[[str], str | None]:
    """Drop the whole query."""
    del halves
    return lambda url: url.partition("?")[0]


def all_declared(halves: Halves) -> Callable[[str], str | None]:
    """Believe every declared canonical and every redirect of the judged URL."""
    declared = {o.url: o.canonical or o.redirect for o in halves.judge}
    return lambda url: declared.get(url) or url


def param_statistics(halves: Halves) -> Callable[[str], str | None]:
    """Drop a parameter of a host if it made no difference often enough.

    The idea of MaybeDont (Scrapinghub, 2013), reduced to its parameter statistics: for each
    parameter, how often URLs that are equal without it show one page. It is dropped if that is
    so for 95 % of at least 5 pairs.
    """
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    groups: dict[tuple[str, str, str], list[Observation]] = defaultdict(list)
    for observation in halves.learn:
        if not observation.has_content:
            continue
        (_, host), path, params = locate(observation.url)
        for param in ("", *params):
            rest = f"{path}?{'&'.join(p for p in params if p != param)}"
            groups[host, param.partition("=")[0], rest].append(observation)
    for (host, name, rest), members in groups.items():
        others = members + (groups.get((host, "", rest), []) if name else [])
        for observation in others[1:] if name else ():
            counts[host, name][observation.same_page(others[0])] += 1
    dropped = {
        key
        for key, (bad, good) in counts.items()
        if good + bad >= MIN_SEEN and good >= 0.95 * (good + bad)
    }

    def key(url: str) -> str:
        (_, host), path, params = locate(url)
        kept = [p for p in params if (host, p.partition("=")[0]) not in dropped]
        return f"{host}{path}?{'&'.join(kept)}"

    return key


class Rules:
    """Learned rules, applied by the product's own canonicalizer."""

    def __init__(self, rules: Iterable[LearnedRule]) -> None:
        self._canonicalizer = Canonicalizer(as_rules(rules))
        self.key = self._canonicalizer.canonicalize
        """Returns the canonical URL."""

    def skips(self, url: str) -> bool:
        """Whether the URL would not be fetched at all."""
        canonical = self.key(url)
        return self._canonicalizer.policy(canonical).skips(split(canonical)) is not None


def learned(
    halves: Halves, thresholds: Thresholds, *, skip: bool = False, declared: bool = False
) -> tuple[Callable[[str], str | None], Rules]:
    """Return a function that maps URLs by the rules learned from one half, and the rules."""
    rules = Rules(learn(halves.learn, thresholds=thresholds).rules)
    trusted = {}
    if declared:
        for domain, captures in by_domain(halves.learn).items():
            trusted[domain] = declared_canonicals(captures.site(domain), thresholds)
    canonicals = {o.url: o.canonical for o in halves.judge if o.canonical}

    def key(url: str) -> str | None:
        if skip and rules.skips(url):
            return None
        target = canonicals.get(url)
        if declared and target and domain_of(target) == domain_of(url):
            believed = trusted.get(domain_of(url))
            if believed is not None and believed.believes(locate(url), locate(target)):
                return rules.key(target)
        return rules.key(url)

    return key, rules
