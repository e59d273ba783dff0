"""Databases that are begun: what a kill leaves of one, and what several processes make of it."""

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
    """Return what makes a database, and tells what stands on the disk before each statement."""
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
    """After any statement: there is no half of it, which would be taken for another program's."""
    states = states_of(kind)
    assert len(states) > 5
    for state in states:
        kind(state / "a.sqlite").close()


@pytest.mark.parametrize("kind", [SeenPages, SkipPlaces, ObservationStore])
def test_processes_that_make_one_database_have_one(kind, tmp_path):
    """As of four crawls that begin at a time: none finds the half of what another one makes."""
    for number in range(5):
        together = Barrier(PROCESSES)

        def make(path, together=together):
            together.wait()
            kind(path).close()

        with ThreadPoolExecutor(PROCESSES) as threads:
            made = threads.map(make, [tmp_path / f"{number}.sqlite"] * PROCESSES)
            assert [*made] == [None] * PROCESSES
