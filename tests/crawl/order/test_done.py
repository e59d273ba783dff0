"""URLCANON_STOP ends a crawl without further news, and loses nothing of what it leaves."""

import json
import logging
from collections import Counter
from functools import partial
from itertools import count

import pytest
from loopback import page
from scrapy import Request
from scrapy.core.engine import ExecutionEngine
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, ItemSpider, urls_in
from trap_sites import SITES, words

from scrapy_urlcanon.crawl.order.left import LeftRequests
from scrapy_urlcanon.crawl.stats import NO_NEWS

NOVELTY = {"URLCANON_ORDER": "novelty", "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
STOPPING = {**NOVELTY, "URLCANON_STOP": 0.05}
SID = {"site.example": {"drop_params": ["sid"]}}


def calendar():
    """Return a site of 30 articles with an endless calendar, and its server."""
    site = type("Small", (SITES["calendar"],), {"articles": 30})()
    return site, lambda request: page(site(request.url) or "", status=200)


@deferred_f_from_coro_f
async def test_endless_site_ends_with_all_of_its_content(crawl, tmp_path, caplog):
    """A crawl of an endless site ends with all articles; a later one takes up what was left."""
    caplog.set_level(logging.INFO)
    site, respond = calendar()
    result = await crawl(respond, STOPPING, start=[f"{site.host}/"])
    assert result.stats["finish_reason"] == NO_NEWS
    assert site.content <= {f"{site.host}{hit}" for hit in result.hits}
    path = tmp_path / "urlcanon-left-follow.jsonl"
    left = [json.loads(line)["url"] for line in path.read_text().splitlines()]
    with_news = result.figures["novelty/with_news"]
    assert f"{with_news:10,}    that brought enough to count as news\n" in caplog.text
    assert result.figures["novelty/left"] == len(left) > 20
    assert {url.removeprefix(SITE) for url in left}.isdisjoint(result.hits)
    assert result.figures["novelty/trap/site.example/calendar/{1:digits}/{2:digits}/{3:digits}"]
    days = Counter(url.count("/") for url in left)[6]
    said = caplog.text.partition("not fetched, for URLCANON_TAKE_UP: ")[2]
    assert f"{days:,}    site.example/calendar/{{1:digits}}/{{2:digits}}/{{3:digits}}\n" in said
    later = await crawl(
        lambda request: page(f"about {request.url}"), {"URLCANON_TAKE_UP": str(path)}, start=[]
    )
    assert sorted(later.hits) == sorted({url.removeprefix(SITE) for url in left})


class Rules(CrawlSpider):
    """A CrawlSpider that follows every link, whose rules put the link text in meta."""

    name = "rules"
    rules = (Rule(LinkExtractor()),)

    def __init__(self, start=(), *args, **kwargs):
        self.start_urls = start
        super().__init__(*args, **kwargs)


@deferred_f_from_coro_f
async def test_refusals_are_no_sign_that_nothing_is_left(crawl):
    """Pages that the server refuses (429) do not count as pages without news."""
    links = "".join(f"<a href=/shoes/{n}>shoes</a>" for n in range(70))

    def respond(request):
        return page(links) if request.path == "/" else page("slow down", status=429)

    settings = {**STOPPING, "RETRY_ENABLED": False}
    result = await crawl(respond, settings)
    assert (result.stats["finish_reason"], len(result.hits)) == ("finished", 71)
    assert not [key for key in result.figures if key.startswith("novelty/trap/")]


@pytest.mark.parametrize("status", [500, 403])
@deferred_f_from_coro_f
async def test_server_that_shows_nothing_for_a_while_has_not_less_to_show(crawl, status):
    """Two hundred errors in a row do not end the crawl: the pages after them are fetched."""
    posts = range(1, 301)
    asked = count()

    def respond(request):
        if request.path == "/":
            return page("".join(f"<a href=/post/{number}>post</a>" for number in posts))
        shows_nothing = 30 <= next(asked) < 230
        return page("", status=status) if shows_nothing else page(words(request.path, 60))

    result = await crawl(respond, {**STOPPING, "RETRY_ENABLED": False})
    assert result.stats["finish_reason"] == "finished"
    assert sorted(result.hits) == sorted(["/", *(f"/post/{number}" for number in posts)])


@deferred_f_from_coro_f
async def test_forms_that_were_never_shown_end(crawl):
    """Forms that the server refuses to everybody do not keep a crawl going."""

    def respond(request):
        if request.path == "/":
            return page(
                "".join(f"<a href=/edit/{n}>x</a><a href=/post/{n}>x</a>" for n in range(9))
            )
        if request.path.startswith("/edit"):
            return page("forbidden", status=403)
        forms = "".join(f"<a href=/edit/{request.path[6:]}-{n}>x</a>" for n in range(60))
        return page(forms + words(request.path, 60))

    result = await crawl(respond, STOPPING)
    assert result.stats["finish_reason"] == NO_NEWS
    assert {f"/post/{n}" for n in range(9)} <= {*result.hits}


@deferred_f_from_coro_f
async def test_crawl_spider_is_done_too(crawl, tmp_path):
    """A CrawlSpider ends on an endless site too, and leaves its requests with their link texts."""
    site, respond = calendar()
    settings = {**STOPPING, "CLOSESPIDER_PAGECOUNT": 400}
    result = await crawl(respond, settings, start=[f"{site.host}/"], spider=Rules)
    assert result.stats["finish_reason"] == NO_NEWS
    path = tmp_path / "urlcanon-left-rules.jsonl"
    left = [json.loads(line) for line in path.read_text().splitlines()]
    assert {each["url"].removeprefix(SITE) for each in left}.isdisjoint(result.hits)
    assert all(each["meta"]["link_text"] for each in left)


@deferred_f_from_coro_f
async def test_what_is_left_is_written_a_hundred_at_a_time(crawl, tmp_path, monkeypatch):
    """What is left is written a hundred requests at a time, so that the reactor is not blocked."""
    turns = [0]
    add = LeftRequests.add

    def counting(left, request):
        from twisted.internet import reactor  # noqa: PLC0415 - it is installed by now

        turns[-1] += 1
        if turns[-1] == 1:
            reactor.callLater(0, turns.append, 0)
        add(left, request)

    monkeypatch.setattr(LeftRequests, "add", counting)
    # Else the engine asks again after five seconds, whatever it was told.
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 3_600)
    links = "".join(f"<a href=/item/{number}>x</a>" for number in range(500))
    settings = {**STOPPING, "CLOSESPIDER_TIMEOUT": 120}
    result = await crawl(
        lambda request: page(links if request.target == "/" else "nothing"), settings
    )
    assert result.stats["finish_reason"] == NO_NEWS
    left = urls_in(tmp_path / "urlcanon-left-follow.jsonl")
    assert sum(turns) == len(left) > 300
    assert max(turns) == 100
    assert sorted([*result.hits, *left]) == sorted(["/", *(f"/item/{n}" for n in range(500))])


