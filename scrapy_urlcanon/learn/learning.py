"""Observations in, rules with evidence out."""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.exceptions import LearnError
from scrapy_urlcanon.learn.classes.gates import gate_rules
from scrapy_urlcanon.learn.classes.sinks import sink_rules
from scrapy_urlcanon.learn.classes.skips import Skips, skip_rules
from scrapy_urlcanon.learn.classes.unexplained import unexplained
from scrapy_urlcanon.learn.miner import Miner
from scrapy_urlcanon.learn.orders import rules_of_order, rules_of_separators
from scrapy_urlcanon.learn.partitions import Partitions
from scrapy_urlcanon.learn.places import with_places
from scrapy_urlcanon.learn.processes import in_processes
from scrapy_urlcanon.learn.readers.links import StoredLinks
from scrapy_urlcanon.learn.readers.store import OtherDomainsError, Stores
from scrapy_urlcanon.learn.results.accepted import rules_of, separators, valid
from scrapy_urlcanon.learn.results.choices import in_few_lines
from scrapy_urlcanon.learn.results.idle import without_idle
from scrapy_urlcanon.learn.results.in_force import rules_in_force
from scrapy_urlcanon.learn.results.rule import Failure, Learned, beside
from scrapy_urlcanon.learn.results.union import unite
from scrapy_urlcanon.learn.scope import domain_of_pattern
from scrapy_urlcanon.learn.site import NO_EVIDENCE, SINK_SIZE
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS, Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from scrapy_urlcanon.learn.captures import Captures
    from scrapy_urlcanon.learn.classes.members import Key
    from scrapy_urlcanon.learn.links import KnownLinks
    from scrapy_urlcanon.learn.observation import Observation
    from scrapy_urlcanon.learn.partitions import Part
    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.learn.site import Site
    from scrapy_urlcanon.learn.thresholds import Prior

MIN_FOR_SEVERAL = 20_000
"""With fewer observations one process is done before others have started."""


def learn(
    observations: Iterable[Observation],
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    domains: Collection[str] | None = None,
    in_force: Iterable[RuleInForce] = (),
    preset: str | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    prior: Prior | None = None,
    prior_of: Callable[[Iterable[str]], Prior] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    jobs: int = 1,
) -> Learned:
    """Return the rules that the observations of crawls support, domain by domain.

    The observations are read once. About 200 bytes of each are held in memory, or on disk if there
    are more than half a million; those of :class:`Stores` are held for a few domains at a time.
    The result depends only on the set of observations, not on their order. If learning from one
    domain raises an error, the others are still learned, and the error is in
    :attr:`Learned.failed`.

    :param thresholds: how much evidence is enough.
    :param domains: registrable domains to learn about; None means all.
    :param in_force: the rules that the observations were made under, in their order. Observations
        cannot show what these rules merged, so the rules stay, unless audits contradict them.
    :param preset: the preset that the rules will be added to. No rule is learned for what it does
        already.
    :param rules: the value of the ``URLCANON_RULES`` setting. No rule is learned for what these
        rules do already; they are not part of the result.
    :param prior: what is known about rules before the site was seen. It counts like pages of
        evidence, but no rule is learned without a page.
    :param prior_of: returns the *prior* of a domain, given the URLs that were seen there.
    :param progress: called with each domain before it is learned from, and with "" at the end,
        with the number of observations learned from so far, and of all. With several processes it
        is called when a domain is done.
    :param jobs: how many processes learn at once, if there is enough for several. The other
        parameters must then be picklable, and a script that calls this must be importable
        (``if __name__ == "__main__":``).
    :raises ConfigurationError: if *preset* or *rules* are not valid.
    :raises SpillError: if there is no room on disk.
    :raises ProcessError: if one of the processes was killed.

    >>> from scrapy_urlcanon.learn import Observation
    >>> pages = [Observation(f"http://shop.example/{i}", main_sha1=f"{i:040x}") for i in range(9)]
    >>> again = [
    ...     Observation(f"{page.url}?sid={i}", main_sha1=page.main_sha1)
    ...     for i, page in enumerate(pages)
    ... ]
    >>> learn([*pages, *again]).as_rules()
    {'shop.example': {'drop_params': ['sid']}}
    >>> from scrapy_urlcanon.learn import RuleInForce
    >>> learn(pages, in_force=[RuleInForce("shop.example", "drop_params", ["sid"])]).as_rules()
    {'shop.example': {'drop_params': ['sid']}}
    """
    # Checked once here: else each domain would fail on them.
    beside(rules, (), preset or DEFAULT_PRESET)
    standing: dict[str, list[RuleInForce]] = {}
    for rule in in_force:
        if domains is None or rule.domain in domains:
            standing.setdefault(rule.domain, []).append(rule)
    links = StoredLinks(observations.paths) if isinstance(observations, Stores) else None
    learner = _Learner(thresholds, standing, preset, _by_domain(rules), prior, prior_of, links)
    found: _Found | None = None
    count = 0

    def tell(name: str, done: int) -> None:
        if progress is not None:
            progress(name, done, count)

    if isinstance(observations, Stores) and domains is None:
        with suppress(OtherDomainsError):
            parts = observations.parts()
            count = sum(part.size for part in parts)
            found = _learn_parts(parts, learner, tell, jobs)
            observations.skipped.update(found.skipped)
    if found is None:
        with Partitions(observations, domains) as partitions:
            count = partitions.observations
            found = _learn_parts(partitions.parts(), learner, tell, jobs)
    others = [here for name, here in standing.items() if name not in found.learned]
    left = (Learned(*unite((), (), here, thresholds)) for here in others)
    return merge([*found.learned.values(), *left])


