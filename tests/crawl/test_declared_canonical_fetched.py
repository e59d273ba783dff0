"""Declared canonical URLs that are fetched all the same, since a page would be lost."""

import asyncio

import pytest
from declaring_shop import BOTH, CANONICALS, ON, SUBJECTS, VARIANTS, articles, respond_with, shop
from loopback import Response, redirect
from scrapy import Request
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider


@deferred_f_from_coro_f
async def test_canonical_that_was_requested_before(crawl):
    """A canonical URL that was queued before is fetched."""
    both = [url for pair in zip(VARIANTS, CANONICALS, strict=True) for url in pair]
    result = await crawl(respond_with(shop, BOTH, both, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)
    assert "dropped/rule/declared_canonical" not in result.figures
    assert result.figures["dropped/exact"] == len(CANONICALS)


@pytest.mark.parametrize("status", [203, 404, 500])
@deferred_f_from_coro_f
async def test_page_that_is_no_success_declares_nothing(crawl, status):
    """An error page declares nothing, even if the spider handles it."""

    def answer(request):
        is_odd = request.target in VARIANTS
        answered = shop(request)
        return Response(status if is_odd else 200, answered.headers, answered.body)

    settings = {**ON, "HTTPERROR_ALLOW_ALL": True}
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), settings)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_redirect_to_the_canonical_url_is_followed(crawl):
    """A redirect to the canonical URL is followed, though a link to it would be dropped."""

    def answer(request):
        return redirect(request.path) if "sid=2" in request.query else shop(request)

    redirected = [f"/item{n}?sid=2" for n in range(10, 30)]
    result = await crawl(respond_with(answer, BOTH, VARIANTS, redirected, CANONICALS), ON)
    assert [hit for hit in result.hits if hit in CANONICALS] == CANONICALS


@deferred_f_from_coro_f
async def test_redirect_to_a_canonical_url_that_was_dropped(crawl):
    """A redirect to a dropped canonical URL leads to a page that the spider has.

    No other URL of its source is tried.
    """

    def answer(request):
        return redirect("/item10") if request.path == "/old" else shop(request)

    olds = ["/old?utm_source=1", "/old?utm_source=2"]
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS, olds), ON)
    assert [hit for hit in result.hits if hit.startswith("/old")] == olds[:1]
    assert "/item10" not in result.hits


@deferred_f_from_coro_f
async def test_canonical_that_redirects_back(crawl):
    """A canonical URL that redirects to the page that declares it loses nothing."""

    def answer(request):
        return shop(request) if request.query else redirect(f"{request.path}?sid=1")

    site = respond_with(answer, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON)
    assert articles(result) == SUBJECTS


@pytest.mark.parametrize(
    "options",
    [{"dont_filter": True}, {"method": "POST"}, {"method": "HEAD"}, {"meta": {"urlcanon": False}}],
    ids=lambda options: str(*options),
)
@deferred_f_from_coro_f
async def test_requests_that_are_not_to_be_filtered(crawl, options):
    """Unfiltered requests, other methods and requests without rules are fetched."""

    class Asking(FollowSpider):
        def parse(self, response):
            for each in super().parse(response):
                is_asked = isinstance(each, Request) and each.url.removeprefix(SITE) in CANONICALS
                yield each.replace(**options) if is_asked else each

    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON, spider=Asking)
    assert set(CANONICALS) <= set(result.hits)


class UrlFingerprinter:
    """A fallback that looks at the URL alone."""

    def fingerprint(self, request):
        return request.url.encode()


@pytest.mark.parametrize("meta", [{"urlcanon": False}, {"urlcanon": {}}, {"verbatim_url": True}])
@deferred_f_from_coro_f
async def test_request_with_rules_of_its_own(crawl, meta):
    """A request with rules of its own is fetched, even if its fallback fingerprint is the same."""

    class Asking(FollowSpider):
        def parse(self, response):
            for each in super().parse(response):
                is_asked = isinstance(each, Request) and each.url.removeprefix(SITE) in CANONICALS
                yield each.replace(meta=meta) if is_asked else each

    setting = "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS"
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, {**ON, setting: UrlFingerprinter})
    assert not set(CANONICALS) & set(result.hits)
    result = await crawl(site, {**ON, setting: UrlFingerprinter}, spider=Asking)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_start_requests_are_fetched(crawl):
    """Start requests are fetched, however late they come."""

    class Late(FollowSpider):
        def _start(self, urls):
            self.arrived = asyncio.Event()

            async def start():
                yield Request(urls[0])
                await self.arrived.wait()
                yield Request(f"{SITE}{CANONICALS[0]}")

            return start

        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}{VARIANTS[-1]}":
                self.arrived.set()

    result = await crawl(respond_with(shop, BOTH, VARIANTS), ON, spider=Late)
    assert result.hits[-1] == CANONICALS[0]


class Catalogue(CrawlSpider):
    """Takes items from URLs without a query, and follows the others."""

    name = "catalogue"

    def __init__(self, start, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = list(start)
        self.taken = []

    def parse(self, _response):
        return ()

    def take(self, response):
        self.taken.append(response.url.removeprefix(SITE))

    rules = (
        Rule(process_links=lambda links: [x for x in links if "?" in x.url or "hub" in x.url]),
    )
    rules += (Rule(callback="take"),)


@deferred_f_from_coro_f
async def test_page_that_another_callback_is_for(crawl):
    """A canonical URL is fetched for a callback that has not got the page."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON, spider=Catalogue)
    assert set(CANONICALS) <= set(result.crawler.spider.taken)
    assert "dropped/rule/declared_canonical" not in result.figures
