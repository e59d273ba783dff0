"""Whatever stands in a file that is read, it is read or there is one error that names the file."""

import json
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from datetime import datetime, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.exceptions import ConfigurationError, LearnError, ReportError
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.crawls import read_crawls
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.results.in_force import RuleInForce, combine
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.report.json_form import FORMAT, current_version, from_json, to_json
from scrapy_urlcanon.rule_files.documents import MAX_DEPTH, parse_json, parse_toml
from scrapy_urlcanon.rule_files.foreign import read_foreign

DEPTHS = (100, 900, 5_000, 200_000)
NESTED = {
    "lists.json": lambda depth: "[" * depth + "]" * depth,
    "objects.json": lambda depth: '{"a":' * depth + "1" + "}" * depth,
    "within.json": lambda depth: (
        '{"a.example": {"drop_params": ' + "[" * depth + "]" * depth + "}}"
    ),
    "cut.json": lambda depth: "[" * depth,
    "lists.toml": lambda depth: "a = " + "[" * depth + "]" * depth,
    "inline.toml": lambda depth: "a = " + "{a=" * depth + "1" + "}" * depth,
    "dotted.toml": lambda depth: ".".join(["a"] * min(depth, 5_000)) + " = 1",
    "list.txt": lambda depth: "[" * depth + "]" * depth,
}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["*", "a.example", "drop_params", "rules", "params", "url", "sid", "/a/{b}"]),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(SCALARS.map(str), inner, max_size=4)
    ),
    max_leaves=12,
)


def nested_like(document):
    """Return a strategy of *document* with one of its parts replaced by anything."""

    def places(value, path=()):
        yield path
        if isinstance(value, (dict, list)):
            for key in value if isinstance(value, dict) else range(len(value)):
                yield from places(value[key], (*path, key))

    def replaced(value, path, new):
        if not path:
            return new
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = replaced(value[path[0]], path[1:], new)
        return copy

    return st.builds(
        lambda path, new: replaced(document, path, new),
        st.sampled_from(list(places(document))),
        JSON,
    )


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", NESTED)
def test_rule_file_nested_deep_is_one_error(tmp_path, name, depth):
    """The error names the file, whoever wrote it."""
    path = tmp_path / name
    path.write_text(NESTED[name](depth))
    with pytest.raises(ConfigurationError, match=name) as caught:
        Canonicalizer(rules_files=[path])
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("parse", [parse_json, lambda text: parse_toml(f"a = {text}")])
def test_documents_may_be_nested_as_deep_as_any_file_is(parse):
    """A good deal deeper than any is."""
    parse("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2))


@pytest.mark.parametrize("depth", DEPTHS)
def test_report_nested_deep_is_one_error(depth):
    """As a whole, or in one of its parts."""
    deep = "[" * depth + "]" * depth
    for text in (deep, f'{{"format": "{FORMAT}", "version": 1, "figures": {deep}}}'):
        with pytest.raises(ReportError):
            from_json(text)


RULES = {
    "a.example": {"drop_params": ["sid"], "default_params": {"page": "1"}, "inherit": True},
    "b.example/list?a=1": {"rewrite_path": [["/a?id={id}", "/a_{id}"]], "www": "strip"},
}


@given(nested_like(RULES))
def test_rules_of_the_wrong_shape_are_one_error(rules):
    """Whatever stands where an option, a pattern or a value is expected."""
    with suppress(ConfigurationError):
        Canonicalizer(rules)


REPORT = {
    "format": FORMAT,
    "version": current_version(),
    "spider": "s",
    "started": "2026-01-01T00:00:00+00:00",
    "finished": "",
    "finish_reason": "finished",
    "figures": {"requests": 3, "dropped": 1, "dropped/exact": 1},
}


@given(nested_like(REPORT))
def test_report_of_the_wrong_shape_is_one_error(document):
    """What is read can be written again."""
    try:
        report = from_json(json.dumps(document))
    except ReportError:
        return
    assert from_json(to_json(report)) == report


FOREIGN = [
    {
        "providers": {
            "a": {
                "urlPattern": "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?a\\.example",
                "completeProvider": False,
                "rules": ["sid", "utm_[a-z]+"],
                "rawRules": ["/ref=[^/]*"],
                "referralMarketing": ["tag"],
                "exceptions": ["^https?:\\/\\/b\\.a\\.example"],
                "redirections": [],
                "forceRedirection": False,
            }
        }
    },
    [{"include": ["*://*.a.example/*"], "exclude": ["*://b.a.example/*"], "params": ["sid"]}],
    [
        {
            "args": ["sid"],
            "order": 1,
            "processor": "queryRemoval",
            "urlPattern": {"include": ["a.example"], "exclude": [], "priority": 5},
        }
    ],
]


@given(st.one_of(*map(nested_like, FOREIGN)))
def test_foreign_list_of_the_wrong_shape_is_one_error(document):
    """What it says is taken, left out with a reason, or refused."""
    try:
        imported = read_foreign(json.dumps(document), name="list.json")
    except ValueError as error:
        assert "list.json" in str(error)  # noqa: PT017
        return
    if imported is not None:
        Canonicalizer(imported.rules)


COLUMNS = {
    "responses": (
        *("crawl", "domain", "url", "status", "bytes", "raw_sha1", "canonical", "redirect"),
        "text",
    ),
    "texts": ("text_sha1", "title", "lines", "other"),
    "audits": ("crawl", "domain", "url", "kept", "option", "pattern", "setting", "same"),
    "crawls": ("started", "rules"),
    "rules": ("rules",),
    "meta": ("value",),
}
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns]
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=40),
    st.text(max_size=20).filter(lambda text: text.isprintable()),
    JSON.map(json.dumps),
    st.sampled_from(["[" * 100_000, "9" * 5_000, b"\xff\xff" + bytes(100), b"\xff\xfe"]),
)


