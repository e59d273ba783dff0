"""What the actions of ``scrapy urlcanon`` have in common."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings


INTERRUPTED = 130
"""The exit status after Ctrl-C, as of any program that a shell runs: 128 and the signal."""


class Action(ABC):
    """One action: what comes after ``scrapy urlcanon`` on the command line.

    A subclass in a module of this package is all there is to it.
    """

    place: ClassVar[int]
    """Actions are listed in the order of these."""
    name: ClassVar[str]
    help: ClassVar[str]
    """In one line."""
    description: ClassVar[str]

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    @abstractmethod
    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        """Carry it out and return the exit status.

        :raises UsageError: if the arguments do not make sense.
        :raises ConfigurationError: if the rules of the project are not valid.
        """


def add_spider_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--spider``."""
    parser.add_argument(
        "--spider", metavar="NAME", help="use the rules of this spider too (its custom_settings)"
    )


def settings_of_spider(settings: Settings, name: str) -> Settings:
    """Return *settings* with the custom settings of the spider *name*.

    :raises UsageError: if the project has no such spider.
    """
    try:
        spider = get_spider_loader(settings).load(name)
    except KeyError:
        raise UsageError(f"this project has no spider {name!r}") from None
    own = settings.copy()
    spider.update_settings(own)
    return own


def say_off(reason: str) -> int:
    """Say on the standard error that crawls go by no rule, and why; return the exit status."""
    print(f"The add-on is off: {reason}. No crawl goes by these rules.", file=sys.stderr)  # noqa: T201
    return 1
