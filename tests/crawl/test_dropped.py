"""Drops are counted from Scrapy's signals, and attributed to rules and domains."""

import logging
import pickle
from unittest.mock import Mock

import pytest
from loopback import page
from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import Request, signals
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import request_from_dict
from scrapy.utils.test import get_crawler
from sites import SITE, ClosedScheduler, FollowSpider, links, site

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.dropped import attribution, counts
from scrapy_urlcanon.crawl.scheduling.seen import seen_fingerprints

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}


@deferred_f_from_coro_f
async def test_variants_are_dropped_and_credited_to_their_rules(crawl):
    """A drop is credited to the rules that changed the variant or the first URL of its page."""
    respond = site(
        {
            "/": links("/a?sid=1", "/a?sid=2", "/a?utm_source=x", "/a?sid=1", "/b", "/b#top"),
            "/a?sid=1": page("a"),
            "/b": page("b"),
        }
    )
    result = await crawl(respond, RULES)
    assert sorted(result.hits) == ["/", "/a?sid=1", "/b"]
    assert result.figures == {
        "requests": 7,
        "dropped": 4,
        "dropped/exact": 1,
        "dropped/variant": 3,
        "dropped/scrapy_would_keep": 2,
        "dropped/rule/drop_params": 2,
        "dropped/rule/tracking_params": 1,
        "dropped/rule/fragment": 1,
        "dropped/entry/drop_params:sid": 2,
        "dropped/entry/tracking_params:utm_source": 1,
        "dropped/domain/site.example": 4,
    }


ALL_PARTS = {
    "URLCANON_AUDIT": 1.0,
    "URLCANON_DECLARED_CANONICAL": True,
    "URLCANON_ORDER": "novelty",
    "URLCANON_RECORD": "observations.sqlite",
}
REPEATING = site({"/": links("/a", "/a", "/a"), "/a": links("/")})


@pytest.mark.parametrize(
    ("settings", "receivers"),
    [
        ({}, 0),
        (ALL_PARTS, 0),
        ({"SCHEDULER": ClosedScheduler}, 1),
        ({**ALL_PARTS, "SCHEDULER": ClosedScheduler}, 1),
    ],
)
@deferred_f_from_coro_f
async def test_signal_has_one_receiver_at_most(crawl, settings, receivers):
    """At most one receiver of ours listens to request_dropped, since each makes the signal slow."""
    found = []

    class Looking(FollowSpider):
        def parse(self, response):
            hearing = getAllReceivers(self.crawler, signals.request_dropped)
            found.extend(liveReceivers(hearing))
            yield from super().parse(response)

    result = await crawl(REPEATING, settings, spider=Looking)
    ours = [receiver for receiver in found if receiver.__module__.startswith("scrapy_urlcanon.")]
    assert len(ours) == receivers * len(result.hits) == 2 * receivers
    assert result.figures["dropped"] == 3


@pytest.mark.parametrize("settings", [{}, {"SCHEDULER": ClosedScheduler}])
@deferred_f_from_coro_f
async def test_error_on_a_drop_ends_no_crawl(crawl, caplog, monkeypatch, settings):
    """An error while a drop is counted is logged, and the crawl goes on."""
    fail = Mock(side_effect=RuntimeError("on purpose"))
    monkeypatch.setattr(attribution.DroppedDuplicates, "request_dropped", fail)
    result = await crawl(REPEATING, settings)
    assert sorted(result.hits) == ["/", "/a"]
    assert result.stats["finish_reason"] == "finished"
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 3
    assert all("on purpose" in record.exc_text for record in errors)


@deferred_f_from_coro_f
async def test_sums_agree(crawl):
    """Exact and variant drops add up to all, as the domains do, and Scrapy counts as many."""
    hosts = ["a.example", "www.b.example", "b.example", "127.0.0.1", "localhost"]
    pages = {
        f"http://{host}/{n}": links(
            *(f"http://{other}/{m}?sid={n}" for other in hosts for m in range(3))
        )
        for host in hosts
        for n in range(3)
    }

    def respond(request):
        return pages[request.url.partition("?")[0]]

    start = [f"http://{host}/0" for host in hosts]
    result = await crawl(respond, {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}, start=start)
    figures = result.figures
    domains = {k: v for k, v in figures.items() if k.startswith("dropped/domain/")}
    assert figures["dropped/exact"] + figures["dropped/variant"] == figures["dropped"] > 0
    assert sum(domains.values()) == figures["dropped"] == result.stats["dupefilter/filtered"]
    assert set(domains) == {
        f"dropped/domain/{host}" for host in ("a.example", "b.example", "127.0.0.1", "localhost")
    }
    assert figures["requests"] == result.stats["scheduler/enqueued"] + figures["dropped"]
    assert len(result.hits) == len(pages)


