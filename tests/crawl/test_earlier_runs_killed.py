"""A run that is killed has noted as got only pages that the spider was done with."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from audited_shop import SETTINGS, WRONG, product
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, ItemSpider, links, site

from scrapy_urlcanon.crawl.earlier.pages import _BATCH
from scrapy_urlcanon.crawl.earlier.store import SeenPages

STORE = Path("seen.db")
TARGETS = [f"/{number}" for number in range(_BATCH + 20)]
PAGES = {"/": links(*TARGETS), **{target: page(target) for target in TARGETS}}


@pytest.mark.parametrize("by", ["item", "text", "response"])
@deferred_f_from_coro_f
async def test_page_that_the_spider_is_at_work_on_is_not_noted(crawl, by, monkeypatch):
    """A page is noted after its callback and pipelines are done with it.

    If the process were killed before, the next run would refuse a page that was not got.
    """
    # Scrapy 2.15 waits so long, .1 s, before it hands each page to the spider.
    monkeypatch.setattr("scrapy.utils.defer._DEFER_DELAY", 0)
    noted_at_work, noted = [], set()

    class Looking(FollowSpider):
        async def parse(self, response):
            for each in super().parse(response):
                yield each
            # Its item goes through the pipelines.
            await asyncio.sleep(0.001)
            with closing(SeenPages(STORE)) as store:
                urls = {url for _, url in store.list()}
            noted.update(urls)
            noted_at_work.extend({response.url} & urls)

    await crawl(site(PAGES), {"URLCANON_SEEN": str(STORE), "URLCANON_SEEN_BY": by}, spider=Looking)
    assert len(noted) >= _BATCH - 20
    assert noted_at_work == []
    with closing(SeenPages(STORE)) as store:
        assert len([*store.list()]) == len(PAGES)


@deferred_f_from_coro_f
async def test_what_is_refused_for_another_page_is_audited(crawl):
    """A page refused because of another one, which a killed run got, is audited.

    That run had audited nothing, so that a wrong entry would go unnoticed.
    """
    urls = [*(f"/item/p?id={number}" for number in range(6)), "/item/p"]
    answers = {url: product(url) for url in urls}
    settings = {**WRONG, **SETTINGS, "URLCANON_SEEN": str(STORE)}
    await crawl(site({**answers, "/": links(urls[0])}), settings, spider=ItemSpider)
    second = await crawl(site({**answers, "/": links(*urls)}), settings, spider=ItemSpider)
    assert second.figures["audit/suspended/drop_params/id"] == 1
    assert len(second.items) == len(urls) - 1
