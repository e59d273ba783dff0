"""What processes that share a crawl know of each other through Redis, part by part."""

from threading import Thread

import pytest

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.case import AuditedPair
from scrapy_urlcanon.crawl.recovery.page_states import Fate
from scrapy_urlcanon.pages.verdict import Judgement, Verdict
from scrapy_urlcanon.redis.dupefilter import SeenInRedis
from scrapy_urlcanon.redis.frontier import Frontier
from scrapy_urlcanon.redis.shared_checks import SharedVerdicts
from scrapy_urlcanon.redis.shared_lives import SharedLives


@pytest.fixture
def new_frontier(redis_server):
    """Return a frontier as one more process has it."""
    return lambda: Frontier(redis_server.client, "crawl", "queue", "seen", "fifo")


@pytest.fixture
def new_lives(new_frontier):
    """Return the lives of pages as one more process has them; a request is a text."""

    def lives(*, most=10):
        return SharedLives(
            lambda *_: True,
            new_frontier(),
            lambda request: (request, f"0 {request}".encode()),
            max_pages=10,
            max_waiting=most,
        )

    return lives


def have(lives, page):
    """Let a request of the callback parse get *page*."""
    lives.sent(page, "parse")
    lives.got(page, "parse")
    lives.confirmed(page, "parse")


# Where a URL may lead elsewhere than the first one did, one more is asked for.
@pytest.mark.parametrize(("is_same", "fate"), [(True, Fate.FORGOTTEN), (False, Fate.FETCHED)])
def test_what_led_to_a_page_that_another_process_has_got_is_done(new_lives, is_same, fate):
    """A redirect to a page that another process has needs no variant, unless it leads elsewhere."""
    here, there = new_lives(), new_lives()
    have(there, b"page")
    here.sent(b"source", "parse")
    here.redirected(b"page", "parse", {b"source": is_same})
    assert there.dropped(b"source", "parse", "/?sid=1", "1") is fate


@pytest.mark.parametrize(("is_same", "fate"), [(True, Fate.FORGOTTEN), (False, Fate.WAITS)])
def test_what_led_to_a_page_hears_of_it_when_another_process_gets_it(new_lives, is_same, fate):
    """Variants of a redirect wait until another process has fetched its target."""
    here, there = new_lives(), new_lives()
    there.sent(b"page", "parse")
    here.sent(b"source", "parse")
    here.redirected(b"page", "parse", {b"source": is_same, b"other": is_same})
    assert here.dropped(b"source", "parse", "/?sid=1", "1") is Fate.WAITS
    have(there, b"page")
    assert here.dropped(b"source", "parse", "/?sid=2", "2") is fate
    assert there.is_had(b"source")
    assert there.is_had(b"other")


def test_variant_of_what_led_to_a_page_that_failed_elsewhere_is_queued(redis_server, new_lives):
    """If the target failed elsewhere, a variant of the redirect is queued."""
    here, there = new_lives(), new_lives()
    there.sent(b"page", "parse")
    there.ended(b"page", "parse")
    here.sent(b"source", "parse")
    assert here.dropped(b"source", "parse", "/?sid=1", "1") is Fate.WAITS
    here.redirected(b"page", "parse", {b"source": True})
    assert redis_server.client.lrange("queue", 0, -1) == [b"1"]


def test_variant_of_what_was_redirected_to_itself_is_queued(redis_server, new_lives):
    """Its page did not come, and nobody waits for another one."""
    lives = new_lives()
    lives.sent(b"page", "parse")
    assert lives.dropped(b"page", "parse", "/?sid=1", "1") is Fate.WAITS
    lives.redirected(b"page", "parse", {b"page": True})
    assert redis_server.client.lrange("queue", 0, -1) == [b"1"]


def test_variant_of_what_was_redirected_while_redis_is_gone_is_queued_later(
    redis_server, new_lives
):
    """Nobody can tell then whether another process has the page, so that it counts as missed."""
    lives = new_lives()
    lives.sent(b"source", "parse")
    assert lives.dropped(b"source", "parse", "/?sid=1", "1") is Fate.WAITS
    redis_server.stop()
    lives.redirected(b"page", "parse", {b"source": True})
    redis_server.start()
    lives._frontier.beat()
    assert redis_server.client.lrange("queue", 0, -1) == [b"1"]


def test_variant_for_which_there_is_no_room_is_given_up_and_counted(redis_server, new_lives):
    """The bound of waiting variants holds for all processes together."""
    here, there = new_lives(most=2), new_lives(most=2)
    here.sent(b"page", "parse")
    fates = [
        lives.dropped(b"page", "parse", f"/{n}", f"{n}") for n in "12" for lives in (here, there)
    ]
    assert Fate.WAITS in fates
    assert (here.dropped(b"page", "parse", "/9", "9"), here.given_up) == (Fate.FORGOTTEN, 1)
    assert redis_server.client.llen("queue") == 0