@pytest.mark.parametrize(("counted", "told", "other"), [(100_000, 21, 10), (4, 3, 46)])
@deferred_f_from_coro_f
async def test_domains_beyond_the_top_are_counted_together(
    crawl, monkeypatch, counted, told, other
):
    """Domains beyond the top ones are counted together as `other`."""
    monkeypatch.setattr(counts, "_COUNTED", counted)
    hosts = [f"host{n}.example" for n in range(25)]
    pages = {f"{SITE}/": links(*(f"http://{host}/{x}" for host in hosts for x in ("", "#a", "#b")))}
    result = await crawl(lambda request: pages.get(request.url, page("a page")))
    domains = {k: v for k, v in result.figures.items() if k.startswith("dropped/domain/")}
    assert len(domains) == told
    assert domains["dropped/domain/other"] == other
    assert sum(domains.values()) == result.figures["dropped"] == 50


@deferred_f_from_coro_f
async def test_host_that_is_called_as_the_others_is_one_of_them(crawl):
    """A host named "other" is counted with the others, so that the sums agree."""
    hosts = ["other", *(f"host{n}.example" for n in range(25))]
    urls = [f"http://{host}/{x}" for host in hosts for x in ("", "#a", "#b")]
    pages = {f"{SITE}/": links(*urls, "http://other/#c")}
    result = await crawl(lambda request: pages.get(request.url, page("a page")))
    domains = {k: v for k, v in result.figures.items() if k.startswith("dropped/domain/")}
    assert domains["dropped/domain/other"] == 13
    assert sum(domains.values()) == result.figures["dropped"] == 53


@deferred_f_from_coro_f
async def test_what_scrapy_would_have_fetched_counts_each_url_once(crawl):
    """Two links to one variant count as one request that Scrapy alone would have made."""
    respond = site({"/": links("/a", "/a?sid=1", "/a?sid=1", "/a?sid=2"), "/a": page("a")})
    result = await crawl(respond, RULES)
    assert result.figures["dropped/variant"] == 3
    assert result.figures["dropped/scrapy_would_keep"] == 2


@deferred_f_from_coro_f
async def test_nothing_dropped_gives_zeros(crawl):
    """Without duplicates the stats are there, with zeros."""
    result = await crawl(site({"/": page("a page")}))
    assert result.figures == {
        "requests": 1,
        "dropped": 0,
        "dropped/exact": 0,
        "dropped/variant": 0,
        "dropped/scrapy_would_keep": 0,
    }


@deferred_f_from_coro_f
async def test_dont_filter_is_not_filtered(crawl):
    """A request with dont_filter is fetched, whatever was seen before."""
    start = [Request(f"{SITE}/?sid={n}", dont_filter=True) for n in range(3)]
    result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert len(result.hits) == 3


@deferred_f_from_coro_f
async def test_verbatim_url_is_a_page_of_its_own(crawl):
    """A request with `verbatim_url` is not touched by rules."""
    start = [
        Request(f"{SITE}/?sid=1"),
        Request(f"{SITE}/?sid=2", meta={"verbatim_url": True}),
        Request(f"{SITE}/?sid=3"),
        Request(f"{SITE}/?sid=2", meta={"verbatim_url": True}),
    ]
    result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2"]


def test_drop_of_what_is_no_url_counts():
    """Scrapy takes it as it is, and drops it where it comes again."""
    crawler = get_crawler(FollowSpider, {"ADDONS": {"scrapy_urlcanon.Addon": 500}})
    duplicates = Crawl.of(crawler).dropped
    try:
        request = Request("http://[none/", meta={"verbatim_url": True})
    except ValueError:
        pytest.skip("this Scrapy takes no such URL")
    duplicates.request_dropped(request)
    duplicates.counts.spider_closed(crawler.spider)
    assert crawler.stats.get_value("urlcanon/dropped/domain/none") == 1
    assert crawler.stats.get_value("urlcanon/dropped/exact") == 1


