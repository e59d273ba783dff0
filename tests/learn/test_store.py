import itertools
import json
import random
import sqlite3
import subprocess
import sys
from datetime import datetime, timezone

import pytest

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.exceptions import InputError, StoreVersionError
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers import store as reader
from scrapy_urlcanon.learn.readers.crawls import read_crawls
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.results.in_force import AuditedUrl, Credit, RuleInForce
from scrapy_urlcanon.learn.store import BATCH, ObservationStore
from scrapy_urlcanon.learn.store_file import VERSION
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.visits import compare_visits

WORDS = [f"{one}{other}" for one in ("ba", "co", "du", "fe", "gi") for other in ("la", "me", "ni")]
MENU = "<ul><li>Home</li><li>About</li><li>12 items</li></ul>"


def page(url, html, **headers):
    return Page(url, html.encode(), html, **headers)


def add_page(store, url, text, **headers):
    html = f"<html><title>Site</title>{MENU}<p>{text}</p>"
    store.add(page(url, html, **headers), status=200)


def test_digest_ignores_what_stands_on_every_page(tmp_path):
    """Two pages that differ in the site's menu only are one page."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for i in range(10):
            add_page(store, f"http://a.example/{i}", f"text number {'abcdefghij'[i]}")
        html = (
            "<html><title>Site</title><ul><li>Home</li><li>13 items</li></ul><p>text number a</p>"
        )
        store.add(page("http://a.example/again", html), status=200)
    observations = {o.url: o for o in read_store(path)}
    again, first = observations["http://a.example/again"], observations["http://a.example/0"]
    assert again.text_sha1 != first.text_sha1
    assert again.main_sha1 == first.main_sha1
    assert len({o.main_sha1 for o in observations.values()}) == 10


def quotations(sectors, of_each):
    """Yield URLs and pages that differ in nothing but numbers, and in their sector."""
    draw = random.Random(1)
    for sector in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"[:sectors]:
        for number in range(of_each):
            rows = "".join(f"<p>{name} {draw.randrange(10**6)}" for name in ("Open", "High", "Low"))
            html = f"<title>Quotations</title>{MENU}<p>Sector {sector * 4}</p>{rows}"
            yield f"http://a.example/quote?sector={sector}&id={number}", html


def test_pages_of_numbers_are_distinguished_by_them(tmp_path):
    """What tells one from another is no counter that all pages have: no rule merges them."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for url, html in quotations(sectors=40, of_each=6):
            for variant in (url, f"{url}&sid={len(html)}{url[-1]}"):
                store.add(page(variant, html), status=200)
    observations = list(read_store(path))
    assert len({observation.main_sha1 for observation in observations}) == 240
    assert learn(observations).as_rules() == {"a.example": {"drop_params": ["sid"]}}


def as_json(name, fields):
    """Return an object with *fields*."""
    return json.dumps({"name": name, **fields})


def as_xml(name, fields):
    """Return an element with one for each of *fields*."""
    members = "".join(f"<{key}>{value}</{key}>" for key, value in fields.items())
    return f"<item><name>{name}</name>{members}</item>"


@pytest.mark.parametrize(("kind", "write"), [("plain", as_json), ("xml", as_xml)])
@pytest.mark.parametrize("more", [{"views": 907}, {"state": "open"}])
def test_member_that_many_pages_have_is_content_of_data(tmp_path, kind, write, more):
    """Data has no menus: what half of a site's pages have more is no frame around their text."""
    path, draw = tmp_path / "o.sqlite", random.Random(1)
    with ObservationStore(path) as store:
        for number in range(40):
            name = " ".join(draw.choices(["red", "shoe", "of", "wool", "blue", "hat"], k=40))
            fields = {"price": draw.randrange(1000), "made": "2026-01-01"}
            of_each = {key: value if value == "open" else number for key, value in more.items()}
            for query, shown in (
                ("", fields),
                (f"?sid={number}", fields),
                ("?expand=stats", fields | of_each),
            ):
                url, body = f"http://a.example/item/{number}{query}", write(name, shown)
                store.add(page(url, body, kind=kind), status=200)
    assert learn(read_store(path)).as_rules() == {"a.example": {"drop_params": ["sid"]}}


