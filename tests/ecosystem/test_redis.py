"""Crawls through scrapy-redis and a real Redis: one process and four, killed and joining."""

import re
from threading import Timer

import pytest
from ecosystem.shared_frontier import (
    OURS,
    RULES,
    SCRAPY_REDIS,
    Processes,
    big_site,
    expected_of,
    wait_for,
)
from loopback import Loopback, page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
from scrapy_urlcanon.crawl.recovery.page_lives import Fate
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.pages.same_page import PageDigest
from scrapy_urlcanon.redis import frontier
from scrapy_urlcanon.redis.frontier import Frontier
from scrapy_urlcanon.redis.shared import Shared
from scrapy_urlcanon.redis.shared_checks import SharedContents
from scrapy_urlcanon.redis.shared_lives import SharedLives

QUEUES = [f"scrapy_redis.queue.{kind}Queue" for kind in ("Priority", "Fifo", "Lifo")]

PAGES = {
    "/": links("/a?sid=1", "/a?sid=2", "/b", "/b", "/gone?sid=1", "/gone?sid=2", "/old", "/slash"),
    "/a?sid=1": page("a"),
    "/a?sid=2": page("a"),
    "/b": page("b"),
    "/gone?sid=2": links("/late"),
    "/late": page("late"),
    "/old": redirect("/b?sid=3"),
    "/slash": redirect("/slash?sid=1"),
    "/slash?sid=1": page("slash"),
}


# scrapy-redis 0.9.1 calls Scrapy's stats in the old way; our scheduler does not.
@pytest.mark.filterwarnings("ignore:Passing a 'spider' argument")
@deferred_f_from_coro_f
async def test_duplicate_filter_asks_for_our_fingerprints(crawl, redis_server):
    """With scrapy-redis' own scheduler variants are merged and counted."""
    settings = {**RULES, **SCRAPY_REDIS, "REDIS_URL": redis_server.url}
    result = await crawl(site(PAGES), settings)
    assert len([url for url in result.hits if url.startswith("/a")]) == 1
    assert {"/gone?sid=1", "/gone?sid=2", "/late", "/slash?sid=1"} <= set(result.hits)
    assert result.stats["dupefilter/filtered"] == result.figures["dropped"]


@deferred_f_from_coro_f
async def test_duplicate_filter_beside_the_scheduler_of_scrapy(crawl, redis_server):
    """What was seen is in Redis, and the queue in the process: what a rule merges is merged."""
    settings = {**RULES, "REDIS_URL": redis_server.url}
    settings["DUPEFILTER_CLASS"] = OURS["DUPEFILTER_CLASS"]
    result = await crawl(site(PAGES), settings)
    assert len([url for url in result.hits if url.startswith("/a")]) == 1
    assert {"/gone?sid=1", "/gone?sid=2", "/late", "/slash?sid=1"} <= set(result.hits)


@pytest.mark.parametrize("queue", QUEUES)
@deferred_f_from_coro_f
async def test_one_process(crawl, redis_server, queue):
    """One process has the pages, drops and rescues of a crawl without Redis, and leaves no key."""
    expected = await crawl(site(PAGES), RULES)
    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url, "SCHEDULER_QUEUE_CLASS": queue}
    settings["SCHEDULER_SERIALIZER"] = "scrapy_redis.picklecompat"
    result = await crawl(site(PAGES), settings)
    assert sorted(url.partition("?")[0] for url in result.hits) == sorted(
        url.partition("?")[0] for url in expected.hits
    )
    assert result.figures["rescue/sent"] == expected.figures["rescue/sent"]
    assert result.figures["dropped"] == expected.figures["dropped"]
    assert redis_server.client.keys() == []


