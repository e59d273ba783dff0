"""The settings of the plugin, and their table in the docs."""

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
    """The generated tables of the docs are up to date: settings, stats and the life of a page."""
    pages = runpy.run_path(str(ROOT / "tools" / "tables.py"))["pages"]()
    path = ROOT / "docs" / page
    assert path.read_text(encoding="utf-8") == pages[path]


@pytest.mark.parametrize("attribute", attributes(), ids=lambda attribute: attribute.name)
def test_every_setting_is_read_under_its_name(attribute):
    """A setting at its default is the same as one that is not set."""
    name = name_of(attribute.name)
    settings = Settings({name: attribute.default})
    assert value_of(attribute.name, settings) == value_of(attribute.name, Settings())
    assert getattr(CrawlSettings.load(settings), attribute.name) == attribute.default


@pytest.mark.parametrize("name", ["URLCANON_RESCEU", "urlcanon_rescue"])
def test_unknown_name_is_reported_with_the_nearest_one(name):
    """Unknown names are reported with the nearest one, together with all other problems."""
    with pytest.raises(ConfigurationError) as caught:
        CrawlSettings.load(Settings({name: True, "URLCANON_AUDIT": 2}))
    assert [problem.origin for problem in caught.value.problems] == [name, "URLCANON_AUDIT"]
    assert "did you mean 'URLCANON_RESCUE'?" in str(caught.value)


@pytest.mark.parametrize(
    "name", sorted({*NAMES} - {"URLCANON_PRESET", name_of("fallback_request_fingerprinter_class")})
)
def test_value_of_another_type_is_a_problem_that_names_the_setting(name):
    """A value of a wrong type is a problem that names the setting."""
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
    """Spaces after commas are no part of a path."""
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
    """A list may be written in JSON."""
    assert value_of(name, Settings({name_of(name): text})) == expected


@pytest.mark.parametrize("name", ["rules_files", "rewrite"])
def test_list_that_is_no_json_is_an_error_that_says_so(name):
    """A list in Python's quotes is an error, not the name of a file."""
    with pytest.raises(
        ConfigurationError, match=r"with commas between or JSON, got \"\['a.example'\]\": Expecting"
    ):
        value_of(name, Settings({name_of(name): "['a.example']"}))


def test_path_in_the_place_of_rules_is_shown():
    """A path in URLCANON_RULES is an error that names URLCANON_RULES_FILES."""
    wanted = r"a mapping or JSON, got 'urlcanon\.toml'; files are for URLCANON_RULES_FILES"
    with pytest.raises(ConfigurationError, match=wanted):
        value_of("rules", Settings({"URLCANON_RULES": "urlcanon.toml"}))


@pytest.mark.parametrize("name", ["WWW", "DEBUG", "STATS", "LEARN", "DUPEFILTER"])
def test_name_that_is_like_a_setting_by_its_prefix_alone_gets_no_suggestion(name):
    """All names are alike in that."""
    with pytest.raises(ConfigurationError, match=r"no such setting$"):
        CrawlSettings.load(Settings({f"URLCANON_{name}": 1}))


@pytest.mark.parametrize("value", [1, "1", 1.0])
def test_crawl_does_not_end_at_once_where_a_user_meant_on_or_a_percentage(value):
    """With a share of 1 a crawl would end after its first pages."""
    with pytest.raises(ConfigurationError, match="expected a share below 1"):
        value_of("stop", Settings({"URLCANON_STOP": value}))


@pytest.mark.parametrize("value", [1e-300, "5e-324", 9e-7])
def test_share_that_no_sample_can_show_is_an_error(value):
    """A crawl of so small a share would raise as it starts, or never end."""
    with pytest.raises(ConfigurationError, match=r"expected 0 or a share of at least 0\.000001"):
        value_of("stop", Settings({"URLCANON_STOP": value}))


def test_wrong_path_of_a_file_to_read_is_shown_as_it_was_written():
    """It has no placeholders, so a percent sign stands for itself."""
    with pytest.raises(ConfigurationError, match="no path has a null character") as error:
        value_of("skip_places", Settings({"URLCANON_SKIP_PLACES": "100%\0.json"}))
    (problem,) = error.value.problems
    assert problem.pattern == "100%\0.json"


@pytest.mark.parametrize("value", [None, False, "", "False", "none"])
def test_what_turns_a_file_off_turns_the_order_off(value):
    """None, False and empty values turn the order off."""
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
    """URLCANON_REWRITE takes hosts with commas between, or a flag."""
    assert value_of("rewrite", Settings({"URLCANON_REWRITE": value})) == expected


@pytest.mark.parametrize("value", ["yes", "", "a.example/x", "a.example,/", ["*"], ["a.*"]])
def test_what_is_neither_a_flag_nor_hosts_is_an_error(value):
    """A word that is neither a flag nor a host is an error."""
    with pytest.raises(ConfigurationError, match="URLCANON_REWRITE"):
        value_of("rewrite", Settings({"URLCANON_REWRITE": value}))


