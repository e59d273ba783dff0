"""A page declares nothing if no callback has it, or not all of it, or if its callback raised."""

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
    """A spider middleware that handles the exceptions of callbacks."""

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
    """Has an errback that ignores the failure."""

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
    """Raises after the canonical URLs were linked and dropped."""

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
    """If the callback raised, the canonical URL is fetched, whether linked before or after."""
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
    """If a middleware kept the page from the callback, the canonical URL is fetched.

    Even if an errback or another middleware handled that.
    """
    settings = {**ON, "SPIDER_MIDDLEWARES": middlewares}
    result = await crawl(respond_with(shop, BOTH, VARIANTS, CANONICALS), settings, spider=spider)
    assert articles(result) == SUBJECTS


@deferred_f_from_coro_f
async def test_canonical_of_a_page_that_was_cut_short_is_fetched(crawl):
    """The canonical URL of a truncated page is fetched: links may be missing."""

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
    """A canonical URL linked at a lower depth is fetched: DEPTH_LIMIT may have cut off links."""
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
