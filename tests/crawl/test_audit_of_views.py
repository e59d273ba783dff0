"""Audits of wrong rules on sites where each page has several URLs."""

import pytest
from audited_shop import SETTINGS, product, shop
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links

VIEWS = {
    "one": ["page=1"],
    "many": ["page=1", "print=1", "sid=1", "sid=2", "page=1&print=1", "page=1&sid=1"],
}
URLS = {
    "drop_params": [f"/topic?t={n}" for n in range(1, 13)],
    "rewrite_path": [f"/topic/{n}" for n in range(1, 13)],
    "trailing_slash": [f"/topic/{n}{end}" for n in range(1, 7) for end in ("", "/")],
}
WRONG = {
    "drop_params": ["t"],
    "rewrite_path": [["/topic/{n}", "/topic/"]],
    "trailing_slash": "strip",
}
"""What makes some of these pages one with others."""


@pytest.mark.parametrize("queue", ["Fifo", "Lifo"])
@pytest.mark.parametrize("option", URLS)
@pytest.mark.parametrize("views", VIEWS)
@deferred_f_from_coro_f
async def test_no_page_is_lost_where_each_has_several_views(crawl, views, option, queue):
    """A wrong rule is found even if each page has views of its own that show the same."""
    urls = URLS[option]

    def respond(request):
        if request.target == "/":
            return links(*urls)
        for number, url in enumerate(urls):
            joint = "&" if "?" in url else "?"
            if request.target == url or request.target.startswith(url + joint):
                own = "".join(f"<a href='{url}{joint}{view}'>.</a>" for view in VIEWS[views])
                return page(product(number).body.decode() + own)
        return page("", status=404)

    settings = {
        **SETTINGS,
        "SCHEDULER_MEMORY_QUEUE": f"scrapy.squeues.{queue}MemoryQueue",
        "URLCANON_RULES": {"site.example": {option: WRONG[option]}},
    }
    result = await crawl(respond, settings)
    titles = {item["text"].partition("</title>")[0] for item in result.items}
    assert len(titles) == 1 + len(urls)


@pytest.mark.parametrize(
    ("made", "least"),
    [(product, 13), (lambda query: page(f"<title>App</title><script>show('{query}')</script>"), 5)],
    ids=["text", "scripts"],
)
@deferred_f_from_coro_f
async def test_next_run_of_a_job_audits_what_the_last_one_dropped(crawl, tmp_path, made, least):
    """The next run of a job audits what the last one dropped, though it has nothing else to fetch.

    It fetches the kept page anew to compare. Pages that a script makes cannot be judged: those
    audited reach the spider.
    """
    urls = URLS["drop_params"]
    respond = shop(urls, lambda request, _: made(request.query))
    settings = {
        **SETTINGS,
        "JOBDIR": str(tmp_path / "job"),
        "URLCANON_RULES": {"site.example": {"drop_params": WRONG["drop_params"]}},
    }
    first = await crawl(respond, {**settings, "CLOSESPIDER_PAGECOUNT": 2})
    second = await crawl(respond, settings)
    assert len(first.pages) <= 3
    assert len({*first.pages, *second.pages}) >= least


@deferred_f_from_coro_f
async def test_each_run_of_a_job_fetches_what_it_audits(crawl, tmp_path):
    """Each run of a job fetches its audits anew, whatever an earlier one fetched for its own."""
    urls = URLS["drop_params"]
    respond = shop(urls, lambda request, _: product(request.query))
    settings = {
        **SETTINGS,
        "JOBDIR": str(tmp_path / "job"),
        "URLCANON_RULES": {"site.example": {"drop_params": WRONG["drop_params"]}},
    }
    got = set()
    for stop in (1, 1, 1, 0):
        got |= {*(await crawl(respond, {**settings, "CLOSESPIDER_PAGECOUNT": stop})).pages}
    assert len(got) == 1 + len(urls)
