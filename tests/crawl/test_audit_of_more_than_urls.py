"""A suspension leaves alone what is told from other requests by more than its URL."""

import pytest
from audited_shop import SETTINGS, product
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
    assert result.figures["audit/suspended/drop_params:id"] == 1
    assert [hit for hit in result.hits if "search" in hit] == ["/search?sid=1", "/search"]


@deferred_f_from_coro_f
async def test_form_that_a_wrong_rule_merged_is_sent_once_it_falls(crawl):
    """Two forms with one body, sent to two pages that the rule makes one, are two."""
    urls = [f"/p?id={n}" for n in range(9)]

    class Sending(FollowSpider):
        def parse(self, response):
            for query in {f"{SITE}/": ("?id=1", "?id=2"), f"{SITE}/later": ("",)}.get(
                response.url, ()
            ):
                yield Request(f"{SITE}/form{query}", method="POST", body="q=a")
            yield from super().parse(response)

    pages = {"/": links(*urls, "/late"), "/late": links("/later"), "/later": page("later")}
    result = await crawl(
        lambda request: pages.get(request.target) or product(request.query),
        {**RULES, **SETTINGS},
        spider=Sending,
    )
    forms = [hit for hit in result.hits if "form" in hit]
    assert forms == ["/form?id=1", "/form?id=2", "/form"]
