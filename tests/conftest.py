"""What all tests share: the path to the shared data, and crawls on a recording server."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import Loopback
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.utils.defer import maybe_deferred_to_future
from sites import SITE, Crawl, FollowSpider

SHARED = Path(__file__).parents[2] / "shared"


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

        class Recorded(spider):
            def parse(self, response):
                for result in super().parse(response):
                    if isinstance(result, dict):
                        items.append(result)
                    yield result

        with Loopback(respond) as server:
            for name, value in server.proxies.items():
                monkeypatch.setenv(name, value)
            crawler = ScrapyCrawler(
                Recorded,
                {
                    "ADDONS": {"scrapy_urlcanon.Addon": 500},
                    "TELNETCONSOLE_ENABLED": False,
                    "RETRY_TIMES": 0,
                    **(settings or {}),
                },
            )
            await maybe_deferred_to_future(crawler.crawl(start=start))
        hits = [url.removeprefix(SITE) for url in server.hits]
        return Crawl(hits, items, crawler.stats.get_stats(), crawler)

    return run