@pytest.mark.parametrize(
    "value", ["./news.py", "news.py", "os.path", "nowhere.worth", "json.worth"]
)
def test_what_is_no_path_of_a_callable_is_an_error_that_says_what_was_expected(value):
    """A value that names no callable, such as a file, is an error."""
    with pytest.raises(ConfigurationError, match=f"the path of a callable, got {value!r}"):
        value_of("order_by", Settings({"URLCANON_ORDER_BY": value}))


@pytest.mark.parametrize("value", ["1e5", 1.5, Decimal("1.5"), "100MB", -1, True])
def test_what_is_no_count_is_an_error_that_says_what_was_expected(value):
    """A value that is no whole number of 0 or more is an error."""
    with pytest.raises(
        ConfigurationError,
        match=re.escape(f"expected a whole number of 0 or more, got {value!r}"),
    ):
        value_of("rescue_max_pending", Settings({"URLCANON_RESCUE_MAX_PENDING": value}))


@pytest.mark.parametrize("value", ["half", 1.5, True, pytest.param(10**400, id="huge")])
def test_what_is_no_share_is_an_error_that_says_what_was_expected(value):
    """A value that is no number from 0 to 1 is an error, even one too large for a float."""
    with pytest.raises(ConfigurationError, match="expected a number from 0 to 1, got"):
        value_of("audit", Settings({"URLCANON_AUDIT": value}))


@pytest.mark.parametrize("value", ["", False])
def test_no_preset_is_an_error_that_shows_what_there_was(value):
    """An empty preset is an error."""
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
    """A file that would be written over one that is read, or another one, is an error."""
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
    """A file that Scrapy's job uses is an error."""
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
    """A file that is put aside before it is written is no error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urlcanon.toml").write_text("")
    assert CrawlSettings.load(Settings(prefixed(names)))


def prefixed(names):
    """Return settings from names without their prefix."""
    return {f"URLCANON_{name}": value for name, value in names.items()}


NO_PATHS = [None, False, "", "False", "false", "0", "none", "None"]


@pytest.mark.parametrize("value", NO_PATHS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [*((name, None) for name in ("record", "seen", "take_up", "skip_places")), ("report", ())],
)
def test_what_turns_a_file_off_names_none(name, expected, value):
    """False as a text, as on a command line, turns a file off."""
    assert value_of(name, Settings({name_of(name): value})) == expected


@pytest.mark.parametrize("value", [[None], [b"a.toml"], {"a.toml"}])
def test_what_is_no_path_of_a_rules_file_is_an_error(value):
    """A wrong type among rules files is a problem, and no traceback."""
    with pytest.raises(ConfigurationError, match=r"URLCANON_RULES_FILES: expected a path.*, got"):
        value_of("rules_files", Settings({"URLCANON_RULES_FILES": value}))


def test_path_of_pathlib_is_one():
    """A pathlib path is taken."""
    settings = Settings({"URLCANON_RULES_FILES": Path("a.toml")})
    assert value_of("rules_files", settings) == ("a.toml",)


@pytest.mark.parametrize("host", [1, "https://a.example", "a.example/x", "a.*", "*.a.example"])
def test_expiry_for_what_is_no_host_is_an_error(host):
    """An expiry time for what is no host is an error: it would never hold."""
    with pytest.raises(ConfigurationError) as error:
        value_of("seen_expires", Settings({"URLCANON_SEEN_EXPIRES": {host: "1h"}}))
    (problem,) = error.value.problems
    assert (problem.origin, problem.pattern) == ("URLCANON_SEEN_EXPIRES", str(host))


def test_expiry_is_for_hosts_as_they_stand_in_urls():
    """Hosts of expiry times are converted to ASCII, as in URLs."""
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
    """A path that no file can have is an error with the system's reason."""
    with pytest.raises(ConfigurationError, match="cannot be used: File name too long"):
        CrawlSettings.load(Settings({name_of(name): "x" * 300}))


@pytest.mark.parametrize("value", [value for value in NO_PATHS if value is not None])
def test_what_is_left_is_written_somewhere(value):
    """URLCANON_LEFT cannot be turned off: what was not fetched would be lost."""
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
    """A tilde in a path is the home directory."""
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
        ("URLCANON_AUDIT or URLCANON_DECLARED_CANONICAL", 0.01, {"URLCANON_AUDIT_MAX_FALSE": 0.2}),
    ],
)
def test_setting_that_needs_another_one_is_warned_of(needed, value, given):
    """A warning names a setting that has no effect without another one."""
    told = list(CrawlSettings.load(Settings(given)).doubts())
    assert told == [f"{name} has no effect without {needed}." for name in given]
    beside = {**given, needed.partition(" or ")[0]: value, "URLCANON_ORDER": "novelty"}
    assert not list(CrawlSettings.load(Settings(beside)).doubts())


def test_places_without_a_rule_that_skips_are_told_before_a_crawl():
    """`check` warns of places without effect too, and of no other places."""
    places = {"URLCANON_SKIP_PLACES": "places"}
    (told,) = CrawlSettings.load(Settings(places)).doubts()
    assert told.startswith("URLCANON_SKIP_PLACES has no effect")
    rules = {"URLCANON_RULES": {"a.example": {"skip": ["/?p={id:digits}"]}}}
    assert not [*CrawlSettings.load(Settings(places | rules)).doubts()]