def test_four_processes_one_killed_and_one_joining(tmp_path, redis_server):
    """Each page is fetched once, but for those that the killed process was working on."""
    size = 250
    with Loopback(big_site(size)) as server:
        processes = Processes(tmp_path, redis_server, server.proxies)
        killed = processes.start()
        for _ in range(2):
            processes.start()
        wait_for(lambda: len(server.hits) > 40)
        killed.kill()
        processes.start()
        errors = processes.wait()
    assert "Traceback" not in "".join(errors[1:]), errors
    got = processes.got()
    assert set(got) == expected_of(size)
    assert sum(got.values()) <= size + 1 + 8
    assert redis_server.client.keys() == []


def test_process_that_is_killed_with_nothing_under_way(redis_server, monkeypatch):
    """The others wait until a killed process is known to be gone, for the last to clean up."""
    monkeypatch.setattr(frontier, "ALIVE", 0.2)
    monkeypatch.setattr(frontier, "_BEAT", 0.0)
    here, other, killed = (
        frontier.Frontier(redis_server.client, "crawl", "queue", "seen", "fifo") for _ in range(3)
    )
    for each in (here, other, killed):
        each.beat()
    assert not other.are_all_done()
    assert not here.are_all_done()
    wait_for(lambda: (here.beat(), other.beat(), here.are_all_done())[-1])
    redis_server.client.lpush("queue", "0 data")
    assert other.pop(())
    assert not here.are_all_done()


@pytest.fixture
def new_lives(redis_server):
    """Return the lives of pages as one more process has them; a request is a text."""
    frontier = Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")

    def lives():
        return SharedLives(
            lambda *_: True,
            frontier,
            lambda request: (request, f"0 {request}".encode()),
            max_pages=10,
            max_waiting=10,
        )

    return lives


def test_repeated_links_of_a_fetched_page_do_not_ask_redis(redis_server, new_lives):
    """Repeated links to a page that was fetched, here or elsewhere, do not ask Redis."""

    def asked():
        return redis_server.client.info("commandstats")["cmdstat_evalsha"]["calls"]

    def drop(lives):
        return {lives.dropped(b"page", "parse", f"/?sid={n}", f"{n}") for n in range(9)}

    here, there = new_lives(), new_lives()
    here.sent(b"page", "parse")
    here.got(b"page", "parse")
    # It may yet raise.
    assert here.dropped(b"page", "parse", "/?sid=1", "1") is Fate.WAITS
    here.confirmed(b"page", "parse")
    before = asked()
    assert drop(here) == {Fate.FORGOTTEN}
    assert asked() == before
    assert drop(there) == {Fate.FORGOTTEN}
    assert asked() == before + 1
    # For another callback it is not had.
    assert there.dropped(b"page", "other", "/?sid=1", "1") is Fate.FETCHED


def test_variant_of_a_page_whose_callback_raised_is_queued(redis_server, new_lives):
    """If the callback raises, the next variant is queued for all processes."""
    lives = new_lives()
    lives.sent(b"page", "parse")
    lives.got(b"page", "parse")
    lives.rename(b"page", b"new")
    lives.raised(b"new", "parse")
    assert lives.dropped(b"new", "parse", "/?sid=1", "1") is Fate.FETCHED
    assert redis_server.client.lrange("queue", 0, -1) == [b"1"]
    lives.ended(b"new", "parse")
    # It was queued, and brought nothing; another one may.
    assert lives.dropped(b"new", "parse", "/?sid=1", "1") is Fate.FORGOTTEN
    assert lives.dropped(b"new", "parse", "/?sid=2", "2") is Fate.FETCHED


def test_page_whose_url_leads_elsewhere_is_asked_for_once_more(redis_server, new_lives):
    """If a URL leads to another page one more is tried, by whichever process."""

    def lead(lives):
        lives.sent(b"page", "parse")
        lives.led(b"page", "parse")
        lives.confirmed(b"page", "parse")

    here, there = new_lives(), new_lives()
    here.dropped(b"page", "parse", "/?sid=1", "1")
    lead(here)
    assert redis_server.client.lrange("queue", 0, -1) == [b"1"]
    assert there.dropped(b"page", "parse", "/?sid=2", "2") is Fate.WAITS
    assert there.is_had(b"page")
    # It failed: that says nothing, and the next one has its turn.
    there.sent(b"page", "parse")
    there.ended(b"page", "parse")
    assert redis_server.client.lrange("queue", 0, -1) == [b"2", b"1"]
    lead(there)
    for lives in (here, there):
        assert lives.dropped(b"page", "parse", "/?sid=3", "3") is Fate.FORGOTTEN