@deferred_f_from_coro_f
async def test_crawl_that_has_no_order_says_that_it_will_not_end(crawl, caplog):
    """URLCANON_STOP without URLCANON_ORDER has no effect, and a warning says so."""
    settings = {"URLCANON_STOP": 0.01, "URLCANON_ORDER_BY": "items"}
    await crawl(lambda _: page("<p>text"), settings)
    for name in settings:
        assert f"{name} has no effect without URLCANON_ORDER" in caplog.text


@deferred_f_from_coro_f
async def test_forms_that_repeat_what_they_were_asked_for_are_no_news(crawl):
    """Endless forms that each repeat three words of their URL do not keep the crawl going."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        number = int(number or 0)
        forms = "".join(f"<p><a href=/form/{3 * number + n}>x</a>" for n in (1, 2, 3))
        if kind == "form":
            return page(f"<p>You will return to<p>{words(request.target, 3)}{forms}")
        articles = "".join(f"<a href=/article/{n}>x</a>" for n in (number + 1, number + 2))
        return page(words(request.target, 80) + forms + (articles if number < 40 else ""))

    settings = {**STOPPING, **ONE_BY_ONE, "CLOSESPIDER_PAGECOUNT": 1_000}
    result = await crawl(respond, settings)
    assert result.stats["finish_reason"] == NO_NEWS
    assert {f"/article/{n}" for n in range(1, 41)} <= {*result.hits}


@deferred_f_from_coro_f
async def test_missing_pages_that_propose_words_are_no_news(crawl):
    """Endless error pages that each suggest a few other words do not keep the crawl going."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        number = int(number or 0)
        missing = "".join(f"<a href=/old/{3 * number + n}>x</a>" for n in (1, 2, 3))
        if kind == "old":
            found = f"Try {words(number, 3)}, or go back to where you were before"
            return page(f"<p>There is no such page here any more. {found}<p>{menu}{missing}")
        articles = "".join(f"<a href=/article/{n}>x</a>" for n in (number + 1, number + 2))
        further = missing + (articles if number < 40 else "")
        return page(f"{words(request.target, 80)}<p>{menu}{further}")

    menu = words("menu", 12)
    settings = {**STOPPING, **ONE_BY_ONE, "CLOSESPIDER_PAGECOUNT": 1_000}
    result = await crawl(respond, settings)
    assert result.stats["finish_reason"] == NO_NEWS
    assert {f"/article/{n}" for n in range(1, 41)} <= {*result.hits}


