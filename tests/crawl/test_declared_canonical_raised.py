"""A page declares nothing that no callback has, or not all of, or whose callback raised."""

import asyncio
from dataclasses import replace

import pytest
from declaring_shop import (
    BOTH,
    CANONICALS,
    ON,
    SUBJECTS,
    VARIANTS,
    article,
    articles,
    respond_with,
    shop,
)
from loopback import Fault, page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links


class Handling:
    """A spider middleware that collects what callbacks raise."""

    def process_spider_exception(self, response, exception):
        del response, exception
        return []


def is_refused(response):
    """Tell whether the spider raises at this page."""
    return response.url.partition("site.example")[2] in VARIANTS


class Refusing:
    """A spider middleware that keeps pages from the callback."""

    def process_spider_input(self, response):
        if is_refused(response):
            raise ValueError("not this one")


class Forgiving(FollowSpider):
    """Makes nothing of a page that a middleware keeps from its callback."""

    def parse(self, response):
        for each in super().parse(response):
            yield each.replace(errback=self.failed) if isinstance(each, Request) else each

    def failed(self, failure):
        del failure
        return []


class Raising(FollowSpider):
    """Raises at pages that declare other URLs."""

    def parse(self, response):
        if is_refused(response):
            raise ValueError("not this one")
        yield from super().parse(response)


class RaisingLate(FollowSpider):
    """Raises once the canonical URLs are linked and dropped."""

    async def parse(self, response):
        if is_refused(response):
            await asyncio.sleep(0.3)
            raise ValueError("not this one")
        for each in super().parse(response):
            yield each


@pytest.mark.parametrize("middlewares", [{}, {Handling: 543}], ids=["raised", "handled"])
@pytest.mark.parametrize("audit", [0, 1e-9], ids=["no audit", "audit"])
@pytest.mark.parametrize("spider", [Raising, RaisingLate])
@deferred_f_from_coro_f
async def test_canonical_is_fetched_where_the_callback_raised(crawl, spider, audit, middlewares):
    """Whether it is linked before or afterwards, and whoever handles the exception."""
    settings = {**ON, "URLCANON_AUDIT": audit, "SPIDER_MIDDLEWARES": middlewares}
    result = await crawl(respond_with(shop, BOTH, VARIANTS, CANONICALS), settings, spider=spider)
    assert articles(result) == SUBJECTS


@pytest.mark.parametrize(
    ("spider", "middlewares"),
    [(Forgiving, {Refusing: 500}), (FollowSpider, {Handling: 100, Refusing: 500})],
    ids=["errback", "middleware"],
)
@deferred_f_from_coro_f
async def test_canonical_is_fetched_where_a_middleware_kept_the_page(crawl, spider, middlewares):
    """What is made of that passes the middlewares as the output of a callback does."""
    settings = {**ON, "SPIDER_MIDDLEWARES": middlewares}
    result = await crawl(respond_with(shop, BOTH, VARIANTS, CANONICALS), settings, spider=spider)
    assert articles(result) == SUBJECTS


@deferred_f_from_coro_f
async def test_canonical_of_a_page_that_was_cut_short_is_fetched(crawl):
    """The spider takes what there is of it, and may not have all that the page links."""

    def answer(request):
        if request.target in VARIANTS:
            return replace(shop(request), fault=Fault.TRUNCATION)
        if request.target in CANONICALS:
            return article(request.path[1:], request.path, urls=[f"/behind{request.path}"])
        return shop(request)

    settings = {**ON, "DOWNLOAD_FAIL_ON_DATALOSS": False}
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), settings)
    assert {f"/behind{url}" for url in CANONICALS} <= set(result.hits)


@deferred_f_from_coro_f
async def test_canonical_that_is_linked_nearer_is_fetched(crawl):
    """The limit of the depth may have cut off what the page links that declares it."""
    near, deep = "/near", "/deep"

    def answer(request):
        if request.path == deep:
            return links(*VARIANTS, near)
        if request.path == near:
            return page("near")
        if request.target in {*VARIANTS, *CANONICALS}:
            return article(request.path[1:], request.path, urls=[f"/behind{request.path}"])
        return shop(request) if request.path.startswith("/item") else page(request.path)

    class Late(FollowSpider):
        async def parse(self, response):
            for each in super().parse(response):
                yield each
            if response.url.endswith("example/"):
                await asyncio.sleep(0.3)
                for url in CANONICALS:
                    yield response.follow(url)

    settings = {**ON, "DEPTH_LIMIT": 3, "CONCURRENT_REQUESTS": 8}
    hubs = {"/": links(*BOTH, "/one"), "/one": links(deep)}
    result = await crawl(lambda r: hubs.get(r.target) or answer(r), settings, spider=Late)
    behind = {hit for hit in result.hits if hit.startswith("/behind")}
    assert behind == {f"/behind{url}" for url in CANONICALS}