@deferred_f_from_coro_f
async def test_meta_false_leaves_a_request_to_scrapy(crawl):
    """With meta["urlcanon"] = False only what Scrapy merges is merged."""
    start = [
        Request(f"{SITE}/?sid=1"),
        Request(f"{SITE}/?sid=2", meta={"urlcanon": False}),
        Request(f"{SITE}/?sid=3", meta={"urlcanon": False}),
        Request(f"{SITE}/?sid=3#top", meta={"urlcanon": False}),
    ]
    result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2", "/?sid=3"]


@deferred_f_from_coro_f
async def test_meta_options_are_the_strongest_layer(crawl):
    """Options in the meta of a request hold for that request alone."""
    keep_sid = {"urlcanon": {"drop_params": ["!sid", "x"]}}
    start = [
        Request(f"{SITE}/?sid=1", meta=keep_sid),
        Request(f"{SITE}/?sid=2&x=1", meta=keep_sid),
        Request(f"{SITE}/?sid=2&x=2", meta=keep_sid),
        Request(f"{SITE}/?sid=3&x=3"),
        Request(f"{SITE}/?sid=4&x=3"),
    ]
    result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2&x=1", "/?sid=3&x=3"]
    assert result.figures["dropped/rule/drop_params"] == 2


@deferred_f_from_coro_f
async def test_wrong_meta_options_lose_nothing(crawl, caplog):
    """A request with invalid options in meta is treated as by Scrapy, with an error in the log."""
    wrong = {"urlcanon": {"drop_parms": ["sid"]}}
    start = [Request(f"{SITE}/?sid={n}", meta=wrong) for n in range(3)]
    with caplog.at_level(logging.ERROR):
        result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert len(result.hits) == 3
    (record,) = [r for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert "did you mean 'drop_params'?" in record.getMessage()


def test_wrong_meta_options_that_differ_do_not_flood_the_log(caplog):
    """Errors of invalid options in meta are logged at most twenty times."""
    fingerprinter = get_crawler(
        FollowSpider, {"ADDONS": {"scrapy_urlcanon.Addon": 500}}
    ).request_fingerprinter
    for number in range(100):
        wrong = {"urlcanon": {"drop_params": f"sid{number}"}}
        fingerprinter.fingerprint(Request(f"{SITE}/?sid={number}", meta=wrong))
    assert 1 <= caplog.text.count("because of its meta") <= 20


@deferred_f_from_coro_f
async def test_unparsable_url_is_counted_and_stops_nothing(crawl):
    """A URL that cannot be parsed gets the fallback's fingerprint, and is counted."""
    urls = ["http://exa%20mple.example/", "/a?sid=1", "/a?sid=2"]
    respond = site({f"{SITE}/": links(*urls)}, missing=200)
    result = await crawl(respond, RULES)
    assert result.figures["unparsable"] == 1
    assert len(result.hits) == 3
    assert result.stats["finish_reason"] == "finished"


def test_a_url_without_a_host_for_scrapy_stands_for_no_page():
    """A URL without a host for Scrapy is not merged with the one that browsers read it as.

    Scrapy cannot fetch it, so that the page would be lost.
    """
    crawler = get_crawler(FollowSpider, {"ADDONS": {"scrapy_urlcanon.Addon": 500}})
    prints = crawler.request_fingerprinter
    urls = ("http:///a.example/x", "http://a.example/x", "http://a.example/x?utm_source=y")
    first, *others = (prints.fingerprint(Request(url)) for url in urls)
    assert len(set(others)) == 1
    assert first not in others


@deferred_f_from_coro_f
async def test_post_requests_differ_by_body(crawl):
    """POST requests for variants of one URL are told apart by their bodies."""
    start = [
        Request(f"{SITE}/?sid=1"),
        Request(f"{SITE}/?sid=2", method="POST", body=b"a"),
        Request(f"{SITE}/?sid=3", method="POST", body=b"b"),
        Request(f"{SITE}/?sid=4", method="POST", body=b"a"),
    ]
    result = await crawl(lambda _: page("a page"), RULES, start=start)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2", "/?sid=3"]


@deferred_f_from_coro_f
async def test_summary_is_logged_at_close(crawl, caplog):
    """A summary of requests and drops, by rule and domain, is logged at the end."""
    respond = site({"/": links("/a", "/a?sid=1", "/a?sid=2", "/a"), "/a": page("a")})
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        await crawl(respond, RULES)
    (summary,) = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    for line in ("5  requests", "3  dropped (60.0 %)", "2  drop_params", "3  site.example"):
        assert line in summary


@pytest.mark.parametrize("preset", ["scrapy", "safe", "aggressive"])
@deferred_f_from_coro_f
async def test_start_page_linked_again_is_fetched_as_in_scrapy(crawl, preset):
    """A link to a start page is fetched, since Scrapy does not record start URLs."""

    class StartUrls(FollowSpider):
        start_urls = (f"{SITE}/",)

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            del self.start

    result = await crawl(
        site({"/": links("/", "/a"), "/a": links("/")}),
        {"URLCANON_PRESET": preset},
        spider=StartUrls,
    )
    assert sorted(result.hits) == ["/", "/", "/a"]


def pickled(request):
    """Return *request* as a queue on disk returns it."""
    return request_from_dict(pickle.loads(pickle.dumps(request.to_dict())))


class OtherDupeFilter(RFPDupeFilter):
    """Keeps its fingerprints where the plugin does not look."""

    def request_seen(self, request):
        return super().request_seen(request)


COPIES = {
    "itself": lambda request: request,
    "copy": lambda request: request.copy(),
    "replace": lambda request: request.replace(meta={"key": "value"}),
    "pickled": pickled,
}
SCHEDULERS = {
    "memory": {},
    "disk": {"JOBDIR": "job"},
    "closed": {"SCHEDULER": ClosedScheduler},
    "other dupefilter": {"DUPEFILTER_CLASS": OtherDupeFilter},
}


@pytest.mark.parametrize("settings", SCHEDULERS.values(), ids=SCHEDULERS)
@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@deferred_f_from_coro_f
async def test_variant_that_was_copied_is_a_variant(crawl, copy, settings):
    """A copied request for a variant counts as a variant of the page that was linked first.

    Although its fingerprint was requested before.
    """

    class Copying(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                variant = Request(f"{SITE}/a?sid=1")
                self.crawler.request_fingerprinter.fingerprint(variant)
                yield Request(f"{SITE}/a")
                yield copy(variant)

    # The first one fails: what is dropped as another URL of the page gets its chance.
    result = await crawl(
        site({"/": page("a page"), "/a?sid=1": page("a")}), {**RULES, **settings}, spider=Copying
    )
    assert result.figures["dropped/exact"] == 0
    assert result.figures["dropped/variant"] == result.figures["dropped/rule/drop_params"] == 1
    assert result.hits == ["/", "/a", "/a?sid=1"]
    assert result.figures["rescued"] == 1


@pytest.mark.parametrize("settings", SCHEDULERS.values(), ids=SCHEDULERS)
@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@deferred_f_from_coro_f
async def test_request_that_was_copied_is_an_exact_duplicate_of_itself(crawl, copy, settings):
    """A copy of a request is an exact duplicate of it, however it was copied."""

    class Copying(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/":
                yield Request(f"{SITE}/a?sid=1")
            else:
                yield copy(response.request)
                yield copy(response.request)
                yield Request(f"{SITE}/a")

    result = await crawl(
        site({"/": page("a page"), "/a?sid=1": page("a")}), {**RULES, **settings}, spider=Copying
    )
    assert result.figures["dropped/exact"] == 2
    assert result.figures["dropped/variant"] == 1
    assert result.hits == ["/", "/a?sid=1"]


@deferred_f_from_coro_f
async def test_first_url_of_a_page_is_known_in_a_resumed_job(crawl):
    """In a resumed job a variant of a page of the last run counts as a variant."""
    settings = {**RULES, "JOBDIR": "job"}
    pages = {"/": links("/a"), "/a": page("a"), "/again": links("/a?sid=1", "/a?sid=1")}
    await crawl(site(pages), settings)
    result = await crawl(site(pages), settings, start=[f"{SITE}/again"])
    assert result.figures["dropped/variant"] == 2


def test_fingerprints_of_an_older_scrapy_are_read():
    """Fingerprints of Scrapy before 2.19, which are hexadecimal texts, are read."""
    dupefilter = RFPDupeFilter()
    vars(dupefilter).pop("_fingerprints", None)
    vars(dupefilter)["fingerprints"] = {b"seen".hex()}
    seen = seen_fingerprints(dupefilter)
    assert b"seen" in seen
    assert b"other" not in seen
