"""A job that is resumed under changed rules, again and again, gets every page."""

from __future__ import annotations

import errno
import os
import random
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.job.journal import FILE, Journal
from scrapy_urlcanon.exceptions import ConfigurationError

RULES = (
    {},
    {"drop_params": ["sid"]},
    {"trailing_slash": "strip"},
    {"drop_params": ["sid"], "trailing_slash": "strip"},
    {"drop_params": ["sid", "v"], "www": "strip"},
    {"scheme": "https", "drop_params": ["v"]},
)
"""Any of these is right for the site: a page has all the URLs that they make one."""
PAGES = 14
SUFFIXES = ("", "?sid=1", "?sid=2", "?v=1", "?v=2", "?utm_source=z")
JOB = Path("job")


class ProxyOfThisCrawl:
    """Removes the proxy of an earlier run from stored requests, since each has its own server."""

    def process_request(self, request):
        request.meta.pop("proxy", None)


class RandomSite:
    """A site whose pages link each other by any of their URLs, some of which fail."""

    def __init__(self, draw: random.Random) -> None:
        self._links = {
            number: [
                f"/{other}{draw.choice(('', '/'))}{draw.choice(SUFFIXES)}"
                for other in range(PAGES)
                if other == number + 1 or (other != number and draw.random() < 0.25)
            ]
            for number in range(PAGES)
        }
        self._failing = set(draw.sample(range(1, PAGES), 2))
        self._redirecting = draw.randrange(1, PAGES)

    def respond(self, request):
        """Answer a request."""
        number = int(urlsplit(request.url).path.strip("/") or 0)
        if self._fails(request.url):
            return page("not now", status=500)
        if number == self._redirecting and "v=" in request.url:
            return redirect(f"/{number}")
        linked = "".join(f'<a href="{url}">link</a>' for url in self._links[number])
        return page(f"<p>page {number}.</p>{linked}")

    def _fails(self, url):
        number = int(urlsplit(url).path.strip("/") or 0)
        return number in self._failing and "sid" in url

    @property
    def promised(self):
        """The pages that are reachable by links that do not fail."""
        found, left = set(), [0]
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                good = [url for url in self._links[number] if not self._fails(url)]
                left += [int(urlsplit(url).path.strip("/")) for url in good]
        return found


def kill(draw):
    """Leave the job as a kill after a random record would."""
    journal = Journal(JOB / FILE)
    journal.scan(lambda _: None)
    records = list(journal)
    journal.replace(records[: draw.randrange(1, len(records))])
    (JOB / "requests.queue" / "active.json").unlink()


@pytest.mark.parametrize(
    # Of these a page of the first two was lost where the stored fingerprints stayed.
    "seeds",
    [(28, 37, *range(4)), pytest.param(range(4, 300), marks=pytest.mark.long)],
    ids=len,
)
@deferred_f_from_coro_f
async def test_no_page_is_lost(crawl, seeds):
    """No page is lost, whether runs are stopped in order or killed."""
    for seed in seeds:
        draw = random.Random(seed)
        site = RandomSite(draw)
        shutil.rmtree(JOB, ignore_errors=True)
        settings = {
            "JOBDIR": str(JOB),
            "CONCURRENT_REQUESTS": draw.choice((1, 3)),
            "DOWNLOADER_MIDDLEWARES": {ProxyOfThisCrawl: 0},
        }
        if draw.random() < 0.3:
            settings["URLCANON_ORDER"] = "novelty"
        got = set()
        for last in (False, False, False, True):
            settings["URLCANON_RULES"] = {"*": draw.choice(RULES)}
            settings["CLOSESPIDER_PAGECOUNT"] = 0 if last else draw.randrange(1, 6)
            result = await crawl(site.respond, settings, start=("http://site.example/0",))
            got |= {
                int(item["text"].split("page ")[1].partition(".")[0])
                for item in result.items
                if "page " in item["text"]
            }
            if not last and draw.random() < 0.5:
                kill(draw)
        assert site.promised <= got, seed


