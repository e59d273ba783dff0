"""Learn the rules of a site from what a crawl saw: observations in, rules with evidence out.

The names below are imported when they are first used: a crawl that records what it sees learns
nothing, and would wait for the import, and have more to collect garbage from.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_urlcanon.learn.learning import learn, learn_site, merge
    from scrapy_urlcanon.learn.observation import Observation
    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.learn.results.rule import (
        Evidence,
        Failure,
        Learned,
        LearnedRule,
        Unexplained,
    )
    from scrapy_urlcanon.learn.thresholds import Prior, Thresholds

__all__ = [
    "Evidence",
    "Failure",
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

_MODULES = {
    "Evidence": "results.rule",
    "Failure": "results.rule",
    "Learned": "results.rule",
    "LearnedRule": "results.rule",
    "Observation": "observation",
    "Prior": "thresholds",
    "RuleInForce": "results.in_force",
    "Thresholds": "thresholds",
    "Unexplained": "results.rule",
    "learn": "learning",
    "learn_site": "learning",
    "merge": "learning",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