class _Learner(NamedTuple):
    """What is the same for all domains."""

    thresholds: Thresholds
    in_force: Mapping[str, Sequence[RuleInForce]]
    """By domain."""
    preset: str | None
    rules: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """The rules of the settings, by domain."""
    prior: Prior | None
    prior_of: Callable[[Iterable[str]], Prior] | None
    links: KnownLinks | None

    def learn(
        self,
        part: Part,
        tell: Callable[[str, int], None] = lambda name, done: None,  # noqa: ARG005
    ) -> _Found:
        """Return what is learned about the domains of a part.

        :param tell: called before each domain, with its name and the number of observations learned
            from so far.
        """
        skipped: Counter[str] = Counter()
        captures = part.captures(skipped)
        found: dict[str, Learned] = {}
        done = 0
        for name in sorted(captures):
            tell(name, done)
            done += len(captures[name])
            try:
                found[name] = self._learn_domain(name, captures)
            except (LearnError, MemoryError, OSError):
                raise
            except Exception:  # noqa: BLE001 - one domain of thousands stops no other
                kept = unite((), (), self.in_force.get(name, ()), self.thresholds)
                found[name] = Learned(*kept, failed=(Failure(name, format_exc()),))
            # Canonicalizers are in reference cycles, and the garbage collector may be paused. The
            # young generation has this domain's objects only, so the time does not grow.
            gc.collect(0)
        return _Found(found, done, skipped)

    def _learn_domain(self, name: str, captures: dict[str, Captures]) -> Learned:
        """Return what is learned about a domain, and free its captures."""
        # Popped, because the captures of a domain and its site would not both fit in memory.
        site = captures.pop(name).site(name)
        site.known_links = self.links
        prior = self.prior
        if self.prior_of is not None:
            prior = self.prior_of(location.url for location in site.locations)
        return learn_site(
            site,
            thresholds=self.thresholds,
            in_force=self.in_force.get(name, ()),
            in_force_everywhere=self.in_force.get(ANY_HOST, ()),
            preset=self.preset,
            rules={**self.rules.get(ANY_HOST, {}), **self.rules.get(name, {})},
            prior=prior,
        )


class _Found(NamedTuple):
    """What was learned about the domains of a part."""

    learned: dict[str, Learned]
    done: int
    """The number of observations that it was learned from."""
    skipped: Counter[str]


def _learn_parts(
    parts: Sequence[Part], learner: _Learner, tell: Callable[[str, int], None], jobs: int
) -> _Found:
    """Return what is learned about the domains of all parts."""
    jobs = min(jobs, len(parts))
    if sum(part.size for part in parts) < MIN_FOR_SEVERAL:
        jobs = 1
    learned: dict[str, Learned] = {}
    skipped: Counter[str] = Counter()
    done = 0
    if jobs > 1:
        # The largest first, so that no process still has a large one when the others are done.
        ordered = sorted(parts, key=lambda part: -part.size)
        results = in_processes(learner.learn, ordered, jobs)
    else:
        results = (
            learner.learn(part, lambda name, more: tell(name, done + more)) for part in parts
        )
    for found in results:
        learned.update(found.learned)
        skipped.update(found.skipped)
        done += found.done
        if jobs > 1:
            tell(next(reversed(found.learned), ""), done)
    tell("", done)
    return _Found(learned, done, skipped)