@deferred_f_from_coro_f
async def test_journal_that_cannot_be_written_anew_stops_the_crawl(crawl, monkeypatch):
    """If the journal cannot be rewritten for new rules, the crawl stops.

    Else a page would be taken for seen that has the old fingerprint of another.
    """
    pages = {"/": links("/a?sid=1"), "/a?sid=1": page("one"), "/b": links("/a"), "/a": page("a")}
    settings = {"JOBDIR": str(JOB), "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    await crawl(site(pages), settings)

    def replace(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    settings["URLCANON_RULES"] = {"*": {"drop_params": ["v"]}}
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "replace", replace)
        with pytest.raises(ConfigurationError, match="No space left"):
            await crawl(site(pages), settings)
    result = await crawl(site(pages), settings, start=(f"{SITE}/b",))
    assert result.hits == ["/b", "/a"]


class Raising(FollowSpider):
    """Raises at all pages but the first."""

    def parse(self, response):
        if response.url != f"{SITE}/":
            raise ValueError
        yield from response.follow_all(css="a")


@deferred_f_from_coro_f
async def test_linked_urls_are_scheduled_after_what_stands_in_the_journal(crawl):
    """The requests in the journal are scheduled before the linked URLs that rewriting replaced.

    Outcomes in the journal belong to the former.
    """
    hop, linked = "/a?sid=1&v=1", "/a?sid=1&v=2"
    pages = {"/": links(linked, "/r"), "/r": redirect(hop), hop: page("a"), linked: page("a")}
    settings = {"JOBDIR": str(JOB), "URLCANON_REWRITE": True, "CONCURRENT_REQUESTS": 1}
    settings["URLCANON_RULES"] = {"*": {"drop_params": ["sid"]}}
    first = await crawl(site({**pages, "/a?v=2": page("a")}), settings, spider=Raising)
    assert hop in first.hits
    settings |= {"URLCANON_RULES": {"*": {"drop_params": ["v"]}}, "URLCANON_REWRITE": False}
    settings["DOWNLOADER_MIDDLEWARES"] = {ProxyOfThisCrawl: 0}
    second = await crawl(site({**pages, "/a?v=2": page("a")}), settings, start=())
    assert hop in second.hits


@deferred_f_from_coro_f
async def test_what_was_dropped_is_not_taken_for_a_page_that_was_fetched(crawl):
    """A dropped URL is not taken for a page that has its fingerprint under other rules."""
    fetched = [f"/a?sid={number}&v={number}" for number in range(4)]
    dropped = ["/a?sid=1&v=0", "/a?sid=2&v=0"]
    urls = [*fetched[1:], *dropped, fetched[0]]
    pages = {"/": links(*urls), **{url: page(f"<p>{url} {url[5:8] * 40}") for url in urls}}
    settings = {"JOBDIR": str(JOB), "CONCURRENT_REQUESTS": 1}
    settings["URLCANON_RULES"] = {"*": {"drop_params": ["v"]}}
    first = await crawl(site(pages), settings)
    assert set(first.hits) == {"/", *fetched}
    settings |= {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}, "URLCANON_AUDIT": 1}
    settings["DOWNLOADER_MIDDLEWARES"] = {ProxyOfThisCrawl: 0}
    second = await crawl(site(pages), settings, start=())
    assert {urlsplit(item["url"]).query for item in second.items} >= {url[3:] for url in dropped}


class ShortestFirst(FollowSpider):
    """Follows short links first."""

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, priority=-len(link))


@deferred_f_from_coro_f
async def test_what_is_queued_when_an_entry_falls_is_not_taken_for_done(crawl):
    """A queued request is not taken for a page that got its fingerprint when an entry fell."""
    queued = "/b?id=10000000"
    further = [f"/further/{number}" for number in range(20)]
    urls = [queued, "/b", "/another", *further, *(f"/a?id={number}" for number in range(3))]
    pages = {"/": links(*urls), **{url: page(f"<p>{url * 40}") for url in urls}}
    settings = {"JOBDIR": str(JOB), "CONCURRENT_REQUESTS": 1, "URLCANON_AUDIT": 1}
    settings |= {"URLCANON_RULES": {"*": {"drop_params": ["id", "v"]}}, "CLOSESPIDER_PAGECOUNT": 20}
    first = await crawl(site(pages), settings, spider=ShortestFirst)
    assert "/b" in first.hits
    assert queued not in first.hits
    settings |= {"URLCANON_RULES": {"*": {"drop_params": ["v"]}}, "CLOSESPIDER_PAGECOUNT": 0}
    settings["DOWNLOADER_MIDDLEWARES"] = {ProxyOfThisCrawl: 0}
    second = await crawl(site(pages), settings, start=())
    assert queued in second.hits
