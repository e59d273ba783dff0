"""Compares a crawl in which nothing is merged with the one without the plugin, by request.

Under the preset ``scrapy`` and without a rule, two URLs are one if Scrapy alone takes them for one.
So the site gets the same requests in the same order, and all of Scrapy's stats are the same:
requests that the plugin drops as soon as they are yielded count as if the scheduler had dropped
them.

**What differs by design, and no case here has**: redirects that lead to the URL itself, which
are fetched; requests with the plugin's keys in their meta; requests in place of a failure
(``URLCANON_RESCUE``); and files that are pages too, which the HTTP cache stores separately.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from differential.case import redirect_target
from differential.crawling import crawl_all

if TYPE_CHECKING:
    from differential.case import Case

_PLUGIN = {"URLCANON_PRESET": "scrapy", "URLCANON_RESCUE": False}
_UNSTEADY = {"late", "coroutines", "sleeps", "items", "starts late", "idles"}
"""Habits with which the order depends on the clock."""
_NOT_COMPARED = ("urlcanon/", "elapsed_time", "start_time", "finish_time", "memusage", "log_count/")
_NOT_OF_BOTH = ("HTTPCACHE_ENABLED", "CONCURRENT_REQUESTS", "AUTOTHROTTLE_ENABLED", "EXTENSIONS")


def without_merges(case: Case) -> Case:
    """Return *case* without rules, and without what the plugin treats differently by design."""
    pages = {
        name: replace(page, links=tuple(replace(link, rules=None, own="") for link in page.links))
        for name, page in case.pages.items()
    }
    return replace(
        case,
        pages=pages,
        start=tuple(replace(link, rules=None, own="") for link in case.start),
        answers={
            url: answer
            for url, answer in case.answers.items()
            if not redirect_target(url, answer) and answer.location is None
        },
        interferences=tuple(
            each for each in case.interferences if each.action not in {"request", "moved"}
        ),
        habits=tuple(habit for habit in case.habits if habit not in _UNSTEADY),
        server=(),
        mixing="" if case.mixing == "late" else case.mixing,
        delays={},
        settings={name: value for name, value in case.settings.items() if name not in _NOT_OF_BOTH},
        plugin=_PLUGIN,
        places={},
        program="",
        crawls=1,
        end="",
        end_again=0,
        later_plugin={},
    )


async def differences(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return what differs between the crawls of *case*, each without the plugin and with it."""
    off, on = [(await crawl_all(case, plugin=plugin))[0] for plugin in (False, True)]
    sides = [
        {**_compared(got.stats), "requests": got.hits, "pages": got.pairs} for got in (off, on)
    ]
    return {
        name: (sides[0].get(name), sides[1].get(name))
        for name in sorted({*sides[0], *sides[1]})
        if sides[0].get(name) != sides[1].get(name)
    }


def _compared(stats: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stats.items() if not name.startswith(_NOT_COMPARED)}
