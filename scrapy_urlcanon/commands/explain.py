"""``scrapy urlcanon explain``: how a URL becomes its canonical form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import asdict

from scrapy_urlcanon.commands.base import Action, add_spider_argument, canonicalizer_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import Settings

    from scrapy_urlcanon.canonicalizer import Explanation


class Explain(Action):
    """Show each step to the canonical URL, with the layer that turned it on."""

    name = "explain"
    help = "show how URLs become canonical: each step, and what turned it on"
    description = """\
Show how each URL becomes its canonical form: every normalization and option that
changed it, in order, and the layer of the configuration that turned it on.

  scrapy urlcanon explain 'http://www.example.com:80/?utm_source=x&b=2&a=1#top'
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL")
        parser.add_argument("--json", action="store_true", help="one JSON object for each URL")
        add_spider_argument(parser)

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        canonicalizer = canonicalizer_of(arguments, settings)
        show = _as_json if arguments.json else _as_text
        for url in arguments.urls:
            print(show(canonicalizer.explain(url)))  # noqa: T201
        return 0


def _as_json(explanation: Explanation) -> str:
    return json.dumps(asdict(explanation), ensure_ascii=False)


def _as_text(explanation: Explanation) -> str:
    return "\n".join(_lines(explanation))


def _lines(explanation: Explanation) -> Iterator[str]:
    yield explanation.url
    width = max((len(step.option) for step in explanation.steps), default=0)
    for step in explanation.steps:
        yield f"  {step.option:{width}}  {step.after}  ({step.layer})"
    if explanation.problem:
        yield f"  is left as it is: {explanation.problem}"
    elif not explanation.steps:
        yield "  is canonical"
