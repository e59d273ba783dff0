"""``scrapy urlcanon explain``: how a URL becomes its canonical form."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.commands.base import (
    Action,
    add_spider_argument,
    lines_of_input,
    say_off,
    settings_of_spider,
)
from scrapy_urlcanon.commands.joining_options import pair
from scrapy_urlcanon.crawl.addon import why_off
from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces
from scrapy_urlcanon.crawl.settings import configuration_of, value_of
from scrapy_urlcanon.redaction import visible_json
from scrapy_urlcanon.report.screen import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import Settings

    from scrapy_urlcanon.canonicalizer import Explanation
    from scrapy_urlcanon.commands.joining_options import Pair

_PAIR = 2


class Explain(Action):
    """Show each step to the canonical URL, with the layer that turned it on."""

    place = 10
    name = "explain"
    help = "show how URLs become canonical: each step, and what turned it on"
    description = """\
Show how each URL becomes its canonical form: every normalization and option that
changed it, in order, and the layer of the configuration that turned it on. For two URLs
it also says whether they are one, and if not, what keeps them apart and which options
would merge them. If the add-on is off in this project, it says so, and the exit status is 1.

  scrapy urlcanon explain 'http://www.example.com:80/?utm_source=x&b=2&a=1#top'
  scrapy urlcanon explain 'http://example.com/?sid=1' 'http://example.com/'
  scrapy urlcanon explain --stdin --json < urls.txt
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("urls", nargs="*", metavar="URL")
        parser.add_argument(
            "--stdin", action="store_true", help="explain the URLs on standard input, one per line"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print a JSON object for each URL, and for two URLs one for the pair",
        )
        add_spider_argument(parser)

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.stdin == bool(arguments.urls):
            raise UsageError("expected either URLs or --stdin")
        if arguments.spider:
            settings = settings_of_spider(settings, arguments.spider)
        canonicalizer = Canonicalizer.from_configuration(configuration_of(settings))
        urls = _urls_of_input() if arguments.stdin else arguments.urls
        # URLs from standard input are never compared as a pair.
        is_pair = not arguments.stdin and len(arguments.urls) == _PAIR
        path = value_of("skip_places", settings)
        screen = None if arguments.json else Screen.of_process()
        with closing(SkipPlaces.of_crawl(Path(path))) if path else nullcontext() as places:
            for url in urls:
                explanation, skip = canonicalizer.explain(url), canonicalizer.skips(url)
                # The URL that a crawl fetches in place of the skipped one, if it is known.
                place = None
                if skip and places:
                    place = places.of(explanation.canonical, canonicalizer)
                if screen:
                    _show(explanation, skip, place, screen)
                else:
                    _print_json(explanation, skip, place)
        if is_pair:
            _tell_of_pair(pair(canonicalizer, *arguments.urls), screen)
        # Outside a project no crawl needs the add-on.
        reason = why_off(settings) if inside_project() else None
        return say_off(reason) if reason else 0


def _urls_of_input() -> Iterator[str]:
    for line in lines_of_input():
        url = line.rstrip("\r\n")
        if url:
            yield url


def _print_json(explanation: Explanation, skip: str | None, place: str | None) -> None:
    steps = [
        {"option": s.option, "before": s.before, "after": s.after, "layer": s.layer}
        for s in explanation.steps
    ]
    document = {**explanation._asdict(), "steps": steps, "skip": skip, "place": place}
    print(visible_json(json.dumps(document, ensure_ascii=False)))


def _show(explanation: Explanation, skip: str | None, place: str | None, screen: Screen) -> None:
    screen.line((explanation.url, "bold"))
    width = max((len(step.option) for step in explanation.steps), default=0)
    for step in explanation.steps:
        # Without colours, the URL is shown plainly, so that it can be copied.
        url = screen.marked(step.before, step.after) if screen.has_colour else step.after
        option = (f"{step.option:{width}}", "cyan")
        screen.line("  ", option, "  ", url, (f"  ({step.layer})", "dim"))
    if explanation.problem:
        screen.line((f"  is left as it is: {explanation.problem}", "yellow"))
    elif not explanation.steps:
        screen.line(("  is canonical", "green"))
    elif screen.has_colour:
        screen.line("  ", (explanation.canonical, "green"))
    if skip:
        screen.line((f"  is not fetched: skip {skip}", "yellow"))
    if place:
        screen.line("  its page is fetched at  ", (place, "green"))


def _tell_of_pair(both: Pair, screen: Screen | None) -> None:
    """Say whether both URLs are one, as JSON if there is no *screen*."""
    if screen is None:
        verdict = {"are_one": both.are_one, "rules": both.rules, "joined_by": both.joined_by}
        print(visible_json(json.dumps(verdict, ensure_ascii=False)))
        return
    screen.line()
    if both.are_one:
        rules = ", ".join(f"{option} ({layer})" for option, layer in both.rules.items())
        screen.line(("Same canonical URL.", "bold green"))
        screen.line(f"  by {rules}" if rules else "  both URLs are the same")
        return
    screen.line(("Different canonical URLs.", "bold yellow"))
    canonical = screen.marked(both.first.canonical, both.second.canonical)
    screen.line("  kept apart by  ", canonical)
    if not both.joined_by:
        screen.line("  no single option, and no combination that was tried, would merge them")
        return
    for number, options in enumerate(both.joined_by):
        rule = f"URLCANON_RULES = {{{both.pattern!r}: {options!r}}}"
        screen.line("  or with        " if number else "  merged with    ", (rule, "cyan"))
    names = ", ".join(dict.fromkeys(name for options in both.joined_by for name in options))
    screen.line((f"  `scrapy urlcanon rules NAME` says when that is wrong: {names}", "dim"))
