"""Observations in, rules with evidence out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST
from scrapy_urlcanon.learn.classes.sinks import sink_rules
from scrapy_urlcanon.learn.classes.skips import skip_rules
from scrapy_urlcanon.learn.classes.unexplained import unexplained
from scrapy_urlcanon.learn.evidence import DEFAULT_THRESHOLDS, Thresholds
from scrapy_urlcanon.learn.miner import Miner
from scrapy_urlcanon.learn.orders import rules_of_order
from scrapy_urlcanon.learn.partitions import Partitions
from scrapy_urlcanon.learn.places import with_places
from scrapy_urlcanon.learn.results.accepted import rules_of, separators, valid
from scrapy_urlcanon.learn.results.idle import without_idle
from scrapy_urlcanon.learn.results.rule import Learned, LearnedRule, as_rules
from scrapy_urlcanon.learn.results.union import unite
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from scrapy_urlcanon.learn.evidence import Prior
    from scrapy_urlcanon.learn.observation import Observation
    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.learn.site import Site


def learn(
    observations: Iterable[Observation],
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    domains: Collection[str] | None = None,
    in_force: Iterable[RuleInForce] = (),
    preset: str | None = None,
    prior: Prior | None = None,
    prior_of: Callable[[Iterable[str]], Prior] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Learned:
    """Return the rules that a crawl's observations support, domain by domain.

    The observations are read once, in any order; of each some 200 bytes are held, and on disk
    where they are more than half a million. The result depends on nothing but their set.

    :param thresholds: how much evidence is enough.
    :param domains: registrable domains to look at; all where None.
    :param in_force: the rules that the observations were made under, in their order; what they
        merge cannot be seen in them. They stay, unless audits contradict them.
    :param preset: what the rules are to be added to: what it does by itself needs none.
    :param prior: what is known of rules before the site was seen; it makes up for pages, and no
        rule is learned without one.
    :param prior_of: makes the *prior* of each domain of the URLs that were seen there.
    :param progress: called with each domain before it is learned from, and with "" at the end:
        how many observations were learned from, and how many there are.
    :raises SpillError: where there is no room on disk.

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
    rules: dict[str, list[RuleInForce]] = {}
    for rule in in_force:
        if domains is None or rule.domain in domains:
            rules.setdefault(rule.domain, []).append(rule)
    everywhere = rules.get(ANY_HOST, ())
    found: list[Learned] = []
    done = 0
    with Partitions(observations, domains) as partitions:
        for captures in partitions:
            for name in sorted(captures):
                if progress is not None:
                    progress(name, done, partitions.observations)
                done += len(captures[name])
                # Popped, because the captures of a domain and what is made of them would not fit
                # side by side.
                site = captures.pop(name).site(name)
                here = rules.pop(name, ())
                if prior_of is not None:
                    prior = prior_of(location.url for location in site.locations)
                found.append(
                    learn_site(
                        site,
                        thresholds=thresholds,
                        in_force=here,
                        in_force_everywhere=everywhere,
                        preset=preset,
                        prior=prior,
                    )
                )
        if progress is not None:
            progress("", done, partitions.observations)
    found += [Learned(*unite((), (), here, thresholds)) for here in rules.values()]
    return merge(found)


def learn_site(
    site: Site,
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    in_force: Iterable[RuleInForce] = (),
    in_force_everywhere: Iterable[RuleInForce] = (),
    preset: str | None = None,
    prior: Prior | None = None,
) -> Learned:
    """Return the rules of one registrable domain; this is what an engine maps over many.

    :param in_force: as for :func:`learn`, but only those of this domain.
    :param in_force_everywhere: those for every host, which are no part of what is returned.
    :param preset: as for :func:`learn`.
    :param prior: as for :func:`learn`.
    """
    in_force = tuple(in_force)
    miner = Miner(site, thresholds, prior)
    standing = unite((), (), (*in_force_everywhere, *in_force), thresholds).rules
    if standing:
        miner.start_under(Canonicalizer(as_rules(standing), preset=preset or "scrapy"))
    elif preset:
        miner.start_under(_without_rules(preset))
    miner.run()
    while True:
        skips, led = skip_rules(miner.groups, thresholds, miner.form, miner.share_seen, prior)
        if not miner.take_back(led):
            break
    sinks, unsure_sinks = sink_rules(miner.groups, thresholds)
    found = valid([*rules_of(site.domain, without_idle(miner.accepted)), *sinks, *skips])
    rules = [
        *separators(site.semicolon_hosts, found),
        *rules_of_order(site.domain, site.reordered, thresholds.confidence),
        *found,
    ]
    unsure = [
        rule for rule in (*rules_of(site.domain, miner.unsure()), *unsure_sinks) if valid([rule])
    ]
    said = {rule.key for rule in rules}
    unsure = [rule for rule in unsure if rule.key not in said]
    united = unite(rules, unsure, in_force, thresholds)
    return Learned(
        rules=with_places(united.rules, site, preset),
        unsure=united.unsure,
        domains=1,
        urls=len(site.locations),
        redundant=sum(size - 1 for size in site.sizes if size),
        silent=site.pages.count(NO_EVIDENCE),
        unexplained=tuple(unexplained(miner.groups, united.rules)),
    )


@lru_cache
def _without_rules(preset: str) -> Canonicalizer:
    return Canonicalizer(preset=preset)


def merge(parts: Iterable[Learned]) -> Learned:
    """Return what was learned of several domains as one; the order of the parts does not matter."""
    parts = list(parts)

    def domain_of(rule: LearnedRule) -> str:
        return rule.domain

    return Learned(
        rules=tuple(sorted((rule for part in parts for rule in part.rules), key=domain_of)),
        unsure=tuple(sorted((rule for part in parts for rule in part.unsure), key=domain_of)),
        domains=sum(part.domains for part in parts),
        urls=sum(part.urls for part in parts),
        redundant=sum(part.redundant for part in parts),
        silent=sum(part.silent for part in parts),
        unexplained=tuple(
            sorted(
                (left for part in parts for left in part.unexplained),
                key=lambda left: (-left.urls, left),
            )
        ),
    )