def test_page_that_another_process_fetched_counts(redis_server, new_lives):
    """A page that another process fetched counts, as far as Redis answers."""
    here, there = new_lives(), new_lives()
    have(there, b"page")
    assert there.dropped(b"page", "parse", "/?sid=1", "1") is Fate.FORGOTTEN
    # From then on it is known here which callbacks there are.
    here.sent(b"other", "parse")
    here.dropped(b"other", "parse", "/?sid=1", "1")
    assert [here.is_had(page) for page in (b"page", b"other", b"none")] == [True, False, False]
    redis_server.stop()
    assert not here.is_had(b"page")
    redis_server.start()


@pytest.mark.parametrize(("is_had", "fate"), [(True, Fate.FETCHED), (False, Fate.WAITS)])
def test_page_whose_links_a_depth_limit_cut_off_is_fetched_again(
    redis_server, new_lives, is_had, fate
):
    """A page linked at a lower depth is fetched again, once its first request has ended."""
    here, there = new_lives(), new_lives()
    if is_had:
        have(here, b"page")
        assert there.dropped(b"page", "parse", "/?sid=1", "1") is Fate.FORGOTTEN
    else:
        here.sent(b"page", "parse")
    third = new_lives()
    here.cut_off(b"page", "parse")
    assert third.dropped(b"page", "parse", "/?sid=2", "2") is fate
    assert redis_server.client.llen("queue") == is_had


def test_second_step_of_another_callback_is_none_here(new_lives):
    """A second request for another callback does not settle a page: another process may get it."""
    lives = new_lives()
    lives.sent(b"page", "parse")
    lives.got(b"page", "parse")
    assert not lives.asked_again(b"page", "parse", (b"page", "other"))
    assert lives.asked_again(b"page", "parse", (b"page", "parse"))
    # Nobody has asked for it yet.
    assert not lives.asked_again(b"new", "parse", (b"new", "parse"))


def test_fingerprint_that_is_forgotten_is_forgotten_by_all(redis_server):
    """A removed fingerprint is removed for all processes."""
    here, there = (SeenInRedis(redis_server.client, "seen") for _ in range(2))
    redis_server.client.sadd("seen", "ab", "cd")
    assert b"\xab" in there
    here.discard(b"\xab")
    assert [each in there for each in (b"\xab", b"\xcd", "cd")] == [False, True, False]


def test_verdict_is_heard_of_once_by_each_other_process(new_frontier):
    """Each other process gets a verdict of an audit once."""
    here, there, late = (SharedVerdicts(new_frontier()) for _ in range(3))
    own, lacking = ({(f"line {n}",) for n in numbers} for numbers in ("12", "3"))
    pair = AuditedPair(
        "http://a.example/?sid=2",
        "http://a.example/?sid=1",
        (RuleEntry("drop_params", "sid"),),
        "a.example",
        Judgement(Verdict.ANOTHER, own=frozenset(own), lacking=frozenset(lacking)),
        b"page",
    )
    here.tell(pair)
    here.tell(pair._replace(judgement=Judgement(Verdict.CANNOT_TELL)))
    assert [*here.new()] == []
    assert [*there.new()] == [pair]
    assert [*there.new()] == []
    assert [*late.new()] == [pair]


@pytest.fixture
def begin_after(monkeypatch):
    """Return a function that begins something in a thread after a frontier has looked."""

    def begin(frontier, look, other):
        looks, thread = getattr(frontier, look), Thread(target=other)

        def looked():
            found = looks()
            thread.start()
            # It ends now, unless it waits.
            thread.join(0.5)
            return found

        monkeypatch.setattr(frontier, look, looked)
        return thread

    return begin


def test_process_that_joins_while_another_one_finds_the_crawl_ended_takes_part(
    redis_server, new_frontier, begin_after
):
    """A process that joins while another cleans up takes part, and is not deleted."""
    first, second = new_frontier(), new_frontier()
    redis_server.client.sadd("seen", "old")
    joining = begin_after(second, "has_ended", lambda: first.join(persists=False, flushes=False))
    second.join(persists=False, flushes=False)
    joining.join()
    names = {first.name.encode(), second.name.encode()}
    assert redis_server.client.smembers("crawl:urlcanon:processes") == names
    assert not redis_server.client.exists("seen")


def test_crawl_that_one_joins_while_the_last_one_leaves_is_kept(
    redis_server, new_frontier, begin_after
):
    """A crawl that a process joins while the last one leaves is kept."""
    first, second = new_frontier(), new_frontier()

    def join_and_queue():
        second.join(persists=False, flushes=False)
        redis_server.client.lpush("queue", "new")

    first.join(persists=False, flushes=False)
    joining = begin_after(first, "is_last", join_and_queue)
    first.leave(persists=False)
    joining.join()
    assert redis_server.client.lrange("queue", 0, -1) == [b"new"]
    assert redis_server.client.smembers("crawl:urlcanon:processes") == {second.name.encode()}
