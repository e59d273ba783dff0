from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.rule_files.clean_param import CONTENT_PARAMS, MOST_NAMES, read_clean_param


def _dropped(robots, path):
    """Return what is dropped from a URL with *path* where the site declares *robots*."""
    canonicalizer = Canonicalizer(preset="scrapy")
    canonicalizer.declare(*read_clean_param(robots).rule_sets("http://example.com/robots.txt"))
    setting = canonicalizer.policy(f"http://example.com{path}").options["drop_params"]
    return [entry.pattern for entry in setting.value]


def _rules(robots):
    return [(rule.params, rule.path) for rule in read_clean_param(robots).rules]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"Clean-param: ref /some_dir/get_book.pl", (("ref",), "/some_dir/get_book.pl")),
        (b"Clean-param: sid&sort /forum/*.php", (("sid", "sort"), "/forum/*.php")),
        (b"Clean-param: someTrash&otherTrash", (("someTrash", "otherTrash"), "/")),
        (b"  clean-PARAM :\tsid&&sid\t*.php  # why", (("sid",), "*.php")),
        (b"Clean-param: a%5B%5D", (("a[]",), "/")),
        ("Clean-param: сессия".encode(), (("сессия",), "/")),
    ],
)
def test_a_rule_is_read(line, rule):
    """Names joined by &, and perhaps a path, as the documentation has it."""
    assert _rules(line) == [rule]
    assert read_clean_param(line).problems == ()


def test_the_directive_belongs_to_no_user_agent():
    """It is taken wherever it stands."""
    robots = b"User-agent: Other\nDisallow: /\nClean-param: a\n\nUser-agent: *\nClean-param: b /x"
    assert _rules(robots) == [(("a",), "/"), (("b",), "/x")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_line_ends_are_read(end):
    """And the lines are numbered as an editor numbers them."""
    declared = read_clean_param(end.join([b"", b"Clean-param: a", b"Clean-param: b c"]))
    assert [rule.line for rule in declared.rules] == [2]
    assert [problem.line for problem in declared.problems] == [3]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_not_part_of_the_first_line(encoding):
    """UTF-16 is read as well where it has one."""
    assert _rules("Clean-param: sid /a".encode(encoding)) == [(("sid",), "/a")]


@pytest.mark.parametrize(
    ("path", "matching", "others"),
    [
        ("/forum", ["/forum", "/forums/x", "/forum/"], ["/Forum", "/a/forum"]),
        ("/forum/*.php", ["/forum/a.php", "/forum/a/b.phpx"], ["/forum/a.html", "/forum.php"]),
        ("/forum*/showthread.php", ["/forum/showthread.php", "/forums/a/showthread.php"], ["/f"]),
        ("*.php", ["/a.php", "/b/c.php5"], ["/a"]),
        ("/", ["/", "/anything"], []),
    ],
)
def test_a_path_is_a_prefix_as_text(path, matching, others):
    """``*`` stands for any text and is implied at the end."""
    robots = f"Clean-param: sid {path}".encode()
    assert [_dropped(robots, url_path) for url_path in matching] == [["sid"]] * len(matching)
    assert [_dropped(robots, url_path) for url_path in others] == [[]] * len(others)


def test_all_rules_for_a_path_are_put_together():
    """Each name once, in the order of the file."""
    robots = b"Clean-param: b&a /x\nClean-param: a&c\nClean-param: d /y"
    assert _dropped(robots, "/x") == ["b", "a", "c"]
    assert _dropped(b"", "/x") == []


def test_the_options_do_what_the_documentation_shows():
    """Its example: three addresses of a book are one."""
    declared = read_clean_param(b"User-agent: Yandex\nClean-param: ref /some_dir/get_book.pl")
    canonicalizer = Canonicalizer()
    canonicalizer.declare(*declared.rule_sets("http://www.example.com/robots.txt"))
    url = "http://www.example.com/some_dir/get_book.pl"
    canonical = {
        canonicalizer.canonicalize(f"{url}?ref=site_{number}&book_id=123") for number in (1, 2, 3)
    }
    assert canonical == {f"{url}?book_id=123"}


@pytest.mark.parametrize("name", ["page", "limit", "q", "lang", "id", "PAGE"])
def test_names_that_select_content_are_reported_and_not_taken(name):
    """The other names of the rule are."""
    declared = read_clean_param(f"Clean-param: {name}&sid".encode())
    assert [rule.params for rule in declared.rules] == [("sid",)]
    assert [(problem.line, problem.text) for problem in declared.problems] == [(1, name)]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "expected names"),
        (b"&& /a", "expected names"),
        (b"a b", "begins with /"),
        (b"a /b c", "perhaps a path"),
        (b"a /b?c", "letters, digits"),
        (b"a* /", "literal *"),
        (b"!a /", "begins with !"),
        (b"a=1 /", "without a value"),
        (b"\xff\xfe /", "UTF-8"),
        (b"a%FF /", "UTF-8"),
    ],
)
def test_an_invalid_rule_is_a_problem(value, reason):
    """With line, text and reason; nothing of it is taken."""
    declared = read_clean_param(b"# x\nClean-param: " + value)
    assert declared.rules == ()
    (problem,) = declared.problems
    assert problem.line == 2
    assert reason in problem.reason


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_name_that_is_not_whole_is_a_problem_in_any_encoding(encoding):
    """Half a character in a file with a byte order mark; the rest of the line is taken."""
    half = "Clean-param: a\ud800&sid".encode(encoding, "surrogatepass")
    declared = read_clean_param(half)
    assert [rule.params for rule in declared.rules] == [("sid",)]
    assert [problem.reason for problem in declared.problems] == ["it is not in UTF-8"]


