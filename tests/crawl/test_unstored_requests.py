"""Requests that Scrapy's disk queue cannot store are made in the next run of a job."""

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
    """Has callbacks that cannot be stored."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", callback=lambda other: [{"url": other.url}])


class DatedSpider(FollowSpider):
    """Has values in meta that the journal can store, and Scrapy's queue cannot."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", meta={"found": date(2026, 1, 1)})


@pytest.mark.parametrize("spider", [LambdaSpider, DatedSpider])
@deferred_f_from_coro_f
async def test_request_that_was_in_memory_when_the_run_ended_is_not_lost(crawl, caplog, spider):
    """A request in memory at the end of a run is made in the next one.

    Scrapy would forget it, and know its page as seen.
    """
    first = await crawl(site(PAGES), {**JOB, "CLOSESPIDER_PAGECOUNT": 1}, spider=spider)
    assert first.pages == ["/"]
    second = await crawl(site(PAGES), JOB, spider=spider)
    assert {"/a", "/b", "/c"} <= {*first.hits, *second.hits}
    assert "requests wait that Scrapy cannot store" in caplog.text


class Detached:
    """A value that raises when it is shown, as rows of a closed database session do."""

    def __repr__(self):
        raise ValueError


class DetachedSpider(FollowSpider):
    """Has such a value in the meta of each request."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        meta = {"row": Detached()}
        yield from response.follow_all(css="a", meta=meta, dont_filter=True)


@deferred_f_from_coro_f
async def test_request_with_what_cannot_be_shown_is_fetched(crawl):
    """A request with a value that cannot be shown is fetched."""
    result = await crawl(site(PAGES), {"JOBDIR": "job"}, spider=DetachedSpider)
    assert set(result.pages) == {"/", "/a", "/b", "/c", "/d?sid=1", "/d?sid=2"}
    assert "log_count/ERROR" not in result.stats
