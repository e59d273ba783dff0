"""The server never sees a fragment; only a browser may make pages of it."""

import pytest
from audited_shop import RIGHT, SETTINGS, audits, product, shop
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f


@pytest.mark.parametrize("other", [True, False], ids=["another page", "the same page"])
@deferred_f_from_coro_f
async def test_variant_that_is_linked_with_many_anchors_counts_once(crawl, other):
    """A variant that is linked with many fragments is one piece of evidence, not many.

    Else a single page could suspend or prove a rule.
    """

    async def figures(anchors):
        urls = [*(f"/p{n}" for n in range(8)), *(f"/p{n}?sid=1" for n in range(8))]
        urls[8:9] = [f"/p0?sid=1#{anchor}" for anchor in anchors]

        def answer(request, count):
            shown = request.target if other and request.target == "/p0?sid=1" else request.path
            return product(shown, seed=count)

        result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
        return len(result.hits), audits(result.figures)

    assert await figures("abcdefgh") == await figures("a")


class Browser:
    """A middleware that answers with the page that a script makes of the fragment."""

    def process_request(self, request):
        _, _, route = request.url.partition("#")
        if not route:
            return None
        shown = product(route, seed=int.from_bytes(request.url.encode(), "big") % 1_000)
        return HtmlResponse(request.url, body=shown.body, encoding="utf-8", request=request)


@deferred_f_from_coro_f
async def test_pages_that_scripts_make_of_fragments_are_audited_each(crawl):
    """With `fragment` = "routing", pages of different fragments are audited one by one.

    All have one URL on the server, which must not have them counted as one.
    """
    routes = [f"#!/p/{number}" for number in range(8)]
    urls = [f"/app{query}{route}" for query in ("", "?sid=1") for route in routes]
    rules = {"site.example": {"drop_params": ["sid"], "fragment": "routing"}}
    settings = {**SETTINGS, "URLCANON_RULES": rules, "URLCANON_AUDIT": 1}
    settings["DOWNLOADER_MIDDLEWARES"] = {Browser: 950}
    result = await crawl(shop(urls, lambda *_: None), settings)
    assert result.figures["audit/rule/drop_params:sid/site.example/same"] == len(routes)
