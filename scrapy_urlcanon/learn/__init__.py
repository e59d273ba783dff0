"""Learn the rules of a site from what a crawl saw: observations in, rules with evidence out."""

from __future__ import annotations

from scrapy_urlcanon.learn.evidence import Prior, Thresholds
from scrapy_urlcanon.learn.learning import learn, learn_site, merge
from scrapy_urlcanon.learn.observation import Observation
from scrapy_urlcanon.learn.results.in_force import RuleInForce
from scrapy_urlcanon.learn.results.rule import Evidence, Learned, LearnedRule, Unexplained

__all__ = [
    "Evidence",
    "Learned",
    "LearnedRule",
    "Observation",
    "Prior",
    "RuleInForce",
    "Thresholds",
    "Unexplained",
    "learn",
    "learn_site",
    "merge",
]
