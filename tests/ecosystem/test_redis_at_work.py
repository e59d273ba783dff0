"""Processes that share a crawl through Redis, with failures and at the same time."""

import asyncio
import logging
from threading import Lock, Timer

import pytest
from board_site import BOARD, START, forum
from ecosystem.shared_frontier import OURS, RULES
from loopback import page
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
from scrapy_urlcanon.crawl.own_requests import AUDIT, marked
from scrapy_urlcanon.redis import frontier
from scrapy_urlcanon.redis.dupefilter import SharedSeen
from scrapy_urlcanon.redis.frontier import Frontier
from scrapy_urlcanon.redis.scheduler import Scheduler
from scrapy_urlcanon.redis.shared import Shared
from scrapy_urlcanon.redis.shared_lives import SharedLives

BOUNDS = {"max_pages": 10, "max_waiting": 10}


class Breaking(Redis):
    """A connection that can be made to break before the answer to a script."""

    breaks = False

    def parse_response(self, connection, command_name, **options):
        answer = super().parse_response(connection, command_name, **options)
        if self.breaks and command_name == "EVALSHA":
            self.breaks = False
            connection.disconnect()
            raise RedisConnectionError
        return answer


@pytest.mark.parametrize("kind", ["priority", "fifo", "lifo"])
def test_request_whose_answer_is_lost_is_not(redis_server, kind):
    """If the answer of Redis is lost, the client asks again and gets the same request."""
    client = Breaking.from_url(redis_server.url, retry_on_timeout=True)
    here = Frontier(client, "crawl", "queue", "seen", kind)
    for name in ("one", "two"):
        value = f"0 {name}".encode()
        here.enqueue(name, value, "", 5, records=True, drops=True, on_dropped=lambda _: None)
    client.breaks = True
    assert {here.pop(())[1], here.pop(())[1]} == {b"one", b"two"}
    assert here.pop(()) is None


@deferred_f_from_coro_f
async def test_audit_of_processes_that_crawl_at_once(crawl, redis_server, monkeypatch):
    """Requests of an audit are made by the process that audits, and by no other."""
    monkeypatch.setattr(frontier, "_BEAT", 0.05)
    urls = [f"/p?id={number}" for number in range(40)]
    pages = {"/": links(*urls)}
    pages |= {url: page(f"<p>Number {n} is about {n * 'x'}.") for n, url in enumerate(urls)}
    settings = {**OURS, "REDIS_URL": redis_server.url, "CONCURRENT_REQUESTS": 1}
    settings |= {"URLCANON_RULES": {"site.example": {"drop_params": ["id"]}}}
    settings["URLCANON_AUDIT"] = 0.02
    crawls = await asyncio.gather(*(crawl(site(pages), settings) for _ in range(3)))
    assert {*urls} <= {url for each in crawls for url in each.pages}
    figures = [name for each in crawls for name in each.figures]
    assert "audit/suspended/drop_params/id" in figures


@pytest.mark.parametrize(
    "settings",
    [{"URLCANON_REWRITE": True}, {"URLCANON_REPORT": "r.json"}, {"URLCANON_RECORD": "r.sqlite"}],
    ids=["rewrite", "report", "record"],
)
@deferred_f_from_coro_f
async def test_what_a_callback_yields_while_redis_is_gone(
    crawl, redis_server, monkeypatch, settings
):
    """Requests yielded while Redis is gone wait in the process, whatever features are on."""
    monkeypatch.setattr(frontier, "_BEAT", 0.05)
    pages = {"/": links("/a", "/b"), "/a": page("a"), "/b": page("b")}

    def respond(request):
        if request.target == "/":
            redis_server.stop()
            Timer(0.3, redis_server.start).start()
        return site(pages)(request)

    settings = {**OURS, **settings, "REDIS_URL": redis_server.url, "CLOSESPIDER_TIMEOUT": 60}
    result = await crawl(respond, settings)
    assert result.pages == ["/", "/a", "/b"]


def test_what_is_seen_and_forgotten_while_redis_is_gone(redis_server):
    """Fingerprints added and removed while Redis is gone reach it later."""
    redis_server.client.sadd("seen", "ab")
    here = Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")
    seen = SharedSeen(here)
    assert not seen.add(b"\xab")
    redis_server.stop()
    assert seen.add(b"\xcd")
    seen.discard(b"\xab")
    assert b"\xab" not in seen
    redis_server.start()
    here.beat()
    assert redis_server.client.smembers("seen") == {b"cd"}
    assert [each in seen for each in (b"\xab", b"\xcd", "cd")] == [False, True, False]


