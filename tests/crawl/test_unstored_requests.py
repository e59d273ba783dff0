"""What Scrapy's queue on the disk does not take comes in the next run of a job."""

from datetime import date

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links, site

JOB = {
    "JOBDIR": "job",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.MarshalFifoDiskQueue",
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
}
PAGES = {"/": links("/a", "/b", "/c"), "/a": links("/d?sid=1", "/d?sid=2")}
PAGES |= {url: page(url) for url in ("/b", "/c", "/d?sid=1", "/d?sid=2")}


class LambdaSpider(FollowSpider):
    """Has callbacks that nothing can store."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", callback=lambda other: [{"url": other.url}])


class DatedSpider(FollowSpider):
    """Has in the meta of each request what the journal can store, and Scrapy's queue cannot."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", meta={"found": date(2026, 1, 1)})


@pytest.mark.parametrize("spider", [LambdaSpider, DatedSpider])
@deferred_f_from_coro_f
async def test_request_that_was_in_memory_when_the_run_ended_is_not_lost(crawl, caplog, spider):
    """Scrapy forgets it when a job is stopped in order, and knows its page for seen after that."""
    first = await crawl(site(PAGES), {**JOB, "CLOSESPIDER_PAGECOUNT": 1}, spider=spider)
    assert first.pages == ["/"]
    second = await crawl(site(PAGES), JOB, spider=spider)
    assert {"/a", "/b", "/c"} <= {*first.hits, *second.hits}
    assert "requests wait that Scrapy cannot store" in caplog.text


class Detached:
    """As a row of a database whose session is closed."""

    def __repr__(self):
        raise ValueError


class DetachedSpider(FollowSpider):
    """Has in the meta of each request, which nothing filters, what cannot even be shown."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        meta = {"row": Detached()}
        yield from response.follow_all(css="a", meta=meta, dont_filter=True)


@deferred_f_from_coro_f
async def test_request_with_what_cannot_be_shown_is_fetched(crawl):
    """The journal knows it by its URL and callback alone."""
    result = await crawl(site(PAGES), {"JOBDIR": "job"}, spider=DetachedSpider)
    assert set(result.pages) == {"/", "/a", "/b", "/c", "/d?sid=1", "/d?sid=2"}
    assert "log_count/ERROR" not in result.stats
