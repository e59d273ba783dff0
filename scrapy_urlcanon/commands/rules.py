"""``scrapy urlcanon rules``: the catalogue."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET, PRESETS
from scrapy_urlcanon.canonicalizer.rules import (
    ALWAYS_ON,
    BY_NAME,
    CATALOGUE,
)
from scrapy_urlcanon.canonicalizer.rules.documentation import (
    normalization_page,
    rule_page,
    title_of,
)
from scrapy_urlcanon.commands.base import Action
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import did_you_mean
from scrapy_urlcanon.rule_files.loading import load_configuration

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import Settings


class Rules(Action):
    """List the options, or show the page of one."""

    place = 20
    name = "rules"
    help = "list the options, or show all about one"
    description = """\
List the options with their value in the preset of the project, or show the page of one:
what it does, why it is safe, when it is wrong, its values and examples. What is always on has a
page too, with what it does and examples.

  scrapy urlcanon rules
  scrapy urlcanon rules trailing_slash
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("option", nargs="?", metavar="NAME", help="show all about this option")

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        if arguments.option is None:
            print("\n".join(_list(_preset_of(settings))))
            return 0
        pages = {name: partial(rule_page, rule) for name, rule in BY_NAME.items()}
        pages |= {rule.name: partial(normalization_page, rule) for rule in ALWAYS_ON}
        page = pages.get(arguments.option)
        if page is None:
            # Options are proposed rather than normalizations, since they can be set.
            name = arguments.option
            nearest = did_you_mean(name, BY_NAME) or did_you_mean(name, pages)
            message = f"no such option: {name}{nearest}"
            raise UsageError(message)
        print(page())
        return 0


def _preset_of(settings: Settings) -> str:
    """Return the preset of *settings*, without reading their rules, which may not be valid.

    :raises ConfigurationError: if there is none of that name.
    """
    name = name_of("preset")
    preset = settings.get(name, DEFAULT_PRESET)
    return load_configuration(preset, setting_names=(name, name_of("rules_files"))).preset


def _list(preset: str) -> Iterator[str]:
    width = max(map(len, BY_NAME))
    yield f"Options (with their value in the preset {preset!r})"
    for rule in CATALOGUE:
        yield f"  {rule.name:{width}}  {title_of(rule.name)} ({PRESETS[preset][rule.name]!r})"
    yield "Always on"
    for normalization in ALWAYS_ON:
        yield f"  {normalization.name:{width}}  {title_of(normalization.name)}"
