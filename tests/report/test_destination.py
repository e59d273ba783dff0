from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.report.destination import destinations, templates

TIME = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone.utc)


def test_placeholders_are_those_of_feeds(tmp_path):
    """``%(name)s`` is the spider and ``%(time)s`` the start, as a file name may hold it."""
    (found,) = destinations(tmp_path / "%(name)s-%(time)s-100%%.html", name="books", time=TIME)
    assert found.name == "books-2026-01-02T03-04-05+00-00-100%.html"


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
def test_setting_is_a_path_or_several(value, expected):
    """A path, a list, or a text with commas, as a command line gives it."""
    assert templates(value) == expected


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
    ],
)
def test_what_is_no_path_of_a_report_is_an_error(value, message):
    """The error names the setting and what was expected."""
    with pytest.raises(ConfigurationError) as error:
        templates(value)
    assert message in str(error.value)
    assert "URLCANON_REPORT" in str(error.value)


def test_every_path_that_cannot_be_written_is_named(tmp_path):
    """All problems at once: a directory in the place of a file and the other way round."""
    (tmp_path / "file").touch()
    (tmp_path / "directory.json").mkdir()
    paths = [tmp_path / "file/report.html", tmp_path / "directory.json", tmp_path / "good.csv"]
    with pytest.raises(ConfigurationError) as error:
        destinations(paths, name="books", time=TIME)
    assert [problem.pattern for problem in error.value.problems] == [*map(str, paths[:2])]
    assert "Is a directory" in str(error.value)


def test_preparing_leaves_nothing_behind(tmp_path):
    """The check makes the directory, and touches no report of a run before."""
    path = tmp_path / "new" / "report.json"
    destinations(path, name="books", time=TIME)
    assert list(path.parent.iterdir()) == []
    path.write_text("before", encoding="utf-8")
    destinations(path, name="books", time=TIME)
    assert path.read_text(encoding="utf-8") == "before"


def test_report_is_written_whole_or_not_at_all(tmp_path):
    """Where writing fails the report of the run before is still there, and no part of one."""
    path = tmp_path / "report.json"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "half\ud800")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, "after\n")
    assert path.read_bytes() == b"after\n"
