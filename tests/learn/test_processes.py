"""Learning in several processes gives the same rules, and leaves nothing behind."""

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
    """Yield pages with and without a parameter, and redirects to them, of some domains."""
    for number in range(PAGES):
        for domain in range(DOMAINS):
            host = f"http://shop{domain}.example"
            slug = f"{host}/post-{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}/"
            yield Observation(slug, main_sha1=f"{number:040x}")
            yield Observation(f"{slug}?sid={number}", main_sha1=f"{number:040x}", canonical=slug)
            yield Observation(f"{host}/?p={number * 7}", status=301, redirect=slug)


def fill(path, domains=DOMAINS):
    """Write a store of pages with and without a parameter, of some domains."""
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
    """Use several processes for few observations; check that no file or process is left."""
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
    """Two processes give the same result as one, in memory or from disk."""
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
    """Rows of one domain in two stores are learned together, and bad rows counted once."""
    paths = [fill(tmp_path / "one.sqlite"), fill(tmp_path / "two.sqlite", domains=3)]
    with closing(sqlite3.connect(paths[0])) as connection, connection:
        connection.execute("UPDATE responses SET status = 9999 WHERE url LIKE '%shop2.%/7'")
    skipped = Counter()
    whole = learn(observation for path in paths for observation in read_store(path, skipped))
    stores = Stores(paths)
    assert to_json(learn(stores, jobs=jobs)) == to_json(whole)
    assert stores.skipped == skipped == {"bad status": 1}
    assert '"sid"' in to_json(whole)


@pytest.mark.parametrize(
    ("jobs", "domain"),
    [(1, "'elsewhere.example'"), (1, "x'ff'"), (1, "''"), (2, "'elsewhere.example'")],
)
def test_store_whose_domains_are_others_now_is_read_as_any_input(tmp_path, jobs, domain):
    """A store written with another suffix list, whose domains differ, gives the same rules."""
    path = fill(tmp_path / "observations.sqlite")
    whole = to_json(learn(read_store(path)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE responses SET domain = {domain} WHERE url LIKE '%shop5%sid%'")
    stores = Stores([path], Counter(before=1))
    assert to_json(learn(stores, jobs=jobs)) == whole
    assert stores.skipped == {"before": 1}


@pytest.mark.parametrize("jobs", [1, 2])
def test_some_domains_of_a_store(tmp_path, jobs):
    """Only the domains asked for are learned."""
    stores = Stores([fill(tmp_path / "observations.sqlite")])
    assert learn(stores, domains=["shop7.example"], jobs=jobs).domains == 1


def test_store_that_cannot_be_read_to_its_end_is_an_error(tmp_path):
    """An error in another process is raised in this one."""
    path = fill(tmp_path / "observations.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE responses RENAME COLUMN raw_sha1 TO other")
    with pytest.raises(InputError, match="cannot be read to its end"):
        learn(Stores([path]), jobs=2)


def prior_that_fails(urls):
    """Fail on one site, and know nothing of the others."""
    if "http://shop5.example/0" in urls:
        raise ZeroDivisionError("of shop5")


@pytest.mark.parametrize("jobs", [1, 2])
def test_error_in_one_domain_stops_no_other(tmp_path, jobs):
    """An error in one domain is reported; all others are learned, its rules in force stay."""
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
    """A MemoryError ends learning at once, since other domains would fail too."""

    def prior_of(_):
        raise MemoryError

    with pytest.raises(MemoryError):
        learn(Stores([fill(tmp_path / "observations.sqlite", domains=1)]), prior_of=prior_of)


def work(item):
    """Do what *item* says."""
    if item == "fail":
        raise ZeroDivisionError
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(item)
    return os.getpid()


def test_first_error_ends_all():
    """The first error ends the other processes at once."""
    start = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        list(in_processes(work, [600, "fail"], 2))
    assert time.monotonic() - start < 300


def test_process_that_is_killed_is_an_error():
    """A killed process is an error that names --jobs."""
    with pytest.raises(ProcessError, match="--jobs"):
        list(in_processes(work, [0, "die"], 2))


def test_who_stops_listening_ends_all():
    """Closing the results ends all processes, which ignore Ctrl-C themselves."""
    results = in_processes(work, [0, 600, 600], 2)
    pid = next(results)
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        blocked = int(status.read_text().partition("SigBlk:")[2].split()[0], 16)
        assert blocked & 1 << signal.SIGINT - 1
    results.close()
    assert multiprocessing.active_children() == []


def test_no_process_outlives_the_one_that_started_it():
    """A worker ends even if its parent is killed."""
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
    """Start a worker that sleeps, and print its process id."""
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
    """Invalid options are an error, and not a failure of each domain."""
    with pytest.raises(ConfigurationError, match=message):
        learn(observations(), **options)
