"""``scrapy urlcanon explain``: how a URL becomes its canonical form."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from attrs import asdict
from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.base import Action, add_spider_argument, canonicalizer_of
from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.report.joining_options import pair
from scrapy_urlcanon.report.screen import marked

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from scrapy.settings import Settings

    from scrapy_urlcanon.canonicalizer import Canonicalizer, Explanation
    from scrapy_urlcanon.report.joining_options import Pair

_PAIR = 2


class Explain(Action):
    """Show each step to the canonical URL, with the layer that turned it on."""

    name = "explain"
    help = "show how URLs become canonical: each step, and what turned it on"
    description = """\
Show how each URL becomes its canonical form: every normalization and option that
changed it, in order, and the layer of the configuration that turned it on. Of two URLs
it says besides whether they are one, and if not, what keeps them apart and which options
would join them.

  scrapy urlcanon explain 'http://www.example.com:80/?utm_source=x&b=2&a=1#top'
  scrapy urlcanon explain 'http://example.com/?sid=1' 'http://example.com/'
  scrapy urlcanon explain --stdin --json < urls.txt
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("urls", nargs="*", metavar="URL")
        parser.add_argument(
            "--stdin", action="store_true", help="explain the URLs of the standard input, by lines"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="one JSON object for each URL, and of two URLs one for the pair",
        )
        add_spider_argument(parser)

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.stdin == bool(arguments.urls):
            raise UsageError("expected either URLs or --stdin")
        canonicalizer = canonicalizer_of(arguments, settings)
        urls = _lines_of_input() if arguments.stdin else arguments.urls
        # The lines of an input are no pair, however many they are.
        is_pair = not arguments.stdin and len(arguments.urls) == _PAIR
        if arguments.json:
            _print_json(canonicalizer, urls, is_pair=is_pair)
        else:
            _print_text(canonicalizer, urls, is_pair=is_pair)
        return 0


def _lines_of_input() -> Iterator[str]:
    for line in sys.stdin:
        url = line.rstrip("\r\n")
        if url:
            yield url


def _print_json(canonicalizer: Canonicalizer, urls: Iterable[str], *, is_pair: bool) -> None:
    for url in urls:
        explanation = canonicalizer.explain(url)
        steps = [
            {"option": s.option, "before": s.before, "after": s.after, "layer": s.layer}
            for s in explanation.steps
        ]
        document = {**asdict(explanation, recurse=False), "steps": steps}
        print(json.dumps(document, ensure_ascii=False))  # noqa: T201
    if is_pair:
        both = pair(canonicalizer, *urls)
        verdict = {"are_one": both.are_one, "rules": both.rules, "joined_by": both.joined_by}
        print(json.dumps(verdict, ensure_ascii=False))  # noqa: T201


def _print_text(canonicalizer: Canonicalizer, urls: Iterable[str], *, is_pair: bool) -> None:
    console = Console(highlight=False)
    colour = console.color_system is not None
    for url in urls:
        for line in _lines(canonicalizer.explain(url), colour=colour):
            console.print(line, soft_wrap=True)
    if is_pair:
        for line in _verdict(pair(canonicalizer, *urls), colour=colour):
            console.print(line, soft_wrap=True)


def _lines(explanation: Explanation, *, colour: bool) -> Iterator[Text]:
    yield Text(visible(explanation.url), "bold")
    width = max((len(step.option) for step in explanation.steps), default=0)
    for step in explanation.steps:
        # Where a change cannot be coloured, the URL is shown as it can be copied.
        url = marked(step.before, step.after, colour=True) if colour else visible(step.after)
        yield Text.assemble(
            "  ", (f"{step.option:{width}}", "cyan"), "  ", url, (f"  ({step.layer})", "dim")
        )
    if explanation.problem:
        yield Text(f"  is left as it is: {visible(explanation.problem)}", "yellow")
    elif not explanation.steps:
        yield Text("  is canonical", "green")
    elif colour:
        yield Text.assemble("  ", (visible(explanation.canonical), "green"))


def _verdict(both: Pair, *, colour: bool) -> Iterator[Text]:
    yield Text()
    if both.are_one:
        rules = ", ".join(f"{option} ({layer})" for option, layer in both.rules.items())
        yield Text("They are one.", "bold green")
        yield Text(f"  by {rules}" if rules else "  the very same URL")
        return
    yield Text("They are two.", "bold yellow")
    canonical = marked(both.first.canonical, both.second.canonical, colour=colour)
    yield Text.assemble("  kept apart by  ", canonical)
    if not both.joined_by:
        yield Text("  no single option, and no combination that was tried, would join them")
        return
    for number, options in enumerate(both.joined_by):
        rule = f"URLCANON_RULES = {{{both.pattern!r}: {options!r}}}"
        yield Text.assemble("  or with        " if number else "  one with       ", (rule, "cyan"))
    names = ", ".join(dict.fromkeys(name for options in both.joined_by for name in options))
    yield Text(f"  `scrapy urlcanon rules NAME` says when that is wrong: {names}", "dim")
