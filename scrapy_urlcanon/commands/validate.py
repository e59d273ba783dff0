"""``scrapy urlcanon validate``: fetches a few pairs of URLs per rule, and says which rules hold."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.base import Action
from scrapy_urlcanon.commands.checked_rules import show_checks
from scrapy_urlcanon.commands.observations import observations_of
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.exceptions import LearnError
from scrapy_urlcanon.redaction import shown_url, visible_json, visible_lines
from scrapy_urlcanon.report.screen import Screen
from scrapy_urlcanon.rule_files.loading import load_configuration
from scrapy_urlcanon.validate.rule_check import RuleCheck, checks_of
from scrapy_urlcanon.validate.spider import SETTINGS, ValidationSpider

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from scrapy.settings import Settings

_PAIRS = 30


class Validate(Action):
    """Fetch what the rules of a file merge, and compare it."""

    place = 70
    name = "validate"
    help = "fetch a few pairs of URLs per rule, and say which rules hold"
    description = """\
Fetch URLs of a crawl and what each rule of FILE makes of them, and compare the pages: ten
pairs that are one page prove a rule, two that are not refute it. A rule is one entry of a list
or mapping. The settings of the project
hold (ROBOTSTXT_OBEY, DOWNLOAD_DELAY ...). The exit status is 1 if a rule fails.

  scrapy urlcanon validate urlcanon.toml --observations observations.sqlite

Templates of `skip` are not validated: nothing computes where their pages are.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a rule file")
        parser.add_argument(
            "--observations",
            action="append",
            type=Path,
            required=True,
            metavar="INPUT",
            help="where the URLs come from: any input of `learn`; may be repeated",
        )
        parser.add_argument(
            "--pairs",
            type=int,
            default=_PAIRS,
            metavar="N",
            help=f"fetch no more than so many pairs per rule (default: {_PAIRS})",
        )
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.pairs < 1:
            raise UsageError(
                f"--pairs: expected 1 or more, got {arguments.pairs}", print_help=False
            )
        # With the least of presets: what it does itself is not to be validated.
        configuration = load_configuration("scrapy", rules_files=[arguments.file])
        try:
            urls = [item.url for item in observations_of(arguments.observations, Counter())]
        except LearnError as error:
            print(visible_lines(str(error)), file=sys.stderr)  # noqa: T201
            return 1
        checks = checks_of(configuration, urls, most=arguments.pairs)
        for name, value in SETTINGS.items():
            settings.set(name, value, "cmdline")
        process = CrawlerProcess(settings)
        process.crawl(
            ValidationSpider,
            checks=[check for check in checks if check.pairs],
        )
        process.start()
        if arguments.json:
            print(_to_json(checks))  # noqa: T201
        # What is for machines is not to get among it.
        show_checks(checks, Screen.of_process(stderr=arguments.json))
        return 1 if any(check.outcome is Outcome.FAILS for check in checks) else 0


def _to_json(checks: Iterable[RuleCheck]) -> str:
    found = [
        {
            "layer": str(check.layer),
            "option": check.option,
            "setting": check.setting,
            "outcome": check.outcome.value,
            "right": check.right,
            "wrong": check.wrong,
            "not_comparable": check.unjudged,
            "example": check.example and list(map(shown_url, check.example)),
        }
        for check in checks
    ]
    return visible_json(json.dumps(found, indent=2, ensure_ascii=False))
