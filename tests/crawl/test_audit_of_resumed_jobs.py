"""What the next run of a job knows of the audits and suspensions of the last one."""

import pytest
from audited_shop import SETTINGS, WRONG, product
from loopback import page
from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, forget_queue, links, site

from scrapy_urlcanon.crawl.checks.case import rounds_of
from scrapy_urlcanon.crawl.job.journal import FILE, FORMAT

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
JOB = {"JOBDIR": "job", "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}


AUDITED = {
    **SETTINGS,
    **JOB,
    **ONE_BY_ONE,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "URLCANON_AUDIT": 1,
}


def as_linked(request):
    """Return another page for each URL."""
    return product(request.target)


def asking(asks):
    """Return a spider that makes the requests of each page, by its URL, and stops at the last.

    The urgent ones are not filtered.
    """

    class Asking(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            target = response.url.removeprefix(SITE)
            for url, priority in asks.get(target, ()):
                yield Request(f"{SITE}{url}", priority=priority, dont_filter=priority > 0)
            if target == "/last":
                raise CloseSpider

    return Asking


@deferred_f_from_coro_f
async def test_suspension_outlives_the_run(crawl):
    """What the audit turned off stays off when the job is resumed."""
    urls = [f"/p?id={n}" for n in range(8)]
    settings = {
        **JOB,
        "URLCANON_RULES": {"site.example": {"drop_params": ["id"]}},
        "URLCANON_AUDIT": 1e-9,
    }
    respond = site({"/": links(*urls), **{url: page(f"<title>{url}</title>") for url in urls}})
    first = await crawl(respond, settings)
    assert first.figures["audit/suspended/drop_params/id"] == 1
    more = ("/p?id=98", "/p?id=99")
    pages = {"/": links(*more), **{url: page(url) for url in more}}
    second = await crawl(site(pages), settings, start=[f"{SITE}{url}" for url in more])
    assert sorted(second.hits) == sorted(more)


@deferred_f_from_coro_f
async def test_next_run_compares_with_no_page_that_a_suspended_entry_merged(crawl):
    """What came first under a fingerprint, before the entry fell, is a URL of another page."""
    pages = {
        "/": [f"/{name}?id={n}&sid=0" for n in range(4) for name in "abc"] + ["/more"],
        "/more": [f"/{name}?sid=1" for name in "abc"],
        "/later": [f"/{name}?sid={n}" for n in range(2, 5) for name in "abc"],
    }

    def respond(request):
        linked = pages.get(request.target)
        return links(*linked) if linked else product(request.target.partition("sid")[0])

    settings = {**SETTINGS, **JOB, "URLCANON_AUDIT": 1}
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    settings["URLCANON_RULES"] = {"site.example": {"drop_params": ["sid", "id"]}}
    first = await crawl(respond, settings)
    assert first.figures["audit/suspended/drop_params/id"] == 1
    assert set(pages["/"][:-1] + pages["/more"]) <= set(first.pages)
    second = await crawl(respond, settings, start=[f"{SITE}/later"])
    assert "audit/false_merge" not in second.figures
    assert second.figures["audited"] > 0


@deferred_f_from_coro_f
async def test_next_run_fetches_the_page_whose_url_a_suspended_entry_had_made_of_others(crawl):
    """It was stopped in order, with that URL as seen, though nobody had fetched it."""
    pages = {"/": [f"/p?id={n}" for n in range(8)], "/later": ["/p?sid=1", "/p?sid=2"]}

    def respond(request):
        if linked := pages.get(request.target):
            return links(*linked)
        return page("gone", status=404) if request.query == "sid=1" else product(request.target)

    settings = {**SETTINGS, **JOB, "URLCANON_AUDIT": 1}
    settings["URLCANON_RULES"] = {"site.example": {"drop_params": ["sid", "id"]}}
    first = await crawl(respond, settings)
    assert set(pages["/"]) <= set(first.pages)
    second = await crawl(respond, settings | {"URLCANON_AUDIT": 0}, start=[f"{SITE}/later"])
    assert second.pages == ["/later", "/p?sid=2"]


@deferred_f_from_coro_f
async def test_next_run_compares_with_the_start_request_that_was_recorded(crawl):
    """What was dropped for it is none that stands for its page."""
    pages = {"/": ["/p?id=1"], "/later": [f"/p?id={n}" for n in range(2, 8)]}

    class Closing(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}/":
                raise CloseSpider

    def respond(request):
        linked = pages.get(request.target)
        return links(*linked) if linked else product(request.query)

    settings = {**SETTINGS, **JOB, **WRONG, "URLCANON_RECORD_START": True}
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    start = [Request(f"{SITE}{url}", dont_filter=True) for url in ("/p?id=0", "/")]
    first = await crawl(respond, settings, start=start, spider=Closing)
    assert first.pages == ["/", "/p?id=0"]
    second = await crawl(respond, settings, start=[f"{SITE}/later"])
    assert {"/p?id=1", *pages["/later"]} <= {*second.pages}


@deferred_f_from_coro_f
async def test_next_run_knows_by_which_url_nothing_filtered_a_page_came(crawl):
    """What stood for it had failed; once the entry falls, it is had by none of its URLs."""
    before = {"/": [("/p?id=1", 1), ("/p", 0)]}
    later = [*((f"/q?id={n}", 0) for n in range(8)), ("/wait", -5), ("/more", -6)]
    after = {"/later": later, "/more": [("/p?sid=1", 0)]}

    def respond(request):
        is_gone = request.target == "/p"
        return page("gone", status=404) if is_gone else product(request.target.partition("?sid")[0])

    settings = {**AUDITED, "URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
    first = await crawl(respond, settings, spider=asking(before))
    assert first.pages == ["/", "/p?id=1"]
    second = await crawl(respond, settings, start=[f"{SITE}/later"], spider=asking(after))
    assert "/p?sid=1" in second.pages


@deferred_f_from_coro_f
async def test_next_run_knows_by_which_url_a_rewritten_request_brought_a_page(crawl):
    """The canonical URL had failed, and nothing filtered the request, as that of a start page."""
    before = {"/": [("/p?id=1", 1)]}
    later = [*((f"/q?id={n}", 0) for n in range(8)), ("/wait", -5), ("/more", -6)]
    after = {"/later": later, "/more": [("/p?sid=1", 1)]}

    def respond(request):
        is_gone = request.target in {"/p", "/q"}
        return page("gone", status=404) if is_gone else product(request.target.partition("?sid")[0])

    settings = {**AUDITED, "URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
    settings["URLCANON_REWRITE"] = True
    first = await crawl(respond, settings, spider=asking(before))
    assert first.pages == ["/", "/p?id=1"]
    second = await crawl(respond, settings, start=[f"{SITE}/later"], spider=asking(after))
    assert "/p?sid=1" in second.pages


class Sending(FollowSpider):
    """Sends a form to the two URLs of a page, of which one fails; its last link comes late."""

    def parse(self, response):
        yield {"url": response.url, "text": ""}
        if response.url == f"{SITE}/":
            for number in range(2):
                yield Request(f"{SITE}/a?id={number}", method="POST", body="x")
        for request in response.follow_all(css="a"):
            yield request.replace(priority=-request.url.endswith("/more"))


@deferred_f_from_coro_f
async def test_next_run_takes_no_page_for_one_that_came_of_a_form_sent_to_its_url(crawl):
    """That took the place of what failed, and the entry that merged the two falls now."""
    pages = {"/later": [f"/p?id={n}" for n in range(8)] + ["/more"]}
    pages |= {"/more": ["/once/more"], "/once/more": ["/a?id=1"]}

    def respond(request):
        linked = pages.get(request.target)
        is_gone = (request.method, request.target) == ("POST", "/a?id=0")
        other = page("gone", status=404) if is_gone else product(request.method + request.query)
        return links(*linked) if linked else other

    settings = {**AUDITED, **WRONG}
    first = await crawl(respond, settings, spider=Sending)
    assert first.figures["rescued"] == 1
    second = await crawl(respond, settings, start=[f"{SITE}/later"], spider=Sending)
    assert second.figures["audit/suspended/drop_params/id"] == 1
    assert "/a?id=1" in second.pages


@pytest.mark.parametrize("is_made_anew", [False, True])
@deferred_f_from_coro_f
async def test_next_run_compares_with_the_url_that_took_the_place_of_a_failure(crawl, is_made_anew):
    """The kept page is not asked for by the URL that failed: nothing could be told of any other."""
    pages = {
        "/": [f"/{name}?sid={n}" for name in "abc" for n in range(2)],
        "/later": [f"/{name}?sid={n}" for name in "abc" for n in range(2, 5)],
    }

    def respond(request):
        if linked := pages.get(request.target):
            return links(*linked)
        return page("gone", status=404) if request.query == "sid=0" else product(request.path)

    settings = {**RULES, **JOB, "URLCANON_AUDIT": 1, "CONCURRENT_REQUESTS": 1}
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    first = await crawl(respond, settings)
    assert first.figures["rescued"] == 3
    if is_made_anew:
        forget_queue()
    second = await crawl(respond, settings, start=[f"{SITE}/later"])
    assert not [url for url in second.hits if url.endswith("sid=0")]
    assert second.figures["audit/rule/drop_params:sid/site.example/same"] == 9


@pytest.mark.parametrize("is_rewritten", [False, True])
@deferred_f_from_coro_f
async def test_run_after_a_kill_audits_what_was_merged_before(crawl, is_rewritten):
    """What the killed run had not audited may be the only sign that an entry is wrong."""
    urls = [f"/p?id={n}" for n in range(8)]

    def respond(request):
        return links(*urls) if request.path == "/" else product(request.query)

    settings = {**SETTINGS, **JOB, **WRONG, "URLCANON_REWRITE": is_rewritten}
    await crawl(respond, {**settings, "URLCANON_AUDIT": 0})
    forget_queue()
    second = await crawl(respond, {**settings, "URLCANON_AUDIT": 1}, start=())
    assert set(urls[1:]) <= set(second.pages)
    assert (urls[0] in second.pages) is is_rewritten


@deferred_f_from_coro_f
async def test_run_after_a_kill_takes_no_page_for_one_that_had_its_fingerprint(crawl):
    """What waits to be fetched was scheduled before the entry fell that made it one with that."""
    asks = {
        "/": [("/a?id=1", -10), *((f"/p?id={n}", 0) for n in range(8)), ("/more", -5)],
        "/more": [("/a", 0), ("/last", -5)],
    }
    settings = {**AUDITED, **WRONG}
    first = await crawl(as_linked, settings, spider=asking(asks))
    assert first.figures["audit/suspended/drop_params/id"] == 1
    assert "/a" in first.pages
    assert "/a?id=1" not in first.pages
    forget_queue()
    second = await crawl(as_linked, settings, start=())
    assert "/a?id=1" in second.pages


@deferred_f_from_coro_f
async def test_next_run_takes_no_page_for_one_that_had_its_fingerprint_between_two_falls(crawl):
    """What came of a request is told by its URL, whatever entries were off when it was done."""
    asks = {
        "/": [
            ("/a?sid=1", -10),
            ("/a?ref=1", 0),
            *((f"/ref?ref={n}", -2) for n in range(8)),
            *((f"/sid?sid={n}", -1) for n in range(8)),
            *((f"/{n}", -3) for n in range(12)),
            ("/last", -5),
        ]
    }
    settings = {**AUDITED, "URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    first = await crawl(as_linked, settings, spider=asking(asks))
    fallen = [name for name in first.figures if name.startswith("audit/suspended/")]
    assert fallen == ["audit/suspended/drop_params/sid", "audit/suspended/drop_params/ref"]
    assert "/a?ref=1" in first.pages
    assert "/a?sid=1" not in first.pages
    second = await crawl(as_linked, settings, start=())
    assert "/a?sid=1" in second.pages


@deferred_f_from_coro_f
async def test_next_run_fetches_what_was_queued_for_a_page_that_an_audit_gave_another_one_of(crawl):
    """One entry fell, and another one merges the two still: what stands for both is to come."""
    asks = {
        "/a?sid=0": [
            ("/a", -10),
            ("/a?ref=1", 0),
            *((f"/p?sid={n}", -1) for n in range(8)),
            *((f"/{n}", -2) for n in range(8)),
            ("/last", -5),
        ]
    }
    settings = {**AUDITED, "URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    start = [Request(f"{SITE}/a?sid=0", dont_filter=True)]
    first = await crawl(as_linked, settings, start=start, spider=asking(asks))
    assert first.figures["audit/suspended/drop_params/sid"] == 1
    assert "audit/suspended/drop_params/ref" not in first.figures
    assert "/a?ref=1" in first.pages
    second = await crawl(as_linked, settings | {"URLCANON_AUDIT": 0}, start=())
    assert "/a" in second.pages


def test_audits_of_a_run_after_a_killed_one_have_other_numbers(tmp_path):
    """Scrapy writes fingerprints down some hundred at a time: a killed run may have left none.

    Its journal has what it audited, and nothing that has the same number is fetched again.
    """
    settings = Settings({"JOBDIR": str(tmp_path)})
    assert next(rounds_of(settings)) == 0
    (tmp_path / FILE).write_bytes(FORMAT)
    assert next(rounds_of(settings)) > 0
