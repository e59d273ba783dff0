"""Learning in several processes: the same rules, and nothing left behind."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_urlcanon.exceptions import ConfigurationError, InputError, ProcessError
from scrapy_urlcanon.learn import Observation, RuleInForce, learn, learning, partitions
from scrapy_urlcanon.learn.processes import in_processes
from scrapy_urlcanon.learn.readers.store import Stores, read_store
from scrapy_urlcanon.learn.results.rules_file import to_json
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.profiles.suspicions import prior_of

DOMAINS, PAGES = 12, 30
ROOT = Path(__file__).parents[2]


def observations():
    """Yield pages with and without a parameter, and redirects to them, of some domains in turn."""
    for number in range(PAGES):
        for domain in range(DOMAINS):
            host = f"http://shop{domain}.example"
            slug = f"{host}/post-{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}/"
            yield Observation(slug, main_sha1=f"{number:040x}")
            yield Observation(f"{slug}?sid={number}", main_sha1=f"{number:040x}", canonical=slug)
            yield Observation(f"{host}/?p={number * 7}", status=301, redirect=slug)


def fill(path, domains=DOMAINS):
    """Write a store of pages with and without a parameter, of some domains in turn."""
    with ObservationStore(path) as store:
        for number in range(PAGES):
            for domain in range(domains):
                url = f"http://shop{domain}.example/{number}"
                text = f"<p>{' '.join(f'w{number}x{word}' for word in range(40))}"
                for each in (url, f"{url}?sid={number}"):
                    store.add(Page(each, text.encode(), text), status=200)
    return path


@pytest.fixture(autouse=True)
def several(monkeypatch, tmp_path):
    """Take few observations for enough; leave no file and no process behind."""
    monkeypatch.setattr(learning, "MIN_FOR_SEVERAL", 0)
    monkeypatch.setattr(partitions, "_ENOUGH", 200)
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield
    assert list(directory.iterdir()) == []
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("held", [100, 500_000])
def test_two_processes_learn_what_one_does(held, monkeypatch):
    """Rules, evidence and what was in force are the same, whether in memory or on disk."""
    in_force = [RuleInForce(f"shop{n}.example", "drop_params", ["ref"]) for n in (3, 99)]
    said = []

    def result(**options):
        learned = learn(observations(), in_force=in_force, prior_of=prior_of, **options)
        return to_json(learned), [rule.places for rule in learned.rules]

    whole = result()
    monkeypatch.setattr(partitions, "MAX_HELD", held)
    assert result(jobs=2, progress=lambda *told: said.append(told)) == whole
    assert '"skip"' in whole[0]
    assert "shop99.example" in whole[0]
    count = 3 * PAGES * DOMAINS
    assert said[-1] == ("", count, count)
    assert [done for _, done, _ in said] == sorted(done for _, done, _ in said)


@pytest.mark.parametrize("jobs", [1, 2])
def test_stores_are_learned_from_domain_by_domain(tmp_path, jobs):
    """What two stores have of a domain comes together; bad rows are counted once."""
    paths = [fill(tmp_path / "one.sqlite"), fill(tmp_path / "two.sqlite", domains=3)]
    with closing(sqlite3.connect(paths[0])) as connection, connection:
        connection.execute("UPDATE responses SET status = 9999 WHERE url LIKE '%shop2.%/7'")
    skipped = Counter()
    whole = learn(observation for path in paths for observation in read_store(path, skipped))
    stores = Stores(paths)
    assert to_json(learn(stores, jobs=jobs)) == to_json(whole)
    assert stores.skipped == skipped == {"bad status": 1}
    assert '"sid"' in to_json(whole)


@pytest.mark.parametrize("domain", ["'elsewhere.example'", "x'ff'", "''"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_store_whose_domains_are_others_now_is_read_as_any_input(tmp_path, jobs, domain):
    """Where the list of suffixes has changed, the rows of a domain stand in several places."""
    path = fill(tmp_path / "observations.sqlite")
    whole = to_json(learn(read_store(path)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE responses SET domain = {domain} WHERE url LIKE '%shop5%sid%'")
    stores = Stores([path], Counter(before=1))
    assert to_json(learn(stores, jobs=jobs)) == whole
    assert stores.skipped == {"before": 1}


@pytest.mark.parametrize("jobs", [1, 2])
def test_some_domains_of_a_store(tmp_path, jobs):
    """Domains that nobody asked for are left out."""
    stores = Stores([fill(tmp_path / "observations.sqlite")])
    assert learn(stores, domains=["shop7.example"], jobs=jobs).domains == 1


def test_store_that_cannot_be_read_to_its_end_is_an_error(tmp_path):
    """What one of the processes meets is told by the one that was asked."""
    path = fill(tmp_path / "observations.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE responses RENAME COLUMN raw_sha1 TO other")
    with pytest.raises(InputError, match="cannot be read to its end"):
        learn(Stores([path]), jobs=2)


def prior_that_fails(urls):
    """Know nothing of a site, and fail on one."""
    if "http://shop5.example/0" in urls:
        raise ZeroDivisionError("of shop5")


@pytest.mark.parametrize("jobs", [1, 2])
def test_error_in_one_domain_stops_no_other(tmp_path, jobs):
    """The rules of the others are the same, and those that were in force on the one stay."""
    stores = Stores([fill(tmp_path / "observations.sqlite")])
    in_force = [RuleInForce("shop5.example", "drop_params", ["ref"])]
    whole = learn(stores, in_force=in_force, jobs=jobs)
    learned = learn(stores, in_force=in_force, prior_of=prior_that_fails, jobs=jobs)
    ((domain, error),) = learned.failed
    assert domain == "shop5.example"
    assert "in prior_that_fails" in error
    assert error.endswith("ZeroDivisionError: of shop5\n")
    assert learned.as_rules() == {
        **whole.as_rules(),
        "shop5.example": {"drop_params": ["ref"]},
    }


def test_lack_of_memory_ends_all(tmp_path):
    """It is that of all domains, and what the others would say of it is not worth the wait."""

    def prior_of(_):
        raise MemoryError

    with pytest.raises(MemoryError):
        learn(Stores([fill(tmp_path / "observations.sqlite", domains=1)]), prior_of=prior_of)


def work(item):
    """Do what the item says."""
    if item == "fail":
        raise ZeroDivisionError
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(item)
    return os.getpid()


def test_first_error_ends_all():
    """The others do not go on until they are done."""
    start = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        list(in_processes(work, [600, "fail"], 2))
    assert time.monotonic() - start < 300


def test_process_that_is_killed_is_an_error():
    """As by the system, for its memory."""
    with pytest.raises(ProcessError, match="--jobs"):
        list(in_processes(work, [0, "die"], 2))


def test_who_stops_listening_ends_all():
    """As Ctrl-C does, of which the processes themselves hear nothing."""
    results = in_processes(work, [0, 600, 600], 2)
    pid = next(results)
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        blocked = int(status.read_text().partition("SigBlk:")[2].split()[0], 16)
        assert blocked & 1 << signal.SIGINT - 1
    results.close()
    assert multiprocessing.active_children() == []


def test_no_process_outlives_the_one_that_started_it():
    """Not even where that one was killed."""
    code = "import test_processes; test_processes.start_and_tell()"
    path = os.pathsep.join([str(Path(__file__).parent), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("it is still there")


def start_and_tell():
    """Start a process that sleeps, and print its number."""
    for pid in in_processes(work, [0, 600], 1):
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "save"}, "preset: expected 'scrapy' or 'safe' or 'aggressive', got 'save'"),
        ({"rules": {"*": {"drop_parms": ["sid"]}}}, "did you mean 'drop_params'"),
        ({"rules": {"*.example": {"drop_params": ["sid"]}}}, "got '\\*.example'"),
    ],
)
def test_what_is_not_valid_for_any_domain_is_an_error(options, message):
    """It is none of each domain, of which nothing would be learned without a word."""
    with pytest.raises(ConfigurationError, match=message):
        learn(observations(), **options)
