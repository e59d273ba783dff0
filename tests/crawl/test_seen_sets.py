"""URLCANON_SEEN_SET: the sets against a model, in crawls, after kills and with damaged files."""

import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from killed_jobs import Job
from loopback import page
from scrapy import Spider
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.seen_sets import disk
from scrapy_urlcanon.crawl.seen_sets.base import COMPACT_FILE, DISK_FILE
from scrapy_urlcanon.crawl.seen_sets.compact import CompactSet
from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet
from scrapy_urlcanon.crawl.seen_sets.stored import count_in
from scrapy_urlcanon.exceptions import ConfigurationError

ROOT = Path(__file__).parents[2]
KINDS = ("compact", "compact-128", "disk")
FILES = {"compact": COMPACT_FILE, "compact-128": COMPACT_FILE, "disk": DISK_FILE}


def make(kind, directory):
    """Return a set of *kind* that is stored in *directory*."""
    path = Path(directory) / FILES[kind]
    return DiskSet(path) if kind == "disk" else CompactSet(128 if kind[7:] else 64, path)


def fingerprint(number):
    """Return a fingerprint for *number*, spread as a hash."""
    return sha1(str(number).encode()).digest()


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(("add", "add", "add", "discard", "look", "reopen")), st.integers(0, 40)
    )
)