def test_noise_is_left_out_of_data(tmp_path):
    """A member that is another one at each visit hides no rule."""
    path, count = tmp_path / "o.sqlite", itertools.count()
    with ObservationStore(path) as store:

        def page_of(number, query=""):
            body = as_json(f"item {'abcdefghij'[number]}", {"served": next(count)})
            return page(f"http://a.example/{number}{query}", body, kind="plain")

        for number in range(10):
            for query in ("", f"?sid={number}"):
                store.add(page_of(number, query), status=200)
            visits = compare_visits(page_of(number).lines, page_of(number).lines)
            store.add_visits("http://a.example/", visits)
    assert learn(read_store(path)).as_rules() == {"a.example": {"drop_params": ["sid"]}}


def test_end_of_long_data_tells_it(tmp_path):
    """A listing that is cut short where lines are no longer kept is not the whole one."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for number in range(10):
            rows = [{"id": row, "list": "abcdefghij"[number]} for row in range(400)]
            for query, shown in (("", rows), ("?all=1", rows + rows[:1])):
                url = f"http://a.example/list/{number}{query}"
                store.add(page(url, json.dumps(shown), kind="plain"), status=200)
    assert learn(read_store(path)).as_rules() == {}


def test_page_with_nothing_of_its_own_says_nothing(tmp_path):
    """A menu and the year of a copyright are no evidence, with numbers or without."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for url, html in quotations(sectors=10, of_each=2):
            store.add(page(url, html), status=200)
        store.add(page("http://a.example/x", f"<title>Quotations</title>{MENU}"), status=200)
    observations = list(read_store(path))
    assert [o.url for o in observations if not o.main_sha1] == ["http://a.example/x"]
    assert learn(observations).silent == 1


def test_menu_is_boilerplate_beside_any_amount_of_data(tmp_path):
    """What stands on every page is no content, however many images and feeds a site has."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for name in "abcdefghij":
            add_page(store, f"http://a.example/{name}", f"text number {name}")
            for number in range(10):
                data = page(f"http://a.example/{name}/{number}", as_json(name, {}), kind="plain")
                store.add(data, status=200)
                store.add(Page(f"{data.url}.png", b"%r" % data.url), status=200)
        store.add(page("http://a.example/again", "<title>Site</title><p>text number a"), status=200)
    main = {o.url: o.main_sha1 for o in read_store(path)}
    assert main["http://a.example/again"] == main["http://a.example/a"]


def test_boilerplate_of_a_large_site_is_known_from_a_sample(tmp_path, monkeypatch):
    """What stands on a third of the pages goes, what stands on a tenth stays."""
    monkeypatch.setattr(reader, "SAMPLED_TEXTS", 200)
    path = tmp_path / "o.sqlite"
    words = ["".join(letters) for letters in itertools.product("abcdefghij", repeat=3)]
    with ObservationStore(path) as store:
        for number, word in enumerate(words):
            html = f"<p>{word}" + "<p>third" * (number % 3 == 0) + "<p>tenth" * (number % 10 == 0)
            store.add(page(f"http://a.example/{word}", html), status=200)
        for number, html in enumerate(("<p>new", "<p>new<p>third", "<p>new<p>tenth")):
            store.add(page(f"http://a.example/{number}", html), status=200)
    main = {o.url: o.main_sha1 for o in read_store(path)}
    assert main["http://a.example/0"] == main["http://a.example/1"] != main["http://a.example/2"]


@pytest.mark.parametrize("addresses", [10, 100, 1000])
def test_form_that_most_of_a_crawl_was_is_a_page(tmp_path, addresses):
    """It is learned under any number of addresses: its lines are those of one page, not a menu."""
    path = tmp_path / "o.sqlite"
    words = [*map("".join, itertools.product("abcdefghij", repeat=3))]
    with ObservationStore(path) as store:
        for visitor, word in enumerate(words[:100]):
            html = f"<title>Site</title>{MENU}<p>about {word}<p>Visitor {visitor}"
            store.add(page(f"http://a.example/{word}", html), status=200)
        for visitor, word in enumerate(words[:addresses], 100):
            html = f"<title>Site</title>{MENU}<p>Who are you?<p>Visitor {visitor}"
            store.add(page(f"http://a.example/login?return=/{word}", html), status=200)
    observations = list(read_store(path))
    assert len({observation.main_sha1 for observation in observations}) == 101
    assert learn(observations).as_rules() == {"a.example/login/": {"drop_params": ["return"]}}


def test_variants_of_a_page_share_its_text(tmp_path):
    """And the pages of a site what they have in common: little more than their URLs is kept."""
    menu = "".join(f"<p>Entry {'abcdefghijklmnopqrstuvwxyz'[n % 26] * n}" for n in range(200))
    sizes = []
    for pages, variants in ((400, 1), (1, 400)):
        path = tmp_path / f"{pages}.sqlite"
        with ObservationStore(path) as store:
            for number in range(400):
                url = f"http://a.example/{number % pages}?sid={number}"
                html = f"<title>Site</title>{menu}<p>Article {number % pages}"
                store.add(page(url, html), status=200)
        sizes.append(path.stat().st_size / 400)
        observations = list(read_store(path))
        assert len({o.text_sha1 for o in observations}) == pages
        assert len(observations) == pages * variants
    kept_of_a_page = len(page("http://a.example/", f"{menu}<p>Article 1").signature.pack())
    assert kept_of_a_page > 1_000
    assert all(size < kept_of_a_page / 2 for size in sizes)


def test_redirect_chain_is_kept(tmp_path):
    """Each hop of a chain is an observation that points to the next."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        store.add_redirect("http://a.example/1", 301, "http://a.example/2")
        store.add_redirect("http://a.example/2", 302, "/3")
        add_page(store, "http://a.example/3", "x")
    found = [(o.url, o.status, o.redirect) for o in read_store(path)]
    assert found == [
        ("http://a.example/1", 301, "http://a.example/2"),
        ("http://a.example/2", 302, "http://a.example/3"),
        ("http://a.example/3", 200, ""),
    ]


