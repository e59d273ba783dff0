"""``scrapy urlcanon learn``: learns rules from what crawls saw."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from scrapy.exceptions import UsageError

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import without_collecting
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.commands.base import (
    Action,
    check_output,
    domain_of_argument,
    not_written,
    shown,
)
from scrapy_urlcanon.commands.learned_rules import show_learned
from scrapy_urlcanon.commands.observations import nothing_of, observations_of
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
from scrapy_urlcanon.crawl.settings import configuration_of, name_of
from scrapy_urlcanon.exceptions import ConfigurationError, InputError, Problem
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.learn import Thresholds, learn
from scrapy_urlcanon.learn.learning import merge
from scrapy_urlcanon.learn.processes import usable_processors
from scrapy_urlcanon.learn.readers import crawls_of, format_of
from scrapy_urlcanon.learn.readers.store import Stores
from scrapy_urlcanon.learn.results.in_force import combine
from scrapy_urlcanon.learn.results.rules_file import LearnedFile, to_json, to_toml
from scrapy_urlcanon.learn.results.secret_values import without_secrets
from scrapy_urlcanon.profiles.suspicions import prior_of
from scrapy_urlcanon.redaction import visible_lines
from scrapy_urlcanon.report.screen import Screen, console_of_process
from scrapy_urlcanon.rule_files.discarder_writer import to_duplicate_url_discarder
from scrapy_urlcanon.rule_files.loading import files_of, load_configuration
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import Settings

    from scrapy_urlcanon.learn import Learned, Observation, RuleInForce

_DEFAULTS = Thresholds()


class Learn(Action):
    """Learn the rules of the sites that were crawled."""

    place = 60
    name = "learn"
    help = "learn rules from what crawls saw"
    description = """\
Learn the rules of each site from what crawls saw. An input is a store of URLCANON_RECORD, TSV
or JSON Lines, CDX or CDXJ, WARC, Parquet, or a directory of Scrapy's HTTP cache. Its format is
recognised by its content; the text formats may be gzipped.

  scrapy urlcanon learn observations.sqlite -o urlcanon.toml
  scrapy crawl NAME -s URLCANON_RULES_FILES=urlcanon.toml

A crawl under rules cannot show what these rules merge. So the rules of the files that a crawl
used are kept, unless its audit contradicts them. A store knows these rules; for other inputs
name them with --keep.

