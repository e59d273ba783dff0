"""A callback that requests its page once more has it when that request has succeeded."""

import asyncio

import pytest
from loopback import page
from scrapy import Request, signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
FIRST = f"{SITE}/a?sid=1"


class Again(FollowSpider):
    """Requests once more a page that asks to log in."""

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


class Stepping(Again):
    """Requests the page once more for another callback."""

    def again(self, response):
        return response.request.replace(dont_filter=True, callback=self.shown)

    def shown(self, response):
        if "broken" in response.text:
            raise ValueError
        yield {"url": response.url, "text": response.text}


class Sending(Stepping):
    """Sends the form that it gets."""

    def again(self, response):
        return response.request.replace(method="POST", body=b"a=1")


class SendingToShow(Stepping):
    """Sends the form that it gets, for another callback."""

    def again(self, response):
        return response.request.replace(method="POST", body=b"a=1", callback=self.shown)


STEPS = (Again, Retrying, Stepping, Sending, SendingToShow)
"""Spiders that have a page by a second request."""


class AskingFirst(FollowSpider):
    """Sends a HEAD request for each page before the GET."""

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, method="HEAD")
        if response.request.method == "HEAD":
            yield response.request.replace(method="GET")


@deferred_f_from_coro_f
async def test_headers_of_a_page_that_fails_then(crawl):
    """If HEAD succeeds and GET fails, the next variant gets both: headers are no page."""
    result = await crawl(in_turn(page(""), page("gone", status=404)), RULES, spider=AskingFirst)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1", "/a?sid=2", "/a?sid=2"]


@pytest.mark.parametrize("spider", STEPS)
@pytest.mark.parametrize("second", [page("gone", status=404), page("broken"), page("")])
@deferred_f_from_coro_f
async def test_second_step_that_fails(crawl, spider, second):
    """If the second request fails the first callback has not got the page: a variant is fetched."""
    result = await crawl(in_turn(page("log in"), second), RULES, spider=spider)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1", "/a?sid=2"]
    assert "/a?sid=2" in result.pages


@pytest.mark.parametrize("spider", STEPS)
@deferred_f_from_coro_f
async def test_second_step_that_brings_the_page(crawl, spider):
    """If the second request brings the page, no variant is fetched."""
    result = await crawl(in_turn(page("log in"), page("a")), RULES, spider=spider)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1"]


class SendingSeveral(Stepping):
    """Sends its form for each part of a list."""

    def parse(self, response):
        if "log in" not in response.text:
            yield from super().parse(response)
            return
        for part in (b"part=1", b"part=2", b"part=2", b"part=3"):
            yield response.request.replace(
                method="POST", body=part, callback=self.shown, dont_filter=True
            )


@pytest.mark.parametrize("failing", [b"part=1", b"part=3", b""])
@deferred_f_from_coro_f
async def test_several_second_steps(crawl, failing):
    """If any of several further requests fails a variant is fetched, and else none."""
    pages = site({"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")})

    def answer(request):
        if request.url != FIRST:
            return pages(request)
        if request.method == "GET":
            return page("log in")
        return page("gone", status=404) if request.body == failing else page("a")

    result = await crawl(answer, RULES, spider=SendingSeveral)
    assert ("/a?sid=2" in result.hits) == bool(failing)


@pytest.mark.parametrize("spider", [Stepping, Sending, SendingToShow])
@deferred_f_from_coro_f
async def test_second_steps_that_all_fail(crawl, spider):
    """If the second request fails at each URL, each URL is tried once."""
    urls = [f"/a?sid={number}" for number in range(3)]
    pages = {"/": links(*urls), **dict.fromkeys(urls, page("log in"))}
    asked = set()

    def answer(request):
        is_step = request.url in asked
        asked.add(request.url)
        return page("gone", status=404) if is_step else site(pages)(request)

    result = await crawl(answer, RULES, spider=spider)
    assert result.hits == ["/", *sorted(urls * 2)]


class SteppingAndRaising(Stepping):
    """Raises after it has made the second request."""

    def parse(self, response):
        yield from super().parse(response)
        if "log in" in response.text:
            raise ValueError


@deferred_f_from_coro_f
async def test_callback_that_raises_after_it_asked_for_a_second_step(crawl):
    """A callback that raises after the second request is given the next variant."""
    result = await crawl(in_turn(page("log in"), page("a")), RULES, spider=SteppingAndRaising)
    assert sorted(result.hits) == ["/", "/a?sid=1", "/a?sid=1", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_callback_that_raises_once_the_second_step_has_come(crawl):
    """The same if it raises after the second response has reached another callback."""
    over = asyncio.Event()

    class RaisingLate(Stepping):
        async def parse(self, response):
            for each in super().parse(response):
                yield each
            if "log in" in response.text:
                await over.wait()
                raise ValueError

        def shown(self, response):
            yield response.follow("/next", callback=self.after)

        def after(self, response):
            if response.url.endswith("/end"):
                over.set()
            yield response.follow("/end", callback=self.after)

    settings = {
        **RULES,
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 5_000_000,
        "HTTPERROR_ALLOW_ALL": True,
    }
    result = await crawl(in_turn(page("log in"), page("a")), settings, spider=RaisingLate)
    assert "/a?sid=2" in result.hits


class Refusing:
    """An extension that refuses repeated requests before they are scheduled."""

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
    """If the second request is refused, a variant is fetched."""
    settings = {**RULES, "EXTENSIONS": {Refusing: 1}}
    result = await crawl(in_turn(page("log in")), settings, spider=Again)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2"]


@pytest.mark.parametrize("spider", [Again, Stepping])
@deferred_f_from_coro_f
async def test_earlier_run_has_not_got_what_it_asked_for_in_vain(crawl, spider):
    """With URLCANON_SEEN, a page whose second request failed is fetched in the next run."""
    answers = [page("a"), page("gone", status=404), page("log in")]
    pages = site({"/": links("/a?sid=1")})
    found = []
    for _ in range(3):
        result = await crawl(
            lambda request: answers.pop() if request.url == FIRST else pages(request),
            {**RULES, "URLCANON_SEEN": "seen.db", "URLCANON_SEEN_BY": "response"},
            spider=spider,
            start=[Request(f"{SITE}/", meta={"urlcanon_refetch": True})],
        )
        found.append(result.hits.count("/a?sid=1"))
    assert found == [2, 1, 0]
