"""What an audit compares variants with: what the URL showed that stands for the page."""

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
