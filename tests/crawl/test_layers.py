"""Rules of spiders, files and the command line, and rewriting, in real crawls."""

from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site


class SpiderWithRules(FollowSpider):
    """Has rules of its own over those of the project."""

    custom_settings = {  # noqa: RUF012
        "URLCANON_SPIDER_RULES": {"site.example": {"drop_params": ["!ref", "view"]}}
    }


@deferred_f_from_coro_f
async def test_spider_rules_are_laid_over_the_rules_of_the_project(crawl):
    """Rules of the spider add to those of the project, and take single entries back."""
    respond = site({"/": links("/a?sid=1&ref=1&view=1", "/a?sid=2&ref=1", "/a?ref=2")}, missing=200)
    settings = {"URLCANON_RULES": {"*": {"drop_params": ["sid", "ref"]}}}
    result = await crawl(respond, settings, spider=SpiderWithRules)
    assert sorted(result.hits) == ["/", "/a?ref=2", "/a?sid=1&ref=1&view=1"]


@deferred_f_from_coro_f
async def test_rules_from_the_command_line_are_json(crawl):
    """URLCANON_RULES may be JSON, as on the command line."""
    respond = site({"/": links("/a?sid=1", "/a?sid=2")}, missing=200)
    settings = {"URLCANON_RULES": '{"site.example": {"drop_params": ["sid"]}}'}
    result = await crawl(respond, settings)
    assert sorted(result.hits) == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_rules_files_and_rules_are_layers(crawl, tmp_path):
    """Later files win over earlier ones, and the setting over files."""
    (tmp_path / "one.toml").write_text('["site.example"]\ndrop_params = ["sid", "ref"]\n')
    (tmp_path / "two.json").write_text('{"*": {"trailing_slash": "strip"}}')
    respond = site({"/": links("/a?sid=1", "/a/?sid=2", "/a?ref=2")}, missing=200)
    settings = {
        "URLCANON_RULES_FILES": ["one.toml", "two.json"],
        "URLCANON_RULES": {"site.example": {"drop_params": ["!ref"]}},
    }
    result = await crawl(respond, settings)
    assert sorted(result.hits) == ["/", "/a?ref=2", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_path_and_query_patterns_hold_where_they_match(crawl):
    """A path prefix holds on segment borders, a query condition for the URLs that meet it."""
    rules = {
        "site.example/forum/": {"keep_params": ["t"]},
        "site.example/index.php?title=Special:*": {"keep_params": ["title"]},
    }
    urls = (
        "/forum/x?t=1&s=1",
        "/forum/x?t=1&s=2",
        "/forums?t=1&s=1",
        "/forums?t=1&s=2",
        "/index.php?title=Special:Login&returnto=A",
        "/index.php?title=Special:Login&returnto=B",
        "/index.php?title=Page&action=edit",
        "/index.php?title=Page&action=view",
    )
    result = await crawl(site({"/": links(*urls)}, missing=200), {"URLCANON_RULES": rules})
    dropped = {"/forum/x?t=1&s=2", "/index.php?title=Special:Login&returnto=B"}
    assert set(result.hits) == {"/", *urls} - dropped


@deferred_f_from_coro_f
async def test_rewrite_fetches_the_canonical_url(crawl):
    """With URLCANON_REWRITE for a site its canonical URLs are fetched, start requests too."""
    respond = site({"/": links("/a?sid=1", "http://other.example/a?sid=1")}, missing=200)
    settings = {
        "URLCANON_RULES": {"*": {"drop_params": ["sid"]}},
        "URLCANON_REWRITE": ["site.example"],
    }
    start = [Request(f"{SITE}/?sid=0"), Request(f"{SITE}/b?sid=0", meta={"verbatim_url": True})]
    result = await crawl(respond, settings, start=start)
    assert sorted(result.hits) == ["/", "/a", "/b?sid=0", "http://other.example/a?sid=1"]
    assert result.figures["rewritten"] == 2


@deferred_f_from_coro_f
async def test_without_rewrite_the_linked_url_is_fetched(crawl):
    """Without it the linked URL is fetched as it is."""
    respond = site({"/": links("/a/../b?y=1&x=2&utm_id=3")}, missing=200)
    result = await crawl(respond)
    assert sorted(result.hits) == ["/", "/b?y=1&x=2&utm_id=3"]
