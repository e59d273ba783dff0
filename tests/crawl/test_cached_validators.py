"""An HTTP cache that validates what it holds of a page, under any of the page's URLs."""

import pytest
from loopback import Response
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider

SETTINGS = {
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
}
OLD = "Thu, 01 Jan 2026 00:00:00 GMT"


def validating(headers):
    """Return a site whose page */a* answers 304 to its validators; all else redirects there."""
    conditions = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}
    sent = (*headers.items(), ("Cache-Control", "max-age=0"), ("Content-Type", "text/html"))

    def respond(request):
        if request.target != "/a":
            return Response(301, (("Location", "/a"), ("Cache-Control", "max-age=0")))
        if any(request.headers.get(conditions[name]) == headers[name] for name in headers):
            return Response(304, sent)
        return Response(200, sent, b"a")

    return respond


@pytest.mark.parametrize("headers", [{"ETag": '"1"'}, {"Last-Modified": OLD}])
@deferred_f_from_coro_f
async def test_redirect_to_the_url_that_a_page_is_stored_by(crawl, headers):
    """A redirect to a cached page fetches the page.

    The validators of the cached page, sent with the URL that redirects, would bring a 304 without
    content.
    """
    await crawl(validating(headers), SETTINGS, start=[f"{SITE}/a"])
    for source in ("/a?utm_source=x", "/a?utm_source=y", "/a?utm_source=x"):
        result = await crawl(validating(headers), SETTINGS, start=[f"{SITE}{source}"])
        assert result.pages == ["/a"]
    # What is stored is asked for by its validator.
    result = await crawl(validating(headers), SETTINGS, start=[f"{SITE}/a"])
    assert result.hits == result.pages == ["/a"]


@deferred_f_from_coro_f
async def test_spider_that_validates_itself(crawl):
    """Validators that a spider sends itself are kept through redirects, as without the plugin."""

    class Handling(FollowSpider):
        handle_httpstatus_list = (304,)

    request = Request(f"{SITE}/b", headers={"If-None-Match": '"1"'})
    site = validating({"ETag": '"1"'})
    result = await crawl(site, SETTINGS, start=[request], spider=Handling)
    assert [item["text"] for item in result.items] == [""]
