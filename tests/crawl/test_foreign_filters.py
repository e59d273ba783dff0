"""Duplicate filters of a user, with and without our fingerprints."""

from loopback import page
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links, site

RULES = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}


class Foreign(BaseDupeFilter):
    """A duplicate filter that compares URLs as they are."""

    def __init__(self):
        self._seen = set()

    def request_seen(self, request):
        if request.url in self._seen:
            return True
        self._seen.add(request.url)
        return False

    def log(self, request, spider):
        """Do not log."""


@deferred_f_from_coro_f
async def test_duplicate_filter_that_does_not_ask_is_warned_of(crawl, caplog):
    """A warning names a filter that does not use our fingerprints; its drops are not counted."""
    urls = [f"/a?sid={n}" for n in range(5)]
    pages = {"/": links(*urls, *urls, *urls), **{url: page("a") for url in urls}}
    with caplog.at_level("WARNING", "scrapy_urlcanon"):
        result = await crawl(site(pages), {**RULES, "DUPEFILTER_CLASS": Foreign})
    assert result.pages == ["/", *urls]
    assert result.figures["dropped"] == 0
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "Foreign does not ask" in warning


class NoFilter(BaseDupeFilter):
    """A duplicate filter that drops nothing."""

    def request_seen(self, _request):
        return False


class OfAllButListings(RFPDupeFilter):
    """A duplicate filter that lets each listing be fetched again."""

    def request_seen(self, request):
        return "/list" not in request.url and super().request_seen(request)


@deferred_f_from_coro_f
async def test_duplicate_filter_that_drops_nothing_is_warned_of(crawl, caplog):
    """A filter that never used our fingerprints is named when the crawl ends."""
    urls = [f"/a?sid={n}" for n in range(5)]
    pages = {"/": links(*urls), **{url: page("a") for url in urls}}
    with caplog.at_level("WARNING", "scrapy_urlcanon"):
        result = await crawl(site(pages), {**RULES, "DUPEFILTER_CLASS": NoFilter})
    assert result.pages == ["/", *urls]
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "NoFilter does not ask" in warning


@deferred_f_from_coro_f
async def test_duplicate_filter_that_asks_for_what_is_no_listing_is_ours(crawl, caplog):
    """A filter that uses our fingerprints for some requests causes no warning."""
    urls = [f"/a?sid={n}" for n in range(3)]
    pages = {f"/list{n}": links(f"/list{n + 1}") for n in range(5)}
    pages |= {"/": links("/list0"), "/list5": links(*urls), **{url: page("a") for url in urls}}
    with caplog.at_level("WARNING", "scrapy_urlcanon"):
        result = await crawl(site(pages), {**RULES, "DUPEFILTER_CLASS": OfAllButListings})
    assert len(result.hits) == 8
    assert result.figures["dropped/variant"] == 2
    assert not caplog.records
