"""Memory for requests and responses that are kept for later is bounded by bytes."""

import tracemalloc

import pytest
from loopback import page
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links

from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes, parts_of, weigh
from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
from scrapy_urlcanon.crawl.recovery.waiting import WaitingPages

RULES = {"site.example": {"drop_params": ["sid"]}}


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytes(200_000),
        lambda: "text" * 50_000,
        lambda: {"rows": [str(n) * 20 for n in range(2_000)]},
        lambda: [{"id": n, "text": f"{n}" * 30} for n in range(1_000)],
        lambda: {"deep": {"er": {"still": ({"a": bytes(100_000)},)}}},
    ],
)
def test_estimate_is_near_what_is_taken(make):
    """An estimate is between half and twice of the memory allocated."""
    make()
    tracemalloc.start()
    value = make()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / 2 < weigh(value) < taken * 2


def test_estimate_of_what_contains_itself_ends():
    """An estimate ends for cycles, and for very many elements."""
    cycle = []
    cycle.append(cycle)
    assert weigh(cycle) < 1000
    wide = [[[0] * 1000 for _ in range(1000)]] * 1000
    assert weigh(wide) > 1000


def test_what_requests_share_counts_once():
    """An object that many requests share is counted once, until the last of them is gone."""
    held = HeldBytes(parts_of)
    item = {"text": "x" * 1_000_000}
    requests = [Request(f"http://a.example/{n}", meta={"item": item}) for n in range(100)]
    for request in requests:
        held.add(request)
    assert 1_000_000 < held.total < 1_500_000
    for request in requests[1:]:
        held.remove(request)
    assert 1_000_000 < held.total < 1_010_000
    held.remove(requests[0])
    assert held.total == 0


def test_bytes_of_what_waits_are_bounded_and_a_trap_gives_way():
    """Over the bound the page with most bytes gives up its youngest variant; others keep theirs."""
    lives = PageLives(lambda *_: True, max_bytes=1_000_000, parts=lambda request: request)
    for name in (b"victim", b"trap"):
        lives.sent(name, "parse")
    victim = ("/victim", bytes(10_000))
    lives.dropped(b"victim", "parse", "/victim", victim)
    for number in range(500):
        url = f"/trap?{number}"
        lives.dropped(b"trap", "parse", url, (url, bytes(100_000)))
    kept = list(lives.waiting)
    assert victim in kept
    assert 5 < len(kept) < 11
    assert lives.given_up == 501 - len(kept)


def test_largest_page_gives_way_however_much_came_and_went():
    """The largest page is still known after many others came and went."""
    waiting = WaitingPages(4, 1_000_000, lambda request: (request,))
    for name, url in ((b"small", "/a"), (b"trap", "/1"), (b"trap", "/2")):
        waiting.add(name, "parse", url, url)
    for number in range(50):
        waiting.add(b"passing", "parse", "/b", f"/b{number}")
        waiting.take(b"passing", "parse")
    for number in range(2):
        waiting.add(b"other%d" % number, "parse", "/c", f"/c{number}")
    assert list(waiting.requests()) == ["/a", "/1", "/c0", "/c1"]


def test_what_waits_for_two_pages_that_are_one_is_weighed_once():
    """When two pages become one, a URL that waited for both is counted once."""
    waiting = WaitingPages(9, 100_000, lambda request: (request,))
    # All of them are held here too: what takes the place of another one in memory is taken for it.
    added = [
        (b"old", "/1", bytes(50_000)),
        (b"old", "/2", bytes(20_000)),
        (b"new", "/2", bytes(20_000)),
    ]
    for name, url, request in added:
        waiting.add(name, "parse", url, request)
    waiting.rename(b"old", b"new")
    assert [len(request) for request in waiting.requests()] == [20_000, 50_000]
    waiting.add(b"other", "parse", "/3", bytes(20_000))
    assert waiting.given_up == 0
    waiting.add(b"other", "parse", "/4", bytes(20_000))
    assert [len(request) for request in waiting.requests()] == [20_000, 20_000, 20_000]


class HeavySpider(FollowSpider):
    """Puts 100 kB into the meta of each request."""

    def parse(self, response):
        """Yield what the base class does, each request with 100 kB more."""
        for result in super().parse(response):
            if isinstance(result, Request):
                result.meta["heavy"] = bytes(100_000)
            yield result


@pytest.mark.parametrize("audit", [1e-9, 1.0])
@deferred_f_from_coro_f
async def test_audit_keeps_no_more_bytes_than_it_may(crawl, audit):
    """Dropped requests given up for lack of memory are counted."""
    urls = [f"/p?sid={n}" for n in range(100)]
    home = links(*urls)
    result = await crawl(
        lambda request: home if request.target == "/" else page("<title>One</title><p>page"),
        {
            "URLCANON_RULES": RULES,
            "URLCANON_AUDIT": audit,
            "URLCANON_RESCUE": False,
            "URLCANON_PENDING_MAX_BYTES": 2_000_000,
            "CONCURRENT_REQUESTS": 1,
        },
        spider=HeavySpider,
    )
    lost = result.figures.get("audit/forgotten", 0)
    assert 75 < lost < 85


def test_what_stands_twice_hides_nothing_behind_it():
    """An object that is contained twice is counted once, and what follows it is counted too."""
    twice = [bytes(5_000)]
    assert 15_000 < weigh([twice, twice, bytes(10_000)]) < 16_000


class Opened(list):
    """A list that counts how many of its kind are iterated."""

    count = 0

    def __iter__(self):
        Opened.count += 1
        return super().__iter__()


@pytest.mark.parametrize("width", [12, 300])
def test_time_that_it_takes_to_weigh_is_bounded(width):
    """An estimate looks at a bounded number of objects, however many there are."""
    deep = [width] * (4 if width < 100 else 2)

    def tree(widths):
        return Opened(tree(widths[1:]) for _ in range(widths[0])) if widths else Opened()

    value = tree(deep)
    Opened.count = 0
    weight = weigh(value)
    assert Opened.count <= 2_000
    assert weight > Opened.count * 50


def test_responses_of_a_few_bytes_are_held_in_bounded_memory():
    """Small responses are counted with their headers and requests, not by their bodies alone."""
    headers = {name: bytes(20) for name in ("Date", "ETag", "Server", "Set-Cookie", "Vary", "Via")}
    held = HeldResponses(2_000_000, lambda _: b"")
    tracemalloc.start()
    for number in range(1_000):
        url = f"http://site.example/{number}"
        request = Request(url, headers=headers, meta={"depth": number, "download_latency": 0.1})
        held.hold(url, Response(url, headers=headers, body=b"{}", request=request))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held.get("http://site.example/999") is not None
    assert taken < 700_000


def test_response_is_held_for_requests_that_nothing_beside_the_url_tells_apart():
    """If the user's fingerprinter considers a header, each request gets its own response."""
    held = HeldResponses(2_000_000, lambda request: request.headers["X-Kind"])
    url = "http://site.example/"
    requests = [Request(url, headers={"X-Kind": kind}) for kind in ("a", "b")]
    held.hold(url, Response(url, body=b"a", request=requests[0]))
    assert held.take(requests[1]) is None
    assert held.take(requests[0]).body == b"a"
