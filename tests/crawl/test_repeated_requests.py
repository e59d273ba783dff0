"""Repeated requests are dropped in the spider middleware, before they reach the scheduler."""

import shutil
from pathlib import Path

import pytest
from loopback import page
from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import RequestFingerprinter
from sites import SITE, FollowSpider

from scrapy_urlcanon import UrlCanonSpiderMiddleware
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.worth import Output

MENU = "".join(f"<a href=/{n}>{n}</a>" for n in range(20))
SEEN = 20 * 20
"""How many links of the site lead to what was seen: all but those of the first page."""
SETTINGS = {"CONCURRENT_REQUESTS": 1}


@pytest.fixture
def enqueued(monkeypatch):
    """Return the URLs that reach the scheduler, in order."""
    urls = []
    enqueue = Scheduler.enqueue_request

    def enqueue_request(self, request):
        urls.append(request.url.removeprefix(SITE))
        return enqueue(self, request)

    monkeypatch.setattr(Scheduler, "enqueue_request", enqueue_request)
    return urls


def menu(request):
    """Answer with links to all pages."""
    del request
    return page(MENU)


@pytest.mark.parametrize("plugin", [True, False])
@deferred_f_from_coro_f
async def test_what_was_seen_does_not_come_to_the_scheduler(crawl, enqueued, plugin):
    """Repeated requests do not reach the scheduler, and are counted as without the plugin."""
    result = await crawl(menu, {**SETTINGS, "URLCANON_ENABLED": plugin})
    assert result.stats["dupefilter/filtered"] == SEEN
    assert len(enqueued) == (21 if plugin else 21 + SEEN)
    assert sorted(result.hits) == sorted(["/", *(f"/{n}" for n in range(20))])


@deferred_f_from_coro_f
async def test_what_was_seen_is_counted_page_by_page(crawl, monkeypatch):
    """Drops are added to Scrapy's stats once per page, since that takes long."""
    counted = []
    inc = StatsCollector.inc_value

    def inc_value(self, key, count=1, **arguments):
        counted.extend([count] * (key == "dupefilter/filtered"))
        inc(self, key, count, **arguments)

    monkeypatch.setattr(StatsCollector, "inc_value", inc_value)
    result = await crawl(menu, SETTINGS)
    # The first page with links to what was seen has Scrapy log the first one.
    assert counted == [1] * 20 + [20] * 19
    assert result.stats["dupefilter/filtered"] == SEEN


class Raising(FollowSpider):
    """Raises after yielding the links of a page."""

    def parse(self, response):
        yield from super().parse(response)
        raise ValueError(response.url)


class RaisingLater(FollowSpider):
    """Does so in a coroutine."""

    async def parse(self, response):
        for each in super().parse(response):
            yield each
        raise ValueError(response.url)


@pytest.mark.parametrize("spider", [Raising, RaisingLater])
@deferred_f_from_coro_f
async def test_what_was_seen_counts_where_the_callback_raises(crawl, enqueued, spider):
    """Drops are counted if the callback raises afterwards."""
    result = await crawl(menu, SETTINGS, spider=spider)
    assert len(enqueued) == 21
    assert result.stats["dupefilter/filtered"] == result.figures["dropped"] == SEEN


@pytest.mark.parametrize("plugin", [True, False])
@deferred_f_from_coro_f
async def test_each_drop_is_logged_where_that_is_asked_for(crawl, caplog, plugin):
    """DUPEFILTER_DEBUG logs each drop, as in Scrapy."""
    with caplog.at_level("DEBUG", "scrapy.dupefilters"):
        settings = {**SETTINGS, "DUPEFILTER_DEBUG": True, "URLCANON_ENABLED": plugin}
        result = await crawl(menu, settings)
    lines = [line for line in caplog.messages if line.startswith("Filtered duplicate request")]
    assert len(lines) == result.stats["dupefilter/filtered"] == SEEN


@deferred_f_from_coro_f
async def test_what_was_seen_is_attributed(crawl, enqueued):
    """Variants dropped so are attributed to their rules."""
    rules = {"site.example": {"drop_params": ["sid"]}}
    variants = "".join(f"<a href=/{n}?sid={n % 3}>{n}</a>" for n in range(20))
    settings = {**SETTINGS, "URLCANON_RULES": rules, "URLCANON_DECLARED_CANONICAL": True}
    result = await crawl(lambda request: page(MENU if request.path == "/" else variants), settings)
    assert len(enqueued) == 21
    assert result.figures["dropped/entry/drop_params:sid"] == result.figures["dropped"] == SEEN


