"""URLs that match a `skip` template are not fetched."""

import logging

from loopback import page, redirect
from scrapy import Request, signals
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {"URLCANON_RULES": {"site.example": {"skip": ["/?p={id:digits}", "/print/{rest:path}"]}}}


class PostSpider(FollowSpider):
    """Sends a form to such a URL."""

    def parse(self, response):
        yield from super().parse(response)
        if response.request.method == "GET":
            yield Request(f"{SITE}/?p=1", method="POST")


@deferred_f_from_coro_f
async def test_skipped_urls_are_not_fetched_and_counted_by_template(crawl):
    """Skipped URLs are not fetched, and counted by template."""
    urls = ("/?p=1", "/?p=2&utm_source=x", "/print/a/b", "/?p=new", "/?p=3&q=1", "/a")
    result = await crawl(site({"/": links(*urls)}, missing=200), RULES)
    assert sorted(result.hits) == ["/", "/?p=3&q=1", "/?p=new", "/a"]
    assert result.figures["skipped//?p={id:digits}"] == 2
    assert result.figures["skipped//print/{rest:path}"] == 1
    assert result.figures["dropped"] == 0


@deferred_f_from_coro_f
async def test_skip_holds_for_the_targets_of_redirects(crawl):
    """A redirect to a skipped URL ends there."""
    pages = {"/": links("/old"), "/old": redirect(f"{SITE}/?p=1")}
    result = await crawl(site(pages, missing=200), RULES)
    assert sorted(result.hits) == ["/", "/old"]
    assert result.figures["skipped//?p={id:digits}"] == 1


@deferred_f_from_coro_f
async def test_skip_lets_through_what_is_not_to_be_filtered(crawl, caplog):
    """Unfiltered requests, and those whose meta names a page or turns rules off, are fetched."""
    start = (
        Request(f"{SITE}/?p=1", dont_filter=True),
        Request(f"{SITE}/?p=2", meta={"urlcanon": False}),
        Request(f"{SITE}/?p=3", meta={"urlcanon_key": "post 3"}),
        Request(f"{SITE}/?p=4", meta={"urlcanon": {"inherit": False}}),
        Request(f"{SITE}/?p=5", meta={"urlcanon": {"skip": ["!/?p={id:digits}"]}}),
        Request(f"{SITE}/?p=6", meta={"urlcanon": {"drop_params": ["sid"]}}),
    )
    with caplog.at_level(logging.ERROR):
        result = await crawl(site({}, missing=200), RULES, start=start)
    assert sorted(result.hits) == ["/?p=1", "/?p=2", "/?p=3", "/?p=4", "/?p=5"]
    assert not caplog.text


@deferred_f_from_coro_f
async def test_log_warns_of_a_template_that_means_something_else(crawl, caplog):
    """A warning says that `*` in a template is literal."""
    pages = {"/": links("/admin/a"), "/admin/a": page("a")}
    rules = {"URLCANON_RULES": {"*": {"skip": ["/admin/*"]}}}
    with caplog.at_level(logging.WARNING):
        result = await crawl(site(pages), rules)
    assert "/admin/a" in result.hits
    assert caplog.text.count("the '*' in '/admin/*' stands for itself") == 1


@deferred_f_from_coro_f
async def test_skip_is_for_get_and_head(crawl):
    """A POST to a skipped URL is sent."""
    result = await crawl(site({"/": page("form")}, missing=200), RULES, spider=PostSpider)
    assert sorted(result.hits) == ["/", "/?p=1"]


@deferred_f_from_coro_f
async def test_without_a_skip_rule_nothing_listens_to_scheduled_requests(crawl):
    """Without a `skip` rule nothing listens to request_scheduled, which would slow each request."""

    class Counting(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            receivers = self.crawler.signals.send_catch_log
            sent = receivers(signals.request_scheduled, request=response.request, spider=self)
            ours = [r for r, _ in sent if "scrapy_urlcanon" in r.__func__.__module__]
            yield {"url": response.url, "ours": len(ours)}

    result = await crawl(site({}, missing=200), {"URLCANON_RULES": {}}, spider=Counting)
    assert [item["ours"] for item in result.items if "ours" in item] == [0]
    result = await crawl(site({}, missing=200), RULES, spider=Counting)
    assert [item["ours"] for item in result.items if "ours" in item] == [1]
