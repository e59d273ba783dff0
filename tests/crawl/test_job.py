"""A job, an HTTP cache or a deltafetch store whose keys were made under other rules."""

import asyncio
import errno
import gc
import json
import logging
import os
from pathlib import Path

import pytest
from loopback import page
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, links, site

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
from scrapy_urlcanon.crawl.job import stored_rules
from scrapy_urlcanon.crawl.job.job_rules import JobRules
from scrapy_urlcanon.crawl.job.journal import FILE, OUTCOMES, Journal
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.sections.findings import findings_of

PAGES = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": page("a"), "/a?sid=2": page("a")}
OLD = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
NEW = {"URLCANON_RULES": {"site.example": {"drop_params": ["other"]}}}
JOB = {"JOBDIR": "job", "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}


class Failing:
    """An extension that keeps a crawl from starting."""

    @classmethod
    def from_crawler(cls, crawler):
        del crawler
        raise ZeroDivisionError


def write(path, text):
    """Write *text* to the file at *path*."""
    Path(path).write_text(text, encoding="utf-8")


def content_of(path):
    """Return the text of the file at *path*."""
    return Path(path).read_text(encoding="utf-8")


def messages(caplog, level=logging.WARNING):
    """Return what the plugin logged at *level* or above, without the summary of duplicates."""
    records = [r for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    found = [r.getMessage() for r in records if r.levelno >= level]
    return [m for m in found if not m.startswith("Duplicate requests")]


@deferred_f_from_coro_f
async def test_same_rules_say_nothing(crawl, caplog):
    """A job that is resumed under the same rules logs no warning."""
    for _ in range(2):
        await crawl(site(PAGES), {**OLD, **JOB})
    assert messages(caplog) == []


@deferred_f_from_coro_f
async def test_figures_of_a_later_run_are_said_to_be_those_of_one_run(crawl, caplog):
    """Plain Scrapy would fetch a URL once in a job, and what saves it counts in each run."""
    caplog.set_level(logging.INFO)
    settings = {**OLD, **JOB, "URLCANON_REPORT": "report.json"}
    said = "The figures are those of one run of a job"
    for run in range(2):
        result = await crawl(site(PAGES), settings)
        assert result.figures.get("job/resumed", 0) == run
        findings = findings_of(read_report("report.json"))
        assert (said in [finding.title for finding in findings]) is bool(run)
    assert caplog.text.count("Duplicate requests\n") == 1
    assert caplog.text.count("Duplicate requests in this run of the job\n") == 1


@deferred_f_from_coro_f
async def test_warn(crawl, caplog):
    """By default a warning says which rules changed and how many fingerprints are stored.

    URLs that the old rules merged, and the new ones do not, are fetched.
    """
    first = await crawl(site(PAGES), {**OLD, **JOB})
    assert first.hits == ["/", "/a?sid=1"]
    second = await crawl(site(PAGES), {**NEW, **JOB}, start=(f"{SITE}/a?sid=1",))
    assert second.hits == ["/a?sid=2"]
    message, made_anew = messages(caplog)
    assert "URLCANON_RULES['site.example']" in message
    assert "2 stored fingerprints" in message
    assert "1 are scheduled again" in made_anew
    caplog.clear()
    await crawl(site(PAGES), {**NEW, **JOB})
    assert messages(caplog) == []


@deferred_f_from_coro_f
async def test_what_other_rules_had_rewritten_is_fetched(crawl):
    """Linked URLs that URLCANON_REWRITE had replaced are fetched under other rules.

    The journal has the request for the canonical URL alone.
    """
    rewriting = {**JOB, "URLCANON_REWRITE": True}
    first = await crawl(site({**PAGES, "/a": page("a")}), {**OLD, **rewriting})
    assert first.hits == ["/", "/a"]
    second = await crawl(site(PAGES), {**NEW, **rewriting}, start=())
    assert sorted(second.hits) == ["/a?sid=1", "/a?sid=2"]
    journal = Journal(Path("job", FILE))
    journal.scan(lambda _: None)
    scheduled = {record.fingerprint for record in journal if record.request}
    # Else under other rules yet it would be that of another request.
    assert {record.fingerprint for record in journal if record.kind in OUTCOMES} <= scheduled


@deferred_f_from_coro_f
async def test_warn_without_a_journal(crawl, caplog):
    """Without a journal the warning says that pages may be fetched again, or taken for seen."""
    settings = {**JOB, "URLCANON_JOB_JOURNAL": False}
    await crawl(site(PAGES), {**OLD, **settings})
    result = await crawl(site(PAGES), {**NEW, **settings}, start=(f"{SITE}/a?sid=1",))
    assert result.hits == ["/a?sid=1"]
    (message,) = messages(caplog)
    assert "may be fetched again, or taken for seen" in message


@deferred_f_from_coro_f
async def test_fingerprint_that_was_that_of_another_page(crawl):
    """A page whose fingerprint was another page's under the old rules is fetched."""
    pages = {"/": links("/a?sid=1"), "/a?sid=1": page("one"), "/b": links("/a"), "/a": page("a")}
    await crawl(site(pages), {**OLD, **JOB})
    result = await crawl(site(pages), {**NEW, **JOB}, start=(f"{SITE}/b",))
    assert result.hits == ["/b", "/a"]


@deferred_f_from_coro_f
async def test_run_that_fails_to_start_changes_no_rules(crawl):
    """A run that fails to start does not replace the rules that the job is known to be of.

    Else the next run would not convert the job, and would take an unseen page for seen.
    """
    pages = {"/": links("/a?sid=1"), "/a?sid=1": page("one"), "/b": links("/a"), "/a": page("a")}
    await crawl(site(pages), {**OLD, **JOB})
    with pytest.raises(ZeroDivisionError):
        await crawl(site(pages), {**NEW, **JOB, "EXTENSIONS": {Failing: 0}})
    result = await crawl(site(pages), {**OLD, **JOB}, start=(f"{SITE}/b",))
    assert result.hits == ["/b"]
    result = await crawl(site(pages), {**NEW, **JOB}, start=())
    assert result.hits == ["/a"]


@deferred_f_from_coro_f
async def test_error(crawl):
    """With `error` a change of the rules stops the crawl before its first request."""
    await crawl(site(PAGES), {**OLD, **JOB})
    with pytest.raises(ConfigurationError, match=r"rules changed .* since the job"):
        await crawl(site(PAGES), {**NEW, **JOB, "URLCANON_JOB_RULES": "error"})
    # Nothing of the job was touched: under its own rules it goes on.
    result = await crawl(site(PAGES), {**OLD, **JOB, "URLCANON_JOB_RULES": "error"})
    assert result.hits == []


@deferred_f_from_coro_f
async def test_keep(crawl, caplog):
    """With `keep` the job goes on under the rules that it began with, in each later run."""
    await crawl(site(PAGES), {**OLD, **JOB})
    settings = {**NEW, **JOB, "URLCANON_JOB_RULES": "keep"}
    for _ in range(2):
        with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
            result = await crawl(site(PAGES), settings, start=(f"{SITE}/a?sid=1",))
        assert result.hits == []
    assert messages(caplog) == []
    assert "began with" in messages(caplog, logging.INFO)[0]


@deferred_f_from_coro_f
async def test_where_a_rule_stands_is_no_change(crawl, caplog):
    """A rule that moves from the project to the spider is no change of the rules."""
    await crawl(site(PAGES), {**OLD, **JOB})
    await crawl(site(PAGES), {"URLCANON_SPIDER_RULES": OLD["URLCANON_RULES"], **JOB})
    assert messages(caplog) == []


@pytest.mark.parametrize("mode", ["warn", "keep"])
@deferred_f_from_coro_f
async def test_job_that_began_without_the_plugin(crawl, caplog, mode):
    """A job that began without the plugin is a job of other rules."""
    await crawl(site(PAGES), {**JOB, "ADDONS": {}})
    await crawl(site(PAGES), {**OLD, **JOB, "URLCANON_JOB_RULES": mode})
    assert "scrapy-urlcanon was turned on" in messages(caplog)[0]


@pytest.mark.parametrize("others", [{}, {"URLCANON_SEEN_SET": "compact"}])
@deferred_f_from_coro_f
async def test_job_goes_on_when_the_plugin_is_removed(crawl, others):
    """What was merged is fetched then, and no page is missing."""
    pages = site(
        {"/": links(*(f"/{n}?utm_source={u}" for n in range(20) for u in "ab"))}, missing=200
    )
    begun = {**JOB, **ONE_BY_ONE, **others, "CLOSESPIDER_PAGECOUNT": 5}
    first = await crawl(pages, begun)
    second = await crawl(pages, {**JOB, "ADDONS": {}}, start=())
    assert len(first.hits) < 10
    assert {hit.partition("?")[0] for hit in first.hits + second.hits} == {
        "/",
        *(f"/{n}" for n in range(20)),
    }


@deferred_f_from_coro_f
async def test_damaged_file_is_as_none(crawl, caplog):
    """If the stored rules cannot be read, the job is taken for one of other rules."""
    await crawl(site(PAGES), {**OLD, **JOB})
    write("job/urlcanon.json", '{"rules": ')
    await crawl(site(PAGES), {**OLD, **JOB})
    assert len(messages(caplog)) == 1


RULES = {"preset": "safe", "preset_values": {}, "tracking_params": [], "origins": []}
BROKEN = [
    "",
    "\0\1binary",
    "[" * 100_000,
    "[]",
    "null",
    "{}",
    json.dumps({"version": 2, "rules": RULES, "suspended": []}),
    json.dumps({"rules": [], "suspended": []}),
    json.dumps({"rules": {"preset": "safe"}, "suspended": []}),
    json.dumps({"rules": {**RULES, "origins": [7]}, "suspended": []}),
    json.dumps({"rules": {**RULES, "origins": [[{"pattern": 1}]]}, "suspended": []}),
    json.dumps({"rules": RULES, "suspended": 7}),
    json.dumps({"rules": RULES, "suspended": [["a", 7]]}),
    json.dumps({"rules": RULES, "suspended": [["a"]]}),
    json.dumps({"rules": RULES, "suspended": [], "recognised": [{"host": "a.example"}]}),
]


@pytest.mark.parametrize("content", BROKEN)
@deferred_f_from_coro_f
async def test_broken_rules_of_a_job(crawl, caplog, content):
    """One message says which file is broken and what was expected, and the crawl goes on."""
    await crawl(site(PAGES), {**OLD, **JOB})
    write("job/urlcanon.json", content)
    result = await crawl(site(PAGES), {**OLD, **JOB}, start=(f"{SITE}/a?sid=3",))
    (message,) = messages(caplog)
    assert message.startswith("job/urlcanon.json cannot be read: expected the JSON that")
    assert "2 stored fingerprints" in message
    assert not any(record.exc_info for record in caplog.records)
    assert result.stats["finish_reason"] == "finished"
    caplog.clear()
    await crawl(site(PAGES), {**OLD, **JOB})
    assert messages(caplog) == []


@pytest.mark.parametrize("mode", ["keep", "error"])
@pytest.mark.parametrize(
    "rules",
    [
        7,
        {**RULES, "preset": "gone"},
        {**RULES, "origins": [[{"layer": "x", "pattern": "//", "options": {}}]]},
        {**RULES, "origins": [[{"layer": "x", "pattern": "a.example", "options": {"drop": 1}}]]},
    ],
)
@deferred_f_from_coro_f
async def test_rules_that_cannot_be_kept_stop_the_crawl(crawl, mode, rules):
    """With `keep` or `error`, unusable stored rules stop the crawl before it begins."""
    await crawl(site(PAGES), {**OLD, **JOB})
    write("job/urlcanon.json", json.dumps({"rules": rules, "suspended": []}))
    with pytest.raises(ConfigurationError):
        await crawl(site(PAGES), {**OLD, **JOB, "URLCANON_JOB_RULES": mode})


@deferred_f_from_coro_f
async def test_rules_that_cannot_be_written(crawl, caplog, monkeypatch):
    """If the rules cannot be stored, one message says so, and it is tried again at the end."""
    tried = []

    def full(path, text):
        tried.append(path)
        if len(tried) < 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_atomically(path, text)

    monkeypatch.setattr(stored_rules, "write_atomically", full)
    urls = [f"/p?id={n}" for n in range(8)]
    settings = {
        **JOB,
        "URLCANON_RULES": {"site.example": {"drop_params": ["id"]}},
        "URLCANON_AUDIT": 1e-9,
    }
    respond = site({"/": links(*urls), **{url: page(f"<title>{url}</title>") for url in urls}})
    result = await crawl(respond, settings)
    assert len(result.pages) == 9
    assert result.figures["job/unwritten"] == 2
    (said,) = [message for message in messages(caplog) if "cannot be written" in message]
    assert said.startswith("job/urlcanon.json cannot be written: No space left on device.")
    assert "drop_params" in content_of("job/urlcanon.json")


@pytest.mark.parametrize(
    "stored", [b"\0\x14" + b"x" * 20, b"ab" * 20 + b"\n", b"cd" * 20 + b"\r\n"]
)
def test_fingerprints_of_any_scrapy_are_counted(tmp_path, caplog, stored):
    """Stored fingerprints are counted in binary files and, as before Scrapy 2.16, in text."""
    (tmp_path / "requests.seen").write_bytes(stored * 1_000)
    rules = JobRules(Settings({"JOBDIR": str(tmp_path)}), UnwrittenFiles(None))
    rules.guard(Canonicalizer().configuration, "warn")
    assert "its 1000 stored fingerprints are of other rules" in caplog.text


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@deferred_f_from_coro_f
async def test_of_crawls_that_begin_at_once_one_has_the_job(crawl, caplog):
    """Of two crawls that begin at once with one JOBDIR the second is refused.

    It would work on the same queue, and truncate the journal.
    """
    # Scrapy cannot close a queue that is not open, and leaves the file of fingerprints to the end
    # of what it logs of that.
    caplog.set_level(logging.CRITICAL, "scrapy.core.engine")
    crawls = [crawl(site(PAGES), {**OLD, **JOB}) for _ in range(2)]
    one, other = await asyncio.gather(*crawls, return_exceptions=True)
    assert one.hits == ["/", "/a?sid=1"]
    assert isinstance(other, ConfigurationError)
    assert "JOBDIR: job is in use by another crawl" in str(other)
    del other, crawls
    await asyncio.sleep(0)
    gc.collect()
    again = await crawl(site(PAGES), {**OLD, **JOB}, start=())
    assert again.hits == []
    assert "job/recovered" not in again.figures


@pytest.mark.parametrize(
    "storage", ["FilesystemCacheStorage", "DbmCacheStorage"], ids=["files", "dbm"]
)
@deferred_f_from_coro_f
async def test_http_cache(crawl, caplog, storage):
    """A warning says that an HTTP cache is of other rules; none if it is empty or of the same."""
    cache = {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": "cache",
        "HTTPCACHE_STORAGE": f"scrapy.extensions.httpcache.{storage}",
    }
    for _ in range(2):
        await crawl(site(PAGES), {**OLD, **cache})
    assert messages(caplog) == []
    with pytest.raises(ConfigurationError, match="HTTP cache"):
        await crawl(site(PAGES), {**NEW, **cache, "URLCANON_JOB_RULES": "error"})
    await crawl(site(PAGES), {**NEW, **cache})
    (message,) = messages(caplog)
    assert "the HTTP cache" in message


@deferred_f_from_coro_f
async def test_deltafetch(crawl, caplog):
    """A scrapy-deltafetch store of other rules is warned of, as an HTTP cache is."""
    settings = {"DELTAFETCH_ENABLED": True, "DELTAFETCH_DIR": "delta"}
    await crawl(site(PAGES), {**OLD, **settings})
    assert messages(caplog) == []
    write(".scrapy/delta/follow.db", "what scrapy-deltafetch stores")
    await crawl(site(PAGES), {**NEW, **settings})
    (message,) = messages(caplog)
    assert "scrapy-deltafetch" in message


@deferred_f_from_coro_f
async def test_project_without_a_folder_for_data_is_crawled(crawl, monkeypatch):
    """A project without scrapy.cfg (an egg of scrapyd) is crawled, with the HTTP cache off."""
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "scrapy.settings.default_settings")
    settings = {"HTTPCACHE_ENABLED": True, "DELTAFETCH_ENABLED": True}
    for changed in (OLD, NEW):
        assert (await crawl(site(PAGES), {**changed, **settings})).hits


@deferred_f_from_coro_f
async def test_wrong_mode_stops_the_crawl(crawl):
    """A wrong value of URLCANON_JOB_RULES stops the crawl, and names the nearest right one."""
    with pytest.raises(ConfigurationError, match="did you mean 'keep'"):
        await crawl(site(PAGES), {"URLCANON_JOB_RULES": "keeps"}, spider=FollowSpider)
