"""A request is written into the journal of a job once, not again for each page that links it."""

import errno
from pathlib import Path

import pytest
from loopback import page
from scrapy import FormRequest, Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE

from scrapy_urlcanon.crawl.recovery import written_requests
from scrapy_urlcanon.crawl.recovery.journal import Journal, Kind
from scrapy_urlcanon.crawl.recovery.written_requests import WrittenRequests

URL = f"{SITE}/a"
LINKED = {"callback": print, "meta": {"depth": 2, "link_text": "a"}, "cb_kwargs": {"n": 1}}


def is_written(request, *, after, fingerprint=b"a"):
    """Tell whether *request* is to be written down after the one with the arguments *after*."""
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
    """Only the page that it stands on tells it from the one before."""
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
    """It may be fetched where the first one is not."""
    assert is_written(Request(URL, **{**LINKED, **other}), after=LINKED)


def test_request_under_other_rules_is_written():
    """A rule was suspended, and its page is another one now."""
    assert is_written(Request(URL, **LINKED), after=LINKED, fingerprint=b"b")


@pytest.mark.parametrize(
    "arguments", [{"meta": {"found": []}}, {"cb_kwargs": {"found": []}}, {"meta": {"depth": "2"}}]
)
def test_request_with_what_may_change_is_written_each_time(arguments):
    """A list that it carries may have grown; a depth that is none says nothing."""
    assert is_written(Request(URL, **arguments), after=arguments)


def test_request_of_another_class_is_written_each_time():
    """Who knows what else it holds."""
    written = WrittenRequests()
    assert all(written.note(FormRequest(URL), b"a") for _ in range(2))


def test_link_that_is_less_deep_counts_from_then_on():
    """Of three depths the least is what the journal says."""
    written = WrittenRequests()
    noted = [written.note(Request(URL, meta={"depth": depth}), b"a") for depth in (3, 1, 2)]
    assert noted == [True, True, False]


def test_only_late_requests_are_remembered(monkeypatch):
    """Memory is bounded, and what is written twice costs no page."""
    monkeypatch.setattr(written_requests, "_REMEMBERED", 2)
    written = WrittenRequests()
    noted = [written.note(Request(f"{SITE}/{name}"), name.encode()) for name in "abaca"]
    assert noted == [True, True, False, True, True]


def menu(request):
    """Answer with links to all pages."""
    del request
    return page("".join(f"<a href=/{n}>{n}</a>" for n in range(5)))


def scheduled():
    """Return of which URLs the journal of the job says that they were scheduled."""
    journal = Journal(Path("job/urlcanon.journal"))
    journal.scan(lambda _: None)
    records = [record for record in journal if record.kind is Kind.SCHEDULED]
    return sorted(record.request["url"].removeprefix(SITE) for record in records)


@deferred_f_from_coro_f
async def test_journal_has_each_link_once(crawl):
    """Six pages with five links each."""
    await crawl(menu, {"JOBDIR": "job"})
    assert scheduled() == ["/", "/0", "/1", "/2", "/3", "/4"]


@deferred_f_from_coro_f
async def test_what_could_not_be_written_is_written_for_the_next_link(crawl, monkeypatch):
    """The disk was full for a moment."""
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
