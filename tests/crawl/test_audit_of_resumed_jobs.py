"""The next run of a job knows the audits and suspensions of the last one."""

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
    """Return a page of its own for each URL."""
    return product(request.target)


def asking(asks):
    """Return a spider that makes the requests in *asks* of each page, and stops after "/last".

    Requests with a priority above 0 are not filtered.
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
    """An entry that was suspended stays suspended when the job is resumed."""
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
    """The next run does not compare variants with URLs that a suspended entry had merged.

    These are other pages, and would be evidence against the right entry.
    """
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
    """The canonical URL that a suspended entry had made counts as unseen in the next run.

    It is a page that nobody had fetched, and one of its variants is.
    """
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
    """The next run compares with the recorded start request, not with a variant dropped for it."""
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
    """The next run knows which URL an unfiltered request fetched in place of one that failed.

    Once the entry falls, that is the only page that was fetched, and the other one is missing.
    """
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
    """With URLCANON_REWRITE too the next run knows that the canonical URL failed.

    The linked URL was fetched in its place, unfiltered, and is the only page of the two that came.
    """
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
    """Sends a form to two URLs of a page, the first of which fails."""

    def parse(self, response):
        yield {"url": response.url, "text": ""}
        if response.url == f"{SITE}/":
            for number in range(2):
                yield Request(f"{SITE}/a?id={number}", method="POST", body="x")
        for request in response.follow_all(css="a"):
            yield request.replace(priority=-request.url.endswith("/more"))


@deferred_f_from_coro_f
async def test_next_run_takes_no_page_for_one_that_came_of_a_form_sent_to_its_url(crawl):
    """The answer to a form is not taken for the page at its URL once the entry falls.

    The form's answer came in the last run, the page has never been fetched.
    """
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
    """After a rescue, the next run compares with the URL that was rescued.

    The URL that failed would fail again, and no variant could be judged.
    """
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
    """The run after a kill audits variants that the killed run had dropped.

    They may be the only sign that the entry is wrong.
    """
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
    """After a kill a queued request is fetched even if another page has had its fingerprint.

    It was scheduled before the entry fell that merged the two.
    """
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
    """A queued request is known by its URL, whichever entries were off when it was scheduled.

    By its fingerprint it would be taken for another page, and not be fetched.
    """
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
    """A queued request is fetched though an audit gave the spider another page of its key.

    One entry fell, and another one, which is wrong too, still merges the two.
    """
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
    """Audits of the run after a kill have other numbers than those of the killed run.

    Scrapy buffers fingerprints, so that a killed run may have stored none; with the same number an
    audit would be taken for done.
    """
    settings = Settings({"JOBDIR": str(tmp_path)})
    assert next(rounds_of(settings)) == 0
    (tmp_path / FILE).write_bytes(FORMAT)
    assert next(rounds_of(settings)) > 0