def opened(redis_server, spider=FollowSpider):
    """Return a scheduler that takes part in a crawl."""
    settings = {**OURS, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    crawler = get_crawler(spider, settings)
    crawler.spider = crawler._create_spider()
    scheduler = Scheduler.from_crawler(crawler)
    scheduler.open(crawler.spider)
    return scheduler


# scrapy-redis 0.9.1 logs in the old way that it goes on with what is queued.
@pytest.mark.filterwarnings("ignore:Spider.log")
def test_what_waits_for_redis_is_queued_when_the_process_ends(redis_server):
    """Requests that wait for Redis are queued when the process ends.

    Their page is done, and would not be fetched again.
    """
    scheduler = opened(redis_server)
    scheduler.enqueue_request(Request(f"{SITE}/parent"))
    assert scheduler.next_request()
    redis_server.stop()
    scheduler.enqueue_request(Request(f"{SITE}/child"))
    redis_server.start()
    scheduler.close("finished")
    assert opened(redis_server).next_request().url == f"{SITE}/child"


class LocalSpider(FollowSpider):
    """Makes requests that no queue can store, and one that can."""

    def parse(self, response):
        yield from super().parse(response)

        def follow(response):
            yield from self.parse(response)

        if response.url == f"{SITE}/":
            yield from (Request(f"{SITE}/a?sid={number}", follow) for number in (1, 2))
            yield Request(f"{SITE}/b", meta={"lock": Lock()})


@deferred_f_from_coro_f
async def test_request_that_no_queue_can_hold_is_kept_in_the_process(crawl, redis_server):
    """A request that cannot be stored stays in the process; if it fails, a variant is fetched."""
    settings = {**OURS, **RULES, "REDIS_URL": redis_server.url, "CLOSESPIDER_TIMEOUT": 60}
    pages = {"/": links("/c"), "/a?sid=2": page("a"), "/b": page("b"), "/c": page("c")}
    result = await crawl(site(pages), settings, spider=LocalSpider)
    assert sorted(result.hits) == ["/", "/a?sid=1", "/a?sid=2", "/b", "/c"]
    assert sorted(result.pages) == ["/", "/a?sid=2", "/b", "/c"]
    assert result.figures["dropped"] == 1


@deferred_f_from_coro_f
async def test_serializer_that_makes_texts(crawl, redis_server):
    """Variants are queued with a serializer that makes texts too."""
    settings = {**OURS, **RULES, "REDIS_URL": redis_server.url, "CLOSESPIDER_TIMEOUT": 60}
    settings["SCHEDULER_SERIALIZER"] = "ecosystem.text_serializer"
    result = await crawl(
        site({"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=2": page("a")}), settings
    )
    assert result.pages == ["/", "/a?sid=2"]


class StartsOnceMore(FollowSpider):
    """Has a callback for its start request, which yields the same URL for another one."""

    def parse(self, response):
        if "is_again" not in response.meta:
            yield Request(response.url, meta={"is_again": True}, callback=self.parse_again)

    def parse_again(self, response):
        yield from self.parse(response)


@deferred_f_from_coro_f
async def test_url_of_a_start_request_that_is_linked_for_another_callback(crawl, redis_server):
    """A linked URL is fetched for both callbacks if its canonical URL fails."""
    url = f"{SITE}/a?sid=1"
    settings = {**OURS, **RULES, "REDIS_URL": redis_server.url, "URLCANON_REWRITE": True}
    respond = site({"/a?sid=1": page("a"), "/a": page("gone", status=404), "/b": page("b")})
    # By then it is known that the duplicate filter asks for fingerprints.
    start = [*(Request(f"{SITE}/b") for _ in range(5)), Request(url, dont_filter=True)]
    result = await crawl(respond, settings, start=start, spider=StartsOnceMore)
    assert result.hits.count("/a?sid=1") == 2


@pytest.mark.filterwarnings("ignore:Spider.log")
@deferred_f_from_coro_f
async def test_part_of_a_page_does_not_wait_in_a_process_that_ends(crawl, redis_server, tmp_path):
    """A held post of a topic is fetched by the next run when the process ends."""
    board = tmp_path / "board.toml"
    board.write_text(BOARD, encoding="utf-8")
    settings = {**OURS, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": True}
    settings |= {"URLCANON_PROFILES": ["*", str(board)], "CONCURRENT_REQUESTS": 1}
    respond = site(forum("topic.php?p=99"))
    first = await crawl(respond, {**settings, "CLOSESPIDER_PAGECOUNT": 2}, start=START)
    second = await crawl(respond, settings, start=())
    assert "/forum/topic.php?p=99" in {*first.hits, *second.hits}


def is_to_stay(scheduler):
    """Tell whether the idle process of *scheduler* has to stay."""
    try:
        scheduler._spider_idle()
    except DontCloseSpider:
        return True
    return False


def test_process_waits_for_the_audits_of_others(redis_server):
    """A process waits for audits of others, which may let through what it dropped."""
    here, there = opened(redis_server), opened(redis_server)
    assert is_to_stay(here)
    assert here.enqueue_request(marked(Request(f"{SITE}/"), AUDIT, case=SITE, round=1, number=1))
    assert is_to_stay(here)
    assert is_to_stay(there)
    assert there.next_request() is None
    assert here.next_request().url == f"{SITE}/"
    assert is_to_stay(there)
    assert not is_to_stay(here)
    assert not is_to_stay(there)


# scrapy-redis 0.9.1 logs in the old way that it goes on with what is queued.
@pytest.mark.filterwarnings("ignore:Spider.log")
def test_process_waits_for_a_redis_that_is_gone_and_may_be_stopped_then(redis_server):
    """Nobody knows what is queued; one that is stopped leaves it all to the next."""
    scheduler = opened(redis_server)
    scheduler.enqueue_request(Request(f"{SITE}/a"))
    redis_server.stop()
    assert is_to_stay(scheduler)
    scheduler.close("shutdown")
    redis_server.start()
    assert opened(redis_server).next_request().url == f"{SITE}/a"


class NewerSpider(FollowSpider):
    """Has one more callback."""

    def parse_more(self, response):
        """Do nothing."""


@pytest.mark.filterwarnings("ignore:Spider.log")
def test_request_that_a_process_cannot_read_is_for_one_that_joins_later(redis_server, caplog):
    """A request with an unknown callback is left for a process that joins later."""
    here, there = opened(redis_server), opened(redis_server, NewerSpider)
    there.enqueue_request(Request(f"{SITE}/a", callback=there.spider.parse_more))
    there.enqueue_request(Request(f"{SITE}/b", priority=-1))
    assert here.next_request().url == f"{SITE}/b"
    assert "'parse_more' not found" in caplog.text
    assert there.next_request() is None
    assert is_to_stay(here)
    assert not is_to_stay(there)
    assert not is_to_stay(here)
    assert opened(redis_server, NewerSpider).next_request().url == f"{SITE}/a"


def lives_of(shared):
    """Return the lives of pages as a process has them; a request is a text."""
    return SharedLives(lambda *_: True, shared, lambda url: (url, b"0 " + url.encode()), **BOUNDS)


@pytest.mark.filterwarnings("ignore:Spider.log")
def test_crawl_that_was_killed_and_is_gone_on_with_after_weeks(redis_server):
    """The state of a killed crawl is kept as long as its queue."""
    killed = opened(redis_server)
    killed.enqueue_request(Request(f"{SITE}/a?sid=1"))
    killed.next_request()
    lives = lives_of(killed._frontier)
    lives.sent(b"page", "parse")
    lives.dropped(b"page", "parse", "/a?sid=2", "2")
    client = redis_server.client
    client.delete(*(key for key in client.scan_iter() if client.ttl(key) > 0))
    later = opened(redis_server)
    assert later.next_request().url == f"{SITE}/a?sid=1"
    assert lives_of(later._frontier).release_all() == 1


def test_page_that_failed_here_and_was_fetched_elsewhere_is_not_missed(redis_server):
    """A page that failed here is not missed if another process has it, or is fetching it."""
    shared = Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")
    here, there = lives_of(shared), lives_of(shared)
    here.sent(b"page", "parse")
    here.dropped(b"page", "parse", "/?sid=1", "1")
    here.ended(b"page", "parse")
    assert not here.is_missed(b"page")
    there.sent(b"page", "parse")
    there.ended(b"page", "parse")
    assert here.is_missed(b"page")
    there.sent(b"page", "parse")
    there.got(b"page", "parse")
    there.confirmed(b"page", "parse")
    assert not here.is_missed(b"page")


def test_all_processes_compare_with_the_url_that_was_rescued(redis_server):
    """After a rescue all processes compare with the rescued URL."""

    def enqueue(shared, url):
        kinds = {"records": True, "drops": True, "on_dropped": lambda _: None}
        return shared.enqueue(b"page".hex(), b"0 data", url, 5, **kinds)

    here, there = (
        Frontier(redis_server.client, "crawl", "queue", "seen", "fifo") for _ in range(2)
    )
    first_urls = FirstUrls()
    Shared(get_crawler(FollowSpider), here, bytes).begin(first_urls, str, print, None)
    assert enqueue(there, "/?sid=1") is None
    assert enqueue(here, "/?sid=2") == "/?sid=1"
    first_urls.replace(b"page", "/?sid=2")
    assert enqueue(there, "/?sid=3") == "/?sid=2"


@pytest.mark.parametrize(
    ("policy", "maximum", "is_logged"),
    [("allkeys-lru", "100mb", True), ("noeviction", "100mb", False), ("allkeys-lru", 0, False)],
)
def test_redis_that_throws_keys_away_is_warned_of(redis_server, caplog, policy, maximum, is_logged):
    """A warning says that Redis may evict keys, which would lose pages."""
    redis_server.client.config_set("maxmemory-policy", policy)
    redis_server.client.config_set("maxmemory", maximum)
    with caplog.at_level(logging.WARNING):
        Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")
    assert (f"maxmemory-policy {policy}" in caplog.text) is is_logged