@deferred_f_from_coro_f
async def test_other_rules_than_those_of_the_crawl(crawl, redis_server, caplog):
    """Other rules than those of the crawl are treated as URLCANON_JOB_RULES says."""
    settings = {**OURS, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    await crawl(site(PAGES), {**settings, **RULES})
    with pytest.raises(ConfigurationError, match="rules of this process differ"):
        await crawl(site(PAGES), {**settings, "URLCANON_JOB_RULES": "error"})
    # Else the others would wait for it.
    assert redis_server.client.keys("*:alive:*") == []
    start = [Request(f"{SITE}/a?sid=9")]
    kept = await crawl(site(PAGES), {**settings, "URLCANON_JOB_RULES": "keep"}, start=start)
    assert kept.hits == []
    warned = await crawl(site(PAGES), settings, start=start)
    assert warned.hits == ["/a?sid=9"]
    assert "rules of this process differ" in caplog.text


class OtherSpider(FollowSpider):
    """A spider with another name."""

    name = "other"


@deferred_f_from_coro_f
async def test_other_rules_of_a_spider_with_the_same_set_of_what_was_seen(crawl, redis_server):
    """Spiders with one set of fingerprints and other rules are noticed.

    Each would take pages of the other for seen.
    """
    settings = {**OURS, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    settings |= {"SCHEDULER_DUPEFILTER_KEY": "all:dupefilter", "URLCANON_JOB_RULES": "error"}
    await crawl(site(PAGES), {**settings, **RULES})
    with pytest.raises(ConfigurationError, match="rules of this process differ"):
        await crawl(site(PAGES), settings, spider=OtherSpider)
    assert not (await crawl(site(PAGES), {**settings, **RULES}, spider=OtherSpider)).hits


def test_what_a_spider_has_is_forgotten_whatever_its_name(redis_server):
    """Flushing deletes the keys of this spider alone, even if its name looks like a pattern."""
    odd, other = (
        Frontier(redis_server.client, name, f"{name}:queue", f"{name}:seen", "fifo")
        for name in ("shop[a]*", "shopa1")
    )
    odd.beat()
    other.beat()
    kept = redis_server.client.keys("shopa1*")
    odd.clear()
    assert sorted(redis_server.client.keys()) == sorted(kept)


@deferred_f_from_coro_f
async def test_keys_of_something_else(crawl, redis_server):
    """A key of another type is not written to."""
    redis_server.client.set("follow:dupefilter", "mine")
    with pytest.raises(ConfigurationError, match="another job's"):
        await crawl(site(PAGES), {**RULES, **OURS, "REDIS_URL": redis_server.url})
    assert redis_server.client.get("follow:dupefilter") == b"mine"


@pytest.mark.parametrize(
    ("refuse", "said"),
    [
        (lambda server: server.stop(), "No such file or directory.*REDIS_URL"),
        (lambda server: server.client.config_set("requirepass", "secret"), "authenticate"),
        (
            lambda server: server.client.execute_command("ACL SETUSER default -@scripting"),
            "no permissions.*'evalsha'",
        ),
    ],
    ids=["it is not there", "it wants a password", "it runs no script"],
)
@deferred_f_from_coro_f
async def test_redis_that_refuses_is_one_line_of_error(crawl, redis_server, refuse, said):
    """If Redis refuses, one error says so before the first request."""
    refuse(redis_server)
    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url}
    with pytest.raises(
        ConfigurationError, match=f"SCHEDULER: Redis does not answer, or refuses: .*{said}"
    ):
        await crawl(site(PAGES), settings)


@deferred_f_from_coro_f
async def test_answers_that_are_no_bytes_are_refused(crawl, redis_server):
    """decode_responses is refused, since no request could be read."""
    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url}
    settings["REDIS_PARAMS"] = {"decode_responses": True}
    with pytest.raises(ConfigurationError, match=r"REDIS_PARAMS: .*decode_responses"):
        await crawl(site(PAGES), settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCHEDULER_QUEUE_CLASS", "scrapy.pqueues.ScrapyPriorityQueue"),
        ("DUPEFILTER_CLASS", "scrapy_redis.dupefilter.RFPDupeFilter"),
        ("DUPEFILTER_CLASS", "scrapy.dupefilters.RFPDupeFilter"),
    ],
)
@deferred_f_from_coro_f
async def test_queue_or_filter_that_the_scheduler_cannot_share_is_refused(
    crawl, redis_server, name, value
):
    """Before the first request, and by the names of both settings."""
    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url, name: value}
    with pytest.raises(ConfigurationError, match=r"SCHEDULER_QUEUE_CLASS.*DUPEFILTER_CLASS"):
        await crawl(site(PAGES), settings)
    assert redis_server.client.keys() == []


