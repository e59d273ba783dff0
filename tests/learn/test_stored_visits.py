"""What two visits of a URL show, in stores of observations."""

import itertools
import random
import sqlite3
from contextlib import closing

import pytest

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.learn.store_file import open_store
from scrapy_urlcanon.pages.visits import Visits, compare_visits

from .test_store import WORDS, page, quotations


def advised(number, visit, layout="<p>Advice<p>{advice}<p>Archive"):
    """Return an article beside an advice that changes at each visit."""
    text, advice = (
        " ".join(random.Random(f"{seed}").choices(WORDS, k=9))
        for seed in (f"article {number}", f"advice {visit}")
    )
    html = f"<title>Site</title><p>Home{layout.format(advice=advice)}<p>{text}<p>Imprint"
    return page(f"http://a.example/{number}?v={visit}", html)


def test_text_at_a_place_is_content_unless_it_is_another_one_at_most_visits(tmp_path):
    """Text in one place is noise only if it changes at most visits, and these are enough."""
    for changed, of, expected in ((2, 2, 40), (3, 3, 20), (3, 6, 20), (3, 7, 40)):
        path = tmp_path / f"{changed}-{of}.sqlite"
        with ObservationStore(path) as store:
            for number in range(20):
                for visit in range(2):
                    store.add(advised(number, f"{number}-{visit}"), status=200)
            for number in range(of):
                again = advised(number, "again" if number < changed else f"{number}-0")
                store.add_visits(
                    "http://a.example/",
                    compare_visits(advised(number, f"{number}-0").lines, again.lines),
                )
        assert len({one.main_sha1 for one in read_store(path)}) == expected


def test_more_lines_than_at_any_visit_are_content(tmp_path):
    """More lines in that place than at any visit are content."""
    path = tmp_path / "o.sqlite"
    listed = "<p>Advice<p>{advice}<p>and<p>more<p>Archive"
    with ObservationStore(path) as store:
        for number in range(20):
            for visit in range(2):
                layout = (listed,) if number < 5 else ()
                store.add(advised(number, f"{number}-{visit}", *layout), status=200)
        for number in range(10, 20):
            first, again = advised(number, f"{number}-0"), advised(number, "again")
            store.add_visits("http://a.example/", compare_visits(first.lines, again.lines))
    assert len({one.main_sha1 for one in read_store(path)}) == 15 + 2 * 5


def test_visits_that_cannot_be_read_are_none(tmp_path):
    """Visits that cannot be read are ignored, and the pages are read."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for url, html in quotations(sectors=10, of_each=2):
            store.add(page(url, html), status=200)
        for _ in range(3):
            store.add_visits("http://a.example/", Visits(frozenset({1}), frozenset({2}), ((), ())))
    before = list(read_store(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE visits SET steady = x'00', noise = 'x', outlines = x'00'")
    assert list(read_store(path)) == before


def test_second_visit_is_judged_by_what_the_others_know(tmp_path):
    """Whether a page is steady is judged by the noise that other pages show.

    Its own second visit would call all of its differences noise.
    """
    path, count = tmp_path / "o.sqlite", itertools.count()
    texts = ["same", "counted", "other", "other"]
    with ObservationStore(path) as store:

        def visit(number):
            moves = f"<p>{WORDS[next(count)]}" if texts[number] == "other" else ""
            read = f"<p>read {next(count)} times" if texts[number] != "same" else ""
            html = f"<title>Site</title><p>one<p>two<p>three {'abcd'[number]}{moves}{read}"
            return page(f"http://a.example/{number}", html)

        for number in range(4):
            first, again = visit(number), visit(number)
            store.add(first, status=200)
            store.add_visits(
                first.url,
                compare_visits(first.lines, again.lines),
                again.signature if texts[number] != "same" else None,
            )
        store.add(page("http://a.example/once", "<p>one"), status=200)
    told = [observation.is_steady for observation in read_store(path)]
    assert told == [True, True, False, False, None]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE visits SET text = 99 WHERE text IS NOT NULL")
    assert [one.is_steady for one in read_store(path)] == [True, None, None, None, None]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE visits SET url = NULL")
    assert [one.is_steady for one in read_store(path)] == [None] * 5


def test_store_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    """A store is read from a folder that cannot be written to, without SQLite's extra files."""
    path = tmp_path / "store.sqlite"
    with ObservationStore(path) as store:
        store.add(page("http://a.example/", "<p>A page"), status=200)
    monkeypatch.setattr("os.access", lambda *_: False)
    connection = open_store(path, writable=False)
    assert connection.execute("SELECT count(*) FROM responses").fetchone() == (1,)
    assert [*tmp_path.iterdir()] == [path]
    connection.close()


@pytest.mark.parametrize("judged", [0, 12])
def test_order_that_an_audit_found_to_make_no_difference_is_sorted(tmp_path, judged):
    """Parameters are sorted if audits show that pages differ as much in the same order."""
    path, count = tmp_path / "o.sqlite", itertools.count()

    def shown(url):
        words = random.Random(next(count)).choices(WORDS, k=9)
        return page(url, f"<title>Site</title><p>{' '.join(words)}")

    with ObservationStore(path) as store:
        for number in range(12):
            kept, other = (
                f"http://a.example/?{order}" for order in (f"a={number}&b=2", f"b=2&a={number}")
            )
            store.add(shown(kept), status=200)
            store.add(shown(other), status=200)
            if number < judged:
                store.add_audit(other, kept, entry=RuleEntry("sort_query"), same=True)
    found = learn(read_store(path)).as_rules()
    assert found == ({} if judged else {"a.example": {"sort_query": False}})
