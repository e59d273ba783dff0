"""A page that one callback got is fetched for another one too, and so is the file of each item."""

from functools import partial
from typing import ClassVar

import pytest
from loopback import page
from scrapy import Request
from scrapy.linkextractors import LinkExtractor
from scrapy.pipelines.files import FilesPipeline
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    # First in, first out: what a test links first is fetched first.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


@deferred_f_from_coro_f
async def test_start_request_settles_nothing_for_the_rules_of_a_crawl_spider(crawl):
    """A page fetched as a start request is fetched again for the callback of a CrawlSpider's rule.

    That callback has not got it, and waits for no variant of its own either.
    """
    got = []

    class Rules(CrawlSpider):
        name = "rules"
        rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

        def __init__(self, start=(), *args, **kwargs):
            self.start_urls = start
            super().__init__(*args, **kwargs)

        def parse_item(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": links("/f?utm_source=x", "/g"), "/g": links("/f"), "/f": page("f")}
    start = [f"{SITE}/f", f"{SITE}/"]
    await crawl(site(pages), RULES, start=start, spider=Rules)
    assert sorted(got) == ["/f", "/g"]


@deferred_f_from_coro_f
async def test_second_callback_gets_its_page(crawl):
    """A variant for another callback is fetched: that callback has not got the page.

    A second variant for the same callback is dropped.
    """
    got = []

    class Two(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield response.follow("/a?sid=1")
                yield response.follow("/a?sid=2", self.parse_item)
                yield response.follow("/later")
            elif response.url == f"{SITE}/later":
                yield response.follow("/a?sid=3", self.parse_item)
                yield response.follow("/a?sid=4", self.third)

        def parse_item(self, response):
            got.append(response.url.removeprefix(SITE))

        def third(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": page("home"), "/later": page("later")}
    pages |= {f"/a?sid={n}": page("a") for n in range(5)}
    result = await crawl(site(pages), RULES, spider=Two)
    assert result.pages == ["/", "/a?sid=1", "/later"]
    assert got == ["/a?sid=2", "/a?sid=4"]


def logged_in(callback):
    """Decorate *callback* without functools.wraps, so that its name is lost."""

    def wrapper(self, response):
        return callback(self, response)

    return wrapper


class Callbacks(FollowSpider):
    """Requests two URLs of one page, for two callbacks that a subclass makes."""

    callbacks = None
    got = ()

    def parse(self, response):
        yield {"url": response.url, "text": ""}
        for number, callback in enumerate(type(self).callbacks(self)):
            yield response.follow(f"/a?sid={number}", callback)

    def one(self, response, **_):
        self.got.append(("one", response.url.removeprefix(SITE)))

    def other(self, response, **_):
        self.got.append(("other", response.url.removeprefix(SITE)))

    wrapped_one = logged_in(one)
    wrapped_other = logged_in(other)


def measured(callback):
    """Wrap *callback* in a lambda, as extensions do that measure callbacks."""
    return lambda response: callback(response)  # noqa: PLW0108


def through(callback, response):
    callback(response)


CALLBACKS = {
    "partial": lambda self: [partial(self.one, a=1), partial(self.other, a=1)],
    "wrapped": lambda self: [measured(self.one), measured(self.other)],
    "wrapped twice": lambda self: [measured(measured(each)) for each in (self.one, self.other)],
    "wrapped in a partial": lambda self: [
        partial(through, each) for each in (self.one, self.other)
    ],
    "default": lambda self: [lambda r, to=each: to(r) for each in (self.one, self.other)],
    "lambda": lambda self: [lambda r: self.one(r), lambda r: self.other(r)],  # noqa: PLW0108
    "decorated": lambda self: [self.wrapped_one, self.wrapped_other],
}


@pytest.mark.parametrize("kind", CALLBACKS)
@deferred_f_from_coro_f
async def test_second_callback_of_any_kind_gets_its_page(crawl, kind):
    """Two callbacks differ even if they are partials, lambdas or decorated: each gets the page."""

    class Spider(Callbacks):
        callbacks = CALLBACKS[kind]
        got: ClassVar = []

    pages = {"/": page("home"), "/a?sid=0": page("a"), "/a?sid=1": page("a")}
    await crawl(site(pages), RULES, spider=Spider)
    assert sorted(Spider.got) == [("one", "/a?sid=0"), ("other", "/a?sid=1")]


@deferred_f_from_coro_f
async def test_start_page_of_a_crawl_spider_is_not_for_its_parse(crawl):
    """A request without a callback that a CrawlSpider starts with is not for its `parse`.

    So a variant that names `parse` is fetched.
    """
    got = []

    class Starting(CrawlSpider):
        name = "starting"

        def __init__(self, start=(), *args, **kwargs):
            self.start_urls = start
            super().__init__(*args, **kwargs)

        def parse_start_url(self, response):
            yield response.follow("/a?sid=0")
            yield response.follow("/a?sid=1", self.parse)

        def parse(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": page("home"), **{f"/a?sid={n}": page("a") for n in range(2)}}
    await crawl(site(pages), RULES, spider=Starting)
    assert got == ["/a?sid=1"]


@deferred_f_from_coro_f
async def test_callback_bound_to_other_arguments_is_the_same(crawl):
    """Callbacks that differ in bound arguments alone are one, as with other `cb_kwargs`.

    Else each link to a page would fetch it again.
    """

    class Spider(Callbacks):
        got: ClassVar = []

        def callbacks(self):
            bound = [partial(self.one, a=number) for number in range(2)]
            bound += [lambda r, n=number: self.other(r, n=n) for number in range(2)]
            # One that wraps what it made before says no more of what it is for.
            return [*bound, measured(bound[0]), measured(measured(bound[1]))]

    pages = {"/": page("home"), **{f"/a?sid={n}": page("a") for n in range(6)}}
    await crawl(site(pages), RULES, spider=Spider)
    assert sorted(Spider.got) == [("one", "/a?sid=0"), ("one", "/a?sid=4"), ("other", "/a?sid=2")]


@deferred_f_from_coro_f
async def test_callback_that_raises_gets_the_next_variant(crawl):
    """A callback that raised may have missed links of the page: it is given the next variant."""

    class Raising(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/a?sid=1":
                raise ValueError
            return super().parse(response)

    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3")}
    pages |= {f"/a?sid={n}": page("a") for n in (1, 2, 3)}
    result = await crawl(site(pages), RULES, spider=Raising)
    assert result.pages == ["/", "/a?sid=2"]
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2"]


class Storing:
    """An item pipeline that fails at its first item of each page, as a busy database does."""

    def __init__(self):
        self.stored = []
        self.failed = set()

    @classmethod
    def from_crawler(cls, crawler):
        made = crawler.spider.pipeline = cls()
        return made

    def process_item(self, item):
        if item["text"] not in self.failed:
            self.failed.add(item["text"])
            raise OSError(item["text"])
        self.stored.append(item["url"].removeprefix(SITE))
        return item


@deferred_f_from_coro_f
async def test_item_that_a_pipeline_fails_at_comes_by_the_next_variant(crawl):
    """If an item pipeline raises, the callback gets the next variant of the page."""
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3", "/b?sid=1")}
    pages |= {f"/a?sid={n}": page("a") for n in (1, 2, 3)} | {"/b?sid=1": page("b")}
    result = await crawl(site(pages), {**RULES, "ITEM_PIPELINES": {Storing: 1}})
    assert result.crawler.spider.pipeline.stored == ["/a?sid=2"]
    assert sorted(result.hits) == ["/", "/a?sid=1", "/a?sid=2", "/b?sid=1"]


@deferred_f_from_coro_f
async def test_download_within_a_callback_settles_nothing(crawl):
    """A page that a callback fetched with `engine.download_async` reached no other callback.

    The same URL, linked after a variant that fails, is fetched.
    """
    got = []

    class Inline(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield response.follow("/inline", self.parse_inline)

        async def parse_inline(self, response):
            got.append((await self.crawler.engine.download_async(Request(f"{SITE}/a"))).url)
            for url in ("/a?sid=1", "/a"):
                yield response.follow(url)

    pages = {"/": page("home"), "/inline": page("inline"), "/a": page("a")}
    result = await crawl(site(pages), RULES, spider=Inline)
    assert got == [f"{SITE}/a"]
    assert result.pages == ["/", "/a"]


class MemoryFiles(FilesPipeline):
    """A files pipeline that notes which item got which file."""

    got: ClassVar[list] = []

    def get_media_requests(self, item, _info):
        return [Request(item["file"])] if item.get("file") else []

    def item_completed(self, results, item, _info):
        if item.get("file"):
            self.got.append((item["file"].removeprefix(SITE), [ok for ok, _ in results]))
        return item


@pytest.mark.parametrize("cache", [False, True])
@deferred_f_from_coro_f
async def test_files_of_items_go_by_no_rule(crawl, cache):
    """Requests of a files pipeline are not merged: each item gets the file of its own URL."""
    MemoryFiles.got.clear()

    class Items(FollowSpider):
        def parse(self, response):
            for url in ("/f.png?utm_source=x", "/f.png", "/g.png?sid=1", "/g.png?sid=2"):
                yield {"url": response.url, "text": "", "file": f"{SITE}{url}"}

    pages = {"/": page("home"), "/f.png": page("f")}
    pages |= {f"/g.png?sid={n}": page(f"g{n}") for n in (1, 2)}
    settings = {**RULES, "ITEM_PIPELINES": {MemoryFiles: 1}, "FILES_STORE": "files"}
    settings |= {"HTTPCACHE_ENABLED": cache, "HTTPCACHE_DIR": "cache"}
    result = await crawl(site(pages), settings, spider=Items)
    assert sorted(MemoryFiles.got) == [
        ("/f.png", [True]),
        ("/f.png?utm_source=x", [False]),
        ("/g.png?sid=1", [True]),
        ("/g.png?sid=2", [True]),
    ]
    assert {"/g.png?sid=1", "/g.png?sid=2"} <= set(result.hits)