@pytest.mark.parametrize("trouble", ["gone", "full", "disk full"])
@deferred_f_from_coro_f
async def test_redis_gone_or_full_for_a_while(crawl, redis_server, monkeypatch, caplog, trouble):
    """While Redis is gone or full requests wait, and no page is lost."""
    monkeypatch.setattr(frontier, "_BEAT", 0.05)
    pages, hits = big_site(60), []

    def respond(request):
        hits.append(request.target)
        if len(hits) == 8 and trouble == "gone":
            redis_server.stop()
            Timer(0.5, redis_server.start).start()
        elif len(hits) == 8 and trouble == "disk full":
            redis_server.cannot_save()
            Timer(0.5, redis_server.can_save).start()
        elif len(hits) == 8:
            redis_server.client.config_set("maxmemory", 1)
            Timer(0.5, redis_server.client.config_set, ("maxmemory", 0)).start()
        return pages(request)

    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url, "CONCURRENT_REQUESTS": 4}
    settings["CLOSESPIDER_TIMEOUT"] = 60
    result = await crawl(respond, settings)
    found = {url.partition("?")[0] for url in result.pages}
    assert found == expected_of(60)
    assert "Redis answers again" in caplog.text


@deferred_f_from_coro_f
async def test_variant_that_waited_for_redis_is_fetched_where_its_page_fails(
    crawl, redis_server, monkeypatch
):
    """A variant yielded while Redis was gone is fetched if its page fails."""
    monkeypatch.setattr(frontier, "_BEAT", 0.05)
    pages = {
        "/": links("/gone?sid=1", "/gone?sid=2"),
        "/gone?sid=1": page("gone", status=404),
        "/gone?sid=2": page("here"),
    }

    def respond(request):
        if request.target == "/":
            redis_server.stop()
            Timer(0.5, redis_server.start).start()
        return site(pages)(request)

    settings = {**RULES, **OURS, "REDIS_URL": redis_server.url, "CLOSESPIDER_TIMEOUT": 60}
    result = await crawl(respond, settings)
    assert "/gone?sid=2" in result.hits
    assert result.figures["dropped"] == 1


