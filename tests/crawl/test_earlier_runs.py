"""URLCANON_SEEN: pages that an earlier run got are not fetched again; all others are."""

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from audited_shop import SETTINGS as AUDIT_SETTINGS
from audited_shop import WRONG, product, shop
from command_line import scrapy
from loopback import Fault, Loopback, page, redirect
from scrapy import Request, signals
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.dropped.summary import summary
from scrapy_urlcanon.crawl.earlier.store import SeenPages
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.settings import configuration_of
from scrapy_urlcanon.exceptions import ConfigurationError

SETTINGS = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "URLCANON_SEEN": "seen.db",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


class ItemSpider(FollowSpider):
    """Yields an item of each page without links."""

    def parse(self, response):
        if response.css("a"):
            yield from response.follow_all(css="a")
        else:
            yield {"url": response.url, "text": response.text}


PAGES = {
    "/": links("/a?sid=1", "/b", "/old", "/gone", "/empty", "/c?sid=1"),
    "/again": links("/a?sid=2", "/b", "/older", "/gone", "/empty", "/c?sid=2"),
    "/a?sid=1": page("a"),
    "/a?sid=2": page("a"),
    "/b": page("b"),
    "/old": redirect("/new"),
    "/older": redirect("/new?sid=7"),
    "/new": page("new"),
    "/empty": page(""),
    "/c?sid=2": page("c"),
}


@deferred_f_from_coro_f
async def test_next_run_fetches_what_the_first_has_not_got(crawl):
    """Pages that the first run got are refused by any URL, as redirects and start requests too.

    Pages that failed or gave no item are fetched again.
    """
    first = await crawl(site(PAGES), SETTINGS, spider=ItemSpider)
    assert first.pages == ["/a?sid=1", "/b", "/empty", "/new"]
    start = [f"{SITE}{target}" for target in ("/again", "/b?sid=9", "/old")]
    second = await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
    assert second.hits == ["/again", "/older", "/gone", "/c?sid=2"]
    assert second.pages == ["/c?sid=2"]
    # /a, /b twice, /empty, /old, and the target of /older.
    assert second.figures["seen/skipped"] == 6
    assert "         6  refused: an earlier run has got the page" in summary(second.stats)
    third = await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=[f"{SITE}/c?sid=5"])
    assert third.hits == []


@pytest.mark.parametrize(
    ("by", "fetched"), [("response", ["/blank", "/empty"]), ("text", ["/blank", "/empty"])]
)
@deferred_f_from_coro_f
async def test_by_what_the_callback_got(crawl, by, fetched):
    """With URLCANON_SEEN_BY "text" or "response" a page needs no item, but some content."""
    pages = {"/": links("/list", "/empty", "/blank"), "/list": links("/a"), "/a": page("a")}
    pages |= {"/empty": page("", status=204), "/blank": page("gone", status=404)}
    settings = {**SETTINGS, "URLCANON_SEEN_BY": by, "HTTPERROR_ALLOW_ALL": True}
    await crawl(site(pages), settings)
    start = [Request(f"{SITE}/", meta={"urlcanon_refetch": True})]
    second = await crawl(site(pages), settings, start=start)
    # The key of meta is for that request alone: the spider copies none.
    assert sorted(second.hits) == ["/", *fetched]


@deferred_f_from_coro_f
async def test_what_is_yielded_after_the_end_is_no_trouble(crawl, caplog):
    """Requests scheduled after the spider was closed raise no error on the closed stores.

    A spider whose start takes longer than the crawl may makes some.
    """
    write(Path("places.db"), "")
    skip = {"site.example": {"skip": ["/old{id}"]}}
    settings = {**SETTINGS, "URLCANON_SKIP_PLACES": "places.db", "URLCANON_RULES": skip}
    result = await crawl(site(PAGES), settings)
    caplog.clear()
    for url in ("/b", "/old1"):
        request = Request(f"{SITE}{url}")
        result.crawler.signals.send_catch_log(
            signals.request_scheduled,
            request=request,
            spider=result.crawler.spider,
            dont_log=IgnoreRequest,
        )
    assert caplog.messages == []


@deferred_f_from_coro_f
async def test_page_without_visible_text(crawl):
    """A page of scripts alone was got by "response", and not by "text"."""
    pages = {"/": links("/scripts"), "/scripts": page("<script>1</script>")}
    for by, is_fetched in (("text", True), ("response", False)):
        settings = {**SETTINGS, "URLCANON_SEEN_BY": by, "URLCANON_SEEN": f"{by}.db"}
        await crawl(site(pages), settings)
        second = await crawl(site(pages), settings, start=[f"{SITE}/scripts"])
        assert bool(second.hits) is is_fetched