Without -o the rules are printed. The exit status is 1 if an input cannot be read, if none of
them has an observation, or if an error kept a domain from being learned.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "inputs",
            nargs="+",
            type=Path,
            metavar="INPUT",
            help="what a crawl saw, in one of the formats above",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE.toml",
            help="write the rules to this file, adding to it if it exists; JSON if its name ends "
            "in .json",
        )
        parser.add_argument(
            "--json", action="store_true", help="print everything that was learned as JSON"
        )
        parser.add_argument(
            "--skip",
            action="store_true",
            help="turn on the rules that keep URLs from being fetched; without this option they "
            "are written commented out",
        )
        parser.add_argument(
            "--places",
            type=Path,
            metavar="FILE",
            help="add each URL that these rules skip, with the URL under which its page was found, "
            "to this file for URLCANON_SKIP_PLACES, so that a crawl fetches the page there",
        )
        parser.add_argument(
            "--keep",
            action="append",
            default=[],
            metavar="RULES.toml",
            help="keep the rules of this file, because the inputs were crawled under them; may be "
            "repeated. A store knows the rules of its own crawls",
        )
        parser.add_argument(
            "--export-discarder",
            type=Path,
            metavar="FILE.json",
            help="also write the rules that duplicate-url-discarder can express to this file",
        )
        parser.add_argument(
            "--domain",
            action="append",
            dest="domains",
            metavar="NAME",
            help="learn about this registrable domain only; may be repeated",
        )
        parser.add_argument(
            "--jobs",
            type=int,
            default=usable_processors(),
            metavar="N",
            help="learn from this many domains at once, each in a process of its own; the result "
            "is the same (default: the number of usable processors, %(default)s here)",
        )
        parser.add_argument(
            "--support",
            type=int,
            metavar="PAGES",
            help="how many pages without a counter-example it takes to believe a rule (default: "
            f"{_least_pages(_DEFAULTS.precision)}; {_least_pages(_DEFAULTS.alias)} where it skips)",
        )
        parser.add_argument(
            "--confidence",
            type=float,
            default=_DEFAULTS.confidence,
            metavar="SHARE",
            help="confidence of the lower bound of a rule's precision "
            f"(default: {_DEFAULTS.confidence})",
        )
        parser.add_argument(
            "--lost",
            type=float,
            default=_DEFAULTS.lost,
            metavar="SHARE",
            help="the largest share of counter-examples that is blamed on pages that changed "
            f"during the crawl (default: {_DEFAULTS.lost})",
        )

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        thresholds = _thresholds(arguments)
        jobs = _jobs(arguments)
        domains = arguments.domains and [*map(domain_of_argument, arguments.domains)]
        preset = settings.get(name_of("preset"), DEFAULT_PRESET)
        output: Path | None = arguments.output
        _check_outputs(arguments)
        file = LearnedFile(output) if output else None
        here = file.rules if file else ()
        kept = _rules_of(arguments.keep, preset)
        skipped: Counter[str] = Counter()
        # The garbage collector would take an eighth of the time to search millions of URLs.
        with without_collecting():
            crawls = (crawl for path in arguments.inputs for crawl in crawls_of(path, skipped))
            # A rule that a person has since removed from the rules file must not come back.
            in_force = combine(crawls, (*kept, *here), is_all=bool(here))
            with _reading(arguments.inputs, skipped) as (observations, progress):
                learned = learn(
                    observations,
                    thresholds=thresholds,
                    domains=domains,
                    in_force=in_force,
                    preset=preset,
                    rules=_rules_of_settings(settings),
                    prior_of=prior_of,
                    progress=progress,
                    jobs=jobs,
                )
        if not (learned.urls or learned.failed):
            raise InputError(nothing_of(arguments.inputs, skipped, domains))
        # With --domain, the file keeps its rules for other domains.
        others = [rule for rule in here if domains and rule.domain not in domains]
        learned = merge([learned, learn((), in_force=others)]) if others else learned
        learned, secret = without_secrets(learned)
        turned_off = () if arguments.skip else (SKIP,)
        try:
            _write_places(learned, arguments.places)
            left_out = _write(learned, file, arguments.export_discarder, turned_off)
        except OSError as error:
            print(visible_lines(not_written(error.filename, error)), file=sys.stderr)
            return 1
        if arguments.json:
            print(to_json(learned), end="")
        elif output is None:
            print(to_toml(learned, turned_off=turned_off), end="")
        # If the rules are printed to standard output, the summary must not get among them.
        screen = Screen.of_process(stderr=arguments.json or output is None)
        show_learned(
            learned,
            skipped,
            screen,
            configured=_configured(settings),
            output=output,
            turned_off=turned_off,
        )
        _show_missing(learned, secret, left_out, screen)
        return 1 if learned.failed else 0


def _show_missing(learned: Learned, secret: int, left_out: Iterable[str], screen: Screen) -> None:
    """Print what is missing from the rules file, and from the exported one.

    :param secret: how many rules would have shown the value of a secret.
    :param left_out: what the export leaves out.
    """
    if secret:
        rules = count_of(secret, "rule")
        screen.line((f"left out: {rules} that would show the value of a secret", "yellow"))
    for what in left_out:
        screen.line((f"not exported: {what}", "yellow"))
    for domain, traceback in learned.failed:
        print(visible_lines(traceback), file=sys.stderr)
        screen.line((f"not learned: {domain}, by the error above; please report it", "yellow"))


def _thresholds(arguments: argparse.Namespace) -> Thresholds:
    """Return the thresholds of the command line.

    :raises UsageError: if one of them is out of range.
    """
    confidence, lost, support = arguments.confidence, arguments.lost, arguments.support
    if not 0 < confidence < 1:
        raise UsageError(f"--confidence: expected a number between 0 and 1, got {confidence}")
    if not 0 <= lost < 1:
        raise UsageError(f"--lost: expected a number from 0 to less than 1, got {lost}")
    thresholds = replace(_DEFAULTS, confidence=confidence, lost=lost)
    if support is None:
        return thresholds
    if support < 1:
        raise UsageError(f"--support: expected 1 page or more, got {support}")
    bound = lower_bound(support, 0, confidence)
    # Nobody can check a skip by looking at the URL, so its bound is never lower than usual.
    return replace(thresholds, precision=bound, alias=max(bound, _DEFAULTS.alias))


