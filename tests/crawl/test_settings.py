"""The settings of the plugin, and the table that the docs have of them."""

import re
import runpy
from decimal import Decimal
from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_urlcanon.crawl.settings import (
    NAMES,
    CrawlSettings,
    attributes,
    name_of,
    value_of,
)
from scrapy_urlcanon.exceptions import ConfigurationError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["configuration.md", "stats.md", "how-nothing-is-lost.md"])
def test_tables_of_the_docs_are_those_that_are_generated(page):
    """`make docs` writes them: a setting or a stat that is on no page cannot be found.

    Nor is the life of a page what an older page says that it is.
    """
    pages = runpy.run_path(str(ROOT / "tools" / "tables.py"))["pages"]()
    path = ROOT / "docs" / page
    assert path.read_text(encoding="utf-8") == pages[path]


@pytest.mark.parametrize("attribute", attributes(), ids=lambda attribute: attribute.name)
def test_every_setting_is_read_under_its_name(attribute):
    """What a setting is when nobody sets it is what it is when its default is set."""
    name = name_of(attribute.name)
    settings = Settings({name: attribute.default})
    assert value_of(attribute.name, settings) == value_of(attribute.name, Settings())
    assert getattr(CrawlSettings.load(settings), attribute.name) == attribute.default


@pytest.mark.parametrize("name", ["URLCANON_RESCEU", "urlcanon_rescue"])
def test_unknown_name_is_told_with_the_nearest_one(name):
    """All unknown names are, and so is all else that is wrong."""
    with pytest.raises(ConfigurationError) as caught:
        CrawlSettings.load(Settings({name: True, "URLCANON_AUDIT": 2}))
    assert [problem.origin for problem in caught.value.problems] == [name, "URLCANON_AUDIT"]
    assert "did you mean 'URLCANON_RESCUE'?" in str(caught.value)


@pytest.mark.parametrize(
    "name", sorted({*NAMES} - {"URLCANON_PRESET", name_of("fallback_request_fingerprinter_class")})
)
def test_value_of_another_type_is_a_problem_that_names_the_setting(name):
    """No setting takes any value."""
    with pytest.raises(ConfigurationError) as caught:
        CrawlSettings.load(Settings({name: object()}))
    assert {problem.origin for problem in caught.value.problems} == {name}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ("", ()),
        ("a.html", ("a.html",)),
        ("a.html, b.json", ("a.html", "b.json")),
        (["a,b.HTML", Path("c.csv")], ("a,b.HTML", "c.csv")),
        (Path("c.csv"), ("c.csv",)),
    ],
)
def test_reports_are_a_path_or_several(value, expected):
    """A path, a list, or a text with commas, as a command line gives it."""
    assert value_of("report", Settings({"URLCANON_REPORT": value})) == expected


@pytest.mark.parametrize("name", ["rules_files", "report"])
def test_paths_on_a_command_line_may_have_spaces_between(name):
    """As in a sentence: a space before a name is not part of it."""
    assert value_of(name, Settings({name_of(name): "a.csv, b.json,"})) == ("a.csv", "b.json")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("rules_files", '["a.toml", "b, c.json"]', ("a.toml", "b, c.json")),
        ("report", ' ["a.csv"]', ("a.csv",)),
        ("profiles", '["mediawiki"]', ("mediawiki",)),
        ("profiles", "[]", ()),
        ("rewrite", '["localhost", "a.example"]', {"localhost", "a.example"}),
    ],
)
def test_list_on_a_command_line_may_be_json(name, text, expected):
    """As mappings are, and as a list is written in `settings.py`."""
    assert value_of(name, Settings({name_of(name): text})) == expected


@pytest.mark.parametrize("name", ["rules_files", "rewrite"])
def test_list_that_is_no_json_is_an_error_that_says_so(name):
    """The quotes of Python are none of JSON, and no file has such a name."""
    with pytest.raises(
        ConfigurationError, match=r"with commas between or JSON, got \"\['a.example'\]\": Expecting"
    ):
        value_of(name, Settings({name_of(name): "['a.example']"}))


def test_path_in_the_place_of_rules_is_shown():
    """It belongs into `URLCANON_RULES_FILES`, whose name is like it."""
    wanted = r"a mapping or JSON, got 'urlcanon\.toml'; files are for URLCANON_RULES_FILES"
    with pytest.raises(ConfigurationError, match=wanted):
        value_of("rules", Settings({"URLCANON_RULES": "urlcanon.toml"}))


@pytest.mark.parametrize("value", [None, False, "", "False", "none"])
def test_what_turns_a_file_off_turns_the_order_off(value):
    """One spider of a project may do without."""
    assert value_of("order", Settings({"URLCANON_ORDER": value})) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a.example, B.example,", {"a.example", "b.example"}),
        (["a.example"], {"a.example"}),
        ("True", True),
        ("0", False),
    ],
)
def test_hosts_on_a_command_line_have_commas_between(value, expected):
    """Or it says that it is for all sites, or for none."""
    assert value_of("rewrite", Settings({"URLCANON_REWRITE": value})) == expected


