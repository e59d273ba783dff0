"""An audit compares a variant with what the kept URL showed, whatever other URLs did."""

import pytest
from audited_shop import SETTINGS, product
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
PAGES = range(8)


class InRounds(FollowSpider):
    """Requests URLs of eight pages in rounds, each of which begins after the one before."""

    rounds = ()
    """Of each round the queries, each with the name of the callback that it is for."""
    unfiltered = None
    """The query that is asked for past the filter."""
    raises_at = None
    """The query at which the first callback raises."""
    priority = -1
    """Of what begins a round: with 0 it begins while the one before is under way."""

    def parse(self, _):
        return self.ask(_, 0)

    def ask(self, _, number):
        for name in PAGES:
            for query, callback in self.rounds[number]:
                url, is_unfiltered = f"{SITE}/p{name}{query}", query == self.unfiltered
                yield Request(url, getattr(self, callback), dont_filter=is_unfiltered)
        if number + 1 < len(self.rounds):
            following, url = {"number": number + 1}, f"{SITE}/round/{number}"
            yield Request(url, self.ask, priority=self.priority, cb_kwargs=following)

    def first(self, response):
        self.note(response, "first")
        if self.raises_at and response.url.endswith(self.raises_at):
            raise ValueError

    def second(self, response):
        self.note(response, "second")

    def note(self, response, callback):
        self.crawler.stats.inc_value(f"{callback} {response.url}")


def shown(result, callback):
    """Return the URLs that *callback* got."""
    names = [name.split(" ", 1) for name in result.stats if " " in name]
    return {url for name, url in names if name == callback}


def of_each_page(query, scheme="http"):
    """Return the URL of each of the eight pages with this *query*."""
    return {f"{scheme}://site.example/p{name}{query}" for name in PAGES}


class RedirectedLater(InRounds):
    """Requests a second page for another callback, and then a variant of it for the first."""

    rounds = (("?id=1", "first"),), (("?id=2", "second"),), (("?id=2&sid=1", "first"),)


@deferred_f_from_coro_f
async def test_what_another_callback_is_redirected_to_is_not_what_stands_for_the_page(crawl):
    """What another callback's URL redirects to is not what a variant is compared with.

    It shows the variant's own page, so that the wrong entry would look right.
    """

    def respond(request):
        if not request.target.startswith("/p"):
            return page("links")
        if "id=2" in request.target and request.scheme == "http":
            return redirect(f"https{request.url[4:]}")
        return product(request.target.partition("&")[0])

    result = await crawl(respond, {**SETTINGS, **RULES}, spider=RedirectedLater)
    assert of_each_page("?id=2&sid=1", "https") <= shown(result, "first")


class LinkedLater(InRounds):
    """Has two pages of each path, and then requests a third one for another callback."""

    rounds = (("?ref=2", "first"), ("?id=3&ref=0", "first")), (("?id=3", "second"),)


class LinkedMeanwhile(InRounds):
    """Requests the third page while an audit compares the first two."""

    rounds = (*LinkedLater.rounds[0], ("?id=4&ref=1", "second")), LinkedLater.rounds[1]
    priority = 0


@pytest.mark.parametrize(("spider", "share"), [(LinkedLater, 1), (LinkedMeanwhile, 0.3)])
@deferred_f_from_coro_f
async def test_url_that_an_audit_made_up_is_fetched_for_the_callback_that_asks_for_it(
    crawl, spider, share
):
    """A URL that an audit built to tell two entries apart is still fetched when it is linked.

    The first callback got it from the audit, and the callback that requests it has not.
    """

    def respond(request):
        return product(request.target) if "/p" in request.target else page("links")

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "ref"]}}}
    settings = {**SETTINGS, **rules, "URLCANON_AUDIT": share}
    result = await crawl(respond, settings, spider=spider)
    assert of_each_page("?id=3") <= shown(result, "second")


class LinkedAsRewritten(InRounds):
    """Requests the canonical URL that was fetched for the first callback with the second one."""

    rounds = (("?sid=1", "first"),), (("?id=2", "second"),), (("", "second"),)


@deferred_f_from_coro_f
async def test_url_that_others_were_rewritten_to_is_fetched_for_who_had_another_page(crawl):
    """With URLCANON_REWRITE a canonical URL is fetched for a callback that has another page.

    It was fetched for the first callback, in place of the URL that was linked.
    """

    def respond(request):
        name, _, value = request.target.partition("?id=")
        number = name[2:3] + value
        return product(number) if name.startswith("/p") else page("links")

    settings = {**SETTINGS, **RULES, "URLCANON_REWRITE": True}
    result = await crawl(respond, settings, spider=LinkedAsRewritten)
    assert of_each_page("") <= shown(result, "second")


class RaisingOnce(InRounds):
    """Raises at the first URL of each page, which another callback gets unfiltered."""

    rounds = (
        (("?id=1", "first"), ("?id=2", "first")),
        (("?id=1&sid=1", "second"),),
        (("?id=2&sid=1", "second"),),
    )
    unfiltered = "?id=1&sid=1"
    raises_at = "?id=1"


@deferred_f_from_coro_f
async def test_what_a_cache_answers_with_is_compared_by_what_it_shows(crawl):
    """What a page shows from the HTTP cache is what its variants are compared with from then on.

    Not what was fetched in its place when the callback raised: that is another page.
    """

    def respond(request):
        name, _, value = request.target.partition("?id=")
        return product(name[2:] + value[:1]) if name.startswith("/p") else page("links")

    settings = {**SETTINGS, **RULES, "HTTPCACHE_ENABLED": True}
    result = await crawl(respond, settings, spider=RaisingOnce)
    assert of_each_page("?id=2&sid=1") <= shown(result, "second")
