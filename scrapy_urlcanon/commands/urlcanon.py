"""The command ``scrapy urlcanon``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.check import Check
from scrapy_urlcanon.commands.compare import Compare
from scrapy_urlcanon.commands.explain import Explain
from scrapy_urlcanon.commands.learn import Learn
from scrapy_urlcanon.commands.report import ShowReport
from scrapy_urlcanon.commands.rules import Rules
from scrapy_urlcanon.commands.validate import Validate
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from scrapy_urlcanon.commands.base import Action

ACTIONS: tuple[Action, ...] = (
    Explain(),
    Rules(),
    Check(),
    ShowReport(),
    Compare(),
    Learn(),
    Validate(),
)


class Command(ScrapyCommand):
    """``scrapy urlcanon ACTION``: the actions are :data:`ACTIONS`."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012

    def syntax(self) -> str:
        return f"{{{','.join(action.name for action in ACTIONS)}}} [arguments]"

    def short_desc(self) -> str:
        return "Explain, check and learn URL canonicalization rules"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        # Scrapy's own options go behind the action, with its arguments.
        actions = parser.add_subparsers(metavar="ACTION", title="Actions", required=True)
        for action in ACTIONS:
            subparser = actions.add_parser(
                action.name,
                help=action.help,
                description=action.description,
                prog=f"scrapy urlcanon {action.name}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
                conflict_handler="resolve",
            )
            action.add_arguments(subparser)
            super().add_options(subparser)
            subparser.set_defaults(action=action)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the action of *opts*."""
        if args:
            raise UsageError(f"unrecognized arguments: {' '.join(args)}", print_help=False)
        assert self.settings is not None  # noqa: S101
        try:
            self.exitcode = opts.action.run(opts, self.settings)
        except ConfigurationError as error:
            print(error, file=sys.stderr)  # noqa: T201
            self.exitcode = 1
        except BrokenPipeError:
            # The reader of a pipe has seen enough. Python would complain at exit.
            sys.stderr.close()
            self.exitcode = 0
