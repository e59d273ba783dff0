"""A job that is killed with kill -9 and resumed loses no page."""

import io
import json
import signal
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_line import ScrapyProcess, as_arguments
from loopback import Loopback, page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ALONE, SITE, links, site
from trap_sites import words

SPIDER = Path(__file__).with_name("killed_spider.py")
SETTINGS = {
    "ADDONS": {"scrapy_urlcanon.Addon": 500},
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "JOBDIR": "job",
    "RETRY_TIMES": 0,
    **ALONE,
    "LOG_LEVEL": "WARNING",
}

# Ten sections of three articles, each linked under two URLs; a page behind a redirect, one
# whose first URL is dead, and one that nothing but that page links.
SECTIONS = [f"/s{n}" for n in range(10)]
PAGES = {
    "/": links(*SECTIONS, "/old"),
    "/old": redirect("/new"),
    "/new": page("new"),
    **{
        f"/s{s}": links(
            *(f"/a{s}{n}?sid={sid}" for n in range(3) for sid in (1, 2)), "/rescue?sid=1"
        )
        for s in range(10)
    },
    **{f"/a{s}{n}?sid={sid}": page("a") for s in range(10) for n in range(3) for sid in (1, 2)},
    "/s9": links("/rescue?sid=1", "/rescue?sid=2", "/rescue?sid=3"),
    "/rescue?sid=3": links("/last"),
    "/last": page("last"),
}
# Whichever of its URLs came first, each page once.
EXPECTED = sorted(
    {"/", "/new", "/rescue", "/last", *SECTIONS, *(f"/a{s}{n}" for s in range(9) for n in range(3))}
)


class Runs:
    """Runs of the spider in processes of their own, killed by the server at given requests."""

    def __init__(self, directory, respond, kill_at, settings):
        self._directory = directory
        self._respond = respond
        self._kill_at = kill_at
        self._settings = {**SETTINGS, **settings}
        self._hits = 0
        self._process = None

    def respond(self, request):
        """Answer *request*, after killing the spider if it is one of those given."""
        self._hits += 1
        if self._hits in self._kill_at:
            self.kill()
        return self._respond(request)

    def kill(self):
        """Kill the running spider."""
        self._process.kill()

    def run(self, server):
        """Run the spider until it ends or is killed, and return the status of the process."""
        command = ("runspider", SPIDER, *as_arguments(self._settings))
        self._process = ScrapyProcess(*command, cwd=self._directory, environment=server.proxies)
        ended = self._process.wait()
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.returncode


@pytest.fixture
def runs(tmp_path):
    """Return a function that makes the runs and the server of a site."""
    with ExitStack() as stack:

        def start(respond, *kill_at, **settings):
            runs = Runs(tmp_path, respond, kill_at, settings)
            return runs, stack.enter_context(Loopback(runs.respond))

        yield start


def pages_got(directory):
    """Return the pages that the spider got in all runs, without the queries of their URLs."""
    lines = (directory / "got.txt").read_text(encoding="utf-8").split()
    return Counter(url.removeprefix(SITE).partition("?")[0] for url in lines)


@pytest.mark.parametrize(
    "at",
    [1, 13, 44, *(pytest.param(at, marks=pytest.mark.long) for at in (2, 3, 5, 8, 21, 30, 40))],
)
def test_kill_loses_no_page(tmp_path, runs, at):
    """After a kill the next run gets what is missing, and counts what it may have repeated."""
    job, server = runs(site(PAGES), at)
    assert job.run(server) == -signal.SIGKILL
    before = list(server.hits)
    assert job.run(server) == 0
    assert sorted(pages_got(tmp_path)) == EXPECTED
    stats = json.loads((tmp_path / "stats.json").read_text(encoding="utf-8"))
    repeated = [url for url in server.hits[len(before) :] if url in before]
    # What was being fetched, and what waited for its turn in the downloader or the spider.
    assert 1 <= len(repeated) <= stats["urlcanon/job/fetched_twice"] <= 2 * 16
    assert stats["reason"] == "finished"


@pytest.mark.parametrize("at", [40, pytest.param(13, marks=pytest.mark.long)])
def test_kill_of_an_ordered_job_loses_no_page(tmp_path, runs, at):
    """The same with URLCANON_ORDER = "novelty", which has a queue of its own."""
    job, server = runs(site(PAGES), at, URLCANON_ORDER="novelty")
    assert job.run(server) == -signal.SIGKILL
    assert job.run(server) == 0
    assert sorted(pages_got(tmp_path)) == EXPECTED


