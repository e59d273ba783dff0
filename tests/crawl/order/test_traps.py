"""On sites with traps the content comes before pages without news."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from urllib.parse import urljoin, urlsplit

import pytest
from loopback import Response, page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, ItemSpider
from trap_sites import SITES, Several, words

from scrapy_urlcanon.crawl.order import index
from scrapy_urlcanon.crawl.order.stores import DiskStore
from scrapy_urlcanon.exceptions import ConfigurationError

NOVELTY = {"URLCANON_ORDER": "novelty", **ONE_BY_ONE}
BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


SMALL = {
    "years": range(2000, 2004),
    "filters": {"colour": tuple("rgbw"), "size": tuple("sml"), "brand": tuple("xyz")},
    "empty": 50,
}


def small(name, articles=60):
    """Return the site of this *name* with so many articles."""
    kind = SITES[name]
    return type(kind.__name__, (kind,), {**SMALL, "articles": articles})()


def respond_with(site):
    """Return the server of *site*."""

    def respond(request):
        text = site(request.url)
        return page("missing", status=404) if text is None else page(text)

    return respond


def urls_of(site):
    """Return each URL of *site* that links lead to, sorted."""
    found, left = set(), [f"{site.host}/"]
    while left:
        url = left.pop()
        if url not in found:
            found.add(url)
            left += [urljoin(url, link) for link in re.findall('href="([^"]+)"', site(url) or "")]
    return sorted(url.removeprefix(site.host) for url in found)


async def found(crawl, site, settings, fetches):
    """Return how many pages of content a crawl of *site* reaches in so many *fetches*."""
    result = await crawl(
        respond_with(site), {**settings, "CLOSESPIDER_PAGECOUNT": fetches}, start=[f"{site.host}/"]
    )
    return len(site.content & {f"{site.host}{hit}" for hit in result.hits[:fetches]})


@pytest.mark.parametrize(
    ("name", "fetches"),
    [("finder", 110), ("shop", 110), ("variants", 110), ("calendar", 120)],
)
@deferred_f_from_coro_f
async def test_content_comes_before_the_trap(crawl, name, fetches):
    """Most of the content is reached early, and more of it than breadth first."""
    site = small(name)
    reached = await found(crawl, site, NOVELTY, fetches)
    assert reached >= 0.75 * len(site.content)
    assert reached > await found(crawl, site, BREADTH_FIRST, fetches)


@pytest.mark.parametrize(("count", "is_trap"), [(1000, False), (1, True)])
@deferred_f_from_coro_f
async def test_files_that_differ_are_no_trap(crawl, caplog, count, is_trap):
    """Files with different bytes are no trap; one file under many URLs is."""

    def respond(request):
        kind, _, number = request.path[1:].partition("/")
        if not kind:
            return page("".join(f'<a href="/read/{n}">x</a>' for n in range(40)))
        if kind == "read":
            links = (f'<a href="/files/{number}{n}">x</a>' for n in range(4))
            return page(f"{words(number, 100)}{''.join(links)}")
        body = Random(int(number) % count).randbytes(500)
        return Response(200, (("Content-Type", "application/zip"),), body)

    result = await crawl(respond, NOVELTY)
    assert len(result.hits) == 201
    assert ("brought next to nothing new" in caplog.text) == is_trap


@deferred_f_from_coro_f
async def test_shape_of_urls_that_says_nothing_is_tried_ever_less(crawl):
    """A shape of URLs without news is tried at growing intervals, though all else brings news."""

    def respond(request):
        if request.target == "/":
            return page("".join(f"<p><a href=/article/{n}>x</a>" for n in range(400)))
        number = int(request.path.rpartition("/")[2])
        views = "".join(f"<a href=/find/{2 * number + n}?by=name>x</a>" for n in (0, 1))
        if request.path.startswith("/find/"):
            return page("Nothing was found")
        return page(words(request.target, 40) + views)

    result = await crawl(respond, {**NOVELTY, "CLOSESPIDER_PAGECOUNT": 300})
    tries = [at for at, hit in enumerate(result.hits) if hit.startswith("/find/")]
    # The first ones are made while nothing is known of the site.
    assert 0 < len([at for at in tries if at >= 16]) <= 10
    gaps = [after - before for before, after in pairwise(tries)]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("name", ["late", "shop"])
@deferred_f_from_coro_f
async def test_crawl_to_the_end_fetches_what_it_fetches_without_the_order(crawl, name):
    """The order drops nothing: a whole crawl fetches what one without it does."""
    site = small(name)
    without = await crawl(respond_with(site), {}, start=[f"{site.host}/"])
    ordered = await crawl(respond_with(site), NOVELTY, start=[f"{site.host}/"])
    assert sorted(ordered.hits) == sorted(without.hits)


@deferred_f_from_coro_f
async def test_priorities_of_the_spider_keep_their_order(crawl):
    """A higher priority of the spider comes first, however little is expected of it."""

    class Prioritizing(FollowSpider):
        def parse(self, response):
            yield {"url": response.url}
            if response.url == f"{SITE}/":
                for number in range(40):
                    yield response.follow(f"/low/{number}", priority=-1)
                    yield response.follow(f"/high/{number}", priority=1)

    result = await crawl(
        lambda request: page(request.url if "/low/" in request.url else "nothing"),
        {**NOVELTY, "CONCURRENT_REQUESTS": 1},
        spider=Prioritizing,
    )
    kinds = [hit.split("/")[1] for hit in result.hits[1:]]
    assert kinds == ["high"] * 40 + ["low"] * 40


@pytest.mark.parametrize("before", [{}, NOVELTY])
@deferred_f_from_coro_f
async def test_job_goes_on_where_it_was_stopped(crawl, before):
    """A resumed job fetches each page once, whether it began with the order or without it."""
    site = small("shop", articles=20)
    job = {"JOBDIR": "job"}
    first = await crawl(
        respond_with(site),
        {**before, **job, "CLOSESPIDER_PAGECOUNT": 20},
        start=[f"{site.host}/"],
    )
    second = await crawl(respond_with(site), {**NOVELTY, **job}, start=[])
    assert sorted([*first.hits, *second.hits]) == urls_of(site)


@deferred_f_from_coro_f
async def test_job_in_this_order_does_not_go_on_without_it(crawl):
    """Resuming an ordered job without URLCANON_ORDER is one error.

    Scrapy's queue cannot read what the ordered one stored.
    """
    site = small("shop", articles=20)
    job = {"JOBDIR": "job"}
    start = [f"{site.host}/"]
    first = {**NOVELTY, **job, "CLOSESPIDER_PAGECOUNT": 20}
    await crawl(respond_with(site), first, start=start)
    with pytest.raises(ConfigurationError, match="URLCANON_ORDER: expected 'novelty'"):
        await crawl(respond_with(site), job, start=start)


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "of another version": lambda path: path.write_text('["scrapy_urlcanon.order", 1]'),
}


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("urlcanon.index", "cut"),
        ("active.json", "cut"),
        ("active.json", "of another version"),
        pytest.param("urlcanon.index", "empty", marks=pytest.mark.long),
        ("urlcanon.index", "gone"),
    ],
)
@deferred_f_from_coro_f
async def test_job_whose_queue_is_damaged_is_taken_from_the_journal(crawl, caplog, name, damage):
    """A damaged queue is rebuilt from the journal: nothing is lost, and nothing fetched twice."""
    site = small("shop", articles=20)
    job = {**NOVELTY, "JOBDIR": "job"}
    start = [f"{site.host}/"]
    first = await crawl(respond_with(site), {**job, "CLOSESPIDER_PAGECOUNT": 20}, start=start)
    DAMAGES[damage](Path("job", "requests.queue", name))
    second = await crawl(respond_with(site), job, start=[])
    assert sorted([*first.hits, *second.hits]) == urls_of(site)
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("rebuilt from the journal" in each and name in each for each in said)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_of_requests_is_noticed(tmp_path, damage):
    """A damaged file of requests is noticed when the job begins.

    Else each request would be lost when its turn comes.
    """
    store = DiskStore(tmp_path, None)
    store.put(Request(f"{SITE}/"))
    store.close()
    queue = tmp_path / "active.json"
    queue.write_text(json.dumps(index.write(tmp_path, {})), encoding="utf-8")
    assert index.problem_of(queue) is None
    DAMAGES[damage](tmp_path / "urlcanon.0")
    assert "urlcanon.0" in index.problem_of(queue)


@deferred_f_from_coro_f
async def test_several_traps_on_one_host_hide_no_content(crawl):
    """Four traps on one host do not hide the content of any of them."""
    site = Several()
    fetches = 3 * len(site.content) // 2
    reached = await found(crawl, site, NOVELTY, fetches)
    assert reached >= 0.75 * len(site.content)
    assert reached > await found(crawl, site, BREADTH_FIRST, fetches)


@deferred_f_from_coro_f
async def test_no_host_starves_beside_others(crawl):
    """Of 20 hosts with traps all are fetched from."""
    kinds = ("finder", "shop", "variants", "calendar")
    sites = [type(SITES[k].__name__, (SITES[k],), {**SMALL, "articles": 12}) for k in kinds]
    hosts = {f"host{n}.example": sites[n % 4](f"http://host{n}.example") for n in range(20)}
    result = await crawl(
        lambda request: page(hosts[request.host](request.url) or "missing"),
        {**NOVELTY, "CONCURRENT_REQUESTS": 16, "CLOSESPIDER_PAGECOUNT": 240},
        start=[f"{site.host}/" for site in hosts.values()],
    )
    counts = Counter(urlsplit(hit).hostname for hit in result.hits)
    assert counts.keys() == hosts.keys()
    assert min(counts.values()) >= 6


@pytest.mark.parametrize("leads", [True, False])
@deferred_f_from_coro_f
async def test_lists_on_which_the_items_are_found_are_no_trap(crawl, caplog, leads):
    """Lists that lead to items are no trap, though they have none; lists that do not are one."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        number = int(number or 0)
        if kind == "item":
            return page(f"<h1>{words(request.target, 5)}</h1>")
        lists = [f"/list/{n}" for n in (2 * number + 1, 2 * number + 2) if n < 200]
        items = range(2 * number, 2 * number + 2) if leads else range(60 if kind == "" else 0)
        hrefs = [*lists, *(f"/item/{n}" for n in items)]
        return page("".join(f"<a href={href}>x</a>" for href in hrefs))

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_ORDER_BY": "items"}
    result = await crawl(respond, settings, spider=ItemSpider)
    assert ("brought next to nothing new" in caplog.text) is not leads
    assert ("novelty/trap/site.example/list/{1:digits}" in result.figures) is not leads


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        ("", {}),
        ("no-referrer", {}),
        ("origin", {}),
        ("", {"REFERER_ENABLED": False}),
        ("", {"REFERRER_POLICY": "no-referrer"}),
    ],
)
@deferred_f_from_coro_f
async def test_lists_of_the_lists_on_which_the_items_are_found_are_no_trap(
    crawl, caplog, policy, settings
):
    """Pages that lead to items in two steps are no trap either.

    Even if no request has a Referer, by a policy of the site or of the project.
    """

    def html_of(kind, number):
        if kind == "item":
            return f"<h1>{words(number, 5)}</h1>"
        below = {"": "year", "year": "month", "month": "go"}[kind]
        numbers = range(25) if kind == "" else (2 * int(number), 2 * int(number) + 1)
        return "".join(f"<a href=/{below}/{each}>x</a>" for each in numbers)

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        if kind == "go":
            return redirect(f"/item/{number}")
        headers = (("Content-Type", "text/html"), ("Referrer-Policy", policy))
        return Response(200, headers[: 1 + bool(policy)], html_of(kind, number).encode())

    by_items = {"URLCANON_ORDER": "novelty", "URLCANON_ORDER_BY": "items"}
    result = await crawl(respond, {**by_items, **settings}, spider=ItemSpider)
    assert len(result.hits) == 1 + 25 + 50 + 100 + 100
    assert "brought next to nothing new" not in caplog.text
    assert not [key for key in result.figures if key.startswith("novelty/trap/")]


@pytest.mark.parametrize(("status", "has_line"), [(404, True), (403, False), (500, False)])
@deferred_f_from_coro_f
async def test_no_line_ends_what_a_server_did_not_show(crawl, caplog, status, has_line):
    """Pages that fail (500, 403) are reported without a rule: they may be there another day."""

    def respond(request):
        if request.path != "/":
            return page("", status=status)
        return page("".join(f"<a href=/song/{number}>x</a>" for number in range(110)))

    await crawl(respond, {"URLCANON_ORDER": "novelty", "RETRY_ENABLED": False})
    (said,) = [each.getMessage() for each in caplog.records if "like site" in each.getMessage()]
    assert ("/song/{p1:digits}" in said) is has_line
