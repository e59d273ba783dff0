"""A request that was left is in a file until it is fetched, whatever becomes of later crawls."""

import json
import logging
import resource
import sys
from collections import Counter
from datetime import date, datetime, timezone
from types import ModuleType

import pytest
from loopback import Response, page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, urls_in

from scrapy_urlcanon.crawl.order.left import LeftRequests
from scrapy_urlcanon.crawl.order.stores import DiskStore
from scrapy_urlcanon.novelty.kinds import OTHER

STOPPING = {
    **ONE_BY_ONE,
    "URLCANON_ORDER": "novelty",
    "URLCANON_STOP": 0.2,
    "URLCANON_LEFT": "left",
}


@deferred_f_from_coro_f
async def test_crawl_that_takes_up_the_file_that_it_writes_keeps_it(crawl, tmp_path):
    """A crawl may take up and write the same file: what it took up is kept beside it."""

    def respond(request):
        links = "".join(f"<a href=/item/{number}>x</a>" for number in range(100))
        return page(links if request.target == "/" else "nothing")

    await crawl(respond, STOPPING)
    left = urls_in(tmp_path / "left")
    second = await crawl(respond, {**STOPPING, "URLCANON_TAKE_UP": "left"}, start=())
    assert 0 < len(second.hits) < len(left)
    assert urls_in(tmp_path / "left.taken-up") == left
    assert sorted([*second.hits, *urls_in(tmp_path / "left")]) == sorted(left)


@deferred_f_from_coro_f
async def test_file_that_is_taken_up_may_be_named_as_the_one_that_is_left(crawl, tmp_path):
    """One setting for all spiders of a project: the name of the spider stands for itself."""

    def respond(request):
        links = "".join(f"<a href=/item/{number}>x</a>" for number in range(100))
        return page(links if request.target == "/" else "nothing")

    named = "left-%(name)s"
    await crawl(respond, {**STOPPING, "URLCANON_LEFT": named})
    left = urls_in(tmp_path / "left-follow")
    second = await crawl(respond, {"URLCANON_TAKE_UP": named}, start=())
    assert sorted(second.hits) == sorted(left)


class TellsOfFailures(FollowSpider):
    """Its requests have an errback, and the default callback."""

    def parse(self, response):
        for number in range(100):
            yield Request(response.urljoin(f"/item/{number}"), errback=self.failed)

    def failed(self, _failure):
        self.crawler.stats.inc_value("failed")


@deferred_f_from_coro_f
async def test_request_with_an_errback_alone_is_left_and_taken_up_with_it(crawl, tmp_path):
    """A request with an errback and the default callback is left, and taken up with both.

    If it could not be written it would be fetched, and no crawl of such requests would end.
    """

    def respond(_request):
        return page("nothing")

    first = await crawl(respond, STOPPING, spider=TellsOfFailures)
    left = urls_in(tmp_path / "left")
    assert first.stats["finish_reason"] == "urlcanon_no_news"
    assert len(first.hits) + len(left) == 101

    def fail(_request):
        return Response(500)

    later = {**ONE_BY_ONE, "URLCANON_TAKE_UP": "left"}
    second = await crawl(fail, later, start=(), spider=TellsOfFailures)
    assert second.stats["failed"] == len(left)


