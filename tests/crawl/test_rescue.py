"""A page whose representative fails is fetched through one of its dropped variants."""

import pytest
from loopback import Fault, Response, page, redirect
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import RequestFingerprinter
from sites import SITE, FollowSpider, links, site

RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"], "trailing_slash": "strip"}},
    # First in, first out: what a test links first is fetched first.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_TIMEOUT": 0.5,
}

FAULTS = {
    "404": page("gone", status=404),
    "500": page("error", status=500),
    "connection reset": Response(fault=Fault.RESET),
    "timeout": Response(fault=Fault.SILENCE),
    "truncated body": Response(body=b"half of it", fault=Fault.TRUNCATION),
    "redirect to itself": redirect("/a?sid=1"),
    "too many redirects": redirect("/r1"),
}
REDIRECTS = {f"/r{n}": redirect(f"/r{n + 1}") for n in range(1, 5)}


class RefuseFirst:
    """Another downloader middleware, which does not let one URL through."""

    def process_request(self, request):
        if request.url.endswith("/a?sid=1"):
            raise IgnoreRequest("not this one")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cache", [False, True])
@deferred_f_from_coro_f
async def test_waiting_variant_takes_the_place_of_what_failed(crawl, fault, cache):
    """A variant dropped before its representative fails is fetched afterwards."""
    respond = site({"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": FAULTS[fault], **REDIRECTS})

    def with_variant(request):
        return page("a") if request.target == "/a?sid=2" else respond(request)

    settings = {
        **RULES,
        "HTTPCACHE_ENABLED": cache,
        "HTTPCACHE_DIR": "cache",
        "REDIRECT_MAX_TIMES": 2,
    }
    result = await crawl(with_variant, settings)
    assert [hit for hit in result.hits if hit not in REDIRECTS][-1] == "/a?sid=2"
    assert result.hits.count("/a?sid=2") == 1
    assert result.pages == ["/", "/a?sid=2"]
    assert result.figures["rescued"] == 1
    if cache:
        again = await crawl(with_variant, settings)
        assert again.pages == ["/", "/a?sid=2"]
        assert "/a?sid=2" not in again.hits


@deferred_f_from_coro_f
async def test_what_failed_is_not_asked_for_again_with_another_fragment(crawl):
    """No site is sent the fragment: it would give the same answer."""
    pages = {"/": links("/gone", "/later"), "/later": links("/gone#comments", "/gone#add")}
    result = await crawl(site(pages), RULES)
    assert result.hits.count("/gone") == 1


@pytest.mark.parametrize("fault", FAULTS)
@deferred_f_from_coro_f
async def test_variant_after_the_failure_is_let_through(crawl, fault):
    """A variant that is linked once its representative has failed is fetched."""
    pages = {
        "/": links("/a?sid=1", "/later"),
        "/a?sid=1": FAULTS[fault],
        **REDIRECTS,
        "/later": links("/a?sid=2"),
        "/a?sid=2": page("a"),
    }
    result = await crawl(site(pages), {**RULES, "REDIRECT_MAX_TIMES": 2})
    assert result.pages == ["/", "/a?sid=2", "/later"]
    assert result.hits.count("/a?sid=2") == 1


