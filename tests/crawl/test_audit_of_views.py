"""A wrong rule where each page is found under several URLs."""

import re

import pytest
from audited_shop import SETTINGS, product, shop
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f

TOPICS = range(1, 13)
VIEWS = {
    "one": ["page=1"],
    "sessions": ["sid=1", "sid=2", "sid=3"],
    "many": ["page=1", "print=1", "sid=1", "sid=2", "page=1&print=1", "page=1&sid=1"],
}
URLS = {
    "drop_params": ("/topic?t={}&", ["t"]),
    "rewrite_path": ("/topic/{}?", [["/topic/{n}", "/topic/"]]),
}
"""The URLs of topics, up to their views, and what makes all of them one."""


@pytest.mark.parametrize("queue", ["Fifo", "Lifo"])
@pytest.mark.parametrize("option", URLS)
@pytest.mark.parametrize("views", VIEWS)
@deferred_f_from_coro_f
async def test_no_topic_is_lost_where_each_has_several_views(crawl, views, option, queue):
    """That its own views show what a topic shows excuses no rule that makes all topics one."""
    url, wrong = URLS[option]
    index = page("".join(f"<a href='{url.format(n)[:-1]}'>.</a>" for n in TOPICS))

    def respond(request):
        if request.target == "/":
            return index
        number = re.search(r"\d+", request.target)[0]
        links = "".join(f"<a href='{url.format(number)}{view}'>.</a>" for view in VIEWS[views])
        return page(product(number).body.decode() + links)

    settings = {
        **SETTINGS,
        "SCHEDULER_MEMORY_QUEUE": f"scrapy.squeues.{queue}MemoryQueue",
        "URLCANON_RULES": {"site.example": {option: wrong}},
    }
    result = await crawl(respond, settings)
    shown = {n for n in TOPICS for item in result.items if f"<title>Product {n}<" in item["text"]}
    assert shown == {*TOPICS}


@deferred_f_from_coro_f
async def test_next_run_of_a_job_audits_what_the_last_one_dropped(crawl, tmp_path):
    """It has nothing else to fetch, and knows no more what the page showed that it kept."""
    urls = [f"/topic?t={n}" for n in TOPICS]
    respond = shop(urls, lambda request, _: product(request.query))
    settings = {
        **SETTINGS,
        "JOBDIR": str(tmp_path / "job"),
        "URLCANON_RULES": {"site.example": {"drop_params": ["t"]}},
    }
    first = await crawl(respond, {**settings, "CLOSESPIDER_PAGECOUNT": 2})
    second = await crawl(respond, settings)
    assert len(first.pages) < len(urls)
    assert {*first.pages, *second.pages} == {"/", *urls}
