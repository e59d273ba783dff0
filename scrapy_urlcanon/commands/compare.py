"""``scrapy urlcanon compare``: what changed between two crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.commands.base import Action
from scrapy_urlcanon.report.comparison import compare, show_comparison
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.screen import Screen

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings


class Compare(Action):
    """Show what changed from one report to another."""

    place = 50
    name = "compare"
    help = "show what changed between the reports of two crawls"
    description = """\
Show what changed between two crawls, for example after a change of the rules: the figures
of both, the difference, and the options and domains behind it.

  scrapy urlcanon compare before.json after.json
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("before", metavar="A.json", help="the JSON report of the first crawl")
        parser.add_argument("after", metavar="B.json", help="the JSON report of the second crawl")

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        del settings
        before, after = read_report(arguments.before), read_report(arguments.after)
        show_comparison(compare(before, after), Screen.of_process())
        return 0
