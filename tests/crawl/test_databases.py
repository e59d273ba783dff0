"""Databases that are begun: what a kill leaves of one, and what several processes make of it."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest

from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.crawl.earlier.store import SeenPages
from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet
from scrapy_urlcanon.learn.store import ObservationStore

KILLED = 9
PROCESSES = 8


def is_killed_at(statement, kind, path):
    """Begin a database of *kind* in a process that ends at a *statement*; tell if it came to it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
    left, connect = count(statement, -1), sqlite3.connect

    def connected(*arguments, **options):
        database = connect(*arguments, **options)
        database.set_trace_callback(lambda _: next(left) or os._exit(KILLED))
        return database

    sqlite3.connect = connected
    try:
        kind(path)
    finally:
        os._exit(0)


@pytest.mark.parametrize("kind", [SeenPages, SkipPlaces, DiskSet, ObservationStore])
def test_database_whose_making_is_killed_is_made_anew(kind, tmp_path):
    """After each statement: no half of it is there, which would be taken for another program's."""
    for statement in count():
        path = tmp_path / f"{statement}.sqlite"
        if not is_killed_at(statement, kind, path):
            break
        kind(path).close()
    assert statement > 5


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