@deferred_f_from_coro_f
async def test_page_that_was_cut_short_is_not_seen(crawl):
    """A truncated page is not noted as got: the next run fetches it again."""
    whole = page("a" * 100)
    settings = {**SETTINGS, "URLCANON_SEEN_BY": "text", "DOWNLOAD_FAIL_ON_DATALOSS": False}
    first = await crawl(
        site({"/a": replace(whole, fault=Fault.TRUNCATION)}), settings, start=[f"{SITE}/a"]
    )
    assert first.pages == ["/a"]
    for hits in (["/a"], []):
        assert (await crawl(site({"/a": whole}), settings, start=[f"{SITE}/a"])).hits == hits


class Refusing:
    """A pipeline that drops every item."""

    def process_item(self, _item):
        raise DropItem


@deferred_f_from_coro_f
async def test_what_gave_nothing_in_the_end_is_not_seen(crawl):
    """A page whose item is dropped, or whose callback raises after it, is not noted as got."""

    class Raising(ItemSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url.endswith("/b"):
                raise ValueError

    start = [f"{SITE}/b", f"{SITE}/a?sid=1"]
    await crawl(site(PAGES), SETTINGS, spider=Raising, start=start)
    dropping = {**SETTINGS, "ITEM_PIPELINES": {Refusing: 1}}
    second = await crawl(site(PAGES), dropping, spider=ItemSpider, start=start)
    assert second.hits == ["/b"]
    third = await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
    assert third.hits == ["/b"]
    assert (await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)).hits == []


@pytest.mark.parametrize(
    ("expires", "hits"),
    [
        ({}, []),
        ("1h", ["/b"]),
        ({"*": "1h", "site.example": 0}, []),
        ({"*": "30d", "example": "1h"}, ["/b"]),
        ({"example": "30d", "site.example": "1h"}, ["/b"]),
        ({"example": "1h", "site.example": "30d"}, []),
        ('{"*": "30d"}', []),
    ],
)
@deferred_f_from_coro_f
async def test_expiry(crawl, monkeypatch, expires, hits):
    """A page is fetched again after the expiry time of its host or nearest parent domain."""
    start = [f"{SITE}/b"]
    await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 3600)
    settings = {**SETTINGS, "URLCANON_SEEN_EXPIRES": expires}
    assert (await crawl(site(PAGES), settings, spider=ItemSpider, start=start)).hits == hits


@deferred_f_from_coro_f
async def test_clock_that_goes_back(crawl, monkeypatch, caplog):
    """If a clock was set back, pages noted in the future count as got now, and expire."""
    start, now = [f"{SITE}/b"], time.time()
    settings = {**SETTINGS, "URLCANON_SEEN_EXPIRES": "30d"}
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now + 1e8)
        await crawl(site(PAGES), settings, spider=ItemSpider, start=start)
    assert (await crawl(site(PAGES), settings, spider=ItemSpider, start=start)).hits == []
    assert "a clock was set back" in caplog.text
    monkeypatch.setattr(time, "time", lambda: now + 31 * 86_400)
    assert (await crawl(site(PAGES), settings, spider=ItemSpider, start=start)).hits == ["/b"]


@deferred_f_from_coro_f
async def test_other_rules(crawl, caplog):
    """Under other rules a page that was got is known by the canonical URL that it has now."""
    plain = {**SETTINGS, "URLCANON_RULES": {}}
    start = [f"{SITE}/a?sid=2"]
    looked = "seen.db: the rules have changed since the last run, or URLs were imported: finding"
    with caplog.at_level("INFO"):
        await crawl(site(PAGES), plain, spider=ItemSpider, start=[f"{SITE}/a?sid=1"])
        assert looked not in caplog.text
        second = await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
        await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
    assert second.hits == []
    assert caplog.text.index(looked) < caplog.text.index("known under other URLs now: 1 page.")
    assert caplog.text.count("known under other URLs now") == 1
    assert (await crawl(site(PAGES), plain, spider=ItemSpider, start=start)).hits == ["/a?sid=2"]


