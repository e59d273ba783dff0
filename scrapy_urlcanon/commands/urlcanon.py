"""The command ``scrapy urlcanon``: finds its actions, and runs one."""

from __future__ import annotations

import argparse
import os
import sys
from errno import ENOSPC, EPIPE
from functools import cache
from io import TextIOWrapper

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.base import INTERRUPTED, Action
from scrapy_urlcanon.discovery import classes_in
from scrapy_urlcanon.exceptions import ConfigurationError, LearnError, ReportError
from scrapy_urlcanon.redaction import visible_lines


@cache
def actions() -> tuple[Action, ...]:
    """Return the actions, which are the classes of this package, in their order."""
    found = classes_in("scrapy_urlcanon.commands", Action)  # type: ignore[type-abstract]
    return tuple(action() for action in found)


class Command(ScrapyCommand):
    """``scrapy urlcanon ACTION``: the actions are :func:`actions`."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012

    def syntax(self) -> str:
        return f"{{{','.join(action.name for action in actions())}}} [arguments]"

    def short_desc(self) -> str:
        return "Explain, check and learn URL canonicalization rules"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        # Scrapy's own options go behind the action, with its arguments.
        subparsers = parser.add_subparsers(metavar="ACTION", title="Actions", required=True)
        for action in actions():
            subparser = subparsers.add_parser(
                action.name,
                help=action.help,
                description=action.description,
                prog=f"scrapy urlcanon {action.name}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
                conflict_handler="resolve",
            )
            action.add_arguments(subparser)
            super().add_options(subparser)
            subparser.set_defaults(action=action, prog=subparser.prog, refuse=subparser.error)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the action of *opts*."""
        if args:
            opts.refuse(f"unrecognized arguments: {' '.join(args)}")
        assert self.settings is not None  # noqa: S101
        if isinstance(sys.stdout, TextIOWrapper):
            # A pipe on Windows, or PYTHONIOENCODING, may know few characters.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            self.exitcode = opts.action.run(opts, self.settings)
            if sys.stdout:
                # Here, so that an error is handled below; at exit Python would print its own
                # message.
                sys.stdout.flush()
        except (UsageError, ReportError) as error:
            # One line: Scrapy would print the usage before it, most of it Scrapy's own options.
            print(f"{opts.prog}: error: {visible_lines(str(error))}", file=sys.stderr)
            self.exitcode = 2
        except (ConfigurationError, LearnError) as error:
            print(visible_lines(str(error)), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            self.exitcode = INTERRUPTED
        except OSError as error:
            # An error about a file has its name; one without a name is about the output.
            if error.filename is not None or error.errno not in {EPIPE, ENOSPC}:
                raise
            # Discard what is still buffered ("Note on SIGPIPE" in the documentation of signal).
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            # A reader that closes the pipe has seen enough: this is no error.
            if error.errno != EPIPE:
                print(f"The output cannot be written: {error.strerror}", file=sys.stderr)
                self.exitcode = 1
