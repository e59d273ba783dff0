"""``scrapy urlcanon report``: shows the report of a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.base import Action, check_output, not_written
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.screen import Screen
from scrapy_urlcanon.report.section import show_report

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

_BESIDE = ""


class ShowReport(Action):
    """Show a JSON report at the terminal, or make an HTML page of it."""

    place = 40
    name = "report"
    help = "show the report of a crawl, or make an HTML page of it"
    description = """\
Show the JSON report that a crawl with URLCANON_REPORT = "report.json" has written: what
was dropped, by which option, on which domain, for which page, and what deserves a look.

  scrapy urlcanon report report.json
  scrapy urlcanon report report.json --html report.html
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE.json", help="a JSON report")
        parser.add_argument(
            "--html",
            nargs="?",
            const=_BESIDE,
            metavar="PATH",
            help="write it as an HTML page to PATH, by default next to FILE.json",
        )

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        del settings
        report = read_report(arguments.file)
        if arguments.html is None:
            show_report(report, Screen.of_process())
            return 0
        path = Path(arguments.html or Path(arguments.file).with_suffix(".html"))
        check_output(path, [Path(arguments.file)], ".html")
        try:
            write_atomically(path, to_html(report))
        except OSError as error:
            raise UsageError(not_written(path, error)) from error
        print(f"The report is in {path}")
        return 0
