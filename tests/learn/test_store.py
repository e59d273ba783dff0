import sqlite3
import subprocess
import sys

import pytest

from scrapy_urlcanon.learn.exceptions import InputError, StoreVersionError
from scrapy_urlcanon.learn.store import BATCH, ObservationStore, read_audits, read_store

MENU = "<ul><li>Home</li><li>About</li><li>12 items</li></ul>"


def add_page(store, url, text, **fields):
    html = f"<html><title>Site</title>{MENU}<p>{text}</p>"
    store.add(url, status=200, body=html.encode(), text=html, **fields)


def test_digest_ignores_what_stands_on_every_page(tmp_path):
    """Two pages that differ in the site's menu only are one page."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for i in range(10):
            add_page(store, f"http://a.example/{i}", f"text number {'abcdefghij'[i]}")
        html = (
            "<html><title>Site</title><ul><li>Home</li><li>13 items</li></ul><p>text number a</p>"
        )
        store.add("http://a.example/again", status=200, body=html.encode(), text=html)
    observations = {o.url: o for o in read_store(path)}
    again, first = observations["http://a.example/again"], observations["http://a.example/0"]
    assert again.text_sha1 != first.text_sha1
    assert again.main_sha1 == first.main_sha1
    assert len({o.main_sha1 for o in observations.values()}) == 10


def test_redirect_chain_is_kept(tmp_path):
    """Each hop of a chain is an observation that points to the next."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        hops = [("http://a.example/1", 301), ("http://a.example/2", 302)]
        add_page(store, "http://a.example/3", "x", redirects=hops)
    found = [(o.url, o.status, o.redirect) for o in read_store(path)]
    assert found == [
        ("http://a.example/1", 301, "http://a.example/2"),
        ("http://a.example/2", 302, "http://a.example/3"),
        ("http://a.example/3", 200, ""),
    ]


def test_store_survives_a_kill(tmp_path):
    """What was written in whole batches is there after kill -9."""
    path = tmp_path / "o.sqlite"
    script = (
        "import os, sys\n"
        "from scrapy_urlcanon.learn.store import ObservationStore\n"
        "store = ObservationStore(sys.argv[1])\n"
        f"for i in range({BATCH + 5}):\n"
        "    store.add(f'http://a.example/{i}', status=200, body=b'x', text=f'<p>{i}')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=False)
    assert len(list(read_store(path))) == BATCH


def test_store_is_bounded(tmp_path):
    """A store that is full refuses, and counts what it refused."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path, max_rows=2) as store:
        for i in range(5):
            add_page(store, f"http://a.example/{i}", "x")
        assert store.refused == 3
    assert len(list(read_store(path))) == 2


def test_failed_write_stops_no_crawl(tmp_path, caplog):
    """Where the disk is full the store says so once and goes on refusing."""
    path = tmp_path / "o.sqlite"
    store = ObservationStore(path)
    # SQLite's own limit stands for the full disk: the file may not grow.
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    for i in range(5 * BATCH):
        add_page(store, f"http://a.example/{i}", f"text {i} " * 20)
    store.close()
    assert store.refused == 5 * BATCH
    assert caplog.text.count("no longer recorded") == 1
    assert list(read_store(path)) == []


def test_newer_store_is_refused(tmp_path):
    """A store of a newer version is refused, with both versions."""
    path = tmp_path / "o.sqlite"
    ObservationStore(path).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE meta SET value = '99'")
    connection.close()
    with pytest.raises(StoreVersionError, match="99"):
        list(read_store(path))


def test_other_file_is_refused(tmp_path):
    """A file that is no store is refused by name."""
    path = tmp_path / "o.sqlite"
    path.write_text("no database " * 100)
    with pytest.raises(InputError, match=r"o\.sqlite"):
        list(read_store(path))
    with pytest.raises(InputError, match=r"o\.sqlite"):
        ObservationStore(path)


def test_audits_are_kept(tmp_path):
    """What an audit saw is read back."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        store.add_audit(
            "http://a.example/?s=1",
            "http://a.example/",
            pattern="a.example",
            option="drop_params",
            same=False,
        )
    assert list(read_audits(path)) == [("a.example", "drop_params", False)]
