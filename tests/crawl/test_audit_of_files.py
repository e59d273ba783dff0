"""Files, and pages larger than what is read of them, are compared by their bytes."""

from collections import Counter

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, FirstPage, audits, shop
from loopback import Response, page
from scrapy.utils.defer import deferred_f_from_coro_f

KINDS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "application/pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nstream\n\x01",
    "application/zip": b"PK\x03\x04",
    "application/octet-stream": b"\x00\x01",
}
LARGE = b"<p>as many words as a line has" * 40_000
"""More than is read of a page."""


def file(content, kind="image/png"):
    """Return a file of *kind*, which is no text, with this *content*."""
    return Response(headers=(("Content-Type", kind),), body=KINDS[kind] + bytes(300) + content)


def numbered(request, kind="image/png"):
    """Return a file that the query of the request selects."""
    return file(request.query.encode(), kind)


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_wrong_rule_over_files_loses_none(crawl, kind):
    """URLs that each send the same bytes twice, and differ from each other, are different files."""
    urls = [f"/p?id={n}" for n in range(40)]
    answer = shop(urls, lambda request, _: numbered(request, kind))
    result = await crawl(answer, {**WRONG, **SETTINGS}, spider=FirstPage)
    assert result.pages == sorted(["/", *urls])
    assert audits(result.figures)["audit/suspended/drop_params/id"] == 1
    # Each file once, and for each of the first ones that are compared three fetches more.
    assert len(result.hits) <= len(urls) + 1 + 3 * 3


@deferred_f_from_coro_f
async def test_wrong_rule_over_large_pages_loses_none(crawl):
    """Large pages that differ only past the part that is read are found to differ."""
    urls = [f"/p?id={n}" for n in range(8)]

    def answer(request, _):
        return page(f"{LARGE.decode()}<p>The page of {'abcdefgh'[int(request.query[3:])]}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS}, spider=FirstPage)
    assert result.pages == sorted(["/", *urls])
    assert audits(result.figures)["audit/suspended/drop_params/id"] == 1


@deferred_f_from_coro_f
async def test_large_pages_whose_links_have_the_session_are_not_two(crawl):
    """Large pages that differ only in the session in their links are not different pages.

    Each fetch of one URL repeats its session, so that bytes alone would tell them apart.
    """
    urls = [f"/p?sid={n}" for n in range(8)]

    def answer(request, _):
        link = f"<a href='/other?{request.query}'>on</a><p>You are at {request.url}"
        return page(f"{LARGE.decode()}{link}")

    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS}, spider=FirstPage)
    assert "audited" not in result.figures
    assert not any("suspended" in figure for figure in audits(result.figures))


@deferred_f_from_coro_f
async def test_files_that_are_made_anew_at_each_visit_get_no_verdict(crawl):
    """Files that differ at each fetch give no verdict; those audited reach the spider.

    As documents with the time of the request in them.
    """
    urls = [f"/p?sid={n}" for n in range(30)]
    respond = shop(urls, lambda _, count: file(b"made at %d" % count, "application/pdf"))
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=FirstPage)
    figures = audits(result.figures)
    assert {*figures} == {"audit/unjudged"}
    assert len(result.pages) == 2 + figures["audit/unjudged"]


@deferred_f_from_coro_f
async def test_image_that_is_made_anew_for_one_url_only(crawl):
    """If only the variant's file differs at each fetch, there is no verdict: it is let through."""
    urls = ["/p", *(f"/p?sid={n}" for n in range(10))]
    respond = shop(urls, lambda request, n: file(b"%d" % n if request.query else b"original"))
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=FirstPage)
    assert {*audits(result.figures)} == {"audit/unjudged"}
    assert {"/", "/p", "/p?sid=0"} <= {*result.pages}


@pytest.mark.parametrize("text", ["kept", "variant"])
@deferred_f_from_coro_f
async def test_file_beside_a_text(crawl, text):
    """A rule that merges a page with a file is suspended."""
    urls = ["/p", *(f"/p?id={n}" for n in range(20))]

    def answer(request, _):
        if bool(request.query) is (text == "variant"):
            return page(f"<title>Page {request.query}</title><p>The text of it {request.query}")
        return numbered(request, "application/pdf")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS}, spider=FirstPage)
    assert result.pages == sorted(["/", *urls])


REFUSALS = {
    "429": lambda: page("", status=429),
    "403": lambda: page("", status=403),
    "captcha": lambda: page("<title>Who are you?</title><p>Are you a robot?"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
@deferred_f_from_coro_f
async def test_file_that_is_sent_once_is_not_lost(crawl, refusal):
    """A file that the server refuses to send again reaches the spider as the audit fetched it."""
    asked = Counter()

    def answer(request, _):
        asked[request.target] += 1
        return numbered(request) if asked[request.target] == 1 else REFUSALS[refusal]()

    urls = [f"/p?id={n}" for n in range(8)]
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "RETRY_ENABLED": False}
    result = await crawl(shop(urls, answer), settings, spider=FirstPage)
    assert result.pages == sorted(["/", *urls])
    assert not any("suspended" in figure for figure in audits(result.figures))


@deferred_f_from_coro_f
async def test_image_in_place_of_those_that_there_are_not(crawl):
    """One placeholder image under the variants of many files is no evidence against the rule."""
    urls = ["/p", *(f"/p{n}?sid={m}" for n in range(6) for m in range(2))]

    def answer(request, _):
        return file(b"none such" if request.query == "sid=1" else request.path.encode())

    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS}, spider=FirstPage)
    assert result.figures["audited"]
    assert not any("suspended" in figure for figure in audits(result.figures))
