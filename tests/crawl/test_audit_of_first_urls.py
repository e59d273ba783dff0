"""What an audit compares variants with: what the URL showed that stands for the page."""

import pytest
from audited_shop import SETTINGS, product
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
PAGES = range(8)


class RedirectedLater(FollowSpider):
    """Asks for other URLs of pages that it has, first for another callback."""

    def parse(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=1", self.first)
        yield Request(f"{SITE}/second", self.for_second, priority=-1)

    def for_second(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=2", self.second)
        yield Request(f"{SITE}/first", self.for_first, priority=-1)

    def for_first(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=2&sid=1", self.first)

    def first(self, response):
        self.crawler.stats.inc_value(f"first {response.url}")

    def second(self, _):
        pass


@deferred_f_from_coro_f
async def test_what_another_callback_is_redirected_to_is_not_what_stands_for_the_page(crawl):
    """It is no content of the URL that another one was dropped for."""

    def respond(request):
        if not request.target.startswith("/p"):
            return page("links")
        if "id=2" in request.target and request.scheme == "http":
            return redirect(f"https{request.url[4:]}")
        return product(request.target.partition("&")[0])

    result = await crawl(respond, {**SETTINGS, **RULES}, spider=RedirectedLater)
    urls = {f"https://site.example/p{name}?id=2&sid=1" for name in PAGES}
    assert urls <= {name.removeprefix("first ") for name in result.stats}


class LinkedLater(FollowSpider):
    """Has two pages of each path, and then finds a third one, for another callback."""

    has_another = False
    """Whether that callback has another page of the path before."""

    def parse(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?ref=2", self.first)
            yield Request(f"{SITE}/p{name}?id=3&ref=0", self.first)
            if self.has_another:
                yield Request(f"{SITE}/p{name}?id=4&ref=1", self.second)
        yield Request(f"{SITE}/second", self.for_second, priority=self.has_another - 1)

    def for_second(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=3", self.second)

    def first(self, _):
        pass

    def second(self, response):
        self.crawler.stats.inc_value(f"second {response.url}")


class LinkedMeanwhile(LinkedLater):
    """Finds it while what the first callback got is compared."""

    has_another = True


@pytest.mark.parametrize(("spider", "share"), [(LinkedLater, 1), (LinkedMeanwhile, 0.3)])
@deferred_f_from_coro_f
async def test_url_that_an_audit_made_up_is_fetched_for_the_callback_that_asks_for_it(
    crawl, spider, share
):
    """The first callback got it where nothing told which entry is to blame, and had not asked."""

    def respond(request):
        return product(request.target) if "/p" in request.target else page("links")

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "ref"]}}}
    settings = {**SETTINGS, **rules, "URLCANON_AUDIT": share}
    result = await crawl(respond, settings, spider=spider)
    urls = {f"{SITE}/p{name}?id=3" for name in PAGES}
    assert urls <= {name.removeprefix("second ") for name in result.stats}


class LinkedAsRewritten(FollowSpider):
    """Has each page for two callbacks, and then finds the URL that was fetched for the first."""

    def parse(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?sid=1", self.first)
        yield Request(f"{SITE}/second", self.for_second, priority=-1)

    def for_second(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=2", self.second)
        yield Request(f"{SITE}/canonical", self.for_canonical, priority=-1)

    def for_canonical(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}", self.second)

    def first(self, _):
        pass

    def second(self, response):
        self.crawler.stats.inc_value(f"second {response.url}")


@deferred_f_from_coro_f
async def test_url_that_others_were_rewritten_to_is_fetched_for_who_had_another_page(crawl):
    """It was fetched in the place of what another callback had asked for."""

    def respond(request):
        name, _, value = request.target.partition("?id=")
        number = name[2:3] + value
        return product(number) if name.startswith("/p") else page("links")

    settings = {**SETTINGS, **RULES, "URLCANON_REWRITE": True}
    result = await crawl(respond, settings, spider=LinkedAsRewritten)
    urls = {f"{SITE}/p{name}" for name in PAGES}
    assert urls <= {name.removeprefix("second ") for name in result.stats}


class RaisingOnce(FollowSpider):
    """Raises at the first URL of each page, which another callback then takes past the filter."""

    def parse(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=1", self.first)
            yield Request(f"{SITE}/p{name}?id=2", self.first)
        yield Request(f"{SITE}/cached", self.for_cached, priority=-1)

    def for_cached(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=1&sid=1", self.second, dont_filter=True)
        yield Request(f"{SITE}/second", self.for_second, priority=-1)

    def for_second(self, _):
        for name in PAGES:
            yield Request(f"{SITE}/p{name}?id=2&sid=1", self.second)

    def first(self, response):
        if response.url.endswith("id=1"):
            raise ValueError

    def second(self, response):
        self.crawler.stats.inc_value(f"second {response.url}")


@deferred_f_from_coro_f
async def test_what_a_cache_answers_with_is_compared_by_what_it_shows(crawl):
    """It stands for the page then, and not what had taken its place when the callback raised."""

    def respond(request):
        name, _, value = request.target.partition("?id=")
        return product(name[2:] + value[:1]) if name.startswith("/p") else page("links")

    settings = {**SETTINGS, **RULES, "HTTPCACHE_ENABLED": True}
    result = await crawl(respond, settings, spider=RaisingOnce)
    urls = {f"{SITE}/p{name}?id=2&sid=1" for name in PAGES}
    assert urls <= {name.removeprefix("second ") for name in result.stats}
