"""URLCANON_REWRITE fetches the canonical URL, and the linked one if that fails."""

from pathlib import Path

import pytest
from audited_shop import SETTINGS as AUDITED
from audited_shop import product
from command_line import scrapy
from loopback import Fault, Loopback, Response, page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, RetryingSpider, links, site

from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.sections.pages import Group

SETTINGS = {
    "URLCANON_REWRITE": ["site.example"],
    "URLCANON_RULES": {"*": {"drop_params": ["sid"]}},
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_TIMEOUT": 0.5,
}


@deferred_f_from_coro_f
async def test_canonical_url_is_fetched(crawl):
    """Start requests and links are rewritten on the sites listed."""
    pages = {
        f"{SITE}/?sid=1": page("not this one"),
        f"{SITE}/": links("/a?sid=1", "/a?sid=2", "http://other.example/b?sid=1"),
        f"{SITE}/a": page("a"),
        "http://other.example/b?sid=1": page("b"),
    }
    result = await crawl(site(pages), SETTINGS, start=(f"{SITE}/?sid=1",))
    assert sorted(result.hits) == ["/", "/a", "http://other.example/b?sid=1"]
    assert result.figures["rewritten"] == 3
    assert result.pages == ["/", "/a", "http://other.example/b?sid=1"]
    assert result.figures["dropped"] == 1


@deferred_f_from_coro_f
async def test_dropped_is_counted_as_it_was_linked(crawl):
    """Drops are attributed by the linked URL, not by the rewritten one.

    Of these links to two URLs Scrapy alone would fetch both.
    """
    linked = links("/a?sid=1", "/a?sid=1#x", "/a?sid=2", "/a?sid=2", "/a")
    settings = {**SETTINGS, "URLCANON_REPORT": "r.json"}
    result = await crawl(site({"/": linked, "/a": page("a")}), settings)
    assert result.hits == ["/", "/a"]
    assert {name: count for name, count in result.figures.items() if "dropped" in name} == {
        "dropped": 4,
        "dropped/exact": 1,
        "dropped/variant": 3,
        "dropped/scrapy_would_keep": 1,
        "dropped/rule/drop_params": 3,
        "dropped/rule/fragment": 1,
        "dropped/entry/drop_params:sid": 3,
        "dropped/domain/site.example": 4,
    }
    (group,) = read_report("r.json").rows(Group)
    assert group.kept == f"{SITE}/a"
    assert {variant.url: variant.dropped for variant in group.variants} == {
        f"{SITE}/a?sid=***#x": 1,
        f"{SITE}/a?sid=***": 2,
    }


@deferred_f_from_coro_f
async def test_path_in_a_query_is_fetched_as_it_was_linked(crawl):
    """A query without `=` is fetched without one: ``?12-title=`` would be another page."""
    linked = ["/t.php?12-a-title&sid=1", "/i.php?/topic/7/&sid=1", "/a?b=&print&sid=1", "/a?C+D/é"]
    rules = {
        "drop_params": ["sid"],
        "rewrite_path": [["/t.php?{id:digits}-{title}", "/t.php?{id}-/"]],
    }
    settings = {**SETTINGS, "URLCANON_RULES": {"*": rules}}
    result = await crawl(
        lambda request: links(*linked) if request.url == f"{SITE}/" else page("a"), settings
    )
    assert result.hits == ["/", "/t.php?12-/", "/i.php?/topic/7/", "/a?b=&print", "/a?C+D/%C3%A9"]