TRAP, RICH = "http://trap.example", "http://rich.example"
LAST = {TRAP: 2_000, RICH: 240}


def numbers_linked(host, number):
    """Return the numbers of the pages that page *number* of *host* links."""
    further = range(4 * number, 4 * number + 4) if host == TRAP else (number + 1, number + 2)
    return [n for n in further if n < LAST[host]]


def trap_beside_news(request):
    """Answer as two hosts: an endless one without news, and one with news to its end."""
    host = request.url.removesuffix(request.target)
    if host == SITE:
        return links(f"{TRAP}/1", f"{RICH}/1")
    number = int(request.path[1:])
    text = words(request.url, 40) if host == RICH else "nothing"
    return page(text + "".join(f"<a href=/{n}>x</a>" for n in numbers_linked(host, number)))


def linked_by(urls):
    """Return what the pages of these *urls* link."""
    found = set()
    for url in urls - {f"{SITE}/"}:
        host, _, number = url.rpartition("/")
        found |= {f"{host}/{n}" for n in numbers_linked(host, int(number))}
    return found


# The trap ends after 210 of its pages at the latest, where two of the first ones passed for news:
# the other host has more.
@pytest.mark.parametrize("after", [1, pytest.param(20, marks=pytest.mark.long)])
def test_kill_loses_nothing_of_what_was_left(tmp_path, runs, after):
    """After a kill each linked URL was fetched or is once in the file of what was left.

    A later crawl takes all of that file up.
    """
    file = tmp_path / "left.jsonl"
    since = 0

    def respond(request):
        nonlocal since
        since += file.exists()
        if since == after:
            job.kill()
        return trap_beside_news(request)

    job, server = runs(
        respond, URLCANON_ORDER="novelty", URLCANON_STOP="0.05", URLCANON_LEFT=str(file)
    )

    def left():
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["url"] for line in lines]

    def got():
        return {*(tmp_path / "got.txt").read_text(encoding="utf-8").split()}

    assert job.run(server) == -signal.SIGKILL
    assert left()
    assert job.run(server) == 0
    assert len(left()) == len({*left()}) > 50
    # What the callback was at work on when it was killed is done anew, by whoever takes it up.
    cut = got() & {*left()}
    assert len(cut) <= 16
    roots = {f"{SITE}/", f"{TRAP}/1", f"{RICH}/1"}
    assert linked_by(got() - cut) | roots <= got() | {*left()} <= linked_by(got()) | roots
    assert {f"{RICH}/{n}" for n in range(1, LAST[RICH])} <= got()
    later, _ = runs(trap_beside_news, JOBDIR="", URLCANON_TAKE_UP="left.jsonl")
    taken_up = {*left()}
    assert later.run(server) == 0
    assert taken_up <= got()


def test_two_kills(tmp_path, runs):
    """A run that takes up a killed job may be killed too."""
    job, server = runs(site(PAGES), 10, 25)
    assert job.run(server) == -signal.SIGKILL
    assert job.run(server) == -signal.SIGKILL
    assert job.run(server) == 0
    assert sorted(pages_got(tmp_path)) == EXPECTED


@pytest.mark.skipif(
    io.DEFAULT_BUFFER_SIZE > 8192,
    reason="since Python 3.14 Scrapy stores nothing before there are 5,900 fingerprints",
)
def test_kill_of_a_job_with_many_fingerprints(tmp_path, runs):
    """After a kill, URLs whose fingerprints Scrapy had stored are fetched: they were queued."""
    urls = [f"/p{n}" for n in range(420)]
    # Scrapy 2.15 lets each response wait a tenth of a second for its callback, for all that is
    # on the way meanwhile: nine responses may, since each counts a kilobyte or more.
    settings = {"SCRAPER_SLOT_MAX_ACTIVE_SIZE": "8192"}
    job, server = runs(site({"/": links(*urls)}, missing=200), 50, **settings)
    assert job.run(server) == -signal.SIGKILL
    # 20 bytes each, and two for their number; the rest was in a buffer.
    assert (tmp_path / "job" / "requests.seen").stat().st_size > 300 * 22
    assert job.run(server) == 0
    assert sorted(pages_got(tmp_path)) == sorted(["/", *urls])
    assert len(server.hits) <= 421 + 2 * 16


