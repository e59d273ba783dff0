"""With scrapy-playwright, pages of the browser that the spider does not get are closed."""

import shutil
from contextlib import suppress
from importlib.util import find_spec
from urllib.request import getproxies

import pytest
from loopback import page
from scrapy import Request, signals
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

CHROMIUM = shutil.which("chromium")
RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "URLCANON_AUDIT": 1.0,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
VARIANTS = [f"/{name}?sid={n}" for name in "ab" for n in range(4)]
PAGES = {
    "/": links(*VARIANTS, "/gone?sid=1", "/gone?sid=2"),
    **{url: page(f"<p>This is the page {url[1]}.") for url in VARIANTS},
    "/gone?sid=2": page("<p>It is here after all."),
}


class Visiting(FollowSpider):
    """Closes the page of each response that it gets."""

    def __init__(self, start=(f"{SITE}/",), *args, **kwargs):
        super().__init__(map(self.request, start), *args, **kwargs)
        self.got = []

    def request(self, url):
        meta = {"playwright": True, "playwright_include_page": True}
        return Request(url, self.visit, meta=meta, errback=self.failed)

    async def failed(self, failure):
        with suppress(RuntimeError):
            await failure.value.response.meta["playwright_page"].close()

    async def visit(self, response):
        with suppress(RuntimeError):
            await response.meta["playwright_page"].close()
        self.got.append(response.url.removeprefix(SITE))
        for link in response.css("a::attr(href)").getall():
            yield self.request(response.urljoin(link))


class FakePage:
    """A page of a browser, which is gone once it is closed."""

    open = set()  # noqa: RUF012

    def __init__(self):
        self.open.add(self)

    def is_closed(self):
        return self not in self.open

    async def close(self):
        self.open.remove(self)
        raise RuntimeError("the browser is gone")


class FakeBrowser:
    """Opens a page for each response, as scrapy-playwright does."""

    def process_response(self, request, response):
        request.meta["playwright_page"] = FakePage()
        return response


@deferred_f_from_coro_f
async def test_audits_leave_no_page_open(crawl):
    """The browser page of an audit that the spider does not get is closed, if it can be."""
    settings = {**RULES, "DOWNLOADER_MIDDLEWARES": {FakeBrowser: 500}}
    result = await crawl(site(PAGES), settings, spider=Visiting)
    assert result.figures["audited"] >= 3
    assert FakePage.open == set()
    assert len(result.crawler.spider.got) == 4


@deferred_f_from_coro_f
async def test_request_that_acts_is_never_audited(crawl):
    """Requests that click, or go on in an open page, are never audited."""

    class Acting(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            for request in response.follow_all(css="a"):
                yield request.replace(meta={"playwright_page_methods": ["click"]})

    result = await crawl(site(PAGES), RULES, spider=Acting)
    assert result.figures["dropped/variant"] >= 6
    assert "audited" not in result.figures


class Counted(Visiting):
    """Notes how many browser pages are open at the end."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.count, signals.spider_idle)
        return spider

    def request(self, url):
        request = super().request(url)
        request.meta["playwright_context_kwargs"] = {"proxy": {"server": getproxies()["http"]}}
        return request

    def count(self):
        handlers = self.crawler.engine.downloader.handlers
        handler = handlers._get_handler("http")
        self.left = [len(wrapper.context.pages) for wrapper in handler.context_wrappers.values()]


@pytest.mark.skipif(not find_spec("scrapy_playwright"), reason="needs scrapy-playwright")
@pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium")
@deferred_f_from_coro_f
async def test_audits_with_chromium(crawl):
    """With at most three browser pages a crawl that audits every variant ends, with none open."""
    settings = {
        **RULES,
        "DOWNLOAD_HANDLERS": {
            "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
        },
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": CHROMIUM, "args": ["--no-sandbox"]},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 3,
    }
    result = await crawl(site(PAGES), settings, spider=Counted)
    assert result.figures["audited"] >= 3
    assert len(result.crawler.spider.got) == 4
    assert result.crawler.spider.left == [0]
