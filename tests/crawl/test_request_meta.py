"""The meta of a request: urlcanon_key, urlcanon_drop and urlcanon_record."""

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, site

ONE_AFTER_THE_OTHER = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


class Listed(FollowSpider):
    """Requests what it is given, from a callback."""

    requests = ()

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        if response.url == f"{SITE}/":
            for target, meta in self.requests:
                yield Request(f"{SITE}{target}", meta=meta)


async def hits(crawl, requests, pages=(), settings=None):
    """Return what is fetched of *requests*, which are pairs of target and meta, in order."""

    class Given(Listed):
        pass

    Given.requests = requests
    shown = {target: page(target) for target, _ in requests} | {"/": page("home")} | dict(pages)
    result = await crawl(site(shown), {**ONE_AFTER_THE_OTHER, **(settings or {})}, spider=Given)
    return result.hits[1:], result


def key(name):
    """Return meta that names the page."""
    return {"urlcanon_key": name}


@deferred_f_from_coro_f
async def test_key_names_the_page(crawl):
    """Requests with one key are one page, with two keys two, whatever their URLs."""
    requests = [
        ("/a", key("one")),
        ("/b", key("one")),
        ("/b", key("two")),
        ("/b", {}),
        ("/c", key(3)),
        ("/d", key("3")),
    ]
    found, result = await hits(crawl, requests)
    assert found == ["/a", "/b", "/b", "/c"]
    assert result.figures["dropped/variant"] == 2


@pytest.mark.parametrize("setting", ["URLCANON_RESCUE", "URLCANON_REWRITE"])
@pytest.mark.parametrize("name", [None, ""])
@deferred_f_from_coro_f
async def test_key_that_names_nothing(crawl, name, setting):
    """Requests with an empty key are told apart by their URLs."""
    rules = {"site.example": {"drop_params": ["sid"], "skip": ["/print/{page}"]}}
    requests = [(url, key(name)) for url in ("/a", "/b", "/b?sid=1", "/print/1")]
    settings = {setting: True, "URLCANON_RULES": rules}
    found, _ = await hits(crawl, requests, (), settings)
    assert found == ["/a", "/b"]


@deferred_f_from_coro_f
async def test_page_with_a_key_that_fails(crawl):
    """If a request with a key fails, another request with that key is fetched."""
    failing = {"/a": page("gone", status=404)}
    found, result = await hits(crawl, [("/a", key("one")), ("/b", key("one"))], failing)
    assert found == ["/a", "/b"]
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_redirect_of_a_page_with_a_key(crawl):
    """A redirected request keeps its key, and is followed."""
    pages = {"/a": redirect("/target"), "/target": page("target")}
    found, _ = await hits(crawl, [("/a", key("one")), ("/target", {})], pages)
    assert found == ["/a", "/target", "/target"]


@pytest.mark.parametrize("setting", ["URLCANON_REWRITE", "URLCANON_RECORD_START"])
@deferred_f_from_coro_f
async def test_key_is_never_fetched(crawl, setting):
    """A key is neither rewritten to, nor audited."""
    settings = {setting: True, "URLCANON_AUDIT": 1.0}
    found, result = await hits(crawl, [("/a", key("one")), ("/b", key("one"))], (), settings)
    assert found == ["/a"]
    assert "audited" not in result.figures


@pytest.mark.parametrize("kind", ["scrapy", "compact", "disk"])
@deferred_f_from_coro_f
async def test_dropping_and_recording_apart(crawl, kind):
    """urlcanon_drop = False is not dropped but recorded; urlcanon_record = False the reverse."""
    no_drop, no_record = {"urlcanon_drop": False}, {"urlcanon_record": False}
    requests = [
        ("/a?sid=1", no_drop),
        ("/a?sid=2", {}),
        ("/a?sid=3", no_drop),
        ("/a?sid=4", no_record),
        ("/b?sid=1", no_record),
        ("/b?sid=2", no_record),
        ("/b?sid=3", {}),
        ("/b?sid=4", {}),
        ("/c", {**no_drop, **no_record}),
        ("/c", {}),
    ]
    found, _ = await hits(crawl, requests, (), {"URLCANON_SEEN_SET": kind})
    assert found == ["/a?sid=1", "/a?sid=3", "/b?sid=1", "/b?sid=2", "/b?sid=3", "/c", "/c"]


class OwnScheduler(BaseScheduler):
    """A scheduler of the user, whose duplicate filter is hidden."""

    def __init__(self, crawler):
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._queue = []
        self._seen = set()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def has_pending_requests(self):
        return bool(self._queue)

    def enqueue_request(self, request):
        fingerprint = self._fingerprint(request)
        is_seen = fingerprint in self._seen and not request.dont_filter
        if not is_seen:
            self._seen.add(fingerprint)
            self._queue.append(request)
        return not is_seen

    def next_request(self):
        return self._queue.pop(0) if self._queue else None


@deferred_f_from_coro_f
async def test_filter_that_records_all_the_same(crawl):
    """If a request that was recorded against its meta fails, the next variant is fetched."""
    requests = [("/a?sid=1", {"urlcanon_record": False}), ("/a?sid=2", {})]
    found, _ = await hits(
        crawl, requests, {"/a?sid=1": page("", status=404)}, {"SCHEDULER": OwnScheduler}
    )
    assert found == ["/a?sid=1", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_job_knows_them_apart(crawl):
    """The same requests are fetched in a job as without one."""
    no_drop = {"urlcanon_drop": False}
    requests = [("/a?sid=1", {}), ("/a?sid=2", no_drop), ("/a?sid=2", no_drop)]
    for settings in ({}, {"JOBDIR": "job"}):
        found, _ = await hits(crawl, requests, (), settings)
        assert sorted(found) == ["/a?sid=1", "/a?sid=2", "/a?sid=2"]


@pytest.mark.parametrize("parts", [{}, {"URLCANON_ORDER": "novelty", "URLCANON_RECORD": "a.db"}])
@pytest.mark.parametrize(
    "meta",
    [
        {"redirect_urls": [None, 1]},
        {"redirect_urls": 5},
        {"redirect_urls": "http://a.example/"},
        {"redirect_urls": ["http://a.example/"], "redirect_reasons": None},
        {"retry_times": None},
        {"retry_times": -1},
        {"urlcanon_key": "\ud800"},
    ],
    ids=str,
)
@deferred_f_from_coro_f
async def test_meta_of_a_spider_that_is_not_what_scrapy_puts_there(crawl, caplog, meta, parts):
    """Wrong types in redirect_urls and the like raise nothing, and all requests are fetched."""
    fetched, _ = await hits(crawl, [("/a", meta), ("/b", {})], settings=parts)
    assert fetched == ["/a", "/b"]
    assert "Traceback" not in caplog.text


@deferred_f_from_coro_f
async def test_failure_of_what_is_not_to_be_dropped_is_made_good(crawl, tmp_path):
    """If a request that is not to be dropped fails, a variant dropped for it is fetched."""
    settings = {"JOBDIR": str(tmp_path), "URLCANON_JOB_JOURNAL": False, "RETRY_ENABLED": False}
    requests = [("/a", {"urlcanon_drop": False}), ("/a?sid=1", {})]
    found, _ = await hits(crawl, requests, {"/a": page("failed", status=503)}, settings)
    assert found == ["/a", "/a?sid=1"]
