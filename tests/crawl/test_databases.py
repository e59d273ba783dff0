"""SQLite files whose creation is killed, or done by several processes at once."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.crawl.earlier.store import SeenPages
from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet
from scrapy_urlcanon.learn.store import ObservationStore

PROCESSES = 8


@pytest.fixture
def states_of(tmp_path, monkeypatch):
    """Return directories with what is on the disk before each statement that creates the file."""
    connect, states = sqlite3.connect, []

    def connected(path, *arguments, **options):
        def keep(_):
            states.append(shutil.copytree(Path(path).parent, tmp_path / str(len(states))))

        database = connect(path, *arguments, **options)
        database.set_trace_callback(keep)
        return database

    def make(kind):
        (tmp_path / "made").mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", connected)
            kind(tmp_path / "made" / "a.sqlite").close()
        return states

    return make


@pytest.mark.parametrize("kind", [SeenPages, SkipPlaces, DiskSet, ObservationStore])
def test_database_whose_making_is_killed_is_made_anew(kind, states_of):
    """A file whose creation was killed after any statement is created anew.

    It is not taken for a database of another program.
    """
    states = states_of(kind)
    assert len(states) > 5
    for state in states:
        kind(state / "a.sqlite").close()


@pytest.mark.parametrize("kind", [SeenPages, SkipPlaces, ObservationStore])
def test_processes_that_make_one_database_have_one(kind, tmp_path):
    """Of several processes that create one file at once none finds a half of it."""
    for number in range(5):
        together = Barrier(PROCESSES)

        def make(path, together=together):
            together.wait()
            kind(path).close()

        with ThreadPoolExecutor(PROCESSES) as threads:
            made = threads.map(make, [tmp_path / f"{number}.sqlite"] * PROCESSES)
            assert [*made] == [None] * PROCESSES
