"""What Scrapy's disk queue cannot store is fetched, in the next run of a job if need be."""

import errno
import json
import logging
import os
from datetime import date
from pathlib import Path

import pytest
from loopback import page
from scrapy import signals
from scrapy.core.scheduler import Scheduler
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.job.journal import Journal, Kind

STORED = {"JOBDIR": "job", "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
JOB = {**STORED, "SCHEDULER_DISK_QUEUE": "scrapy.squeues.MarshalFifoDiskQueue"}
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


class HearingSpider(FollowSpider):
    """Notes which requests Scrapy reports as dropped."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.dropped = []
        crawler.signals.connect(spider.hear, signals.request_dropped)
        return spider

    def hear(self, request):
        self.dropped.append(request.url)


@deferred_f_from_coro_f
async def test_request_that_scrapy_cannot_store_is_kept(crawl, monkeypatch, caplog):
    """A request that Scrapy cannot write to its queue is kept in memory and fetched.

    The job is not marked as closed in order, since Scrapy's queue lacks that request.
    """
    push = Scheduler._dqpush

    def full(self, request):
        if request.url.endswith(("/a", "/b")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return push(self, request)

    monkeypatch.setattr(Scheduler, "_dqpush", full)
    result = await crawl(site(PAGES), STORED, spider=HearingSpider)
    assert len(result.pages) == 5
    # But for the variant: it was taken.
    assert [url.partition("?")[0] for url in result.crawler.spider.dropped] == [f"{SITE}/d"]
    (said,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert not said.exc_info
    message = said.getMessage()
    assert message.startswith("job/requests.queue cannot be written: No space left on device")
    assert result.figures["job/unwritten"] == 2
    journal = Journal(Path("job/urlcanon.journal"))
    journal.scan(lambda _: None)
    assert journal.last_kind is not Kind.CLOSED


class DeepSpider(FollowSpider):
    """Puts into meta what is nested too deep to be pickled."""

    def parse(self, response):
        deep = []
        # Since Python 3.14 the stack of C is the limit, 8 MB of it where 20,000 are no error.
        for _ in range(100_000):
            deep = [deep]
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", meta={"deep": deep})


@pytest.mark.parametrize("order", [{}, {"URLCANON_ORDER": "novelty"}])
@deferred_f_from_coro_f
async def test_request_that_is_nested_too_deep_is_kept(crawl, caplog, order):
    """A request that cannot be pickled is kept in memory, with the variants that wait for it.

    Scrapy alone would lose it.
    """
    pages = {
        "/": links("/a?sid=1", "/a?sid=2", "/b?sid=1", "/b?sid=2"),
        "/a?sid=2": page("a"),
        "/b?sid=2": page("b"),
    }
    result = await crawl(site(pages), {**STORED, **order}, spider=DeepSpider)
    assert result.pages == ["/", "/a?sid=2", "/b?sid=2"]
    # The start page, the four links of it, and two in the place of what failed.
    assert result.figures["requests"] == 7
    assert result.figures["job/unserializable"] == 4 + 2
    assert "Traceback" not in caplog.text


@deferred_f_from_coro_f
async def test_job_whose_queue_is_not_stored_is_made_anew(crawl, monkeypatch, caplog):
    """If Scrapy fails to store its queue, the next run rebuilds it from the journal."""
    settings = {**STORED, "CONCURRENT_REQUESTS": 1}

    def torn(_, directory, state):
        (Path(directory) / "active.json").write_text(json.dumps(state)[:1])

    with monkeypatch.context() as patched:
        patched.setattr(Scheduler, "_write_dqs_state", torn)
        first = await crawl(site(PAGES), {**settings, "CLOSESPIDER_PAGECOUNT": 1})
    assert any("has not stored its queue" in r.getMessage() for r in caplog.records)
    second = await crawl(site(PAGES), settings)
    assert {*first.pages, *second.pages} >= {"/", "/a", "/b", "/c"}
    assert second.figures["job/recovered"]
