from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f

from scrapy_urlcanon.crawl.settings import REPORT_FORMATS
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.report.destination import destinations, write_untaken

TIME = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone.utc)


def test_placeholders_are_those_of_feeds(tmp_path):
    """``%(name)s`` is the spider and ``%(time)s`` the start, as a file name may hold it."""
    (found,) = destinations([f"{tmp_path}/%(name)s-%(time)s-100%%.html"], name="books", time=TIME)
    assert found.name == "books-2026-01-02T03-04-05+00-00-100%.html"


def test_every_path_that_cannot_be_written_is_named(tmp_path):
    """All problems at once: a directory in the place of a file and the other way round."""
    (tmp_path / "file").touch()
    (tmp_path / "directory.json").mkdir()
    paths = [tmp_path / "file/report.html", tmp_path / "directory.json", tmp_path / "good.csv"]
    with pytest.raises(ConfigurationError) as error:
        destinations([*map(str, paths)], name="books", time=TIME)
    assert [problem.pattern for problem in error.value.problems] == [*map(str, paths[:2])]
    said = "cannot be written: Is a directory; name a file in a folder that may be written to"
    assert error.value.problems[1].message == said


def test_preparing_leaves_nothing_behind(tmp_path):
    """The check makes the directory, and touches no report of a run before."""
    path = tmp_path / "new" / "report.json"
    destinations([str(path)], name="books", time=TIME)
    assert list(path.parent.iterdir()) == []
    path.write_text("before", encoding="utf-8")
    destinations([str(path)], name="books", time=TIME)
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


def test_report_is_for_those_for_whom_files_of_the_process_are(tmp_path):
    """As any file that it makes; and so are those that it makes later."""
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "report.json", "{}")
        (tmp_path / "other").touch()
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("report.json", "other")]
    assert modes == [0o640, 0o640]


@deferred_f_from_coro_f
async def test_folder_that_is_gone_when_the_crawl_ends(crawl, tmp_path):
    """It is made again: the report of a crawl of three days is not lost with it."""

    def respond(_):
        shutil.rmtree("reports")
        return page("the only one")

    await crawl(respond, {"URLCANON_REPORT": "reports/report.csv"})
    assert [path.name for path in tmp_path.rglob("*.csv")] == ["report.csv"]


@deferred_f_from_coro_f
async def test_form_that_cannot_be_made_costs_no_other(crawl, caplog, tmp_path, monkeypatch):
    """Whatever goes wrong in it: it is logged with all that tells why, and the next is written."""
    # Which raises, since a report is no number.
    monkeypatch.setitem(REPORT_FORMATS, ".html", "operator.index")
    await crawl(lambda _: page("all"), {"URLCANON_REPORT": "first.html,second.json"})
    (said,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert said.getMessage() == "The report first.html could not be made"
    assert said.exc_info
    assert [path.name for path in tmp_path.iterdir()] == ["second.json"]


@deferred_f_from_coro_f
async def test_crawls_that_start_in_one_second_have_a_report_each(crawl, tmp_path, monkeypatch):
    """A path without the time is that of the last crawl; one with it is of each."""
    clock = SimpleNamespace(now=lambda _: TIME)
    monkeypatch.setattr("scrapy_urlcanon.report.writer.datetime", clock)
    for _ in range(3):
        await crawl(lambda _: page("all"), {"URLCANON_REPORT": "last.csv,%(time)s.csv"})
    time = "2026-01-02T03-04-05+00-00"
    expected = {"last.csv", f"{time}.csv", f"{time}-2.csv", f"{time}-3.csv"}
    assert {path.name for path in tmp_path.glob("*.csv")} == expected


@pytest.mark.parametrize(("at", "is_logged"), [("once", True), ("before", False)])
@deferred_f_from_coro_f
async def test_report_of_a_crawl_beside_is_not_lost_without_a_word(crawl, caplog, at, is_logged):
    """As of two spiders of one process: nobody would know that there was one."""
    path = Path("report.json")

    def respond(_):
        path.write_text("of another spider")
        if at == "before":
            os.utime(path, (0, 0))
        return page("all")

    await crawl(respond, {"URLCANON_REPORT": str(path)})
    said = "The report report.json takes the place of one that was written while this crawl ran"
    assert (said in caplog.text) is is_logged


def test_crawls_that_end_in_one_moment_have_a_report_each(tmp_path):
    """No process takes the name that another one has just found free."""
    path = tmp_path / "report.json"
    with ThreadPoolExecutor(8) as threads:
        written = list(threads.map(lambda number: write_untaken(path, str(number)), range(40)))
    assert [found.read_text(encoding="utf-8") for found in written] == [*map(str, range(40))]


def test_name_of_a_report_that_cannot_be_written_is_free_again(tmp_path):
    """No empty file is left in its place."""
    with pytest.raises(UnicodeEncodeError):
        write_untaken(tmp_path / "report.json", "half\ud800")
    assert list(tmp_path.iterdir()) == []
