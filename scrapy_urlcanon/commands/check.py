"""``scrapy urlcanon check``: says whether the configuration is valid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import inside_project

from scrapy_urlcanon.canonicalizer.configuration import INHERIT
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.commands.base import Action, say_off, settings_of_spider
from scrapy_urlcanon.crawl.addon import why_off
from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.crawl.settings import CrawlSettings, name_of, value_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import why_unreadable
from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.rule_files.loading import RulesFile
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from scrapy import Spider
    from scrapy.settings import Settings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration, RuleSet


class Check(Action):
    """Validate the settings of the project and of each of its spiders."""

    place = 30
    name = "check"
    help = "validate the rules of the project and of its spiders"
    description = """\
Validate the URLCANON_ settings of the project and of each of its spiders, together with any
rule files given here. Prints every problem. The exit status is 1 if there is one, or if the
add-on is off, so that no crawl uses the rules. What is valid but probably does not mean what was
intended is listed as doubtful: a rule such as skip = ["/admin/*"], a setting that has no effect
without another one, a URLCANON_TAKE_UP file that is not there. Files that a crawl writes, such as
reports and stores, are checked when it starts, not here.

  scrapy urlcanon check
  scrapy urlcanon check urlcanon.toml
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "files",
            nargs="*",
            metavar="FILE",
            help="a rule file to check as if URLCANON_RULES_FILES listed it last",
        )

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.files:
            files = [*value_of("rules_files", settings), *arguments.files]
            settings.set(name_of("rules_files"), files, "cmdline")
        of_project = CrawlSettings.load(settings)
        spiders = get_spider_loader(settings)
        own_of = {name: settings_of_spider(settings, name) for name in spiders.list()}
        of_spiders = _loaded(own_of)
        reasons = None
        if inside_project():
            # Outside a project no crawl needs the add-on.
            reasons = {name: why_off(own) for name, own in {"": settings, **own_of}.items()}
        doubts = [*_doubts(of_project, None)]
        doubts += [
            f"spider {name}: {doubt}"
            for name, own in of_spiders.items()
            for doubt in _doubts(own, spiders.load(name))
            if doubt not in doubts
        ]
        lines = [*_summary(of_project.configuration)]
        lines += [*(f"doubtful: {doubt}" for doubt in doubts), "The configuration is valid."]
        print("\n".join(map(visible, lines)))
        if reasons is not None:
            return _tell_off(reasons)
        print("There is no Scrapy project here: only the settings of this command were checked.")
        return 0


def _doubts(settings: CrawlSettings, spider: type[Spider] | None) -> Iterator[str]:
    """Yield what is doubtful about *settings*, and about the files that a crawl would read.

    :param spider: None for the settings of the project.
    :raises ConfigurationError: if no crawl can begin with such a file.
    """
    yield from settings.doubts()
    if settings.skip_places and settings.configuration.sets(SKIP):
        SkipPlaces.of_crawl(Path(settings.skip_places)).close()
    left = settings.take_up_file(spider)
    try:
        if left:
            left.open("rb").close()
    except OSError as error:
        name, reason = name_of("take_up"), why_unreadable(error)
        yield f"{name}: cannot read {str(left)!r}: {reason}; a crawl would begin without it"


def _tell_off(reasons: dict[str, str | None]) -> int:
    """Print for which spiders the add-on is off, and return the exit status.

    :param reasons: why it is off, for the project as "" and for each spider by its name.
    """
    of_project = reasons.pop("")
    # A project that has no spider yet may have them soon.
    reasons = reasons or {"": of_project}
    off = {name: reason for name, reason in reasons.items() if reason}
    if off and len(off) == len(reasons):
        return say_off(of_project or next(iter(off.values())))
    for name, reason in off.items():
        print(f"The add-on is off for the spider {name}: {reason}.")
    return 0


def _loaded(own_of: Mapping[str, Settings]) -> dict[str, CrawlSettings]:
    """Return the values of the settings of each spider, by its name.

    :raises ConfigurationError: with every problem of every spider.
    """
    loaded = {}
    problems: list[Problem] = []
    for name, own in own_of.items():
        try:
            loaded[name] = CrawlSettings.load(own)
        except ConfigurationError as error:
            problems += (
                problem._replace(origin=f"spider {name}: {problem.origin}")
                for problem in error.problems
            )
    if problems:
        raise ConfigurationError(problems)
    return loaded


def _summary(configuration: Configuration) -> Iterator[str]:
    yield f"preset {configuration.preset}"
    for source, rule_sets in zip(configuration.sources, configuration.origins, strict=True):
        if isinstance(source, RulesFile) and source.is_foreign:
            patterns = count_of(len(rule_sets), "pattern")
            yield f"{source.name}: {source.format}, rules for {patterns}"
            for left_out in source.left_out:
                yield f"  left out: {left_out}"
        else:
            yield from map(_line, rule_sets)


def _line(rule_set: RuleSet) -> str:
    options = [*rule_set.options, *([] if rule_set.inherit else [INHERIT])]
    return f"{rule_set.layer}: {', '.join(options) or 'no option'}"
