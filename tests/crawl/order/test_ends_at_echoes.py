"""A search that echoes its query has an end, however many queries it links."""

import json
from random import Random
from urllib.parse import parse_qs

import pytest
from loopback import Response, page
from scrapy.utils.defer import deferred_f_from_coro_f
from trap_sites import words

from scrapy_urlcanon.crawl.stats import NO_NEWS

ASKED = words("asked", 12).replace(" ", "+")
NEXT = words("next", 300).split()


@deferred_f_from_coro_f
async def test_searches_for_ever_more_words_end(crawl):
    """Searches that find nothing, and each link twelve longer queries, end."""

    def respond(request):
        path, _, query = request.target.partition("?")
        if path == "/":
            articles = "".join(f"<a href=/article/{number}>more</a>" for number in range(40))
            return page(f"{articles}<a href='/find?q={ASKED}'>find</a>")
        if path != "/find":
            return page(f"<p>{words(path, 60)}")
        (asked,) = parse_qs(query)["q"]
        begin = hash_of(asked)
        proposed = [f"{asked} {NEXT[(begin + 7 * number) % 300]}" for number in range(12)]
        links = "".join(
            f"<li><a href='/find?q={each.replace(' ', '+')}'>{each}</a>" for each in proposed
        )
        return page(f"<h1>Nothing has {asked}</h1><ul>{links}</ul>")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05, "CLOSESPIDER_PAGECOUNT": 600}
    result = await crawl(respond, settings)
    assert {f"/article/{number}" for number in range(40)} <= {*result.hits}
    assert result.stats["finish_reason"] == NO_NEWS


@pytest.mark.parametrize(
    "address", ["/find?q={0}+{1}+{2}", "/find/{0}+{1}+{2}/", "/tag/{0}-{1}/{2}"]
)
@pytest.mark.parametrize("between", ["<li>", ", "])
@deferred_f_from_coro_f
async def test_searches_that_propose_others_end(crawl, between, address):
    """Searches that each propose others, of any three words, end: in a list or in one line."""

    def respond(request):
        path, _, query = request.target.partition("?")
        if path == "/article":
            return page(f"<p>{words(query, 60)}")
        found = "".join(f"<a href=/article?{number}>more</a>" for number in range(40))
        random = Random(request.target)
        proposed = [random.sample(NEXT, 3) for _ in range(12)]
        links = between.join(
            f"<a href='{address.format(*each)}'>{' '.join(each)} ({len(each[0])})</a>"
            for each in proposed
        )
        return page(f"<h1>Found</h1><p>{found}<p>You may also try: {links}")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05, "CLOSESPIDER_PAGECOUNT": 600}
    result = await crawl(respond, settings)
    assert {f"/article?{number}" for number in range(40)} <= {*result.hits}
    assert result.stats["finish_reason"] == NO_NEWS


@deferred_f_from_coro_f
async def test_titles_in_a_list_keep_a_crawl_going(crawl):
    """Articles behind 100 pages of a list, whose entries are titles of empty pages, are found."""

    def respond(request):
        path, _, query = request.target.partition("?")
        if path == "/article":
            return page(f"<p>{words(query, 60)}")
        if path == "/":
            return page("<a href=/list?0>all</a>")
        if path != "/list":
            return page("<p>This topic was moved.")
        number = int(query)
        if number == 100:
            return page("".join(f"<a href=/article?{each}>more</a>" for each in range(40)))
        titles = [words(f"{number} {each}", 5) for each in range(3)]
        topics = "".join(f"<li><a href=/topic/{t.replace(' ', '-')}>{t}</a>" for t in titles)
        return page(f"<ul>{topics}</ul><a href=/list?{number + 1}>next</a>")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05}
    result = await crawl(respond, settings)
    assert {f"/article?{number}" for number in range(40)} <= {*result.hits}


@deferred_f_from_coro_f
async def test_views_of_data_that_differ_in_their_links_end(crawl):
    """Views of the same JSON rows that differ in their links alone end."""

    def respond(request):
        path, _, view = request.target.partition("?")
        if path == "/":
            return page("".join(f"<a href='/rows?sort=by-{n}'>view</a>" for n in range(300)))
        names = [words(f"{view} {number}", 9).replace(" ", "+") for number in range(12)]
        rows = [
            {"row": words(str(number), 9), "to": f"http://{request.host}/rows?after={name}"}
            for number, name in enumerate(names)
        ]
        content_type = ("Content-Type", "application/json")
        return Response(headers=(content_type,), body=json.dumps(rows).encode())

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05}
    result = await crawl(respond, settings)
    assert result.stats["finish_reason"] == NO_NEWS


def hash_of(text):
    """Return a number that differs for most texts."""
    return sum(map(ord, text))