@deferred_f_from_coro_f
async def test_what_one_process_suspends_is_off_in_the_next(crawl, redis_server):
    """A suspension in one process holds in the others."""
    pages = {"/": links(*(f"/p?id={number}" for number in range(12)))}
    pages |= {f"/p?id={n}": page(f"<p>Number {n} is about {n * 'x'}.") for n in range(20)}
    settings = {**OURS, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    settings |= {"URLCANON_RULES": {"site.example": {"drop_params": ["id"]}}, "URLCANON_AUDIT": 1.0}
    first = await crawl(site(pages), settings)
    assert len(first.pages) == 13
    more = {"/more": links(*(f"/p?id={number}" for number in range(12, 20))), **pages}
    second = await crawl(site(more), settings, start=[Request(f"{SITE}/more")])
    assert len(second.pages) == 9
    assert "audited" not in second.figures


def test_what_is_suspended_while_redis_is_gone_reaches_others_later(redis_server):
    """A suspension while Redis is gone reaches the others later."""
    crawler = get_crawler(FollowSpider)

    def process():
        shared = Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")
        return Shared(crawler, shared, bytes)

    here, there = process(), process()
    redis_server.stop()
    here.suspended(RuleEntry("drop_params", "id"), "site.example")
    redis_server.start()
    here.frontier.beat()
    heard = []
    there.begin(FirstUrls(), lambda _: None, lambda *of: heard.append(of), None)
    assert heard == [(RuleEntry("drop_params", "id"), "site.example")]


WRONG_RULE = {"URLCANON_RULES": {"site.example": {"drop_params": ["id"]}}, "URLCANON_AUDIT": 1.0}


def articles(*numbers):
    """Return pages that the wrong rule makes one, and one that links these *numbers*."""
    pages = {f"/p?id={n}": page(f"<p>Number {n} is about {n * 'x'}.") for n in range(20)}
    return {"/": links(*(f"/p?id={number}" for number in numbers)), **pages}


@deferred_f_from_coro_f
async def test_variant_is_compared_with_what_another_process_fetched(crawl, redis_server):
    """Audits compare with pages that another process fetched."""
    settings = {**OURS, **WRONG_RULE, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    first = await crawl(site(articles(1)), settings)
    assert first.hits == ["/", "/p?id=1"]
    start = [Request(f"{SITE}/p?id={number}") for number in (1, 2)]
    second = await crawl(site(articles(1)), settings, start=start)
    assert [url for url in second.pages if "id=2" in url] == ["/p?id=2"]
    assert second.figures["audit/false_merge"] == 1


@deferred_f_from_coro_f
async def test_what_the_audits_of_two_processes_find_adds_up(crawl, redis_server):
    """Evidence of two processes adds up to a suspension."""
    settings = {**OURS, **WRONG_RULE, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    first = await crawl(site(articles(1, 2)), settings)
    assert first.figures["audit/false_merge"] == 1
    assert "audit/suspended/drop_params/id" not in first.figures
    start = [Request(f"{SITE}/p?id=3")]
    second = await crawl(site(articles()), settings, start=start)
    assert second.figures["audit/false_merge"] == 1
    assert second.figures["audit/suspended/drop_params/id"] == 1
    alone = await crawl(site(articles(1, 3)), {**WRONG_RULE})
    assert "audit/suspended/drop_params/id" not in alone.figures


def test_what_an_earlier_version_remembers_is_not_read(redis_server):
    """Contents stored by an earlier version are not read."""
    frontier = Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")
    here, there = (SharedContents(frontier, 4) for _ in range(2))
    here[b"page"] = PageDigest(b"digest")
    assert there.get(b"page") == PageDigest(b"digest")
    before = set(redis_server.client.keys())
    for key in before:
        redis_server.client.rename(key, re.sub(rb":\d+$", b"", key))
    assert before.isdisjoint(redis_server.client.keys())
    assert there.get(b"page") is None


def test_contents_are_bounded_and_survive_redis(redis_server):
    """Contents of other processes are found within a bound, and without Redis none."""
    here, there = (
        SharedContents(Frontier(redis_server.client, "crawl", "queue", "seen", "fifo"), 4)
        for _ in range(2)
    )
    digests = [PageDigest.of_bytes(b"%d" % number) for number in range(9)]
    digests[8] = PageDigest(b"digest", 2**64 - 1, b"\x00\xff", 2**63, b"\x01", 3)
    for number, digest in enumerate(digests):
        there[b"\xff%d" % number] = digest
    found = [here.get(b"\xff%d" % number) for number in range(9)]
    assert found[7:] == digests[7:]
    assert found[:4] == 4 * [None]
    redis_server.stop()
    assert here.get(b"\xff8") is None
    assert there.get(b"\xff8") == digests[8]
