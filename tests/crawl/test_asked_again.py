"""A callback that asks for its page once more has it when it is done with that."""

import pytest
from loopback import page
from scrapy import signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
FIRST = f"{SITE}/a?sid=1"


class Again(FollowSpider):
    """Asks once more for what it was not logged in for, and for nothing else."""

    def again(self, response):
        return response.request.replace(dont_filter=True)

    def parse(self, response):
        if "log in" in response.text:
            request = self.again(response)
            if request:
                yield request
            return
        if "broken" in response.text:
            raise ValueError
        yield from super().parse(response)


class Retrying(Again):
    def again(self, response):
        return get_retry_request(response.request, spider=self, reason="log in", max_retry_times=1)


def in_turn(*answers):
    """Return a site whose first URL of the page gives *answers* one after the other."""
    left = list(answers)
    others = site({"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")})
    return lambda request: left.pop(0) if request.url == FIRST and left else others(request)


@pytest.mark.parametrize("spider", [Again, Retrying])
@pytest.mark.parametrize("second", [page("gone", status=404), page("broken"), page("")])
@deferred_f_from_coro_f
async def test_page_that_fails_when_it_is_asked_for_again(crawl, spider, second):
    """The first answer was not the page, and says nothing of the other URLs."""
    result = await crawl(in_turn(page("log in"), second), RULES, spider=spider)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1", "/a?sid=2"]
    assert "/a?sid=2" in result.pages


@pytest.mark.parametrize("spider", [Again, Retrying])
@deferred_f_from_coro_f
async def test_page_that_comes_when_it_is_asked_for_again(crawl, spider):
    """No variant of it is fetched."""
    result = await crawl(in_turn(page("log in"), page("a")), RULES, spider=spider)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1"]


class Refusing:
    """An extension that refuses what is asked for again before it is scheduled."""

    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        crawler.signals.connect(extension.request_scheduled, signals.request_scheduled)
        return extension

    def request_scheduled(self, request):
        if request.dont_filter and request.url == FIRST:
            raise IgnoreRequest


@deferred_f_from_coro_f
async def test_page_that_is_asked_for_again_in_vain(crawl):
    """Where nothing comes of the request the page is missed."""
    settings = {**RULES, "EXTENSIONS": {Refusing: 1}}
    result = await crawl(in_turn(page("log in")), settings, spider=Again)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2"]
