"""What ``scrapy urlcanon seen`` imports, and what it takes for a store."""

import sqlite3
from contextlib import closing

import pytest
from command_line import urlcanon
from scrapy.exporters import JsonItemExporter, JsonLinesItemExporter

URLS = ["http://a.example/", "http://a.example/?q=[,]", "http://a.example/\u00e9,"]


@pytest.mark.parametrize("exporter", [JsonItemExporter, JsonLinesItemExporter])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_feed_of_scrapy_is_imported(exporter, count, tmp_path):
    """As ``-O items.json`` and ``-O items.jsonl`` write it."""
    with (tmp_path / "feed").open("wb") as file:
        # As the setting FEED_EXPORT_INDENT has it, unless it is changed.
        feed = exporter(file, indent=0)
        feed.start_exporting()
        for url in URLS[:count]:
            feed.export_item({"name": "a", "url": url})
        feed.finish_exporting()
    done = urlcanon("seen", "import", "seen.db", "feed", cwd=tmp_path)
    assert done.stdout.startswith(f"Imported {count} URL"), done.stderr
    if count:
        listed = urlcanon("seen", "list", "seen.db", cwd=tmp_path).stdout.splitlines()
        assert sorted(line.split(" ", 2)[2] for line in listed) == sorted(URLS[:count])


@pytest.mark.parametrize(
    ("store", "problem"),
    [("absent.db", "no such file"), (".", "expected a file, not a directory")],
)
def test_what_is_no_store_is_named(store, problem, tmp_path):
    """A directory is there, and no file: nobody is to look for one that is missing."""
    done = urlcanon("seen", "list", store, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: {store}: {problem}\n")


def test_url_with_its_scheme_in_upper_case_is_imported(tmp_path):
    """A scheme is the same in either case (RFC 3986, section 3.1)."""
    (tmp_path / "urls").write_text("HTTP://a.example/x\nhttps://a.example/y\n", encoding="utf-8")
    done = urlcanon("seen", "import", "seen.db", "urls", cwd=tmp_path)
    assert done.stdout.startswith("Imported 2 URLs;")
    assert "a.example/x" in urlcanon("seen", "list", "seen.db", cwd=tmp_path).stdout


def test_file_of_one_byte_is_no_store_and_stays(tmp_path):
    """SQLite takes it for an empty database, and would write over it."""
    (tmp_path / "notes").write_text("1")
    done = urlcanon("seen", "list", "notes", cwd=tmp_path)
    assert done.returncode == 2
    assert "notes cannot be used: it is no store" in done.stderr
    assert (tmp_path / "notes").read_text() == "1"


def test_rows_that_no_run_wrote_are_listed(tmp_path):
    """Times that no calendar has, and URLs that are bytes."""
    (tmp_path / "urls").write_text("http://a.example/", encoding="utf-8")
    urlcanon("seen", "import", "seen.db", "urls", cwd=tmp_path)
    times = (1e300, -1e300, float("inf"), "yesterday")
    rows = [(f"{at}".encode(), b"http://b.example/", "b.example", at, 1) for at in times]
    with closing(sqlite3.connect(tmp_path / "seen.db")) as database, database:
        database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", rows)
    done = urlcanon("seen", "list", "seen.db", cwd=tmp_path)
    assert done.stdout.count(" http://b.example/\n") == 4, done.stderr
    assert done.returncode == 0