@deferred_f_from_coro_f
async def test_nothing_is_expected_of_what_was_seen(crawl, monkeypatch):
    """Repeated requests do not enter the order, which would take long."""
    told = []
    monkeypatch.setattr(Output, "add", lambda _, each: told.append(each))
    result = await crawl(menu, {**SETTINGS, "URLCANON_ORDER": "novelty"})
    assert result.figures["dropped"] == SEEN
    assert sum(isinstance(each, Request) for each in told) == 20


class Listening(FollowSpider):
    """Counts the requests of a signal."""

    signal = None

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.heard = []
        crawler.signals.connect(spider.hear, cls.signal)
        return spider

    def hear(self, request):
        self.heard.append(request.url)


@pytest.mark.parametrize(
    ("signal", "count"), [("request_scheduled", 21 + SEEN), ("request_dropped", SEEN)]
)
@deferred_f_from_coro_f
async def test_who_listens_hears_of_all(crawl, signal, count):
    """If an extension listens to a signal of requests, it gets all of them."""
    spider = type("Heard", (Listening,), {"signal": getattr(signals, signal)})
    result = await crawl(menu, SETTINGS, spider=spider)
    assert len(result.crawler.spider.heard) == count
    assert result.stats["dupefilter/filtered"] == SEEN


def skipping(request):
    """Answer with links to all pages, some of which rules skip."""
    variants = "".join(f"<a href=/{n}?sid={n % 3}>{n}</a>" for n in range(20))
    return page(f"{MENU}<a href=/skipped-1>1</a><a href=/skipped-2>2</a>{variants}{request.path}")


@pytest.mark.parametrize(
    "settings",
    [{}, {"JOBDIR": "job"}, {"URLCANON_SEEN": "seen.sqlite"}, {"URLCANON_RECORD_START": True}],
)
@pytest.mark.parametrize("template", [None, "/skipped-{id:digits}"])
@deferred_f_from_coro_f
async def test_requests_reach_all_of_ours_that_listen(crawl, enqueued, settings, template):
    """Stats are the same as if somebody listened, so that all requests reach the engine."""
    rules = {"drop_params": ["sid"], **({"skip": [template]} if template else {})}
    settings = {**SETTINGS, "URLCANON_RULES": {"site.example": rules}, **settings}
    counted, asked = [], []
    for spider in (
        FollowSpider,
        type("Heard", (Listening,), {"signal": signals.request_scheduled}),
    ):
        for path in (Path("job"), Path("seen.sqlite")):
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
        enqueued.clear()
        start = [f"{SITE}/", Request(f"{SITE}/skipped-1", dont_filter=True)]
        result = await crawl(skipping, settings, spider=spider, start=start)
        counted.append((result.figures, result.stats["dupefilter/filtered"], sorted(result.hits)))
        asked.append(len(enqueued))
    assert counted[0] == counted[1]
    # All links of the first page, each new or for a page that is on its way, and none of others.
    assert asked[0] < 50
    assert asked[1] > 850


class Renaming:
    """Changes requests after our middleware."""

    def process_spider_output(self, response, result):
        for each in result:
            yield self._renamed(each, response)

    async def process_spider_output_async(self, response, result):
        async for each in result:
            yield self._renamed(each, response)

    def _renamed(self, each, response):
        page = response.url.rpartition("/")[2]
        if isinstance(each, Request) and each.url == f"{SITE}/2" and page.isdigit():
            return each.replace(url=f"{each.url}-from-{page}")
        return each


@deferred_f_from_coro_f
async def test_middleware_that_comes_later_gets_all(crawl):
    """A middleware after ours gets repeated requests too: it may make new ones of them."""
    result = await crawl(menu, {**SETTINGS, "SPIDER_MIDDLEWARES": {Renaming: 1}})
    assert {f"/2-from-{n}" for n in range(20)} <= set(result.hits)