@deferred_f_from_coro_f
async def test_other_sites_go_on_where_one_is_done(crawl):
    """If one host has no more news, another one is crawled to its end."""
    rich = "http://rich.example"

    def respond(request):
        number = int(request.target.rpartition("/")[2] or 0)
        if request.host == "rich.example":
            links = "".join(
                f"<a href={rich}/{n}>x</a>" for n in (number + 1, number + 2) if n < 150
            )
            return page(words(request.url, 40) + links)
        return page("".join(f"<a href={SITE}/{n}>x</a>" for n in range(number + 1, number + 9)))

    result = await crawl(respond, STOPPING, start=[f"{SITE}/", f"{rich}/"])
    assert result.stats["finish_reason"] == NO_NEWS
    assert len([hit for hit in result.hits if hit.startswith(rich)]) == 150


@deferred_f_from_coro_f
async def test_short_pages_are_news_beside_a_site_with_long_ones(crawl):
    """What is little on one host may be news on another one."""
    short = "http://short.example"
    menu = words("menu", 60)

    def respond(request):
        number = int(request.target.rpartition("/")[2] or 0)
        links = "".join(f"<a href=/{n}>x</a>" for n in (2 * number + 1, 2 * number + 2) if n < 90)
        said = f"<p>{menu}<p>{words(request.url, 20)}<p>" if request.host == "short.example" else ""
        return page((said or words(request.url, 900)) + links)

    settings = {**STOPPING, "URLCANON_STOP": 0.2}
    result = await crawl(respond, settings, start=[f"{SITE}/", f"{short}/"])
    assert len([hit for hit in result.hits if hit.startswith(short)]) == 90


