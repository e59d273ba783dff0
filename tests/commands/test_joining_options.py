from __future__ import annotations

import json

import pytest
from command_line import EXAMPLE_PROJECT, urlcanon
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.commands.joining_options import pair

CANONICALIZER = Canonicalizer({"example.com": {"drop_params": ["sort"]}})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("http://e.com/a", "https://e.com/a", ({"scheme": "https"},)),
        ("http://e.com/a", "http://e.com/a/", ({"trailing_slash": "strip"},)),
        ("http://e.com/a", "http://e.com//a", ({"duplicate_slashes": "collapse"},)),
        ("http://e.com/", "http://e.com/i.html", ({"directory_index": ["i.html"]},)),
        (
            "http://e.com/?x=1",
            "http://e.com/",
            ({"drop_params": ["x"]}, {"default_params": {"x": "1"}}),
        ),
        ("http://e.com/a", "http://e.com/", ()),
        (
            "http://m.e.com/",
            "http://e.com/",
            ({"drop_labels": ["m"]}, {"host_aliases": {"e.com": "m.e.com"}}),
        ),
        ("http://shop.e.com/", "http://e.com/", ({"host_aliases": {"e.com": "shop.e.com"}},)),
        ("http://e.com:81/?b", "http://e.com/?b", ({"port": "drop"},)),
        ("http://e.com/?x=1&y=2", "http://e.com/?x=2&y=1", ({"drop_params": ["x", "y"]},)),
        (
            "http://e.com/?x=1",
            "https://www.e.com/",
            ({"scheme": "https", "www": "strip", "drop_params": ["x"]},),
        ),
    ],
)
def test_options_that_would_join_two_urls_are_found(first, second, expected):
    """One option where one is enough, the usual value of each, else several together."""
    both = pair(CANONICALIZER, first, second)
    assert not both.are_one
    assert both.joined_by == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://www.e.com/a/?x=1", "https://e.com/a"),
        ("http://e.com/a", "http://mirror.example.org/a/"),
        ("http://www.e.com/A;v=1", "http://e.com/a"),
        ("http://user@e.com/?SID=1", "http://e.com/?sid=1"),
    ],
)
def test_what_is_proposed_joins(first, second):
    """With a proposed rule in the configuration the two are one."""
    both = pair(CANONICALIZER, first, second)
    assert both.joined_by
    for options in both.joined_by:
        assert pair(Canonicalizer({both.pattern: options}), first, second).are_one


@pytest.mark.parametrize(
    ("first", "second"),
    [("http://e.com/a", "http://e.com/b"), ("ftp://e.com/", "http://e.com/"), ("", "x")],
)
def test_nothing_is_proposed_where_nothing_joins(first, second):
    """Two pages stay two, and what is no URL is not compared."""
    both = pair(CANONICALIZER, first, second)
    assert not both.are_one
    assert both.joined_by == ()


def test_urls_that_are_one_say_by_which_rules():
    """The rules of both URLs, with their layers."""
    both = pair(CANONICALIZER, "http://example.com/?sort=1", "http://example.com/?gclid=1")
    assert both.are_one
    assert both.rules == {
        "drop_params": "rules['example.com']",
        "tracking_params": "preset safe",
    }