def test_half_a_record_is_no_record(tmp_path, runs):
    """A journal whose last record was cut off is read up to there, and extended from there."""
    job, server = runs(site(PAGES), 20)
    assert job.run(server) == -signal.SIGKILL
    journal = tmp_path / "job" / "urlcanon.journal"
    journal.write_bytes(journal.read_bytes()[:-3])
    assert job.run(server) == 0
    assert sorted(pages_got(tmp_path)) == EXPECTED


@pytest.mark.parametrize("at", [15, *(pytest.param(at, marks=pytest.mark.long) for at in (32, 33))])
def test_kill_with_declared_canonicals(tmp_path, runs, at):
    """After a kill, URLs dropped because a page declared them are fetched again."""
    proof = [f"/a{n}{query}" for n in range(5) for query in ("?x=1", "")]
    variants = [f"/a{n}?x=1" for n in range(10, 30)]
    hubs = {"/": links(*proof, *variants, "/hub")}
    hubs["/hub"] = links(*(url.partition("?")[0] for url in variants), "/end")

    def respond(request):
        link = f'<link rel="canonical" href="{request.path}">'
        return hubs.get(request.target) or page(f"{link}<title>{request.path}</title>")

    job, server = runs(
        respond,
        at,
        URLCANON_DECLARED_CANONICAL="1",
        CONCURRENT_REQUESTS="1",
        SCHEDULER_DISK_QUEUE="scrapy.squeues.PickleFifoDiskQueue",
    )
    assert job.run(server) == -signal.SIGKILL
    assert job.run(server) == 0
    pages = {*hubs, "/end", *(url.partition("?")[0] for url in proof + variants)}
    assert set(pages_got(tmp_path)) == pages


@deferred_f_from_coro_f
async def test_variant_that_waits_outlives_an_orderly_stop(crawl):
    """A variant that waited when a job was stopped is fetched in the next run if its page fails."""
    settings = {
        "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
        "JOBDIR": "job",
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }
    pages = {"/": links("/a", "/b?sid=1", "/b?sid=2"), "/a": page("a"), "/b?sid=2": page("b")}
    first = await crawl(site(pages), {**settings, "CLOSESPIDER_PAGECOUNT": 1})
    assert "/b?sid=1" not in first.hits
    second = await crawl(site(pages), settings, start=())
    assert second.pages[-1] == "/b?sid=2"


@deferred_f_from_coro_f
async def test_failure_outlives_an_orderly_stop(crawl):
    """A variant that is linked in a later run than the one in which its page failed is fetched."""
    settings = {
        "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
        "JOBDIR": "job",
    }
    await crawl(site({"/": links("/b?sid=1")}), settings)
    later = {"/later": links("/b?sid=2"), "/b?sid=2": page("b")}
    second = await crawl(site(later), settings, start=(f"{SITE}/later",))
    assert second.pages == ["/b?sid=2", "/later"]


@pytest.mark.parametrize("url", ["/a", "/a?sid=2"])
@deferred_f_from_coro_f
async def test_page_whose_first_url_failed_in_an_earlier_run(crawl, url):
    """If the first URL failed in an earlier run, any other URL of the page is fetched.

    The canonical URL too, though it has the same fingerprint as the one that failed.
    """
    settings = {"JOBDIR": "job", "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
    await crawl(site({"/": links("/a?sid=1")}), settings)
    start = [Request(f"{SITE}/more", dont_filter=True)]
    result = await crawl(site({"/more": links(url), url: page("a")}), settings, start=start)
    assert result.pages == sorted([url, "/more"])


@deferred_f_from_coro_f
async def test_depth_of_a_page_is_known_in_the_next_run(crawl):
    """A page that the next run links at a lower depth is fetched again.

    As within one run: at that depth its links are within DEPTH_LIMIT.
    """
    settings = {"JOBDIR": "job", "DEPTH_LIMIT": 2}
    settings["URLCANON_RULES"] = {"site.example": {"drop_params": ["sid"]}}
    pages = {"/": links("/b"), "/b": links("/a?sid=1"), "/a?sid=1": links("/c")}
    first = await crawl(site(pages), settings)
    assert "/c" not in first.hits
    pages = {"/more": links("/a?sid=2"), "/a?sid=2": links("/c"), "/c": page("c")}
    start = [Request(f"{SITE}/more", dont_filter=True)]
    result = await crawl(site(pages), settings, start=start)
    assert result.pages == ["/a?sid=2", "/c", "/more"]