@pytest.mark.parametrize("value", ["yes", "", "a.example/x", "a.example,/", ["*"], ["a.*"]])
def test_what_is_neither_a_flag_nor_hosts_is_an_error(value):
    """A word that is meant as True is no host."""
    with pytest.raises(ConfigurationError, match="URLCANON_REWRITE"):
        value_of("rewrite", Settings({"URLCANON_REWRITE": value}))


@pytest.mark.parametrize(
    "value", ["./news.py", "news.py", "os.path", "nowhere.worth", "json.worth"]
)
def test_what_is_no_path_of_a_callable_is_an_error_that_says_what_was_expected(value):
    """That of a file is none."""
    with pytest.raises(ConfigurationError, match=f"the path of a callable, got {value!r}"):
        value_of("order_by", Settings({"URLCANON_ORDER_BY": value}))


@pytest.mark.parametrize("value", ["1e5", 1.5, Decimal("1.5"), "100MB", -1, True])
def test_what_is_no_count_is_an_error_that_says_what_was_expected(value):
    """1.5 is a number of 0 or more, too."""
    with pytest.raises(
        ConfigurationError,
        match=re.escape(f"expected a whole number of 0 or more, got {value!r}"),
    ):
        value_of("rescue_max_pending", Settings({"URLCANON_RESCUE_MAX_PENDING": value}))


@pytest.mark.parametrize("value", ["half", 1.5, True, pytest.param(10**400, id="huge")])
def test_what_is_no_share_is_an_error_that_says_what_was_expected(value):
    """A number that no float can be is one of them."""
    with pytest.raises(ConfigurationError, match="expected a number from 0 to 1, got"):
        value_of("audit", Settings({"URLCANON_AUDIT": value}))


@pytest.mark.parametrize("value", ["", False])
def test_no_preset_is_an_error_that_shows_what_there_was(value):
    """The preset without any option is `scrapy`."""
    with pytest.raises(ConfigurationError, match=f"URLCANON_PRESET: .*, got {value!r}"):
        CrawlSettings.load(Settings({"URLCANON_PRESET": value}))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "expected a path or a list of paths, got 3"),
        ([3], "expected a path, got 3"),
        ("report", "ends in one of .html, .json, .csv"),
        ("report.htm", "did you mean '.html'?"),
        ("%(nam)s.html", "got %(nam)s; did you mean 'name'?"),
        ("100%.html", "a percent sign is written %%"),
        ("%s.html", "the only placeholders"),
        ("a.html,a.html", "listed twice"),
        ("s3://bucket/a.html", "got a URL"),
    ],
)
def test_what_is_no_path_of_a_report_is_an_error(value, message):
    """The error names the setting and what was expected."""
    with pytest.raises(ConfigurationError) as error:
        value_of("report", Settings({"URLCANON_REPORT": value}))
    assert message in str(error.value)
    assert "URLCANON_REPORT" in str(error.value)


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ({"RULES_FILES": "urlcanon.json"}, {"REPORT": "a.html,./urlcanon.json"}),
        ({"SKIP_PLACES": "places.db"}, {"RECORD": "places.db"}),
        ({"RECORD": "%(name)s.db"}, {"SEEN": "%(name)s.db"}),
        ({"RECORD": "a.json"}, {"REPORT": "a.json"}),
        ({"REPORT": "a.json"}, {"REPORT": "a.json,./a.json"}),
    ],
)
def test_file_that_would_take_the_place_of_another_is_an_error(
    read, written, tmp_path, monkeypatch
):
    """Rules that were written by hand would be gone at the end of a crawl, and a report there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urlcanon.json").write_text("{}")
    with pytest.raises(ConfigurationError) as error:
        CrawlSettings.load(Settings(prefixed({**read, **written})))
    (problem,) = error.value.problems
    ((name, path),) = written.items()
    ((other, _),) = read.items()
    message = f"URLCANON_{other} names this file too: give each one of its own"
    shown = path.rpartition(",")[2]
    assert str(problem) == f"URLCANON_{name}[{shown!r}]: {message}"


@pytest.mark.parametrize("file", ["requests.seen", "spider.state"])
def test_file_that_a_job_of_scrapy_has_is_an_error(file, tmp_path, monkeypatch):
    """Who takes what a job has seen for what earlier runs have got would have one in the other."""
    monkeypatch.chdir(tmp_path)
    settings = {"URLCANON_SEEN": f"job/{file}", "JOBDIR": "job"}
    with pytest.raises(ConfigurationError, match="JOBDIR names this file too"):
        CrawlSettings.load(Settings(settings))
    assert CrawlSettings.load(Settings(settings | {"JOBDIR": "jobs/job"}))


@pytest.mark.parametrize(
    "names",
    [
        {"RULES_FILES": "urlcanon.toml,urlcanon.toml", "REPORT": "urlcanon.json"},
        {"TAKE_UP": "left.jsonl", "LEFT": "left.jsonl"},
        {"RECORD": "%(name)s.db", "SEEN": "seen-%(name)s.db"},
    ],
)
def test_files_of_which_none_is_written_over_are_none(names, tmp_path, monkeypatch):
    """What an earlier crawl left is put aside when it is taken up."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urlcanon.toml").write_text("")
    assert CrawlSettings.load(Settings(prefixed(names)))


