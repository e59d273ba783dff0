"""A suspension does not confuse forms, or requests with a key, with plain requests."""

import pytest
from audited_shop import SETTINGS, WRONG, product
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import fingerprint
from sites import SITE, FollowSpider, links

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}


@pytest.mark.parametrize(
    "own", [{"method": "POST", "body": "q=a"}, {"meta": {"urlcanon_key": "k"}}]
)
@deferred_f_from_coro_f
async def test_suspension_takes_no_request_for_a_plain_one(crawl, own):
    """After a suspension a form is not sent again, and the plain page at its URL is fetched."""
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
    """Forms that a wrong rule merged are each sent once when it falls."""
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
    """A form whose kept URL failed is sent to another URL once the wrong rule falls.

    The page that the spider got at the merged URL is the answer to neither form.
    """
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
    """An audit of a GET with a body says nothing of the plain GET of that URL."""
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
    """A page that another callback got by another URL is compared with what that URL shows."""
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
    """Requests each page twice, once of them unfiltered and for another callback."""

    urls = tuple(f"{SITE}/p?id={n}" for n in range(12))

    async def parse(self, response):
        yield {"url": response.url, "text": ""}
        if response.url == f"{SITE}/":
            for url in self.urls:
                yield Request(url, self.look, dont_filter=True)
                yield Request(url)

    def look(self, response):
        """Ignore the response."""


class Downloading(Looking):
    """Downloads each page with the engine, after the first one."""

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
    """Responses to unfiltered requests are not compared with what the kept URL shows.

    Else the pages of a wrong rule would look like one page that changes at each visit.
    """
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": share}
    result = await crawl(lambda request: product(request.target), settings, spider=spider)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {url.removeprefix(SITE) for url in spider.urls} <= set(result.pages)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("share", [1, 1e-9])
@deferred_f_from_coro_f
async def test_what_is_not_filtered_is_rewritten_for_each_callback(crawl, is_first, share):
    """With URLCANON_REWRITE, both callbacks get each page once the wrong rule falls."""
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


class HeaderFingerprinter:
    """A user's fingerprinter: requests with another Accept-Language are other pages."""

    def fingerprint(self, request):
        return fingerprint(request, include_headers=["Accept-Language"])


class InTwoLanguages(FollowSpider):
    """Requests each linked URL in two languages."""

    def parse(self, response):
        yield {"url": f"{response.url} {response.text.partition(' ')[0]}", "text": ""}
        for link in response.css("a"):
            for language in ("en", "de"):
                yield response.follow(link, headers={"Accept-Language": language})


@pytest.mark.parametrize("share", [1e-9, 1])
@deferred_f_from_coro_f
async def test_pages_that_a_header_tells_apart_all_come_once_a_wrong_rule_falls(crawl, share):
    """If the user's fingerprinter considers a header, one URL may be dropped for two pages."""
    urls = [f"/p?id={n}" for n in range(12)]

    def respond(request):
        if request.target == "/":
            return links(*urls)
        language = request.headers["accept-language"]
        return page(f"{language} {product(f'{request.query}{language}').body.decode()}")

    result = await crawl(
        respond,
        {
            **WRONG,
            **SETTINGS,
            "URLCANON_AUDIT": share,
            "REQUEST_FINGERPRINTER_CLASS": HeaderFingerprinter,
        },
        spider=InTwoLanguages,
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {f"{url} {language}" for url in urls for language in ("en", "de")} <= {*result.pages}