@deferred_f_from_coro_f
async def test_what_an_audit_found_wrong_refuses_nothing_later(crawl, caplog):
    """An entry that an audit suspended refuses no page in later runs.

    If it stays in the settings, it would refuse all later pages for an early one.
    """
    settings = {**WRONG, **AUDIT_SETTINGS, "URLCANON_SEEN": "seen.db"}
    early = [f"/p?id={n}" for n in range(30)]
    later = [f"/p?id={n}" for n in range(40)]

    def answer(request, count):
        return product(request.query, seed=count)

    first = await crawl(shop(early, answer), settings, spider=ItemSpider)
    assert first.pages == sorted(early)
    for expected in (later[30:], []):
        caplog.clear()
        result = await crawl(shop(later, answer), settings, spider=ItemSpider)
        # The pages that the audit fetched had one key, under which the last of them is known: with
        # Scrapy 2.15 that is the first one itself.
        assert [url for url in result.hits if url != early[0]] == ["/", *expected]
        assert "ignores them: drop_params:id for site.example. Remove" in caplog.text
    # Under other rules it is tried again.
    settings["URLCANON_RULES"] = {"site.example": {"drop_params": ["id", "sid"]}}
    caplog.clear()
    await crawl(shop(later, answer), settings, spider=ItemSpider)
    assert "earlier runs found" not in caplog.text


@deferred_f_from_coro_f
async def test_run_refuses_nothing_that_it_got_itself(crawl):
    """A page that the same run, or job, got is fetched again if it is requested unfiltered."""
    start = [Request(f"{SITE}/b", dont_filter=True) for _ in range(120)]
    settings = {**SETTINGS, "JOBDIR": "job"}
    for _ in range(2):
        found = await crawl(site(PAGES), settings, spider=ItemSpider, start=start)
        assert len(found.hits) == 120
    other = await crawl(site(PAGES), SETTINGS, spider=ItemSpider, start=start)
    assert other.hits == []


@deferred_f_from_coro_f
async def test_redirect_to_a_seen_page_rescues_nothing(crawl):
    """If a URL redirects to a page that was got, one more of its variants is tried, and not all."""
    old = {f"/x?sid={n}": redirect("/b") for n in range(1, 5)}
    pages = {"/": links(*old), **old, "/b": page("b")}
    await crawl(site(pages), SETTINGS, spider=ItemSpider, start=[f"{SITE}/b"])
    second = await crawl(site(pages), SETTINGS, spider=ItemSpider)
    assert second.hits == ["/", "/x?sid=1", "/x?sid=2"]


