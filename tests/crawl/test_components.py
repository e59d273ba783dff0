"""Whichever component is constructed first puts the crawl together."""

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from loopback import page
from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import ClosedScheduler, FollowSpider, links, site

from scrapy_urlcanon import (
    RequestFingerprinter,
    UrlCanonDownloaderMiddleware,
    UrlCanonSpiderMiddleware,
)
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.job.journal import FILE, Journal, Kind
from scrapy_urlcanon.crawl.scheduling.engine import is_local
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.writer import ReportWriter

COMPONENTS = (
    RequestFingerprinter,
    UrlCanonDownloaderMiddleware,
    UrlCanonSpiderMiddleware,
    ReportWriter,
)
RULES = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}


def components_in(order):
    """Return the settings of a crawl whose components are constructed in *order*."""

    class First(RequestFingerprinter):
        @classmethod
        def from_crawler(cls, crawler):
            crawler.constructed = {}
            for component in order:
                is_own = component is RequestFingerprinter
                make = super().from_crawler if is_own else component.from_crawler
                crawler.constructed[component] = make(crawler)
            return crawler.constructed[RequestFingerprinter]

    def early(component):
        class Early:
            @classmethod
            def from_crawler(cls, crawler):
                return crawler.constructed[component]

        return Early

    return {
        "REQUEST_FINGERPRINTER_CLASS": First,
        "DOWNLOADER_MIDDLEWARES": {
            UrlCanonDownloaderMiddleware: None,
            early(UrlCanonDownloaderMiddleware): 40,
        },
        "SPIDER_MIDDLEWARES": {
            UrlCanonSpiderMiddleware: None,
            early(UrlCanonSpiderMiddleware): 20,
        },
        "EXTENSIONS": {ReportWriter: None, early(ReportWriter): 0},
    }


@pytest.mark.parametrize(
    "order", [*permutations(COMPONENTS)], ids=lambda order: "-".join(c.__name__ for c in order)
)
@deferred_f_from_coro_f
async def test_order_of_construction_makes_no_difference(crawl, order):
    """Everything works in each order in which components are constructed."""
    answers = {
        "/": links("/a?sid=1", "/a?sid=2", "/b?sid=1", "/b?sid=2"),
        "/a?sid=1": page("missing", status=404),
        "/a?sid=2": page('<link rel="canonical" href="/c"><p>A page that is about a.'),
        "/b?sid=1": page("<p>A page that is about b."),
        "/b?sid=2": page("<p>A page that is about b."),
    }
    settings = {
        **RULES,
        "URLCANON_AUDIT": 1.0,
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_RECORD": "seen.sqlite",
        "URLCANON_REPORT": "report.json",
        "JOBDIR": "job",
    }
    result = await crawl(site(answers), {**settings, **components_in(order)})
    assert sorted(result.hits) == sorted(answers)
    assert result.pages == ["/", "/a?sid=2", "/b?sid=1"]
    figures = result.figures
    assert figures["dropped/rule/drop_params"] == 2
    assert figures["rescued"] == figures["audited"] == 1
    assert figures["recorded"] == 5
    assert read_report("report.json").figure("dropped") == 2
    assert figures["declared_canonical/declared"] == 1
    records = []
    Journal(Path("job", FILE)).scan(records.append)
    kinds = Counter(record.kind for record in records)
    # The spider got nothing of the audit, which found the same page.
    assert (kinds[Kind.BEGUN], kinds[Kind.FETCHED], kinds[Kind.FAILED]) == (5, 3, 2)


@pytest.mark.parametrize("component", COMPONENTS[:3])
def test_component_of_a_crawl_without_an_engine(component):
    """Components need no engine to be made, and share one crawl."""
    crawler = get_crawler(FollowSpider, {**RULES, "URLCANON_REWRITE": True})
    component.from_crawler(crawler)
    crawl = Crawl.of(crawler)
    assert Crawl.of(crawler) is crawl
    assert crawl.canonical_urls.of(Request("http://a.example/?sid=1")) == "http://a.example/"


def test_second_fingerprinter_gives_the_same_fingerprints():
    """Another component that makes our fingerprinter gets the one of the crawl."""
    crawler = get_crawler(FollowSpider, {**RULES, "ADDONS": {"scrapy_urlcanon.Addon": 500}})
    assert RequestFingerprinter.from_crawler(crawler) is crawler.request_fingerprinter


class OwnScheduler:
    """A scheduler of the user, whose queue may be anywhere."""

    def has_pending_requests(self):
        return False

    def enqueue_request(self, request):
        del request
        return False

    def next_request(self):
        return None


@pytest.mark.parametrize(
    ("scheduler", "is_scrapys"),
    [("scrapy.core.scheduler.Scheduler", True), (ClosedScheduler, True), (OwnScheduler, False)],
)
def test_scheduler_is_local_if_it_is_that_of_scrapy(scheduler, is_scrapys):
    """Only Scrapy's scheduler and its subclasses count as local.

    Scrapy itself takes any class with such methods for a subclass.
    """
    assert issubclass(OwnScheduler, Scheduler)
    assert is_local(Settings({"SCHEDULER": scheduler})) is is_scrapys
