"""What ``scrapy urlcanon seen`` imports, lists and prunes, and what it takes for a store."""

import sqlite3
from contextlib import closing

import pytest
from command_line import urlcanon
from loopback import page
from scrapy.exporters import JsonItemExporter, JsonLinesItemExporter
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links, site

from scrapy_urlcanon.crawl.earlier.store import SeenPages

SETTINGS = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "URLCANON_SEEN": "seen.db",
}
PAGES = {
    "/": links("/a?sid=1", "/b", "/new"),
    **{url: page(url) for url in ("/a?sid=1", "/b", "/new")},
}
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


@deferred_f_from_coro_f
async def test_imported_pages_are_listed_not_fetched_and_pruned(crawl, tmp_path):
    """A page counts by any of its URLs; secrets in them are hidden."""
    (tmp_path / "urls").write_text(f"{SITE}/a?sid=7\n\n{SITE}/b\n", encoding="utf-8")
    done = urlcanon(
        "seen",
        "import",
        "seen.db",
        "urls",
        "-",
        cwd=".",
        stdin='{"url": "http://x.example/?token=1"}',
    )
    assert done.stdout == "Imported 3 URLs; the next crawl finds out which pages they are.\n", done
    listed = urlcanon("seen", "list", "seen.db", cwd=".").stdout.splitlines()
    assert [line.split()[2] for line in listed] == [
        f"{SITE}/a?sid=***",
        f"{SITE}/b",
        "http://x.example/?token=***",
    ]
    first = await crawl(site(PAGES), SETTINGS)
    assert sorted(first.hits) == ["/", "/new"]
    assert (
        urlcanon("seen", "prune", "seen.db", "--older", "1h", cwd=".").stdout
        == "Removed 0 pages.\n"
    )
    # As it is written in a URL, too.
    done = urlcanon("seen", "prune", "seen.db", "--domain", "www.X.example", cwd=".")
    assert done.stdout == "Removed 1 page.\n"
    assert "x.example" not in urlcanon("seen", "list", "seen.db", cwd=".").stdout


def test_pruned_store_is_as_small_as_what_is_left(tmp_path):
    """A pruned store gives its room on the disk back."""
    store = tmp_path / "seen.db"
    sizes = []
    for _ in range(2):
        urls = "".join(f"http://x.example/{number}\n" for number in range(5_000))
        urlcanon("seen", "import", store, "-", cwd=tmp_path, stdin=urls)
        sizes.append(store.stat().st_size)
        urlcanon("seen", "prune", store, "--domain", "x.example", cwd=tmp_path)
        sizes.append(store.stat().st_size)
    assert max(sizes[1::2]) < min(sizes[::2]) / 10


def test_file_to_import_that_is_not_there_is_named(tmp_path):
    """The error names the missing file to import, and not the store."""
    done = urlcanon("seen", "import", "seen.db", "absent", cwd=tmp_path)
    assert done.returncode == 2
    assert "absent: cannot be read: No such file" in done.stderr


def test_command_without_arguments_says_which_are_missing(tmp_path):
    """Without arguments the command says which are missing."""
    done = urlcanon("seen", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith("are required: {list,prune,import}, STORE\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["prune", "seen.db"], "--domain, --older or both"),
        (["prune", "seen.db", "--older", "soon"], "got 'soon'"),
        (["prune", "seen.db", "--older", "30"], "expected a time with its unit"),
        (["list", "none.db"], "no such file"),
        (["list", "seen.db", "urls"], "import takes the files"),
        (["import", "seen.db", "urls"], "urls:2: expected a URL"),
        (["import", "seen.db", "nowhere"], "No such file"),
        (["import", "seen.db", "half"], "half:1: expected a URL"),
        (["list", "urls"], "not a database"),
    ],
)
def test_command_that_makes_no_sense(tmp_path, arguments, problem):
    """Wrong arguments give one error, and change nothing."""
    SeenPages(tmp_path / "seen.db").close()
    (tmp_path / "urls").write_text("http://a.example/\n{}\n" * 400, encoding="utf-8")
    (tmp_path / "half").write_text(r'{"url": "http://a.example/\ud800"}', encoding="utf-8")
    done = urlcanon("seen", *arguments, cwd=tmp_path)
    assert done.returncode
    assert problem in done.stderr + done.stdout
    assert urlcanon("seen", "list", "seen.db", cwd=tmp_path).stdout == ""


@deferred_f_from_coro_f
async def test_imported_url_that_nobody_can_request(crawl, tmp_path, caplog):
    """An imported URL that is invalid stops no crawl."""
    (tmp_path / "urls").write_text(f"http://[bad/\n{SITE}/b\nhttp://\n", encoding="utf-8")
    assert not urlcanon("seen", "import", "seen.db", "urls", cwd=".").returncode
    result = await crawl(site(PAGES), {**SETTINGS, "JOBDIR": "job"})
    assert "/b" not in result.hits
    assert "/new" in result.hits
    assert "Traceback" not in caplog.text