@deferred_f_from_coro_f
async def test_store_that_breaks_loses_nothing(crawl, monkeypatch, caplog):
    """If the store can be neither read nor written, the crawl goes on as if there were none."""
    await crawl(site(PAGES), SETTINGS, spider=ItemSpider)

    def broken(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(SeenPages, "got", broken)
    monkeypatch.setattr(SeenPages, "add", broken)
    second = await crawl(site(PAGES), SETTINGS, spider=ItemSpider)
    assert second.pages == ["/a?sid=1", "/b", "/empty", "/new"]
    assert caplog.text.count("cannot be read or written") == 1


@deferred_f_from_coro_f
async def test_store_that_cannot_be_written_for_a_while(crawl, monkeypatch):
    """Pages that could not be noted are tried again with each batch, and noted later."""
    pages = {"/": links(*(f"/{number}" for number in range(60)))}
    monkeypatch.setattr("scrapy_urlcanon.crawl.earlier.pages._BATCH", 10)
    add, tried = SeenPages.add, []

    def locked(self, noted, digest):
        tried.append(len(noted))
        if len(tried) < 4:
            raise sqlite3.OperationalError("database is locked")
        add(self, noted, digest)

    monkeypatch.setattr(SeenPages, "add", locked)
    result = await crawl(site(pages, missing=200), SETTINGS, spider=ItemSpider)
    assert result.figures["seen/noted"] == len(result.pages) == 60
    # How many pages of a batch are with the spider yet is the business of Scrapy's versions.
    first, second, third, written, *later = tried
    assert 0 < first < second < third < written
    assert written + sum(later) == 60


@deferred_f_from_coro_f
async def test_keys_that_cannot_be_made_refuse_nothing(crawl, monkeypatch, caplog):
    """If a locked store cannot be converted to the rules of now, it refuses no page."""
    pages = {
        "/": links("/x?sid=1", "/x?sid=2", "/x"),
        "/x?sid=1": page("<p>one"),
        "/x?sid=2": page("<p>two"),
        "/x": page("<p>none"),
    }
    wrong = {**SETTINGS, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    first = await crawl(site(pages), wrong, spider=ItemSpider)
    assert first.pages == ["/x?sid=1"]
    monkeypatch.setattr("scrapy_urlcanon.crawl.seen_sets.database._PATIENCE", 0.1)
    with closing(sqlite3.connect("seen.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        second = await crawl(site(pages), {**SETTINGS, "URLCANON_RULES": {}}, spider=ItemSpider)
    assert second.pages == ["/x", "/x?sid=1", "/x?sid=2"]
    assert caplog.text.count("cannot be read or written") == 1
    third = await crawl(site(pages), {**SETTINGS, "URLCANON_RULES": {}}, spider=ItemSpider)
    assert third.pages == ["/x", "/x?sid=2"]


@deferred_f_from_coro_f
async def test_two_runs_at_once_under_other_rules(crawl):
    """What a run notes after another one converted the store refuses no page under those rules."""
    pages = {"/": links("/x?sid=1"), "/x?sid=1": page("<p>one"), "/x": page("<p>none")}
    wrong = {**SETTINGS, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    none = {**SETTINGS, "URLCANON_RULES": {}}
    digest = RulesDocument.of(configuration_of(Settings(none))).digest

    class Other(ItemSpider):
        def parse(self, response):
            if "sid" in response.url:
                # As the run of another process does when it begins.
                with closing(SeenPages(Path("seen.db"))) as store:
                    store.make_keys(digest, lambda url: url.encode())
            yield from super().parse(response)

    await crawl(site(pages), wrong, spider=Other)
    later = await crawl(site(pages), none, spider=ItemSpider, start=[f"{SITE}/x"])
    assert later.pages == ["/x"]


def write(path, text):
    """Write *text* to the file at *path*."""
    Path(path).write_text(text, encoding="utf-8")


@deferred_f_from_coro_f
async def test_file_that_is_no_store(crawl):
    """A file that is no store, or of a newer version, stops the crawl with one error."""
    write("seen.db", "<html>" * 1000)
    with pytest.raises(ConfigurationError, match="not a database"):
        await crawl(site(PAGES), SETTINGS)
    SeenPages(Path("new.db")).close()
    with sqlite3.connect("new.db") as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(ConfigurationError, match="its version is 9"):
        await crawl(site(PAGES), {**SETTINGS, "URLCANON_SEEN": "new.db"})


@pytest.mark.parametrize("expires", ["soon", {"*": "1h", "a.example": -1}, [1]])
@deferred_f_from_coro_f
async def test_expiry_that_is_none(crawl, expires):
    """Each wrong expiry time is named in the error."""
    with pytest.raises(ConfigurationError, match="expected a time such as"):
        await crawl(site(PAGES), {**SETTINGS, "URLCANON_SEEN_EXPIRES": expires})


def test_command_that_shows_a_page_is_no_run(tmp_path):
    """`scrapy fetch` and `parse` fetch pages that a run got, and write no report, record or job."""
    project = tmp_path / "project"
    project.mkdir()
    write(project / "scrapy.cfg", "[settings]\ndefault = settings\n")
    write(
        project / "settings.py",
        'ADDONS = {"scrapy_urlcanon.Addon": 500}\nSPIDER_MODULES = ["spiders"]\n'
        'URLCANON_SEEN = "seen.db"\nURLCANON_SEEN_BY = "response"\n'
        'URLCANON_REPORT = "report.json"\nURLCANON_RECORD = "record.sqlite"\n'
        'URLCANON_RECORD_REVISITS = False\nURLCANON_TAKE_UP = "left.jsonl"\n',
    )
    write(
        project / "spiders.py",
        "from scrapy import Spider\n\n\nclass Shop(Spider):\n"
        f'    name = "shop"\n    start_urls = ["{SITE}/b"]\n\n'
        '    def parse(self, response):\n        yield {"url": response.url}\n',
    )
    write(project / "left.jsonl", json.dumps({"url": f"{SITE}/new"}))
    written = []
    with Loopback(site(PAGES)) as server:
        crawl, url = "crawl shop", f"{SITE}/b"
        show, parse = f"fetch -s JOBDIR=job {url}", f"parse --spider shop {url}"
        for command in (show, crawl, parse, crawl):
            done = scrapy(*command.split(), cwd=project, environment=server.proxies)
            assert not done.returncode, done
            files = (project / name for name in ("report.json", "record.sqlite", "job"))
            written.append([path.exists() and path.stat().st_mtime_ns for path in files])
        assert written[0] == [False, False, False]
        assert written[1] == written[2]
        assert written[2][0] < written[3][0]
        # What shows a page fetches it each time, and of the runs the first one.
        assert sorted(server.hits) == [url, url, url, f"{SITE}/new"]
