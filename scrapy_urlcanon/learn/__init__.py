"""Learn the rules of a site from what a crawl saw: observations in, rules with evidence out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.domains import by_domain
from scrapy_urlcanon.learn.emission import rules_of
from scrapy_urlcanon.learn.evidence import DEFAULT_THRESHOLDS, Thresholds
from scrapy_urlcanon.learn.miner import Miner
from scrapy_urlcanon.learn.observation import Observation
from scrapy_urlcanon.learn.sinks import sink_rules
from scrapy_urlcanon.learn.skips import skip_rules
from scrapy_urlcanon.learn.rule import Evidence, Learned, LearnedRule

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Evidence", "Learned", "LearnedRule", "Observation", "Thresholds", "learn"]


def learn(observations: Iterable[Observation], *, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> Learned:
    """Return the rules that a crawl's observations support."""
    rules: list[LearnedRule] = []
    unsure: list[LearnedRule] = []
    urls = redundant = 0
    captures = by_domain(observations)
    domains = sorted(captures)
    for domain in domains:
        site = captures.pop(domain).site(domain)
        miner = Miner(site, thresholds)
        miner.run()
        rules += rules_of(domain, miner.accepted)
        sure, maybe = sink_rules(miner.groups, thresholds)
        rules += sure
        unsure += maybe
        rules += skip_rules(miner.groups, thresholds, miner.form)
        urls += len(site.locations)
        redundant += sum(size - 1 for size in site.sizes if size)
    return Learned(tuple(rules), tuple(unsure), len(domains), urls, redundant)
