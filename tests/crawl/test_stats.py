"""Every stat of the plugin is in the registry."""

import re

import pytest
from loopback import page
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, known_stats, links, site

from scrapy_urlcanon.crawl.stats import PREFIX, Stat


@pytest.mark.parametrize("stat", Stat)
def test_key_is_recognized(stat):
    """A key is recognised, whatever its placeholders stand for."""
    names = dict.fromkeys(re.findall(r"{(\w+)}", stat.value), "a/{b}?c")
    assert stat.key(**names).startswith(PREFIX)
    assert known_stats().fullmatch(stat.key(**names))


@pytest.mark.parametrize("name", ["urlcanon/dropd", "urlcanon/dropped/", "urlcanon/rescue/sent/x"])
def test_other_names_are_not(name):
    """Other names are not recognised."""
    assert not known_stats().fullmatch(name)


@deferred_f_from_coro_f
async def test_crawl_with_everything_on(crawl):
    """A crawl with all features on has no stat that is not in the registry."""
    pages = {
        "/": links("/a", "/a?sid=1", "/a?sid=2", "/gone?sid=1", "/gone?sid=2", "/print/1", "/b#x"),
        "/a": page("<p>A"),
        "/robots.txt": page("User-agent: *\nClean-param: ref&id /"),
    }
    settings = {
        "URLCANON_RULES": {"site.example": {"drop_params": ["sid"], "skip": ["/print/{id}"]}},
        "URLCANON_AUDIT": 1.0,
        "URLCANON_CLEAN_PARAM": True,
        "ROBOTSTXT_OBEY": True,
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_RECORD": "seen.sqlite",
        "URLCANON_REWRITE": ["other.example"],
        "JOBDIR": "job",
    }
    result = await crawl(site(pages), settings, start=[f"{SITE}/"])
    expected = {"requests", "dropped/rule/drop_params", "skipped/print/{id}", "recorded"}
    assert expected <= {name.replace("skipped//", "skipped/") for name in result.figures}


@deferred_f_from_coro_f
async def test_collector_that_keeps_nothing(crawl, caplog):
    """With DummyStatsCollector a crawl drops the same."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": page("a"), "/a?sid=2": page("a")}
    settings = {
        "URLCANON_RULES": {"*": {"drop_params": ["sid"]}},
        "URLCANON_REPORT": "report.json",
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    }
    result = await crawl(site(pages), settings)
    assert len(result.hits) == len({"/", "/a"})
    assert not result.stats
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@deferred_f_from_coro_f
async def test_names_that_a_site_makes_up_are_shortened(crawl):
    """Long parameter names are shortened in stats."""
    names = [2_000 * letter for letter in "abc"]
    pages = {"/": links("/a", *(f"/a?{name}=1" for name in names)), "/a": page("<p>A")}
    settings = {"URLCANON_RULES": {"*": {"keep_params": ["id"]}}, "URLCANON_AUDIT": 1.0}
    result = await crawl(site(pages), settings)
    entries = [name for name in result.figures if name.startswith("dropped/entry/keep_params:")]
    assert len(entries) == len(names)
    assert max(map(len, result.figures)) < 300


class OwnCollector(MemoryStatsCollector):
    """Takes only the stats of Scrapy."""

    def inc_value(self, key, *args, **kwargs):
        self._check(key)
        super().inc_value(key, *args, **kwargs)

    def set_value(self, key, *args, **kwargs):
        self._check(key)
        super().set_value(key, *args, **kwargs)

    def _check(self, key):
        if key.startswith(PREFIX):
            raise ValueError(key)


@deferred_f_from_coro_f
async def test_collector_that_refuses_stats_costs_no_page(crawl, caplog):
    """If the collector raises at a stat of ours, all pages come, and the log says so once."""
    urls = [f"/p{n}?sid={sid}" for sid in range(2) for n in range(5)]
    result = await crawl(
        site(
            {
                "/": links(*urls),
                **{url: page(url, status=500 if "sid=0" in url else 200) for url in urls},
            }
        ),
        {
            "STATS_CLASS": OwnCollector,
            "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
            "URLCANON_AUDIT": 1.0,
        },
    )
    assert result.pages == ["/", *(url for url in urls if "sid=1" in url)]
    assert [record.levelname for record in caplog.records if "cannot be kept" in record.msg] == [
        "ERROR"
    ]
