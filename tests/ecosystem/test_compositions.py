"""Crawls with packages that people use beside us: the pages are those of a crawl without us.

``make test-ecosystem`` runs them in an environment that has the packages.
"""

from importlib.util import find_spec

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

# Those of the packages are theirs.
pytestmark = pytest.mark.filterwarnings("default")

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
PAGES = {
    "/": links("/gone?sid=1", "/gone?sid=2", "/slash", "/b?sid=1", "/b?sid=2", "/c"),
    "/gone?sid=2": page("It is here after all."),
    "/slash": redirect("/slash?sid=1"),
    "/slash?sid=1": page("A redirect to its own canonical form."),
    "/b?sid=1": page("b"),
    "/b?sid=2": page("b"),
    "/c": links("/b?sid=3"),
    "/b?sid=3": page("b"),
}
OURS = "scrapy_urlcanon.Addon"
ZYTE = {"ZYTE_API_KEY": "none", "ZYTE_API_TRANSPARENT_MODE": False}
PROXIES = "rotating_proxies.middlewares"
PACKAGES = {
    "scrapy_poet, below ours": {"ADDONS": {"scrapy_poet.Addon": 300}},
    "scrapy_poet, above ours": {"ADDONS": {"scrapy_poet.Addon": 600}},
    "scrapy_zyte_api, below ours": {"ADDONS": {"scrapy_zyte_api.Addon": 300}, **ZYTE},
    "scrapy_zyte_api, above ours": {"ADDONS": {"scrapy_zyte_api.Addon": 600}, **ZYTE},
    "spidermon": {
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "SPIDERMON_ENABLED": True,
    },
    "rotating_proxies": {
        "DOWNLOADER_MIDDLEWARES": {
            f"{PROXIES}.RotatingProxyMiddleware": 610,
            f"{PROXIES}.BanDetectionMiddleware": 620,
        }
    },
    "scrapy_impersonate": {
        "DOWNLOAD_HANDLERS": {"http": "scrapy_impersonate.ImpersonateDownloadHandler"}
    },
}
"""Settings, by the name of a package and the place of its add-on."""


@pytest.mark.parametrize("case", PACKAGES)
@deferred_f_from_coro_f
async def test_pages_are_those_without_us(crawl, case):
    """The same pages come with and without us, after a failure and a redirect to itself too.

    An add-on with a higher number than ours that sets a fingerprinter takes our place: nothing is
    merged then, and the log says so.
    """
    package, _, place = case.partition(", ")
    if not find_spec(package):
        pytest.skip(f"needs {package}, as in make test-ecosystem")
    settings = dict(PACKAGES[case])
    addons = settings.pop("ADDONS", {})
    off = await crawl(site(PAGES), {**settings, "ADDONS": addons})
    on = await crawl(site(PAGES), {**settings, **RULES, "ADDONS": {**addons, OURS: 500}})
    assert len(off.pages) == 7
    assert names(on.pages) == names(off.pages)
    is_replaced = package == "scrapy_poet" and place == "above ours"
    assert is_replaced or len(on.pages) == 5


def names(urls):
    """Return the pages of *urls*."""
    return {url.partition("?")[0] for url in urls}


class Stored:
    """Stores by the keys of scrapy-deltafetch."""

    keys = set()  # noqa: RUF012

    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.fingerprint = crawler.request_fingerprinter.fingerprint
        return made

    def process_spider_input(self, response):
        request = response.request
        self.keys.add(request.meta.get("deltafetch_key") or self.fingerprint(request))

    def __call__(self, url):
        return self.fingerprint(Request(url)) in self.keys


@deferred_f_from_coro_f
async def test_rescued_page_is_stored_under_the_key_of_the_page(crawl):
    """scrapy-deltafetch stores a rescued page by the key that all of its URLs have."""
    settings = {**RULES, "DELTAFETCH_ENABLED": True, "SPIDER_MIDDLEWARES": {Stored: 1}}
    result = await crawl(site(PAGES), settings)
    assert result.figures["rescued"] == 1
    stored = Stored.from_crawler(result.crawler)
    assert all(stored(f"{SITE}/gone?sid={number}") for number in range(3))


@deferred_f_from_coro_f
async def test_callback_that_takes_data_and_no_page(crawl):
    """A callback to which scrapy-poet gives data and a dummy response has got the page."""
    poet = pytest.importorskip("scrapy_poet", reason="as in make test-ecosystem")
    providers = pytest.importorskip("scrapy_poet.page_input_providers")

    class Data(str):
        __slots__ = ()

    class Provider(providers.PageObjectInputProvider):
        provided_classes = {Data}  # noqa: RUF012

        def __call__(self, to_provide, request: Request):
            del to_provide
            if "sid=1" in request.url:
                raise ValueError
            return [Data(request.url)]

    class Taking(FollowSpider):
        def parse(self, response):
            for url in response.css("a::attr(href)").getall():
                yield response.follow(url, self.take)

        def take(self, _: poet.DummyResponse, data: Data):
            self.taken.append(str(data))

        taken = []  # noqa: RUF012

    settings = {
        **RULES,
        "ADDONS": {"scrapy_poet.Addon": 300, OURS: 500},
        "SCRAPY_POET_PROVIDERS": {Provider: 500},
    }
    await crawl(site({"/": links(*(f"/a?sid={n}" for n in range(1, 5)))}), settings, spider=Taking)
    assert Taking.taken == [f"{SITE}/a?sid=2"]
