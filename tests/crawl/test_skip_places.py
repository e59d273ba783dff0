"""URLCANON_SKIP_PLACES: the page of a skipped URL is fetched at another URL, if that is known."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers import read

SKIP = {"site.example": {"skip": ["/?p={id:digits}", "/?q={id:digits}"]}}
ONLY_SKIPPED = {"URLCANON_RULES": SKIP}
RULES = {**ONLY_SKIPPED, "URLCANON_SKIP_PLACES": "places"}


def known(**places):
    """Write the file of places: with `p1="/a"` the page of `/?p=1` is at /a."""
    with closing(SkipPlaces(Path("places"))) as store:
        store.add(
            {
                f"{SITE}/?{name[0]}={name[1:]}": place if "://" in place else SITE + place
                for name, place in places.items()
            }
        )


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"URLCANON_RESCUE": False},
        {"URLCANON_REWRITE": True},
        {"URLCANON_AUDIT": 1, "URLCANON_DECLARED_CANONICAL": True},
        {"URLCANON_RECORD": "seen.sqlite", "URLCANON_RECORD_REVISITS": False},
        {"URLCANON_ORDER": "novelty", "JOBDIR": "job"},
        {"DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter", "HTTPCACHE_ENABLED": True},
    ],
)
@deferred_f_from_coro_f
async def test_page_of_a_skipped_url_is_fetched_where_it_is_known(crawl, others):
    """The page is fetched once at its place, and not at all without one."""
    known(p1="/a", p2="/a", p3="/b")
    pages = {"/": links("/?p=1", "/b", "/?p=3&utm_source=x", "/?p=2", "/?p=4")}
    result = await crawl(site(pages, missing=200), {**RULES, **others})
    audited = {"/?p=4"} if "URLCANON_AUDIT" in others else set()
    assert sorted({*result.hits} - audited) == ["/", "/a", "/b"]
    assert result.figures["skipped//?p={id:digits}"] == 4
    assert result.figures["skip/placed"] == 3
    assert result.figures["dropped/rule/skip"] == 2
    assert result.figures["dropped/scrapy_would_keep"] == 2


@deferred_f_from_coro_f
async def test_what_takes_the_place_of_a_skipped_url_is_a_request_as_it_was(crawl):
    """The request for the place has callback, headers and meta of the link."""
    known(p1="/a")
    got = []

    class Linking(FollowSpider):
        def parse(self, _):
            yield Request(
                f"{SITE}/?p=1", self.post, meta={"x": 1}, cb_kwargs={"y": 2}, headers={"X-Z": "3"}
            )

        def post(self, response, y):
            request = response.request
            headers = request.headers
            got.append((request.url, request.meta["x"], y, headers["X-Z"], headers["Referer"]))

    result = await crawl(site({}, missing=200), RULES, spider=Linking)
    assert result.hits == ["/", "/a"]
    assert got == [(f"{SITE}/a", 1, 2, b"3", f"{SITE}/".encode())]


@deferred_f_from_coro_f
async def test_place_is_fetched_as_it_is_by_a_copy_of_what_took_the_place(crawl):
    """A copy of that request fetches the place too."""
    known(p1="/a?utm_source=x")
    got = []

    class Again(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/":
                yield response.follow("/?p=1")
                return
            got.append(response.url)
            if not response.meta.get("is_again"):
                meta = {**response.meta, "is_again": True}
                yield response.request.replace(meta=meta, dont_filter=True)

    pages = {"/": page("home"), "/a?utm_source=x": page("a")}
    await crawl(site(pages), {**RULES, "URLCANON_REWRITE": True}, spider=Again)
    assert got == 2 * [f"{SITE}/a?utm_source=x"]


@pytest.mark.parametrize("failure", [page("gone", status=404), page("")])
@deferred_f_from_coro_f
async def test_skipped_url_is_fetched_where_its_page_is_there_no_more(crawl, failure):
    """If the place fails the skipped URL is fetched."""
    known(p1="/a", p2="/a")
    pages = {"/": links("/?p=1", "/?p=2"), "/a": failure}
    result = await crawl(site(pages, missing=200), RULES)
    assert result.hits[:2] == ["/", "/a"]
    assert sorted(result.hits[2:]) == ["/?p=1", "/?p=2"]


@deferred_f_from_coro_f
async def test_skipped_url_is_fetched_as_it_was_linked(crawl):
    """It is fetched as linked, with URLCANON_REWRITE too."""
    known(p1="/a")
    link = "/?p=1&utm_source=x"
    pages = {"/": links(link), link: page("found")}
    result = await crawl(site(pages), {**RULES, "URLCANON_REWRITE": True})
    assert result.pages == ["/", link]


@deferred_f_from_coro_f
async def test_skipped_url_that_its_place_leads_to_is_fetched(crawl):
    """If the place redirects to the skipped URL, that is fetched."""
    known(p1="/a")
    pages = {"/": links("/?p=1"), "/a": redirect(f"{SITE}/?p=1")}
    result = await crawl(site(pages, missing=200), RULES)
    assert result.hits == ["/", "/a", "/?p=1"]


@deferred_f_from_coro_f
async def test_places_that_lead_to_each_other_end(crawl):
    """Places and redirects that lead to each other end."""
    known(p1="/?q=1", q1="/?p=1", p2="/b")
    pages = {
        "/": links("/?p=1", "/?p=2"),
        "/b": redirect(f"{SITE}/?p=2"),
        "/?p=2": redirect(f"{SITE}/b"),
    }
    result = await crawl(site(pages, missing=200), RULES)
    assert "/?p=1" not in result.hits
    assert max(Counter(result.hits).values()) <= 3
    assert result.figures["skip/placed"] == 1


@deferred_f_from_coro_f
async def test_place_that_is_skipped_itself_is_looked_up_in_its_turn(crawl):
    """A place that is skipped itself is looked up in turn."""
    known(p1="/?q=1", q1="/a", p2="/?q=2")
    result = await crawl(site({"/": links("/?p=1", "/?p=2")}, missing=200), RULES)
    assert sorted(result.hits) == ["/", "/a"]


@deferred_f_from_coro_f
async def test_places_go_by_what_the_spider_and_robots_txt_allow(crawl):
    """If a place is off-site or disallowed, the skipped URL is fetched."""
    known(p1="http://other.example/a", p2="/private/a", p3="/a")

    class Allowed(FollowSpider):
        allowed_domains = ("site.example",)

    pages = {
        "/": links("/?p=1", "/?p=2", "/?p=3"),
        "/robots.txt": page("User-agent: *\nDisallow: /private/"),
    }
    settings = {**RULES, "ROBOTSTXT_OBEY": True}
    result = await crawl(site(pages, missing=200), settings, spider=Allowed)
    assert sorted(result.hits) == ["/", "/?p=1", "/?p=2", "/a", "/robots.txt"]


@pytest.mark.parametrize("first", ["/?p=1", "/a"])
@deferred_f_from_coro_f
async def test_callback_for_a_skipped_url_takes_the_page_from_no_other_one(crawl, first):
    """Two callbacks, for the skipped URL and its place, both get the page."""
    known(p1="/a")
    got = []

    class Linking(FollowSpider):
        def parse(self, _):
            by = {"/?p=1": self.short, "/a": self.long}
            for url in sorted(by, key=first.__ne__):
                yield Request(SITE + url, by[url])

        def short(self, _):
            got.append("short")

        def long(self, _):
            got.append("long")

    settings = {**RULES, "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}
    await crawl(site({}, missing=200), settings, spider=Linking)
    assert sorted(got) == ["long", "short"]


@deferred_f_from_coro_f
async def test_places_are_for_what_would_be_skipped(crawl):
    """Requests that are not skipped are not moved to a place."""
    known(p1="/a", p2="/b", p3="/c")
    start = (
        Request(f"{SITE}/?p=1", dont_filter=True),
        Request(f"{SITE}/?p=2", meta={"urlcanon": False}),
        Request(f"{SITE}/?p=3", method="POST"),
    )
    result = await crawl(site({}, missing=200), RULES, start=start)
    assert sorted(result.hits) == ["/?p=1", "/?p=2", "/?p=3"]


@deferred_f_from_coro_f
async def test_redirect_to_a_skipped_url_goes_on_to_its_place(crawl):
    """A redirect to a skipped URL goes on to its place."""
    known(p1="/a")
    pages = {"/": links("/old"), "/old": redirect(f"{SITE}/?p=1")}
    result = await crawl(site(pages, missing=200), RULES)
    assert result.hits == ["/", "/old", "/a"]


@deferred_f_from_coro_f
async def test_report_has_the_skipped_url_under_its_page(crawl, tmp_path):
    """The report has the skipped URL under its page, with the template."""
    known(p1="/a")
    pages = {"/": links("/a", "/?p=1")}
    report = tmp_path / "report.json"
    settings = {**RULES, "URLCANON_REPORT": [report, report.with_suffix(".html")]}
    await crawl(site(pages, missing=200), settings)
    (group,) = json.loads(report.read_text())["groups"]
    (variant,) = group["variants"]
    assert (group["kept"], variant["url"]) == (f"{SITE}/a", f"{SITE}/?p=1")
    assert "Of 1 it is known" in report.with_suffix(".html").read_text()
    (step,) = variant["steps"]
    assert (step["option"], step["entries"]) == ("skip", ["/?p={id:digits}"])


@deferred_f_from_coro_f
async def test_setting_that_names_no_such_file_is_an_error(crawl):
    """A missing file is an error before the first request."""
    with pytest.raises(ConfigurationError, match="URLCANON_SKIP_PLACES: places: no such file"):
        await crawl(site({}, missing=200), RULES)
    with closing(sqlite3.connect("places")) as other:
        other.execute("CREATE TABLE other (url)")
    with pytest.raises(ConfigurationError, match="it is no file of the places"):
        await crawl(site({}, missing=200), RULES)


@deferred_f_from_coro_f
async def test_file_that_breaks_while_the_crawl_runs_is_reported_once(crawl, caplog):
    """If the file breaks during the crawl one message says so, and URLs are skipped."""
    known(p1="/a", p2="/b")

    class Breaking(FollowSpider):
        def parse(self, response):
            with closing(sqlite3.connect("places")) as other:
                other.execute("DROP TABLE places")
            yield from super().parse(response)

    pages = site({"/": links("/?p=1", "/?p=2")})
    result = await crawl(pages, RULES, spider=Breaking)
    assert result.hits == ["/"]
    assert result.figures["skipped//?p={id:digits}"] == 2
    assert caplog.text.count("places cannot be read: no such table") == 1


@deferred_f_from_coro_f
async def test_places_without_a_rule_that_skips_are_warned_of(crawl, caplog):
    """A warning says that places have no effect without `skip` rules."""
    known(p1="/a")
    settings = {"URLCANON_SKIP_PLACES": "places"}
    result = await crawl(site({"/": links("/?p=1")}, missing=200), settings)
    assert result.hits == ["/", "/?p=1"]
    assert "URLCANON_SKIP_PLACES has no effect: no rule skips anything." in caplog.text


@deferred_f_from_coro_f
async def test_pages_that_are_linked_by_their_short_links_only_are_fetched_with_what_was_learned(
    crawl,
):
    """With what one crawl recorded the next one fetches each page once, half as many."""
    posts = [f"/post-{'abcdefghij'[n % 10] * (n // 10 + 1)}" for n in range(40)]
    shorts = [f"/?p={n * 7}" for n in range(40)]
    pages = {
        # The last ten posts are linked by their short links alone.
        "/": links(*posts[:30], *shorts),
        **{short: redirect(SITE + post) for short, post in zip(shorts, posts, strict=True)},
        **{post: page(f"<p>All there is to say of {post}") for post in posts},
    }
    first = await crawl(site(pages), {"URLCANON_RECORD": "seen.sqlite"})
    learned = learn(read(Path("seen.sqlite"), Counter()))
    (rule,) = [rule for rule in learned.rules if rule.option == "skip"]
    with closing(SkipPlaces(Path("places"))) as store:
        store.add(rule.places)
    rules = {"URLCANON_RULES": learned.as_rules()}
    without = await crawl(site(pages), rules)
    assert sorted(without.hits) == sorted(["/", *posts[:30]])
    second = await crawl(site(pages), {**rules, "URLCANON_SKIP_PLACES": "places"})
    assert sorted(second.hits) == sorted(["/", *posts])
    assert {item["url"] for item in second.items} == {item["url"] for item in first.items}


@deferred_f_from_coro_f
async def test_places_that_wait_when_a_job_is_stopped_are_fetched_by_the_next_run(crawl):
    """Places that were queued when a job stopped are fetched by the next run."""
    shorts = {f"p{number}": f"/page-{number}" for number in range(6)}
    known(**shorts)
    pages = {"/": links(*(f"/?p={number}" for number in range(6)))}
    job = {**RULES, "JOBDIR": "job", "CONCURRENT_REQUESTS": 1}
    first = await crawl(site(pages, missing=200), {**job, "CLOSESPIDER_PAGECOUNT": 2})
    assert len(first.hits) < 6
    second = await crawl(site(pages, missing=200), job, start=())
    assert sorted(first.hits + second.hits) == ["/", *shorts.values()]


PATHS = [*(f"/?{name}={number}" for name in "pq" for number in range(3)), "/a", "/b", "/c"]


def any_answer(draw):
    """Return a random page, redirect or error."""
    kind = draw.choice(("page", "page", "redirect", "error"))
    if kind == "page":
        return links(*draw.sample(PATHS, draw.randrange(4)))
    if kind == "redirect":
        return redirect(SITE + draw.choice(PATHS))
    return page("gone", status=404)


@pytest.mark.parametrize("seed", range(20))
@deferred_f_from_coro_f
async def test_no_page_is_missed_because_its_place_is_known(crawl, seed):
    """Whatever the file says, no page is missed that is reached without it."""
    draw = Random(seed)
    pages = {path: any_answer(draw) for path in PATHS} | {"/": links(*draw.sample(PATHS, 4))}
    known(**{path[2] + path[4]: draw.choice(PATHS) for path in PATHS[:6] if draw.random() < 0.7})
    without = await crawl(site(pages), ONLY_SKIPPED)
    result = await crawl(site(pages), RULES)
    assert {item["url"] for item in without.items} <= {item["url"] for item in result.items}
    assert max(Counter(result.hits).values()) <= 2