@settings(max_examples=settings.default.max_examples // 2)
@given(st.text(), st.text())
def test_any_two_texts_are_compared(first, second):
    """Whatever the texts, there is an answer."""
    both = pair(CANONICALIZER, f"http://example.com/{first}", f"http://{second}")
    assert both.are_one == (both.first.canonical == both.second.canonical)


def explain(*arguments, **options):
    done = urlcanon("explain", *arguments, cwd=EXAMPLE_PROJECT, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_explain_of_two_urls_says_that_they_are_one():
    """Both are explained, and then that they are one, and by what."""
    output = explain("https://shop.example/a?print=1", "https://www.shop.example/a")
    assert output.splitlines() == [
        "https://shop.example/a?print=1",
        "  drop_params  https://shop.example/a  (URLCANON_RULES['shop.example'])",
        "https://www.shop.example/a",
        "  www  https://shop.example/a  (URLCANON_RULES['shop.example'])",
        "",
        "Same canonical URL.",
        "  by drop_params (URLCANON_RULES['shop.example']), www (URLCANON_RULES['shop.example'])",
    ]


def test_explain_of_two_urls_says_what_would_join_them():
    """The difference is marked, and each rule that would join them is there to be copied."""
    output = explain("http://e.com/?x=1", "http://e.com/")
    assert output.splitlines()[-5:] == [
        "Different canonical URLs.",
        "  kept apart by  http://e.com/[-?x=1-]",
        "  merged with    URLCANON_RULES = {'e.com': {'drop_params': ['x']}}",
        "  or with        URLCANON_RULES = {'e.com': {'default_params': {'x': '1'}}}",
        "  `scrapy urlcanon rules NAME` says when that is wrong: drop_params, default_params",
    ]


def test_explain_marks_changes_in_colour():
    """At a terminal what a step removed is struck through, in the URL."""
    output = explain(
        "http://e.com/?utm_source=x",
        environment={"FORCE_COLOR": "1", "TERM": "xterm-256color"},
    )
    assert "http://e.com/\x1b[9;31m?utm_source=x\x1b[0m" in output


def test_explain_shows_no_escape_sequences_of_a_url():
    """A URL cannot command the terminal."""
    output = explain("http://e.com/\x1b[2J[bold]")
    assert "\x1b" not in output
    assert output.startswith("http://e.com/%1B[2J[bold]\n")


def test_explain_reads_lists_and_writes_json():
    """Each line of the standard input gets a line of JSON; two lines are no pair."""
    output = explain("--stdin", "--json", stdin="http://a/?utm_id=1\n\nhttp://b/\r\n")
    found = [json.loads(line) for line in output.splitlines()]
    assert [explanation["canonical"] for explanation in found] == ["http://a/", "http://b/"]


def test_explain_reads_lists_that_were_saved_on_windows():
    """The byte order mark at the beginning belongs to no URL."""
    assert explain("--stdin", stdin="\ufeffhttp://a/\r\n").splitlines()[0] == "http://a/"


@pytest.mark.parametrize(
    "command", [("explain", "--stdin"), ("seen", "import", "seen.sqlite", "-")], ids=" ".join
)
def test_list_that_is_no_text_is_one_line(command, tmp_path):
    """As one in Latin-1: an error, and no traceback."""
    done = urlcanon(*command, cwd=tmp_path, stdin=b"http://a/\nhttp://a/caf\xe9\n")
    assert done.returncode == 2
    assert done.stderr.endswith(
        "the standard input is no text in utf-8: invalid continuation byte\n"
    )


def test_explain_of_a_pair_as_json_has_a_line_for_the_pair():
    """Of two URLs as arguments the third object says whether they are one."""
    output = explain("--json", "http://e.com/a", "http://e.com/a/")
    assert json.loads(output.splitlines()[2]) == {
        "are_one": False,
        "rules": {},
        "joined_by": [{"trailing_slash": "strip"}],
    }


def test_explain_where_the_width_of_the_terminal_is_unknown():
    """As in some containers: what is printed is printed."""
    done = urlcanon("explain", "http://e.com/", cwd=EXAMPLE_PROJECT, columns="0")
    assert done.stdout == "http://e.com/\n  is canonical\n"


@pytest.mark.parametrize("arguments", [[], ["--stdin", "http://a/"]])
def test_explain_wants_urls_from_one_place(arguments):
    """Neither nor, and both, are wrong usage."""
    done = urlcanon("explain", *arguments, cwd=EXAMPLE_PROJECT)
    assert done.returncode == 2
    assert "expected either URLs or --stdin" in done.stderr
