"""If the URL that was kept for a page fails, a dropped variant is fetched in its place."""

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
    """A user's downloader middleware that refuses the first URL of the page."""

    def process_request(self, request):
        if request.url.endswith("/a?sid=1"):
            raise IgnoreRequest("not this one")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cache", [False, True])
@deferred_f_from_coro_f
async def test_waiting_variant_takes_the_place_of_what_failed(crawl, fault, cache):
    """A variant that was dropped while the kept URL was pending is fetched when that URL fails.

    The next crawl reads the variant from the HTTP cache, without another request for it.
    """
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
    """A failed URL is not fetched again with another fragment, which no server sees."""
    pages = {"/": links("/gone", "/later"), "/later": links("/gone#comments", "/gone#add")}
    result = await crawl(site(pages), RULES)
    assert result.hits.count("/gone") == 1


@pytest.mark.parametrize("fault", FAULTS)
@deferred_f_from_coro_f
async def test_variant_after_the_failure_is_let_through(crawl, fault):
    """A variant that is linked after the kept URL has failed is fetched, not dropped as seen."""
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
    """If the host of the kept URL has no address, the variant on another host is fetched."""
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
    """If another middleware ends a request with IgnoreRequest, a variant is fetched."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}
    settings = {**RULES, "DOWNLOADER_MIDDLEWARES": {RefuseFirst: 500}}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", "/a?sid=2"]
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_variants_are_tried_one_after_the_other(crawl):
    """Variants are sent one at a time, each after a failure, until one gives the page."""
    urls = [f"/a?sid={n}" for n in range(1, 6)]
    pages = {"/": links(*urls, *urls), "/a?sid=4": page("a")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", *urls[:4]]
    assert result.pages == ["/", "/a?sid=4"]
    assert result.figures["rescue/sent"] == 3
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_url_that_is_fetched_for_one_callback_is_for_another_too(crawl):
    """A rescued URL is fetched once for each callback that asks for it.

    Else the second callback would miss the page. A link that differs in the fragment alone is no
    further URL.
    """
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
    """If every URL of a page fails, each is fetched once, and the crawl ends."""
    urls = [f"/a?sid={n}" for n in range(1, 6)]
    pages = {"/": links(*urls, *urls, "/later"), "/later": links(*urls, "/a?sid=6")}
    result = await crawl(site(pages), RULES)
    assert sorted(result.hits) == sorted(["/", "/later", *urls, "/a?sid=6"])
    assert result.stats["finish_reason"] == "finished"
    assert "rescued" not in result.figures


@deferred_f_from_coro_f
async def test_retries_come_first(crawl):
    """A kept URL that answers when it is retried needs no variant: none is fetched."""
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
    """A variant that is fetched in place of a failed URL is retried as often as any request."""
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
    """The rescued variant has the callback, meta, headers and so on of its own request.

    With those of the URL that failed, the page would go to the wrong callback.
    """
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
    """If the kept URL gives the page, no variant is fetched, whether linked before or after."""
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/b"), "/a?sid=1": links("/a?sid=3")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a?sid=1", "/b"]
    assert not [name for name in result.figures if name.startswith("rescue")]


@deferred_f_from_coro_f
async def test_off(crawl):
    """With URLCANON_RESCUE = False no variant is fetched in place of a URL that fails."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}
    result = await crawl(site(pages), {**RULES, "URLCANON_RESCUE": False})
    assert result.hits == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_bound_gives_up_what_a_trap_has_most_of(crawl):
    """Over URLCANON_RESCUE_MAX_PENDING waiting requests, the page with most of them loses its last.

    So a trap with endless variants does not cost other pages theirs.
    """
    trap = [f"/trap?sid={n}" for n in range(20)]
    pages = {"/": links("/a?sid=1", "/a?sid=2", *trap, "/b?sid=1", "/b?sid=2")}
    pages |= {"/a?sid=2": page("a"), "/b?sid=2": page("b"), "/trap?sid=19": page("trap")}
    result = await crawl(site(pages), {**RULES, "URLCANON_RESCUE_MAX_PENDING": 5})
    assert result.pages == ["/", "/a?sid=2", "/b?sid=2"]
    assert result.figures["rescue/given_up"] == 16


@deferred_f_from_coro_f
async def test_redirect_to_a_page_that_fails(crawl):
    """If the kept URL redirects to one that fails, a variant is fetched all the same."""
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
    """Redirects to a URL fetched before give no page: a second variant is tried.

    If that leads to the same URL, the spider has the page, and the others are not fetched.
    """
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
    """If a variant redirects to the URL that failed, there is no loop: the next one is tried."""
    pages = {"/": links("/a", "/a/", "/a?sid=1"), "/a/": redirect("/a"), "/a?sid=1": page("a")}
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a", "/a/", "/a", "/a?sid=1"]
    assert result.pages == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_meta_copied_by_the_spider_marks_nothing(crawl):
    """Requests that copy the plugin's meta from a rescued response are filtered as usual.

    If the copied marks counted, both variants of /b and the start page would be fetched.
    """

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


@deferred_f_from_coro_f
async def test_untouched_variant_takes_the_place_of_what_failed(crawl):
    """A request without rules (meta urlcanon = False) is fetched if the URL kept for it failed.

    A fallback fingerprinter of the user gives both one fingerprint, so that it was dropped as seen.
    """

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
    """A rescue that the end of a run prevents is sent, and counted, in the next run of the job."""

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
    """A user's spider middleware that keeps one response from the callback."""

    def process_spider_input(self, response):
        if response.url.endswith("/a?sid=1"):
            raise IgnoreRequest


@deferred_f_from_coro_f
async def test_page_that_a_middleware_next_to_the_spider_withholds(crawl):
    """A page that the spider middleware nearest to the spider withholds has failed.

    A variant is fetched, even if the failure has an errback.
    """
    start = [Request(f"{SITE}/a?sid={n}", errback=lambda _: None) for n in (1, 2)]
    settings = {**RULES, "SPIDER_MIDDLEWARES": {Withhold: 2_000_000}}
    result = await crawl(lambda _: page("a"), settings, start=start)
    assert result.pages == ["/a?sid=2"]


class Fed(FollowSpider):
    """Schedules more requests when it is idle, as spiders do that read a queue."""

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
    """Of two URLs that are scheduled on spider_idle the second is dropped and waits for the first.

    It must not be fetched at once, as if nothing were pending any more.
    """
    result = await crawl(lambda _: page("text"), RULES, spider=Fed)
    assert result.hits == ["/", "/a?sid=0"]
    assert "rescued" not in result.figures


@deferred_f_from_coro_f
async def test_rule_in_the_meta_of_another_spider_is_no_callback(crawl):
    """Only in a CrawlSpider does meta["rule"] name a callback.

    Elsewhere a different value in each request must not have all variants fetched.
    """

    class Ruled(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            if response.url == f"{SITE}/":
                for number in range(4):
                    yield response.follow(f"/a?sid={number}", meta={"rule": {"number": number}})

    result = await crawl(lambda _: page("text"), RULES, spider=Ruled)
    assert result.hits == ["/", "/a?sid=0"]