def test_request_for_which_there_is_no_room_spoils_no_other(tmp_path):
    """A request cut off by a full disk does not spoil the next one in the file."""
    left = LeftRequests(tmp_path / "left", None, adds=True)
    left.add(Request(f"{SITE}/before"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The second one fits in part, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (left.path.stat().st_size + 50, hard))
    try:
        with pytest.raises(OSError, match="No room"):
            left.add(Request(f"{SITE}/cut-off"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    again = LeftRequests(left.path, None, adds=True)
    again.add(Request(f"{SITE}/after"))
    assert [request.url for request in again] == [f"{SITE}/before", f"{SITE}/after"]


def test_crawls_that_run_at_the_same_time_write_to_one_file(tmp_path):
    """Crawls of one spider at the same time add to one file; a later crawl replaces it."""
    one, other, later = (LeftRequests(tmp_path / "left", None) for _ in range(3))
    for left in (one, other):
        left.opened()
    other.add(Request(f"{SITE}/0"))
    one.add(Request(f"{SITE}/1"))
    one.closed()
    other.add(Request(f"{SITE}/2"))
    other.closed()
    assert [request.url for request in later] == [f"{SITE}/{n}" for n in range(3)]
    later.opened()
    later.add(Request(f"{SITE}/later"))
    later.closed()
    assert [request.url for request in later] == [f"{SITE}/later"]


def test_kinds_of_what_is_left_are_bounded(tmp_path, monkeypatch):
    """Kinds beyond MAX_KINDS are counted together."""
    monkeypatch.setattr("scrapy_urlcanon.crawl.order.left.MAX_KINDS", 2)
    left = LeftRequests(tmp_path / "left", None)
    for name in ("a", "b", "c", "a", "d"):
        left.add(Request(f"{SITE}/{name}/x"))
    first, second = (count for kind, count in left.counts.items() if kind != OTHER)
    assert (first, second, left.counts[OTHER]) == (2, 1, 2)
    assert len(urls_in(left.path)) == 5


ODD = {
    "when": date(2026, 11, 26),
    "at": datetime(2026, 11, 26, 2, 3, tzinfo=timezone.utc),
    "pages": (1, [2, (b"three", None)]),
    "by number": {1: "one", (2, 3): {"tuple": [4]}},
    "as ours": {"base64": "no"},
}


def test_request_that_is_left_is_taken_up_as_it_was(tmp_path):
    """A request that was left comes back whole, with meta and cb_kwargs of all plain types.

    Lines that cannot be read are skipped.
    """
    left = LeftRequests(tmp_path / "left.jsonl", FollowSpider())
    own = {"method": "POST", "body": b"\xff", "priority": 3, "headers": {"X-A": "b"}}
    left.add(Request(f"{SITE}/a", cb_kwargs=ODD, meta=ODD, **own))
    with left.path.open("ab") as file:
        file.write(b"{}\nno JSON\n\xff\n")
    [request] = left
    assert (request.url, request.cb_kwargs, request.meta) == (f"{SITE}/a", ODD, ODD)
    assert (request.method, request.body, request.priority) == ("POST", b"\xff", 3)
    assert request.headers["X-A"] == b"b"
    assert left.counts == {"site.example/a": 1}


ITSELF = {}
ITSELF["itself"] = [ITSELF]


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, Counter("a"), type("Own", (str,), {})("a"), ITSELF]
)
def test_request_that_could_not_be_taken_up_is_not_left(tmp_path, value):
    """A request with values that JSON cannot hold is not left, but fetched."""
    left = LeftRequests(tmp_path / "left.jsonl", FollowSpider())
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        left.add(Request(f"{SITE}/a", meta={"value": [value]}))
    assert not left.counts
    assert not left.path.exists()


def test_request_of_a_class_that_is_gone_is_logged(tmp_path, monkeypatch, caplog):
    """If the class of a stored request is gone, that is logged, and all others are taken up."""
    module = ModuleType("gone")
    module.Own = type("Own", (Request,), {"__module__": "gone"})
    monkeypatch.setitem(sys.modules, "gone", module)
    left = LeftRequests(tmp_path / "left.jsonl", FollowSpider())
    waiting = DiskStore(tmp_path / "queue", FollowSpider())
    requests = [module.Own(f"{SITE}/own"), Request(f"{SITE}/plain")]
    numbers = [waiting.put(request) for request in requests]
    for request in requests:
        left.add(request)
    monkeypatch.delitem(sys.modules, "gone")
    assert [request.url for request in left] == [f"{SITE}/plain"]
    taken = [waiting.take(number) for number in numbers]
    assert [request and request.url for request in taken] == [None, f"{SITE}/plain"]
    assert caplog.text.count("No module named 'gone'") == 2
    waiting.close()


@deferred_f_from_coro_f
async def test_lines_that_are_no_requests_are_logged_and_counted(crawl, tmp_path, caplog):
    """Lines of URLCANON_TAKE_UP that are no requests are logged, and the rest is fetched."""
    path = tmp_path / "left.jsonl"
    request = json.dumps({"url": f"{SITE}/left", "callback": "parse"})
    path.write_text("\n".join(["[1, 2]", '{"a": 1}', *("no request" for _ in range(98)), request]))
    caplog.set_level(logging.INFO)
    result = await crawl(lambda _: page("<p>text"), {"URLCANON_TAKE_UP": str(path)})
    assert sorted(result.hits) == ["/", "/left"]
    assert caplog.text.count("left.jsonl is no request") == 3
    assert caplog.text.count('is no request: expected a JSON object with "url"') == 2
    assert f"{path}: 100 lines in all are no requests." in caplog.text
    assert f"Taken up from {path}: 1 request that an earlier crawl left." in caplog.text


@deferred_f_from_coro_f
async def test_file_to_take_up_that_is_not_there_is_one_line(crawl, tmp_path, caplog):
    """If the file of URLCANON_TAKE_UP is missing, one error says so, and the crawl goes on."""
    path = tmp_path / "left.jsonl"
    result = await crawl(lambda _: page("<p>text"), {"URLCANON_TAKE_UP": str(path)})
    assert len(result.hits) == 1
    [message] = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    reason = "there is no such file"
    assert message.endswith(f"an earlier crawl left cannot be taken up from {path}: {reason}")