@pytest.mark.parametrize("kind", KINDS)
def test_set_is_a_set(kind, monkeypatch):
    """Each set holds what Python's would, after additions, removals and reopening."""
    monkeypatch.setattr(disk, "_BATCH", 4)

    @settings(max_examples=settings.default.max_examples // 15)
    @given(operations=OPERATIONS)
    def check(operations):
        model = set()
        with tempfile.TemporaryDirectory() as directory:
            seen = make(kind, directory)
            for operation, number in operations:
                key = fingerprint(number)
                if operation == "add":
                    assert seen.add(key) is (key not in model)
                    model.add(key)
                elif operation == "discard":
                    seen.discard(key)
                    model.discard(key)
                elif operation == "look":
                    assert (key in seen) is (key in model)
                else:
                    seen.close()
                    seen = make(kind, directory)
                assert len(seen) == len(model)
            seen.close()

    check()


@pytest.mark.parametrize("bits", [64, 128])
def test_full_tables(bits):
    """Words that collide in one table are found and removed."""
    words = [(n << 10 | 7).to_bytes(8, "big") + n.to_bytes(12, "big") for n in range(1, 400)]
    seen = CompactSet(bits)
    assert all(map(seen.add, words))
    for word in words[::2]:
        seen.discard(word)
    assert [word in seen for word in words] == [n % 2 == 1 for n in range(399)]
    assert not any(map(seen.add, words[1::2]))


def test_128_bits_tell_apart_what_64_bits_do_not():
    """With 128 bits, fingerprints with an equal first word differ."""
    one, other = (bytes(range(8)) + sha1(part).digest()[:12] for part in (b"one", b"other"))
    assert [CompactSet(64).add(one), CompactSet(128).add(one)] == [True, True]
    for bits, is_new in ((64, False), (128, True)):
        seen = CompactSet(bits)
        seen.add(one)
        assert seen.add(other) is is_new


@pytest.mark.parametrize("kind", KINDS)
def test_size_is_known_without_opening(kind, tmp_path):
    """The number of stored fingerprints is known without opening the set."""
    seen = make(kind, tmp_path)
    for number in range(100):
        seen.add(fingerprint(number))
    seen.close()
    assert count_in(tmp_path) == 100


PAGES = {
    "/": links("/a?sid=1", "/a?sid=2", "/b", "/b", "/c"),
    "/a?sid=2": page("a"),
    "/b": page("b"),
    "/c": links("/a?sid=3"),
}
RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_crawl_is_that_of_scrapys_own(crawl, kind):
    """A crawl has the same requests, drops and rescues as with Scrapy's set."""
    expected = await crawl(site(PAGES), RULES)
    found = await crawl(site(PAGES), {**RULES, "URLCANON_SEEN_SET": kind})
    assert found.hits == expected.hits
    assert found.figures == expected.figures
    assert found.stats["dupefilter/filtered"] == expected.stats["dupefilter/filtered"]


class Numbers:
    """A user's fingerprinter that returns small numbers as long as a digest."""

    def fingerprint(self, request):
        return b"%020d" % int(request.url.rpartition("/")[2].partition("?")[0] or 0)


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_fingerprints_of_others_are_distinguished(crawl, kind):
    """Fingerprints that are not spread as hashes are told apart."""
    urls = [f"/{number}?sid={sid}" for number in range(1, 9) for sid in (1, 2)]
    result = await crawl(
        site({"/": links(*urls)}, missing=200),
        {
            "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
            "REQUEST_FINGERPRINTER_CLASS": Numbers,
            "URLCANON_SEEN_SET": kind,
            # It would fetch at the end what was taken for seen, up to 100,000 pages of it.
            "URLCANON_RESCUE": False,
        },
    )
    assert sorted(result.hits) == ["/", *(f"/{number}?sid=1" for number in range(1, 9))]


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_job_that_is_resumed(crawl, kind):
    """A resumed job fetches nothing twice, with and without a journal."""
    for journal in (True, False):
        job = {"JOBDIR": f"job-{journal}", "URLCANON_JOB_JOURNAL": journal}
        settings = {**RULES, **job, "URLCANON_SEEN_SET": kind}
        await crawl(site(PAGES), settings)
        second = await crawl(site(PAGES), settings)
        # The start request is sent again in each run.
        assert set(second.hits) <= {"/"}


@pytest.mark.parametrize(("before", "after"), [("scrapy", "disk"), ("compact", "scrapy")])
@deferred_f_from_coro_f
async def test_job_that_goes_on_with_another_set(crawl, caplog, before, after):
    """A set of another kind is rebuilt from the journal; without one a warning says it is lost."""
    for journal, what in ((True, "made anew from its journal"), (False, "not known any more")):
        job = {**RULES, "JOBDIR": f"job-{journal}", "URLCANON_JOB_JOURNAL": journal}
        await crawl(site(PAGES), {**job, "URLCANON_SEEN_SET": before})
        assert "URLCANON_SEEN_SET changed" not in caplog.text
        second = await crawl(site(PAGES), {**job, "URLCANON_SEEN_SET": after})
        assert (set(second.hits) <= {"/"}) is journal
        assert f"what was seen is {what}" in caplog.text
        caplog.clear()


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_job_that_is_stopped_while_a_variant_waits(crawl, kind, caplog):
    """A job stopped while a variant waits is closed in order, and not taken for killed."""

    class Ending(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/a":
                raise CloseSpider
            return super().parse(response)

    settings = {**RULES, "JOBDIR": "job", "URLCANON_SEEN_SET": kind, "URLCANON_REWRITE": True}
    pages = {"/": links("/a?sid=1", "/b"), "/a": page("a"), "/b": page("b")}
    first = await crawl(site(pages), settings, spider=Ending)
    assert "/a" in first.hits
    second = await crawl(site(pages), settings, spider=Ending)
    assert "job/recovered" not in second.figures
    assert not [record for record in caplog.records if record.exc_info]


@deferred_f_from_coro_f
async def test_other_rules_are_noticed(crawl, caplog):
    """Fingerprints of other rules are noticed in each set."""
    for kind in KINDS:
        settings = {"JOBDIR": f"job-{kind}", "URLCANON_SEEN_SET": kind}
        await crawl(site(PAGES), {**RULES, **settings})
        caplog.clear()
        await crawl(site(PAGES), settings)
        assert "stored fingerprints are of other rules" in caplog.text


@pytest.mark.parametrize("options", ["compact set", "disk set"])
def test_killed_job_loses_no_page(tmp_path, options):
    """After a kill the set is rebuilt from the journal, and no page is lost."""
    outcome = Job(tmp_path, 5, options, size=25).run()
    assert outcome.errors == ""
    assert outcome.lost == set()


ADD = """
import sys
from hashlib import sha1
from pathlib import Path
from scrapy_urlcanon.crawl.seen_sets import disk
disk._BATCH = 500
seen = disk.DiskSet(Path(sys.argv[1]))
print(len(seen), flush=True)
number = int(sys.argv[2])
while True:
    assert seen.add(sha1(str(number).encode()).digest())
    number += 1
    print(number, flush=True)
"""


def test_kill_forgets_nothing_that_was_added(tmp_path):
    """After kill -9 all that add() returned for is there."""
    path = tmp_path / DISK_FILE
    chance = random.Random(20)
    added = 0
    for _ in range(3):
        command = [sys.executable, "-c", ADD, str(path), str(added)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            at_start = int(process.stdout.readline())
            assert at_start == added
            for _ in range(chance.randrange(200, 3_000)):
                added = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split()
            added = int(rest[-1]) if rest else added
        seen = DiskSet(path)
        assert all(fingerprint(number) in seen for number in range(added))
        added = len(seen)
        seen.close()


def broken(kind, how, directory):
    """Make a stored set that is damaged in the way of *how*."""
    seen = make(kind, directory)
    for number in range(2_000):
        seen.add(fingerprint(number))
    seen.close()
    path = Path(directory) / FILES[kind]
    data = path.read_bytes()
    if how == "text":
        path.write_text("<html>" * 1000, encoding="utf-8")
    elif how == "cut off":
        path.write_bytes(data[: len(data) // 2 - 3])
    elif kind == "disk":
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 9")
        database.close()
    else:
        path.write_bytes(data[:8] + b"\x09" + data[9:])
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("how", "problem"), [("text", "no set|not a database"), ("newer", "its version is 9")]
)
def test_file_that_is_another_one(kind, how, problem, tmp_path):
    """Another file, or one of a newer version, is an error that says what to do."""
    path = broken(kind, how, tmp_path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=problem):
        make(kind, tmp_path)
    assert path.read_bytes() == before


def test_database_that_is_cut_off(tmp_path):
    """A truncated database is an error."""
    broken("disk", "cut off", tmp_path)
    with pytest.raises(ConfigurationError, match=r"cut off|malformed"):
        make("disk", tmp_path)


def test_words_that_are_cut_off(tmp_path, caplog):
    """A truncated file of words keeps the whole ones, and can be extended."""
    broken("compact", "cut off", tmp_path)
    seen = make("compact", tmp_path)
    assert len(seen) == 998
    assert "cut off" in caplog.text
    seen.add(fingerprint(5_000))
    seen.close()
    seen = make("compact", tmp_path)
    assert len(seen) == 999
    seen.close()


def test_removal_that_is_cut_off_removes_nothing_else(tmp_path):
    """A truncated removal does not apply to what is added after it."""
    seen = make("compact", tmp_path)
    for number in range(3):
        seen.add(fingerprint(number))
    seen.discard(fingerprint(1))
    seen.close()
    path = tmp_path / FILES["compact"]
    data = path.read_bytes()
    for left in range(len(data) - 40, len(data)):
        path.write_bytes(data[:left])
        seen = make("compact", tmp_path)
        seen.add(fingerprint(9))
        seen.close()
        seen = make("compact", tmp_path)
        assert fingerprint(9) in seen
        seen.close()


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_with_one_store(kind, tmp_path):
    """A second process gets an error, and changes nothing."""
    seen = make(kind, tmp_path)
    seen.add(fingerprint(1))
    with pytest.raises(ConfigurationError, match="in use by another crawl"):
        make(kind, tmp_path)
    seen.add(fingerprint(2))
    seen.close()
    assert count_in(tmp_path) == 2


def test_other_number_of_bits(tmp_path):
    """A store of 64 bits cannot be opened with 128."""
    make("compact", tmp_path).close()
    with pytest.raises(ConfigurationError, match="64 bits of each fingerprint, not 128"):
        make("compact-128", tmp_path)


def test_disk_that_is_full(tmp_path, monkeypatch, caplog):
    """On a full disk fingerprints stay in memory until they can be stored; one message."""
    monkeypatch.setattr(disk, "_BATCH", 10)
    seen = DiskSet(tmp_path / DISK_FILE)
    pages = seen._database.execute("PRAGMA page_count").fetchone()[0]
    seen._database.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(1_000):
        assert seen.add(fingerprint(number))
    assert caplog.text.count("cannot be written") == 1
    assert all(fingerprint(number) in seen for number in range(1_000))
    seen._database.execute("PRAGMA max_page_count = 100000")
    seen.close()
    assert count_in(tmp_path) == 1_000


@pytest.fixture
def file_size():
    """Return a function that limits the size of files, as a full disk does."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    yield limit
    limit(hard)


@pytest.mark.parametrize("kind", KINDS)
def test_file_that_cannot_grow(kind, tmp_path, file_size, caplog):
    """If the file cannot grow nothing is forgotten, and all is stored later."""
    seen = make(kind, tmp_path)
    # Within a fingerprint.
    file_size(30_005)
    assert all(seen.add(fingerprint(number)) for number in range(6_000))
    assert caplog.text.count("cannot be written") == 1
    assert not any(seen.add(fingerprint(number)) for number in range(6_000))
    file_size(resource.RLIM_INFINITY)
    assert all(seen.add(fingerprint(number)) for number in range(6_000, 7_000))
    seen.close()
    seen = make(kind, tmp_path)
    assert len(seen) == 7_000
    assert not any(seen.add(fingerprint(number)) for number in range(7_000))
    seen.close()


def test_kill_after_the_disk_was_full_for_a_moment(tmp_path, file_size):
    """After a full disk and a kill no stored fingerprint is misread."""
    seen = make("disk", tmp_path / "job")
    # The last of these has room for a part of it.
    file_size(16 * 99 + 5)
    for number in range(100):
        seen.add(fingerprint(number))
    file_size(resource.RLIM_INFINITY)
    for number in range(100, 200):
        seen.add(fingerprint(number))
    shutil.copytree(tmp_path / "job", tmp_path / "killed")
    seen.close()
    left = make("disk", tmp_path / "killed")
    assert len(left) == sum(fingerprint(number) in left for number in range(200)) == 99
    left.close()


def test_full_disk_does_not_forget(tmp_path, file_size):
    """If a removal cannot be stored, the fingerprint stays known."""
    seen = make("disk", tmp_path)
    seen.add(fingerprint(1))
    seen.close()
    seen = make("disk", tmp_path)
    file_size(100)
    seen.discard(fingerprint(1))
    assert fingerprint(1) in seen
    assert len(seen) == 1
    file_size(resource.RLIM_INFINITY)
    seen.discard(fingerprint(1))
    assert fingerprint(1) not in seen
    seen.close()


def test_setting_beside_another_duplicate_filter():
    """URLCANON_SEEN_SET beside another DUPEFILTER_CLASS is an error."""
    settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_SEEN_SET": "compact"}
    own = {**settings, "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}
    with pytest.raises(ConfigurationError, match="set only one of them"):
        get_crawler(Spider, own)
    with pytest.raises(ConfigurationError, match="did you mean 'compact'"):
        get_crawler(Spider, {**settings, "URLCANON_SEEN_SET": "compct"})


def test_temporary_store_is_removed(tmp_path, monkeypatch):
    """Without a job the file of the disk set is removed with the crawl."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_SEEN_SET": "disk"}
    crawler = get_crawler(Spider, settings)
    scheduler = Scheduler.from_crawler(crawler)
    assert list(tmp_path.iterdir())
    scheduler.df.close("finished")
    assert list(tmp_path.iterdir()) == []
