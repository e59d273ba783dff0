"""What each fault took, said as a crawl with the plugin off against one with it on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.case import MAX_REDIRECTS, Answer, Case, Interference, Link, Page
from differential.law import ORDERS, judge
from differential.shrinking import as_code

SITE = "http://site.example"
SID = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
REWRITE = {**SID, "URLCANON_REWRITE": True}
NOT_HAD = {
    "404": Answer(404),
    "503": Answer(503),
    "reset": Answer(reset=True),
    "300": Answer(300),
    "301 that is not followed": Answer(301, location=f"{SITE}/p9"),
    "302 without Location": Answer(302),
    "302 with an empty Location": Answer(302, location=""),
    "302 with a broken Location": Answer(302, location="http://["),
    "302 to another scheme": Answer(302, location="mailto:a@site.example"),
    "304": Answer(304, body="empty"),
    "204": Answer(204, body="empty"),
    "empty": Answer(body="empty"),
}


@pytest.fixture(params=["lifo", "fifo"])
def order(request):
    """Return settings for an order of requests, one at a time."""
    return ORDERS[request.param]


def links(*urls, **attributes):
    """Return requests for *urls*, paths of the site."""
    return tuple(Link(url if "://" in url else f"{SITE}{url}", **attributes) for url in urls)


def starts(*urls, **attributes):
    """Return start requests as Scrapy makes them of ``start_urls``."""
    return links(*urls, dont_filter=True, **attributes)


async def check(case, *wanted):
    """Check that the spider gets *wanted* without the plugin, and with it all that it got."""
    verdict = await judge(case, everything=True)
    assert verdict.promised, "nothing is got without the plugin"
    missing = [(number, *pair) for number, pair, _ in verdict.lost]
    assert not missing, f"lost: {missing}\n{as_code(case)}\non: {verdict.hits[1]}"
    assert not verdict.errors, verdict.errors[0]
    for pair in wanted:
        assert pair in verdict.pairs, f"{pair} does not come without the plugin"


# A page fetched for anybody counts as fetched for everybody.


@pytest.mark.parametrize("first", ["dont_filter", "inline", "file", "start"])
@deferred_f_from_coro_f
async def test_page_that_was_fetched_for_somebody_else(order, first):
    """What was fetched for somebody else does not stand for a page whose variant fails."""
    url = f"{SITE}/p1"
    other = Link(url, "parse_b", dont_filter=True)
    pages = {
        "p0": Page(
            links=(*([other] if first == "dont_filter" else []), *links("/p2")),
            inline=(url,) if first == "inline" else (),
            files=(url,) if first == "file" else (),
        ),
        "p2": Page(links=links("/p1?sid=1", "/p1?sid=2")),
    }
    start = (*([other] if first == "start" else []), *starts("/p0"))
    case = Case(pages, start, {f"{SITE}/p1?sid=1": Answer(404)}, plugin=SID, settings=order)
    await check(case, ("parse", "p1"))


# Other components.


@deferred_f_from_coro_f
async def test_filter_that_asks_no_fingerprinter(order):
    """With a duplicate filter that goes by URLs every page comes."""
    case = _first_fails(Answer(404))
    settings = {**order, "DUPEFILTER_CLASS": "differential.spiders.UrlFilter"}
    await check(replace(case, settings=settings), ("parse", "p1"))


@deferred_f_from_coro_f
async def test_fingerprinter_alone(order):
    """Without the add-on the crawl is complete, or refused."""
    plugin = {
        **SID,
        "ADDONS": {},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_urlcanon.RequestFingerprinter",
    }
    case = replace(_first_fails(Answer(404)), plugin=plugin, settings=order)
    verdict = await judge(case)
    assert verdict.refused or not verdict.failed


# What is no page.


def _first_fails(answer, *, later=False):
    """Return a case in which one URL of a page gives *answer*, and another one the page."""
    both = links("/p1?sid=1", "/p2") if later else links("/p1?sid=1", "/p1?sid=2")
    pages = {"p0": Page(links=both), "p2": Page(links=links("/p1?sid=2"))}
    return Case(pages, starts("/p0"), {f"{SITE}/p1?sid=1": answer}, plugin=SID)


@pytest.mark.parametrize("later", [False, True], ids=["together", "later"])
@pytest.mark.parametrize("answer", NOT_HAD)
@deferred_f_from_coro_f
async def test_answer_that_is_no_page(order, answer, later):
    """What did not reach the callback as content is not had: another variant is fetched."""
    case = _first_fails(NOT_HAD[answer], later=later)
    settings = {**order, "REDIRECT_ENABLED": "not followed" not in answer}
    await check(replace(case, settings=settings), ("parse", "p1"))


@pytest.mark.parametrize("priority", [10, 30, 500])
@pytest.mark.parametrize("where", ["request", "response", "input"])
@pytest.mark.parametrize("action", ["ignore", "raise"])
@deferred_f_from_coro_f
async def test_response_that_a_middleware_keeps(order, where, action, priority):
    """Whatever keeps one variant from the callback, another one is fetched."""
    case = replace(
        _first_fails(Answer(body="page")),
        interferences=(Interference(where, f"{SITE}/p1?sid=1", action, priority=priority),),
        settings=order,
    )
    await check(case, ("parse", "p1"))


@pytest.mark.parametrize("priority", [10, 30, 500])
@pytest.mark.parametrize("where", ["request", "response"])
@pytest.mark.parametrize("job", [{}, {"JOBDIR": True}])
@deferred_f_from_coro_f
async def test_middleware_that_asks_for_another_variant(order, where, priority, job):
    """A request that a middleware replaces by another URL of the page is no duplicate of it."""
    url, other = f"{SITE}/p1?sid=1", f"{SITE}/p1?sid=2"
    case = Case(
        pages={"p0": Page(links=links("/p1?sid=1"))},
        start=starts("/p0"),
        interferences=(Interference(where, url, "request", other, priority),),
        plugin={**SID, "URLCANON_JOB_JOURNAL": False},
        settings={**order, **job},
    )
    await check(case, ("parse", "p1"))


# Depth.


@deferred_f_from_coro_f
async def test_variant_that_is_less_deep(order):
    """What the limit of depth keeps from one variant comes by another one, less deep."""
    case = Case(
        pages={
            # The engine asks for one more request while a callback runs: there are some.
            "p0": Page(
                links=(
                    *links("/p4", priority=-9),
                    *links("/p6", "/p7", "/p8", "/p9", priority=-1),
                    *links("/p1"),
                )
            ),
            "p1": Page(links=links("/p2")),
            "p2": Page(links=links("/p3?sid=1")),
            "p4": Page(links=links("/p3?sid=2")),
            "p3": Page(links=links("/p5")),
        },
        start=starts("/p0"),
        plugin=SID,
        settings={**order, "DEPTH_LIMIT": 3},
    )
    await check(case, ("parse", "p5"))


# Rewriting.

CHAIN = {
    f"{SITE}/p1?view={number}": Answer(302, location=f"{SITE}/p1?view={number + 1}")
    for number in range(MAX_REDIRECTS + 2)
}
REFUSED = {
    "redirect to itself": {f"{SITE}/p1": Answer(301, location=f"{SITE}/p1")},
    "too many redirects": {f"{SITE}/p1": Answer(302, location=f"{SITE}/p1?view=0"), **CHAIN},
    "redirect offsite": {f"{SITE}/p1": Answer(302, location="http://other.example/p1")},
    "no Location": {f"{SITE}/p1": Answer(302)},
    "404": {f"{SITE}/p1": Answer(404)},
    "empty": {f"{SITE}/p1": Answer(body="empty")},
    "204": {f"{SITE}/p1": Answer(204, body="empty")},
    "ignored": {},
}


@pytest.mark.parametrize("is_start", [False, True], ids=["link", "start"])
@pytest.mark.parametrize("reason", REFUSED)
@deferred_f_from_coro_f
async def test_canonical_url_that_does_not_reach_the_callback(order, reason, is_start):
    """The linked URL is fetched whenever the canonical one does not reach the callback."""
    ignored = Interference("response", f"{SITE}/p1", "ignore", priority=500)
    case = Case(
        pages={"p0": Page(links=links("/p1?sid=1")), "p1": Page(links=links("/p2"))},
        start=starts("/p1?sid=1") if is_start else starts("/p0"),
        answers=REFUSED[reason],
        interferences=(ignored,) if reason == "ignored" else (),
        allowed_domains=("site.example",),
        plugin=REWRITE,
        settings=order,
    )
    await check(case, ("parse", "p1"), ("parse", "p2"))


@deferred_f_from_coro_f
async def test_linked_url_that_a_callback_downloads(order):
    """Where the canonical URL fails that settles nothing for what asked for the linked one."""
    case = Case(
        pages={
            "p0": Page(links=(*links("/p2", priority=1), *links("/p1?sid=1"))),
            "p2": Page(inline=(f"{SITE}/p1?sid=1",)),
        },
        start=starts("/p0"),
        answers={f"{SITE}/p1": Answer(404)},
        delays={f"{SITE}/p1": 0.05, f"{SITE}/p2": 0.01},
        plugin=REWRITE,
        settings={**order, "CONCURRENT_REQUESTS": 8},
    )
    await check(case, ("parse", "p1"), ("inline", "p1"))


@deferred_f_from_coro_f
async def test_linked_url_that_is_asked_for_again(order):
    """A callback that retries what came in the place of a failed canonical URL gets that again."""
    case = Case(
        pages={"p0": Page(links=links("/p1?sid=1"))},
        start=starts("/p0"),
        answers={f"{SITE}/p1": Answer(404), f"{SITE}/p1?sid=1": Answer(body="captcha", times=2)},
        habits=("retries",),
        plugin=REWRITE,
        settings={**order, "RETRY_TIMES": 5},
    )
    await check(case, ("parse", "p1"))


# The HTTP cache.

FAILURES = {
    "404": Answer(404),
    "503": Answer(503),
    "log-in": Answer(301, location=f"{SITE}/p9"),
    "empty": Answer(body="empty"),
    "cut short": Answer(body="page", is_cut=True),
}


@pytest.mark.parametrize("rewrite", [False, True], ids=["", "rewrite"])
@pytest.mark.parametrize("is_start", [False, True], ids=["dont_filter", "start"])
@pytest.mark.parametrize("failure", FAILURES)
@deferred_f_from_coro_f
async def test_failure_is_cached_for_its_own_url(order, failure, is_start, rewrite):
    """One variant is not answered with the failure of another one, cold or warm.

    With its success it may be, so that the form to log in is linked by itself too.
    """
    both = (*links("/p1?sid=1", "/p1?sid=2", dont_filter=True), *links("/p9"))
    case = Case(
        pages={"p0": Page(links=both), "p1": Page(links=links("/p2"))},
        start=both if is_start else links("/p0"),
        answers={f"{SITE}/p1?sid=1": FAILURES[failure], f"{SITE}/p1": Answer(404)},
        plugin=REWRITE if rewrite else SID,
        settings={**order, "HTTPCACHE_ENABLED": True},
        crawls=2,
    )
    await check(case, ("parse", "p1"), ("parse", "p2"))


@deferred_f_from_coro_f
async def test_page_that_was_cut_short_is_so_in_the_cache(order):
    """Warm, the cache has one half of it too, and another URL is asked for."""
    case = _first_fails(FAILURES["cut short"])
    pages = {**case.pages, "p1": Page(links=links("/p3"))}
    settings = {**order, "HTTPCACHE_ENABLED": True}
    await check(replace(case, pages=pages, settings=settings, crawls=2), ("parse", "p3"))


@deferred_f_from_coro_f
async def test_page_that_was_cut_short_before_a_kill():
    """The next run of the job does not take it for had."""
    case = _first_fails(FAILURES["cut short"], later=True)
    home = Page(links=links("/p1?sid=1", "/p4", "/p5", "/p2"))
    pages = {**case.pages, "p0": home, "p1": Page(links=links("/p3"))}
    settings = {**ORDERS["fifo"], "JOBDIR": True}
    case = replace(case, pages=pages, settings=settings, end="kill", end_after=5)
    await check(case, ("parse", "p3"))


# What a spider copies.


@deferred_f_from_coro_f
async def test_meta_of_a_page_that_was_redirected(order):
    """What a spider passes on of a response says nothing of where its own requests come from."""
    case = Case(
        pages={
            "p0": Page(links=links("/p1?sid=2")),
            "p1": Page(links=(*links("/p0", callback="parse_b", meta="all"), *links("/p2"))),
            "p2": Page(links=links("/p1?sid=1", callback="parse_b")),
        },
        start=starts("/p0", callback="parse_b"),
        answers={f"{SITE}/p1?sid=2": Answer(301, location=f"{SITE}/p1")},
        plugin=SID,
        settings=order,
    )
    await check(case, ("parse_b", "p1"))


@deferred_f_from_coro_f
async def test_meta_of_what_an_audit_fetched():
    """Another request for its URL, which nothing filters, gets nothing of what the link had."""
    port, user = "http://site.example:80/p1", "http://me@site.example/p2"
    case = Case(
        pages={"p0": Page(links=links(port, user, kind="own")), "p1": Page(), "p2": Page()},
        start=starts("/p0", port),
        answers={port: Answer(303, location=f"{SITE}/p1"), user: Answer(300)},
        handled=(303,),
        habits=("follows", "idles"),
        plugin={
            "URLCANON_RULES": {"*": {"userinfo": "drop"}},
            "URLCANON_REWRITE": True,
            "URLCANON_AUDIT": 1.0,
        },
    )
    await check(case)


# Redirects to other pages.


@pytest.mark.parametrize("linked", ["on a page", "by a redirect"])
@deferred_f_from_coro_f
async def test_page_of_which_one_url_redirects_to_another_page(order, linked):
    """That URL does not stand for the page, wherever another one of it is linked."""
    redirects = {"/p1?sid=1": "/p3", "/p4": "/p1"}
    case = Case(
        pages={
            "p0": Page(links=links("/p3", "/p1?sid=1", "/p2")),
            "p2": Page(links=links("/p1" if linked == "on a page" else "/p4")),
        },
        start=starts("/p0"),
        answers={f"{SITE}{url}": Answer(302, location=SITE + to) for url, to in redirects.items()},
        plugin=SID,
        settings=order,
    )
    await check(case, ("parse", "p1"))


@deferred_f_from_coro_f
async def test_canonical_url_that_redirects_to_another_page(order):
    """Linked beside the URL that was rewritten to it, it is no second opinion on that page."""
    case = Case(
        pages={"p0": Page(links=links("/p2", "/p1?sid=1", "/p1"))},
        start=starts("/p0"),
        answers={f"{SITE}/p1": Answer(302, location=f"{SITE}/p2")},
        plugin=REWRITE,
        settings=order,
    )
    await check(case, ("parse", "p1"))


@deferred_f_from_coro_f
async def test_answer_without_content_is_no_page_to_compare_with(order):
    """A callback downloads a variant that answers 304: audits of the others find no difference."""
    case = Case(
        pages={
            "p0": Page(links=links("/p0?sid=1", "/p0?sid=2", "/p0"), inline=(f"{SITE}/p0?sid=3",))
        },
        start=starts("/p0?sid=4"),
        answers={f"{SITE}/p0?sid=3": NOT_HAD["304"]},
        plugin={**SID, "URLCANON_AUDIT": 1.0},
        settings=order,
    )
    await check(case, ("parse", "p0"))