class Again(FollowSpider):
    """Requests a page again in ways that are no duplicates."""

    def parse(self, response):
        url = response.urljoin("/0")
        yield Request(url, self.parse_again, dont_filter=True)
        yield Request(url, self.parse_again, meta={"urlcanon_drop": False})
        yield from super().parse(response)

    def parse_again(self, response):
        yield {"again": response.url}


@deferred_f_from_coro_f
async def test_what_is_not_to_be_dropped_is_fetched(crawl):
    """Such requests are fetched."""
    result = await crawl(menu, SETTINGS, spider=Again)
    # From the first page and from nineteen that it links; what asks for it in passing is dropped.
    assert result.hits.count("/0") == 2 * 20
    assert result.stats["dupefilter/filtered"] == 1 + 19 * 20


class Failing(RequestFingerprinter):
    """Fails to fingerprint one page."""

    def fingerprint(self, request, **kwargs):
        if request.url == f"{SITE}/0":
            raise ValueError(request.url)
        return super().fingerprint(request, **kwargs)


@deferred_f_from_coro_f
async def test_fingerprint_that_fails_ends_no_callback(crawl):
    """A fingerprint that fails loses that request only, as in the scheduler."""
    setting = "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS"
    result = await crawl(menu, {**SETTINGS, setting: Failing})
    assert sorted(result.hits) == sorted(["/", *(f"/{n}" for n in range(1, 20))])


@deferred_f_from_coro_f
async def test_others_have_their_turn_while_many_are_dropped(crawl, enqueued):
    """After 200 drops of a page the rest goes through the scheduler, which gives way to others."""
    await crawl(lambda request: page(MENU if request.path == "/" else MENU * 15), SETTINGS)
    assert len(enqueued) == 1 + 20 + 20 * 100


@deferred_f_from_coro_f
async def test_what_stands_between_new_links_is_dropped_at_once(crawl, enqueued):
    """Repeated links between new ones are dropped too."""
    new = f"{MENU}<a href=/new>new</a>{MENU}<a href=/other>other</a><a href=/new>again</a>{MENU}"
    result = await crawl(
        lambda request: page(new if request.path == "/7" else MENU), SETTINGS, start=[f"{SITE}/0"]
    )
    # The second link to what is new was not seen when it was yielded.
    assert enqueued[enqueued.index("/new") :] == ["/new", "/other", "/new"]
    assert sorted(result.hits) == sorted(["/new", "/other", *(f"/{n}" for n in range(20))])
    assert result.stats["dupefilter/filtered"] == 1 + 18 * 20 + 3 * 20 + 1 + 2 * 20


class EngineLater(Crawler):
    """A crawler without an engine, which raises as after Scrapy 2.19."""

    @property
    def engine(self):
        raise RuntimeError

    @engine.setter
    def engine(self, engine):
        pass


class Suspending:
    """A pipeline that suspends a rule."""

    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.crawl = Crawl.of(crawler)
        return made

    def process_item(self, item):
        entry = RuleEntry("drop_params", "id")
        self.crawl.audit.suspension.suspended_elsewhere(entry, "site.example")
        return item


@deferred_f_from_coro_f
async def test_what_is_yielded_when_its_rule_falls_is_fetched(crawl):
    """Requests yielded when a rule is suspended are fetched.

    Scrapy takes several ahead of processing the first.
    """
    settings = {
        "URLCANON_RULES": {"site.example": {"drop_params": ["id"]}},
        "URLCANON_AUDIT": 0.01,
        "ITEM_PIPELINES": {Suspending: 1},
    }
    links = page("<a href=/p?id=1>1</a><a href=/p?id=2>2</a>")
    result = await crawl(
        lambda request: links if request.target == "/" else page(request.target), settings
    )
    assert result.pages == ["/", "/p?id=1", "/p?id=2"]


def test_middleware_without_an_engine_passes_on_all():
    """Without an engine, as in Scrapy's own tests, all requests are passed on."""
    crawler = EngineLater(FollowSpider, {"ADDONS": {"scrapy_urlcanon.Addon": 500}})
    crawler.spider = crawler._create_spider()
    crawler._apply_settings()
    middleware = UrlCanonSpiderMiddleware.from_crawler(crawler)
    requests = [Request(f"{SITE}/{n}") for n in range(2)]
    response = Response(SITE, request=Request(SITE))
    assert list(middleware.process_spider_output(response, requests)) == requests
