"""Runs of a job that keep no journal, before, between and after others that do."""

import os
from pathlib import Path

import pytest
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links, site

JOB = {"JOBDIR": "job", "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
PAGES = {"/": links("/a", "/b", "/c"), "/a": links("/d?sid=1", "/d?sid=2")}
PAGES |= {url: page(url) for url in ("/b", "/c", "/d?sid=1", "/d?sid=2")}
QUEUE = Path("job/requests.queue/active.json")


def state_of_queue(queue=QUEUE):
    """Return a function that puts the state of the queue back as it is now.

    A run that is killed writes none.
    """
    state, stat = queue.read_bytes(), queue.stat()

    def put_back():
        queue.write_bytes(state)
        os.utime(queue, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    return put_back


@deferred_f_from_coro_f
async def test_job_that_began_without_a_journal_has_none(crawl, tmp_path):
    """A job that began without a journal gets none later.

    It would lack all that was scheduled before.
    """
    without = {**JOB, "URLCANON_JOB_JOURNAL": False, "CONCURRENT_REQUESTS": 1}
    start = [Request(f"{SITE}/", dont_filter=True), Request(f"{SITE}/c", dont_filter=True)]
    # Nothing but the queue says that the job has begun.
    await crawl(site({}), {**without, "CLOSESPIDER_PAGECOUNT": 1}, start=start)
    await crawl(site({}), JOB, start=())
    assert (tmp_path / "job" / "requests.seen").read_bytes() == b""
    assert not (tmp_path / "job" / "urlcanon.journal").exists()


@pytest.mark.parametrize("other", [{"ADDONS": {}}, {"URLCANON_JOB_JOURNAL": False}])
@deferred_f_from_coro_f
async def test_kill_of_a_run_without_a_journal(crawl, other):
    """After a kill of a run without a journal, what that took from the queue is fetched again."""
    job = {**JOB, "CONCURRENT_REQUESTS": 1}
    first = await crawl(site(PAGES), {**job, "CLOSESPIDER_PAGECOUNT": 1})
    have_killed = state_of_queue()
    await crawl(site(PAGES), {**job, **other, "CLOSESPIDER_PAGECOUNT": 2}, start=())
    have_killed()
    last = await crawl(site(PAGES), job, start=())
    assert sorted({*first.pages, *last.pages}) == ["/", "/a", "/b", "/c", "/d?sid=1"]


@deferred_f_from_coro_f
async def test_end_of_a_run_without_a_journal(crawl):
    """The queue of a run without a journal that ended in order is taken up, nothing repeated."""
    job = {**JOB, "CONCURRENT_REQUESTS": 1}
    first = await crawl(site(PAGES), {**job, "CLOSESPIDER_PAGECOUNT": 1})
    without = {**job, "URLCANON_JOB_JOURNAL": False, "CLOSESPIDER_PAGECOUNT": 2}
    second = await crawl(site(PAGES), without, start=())
    last = await crawl(site(PAGES), job, start=())
    pages = sorted([*first.pages, *second.pages, *last.pages])
    assert pages == ["/", "/a", "/b", "/c", "/d?sid=1"]
