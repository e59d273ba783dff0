"""A request is written to the journal once, and not for each page that links it."""

import errno
import pickle
from pathlib import Path

import pytest
from loopback import page
from scrapy import FormRequest, Request
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import request_from_dict
from sites import SITE

from scrapy_urlcanon.crawl.job import written_requests
from scrapy_urlcanon.crawl.job.journal import Journal, Kind
from scrapy_urlcanon.crawl.job.written_requests import WrittenRequests, data_of, identity_of

URL = f"{SITE}/a"
LINKED = {"callback": print, "meta": {"depth": 2, "link_text": "a"}, "cb_kwargs": {"n": 1}}


class Eager(Request):
    """A request class with a high priority by default."""

    def __init__(self, url, *arguments, priority=5, **others):
        super().__init__(url, *arguments, priority=priority, **others)


@pytest.mark.parametrize("kind", [Request, FormRequest, Eager])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"priority": 0},
        {"priority": 1},
        {"priority": -1, "dont_filter": True, "method": "POST", "body": b"0"},
        {"meta": {"depth": 0}, "cb_kwargs": {"n": 0}, "headers": {"A": "0"}, "cookies": {"a": "0"}},
        {"flags": ["0"], "encoding": "latin-1"},
    ],
)
def test_request_is_made_again_as_it_was(kind, arguments):
    """A request is restored as it was, though default values are left out."""
    request = kind(URL, **arguments)
    data = data_of(request, None)
    again = request_from_dict(pickle.loads(pickle.dumps(data)))
    assert type(again) is kind
    assert again.to_dict() == request.to_dict()


def test_record_of_a_link_says_little():
    """The record of a link is small, since a job has millions."""
    assert data_of(Request(URL), None) == {"url": URL, "method": "GET", "encoding": "utf-8"}


RETRIED = {"meta": {"depth": 1, "retry_times": 1, "download_latency": 0.1, "download_slot": "a"}}


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (RETRIED, True),
        ({"meta": {"depth": 1}, "priority": 3, "headers": {"A": "1"}}, True),
        ({"meta": {"depth": 1}, "body": b"1"}, False),
        ({"meta": {"depth": 1}, "method": "POST"}, False),
        ({"meta": {"depth": 2}}, False),
        ({"meta": {"depth": 1}, "cb_kwargs": {"n": 1}}, False),
        ({"meta": {"depth": 1}, "url": f"{URL}?b"}, False),
    ],
)
def test_identity_is_that_of_its_retries_alone(other, is_same):
    """A request and its retries have one identity, and no other request."""
    first = Request(URL, meta={"depth": 1})
    second = Request(**{"url": URL, **other})
    assert (identity_of(first, None) == identity_of(second, None)) is is_same


def test_identity_of_what_redirected_to_a_request():
    """The identity of a redirect's source is that of the request for that URL."""
    led = Request(f"{SITE}/led")
    assert identity_of(led, None, url=URL) == identity_of(Request(URL), None)


def is_written(request, *, after, fingerprint=b"a"):
    """Tell whether *request* is written after one with the arguments *after*."""
    written = WrittenRequests()
    assert written.note(Request(URL, **after), b"a")
    return written.note(request, fingerprint)


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"headers": {"Referer": f"{SITE}/b"}},
        {"priority": -3},
        {"meta": {"link_text": "a", "depth": 2}},
        {"meta": {"depth": 7, "link_text": "a"}},
    ],
)
def test_repeated_link_is_not_written_again(other):
    """A repeated link that differs by its page alone is not written again."""
    assert not is_written(Request(URL, **{**LINKED, **other}), after=LINKED)


@pytest.mark.parametrize(
    "other",
    [
        {"callback": repr},
        {"errback": repr},
        {"cb_kwargs": {"n": 2}},
        {"cb_kwargs": {}},
        {"cb_kwargs": {}, "meta": {"depth": 2, "link_text": "a", "n": 1}},
        {"meta": {"depth": 2}},
        {"meta": {"depth": 2, "link_text": "b"}},
        # For callbacks that are told how far a page is from the start, and for DEPTH_LIMIT.
        {"meta": {"depth": 1, "link_text": "a"}},
        {"headers": {"X-A": "1"}},
        {"headers": {"X-A": "1", "Referer": SITE}},
        {"cookies": {"a": "1"}},
        {"flags": ["a"]},
        {"method": "POST"},
        {"body": b"a"},
        {"dont_filter": True},
        {"meta": {"depth": 2, "link_text": "a", "urlcanon_record": False}},
    ],
)
def test_what_may_be_another_request_is_written(other):
    """A link with another callback or arguments is written."""
    assert is_written(Request(URL, **{**LINKED, **other}), after=LINKED)


def test_request_under_other_rules_is_written():
    """A link is written again after a suspension, since it is another page."""
    assert is_written(Request(URL, **LINKED), after=LINKED, fingerprint=b"b")


@pytest.mark.parametrize(
    "arguments", [{"meta": {"found": []}}, {"cb_kwargs": {"found": []}}, {"meta": {"depth": "2"}}]
)
def test_request_with_what_may_change_is_written_each_time(arguments):
    """A link with mutable values is written each time."""
    assert is_written(Request(URL, **arguments), after=arguments)


def test_request_of_another_class_is_written_each_time():
    """A request of another class is written each time."""
    written = WrittenRequests()
    assert all(written.note(FormRequest(URL), b"a") for _ in range(2))


def test_link_that_is_less_deep_counts_from_then_on():
    """A link at a lower depth is written again."""
    written = WrittenRequests()
    noted = [written.note(Request(URL, meta={"depth": depth}), b"a") for depth in (3, 1, 2)]
    assert noted == [True, True, False]


def test_only_late_requests_are_remembered(monkeypatch):
    """The memory of written links is bounded; writing one twice loses nothing."""
    monkeypatch.setattr(written_requests, "_REMEMBERED", 2)
    written = WrittenRequests()
    noted = [written.note(Request(f"{SITE}/{name}"), name.encode()) for name in "abaca"]
    assert noted == [True, True, False, True, True]


def menu(request):
    """Answer with links to all pages."""
    del request
    return page("".join(f"<a href=/{n}>{n}</a>" for n in range(5)))


def scheduled():
    """Return the URLs that the journal says were scheduled."""
    journal = Journal(Path("job/urlcanon.journal"))
    journal.scan(lambda _: None)
    records = [record for record in journal if record.kind is Kind.SCHEDULED]
    return sorted(record.request["url"].removeprefix(SITE) for record in records)


@deferred_f_from_coro_f
async def test_journal_has_each_link_once(crawl):
    """The journal has each of the links of six pages once."""
    await crawl(menu, {"JOBDIR": "job"})
    assert scheduled() == ["/", "/0", "/1", "/2", "/3", "/4"]


@deferred_f_from_coro_f
async def test_what_could_not_be_written_is_written_for_the_next_link(crawl, monkeypatch):
    """A link that could not be written is written when it is linked again."""
    add = Journal.add
    failed = []

    def fail_once(self, record):
        url = (record.request or {}).get("url")
        if url == f"{SITE}/3" and not failed:
            failed.append(url)
            raise OSError(errno.ENOSPC, "")
        add(self, record)

    monkeypatch.setattr(Journal, "add", fail_once)
    await crawl(menu, {"JOBDIR": "job"})
    assert failed
    assert "/3" in scheduled()
