import gc
import os
import tempfile
from collections import Counter
from random import Random

import pytest

from scrapy_urlcanon.exceptions import SpillError
from scrapy_urlcanon.learn import Observation, learn, partitions
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.held import runs
from scrapy_urlcanon.learn.partitions import Partitions
from scrapy_urlcanon.learn.results.rules_file import to_json


def observations():
    """Yield pages with and without a parameter, and redirects to them, of 40 domains."""
    for number in range(20):
        digest = f"{number:040x}"
        for domain in range(40):
            host = f"http://shop{domain}.example"
            slug = f"{host}/post-{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}/"
            yield Observation(slug, main_sha1=digest)
            yield Observation(f"{slug}?sid={number}", main_sha1=digest, canonical=slug)
            yield Observation(f"{host}/?p={number * 7}", status=301, redirect=slug)


@pytest.fixture
def spilling(tmp_path, monkeypatch):
    """Hold no more than 100 observations in memory; return the directory of the others."""
    monkeypatch.setattr(partitions, "MAX_HELD", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_is_learned_does_not_depend_on_what_fits_in_memory(monkeypatch, tmp_path):
    """The result is the same if observations are spilled to disk."""
    whole = to_json(learn(observations()))
    monkeypatch.setattr(partitions, "MAX_HELD", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert to_json(learn(observations())) == whole
    assert '"drop_params"' in whole
    assert '"skip"' in whole


def test_nothing_of_a_domain_stays_where_the_garbage_collector_is_paused():
    """Learning leaves no reference cycles, since the command pauses the garbage collector.

    The memory of each domain would be kept until the end.
    """
    # What is deleted may leave more: of crawls before this test, where they were not awaited.
    while gc.collect():
        pass
    gc.disable()
    try:
        learned = learn(observations())
        left = gc.collect()
    finally:
        gc.enable()
    assert learned.domains == 40
    assert left == 0


@pytest.mark.usefixtures("spilling")
def test_each_domain_is_in_one_part_and_whole():
    """Each domain is whole in one partition."""
    with Partitions(observations()) as parts:
        assert parts.observations == 40 * 60
        found = [part.captures(Counter()) for part in parts.parts()]
        sizes = [{name: len(captures) for name, captures in part.items()} for part in found]
    assert len(sizes) > 10
    assert sum(len(part) for part in sizes) == 40
    assert {size for part in sizes for size in part.values()} == {60}


def test_files_are_deleted_and_nobody_else_may_read_them(spilling):
    """Spilled files are private, and deleted even after an error."""

    def broken():
        yield from observations()
        [directory] = spilling.iterdir()
        assert directory.stat().st_mode & 0o077 == 0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        learn(broken())
    learn(observations())
    assert list(spilling.iterdir()) == []


def test_few_observations_touch_no_disk(spilling):
    """Few observations need no temporary directory."""
    spilling.rmdir()
    assert learn(list(observations())[:100]).urls == 100


@pytest.mark.usefixtures("spilling")
def test_domains_that_nobody_asked_for_are_left_out():
    """One domain of a large input can be learned alone."""
    learned = learn(observations(), domains=["shop7.example"])
    assert (learned.domains, learned.urls) == (1, 60)


def test_no_room_is_an_error_that_names_the_directory(spilling):
    """A missing temporary directory is an error that names it, and TMPDIR."""
    spilling.rmdir()
    with pytest.raises(SpillError, match=f"(?s)^{spilling}: no room.*TMPDIR"):
        learn(observations())


def test_full_disk_is_an_error_that_names_the_directory(spilling, monkeypatch):
    """A disk that fills up while spilling is the same error."""

    def dump(*_arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(partitions.pickle, "dump", dump)
    with pytest.raises(SpillError, match="No space left on device"):
        learn(observations())
    assert list(spilling.iterdir()) == []


def test_a_site_does_not_depend_on_what_is_sorted_at_once(monkeypatch):
    """A site is the same, in whatever runs its observations are sorted."""
    host = "http://a.example"
    seen = [
        Observation(
            f"{host}/{item}?{query}",
            main_sha1=f"{item:040x}",
            simhash64=item**9 % (1 << 64),
            canonical=f"{host}/{item}",
        )
        for item in range(500)
        for query in ("b=1&a=2", "a=2&b=1", "c", "c#top", f"sid={item}")
    ]
    seen += [Observation(f"{host}/go/{item}", 301, redirect=f"{host}/{item}") for item in range(99)]
    Random(0).shuffle(seen)
    whole = site_of("a.example", seen)
    monkeypatch.setattr(runs, "MAX_RUN", 100)
    in_parts = site_of("a.example", seen)
    assert list(in_parts.locations) == list(whole.locations)
    assert {**vars(in_parts), "locations": whole.locations} == vars(whole)
    assert len(whole.locations) == 3 * 500 + 99
    assert len(whole.reordered) == 500
