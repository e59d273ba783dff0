"""``scrapy urlcanon validate``: fetches a few pairs of URLs per rule, and says which rules hold."""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import UsageError
from scrapy.http.request import NO_CALLBACK

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.commands.base import Action, check_output, not_written, shown
from scrapy_urlcanon.commands.checked_rules import show_checks, those_that_stood
from scrapy_urlcanon.commands.observations import nothing_of, observations_of
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.redaction import shown_url, visible_json, visible_lines
from scrapy_urlcanon.report.screen import Screen, console_of_process
from scrapy_urlcanon.rule_files.loading import load_configuration
from scrapy_urlcanon.validate.crawled import Crawled
from scrapy_urlcanon.validate.rule_check import RuleCheck, checks_of
from scrapy_urlcanon.validate.spider import SETTINGS, ValidationSpider
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from scrapy import Request
    from scrapy.settings import Settings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.learn import Observation

_PAIRS = 30
_SETTING_NAMES = (name_of("preset"), "FILE")
"""What the user gave: in messages."""
_FINISHED, _SHUTDOWN = "finished", "shutdown"
"""What Scrapy gives as the reason where nothing is left to fetch, and after Ctrl-C."""


class Validate(Action):
    """Fetch what the rules of a file merge, and compare it."""

    place = 70
    name = "validate"
    help = "fetch a few pairs of URLs per rule, and say which rules hold"
    description = """\
Fetch URLs of a crawl and the URLs that each rule of FILE makes of them, and compare the pages:
ten pairs that show one page prove a rule, two that do not refute it. Each entry of a list or
mapping is a rule of its own. The settings of the project apply (ROBOTSTXT_OBEY, DOWNLOAD_DELAY
...). The exit status is 1 if a rule fails or there is no observation, and 130 after Ctrl-C, which
ends it with what is known by then.

  scrapy urlcanon validate urlcanon.toml --observations observations.sqlite

For a template of `skip` it fetches URLs of the crawl and looks for their pages where they lead
to, under the URL that they declare, and where the crawl has seen the same page.
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
            help=f"fetch at most this many pairs per rule (default: {_PAIRS})",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="RULES.toml",
            help="write the rules that hold to this file, the others commented out",
        )
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.pairs < 1:
            raise UsageError(f"--pairs: expected 1 or more, got {arguments.pairs}")
        output: Path | None = arguments.output
        if output is not None:
            check_output(output, [Path(arguments.file), *arguments.observations], ".toml")
        # With the preset that does least, since only the rules of the file are to be validated.
        configuration = load_configuration(
            "scrapy", rules_files=[arguments.file], setting_names=_SETTING_NAMES
        )
        # Text for readers must not get into the JSON.
        screen = Screen.of_process(stderr=arguments.json)
        checks, fetched, end = _check(configuration, arguments, settings, screen)
        problem = ""
        # After Ctrl-C the file would turn off rules that were not tried.
        if output is not None and end != _SHUTDOWN:
            # Before anything is printed, which fails if the reader closes the pipe, as "| head"
            # does.
            problem = _write(output, those_that_stood(configuration, checks))
        # The exit status is the same if the reader closes the pipe.
        with suppress(BrokenPipeError):
            if checks:
                _show(checks, fetched, end, screen)
            if arguments.json:
                print(_to_json(checks))
        if end == _SHUTDOWN:
            raise KeyboardInterrupt
        if problem:
            print(visible_lines(problem), file=sys.stderr)
        return 1 if problem or any(check.outcome is Outcome.FAILS for check in checks) else 0


def _check(
    configuration: Configuration, arguments: argparse.Namespace, settings: Settings, screen: Screen
) -> tuple[list[RuleCheck], int, str]:
    """Try the rules; return their checks, how many pages were fetched, and why the crawl ended.

    :raises LearnError: if the observations cannot be read, or there are none.
    """
    if not any(rule_set.options for origin in configuration.origins for rule_set in origin):
        screen.line((f"{arguments.file} is empty: there is no rule to validate", "yellow"))
        return [], 0, ""
    console = console_of_process(stderr=True)
    console.print(f"Reading {count_of(len(arguments.observations), 'input')} ...", highlight=False)
    urls, crawled = _read(configuration, arguments, settings)
    checks = checks_of(configuration, urls, most=arguments.pairs, crawled=crawled)
    tried = [check for check in checks if check.pairs]
    console.print(f"Fetching pairs for {count_of(len(tried), 'rule')} ...", highlight=False)
    return checks, *_crawl(tried, settings, console)


def _show(checks: Sequence[RuleCheck], fetched: int, end: str, screen: Screen) -> None:
    """Print the result of each rule, how many pages were fetched, and why, if it ended early."""
    show_checks(checks, screen, fetched=fetched)
    if end not in {_FINISHED, _SHUTDOWN}:
        is_set = end.startswith("closespider_")
        what = f": a setting of the project, which -s {end.upper()}=0 turns off" if is_set else ""
        screen.line((f"ended before all was fetched, by {end}", "bold yellow"), what)


def _write(output: Path, text: str) -> str:
    """Write *text* to *output*; return a message if that fails, otherwise an empty text."""
    try:
        write_atomically(output, text)
    except OSError as error:
        return not_written(output, error)
    return ""


def _read(
    configuration: Configuration, arguments: argparse.Namespace, settings: Settings
) -> tuple[list[str], Crawled | None]:
    """Return the URLs of a crawl, and what it saw of them if there are ``skip`` templates to try.

    :raises LearnError: if the observations cannot be read, or there are none.
    """
    urls: list[str] = []
    skipped: Counter[str] = Counter()
    observations = _noting_urls(observations_of(arguments.observations, skipped), urls)
    crawled = None
    if configuration.sets(SKIP):
        preset = settings.get(name_of("preset"), DEFAULT_PRESET)
        rules = load_configuration(
            preset, rules_files=[arguments.file], setting_names=_SETTING_NAMES
        )
        crawled = Crawled.of(Canonicalizer.from_configuration(rules), observations)
    else:
        deque(observations, maxlen=0)
    if not urls:
        raise InputError(nothing_of(arguments.observations, skipped))
    return urls, crawled


def _crawl(checks: list[RuleCheck], settings: Settings, console: Console) -> tuple[int, str]:
    """Fetch the pairs of *checks*, and return how many pages came, and why the crawl ended."""
    for name, value in SETTINGS.items():
        settings.set(name, value, "cmdline")
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(ValidationSpider)
    fetched = 0
    left = sum(len(check.pairs) for check in checks)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    with shown(progress):
        task = progress.add_task("Pairs", total=left)

        def response_received(request: Request) -> None:
            nonlocal fetched
            # A robots.txt is no page.
            fetched += request.callback is not NO_CALLBACK
            rest = sum(len(check.pairs) for check in checks)
            progress.update(task, completed=left - rest)

        crawler.signals.connect(response_received, signals.response_received)
        process.crawl(crawler, checks=checks)
        process.start()
    if process.bootstrap_failed:
        raise UsageError("the crawl did not start; run with -L ERROR to see why")
    # The second Ctrl-C stops Scrapy before it has noted any reason.
    return fetched, crawler.stats.get_value("finish_reason", _SHUTDOWN)


def _noting_urls(observations: Iterable[Observation], urls: list[str]) -> Iterator[Observation]:
    for observation in observations:
        urls.append(observation.url)
        yield observation


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
            "reasons": dict(by_count(check.evidence.reasons)),
            "example": check.example and list(map(shown_url, dict.fromkeys(check.example))),
        }
        for check in checks
    ]
    return visible_json(json.dumps(found, indent=2, ensure_ascii=False))