def learn_site(
    site: Site,
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    in_force: Iterable[RuleInForce] = (),
    in_force_everywhere: Iterable[RuleInForce] = (),
    preset: str | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    prior: Prior | None = None,
) -> Learned:
    """Return the rules of one registrable domain, for engines that distribute domains.

    :param in_force: as for :func:`learn`, but only the rules of this domain.
    :param in_force_everywhere: the rules for all hosts, which are not part of the result.
    :param preset: as for :func:`learn`.
    :param rules: as for :func:`learn`; those of other domains only cost time.
    :param prior: as for :func:`learn`.

    >>> from scrapy_urlcanon.learn import Observation
    >>> from scrapy_urlcanon.learn.captures import site_of
    >>> seen = [
    ...     Observation(f"http://shop.example/{page}{query}", main_sha1=f"{page:040x}")
    ...     for page in range(9)
    ...     for query in ("", f"?sid={page}")
    ... ]
    >>> learn_site(site_of("shop.example", seen)).as_rules()
    {'shop.example': {'drop_params': ['sid']}}
    """
    in_force = tuple(in_force)
    miner = Miner(site, thresholds, prior)
    standing = unite((), (), (*in_force_everywhere, *in_force), thresholds).rules
    if standing or rules:
        miner.start_under(beside(rules, standing, preset or "scrapy"))
    elif preset:
        miner.start_under(_without_rules(preset))
    redundant = sum(size - 1 for size in site.sizes if size)
    settled = redundant - miner.groups.redundant
    miner.run()
    skips = _skips(miner, thresholds, prior)
    sinks, unsure_sinks = sink_rules(miner.groups, thresholds)
    found = valid(
        [
            *rules_of(site.domain, without_idle(miner.accepted)),
            *sinks,
            *in_few_lines(skips.rules, in_force, thresholds.confidence),
            *gate_rules(miner.groups, thresholds, miner.form),
        ]
    )
    new = [
        *separators(
            site.semicolon_hosts,
            (*rules_of_separators(site.domain, site.reordered, thresholds), *found),
        ),
        *rules_of_order(site.domain, site.reordered, site.visited, thresholds.confidence),
        *found,
    ]
    said = {rule.key for rule in new}
    unsure = [
        rule
        for rule in (*rules_of(site.domain, miner.unsure()), *unsure_sinks, *skips.refused)
        if rule.key not in said and valid([rule])
    ]
    united = unite(new, unsure, in_force, thresholds, rules_in_force(rules or {}))
    return Learned(
        rules=with_places(united.rules, site, rules, preset or DEFAULT_PRESET),
        unsure=united.unsure,
        domains=1,
        urls=len(site.locations),
        redundant=redundant,
        settled=settled,
        crowded=sum(size - 1 for size in site.sizes if size > SINK_SIZE),
        silent=site.pages.count(NO_EVIDENCE),
        unexplained=tuple(unexplained(miner.groups, united.rules)),
    )


def _skips(miner: Miner, thresholds: Thresholds, prior: Prior | None) -> Skips:
    """Return the classes of URLs that need not be fetched; take back rules in their way.

    A template may rewrite URLs into a class that could be skipped, although their pages are found
    nowhere else. It is taken back if fewer URLs are left to fetch without it, since then the class
    is skipped, which saves more than the template. It is also taken back if the class is skipped
    either way, since these pages would be lost.
    """

    def look() -> Skips:
        return skip_rules(
            miner.groups,
            thresholds,
            miner.form,
            miner.shares_seen,
            prior,
            rate_beside=miner.rate_beside,
        )

    skips = look()
    while True:
        ways: dict[frozenset[int], set[Key]] = {}
        for key, led in skips.led.items():
            ways.setdefault(miner.leading(led), set()).add(key)
        for way, keys in ways.items():
            if not way:
                continue
            before = miner.accepted, miner.groups
            if not miner.take_back(way):
                continue
            without = look()
            if without.left < skips.left or keys & skips.accepted & without.accepted:
                skips = without
                break
            miner.accepted, miner.groups = before
        else:
            return skips


def _by_domain(
    rules: Mapping[str, Mapping[str, Any]] | None,
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return rules by the registrable domain that they are for; ``*`` for all hosts."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for pattern, options in (rules or {}).items():
        found.setdefault(domain_of_pattern(pattern), {})[pattern] = options
    return found


@lru_cache
def _without_rules(preset: str) -> Canonicalizer:
    return Canonicalizer(preset=preset)


def merge(parts: Iterable[Learned]) -> Learned:
    """Return what was learned about several domains as one; the order of *parts* is irrelevant.

    >>> from scrapy_urlcanon.learn import LearnedRule
    >>> rules = [LearnedRule(d, d, "www", "strip", "rewrite") for d in ("b.example", "a.example")]
    >>> merge(Learned((rule,), domains=1, urls=9) for rule in rules).as_rules()
    {'a.example': {'www': 'strip'}, 'b.example': {'www': 'strip'}}
    """
    parts = list(parts)
    by_domain = attrgetter("domain")
    return Learned(
        rules=tuple(sorted((rule for part in parts for rule in part.rules), key=by_domain)),
        unsure=tuple(sorted((rule for part in parts for rule in part.unsure), key=by_domain)),
        domains=sum(part.domains for part in parts),
        urls=sum(part.urls for part in parts),
        redundant=sum(part.redundant for part in parts),
        settled=sum(part.settled for part in parts),
        crowded=sum(part.crowded for part in parts),
        silent=sum(part.silent for part in parts),
        failed=tuple(sorted(failure for part in parts for failure in part.failed)),
        unexplained=tuple(
            sorted(
                (left for part in parts for left in part.unexplained),
                key=lambda left: (-left.urls, left),
            )
        ),
    )
