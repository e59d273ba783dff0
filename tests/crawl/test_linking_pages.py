"""The report names the page that linked a dropped request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE

RULES = {"URLCANON_RULES": {"*": {"scheme": "https", "drop_params": ["v"]}}}


def respond(request):
    """Answer as a secure page that links insecure ones, and a redirect to a variant."""
    if request.path == "/start":
        return redirect("/list?token=hunter2")
    if request.path == "/list":
        return page(f'<a href="/a">a</a> <a href="{SITE}/a?v=1">a</a> <a href="/old">old</a>')
    if request.path == "/old":
        return redirect("/a?v=2")
    return page("a")


def ways():
    """Return which page linked, or which URL redirected to, each dropped variant."""
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    return {
        variant["url"]: (variant["linked_from"], variant["redirected_from"])
        for group in report["groups"]
        for variant in group["variants"]
    }


async def crawl_and_report(crawl, settings=()):
    """Crawl the site with a report."""
    await crawl(
        respond,
        {"URLCANON_REPORT": "report.json", **RULES, **dict(settings)},
        start=(f"{SITE.replace('http:', 'https:')}/start",),
    )


@pytest.mark.parametrize("settings", [{}, {"REFERER_ENABLED": False}], ids=["referer", "none"])
@deferred_f_from_coro_f
async def test_page_that_linked_a_variant_is_that_of_the_callback(crawl, settings):
    """The linking page is that of the callback, whatever the Referer says, without its secrets."""
    await crawl_and_report(crawl, settings)
    assert ways()[f"{SITE}/a?v=1"] == ("https://site.example/list?token=***", "")


@deferred_f_from_coro_f
async def test_redirect_to_a_variant_was_linked_by_no_page(crawl):
    """A redirect is reported with the URL that redirected, and no linking page."""
    await crawl_and_report(crawl)
    assert ways()["https://site.example/a?v=2"] == ("", "https://site.example/old")