def test_store_survives_a_kill(tmp_path):
    """What was written in whole batches is there after kill -9: all but the last one, at least."""
    path = tmp_path / "o.sqlite"
    script = (
        "import os, sys\n"
        "from scrapy_urlcanon.learn.store import ObservationStore\n"
        "from scrapy_urlcanon.pages.page import Page\n"
        "store = ObservationStore(sys.argv[1])\n"
        f"for i in range({2 * BATCH + 5}):\n"
        "    store.add(Page(f'http://a.example/{i}', b'x', f'<p>{i}'), status=200)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=False)
    assert len(list(read_store(path))) in {BATCH, 2 * BATCH}


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
        add_page(store, f"http://a.example/{i}?long={'x' * 200}", f"text {i} " * 20)
    store.close()
    assert store.refused == 5 * BATCH
    assert caplog.text.count(f"no longer recorded in {path}: ") == 1
    assert list(read_store(path)) == []


def store_and_its_lock(path):
    """Return a store, and the connection that has locked its file."""
    store = ObservationStore(path)
    store._connection.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return store, other


def test_store_catches_up_once_it_can_be_written(tmp_path, caplog):
    """What came while another process had locked it waits, and links, audits and visits with it."""
    path = tmp_path / "o.sqlite"
    store, other = store_and_its_lock(path)
    for number in range(3 * BATCH):
        # The text is one that was written before, but for what was taken back.
        add_page(store, f"http://a.example/{number}", f"text {number % 5}")
    store._writing.result()
    other.execute("ROLLBACK")
    other.close()
    store.close()
    assert store.refused == 0
    assert caplog.text.count("wait to be recorded") == 1
    found = list(read_store(path))
    assert len({observation.url for observation in found}) == 3 * BATCH
    assert len({observation.text_sha1 for observation in found}) == 5


def test_store_that_stays_locked_is_bounded(tmp_path, monkeypatch):
    """What there is no room for is refused and counted; the rest is written in the end."""
    monkeypatch.setattr("scrapy_urlcanon.learn.store.MAX_WAITING", 2)
    path = tmp_path / "o.sqlite"
    store, other = store_and_its_lock(path)
    for number in range(4 * BATCH):
        add_page(store, f"http://a.example/{number}", "x")
    other.close()
    store.close()
    assert store.refused == 2 * BATCH
    assert len(list(read_store(path))) == 2 * BATCH


def test_store_takes_more_once_it_was_locked_for_long(tmp_path, monkeypatch, caplog):
    """Whether it can be written is tried with so many that are refused."""
    monkeypatch.setattr("scrapy_urlcanon.learn.store.MAX_WAITING", 2)
    path = tmp_path / "o.sqlite"
    store, other = store_and_its_lock(path)
    numbers = itertools.count()

    def add_batch():
        for number in itertools.islice(numbers, BATCH):
            add_page(store, f"http://a.example/{number}", "x")
        store._writing.result()

    with caplog.at_level("INFO"):
        for _ in range(3):
            add_batch()
        other.close()
        for _ in range(2):
            add_batch()
    store.close()
    assert store.refused == 2 * BATCH
    assert f"recorded in {path} again" in caplog.text
    assert len(list(read_store(path))) == 3 * BATCH


@pytest.mark.parametrize(
    ("version", "remedy"), [("1", "crawl again"), ("99", "a newer version"), ("x", "crawl again")]
)
def test_store_of_another_version_is_refused(tmp_path, version, remedy):
    """It is neither read nor touched, and the message names both versions, and what to do."""
    path = tmp_path / "o.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        connection.execute("INSERT INTO meta VALUES ('version', ?)", (version,))
    connection.close()
    before = path.read_bytes()
    for use in (lambda path: list(read_store(path)), ObservationStore):
        with pytest.raises(
            StoreVersionError, match=f"version {version}.*version {VERSION}; {remedy}"
        ):
            use(path)
    assert path.read_bytes() == before


def test_database_of_another_program_is_refused(tmp_path):
    """It is left as it was: no table of ours is put into it."""
    path = tmp_path / "o.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="expected an observation store"):
        ObservationStore(path)
    assert path.read_bytes() == before
    path.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        list(read_store(path))


def test_other_file_is_refused(tmp_path):
    """A file that is no store is refused by name."""
    path = tmp_path / "o.sqlite"
    path.write_text("no database " * 100)
    with pytest.raises(InputError, match=r"o\.sqlite"):
        list(read_store(path))
    with pytest.raises(InputError, match=r"o\.sqlite"):
        ObservationStore(path)


def test_store_that_is_damaged_is_refused(tmp_path):
    """That its pages cannot be read is said before a crawl begins."""
    path = tmp_path / "o.sqlite"
    with ObservationStore(path) as store:
        for n in range(2000):
            store.add(Page(f"http://a.example/{n}", b"", f"<p>Page {n}"), status=200)
    whole = path.read_bytes()
    start, end = len(whole) // 2, len(whole) * 3 // 4
    path.write_bytes(whole[:start] + b"\xff" * (end - start) + whole[end:])
    with pytest.raises(InputError, match=r"o\.sqlite: cannot be read to its end"):
        ObservationStore(path)


def test_rules_and_audits_of_each_crawl_are_kept(tmp_path):
    """A crawl says under which rules it was made, what it saw, and what audits found of each."""
    path = tmp_path / "o.sqlite"
    sid, ref = (RuleInForce("a.example", "drop_params", [name]) for name in ("sid", "ref"))
    with ObservationStore(path) as store:
        store.begin(datetime(2026, 1, 2, tzinfo=timezone.utc), [sid, ref])
        add_page(store, "http://a.example/", "x")
        pair = ("http://a.example/?sid=1", "http://a.example/")
        store.add_audit(*pair, entry=RuleEntry("drop_params", "sid"), rule=sid, same=False)
        store.add_audit(*pair, entry=RuleEntry("tracking_params", "utm_x"), same=True)
    with ObservationStore(path) as store:
        store.begin(datetime(2026, 1, 3, tzinfo=timezone.utc), [])
        add_page(store, "http://b.example/", "x")
    first, second = read_crawls(path)
    assert first.started < second.started
    assert first.rules == (sid, ref)
    assert (first.domains, second.domains) == ({"a.example"}, {"b.example"})
    assert first.audits == {
        Credit(RuleEntry("drop_params", "sid"), "a.example", sid.key): (
            AuditedUrl(*pair, is_same=False),
        ),
        Credit(RuleEntry("tracking_params", "utm_x"), "a.example", None): (
            AuditedUrl(*pair, is_same=True),
        ),
    }
    assert (second.rules, second.audits) == ((), {})


def test_disk_that_is_full_while_recording_is_logged_once(tmp_path):
    """The system refuses to let the file grow: one message, all counted, what was written stays."""
    path = tmp_path / "o.sqlite"
    script = """
import logging, resource, signal, sys
from scrapy_urlcanon.learn.store import BATCH, ObservationStore
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.visits import Visits, compare_visits
logging.basicConfig(level=logging.ERROR)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = ObservationStore(sys.argv[1])
for number in range(10 * BATCH):
    if number == 2 * BATCH:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))
    text = f"<p>{number} " + "words " * 300
    store.add(Page(f"http://a.example/{number}", text.encode(), text), status=200)
store.close()
print(10 * BATCH - store.refused)
"""
    environment = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    result = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stderr.count("no longer recorded") == 1, result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert len(list(read_store(path))) == int(result.stdout) >= 2 * BATCH


def test_refused_redirects_are_counted_one_by_one(tmp_path):
    """Whether the store was full before or the batch could not be written, rows are counted."""
    with ObservationStore(tmp_path / "o.sqlite", max_rows=0) as store:
        add_page(store, "http://a.example/2", "x")
        store.add_redirect("http://a.example/3", 301, "/2")
        assert store.refused == 2