@pytest.mark.parametrize("later", [False, True])
@deferred_f_from_coro_f
async def test_host_without_address(crawl, later):
    """The variant on another host is fetched where the first host has no address."""
    settings = {**RULES, "URLCANON_RULES": {"*": {"www": "strip"}}}
    first, second = "http://nowhere.invalid/a", "http://www.nowhere.invalid/a"
    pages = {
        "/": links(first, "/later") if later else links(first, second),
        "/later": links(second),
        second: page("a"),
    }

    class Direct:
        """Goes past the proxy, so that the name is looked up."""

        def process_request(self, request):
            if request.url == first:
                request.meta["proxy"] = None

    settings["DOWNLOADER_MIDDLEWARES"] = {Direct: 100}
    result = await crawl(site(pages), settings)
    assert second in result.pages
    assert first not in result.hits
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_request_refused_by_another_middleware_is_rescued(crawl):
    """IgnoreRequest of another middleware is a failure as any other."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}
    settings = {**RULES, "DOWNLOADER_MIDDLEWARES": {RefuseFirst: 500}}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", "/a?sid=2"]
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_variants_are_tried_one_after_the_other(crawl):
    """Each is sent when the one before it has failed, until one gives the page."""
    urls = [f"/a?sid={n}" for n in range(1, 6)]
    pages = {"/": links(*urls, *urls), "/a?sid=4": page("a")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", *urls[:4]]
    assert result.pages == ["/", "/a?sid=4"]
    assert result.figures["rescue/sent"] == 3
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_url_that_is_fetched_for_one_callback_is_for_another_too(crawl):
    """Neither has the page by what the other got, and each is given one URL but once."""
    got = []

    class Two(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}/":
                yield from (response.follow(url, self.other) for url in ("/a?sid=2", "/a?sid=2#b"))

        def other(self, response):
            got.append(response.url)

    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}
    result = await crawl(site(pages), RULES, spider=Two)
    assert result.pages == ["/", "/a?sid=2"]
    assert got == [f"{SITE}/a?sid=2"]
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_page_without_a_working_url_ends(crawl):
    """Where no variant gives the page, each was fetched once, and the crawl ends."""
    urls = [f"/a?sid={n}" for n in range(1, 6)]
    pages = {"/": links(*urls, *urls, "/later"), "/later": links(*urls, "/a?sid=6")}
    result = await crawl(site(pages), RULES)
    assert sorted(result.hits) == sorted(["/", "/later", *urls, "/a?sid=6"])
    assert result.stats["finish_reason"] == "finished"
    assert "rescued" not in result.figures


@deferred_f_from_coro_f
async def test_retries_come_first(crawl):
    """A representative that works on its second try needs no variant."""
    answers = iter([page("busy", status=503), page("a")])
    respond = site({"/": links("/a?sid=1", "/a?sid=2")})
    result = await crawl(
        lambda request: next(answers) if request.path == "/a" else respond(request),
        {**RULES, "RETRY_TIMES": 1},
    )
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1"]
    assert result.pages == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_rescue_is_retried_too(crawl):
    """A variant that takes the place has retries of its own."""
    answers = {"/a?sid=1": [503, 503], "/a?sid=2": [503, 200]}
    respond = site({"/": links("/a?sid=1", "/a?sid=2")})
    result = await crawl(
        lambda request: (
            page("a", status=answers[request.target].pop(0))
            if request.path == "/a"
            else respond(request)
        ),
        {**RULES, "RETRY_TIMES": 1},
    )
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1", "/a?sid=2", "/a?sid=2"]
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_variant_keeps_what_the_spider_gave_it(crawl):
    """Callback, errback, cb_kwargs, meta, headers and priority are those of the variant."""
    got = []

    class Giving(FollowSpider):
        def _start(self, _urls):
            async def start():
                yield Request(f"{SITE}/a?sid=1", self.wrong)
                yield Request(
                    f"{SITE}/a?sid=2",
                    self.right,
                    errback=self.sorry,
                    cb_kwargs={"x": 1},
                    meta={"y": 2},
                    headers={"Z": "3"},
                    priority=4,
                )

            return start

        def wrong(self, _response):
            got.append("wrong")

        def right(self, response, x):
            request = response.request
            got.append((x, request.meta["y"], request.headers["Z"], request.priority))
            assert request.errback == self.sorry

        def sorry(self, _failure):
            got.append("sorry")

    await crawl(site({"/a?sid=2": page("a")}), RULES, spider=Giving)
    assert got == [(1, 2, b"3", 4)]


@deferred_f_from_coro_f
async def test_fetched_page_is_not_fetched_again(crawl):
    """Nothing is rescued where nothing failed, though a link in the meantime did."""
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/b"), "/a?sid=1": links("/a?sid=3")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a?sid=1", "/b"]
    assert not [name for name in result.figures if name.startswith("rescue")]


@deferred_f_from_coro_f
async def test_off(crawl):
    """With URLCANON_RESCUE = False a dropped variant stays dropped."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}
    result = await crawl(site(pages), {**RULES, "URLCANON_RESCUE": False})
    assert result.hits == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_bound_gives_up_what_a_trap_has_most_of(crawl):
    """Beyond URLCANON_RESCUE_MAX_PENDING the page with most waiting requests gives up its last."""
    trap = [f"/trap?sid={n}" for n in range(20)]
    pages = {"/": links("/a?sid=1", "/a?sid=2", *trap, "/b?sid=1", "/b?sid=2")}
    pages |= {"/a?sid=2": page("a"), "/b?sid=2": page("b"), "/trap?sid=19": page("trap")}
    result = await crawl(site(pages), {**RULES, "URLCANON_RESCUE_MAX_PENDING": 5})
    assert result.pages == ["/", "/a?sid=2", "/b?sid=2"]
    assert result.figures["rescue/given_up"] == 16


