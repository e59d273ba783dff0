"""Fixtures of all tests: the Hypothesis profiles, shared data, crawls on a recording server."""

from __future__ import annotations

import gc
import os
from inspect import isasyncgenfunction
from pathlib import Path
from types import SimpleNamespace

import pytest
from at_once import Site
from command_line import run_warm
from hypothesis import settings
from quick_scrapy import make_quick
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.utils.defer import maybe_deferred_to_future
from shop_site.stock import BOARDS, CATEGORIES, PRODUCTS
from sites import ALONE, SITE, Crawl, FollowSpider

# The same examples on every run, but for HYPOTHESIS_PROFILE=long. No deadline: on a loaded
# machine any test is slow. A test that needs more or fewer examples takes a share of these.
settings.register_profile("short", deadline=None, derandomize=True, max_examples=200)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))

SHARED = Path(__file__).parents[2] / "shared"


make_quick()

SHARED_CRAWLS = ("shop_reports", "crawled_shop")
"""Fixtures that crawl a site."""


def pytest_collection_modifyitems(config, items):
    """Let one process run all tests of a file, and all files that use one crawl."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    groups = {
        item.path: crawl
        for item in items
        for crawl in SHARED_CRAWLS
        if crawl in getattr(item, "fixturenames", ())
    }
    for item in items:
        item.add_marker(pytest.mark.xdist_group(groups.get(item.path, str(item.path))))


def pytest_collection_finish():
    """Have the garbage collector skip what stays: all tests, and what is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20)


@pytest.fixture(scope="session", autouse=True)
def small_shop():
    """Reduce the example site to a shop of 12 products, which still has every kind of page."""
    with pytest.MonkeyPatch.context() as patch:
        for stock, kept in ((PRODUCTS, 12), (CATEGORIES, 2), (BOARDS, 2)):
            for key in list(stock)[kept:]:
                patch.delitem(stock, key)
        # Its crawls begin with all that is imported.
        patch.setattr("demo.subprocess", SimpleNamespace(run=run_warm))
        yield


@pytest.fixture
def shared():
    """Return the directory of corpora and vectors beside the repository, or skip."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared, which is not here")
    return SHARED


@pytest.fixture
def crawl(monkeypatch, tmp_path):
    """Crawl a site with the plugin on; every call is a crawl of its own."""
    monkeypatch.chdir(tmp_path)

    async def run(respond, settings=None, *, start=(f"{SITE}/",), spider=FollowSpider):
        items = []

        def recorded(result):
            if isinstance(result, dict):
                items.append(result)
            return result

        class Recorded(spider):
            def parse(self, response):
                yield from map(recorded, super().parse(response))

        class RecordedAsync(spider):
            async def parse(self, response):
                async for result in super().parse(response):
                    yield recorded(result)

        with Site(respond) as server:
            for name, value in server.proxies.items():
                monkeypatch.setenv(name, value)
            # It reads all of the environment for each request, to find no host there.
            monkeypatch.setattr(f"{HttpProxyMiddleware.__module__}.proxy_bypass", lambda _: False)
            crawler = ScrapyCrawler(
                RecordedAsync if isasyncgenfunction(spider.parse) else Recorded,
                {
                    "ADDONS": {"scrapy_urlcanon.Addon": 500},
                    **server.settings,
                    **ALONE,
                    "RETRY_TIMES": 0,
                    # Scrapy makes so many tasks for each response, and by default 100.
                    "CONCURRENT_ITEMS": 10,
                    # A test reads the stats themselves.
                    "STATS_DUMP": False,
                    **(settings or {}),
                },
            )
            await maybe_deferred_to_future(crawler.crawl(start=start))
        hits = [url.removeprefix(SITE) for url in server.hits]
        return Crawl(hits, items, crawler.stats.get_stats(), crawler)

    return run