def make_store(path):
    """Write a store with responses, a redirect, rules and a verdict of an audit."""
    rule = RuleInForce("a.example", "drop_params", ["sid"])
    with ObservationStore(path) as store:
        store.begin(datetime(2026, 1, 1, tzinfo=timezone.utc), [rule])
        for number in range(12):
            text = f"<title>Page {number // 2}</title>" + f"<p>text{number // 2} of it</p>" * 20
            page = Page(f"http://a.example/{number // 2}?sid={number}", text.encode(), text)
            store.add(page, status=200)
        store.add_redirect("http://a.example/old", 301, "/new")
        store.add_audit(
            "http://a.example/1?sid=1",
            "http://a.example/1",
            entry=RuleEntry("drop_params", "sid"),
            rule=rule,
            same=True,
        )


@pytest.fixture(scope="module")
def store_bytes(tmp_path_factory):
    """Return a good store."""
    path = tmp_path_factory.mktemp("good") / "store.sqlite"
    make_store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


@pytest.fixture(scope="module")
def broken(tmp_path_factory, store_bytes):
    """Return a function that makes a store in which one column of every other row is changed."""
    path = tmp_path_factory.mktemp("broken") / "store.sqlite"

    def make(table, column, value, *, cast=""):
        path.write_bytes(store_bytes)
        connection = sqlite3.connect(path)
        # The constraints of the schema are whoever's who wrote the file.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' INTEGER,', ' ANY,')")
        connection.commit()
        connection.close()
        connection = sqlite3.connect(path)
        new = f"CAST(? AS {cast})" if cast else "?"
        connection.execute(
            f"UPDATE {table} SET {column} = {new} WHERE rowid % 2 = 1"
            if table in {"responses", "audits", "crawls"}
            else f"UPDATE {table} SET {column} = {new}",
            (value,),
        )
        connection.commit()
        connection.close()
        return path

    return make


@given(st.sampled_from(PLACES), VALUES, st.sampled_from(["", "TEXT", "BLOB"]))
@example(("texts", "lines"), "text", "")
@example(("texts", "lines"), 7, "")
@example(("texts", "other"), 1, "")
@example(("responses", "text"), 99, "")
@example(("responses", "url"), b"\xff\xfe", "TEXT")
@example(("audits", "setting"), "[", "")
@example(("audits", "pattern"), 7, "")
@example(("rules", "rules"), "[[1, 2, 3]]", "")
@example(("rules", "rules"), "[" * 100_000, "")
@example(("crawls", "started"), 7, "")
def test_store_with_wrong_values_is_read_or_is_one_error(broken, place, value, cast):
    """What is no observation is counted as the other bad rows are."""
    path = broken(*place, value, cast=cast)
    skipped = Counter()
    try:
        observations = list(read_store(path, skipped))
        crawls = list(read_crawls(path, skipped))
    except LearnError as error:
        assert str(path) in str(error)  # noqa: PT017
        return
    # With domain NULL its rows are found for no domain.
    if place[0] in {"responses", "texts"} and place[1] != "domain":
        assert len(observations) + skipped.total() >= 13
    learn(observations, in_force=combine(crawls))