@deferred_f_from_coro_f
async def test_what_one_of_many_alike_links_leads_to_is_found_by_a_later_crawl(crawl, tmp_path):
    """News behind one of 300 equal links may be left; a later crawl that takes it up finds it."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        if kind == "new":
            further = (n for n in (2 * int(number), 2 * int(number) + 1) if n <= 40)
            return page(
                words(request.target, 60) + "".join(f"<a href=/new/{n}>x</a>" for n in further)
            )
        if kind == "item":
            return page("nothing" + ("<a href=/new/1>x</a>" if number == "280" else ""))
        return page("".join(f"<a href=/item/{n}>x</a>" for n in range(300)))

    result = await crawl(respond, {**STOPPING, **ONE_BY_ONE})
    left = urls_in(tmp_path / "urlcanon-left-follow.jsonl")
    assert result.stats["finish_reason"] == NO_NEWS
    assert sorted([*result.hits, *left]) == sorted(["/", *(f"/item/{n}" for n in range(300))])
    later = await crawl(
        respond, {"URLCANON_TAKE_UP": str(tmp_path / "urlcanon-left-follow.jsonl")}, start=[]
    )
    assert sorted(later.hits) == sorted([*left, *(f"/new/{n}" for n in range(1, 41))])


@deferred_f_from_coro_f
async def test_crawl_with_news_to_its_end_is_not_closed(crawl):
    """A site with news to its end is crawled to its end."""
    site = type("Small", (SITES["even"],), {"articles": 80})()
    result = await crawl(lambda request: page(site(request.url)), STOPPING, start=[f"{site.host}/"])
    assert result.stats["finish_reason"] == "finished"
    assert site.content <= {f"{site.host}{hit}" for hit in result.hits}


def of_former_version(data):
    """Return the file *data* with the header of a former version."""
    return data.replace(b"urlcanon order 10\n", b"urlcanon order 9\n", 1)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], of_former_version, None])
@deferred_f_from_coro_f
async def test_what_was_learned_survives_a_stop(crawl, tmp_path, caplog, damage):
    """A resumed job has what it had learned; if the file is damaged, a warning says so."""
    job = {**NOVELTY, "JOBDIR": "job"}
    text = words("text", 50)
    await crawl(lambda _: page(text), job)
    path = tmp_path / "job" / "urlcanon.order"
    if damage:
        path.write_bytes(damage(path.read_bytes()))
    result = await crawl(lambda _: page(text), job, start=[Request(f"{SITE}/x")])
    said = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert result.hits == ["/x"]
    assert bool(result.figures["novelty/words"]) is bool(damage)
    assert any("learns from scratch" in record.getMessage() for record in said) is bool(damage)


PAGES = 200


def tree(request):
    """Answer with links to four further pages, each under two URLs."""
    number = int(request.path[1:] or 0)
    further = [n for n in range(4 * number + 1, 4 * number + 5) if n < PAGES]
    # Of the last ones, which link nothing, the text is the same: no news that comes late.
    return page("page" + "".join(f"<a href=/{n}?sid={s}></a>" for n in further for s in (1, 2)))


@deferred_f_from_coro_f
async def test_job_takes_up_what_it_left_itself(crawl, tmp_path):
    """A job that takes up its own file fetches each page once, though all are in requests.seen."""
    job = {**STOPPING, "JOBDIR": "job", "URLCANON_LEFT": "left", "URLCANON_RULES": SID}
    first = await crawl(tree, job)
    assert urls_in(tmp_path / "left")
    job |= {"URLCANON_STOP": 0, "URLCANON_TAKE_UP": "left"}
    second = await crawl(tree, job, start=())
    paths = [hit.partition("?")[0] for hit in (*first.hits, *second.hits)]
    assert sorted(paths) == sorted(f"/{n or ''}" for n in range(PAGES))
    assert not (tmp_path / "left").exists()
    assert urls_in(tmp_path / "left.taken-up")


@deferred_f_from_coro_f
async def test_variants_of_what_was_left_are_left_with_it(crawl, tmp_path):
    """Variants of requests that were left are left too.

    A later crawl fetches one only if the request of its page fails.
    """
    settings = {**STOPPING, "URLCANON_LEFT": "left", "URLCANON_RULES": SID}
    await crawl(tree, settings)
    left = urls_in(tmp_path / "left")
    ones, others = ({url for url in left if url.endswith(f"={sid}")} for sid in (1, 2))
    assert len(left) == len({*left}) == 2 * len(ones) == 2 * len(others)

    def later(request):
        return page("text", status=404 if request.target == min(ones) else 200)

    result = await crawl(
        later, {"URLCANON_RULES": SID, "URLCANON_TAKE_UP": "left", "RETRY_TIMES": 0}, start=()
    )
    assert sorted(result.hits) == sorted({*ones, min(ones).replace("=1", "=2")})


@pytest.mark.parametrize("job", [{}, {"JOBDIR": "job"}])
@deferred_f_from_coro_f
async def test_what_was_left_stays_so_where_its_site_begins_again(crawl, tmp_path, job):
    """Requests of a lower priority reopen a site, but not what was left of it.

    Variants of what was left are left too, even if the job is stopped in between.
    """

    class Prioritizing(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url.endswith("0?sid=1"):
                yield Request(f"{response.url}&low", priority=-1)

    def respond(request):
        return page("low") if request.target.endswith("low") else tree(request)

    settings = {**STOPPING, **ONE_BY_ONE, **job, "URLCANON_LEFT": "left", "URLCANON_RULES": SID}
    hits = []
    if job:
        stopped = {**settings, "CLOSESPIDER_PAGECOUNT": 156}
        hits += (await crawl(respond, stopped, spider=Prioritizing)).hits
        assert hits[-1].endswith("low")
    start = () if job else (f"{SITE}/",)
    hits += (await crawl(respond, settings, spider=Prioritizing, start=start)).hits
    assert hits[-1].endswith("low")
    assert len(urls_in(tmp_path / "left")) > 10
    later = {"URLCANON_TAKE_UP": "left", "URLCANON_RULES": SID}
    hits += (await crawl(respond, later, spider=Prioritizing, start=())).hits
    pages = [hit.partition("?")[0] for hit in hits if not hit.endswith("low")]
    assert sorted(pages) == sorted(f"/{n or ''}" for n in range(PAGES))


@deferred_f_from_coro_f
async def test_request_that_no_later_crawl_could_take_up_is_fetched(crawl, caplog):
    """Requests whose callback is no method of the spider are fetched: no file can hold them."""

    class Closures(FollowSpider):
        def parse(self, response):
            for request in response.follow_all(css="a"):
                yield request.replace(callback=partial(Closures.parse, self))

    result = await crawl(tree, {**STOPPING, "URLCANON_RULES": SID}, spider=Closures)
    assert {hit.partition("?")[0] for hit in result.hits} == {f"/{n or ''}" for n in range(PAGES)}
    assert result.stats["finish_reason"] == "finished"
    said = [record for record in caplog.records if "cannot be written" in record.getMessage()]
    assert [record.levelno for record in said] == [logging.WARNING]


@pytest.mark.parametrize("by", ["items", "builtins.len"])
@deferred_f_from_coro_f
async def test_pages_with_new_items_come_first(crawl, by, monkeypatch):
    """With URLCANON_ORDER_BY = "items" pages with items come before long texts without."""
    # Scrapy 2.15 hands each response to the spider a tenth of a second after it came: a third of
    # this site is fetched by then, of a server that answers at once.
    monkeypatch.setattr("scrapy.utils.defer._DEFER_DELAY", 0)

    def respond(request):
        if request.target == "/":
            kinds = ("essay", "item")
            hrefs = [f"/{kind}/{n}" for n in range(60) for kind in kinds]
            return page("".join(f"<a href={href}>x</a>" for href in hrefs))
        if "item" in request.target:
            return page(f"<h1>{words(request.target, 2)}</h1>")
        return page(words(request.target, 60))

    settings = {
        **NOVELTY,
        "URLCANON_ORDER_BY": by if by == "items" else _count,
        "CONCURRENT_REQUESTS": 2,
    }
    result = await crawl(respond, settings, spider=ItemSpider)
    assert len([hit for hit in result.hits[:75] if "item" in hit]) >= 50


def _count(response, items):
    del response
    return len(items)