@deferred_f_from_coro_f
async def test_parameter_that_stays_is_fetched_as_it_was_linked(crawl):
    """Parameters that stay keep their spelling: some programs do not decode ``%2F``."""
    linked = ["/?url=archives/7&sid=1", "/?url=archives/8", "/?q=b%20c,d&a=(e)&sid=2"]
    settings = {**SETTINGS, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    result = await crawl(
        lambda request: links(*linked) if request.url == f"{SITE}/" else page("a"), settings
    )
    assert result.hits == ["/", "/?url=archives/7", "/?url=archives/8", "/?a=(e)&q=b%20c,d"]


@pytest.mark.parametrize(
    "answer",
    [page("", status=404), page("", status=500), Response(fault=Fault.RESET), redirect("/gone")],
    ids=["404", "500", "reset", "redirect to a 404"],
)
@deferred_f_from_coro_f
async def test_original_is_fetched_where_the_canonical_url_fails(crawl, answer):
    """If the canonical URL fails the linked one is fetched."""
    pages = {"/": links("/a?sid=1"), "/a": answer, "/a?sid=1": page("a")}
    result = await crawl(site(pages), SETTINGS)
    # Twisted itself repeats a GET on a connection that is reset.
    hits = list(dict.fromkeys(result.hits))
    assert [hit for hit in hits if hit != "/gone"] == ["/", "/a", "/a?sid=1"]
    assert result.pages == ["/", "/a?sid=1"]
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_original_that_a_callback_retries_is_fetched_again(crawl):
    """If a callback retries the linked URL, it is not rewritten again."""
    answers = iter([page("captcha"), page("captcha"), page("a")])

    def respond(request):
        if request.target == "/a?sid=1":
            return next(answers)
        return links("/a?sid=1") if request.target == "/" else page("", status=404)

    result = await crawl(respond, {**SETTINGS, "RETRY_TIMES": 3}, spider=RetryingSpider)
    assert result.pages == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_originals_of_dropped_requests_are_tried_too(crawl):
    """Linked URLs of dropped requests are tried too."""
    pages = {"/": links(*(f"/a?sid={n}" for n in range(4))), "/a?sid=2": page("a")}
    result = await crawl(site(pages), SETTINGS)
    assert result.hits[:2] == ["/", "/a"]
    assert sorted(result.hits[2:]) == sorted(set(result.hits[2:]))
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_original_keeps_what_the_spider_gave_it(crawl):
    """The linked URL is requested with its own retries, callback and meta."""
    got = []

    class Giving(FollowSpider):
        def _start(self, _urls):
            async def start():
                yield Request(f"{SITE}/a?sid=1", self.right, cb_kwargs={"x": 1}, meta={"y": 2})

            return start

        def right(self, response, x):
            got.append((response.url, x, response.meta["y"]))

    answers = {"/a": [500, 500], "/a?sid=1": [500, 200]}
    result = await crawl(
        lambda request: page("", status=answers[request.target].pop(0)),
        {**SETTINGS, "RETRY_TIMES": 1},
        spider=Giving,
    )
    assert result.hits == ["/a", "/a", "/a?sid=1", "/a?sid=1"]
    assert got == [(f"{SITE}/a?sid=1", 1, 2)]


@pytest.mark.parametrize(
    "query",
    [
        "sid=1&X-Amz-Signature=0a",
        "sid=1&sv=2022&sig=abc%3D",
        "Expires=1&Signature=ab&Key-Pair-Id=K&sid=1",
        "expires=17&token=2&sid=1",
    ],
)
@deferred_f_from_coro_f
async def test_signed_url_is_not_touched(crawl, query):
    """A URL with a signature is not rewritten."""
    result = await crawl(site({"/": links(f"/a?{query}")}), SETTINGS)
    assert result.hits == ["/", f"/a?{query}"]
    assert result.figures["rewrite/signed"] == 1


@deferred_f_from_coro_f
async def test_canonical_url_that_another_callback_had_as_a_rewritten_one(crawl):
    """A canonical URL fetched for one callback is fetched for another one that links it."""

    class Two(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            yield response.follow("/a?sid=1", self.parse_other)
            yield response.follow("/a", self.parse_one)

        def parse_one(self, response):
            self.errors.append(("one", response.url))

        def parse_other(self, response):
            self.errors.append(("other", response.url))

    result = await crawl(site({"/": page("/"), "/a": page("a")}), SETTINGS, spider=Two)
    spider = result.crawler.spider
    assert sorted(spider.errors) == [("one", f"{SITE}/a"), ("other", f"{SITE}/a")]


@deferred_f_from_coro_f
async def test_credentials_stay_on_their_site(crawl):
    """Credentials are not sent to another site that a rule or place leads to."""
    places = SkipPlaces(Path("places.db"))
    places.add({f"{SITE}/go?id=1": "http://other.example/1"})
    places.close()
    sent = {}

    def respond(request):
        sent[request.url] = request.headers.get("authorization")
        return page(request.url)

    class Authorized(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            for path in ("go?id=1", "out/http://other.example/2", "www"):
                url = f"http://www.site.example/{path}" if path == "www" else f"{SITE}/{path}"
                yield Request(url, headers={"Authorization": "Basic secret"})

    rules = {"skip": ["/go?id={id:digits}"], "nested_url": "unwrap", "www": "strip"}
    settings = {"URLCANON_RULES": {"site.example": rules}, "URLCANON_REWRITE": True}
    await crawl(respond, {**settings, "URLCANON_SKIP_PLACES": "places.db"}, spider=Authorized)
    assert sent == {
        f"{SITE}/": None,
        f"{SITE}/www": "Basic secret",
        "http://other.example/1": None,
        "http://other.example/2": None,
    }


@pytest.mark.parametrize(
    ("url", "named"), [("/t?id={}", {"sid", "id"}), ("/t?id=1&sid={}", {"sid"})]
)
@deferred_f_from_coro_f
async def test_canonical_url_is_audited_against_what_was_linked(crawl, url, named):
    """The canonical URL is audited against the linked one, which may be another page."""
    urls = [url.format(n) for n in range(1, 13)]
    settings = {**SETTINGS, **AUDITED, "URLCANON_RULES": {"*": {"drop_params": [*named]}}}

    def respond(request):
        if request.target == "/":
            return links(*urls)
        return product(request.query.partition("&")[0])

    result = await crawl(respond, settings)
    shown = {item["text"].partition("</title>")[0] for item in result.items}
    pages = {url.partition("&")[0] for url in urls}
    assert len(shown) == len(pages) + 1 + ("id" in named)
    assert len(result.hits) <= len(pages) + 1 + 10
    assert result.figures.get("audit/suspended/drop_params/id", 0) == ("id" in named)
    assert "audit/suspended/drop_params/sid" not in result.figures


@deferred_f_from_coro_f
async def test_start_url_is_audited_against_what_was_fetched_for_it(crawl):
    """The same for start requests, which the duplicate filter does not record."""
    settings = {**SETTINGS, **AUDITED, "URLCANON_RULES": {"*": {"drop_params": ["id"]}}}
    settings["URLCANON_AUDIT"] = 1
    start = [Request(f"{SITE}/{path}?id=1", dont_filter=True) for path in "ab"]
    result = await crawl(lambda request: product(request.target), settings, start=start)
    assert result.pages == ["/a", "/a?id=1", "/b", "/b?id=1"]


@pytest.mark.parametrize("url", ["http://[::1/a", "http://[zz]/a"])
@deferred_f_from_coro_f
async def test_url_that_nobody_can_read(crawl, url):
    """An invalid URL is not rewritten, and later requests of the callback follow."""
    try:
        unreadable = Request(url, meta={"verbatim_url": True})
    except ValueError:
        pytest.skip("this Scrapy takes no such URL")

    class Verbatim(FollowSpider):
        def parse(self, response):
            yield unreadable.replace(dont_filter=True)
            yield from super().parse(response)

    pages = {"/": links("/b?sid=1"), "/b": page("b")}
    result = await crawl(site(pages), SETTINGS, spider=Verbatim)
    assert result.pages == ["/", "/b"]


def test_command_that_shows_a_page_shows_it_once(tmp_path):
    """`scrapy fetch` shows a page once: no audit adds another."""
    settings = {
        "ADDONS": '{"scrapy_urlcanon.Addon": 500}',
        "URLCANON_RULES": '{"site.example": {"drop_params": ["id"]}}',
        "URLCANON_REWRITE": "True",
        "URLCANON_AUDIT": "1",
    }
    options = [option for name, value in settings.items() for option in ("-s", f"{name}={value}")]
    with Loopback(lambda request: page(f"This is page {request.query or 'one'}")) as server:
        done = scrapy("fetch", *options, f"{SITE}/?id=2", cwd=tmp_path, environment=server.proxies)
        assert server.hits == [f"{SITE}/"]
    assert done.stdout.count("This is page one") == 1
    assert "This is page id=2" not in done.stdout


@deferred_f_from_coro_f
async def test_rewriting_does_not_lead_out_of_the_allowed_domains(crawl):
    """URLCANON_REWRITE does not rewrite a URL to a host outside `allowed_domains`.

    The offsite middleware would drop the request, and the page would be lost.
    """

    class Www(FollowSpider):
        allowed_domains = ("www.site.example",)

    pages = {f"http://www.site.example{path}": links("/b") for path in ("/", "/b")}
    settings = {"URLCANON_RULES": {"*": {"www": "strip"}}, "URLCANON_REWRITE": True}
    result = await crawl(site(pages), settings, start=["http://www.site.example/"], spider=Www)
    assert result.pages == ["http://www.site.example/", "http://www.site.example/b"]
