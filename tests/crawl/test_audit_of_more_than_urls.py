"""A suspension leaves alone what is told from other requests by more than its URL."""

import pytest
from audited_shop import SETTINGS, WRONG, product
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}


@pytest.mark.parametrize(
    "own", [{"method": "POST", "body": "q=a"}, {"meta": {"urlcanon_key": "k"}}]
)
@deferred_f_from_coro_f
async def test_suspension_takes_no_request_for_a_plain_one(crawl, own):
    """A form that was sent is not sent again, and the page at its URL comes too."""
    sent = Request(f"{SITE}/search?sid=1", **own)

    class Sending(FollowSpider):
        def parse(self, response):
            if response.url.endswith("/later"):
                yield sent.replace()
            yield from super().parse(response)

    urls = [f"/p?id={n}" for n in range(9)]
    pages = {"/": links(*urls, "/late"), "/late": links("/later"), "/later": links("/search")}
    result = await crawl(
        lambda request: pages.get(request.target) or product(request.query),
        {**RULES, **SETTINGS},
        start=(sent, f"{SITE}/"),
        spider=Sending,
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert [hit for hit in result.hits if "search" in hit] == ["/search?sid=1", "/search"]


@pytest.mark.parametrize("method", ["POST", "GET"])
@deferred_f_from_coro_f
async def test_forms_that_a_wrong_rule_merged_are_sent_once_it_falls(crawl, method):
    """Each of several that were sent to one URL, and that to what the rule made of it."""
    sent = {f"{SITE}/": ("?id=1", "?id=2"), f"{SITE}/later": ("",)}

    class Sending(FollowSpider):
        def parse(self, response):
            for query in sent.get(response.url, ()):
                for body in ("q=a", "q=b"):
                    yield Request(f"{SITE}/form{query}", method=method, body=body)
            yield {"url": f"{response.url} {response.request.body.decode()}".strip(), "text": ""}
            yield from response.follow_all(css="a")

    urls = [f"/p?id={n}" for n in range(9)]
    pages = {"/": links(*urls, "/late"), "/late": links("/later"), "/later": page("later")}
    result = await crawl(
        lambda request: pages.get(request.target) or product(request.query),
        {**RULES, **SETTINGS},
        spider=Sending,
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    forms = [f"/form{query} q={body}" for query in ("", "?id=1", "?id=2") for body in "ab"]
    assert [hit for hit in result.pages if "form" in hit] == forms


@deferred_f_from_coro_f
async def test_form_of_which_another_one_fails_is_sent_once_a_wrong_rule_falls(crawl):
    """What the spider got of the page that the rule made of both says nothing of either."""
    sent = {f"{SITE}/": ("?id=1&sid=1", "?sid=2", "?sid=3")}

    class Sending(FollowSpider):
        def parse(self, response):
            for query in sent.get(response.url, ()):
                yield Request(f"{SITE}/form{query}", method="POST", body="q=a")
            yield from super().parse(response)

    pages = {"/": links(*(f"/p?id={n}" for n in range(9))), "/form?sid=2": page("", status=404)}
    result = await crawl(
        lambda request: pages.get(request.target) or product(request.query),
        {**RULES, **SETTINGS},
        spider=Sending,
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert "/form?sid=3" in result.pages


@deferred_f_from_coro_f
async def test_what_is_sent_to_a_url_is_not_taken_for_its_page(crawl):
    """What an audit would find of a GET with a body is no word on the plain one."""
    targets = [f"/p?id={n}" for n in range(9)]

    class Sending(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/":
                for target in targets:
                    yield Request(SITE + target, body="q=a")
                    yield Request(SITE + target)
            yield {"url": f"{response.url} {response.request.body.decode()}".strip(), "text": ""}

    result = await crawl(
        lambda request: product(f"{request.query} {request.body.decode()}"),
        {**RULES, **SETTINGS},
        spider=Sending,
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*targets} < {*result.pages}


@deferred_f_from_coro_f
async def test_page_is_known_by_the_url_that_brought_it_last(crawl):
    """Another callback may get it by another one: what this shows is compared with this alone."""
    urls = [f"/p?id={n}" for n in range(6)]

    class Asking(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield from (Request(SITE + url) for url in urls)
                yield Request(f"{SITE}/p?id=other", self.parse_other)

        def parse_other(self, response):
            yield {"url": response.url, "text": ""}

    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1}
    result = await crawl(lambda request: product(request.target), settings, spider=Asking)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert set(urls) <= set(result.pages)


class Looking(FollowSpider):
    """Asks for pages, and for each of them once more, to look at it, past the filter."""

    urls = tuple(f"{SITE}/p?id={n}" for n in range(12))

    async def parse(self, response):
        yield {"url": response.url, "text": ""}
        if response.url == f"{SITE}/":
            for url in self.urls:
                yield Request(url, self.look, dont_filter=True)
                yield Request(url)

    def look(self, response):
        """Do nothing with what comes."""


class Downloading(Looking):
    """Does so itself, once it has the first page."""

    async def parse(self, response):
        yield {"url": response.url, "text": ""}
        first, *others = self.urls
        if response.url == f"{SITE}/":
            yield Request(first)
        for url in others if response.url == first else ():
            await self.crawler.engine.download_async(Request(url))
            yield Request(url)


@pytest.mark.parametrize("share", [1, 1e-9])
@pytest.mark.parametrize("spider", [Looking, Downloading])
@deferred_f_from_coro_f
async def test_what_is_not_filtered_does_not_stand_for_a_page(crawl, spider, share):
    """What it shows is not held against what the URL does that stands for it, as if that moved."""
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": share}
    result = await crawl(lambda request: product(request.target), settings, spider=spider)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {url.removeprefix(SITE) for url in spider.urls} <= set(result.pages)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("share", [1, 1e-9])
@deferred_f_from_coro_f
async def test_what_is_not_filtered_is_rewritten_for_each_callback(crawl, is_first, share):
    """Once the rule falls both get each page, as they would of requests that nothing rewrites."""
    urls, looked_at = [f"{SITE}/p?id={n}" for n in range(12)], set()

    class Both(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            for url in urls if response.url == f"{SITE}/" else ():
                pair = [Request(url, self.look, dont_filter=True), Request(url)]
                yield from pair if is_first else reversed(pair)

        def look(self, response):
            looked_at.add(response.url)

    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": share, "URLCANON_REWRITE": True}
    result = await crawl(lambda request: product(request.target), settings, spider=Both)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*urls} <= looked_at
    assert {url.removeprefix(SITE) for url in urls} <= {*result.pages}
