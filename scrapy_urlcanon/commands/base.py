"""What the actions of ``scrapy urlcanon`` have in common."""

from __future__ import annotations

import os
import sys
import tempfile
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.exceptions import UnparsableUrlError
from scrapy_urlcanon.files import is_special

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress
    from scrapy.settings import Settings


INTERRUPTED = 130
"""The exit status after Ctrl-C, as of any program that a shell runs: 128 and the signal."""


def lines_of_input() -> Iterator[str]:
    """Yield the lines of the standard input, without the byte order mark of editors on Windows.

    :raises UsageError: if it is no text.
    """
    try:
        for number, line in enumerate(sys.stdin or ()):
            yield line if number else line.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        message = f"the standard input is no text in {error.encoding}: {error.reason}"
        raise UsageError(message) from error


class Action(ABC):
    """One action: what comes after ``scrapy urlcanon`` on the command line.

    To add one, put a subclass into a module of this package.
    """

    place: ClassVar[int]
    """Actions are listed in the order of their places."""
    name: ClassVar[str]
    help: ClassVar[str]
    """What it does, in one line."""
    description: ClassVar[str]

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    @abstractmethod
    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        """Carry out the action and return the exit status.

        :raises UsageError: if the arguments do not make sense.
        :raises ConfigurationError: if the rules of the project are not valid.
        :raises LearnError: if an input of observations cannot be read.
        :raises ReportError: if a report cannot be read.
        """


def add_spider_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--spider``."""
    parser.add_argument(
        "--spider",
        metavar="NAME",
        help="also apply the rules in the custom_settings of this spider",
    )


def domain_of_argument(host: str) -> str:
    """Return the registrable domain of the value of ``--domain``, or its host if it has none.

    >>> domain_of_argument("www.Shop.example")
    'shop.example'

    :raises UsageError: if *host* is no host.
    """
    text = f"http://{host}/"
    try:
        url = normalize(parse(text, []), [])
    except UnparsableUrlError:
        url = None
    if url is None or (url.path, url.query, url.userinfo, url.fragment) != ("/", None, None, None):
        raise UsageError(f"--domain: expected a host, such as shop.example, got {host!r}")
    return domain_of(text)


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
    """Print to standard error that no crawl uses the rules, and why; return the exit status."""
    print(f"The add-on is off: {reason}. No crawl uses these rules.", file=sys.stderr)
    return 1


def check_output(output: Path, inputs: Sequence[Path], suffix: str) -> None:
    """Check that a result can be written, before an hour of work is spent on it.

    :param suffix: what the name of *output* must end in, so that no other file is overwritten by
        mistake; empty if any name will do.
    :raises UsageError: if *output* is one of the inputs, has another suffix, or cannot be written.
    """
    try:
        if output.is_dir():
            raise UsageError(f"{output}: expected a file, not a directory")
        if is_special(output):
            return
        # If it is a link, the file that it leads to is written.
        directory = Path(os.path.realpath(output)).parent if output.is_symlink() else output.parent
        if not directory.is_dir():
            raise UsageError(f"{directory}: no such directory")
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UsageError(not_written(output, error)) from error
    if any(_is_same(output, path) for path in inputs):
        raise UsageError(f"{output} is an input, and would be overwritten")
    if suffix and output.suffix.lower() != suffix:
        raise UsageError(f"{output}: expected a name that ends in {suffix}")


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        # One does not exist or cannot be accessed: reading or writing it will say so.
        return False


def not_written(path: str | Path, error: OSError) -> str:
    """Return a message that *path* cannot be written, why, and what to do."""
    return f"{path}: cannot be written: {error.strerror or error}; name a file elsewhere"


def shown(progress: Progress) -> AbstractContextManager[object]:
    """Return a context that shows *progress*, or nothing if it is disabled.

    Older releases of rich (13.0) print an empty line at the end of a disabled one.
    """
    return nullcontext() if progress.disable else progress