def test_problem_is_one_line_that_can_be_read():
    """Strangers write robots.txt: long values are shortened, escape sequences shown."""
    declared = read_clean_param(b"\nClean-param: a\x1b[2J=1\nClean-param: " + b"&" * 80)
    assert [*map(str, declared.problems)] == [
        "line 2: a%1B[2J=1: expected a name without a value",
        f"line 3: {'&' * 80}: expected names of parameters",
    ]
    (problem,) = read_clean_param(b"Clean-param: " + b"&" * 81).problems
    assert problem.text == f"{54 * '&'} … {26 * '&'}"


def test_a_rule_has_at_most_500_characters():
    """One of 500 is taken, a longer one is a problem, however long."""
    assert _rules(b"Clean-param: " + b"a" * 500) == [(("a" * 500,), "/")]
    for length in (501, 10_000, 1_000_000):
        declared = read_clean_param(b"Clean-param: " + b"a" * length + b"\nClean-param: sid")
        assert [rule.params for rule in declared.rules] == [("sid",)]
        (problem,) = declared.problems
        assert f"{length} characters" in problem.reason
        assert len(problem.text) < 100


@pytest.mark.parametrize("line", ["s{}", "s{0}&t{0} /a*{0}", "id", "a-{}=1"])
def test_no_more_than_some_hundred_names_are_taken(line):
    """Each URL of the host is held against all of them: 26,000 lines took a second for each."""
    lines = "\n".join(f"Clean-param: {line.format(i)}" for i in range(20_000))
    declared = read_clean_param(lines.encode())
    names = [name for rule in declared.rules for name in rule.params]
    refused = declared.problems[:-1]
    assert MOST_NAMES <= len(names) + len(refused) <= MOST_NAMES + 1
    assert "500 names before it" in declared.problems[-1].reason
    assert declared.problems[-1].line == (251 if "&" in line else 501)


@pytest.mark.parametrize(
    "robots", [b"\0" * 10, b"<html>Not found", "Clean-param: a".encode("utf-16-le")]
)
def test_what_is_no_robots_txt_declares_nothing(robots):
    """It is no error either."""
    assert read_clean_param(robots).rules == ()


@given(st.binary() | st.binary().map(b"Clean-param: ".__add__))
def test_arbitrary_bytes_raise_nothing(robots):
    """And what is taken is valid as options."""
    declared = read_clean_param(robots)
    for rule in declared.rules:
        assert not {name.lower() for name in rule.params} & CONTENT_PARAMS
        Canonicalizer({"example.com": {"drop_params": list(rule.params)}})
    assert all(len(problem.text) <= 80 for problem in declared.problems)
    declared.rule_sets("http://example.com/robots.txt")
