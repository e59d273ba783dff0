"""The journal of a job: what is whole is read, and a journal that fails stops no crawl."""

import asyncio
import errno
import logging
import os
import pickle
import struct
from pathlib import Path
from typing import ClassVar
from zlib import crc32

import pytest
from loopback import page
from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import CloseSpider
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.job.journal import Journal, Kind, Record
from scrapy_urlcanon.exceptions import ConfigurationError

JOB = {"JOBDIR": "job", "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
PAGES = {"/": links("/a", "/b", "/c"), "/a": links("/d?sid=1", "/d?sid=2")}
PAGES |= {url: page(url) for url in ("/b", "/c", "/d?sid=1", "/d?sid=2")}
FILE = Path("job/urlcanon.journal")
QUEUE = Path("job/requests.queue/active.json")


class FullDisk:
    """The file of a journal on a disk that has *room* for only so many bytes."""

    def __init__(self, file, room):
        self._file = file
        self.room = room

    def write(self, data):
        """Write as much of *data* as there is room for."""
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._file.write(data[: self.room])
        self.room -= written
        return written

    def __getattr__(self, name):
        return getattr(self._file, name)


def record(*, fingerprint=b"x" * 20):
    """Return a record that says that a request was sent."""
    return Record(Kind.BEGUN, fingerprint)


def written(*records, path):
    """Write a journal with these *records*."""
    journal = Journal(path)
    journal.open()
    for each in records:
        journal.add(each)
    journal.close()


def scanned(path):
    """Return the journal at *path*, and its records."""
    journal = Journal(path)
    journal.scan(lambda _: None)
    return journal, list(journal)


def put(content):
    """Write *content* to the journal of the job before it begins."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(content)


def content_of(path=FILE):
    """Return the bytes of the job's journal, or of another file."""
    return path.read_bytes()


async def kill_before_b(crawl):
    """Make the job look as if it was killed before the spider got page /b."""
    await crawl(site(PAGES), JOB)
    _, records = scanned(FILE)
    of_b = {each.fingerprint for each in records if (each.request or {}).get("url") == f"{SITE}/b"}
    put(b"")
    written(
        *(
            each
            for each in records[1:-1]
            if each.kind is not Kind.FETCHED or each.fingerprint not in of_b
        ),
        path=FILE,
    )


def remove(path=FILE):
    """Remove the journal of the job."""
    path.unlink()


def errors(caplog):
    """Return the warnings and errors that were logged."""
    found = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert not any(r.exc_info for r in caplog.records)
    return found


def test_short_write_is_undone(tmp_path):
    """A record that fits the disk in part is removed, and the next one can be read."""
    journal = Journal(tmp_path / "journal")
    journal.open()
    size = journal.path.stat().st_size
    disk = journal._file = FullDisk(journal._file, room=10)
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            journal.add(record())
        assert journal.path.stat().st_size == size
    disk.room = 1_000
    journal.add(record(fingerprint=b"y" * 20))
    journal.close()
    journal, records = scanned(tmp_path / "journal")
    assert [each.fingerprint[:1] for each in records] == [b"", b"y"]
    assert journal.problem is None


@pytest.mark.parametrize(
    "tail",
    [
        b"\0\0",
        struct.pack(">LL", 1_000_000, 7) + b"half",
        struct.pack(">LL", 4, 7) + b"data",
        b"\0" * 4_096,
        *(
            struct.pack(">LL", len(data), crc32(data)) + data
            for data in (
                b"no pickle",
                pickle.dumps("no tuple"),
                pickle.dumps((99, b"", b"", "", b"", None)),
                pickle.dumps((int(Kind.SCHEDULED), b"", b"", "", b"", None)),
                pickle.dumps((int(Kind.BEGUN), "text", b"", "", b"", None)),
                pickle.dumps((int(Kind.BEGUN), b"", b"")),
                b"cno_such_module\nname\n.",
            )
        ),
    ],
)
def test_tail_that_cannot_be_read_ends_the_journal(tmp_path, tail):
    """A journal is read up to a damaged record, and cut off there by the next run."""
    path = tmp_path / "journal"
    written(record(), path=path)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    journal, records = scanned(path)
    assert [each.kind for each in records] == [Kind.OPENED, Kind.BEGUN]
    assert f"at byte {len(whole)}" in journal.problem
    journal.open()
    journal.close()
    journal, records = scanned(path)
    assert [each.kind for each in records] == [Kind.OPENED, Kind.BEGUN, Kind.OPENED]
    assert journal.problem is None


def test_error_without_a_message_is_reported_by_its_class(tmp_path):
    """An error without a message is reported by the name of its class."""
    written(record(), path=tmp_path / "journal")
    journal = Journal(tmp_path / "journal")

    def check(each):
        if each.kind is Kind.BEGUN:
            raise MemoryError

    journal.scan(check)
    assert journal.problem.startswith("MemoryError (at byte ")


def test_job_that_could_not_be_opened_does_not_look_closed(tmp_path, monkeypatch):
    """If the start of a run cannot be written, the end of the last run is removed.

    Else the job would look as if it had ended in order.
    """
    path = tmp_path / "journal"
    written(record(), Record(Kind.CLOSED), path=path)
    journal, _ = scanned(path)
    assert journal.last_kind is Kind.CLOSED
    mend = Journal._mend
    monkeypatch.setattr(Journal, "_mend", lambda self: FullDisk(mend(self), room=0))
    with pytest.raises(OSError, match="No space left"):
        journal.open()
    journal.close()
    assert scanned(path)[0].last_kind is Kind.BEGUN


@deferred_f_from_coro_f
async def test_full_disk_stops_no_crawl(crawl, caplog, monkeypatch):
    """A full disk is logged once and counted, and the crawl goes on without its journal."""
    mend = Journal._mend
    disks = []

    def full(self):
        if not disks:
            disks.append(FullDisk(mend(self), room=700))
        return disks[0] if mend(self) else None

    monkeypatch.setattr(Journal, "_mend", full)
    result = await crawl(site(PAGES), JOB)
    assert len(result.pages) == 5
    (message,) = errors(caplog)
    assert "job/urlcanon.journal cannot be written: No space left on device" in message
    assert result.figures["job/unwritten"] > 5


@pytest.mark.parametrize(
    "content",
    [b"\x00\x01\x02binary", b"urlcanon journal 1\n", b"\0\0\0\x0a" + b"old format", b"{}" * 999],
)
@deferred_f_from_coro_f
async def test_journal_of_another_form_is_left_alone(crawl, caplog, content):
    """A journal of another format is left as it is: one message, and the job goes on without it."""
    put(content)
    result = await crawl(site(PAGES), JOB)
    assert len(result.pages) == 5
    (message,) = errors(caplog)
    assert message.startswith("job/urlcanon.journal is no journal that this version can read")
    assert "urlcanon journal 3" in message
    assert content_of() == content


@deferred_f_from_coro_f
async def test_journal_that_is_a_directory(crawl, caplog):
    """A directory in place of the journal is one message, and stops no crawl."""
    os.makedirs(FILE)  # noqa: PTH103 - within a coroutine
    result = await crawl(site(PAGES), JOB)
    assert len(result.pages) == 5
    (message,) = errors(caplog)
    assert "Is a directory" in message


@deferred_f_from_coro_f
async def test_record_of_a_callback_that_is_gone(crawl, caplog):
    """If a callback was renamed since, its page is fetched by whatever links it now."""
    await crawl(site(PAGES), JOB)
    _, records = scanned(FILE)
    broken = []
    for each in records[:-1]:
        request = each.request
        if request and request["url"].endswith("/b"):
            request = {**request, "callback": "parse_renamed"}
        broken.append(each._replace(request=request))
    put(b"")
    written(*broken[1:], path=FILE)
    result = await crawl(site(PAGES), JOB)
    assert {"/", "/b", "/c"} <= set(result.pages)
    assert any("parse_renamed" in message for message in errors(caplog))


@deferred_f_from_coro_f
async def test_run_that_does_not_start_is_no_kill(crawl, caplog):
    """A run that fails before the spider is opened leaves the journal as it was."""
    await crawl(site(PAGES), JOB)
    before = content_of()
    with pytest.raises(ZeroDivisionError):
        await crawl(site(PAGES), {**JOB, "EXTENSIONS": {Broken: 1}})
    assert content_of() == before
    caplog.clear()
    result = await crawl(site(PAGES), JOB)
    assert errors(caplog) == []
    assert "job/recovered" not in result.figures


@deferred_f_from_coro_f
async def test_run_that_does_not_start_is_no_end_of_a_killed_job(crawl):
    """A run that fails to start does not make a killed job look finished.

    Its queue is empty, so that what the killed run left would be lost.
    """
    await kill_before_b(crawl)
    with pytest.raises(ZeroDivisionError):
        await crawl(site(PAGES), {**JOB, "ITEM_PIPELINES": {BrokenPipeline: 1}})
    result = await crawl(site(PAGES), JOB, start=())
    assert result.pages == ["/b"]


@pytest.mark.parametrize("is_opened", [True, False], ids=["opened", "not yet"])
@deferred_f_from_coro_f
async def test_second_process_leaves_a_job_that_runs_alone(crawl, is_opened):
    """A second process does not touch a job that runs, even before its journal is opened.

    It would take the first for killed, and discard its queue. A large job takes seconds to open its
    journal.
    """
    queue = FILE.with_name("requests.queue")
    queue.mkdir(parents=True)
    killed = Journal(FILE)
    killed.open()
    killed.close()
    running = Journal(FILE)
    running.hold()
    if is_opened:
        running.open()
    with pytest.raises(ConfigurationError, match="JOBDIR: job is in use by another crawl"):
        await crawl(site(PAGES), JOB)
    assert queue.exists()
    running.close()
    assert (await crawl(site(PAGES), JOB)).pages == ["/", "/a", "/b", "/c", "/d?sid=1"]


class LateStart(FollowSpider):
    """Makes its last start request after the crawl was closed, as one that waits for others may."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.is_closed = asyncio.Event()
        crawler.signals.connect(spider.ended, signals.spider_closed)
        spider.start = spider.late
        return spider

    async def late(self):
        yield Request(f"{SITE}/")
        await self.is_closed.wait()
        yield Request(f"{SITE}/c")

    async def ended(self):
        self.is_closed.set()
        await asyncio.sleep(0.01)

    def parse(self, response):
        yield from super().parse(response)
        raise CloseSpider


@deferred_f_from_coro_f
async def test_start_request_after_the_end_of_a_run_leaves_its_job_closed(crawl, caplog):
    """A start request made while a run closes neither opens the journal again nor keeps it locked.

    The next run of the process would not start, and that of another would take it for killed.
    """
    await crawl(site(PAGES), JOB, spider=LateStart)
    assert scanned(FILE)[0].last_kind is Kind.CLOSED
    result = await crawl(site(PAGES), JOB)
    assert {"/b", "/c"} <= {*result.pages}
    assert errors(caplog) == []


@deferred_f_from_coro_f
async def test_job_whose_first_run_does_not_start_has_a_journal(crawl):
    """A job whose first run failed to start is a new job: its next run keeps a journal."""
    with pytest.raises(ZeroDivisionError):
        await crawl(site(PAGES), {**JOB, "ITEM_PIPELINES": {BrokenPipeline: 1}})
    await crawl(site(PAGES), JOB)
    assert scanned(FILE)[0].last_kind is Kind.CLOSED


@deferred_f_from_coro_f
async def test_journal_that_is_gone_is_missed(crawl, caplog):
    """If the journal of a job is gone, a message says so, and the job goes on without one."""
    await crawl(site(PAGES), {**JOB, "CLOSESPIDER_PAGECOUNT": 1})
    remove()
    await crawl(site(PAGES), JOB, start=())
    assert f"{FILE} is not there, and the job has begun" in caplog.text


@deferred_f_from_coro_f
async def test_killed_job_is_scheduled_when_all_are_ready_for_it(crawl):
    """A killed job's requests are scheduled after all components have been opened."""
    await kill_before_b(crawl)
    Ready.heard.clear()
    await crawl(site(PAGES), {**JOB, "EXTENSIONS": {Ready: 1}}, start=())
    assert Ready.heard[:2] == ["opened", f"{SITE}/b"]


class Hiding:
    """A user's wrapper around a component of Scrapy, which does not show its middlewares."""

    def __init__(self, inner):
        self._inner = inner

    @classmethod
    def from_crawler(cls, crawler):
        """Wrap the item pipelines."""
        return cls(ItemPipelineManager.from_crawler(crawler))

    def __getattr__(self, name):
        if name == "middlewares":
            raise AttributeError(name)
        return getattr(self._inner, name)


class HidingDownloader(Downloader):
    """A downloader that does not show its middlewares."""

    def __init__(self, crawler):
        super().__init__(crawler)
        self.middleware = Hiding(self.middleware)


class Pipeline:
    """An item pipeline that does nothing."""

    def process_item(self, item):
        """Return the item."""
        return item


@pytest.mark.parametrize(
    "components",
    [
        {"ITEM_PROCESSOR": Hiding, "ITEM_PIPELINES": {Pipeline: 1}},
        {"DOWNLOADER": HidingDownloader, "HTTPCACHE_ENABLED": True},
    ],
    ids=["item processor", "downloader"],
)
@deferred_f_from_coro_f
async def test_killed_job_goes_on_with_components_of_the_user(crawl, caplog, components):
    """A killed job is taken up even if components of the user hide what they call."""
    await kill_before_b(crawl)
    result = await crawl(site(PAGES), {**JOB, **components}, start=())
    assert result.pages == ["/b"]
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == []


@deferred_f_from_coro_f
async def test_page_is_fetched_twice_only_after_a_kill(crawl):
    """A start page that is fetched again after an orderly end is not counted as repeated."""
    start = [Request(f"{SITE}/", dont_filter=True)]
    await crawl(site(PAGES), JOB, start=start)
    result = await crawl(site(PAGES), JOB, start=start)
    assert result.hits == ["/"]
    assert "job/fetched_twice" not in result.figures


class Broken:
    """An extension whose constructor fails."""

    def __init__(self):
        raise ZeroDivisionError


class BrokenPipeline:
    """A pipeline that fails after the scheduler, and before the spider, is opened."""

    def open_spider(self):
        raise ZeroDivisionError


class Ready:
    """An extension that notes in which order it gets signals."""

    heard: ClassVar = []

    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.request_scheduled, signals.request_scheduled)
        return extension

    def spider_opened(self):
        self.heard.append("opened")

    def request_scheduled(self, request):
        self.heard.append(request.url)