@deferred_f_from_coro_f
async def test_redirect_to_a_page_that_fails(crawl):
    """What waits for a page that redirects waits for the page behind the redirect."""
    pages = {
        "/": links("/a?sid=1", "/a?sid=2", "/b"),
        "/a?sid=1": redirect("/b"),
        "/a?sid=2": page("a"),
    }
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a?sid=1", "/b", "/a?sid=2"]
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_redirect_to_a_page_that_was_fetched(crawl):
    """Where two URLs of a page redirect to one that the spider has got no third one is needed."""
    pages = {
        "/": links("/b", *(f"/a?sid={n}" for n in range(1, 5))),
        "/a?sid=1": redirect("/b"),
        "/a?sid=2": redirect("/b"),
        "/b": page("b"),
    }
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/b", "/a?sid=1", "/a?sid=2"]
    assert result.pages == ["/", "/b"]


@deferred_f_from_coro_f
async def test_rescue_that_redirects_back_ends(crawl):
    """A variant that redirects to the representative, which failed, is no endless loop."""
    pages = {"/": links("/a", "/a/", "/a?sid=1"), "/a/": redirect("/a"), "/a?sid=1": page("a")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a", "/a/", "/a", "/a?sid=1"]
    assert result.pages == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_meta_copied_by_the_spider_marks_nothing(crawl):
    """Requests with the meta of a rescued response are deduplicated as any others."""

    class Copying(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            meta = {k: v for k, v in response.meta.items() if k.startswith("_urlcanon")}
            for request in response.follow_all(css="a"):
                yield request.replace(meta=meta)

    pages = {
        "/": links("/a?sid=1", "/a?sid=2"),
        "/a?sid=2": links("/b?sid=1", "/b?sid=2", "/"),
        "/b?sid=1": page("b"),
    }
    result = await crawl(site(pages), RULES, spider=Copying)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2", "/b?sid=1"]


@pytest.mark.parametrize("sign", [{"fault": Fault.TRUNCATION}, {"status": 206}])
@deferred_f_from_coro_f
async def test_page_that_was_cut_short_is_fetched_by_another_url(crawl, sign):
    """Where the user takes what there is of it, another URL may bring the rest."""
    pages = {
        "/": links("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": Response(headers=(("Content-Type", "text/html"),), body=b"half of it", **sign),
        "/a?sid=2": links("/behind"),
        "/behind": page("behind"),
    }
    settings = {**RULES, "DOWNLOAD_FAIL_ON_DATALOSS": False}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2", "/behind"]


def html(*urls, end="</body></html>"):
    """Return a whole page that links *urls*, or one that breaks off before its *end*."""
    tags = "".join(f'<a href="{url}">link</a>' for url in urls)
    return page(f"<html><body>text {tags}{end}")


@deferred_f_from_coro_f
async def test_page_that_breaks_off_is_fetched_by_another_url(crawl):
    """A program that fails within a page says so by nothing but its missing end."""
    pages = {
        "/": html("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": html("/behind?sid=1", end=""),
        "/a?sid=2": html("/behind?sid=1", "/behind?sid=2"),
        "/behind?sid=1": html(),
    }
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a?sid=1", "/behind?sid=1", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_feed_that_breaks_off_is_fetched_by_another_url(crawl):
    """XML has an end, be it the first document of its host; what is but a root is whole."""

    def feed(text):
        return Response(headers=(("Content-Type", "application/xml"),), body=text.encode())

    class Feeds(FollowSpider):
        def parse(self, response):
            yield {"url": response.url}
            yield from response.follow_all(response.xpath("//link/text()").getall())

    items = [f"<link>{SITE}/{name}?sid={n}</link>" for n in (1, 2) for name in ("a", "none")]
    named = "<feed-source>the name of the root is the beginning of this one</feed-source>"
    pages = {
        "/?sid=1": feed(f"<?xml version='1.0'?><feed>{''.join(items[:2])}{named}"),
        "/?sid=2": feed(f"<?xml version='1.0'?><feed>{''.join(items)}{named}</feed\n> "),
        "/a?sid=1": feed("<feed><link/></feed>"),
        "/none?sid=1": feed("<feed version='2'/>"),
    }
    start = [f"{SITE}/?sid={n}" for n in (1, 2, 3)]
    result = await crawl(site(pages), RULES, start=start, spider=Feeds)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2", "/a?sid=1", "/none?sid=1"]


@deferred_f_from_coro_f
async def test_pages_without_end_tags_are_whole(crawl):
    """Where they are many, no second URL is fetched; nor of what is no page but a part of one."""
    urls = [f"/{name}?sid={n}" for n in (1, 2) for name in ("a", "b", "c", "d")]
    pages = {"/": html(*urls, end="")}
    pages |= {url: html(end="") for url in urls} | {url: page("part") for url in urls[-2:]}
    result = await crawl(site(pages), RULES)
    assert len(result.hits) == 5
    pages["/"] = html(*urls)
    result = await crawl(site(pages), RULES)
    # The first one could not be told from one that breaks off.
    assert len(result.hits) == 6


@deferred_f_from_coro_f
async def test_untouched_variant_takes_the_place_of_what_failed(crawl):
    """A fallback of the user has one fingerprint for it and for what rules make of another URL."""

    class Fallback(RequestFingerprinter):
        pass

    class Untouched(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}/":
                yield response.follow("/a", meta={"urlcanon": False})

    pages = {"/": links("/a?sid=1"), "/a": page("a")}
    settings = {**RULES, "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS": Fallback}
    result = await crawl(site(pages), settings, spider=Untouched)
    assert result.hits == ["/", "/a?sid=1", "/a"]


@deferred_f_from_coro_f
async def test_rescue_that_the_end_of_the_run_keeps_from_being_sent(crawl):
    """It is counted in the next run of the job, which sends it."""

    class Stopping(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url.endswith("/stop"):
                raise CloseSpider

    respond = site({"/": links("/a?sid=1", "/stop", "/a?sid=2"), "/stop": links()})
    queue = {"SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue"}
    settings = {**RULES, **queue, "JOBDIR": "job"}
    runs = [await crawl(respond, settings, spider=Stopping) for _ in range(2)]
    assert [run.hits for run in runs] == [["/", "/a?sid=1", "/stop"], ["/a?sid=2"]]
    assert [run.figures.get("rescue/sent", 0) for run in runs] == [0, 1]


class Withhold:
    """A spider middleware that keeps one response from the callback."""

    def process_spider_input(self, response):
        if response.url.endswith("/a?sid=1"):
            raise IgnoreRequest


@deferred_f_from_coro_f
async def test_page_that_a_middleware_next_to_the_spider_withholds(crawl):
    """However near its number puts it, and though an errback hears of it."""
    start = [Request(f"{SITE}/a?sid={n}", errback=lambda _: None) for n in (1, 2)]
    settings = {**RULES, "SPIDER_MIDDLEWARES": {Withhold: 2_000_000}}
    result = await crawl(lambda _: page("a"), settings, start=start)
    assert result.pages == ["/a?sid=2"]


class Fed(FollowSpider):
    """Has more to ask for whenever it is idle, as from a queue outside."""

    def _start(self, urls):
        self.batches = [["/a?sid=0", "/a?sid=1"]]
        return super()._start(urls)

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self):
        if self.batches:
            for target in self.batches.pop(0):
                self.crawler.engine.crawl(Request(SITE + target))
            raise DontCloseSpider


@deferred_f_from_coro_f
async def test_what_is_scheduled_because_the_spider_is_idle_is_coming(crawl):
    """What is dropped for it waits, and is not sent in its place."""
    result = await crawl(lambda _: page("text"), RULES, spider=Fed)
    assert result.hits == ["/", "/a?sid=0"]
    assert "rescued" not in result.figures


@deferred_f_from_coro_f
async def test_rule_in_the_meta_of_another_spider_is_no_callback(crawl):
    """A CrawlSpider alone has one for each of its rules."""

    class Ruled(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            if response.url == f"{SITE}/":
                for number in range(4):
                    yield response.follow(f"/a?sid={number}", meta={"rule": {"number": number}})

    result = await crawl(lambda _: page("text"), RULES, spider=Ruled)
    assert result.hits == ["/", "/a?sid=0"]