def _least_pages(share: float) -> int:
    """Return how many pages without a counter-example make a rule right for this *share*.

    >>> _least_pages(0.36), _least_pages(0.5)
    (3, 5)
    """
    bounds = ((pages, lower_bound(pages, 0, _DEFAULTS.confidence)) for pages in count(1))
    return next(pages for pages, bound in bounds if bound >= share)


def _configured(settings: Settings) -> Canonicalizer:
    """Return the canonicalizer of the *settings*, or that of the preset if they are not valid.

    They may name the rules file that this command will write, and that does not exist yet.
    """
    try:
        return Canonicalizer.from_configuration(configuration_of(settings))
    except ConfigurationError:
        return Canonicalizer()


def _rules_of_settings(settings: Settings) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the rules in the *settings* themselves, without files; None if they are not valid."""
    own = settings.copy()
    # One of the named files may be the one that is written here.
    own.set(name_of("rules_files"), (), "cmdline")
    sources = {source.name: source.rules for source in _configured(own).configuration.sources}
    rules = sources.get(name_of("rules"))
    return rules if isinstance(rules, dict) else None


def _jobs(arguments: argparse.Namespace) -> int:
    """Return how many processes are to learn at once.

    :raises UsageError: if the number is less than 1.
    """
    jobs: int = arguments.jobs
    if jobs < 1:
        raise UsageError(f"--jobs: expected 1 process or more, got {jobs}")
    return jobs


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Check that the results can be written, before an hour of work is spent on them.

    :raises UsageError: if a file cannot be written, or if two outputs are the same file.
    :raises ConfigurationError: if the file for places exists but is not a file of places.
    """
    paths = (arguments.output, arguments.export_discarder, arguments.places)
    outputs = [path for path in paths if path]
    for path in outputs:
        suffix = ".json" if path is arguments.export_discarder else ""
        check_output(path, arguments.inputs, suffix)
    if len(set(map(os.path.realpath, outputs))) < len(outputs):
        raise UsageError("-o, --export-discarder and --places: expected a file of its own for each")
    if arguments.places and arguments.places.exists():
        SkipPlaces(arguments.places).close()


def _rules_of(files: Sequence[str], preset: object) -> tuple[RuleInForce, ...]:
    """Return the rules of *files*, which do not depend on the *preset* of the project.

    :raises ConfigurationError: if one of them is not valid or not in our format, or if the
        preset is unknown.
    """
    configuration = load_configuration(
        preset, rules_files=files, setting_names=(name_of("preset"), "--keep")
    )
    problems = [
        Problem("--keep", "expected a file of our own format", file.name)
        for file, _ in files_of(configuration)
        if file.is_foreign
    ]
    if problems:
        raise ConfigurationError(problems)
    return RulesInForce(configuration).rules


def _write(
    learned: Learned, file: LearnedFile | None, export: Path | None, turned_off: Collection[str]
) -> tuple[str, ...]:
    """Write the files that were asked for; return what the export leaves out.

    :raises OSError: if one cannot be written.
    """
    if file is not None:
        file.write(learned, turned_off=turned_off)
    if export is None:
        return ()
    text, left_out = to_duplicate_url_discarder(learned.as_rules())
    write_atomically(export, text)
    return left_out


def _write_places(learned: Learned, path: Path | None) -> None:
    """Add the places of skipped pages to the file at *path*, if it is asked for.

    :raises ConfigurationError: if it is not a file of places.
    :raises OSError: if it cannot be written.
    """
    if path is None:
        return
    with closing(SkipPlaces(path)) as places:
        for rule in learned.rules:
            places.add(rule.places)


@contextmanager
def _reading(
    inputs: Sequence[Path], skipped: Counter[str]
) -> Iterator[tuple[Iterable[Observation], Callable[[str, int, int], None]]]:
    """Show how far reading and learning are; yield what to learn from, and what to call."""
    console = console_of_process(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(20),
        TaskProgressColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with shown(progress):
        reading = progress.add_task("Reading", total=len(inputs), detail="")
        learning = progress.add_task("Learning", total=None, detail="")

        def read_on(done: int, count: int) -> None:
            progress.update(reading, completed=done, detail=f"{count:,} observations")

        def learn_on(name: str, done: int, count: int) -> None:
            progress.update(reading, completed=len(inputs))
            detail = f"{done:,}/{count:,}  {name}"
            progress.update(learning, completed=done, total=count, detail=detail)

        are_stores = {format_of(path) for path in inputs} == {"store"}
        yield (
            Stores(inputs, skipped) if are_stores else observations_of(inputs, skipped, read_on),
            learn_on,
        )