def prefixed(names):
    """Return settings by their names without the prefix that all have."""
    return {f"URLCANON_{name}": value for name, value in names.items()}


NO_PATHS = [None, False, "", "False", "false", "0", "none", "None"]


@pytest.mark.parametrize("value", NO_PATHS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [*((name, None) for name in ("record", "seen", "take_up", "skip_places")), ("report", ())],
)
def test_what_turns_a_file_off_names_none(name, expected, value):
    """A command line has but text: `-s URLCANON_RECORD=False` makes no file of that name."""
    assert value_of(name, Settings({name_of(name): value})) == expected


@pytest.mark.parametrize("value", [[None], [b"a.toml"], {"a.toml"}])
def test_what_is_no_path_of_a_rules_file_is_an_error(value):
    """It is no traceback, and every other problem is told with it."""
    with pytest.raises(ConfigurationError, match=r"URLCANON_RULES_FILES: expected a path.*, got"):
        value_of("rules_files", Settings({"URLCANON_RULES_FILES": value}))


def test_path_of_pathlib_is_one():
    """Settings of today have those."""
    settings = Settings({"URLCANON_RULES_FILES": Path("a.toml")})
    assert value_of("rules_files", settings) == ("a.toml",)


@pytest.mark.parametrize("host", [1, "https://a.example", "a.example/x", "a.*", "*.a.example"])
def test_expiry_for_what_is_no_host_is_an_error(host):
    """It would hold for no page, and nothing would say so."""
    with pytest.raises(ConfigurationError) as error:
        value_of("seen_expires", Settings({"URLCANON_SEEN_EXPIRES": {host: "1h"}}))
    (problem,) = error.value.problems
    assert (problem.origin, problem.pattern) == ("URLCANON_SEEN_EXPIRES", str(host))


def test_expiry_is_for_hosts_as_they_stand_in_urls():
    """Scrapy requests a host in its ASCII form."""
    settings = Settings({"URLCANON_SEEN_EXPIRES": {"Bücher.example": "1h", "*": 1}})
    assert value_of("seen_expires", settings) == {"xn--bcher-kva.example": 3600, "*": 1}


@pytest.mark.parametrize("name", ["record", "seen", "take_up", "skip_places", "left"])
@pytest.mark.parametrize("value", [True, "True", "1", 3])
def test_what_is_no_path_of_a_file_is_an_error(name, value):
    """The error names the setting, what was expected, and what there was."""
    with pytest.raises(ConfigurationError) as error:
        value_of(name, Settings({name_of(name): value}))
    (problem,) = error.value.problems
    assert problem.origin == name_of(name)
    assert problem.message == f"expected a path, got {value!r}"


@pytest.mark.parametrize("name", ["record", "seen", "skip_places", "left", "take_up"])
def test_path_that_no_file_can_have_is_an_error(name):
    """So is one in a folder that may not be looked into: the system says what is wrong."""
    with pytest.raises(ConfigurationError, match="cannot be used: File name too long"):
        CrawlSettings.load(Settings({name_of(name): "x" * 300}))


@pytest.mark.parametrize("value", [value for value in NO_PATHS if value is not None])
def test_what_is_left_is_written_somewhere(value):
    """What was not fetched would be known to nobody."""
    with pytest.raises(ConfigurationError, match=r"URLCANON_LEFT.*expected a path, got"):
        value_of("left", Settings({"URLCANON_LEFT": value}))


@pytest.mark.parametrize(
    ("name", "one"),
    [
        *((name, str) for name in ("record", "seen", "left")),
        ("report", tuple),
        ("rules_files", tuple),
    ],
)
def test_tilde_is_the_home_directory(name, one, monkeypatch, tmp_path):
    """No shell has replaced it in a setting."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = value_of(name, Settings({name_of(name): "~/a.json"}))
    expected = str(tmp_path / "a.json")
    assert found == (expected if one is str else (expected,))


@pytest.mark.parametrize(
    ("needed", "value", "given"),
    [
        ("URLCANON_SEEN", "a.sqlite", {"URLCANON_SEEN_BY": "text", "URLCANON_SEEN_EXPIRES": "30d"}),
        ("URLCANON_RECORD", "a.sqlite", {"URLCANON_RECORD_REVISITS": False}),
        ("URLCANON_ORDER", "novelty", {"URLCANON_ORDER_LINES": 1_000}),
        ("URLCANON_STOP", 0.01, {"URLCANON_LEFT": "left.jsonl"}),
    ],
)
def test_setting_that_needs_another_one_is_told(needed, value, given):
    """Such as what counts as got, where no file of earlier runs says of what."""
    told = list(CrawlSettings.load(Settings(given)).doubts())
    assert told == [f"{name} has no effect without {needed}." for name in given]
    beside = {**given, needed: value, "URLCANON_ORDER": "novelty"}
    assert not list(CrawlSettings.load(Settings(beside)).doubts())
