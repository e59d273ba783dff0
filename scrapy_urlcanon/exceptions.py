"""The exceptions that scrapy-urlcanon raises."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.wording import count_of, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem(NamedTuple):
    """One thing that is wrong with a configuration."""

    origin: str
    """The setting or file that it is in, such as ``URLCANON_RULES``."""
    message: str
    """What is wrong and what was expected."""
    pattern: str | None = None
    """The pattern of the rule, such as ``shop.example.com/forum/``."""
    key: str | None = None
    """The option within the rule, such as ``drop_params``."""

    def __str__(self) -> str:
        # Shortened, since each may quote what is wrong, which may be a whole file.
        place = "".join(
            f"[{shortened(repr(name))}]" for name in (self.pattern, self.key) if name is not None
        )
        return f"{self.origin}{place}: {shortened(self.message)}"


class ConfigurationError(ValueError):
    """A configuration is not valid. The error has all problems at once.

    >>> from scrapy_urlcanon.canonicalizer import Canonicalizer
    >>> try:
    ...     Canonicalizer({"example.com": {"drop_parms": ["sid"]}})
    ... except ConfigurationError as error:
    ...     print(error.problems[0])
    rules['example.com']['drop_parms']: no such option; did you mean 'drop_params'?
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        """Every problem that was found, in the order of the configuration."""
        count = count_of(len(self.problems), "problem")
        lines = [f"{count} in the configuration of scrapy-urlcanon"]
        lines += [f"  {problem}" for problem in self.problems]
        super().__init__("\n".join(lines))


class _WithoutTraceback(logging.Filter):
    """Logs a :class:`ConfigurationError` without a traceback, since the code is not at fault."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Reduce *record* to the message of the error, and let it pass."""
        error = record.exc_info[1] if record.exc_info else None
        while error and not isinstance(error, ConfigurationError):
            # Scrapy closes an engine that did not open, which raises another error.
            error = error.__context__
        if isinstance(error, ConfigurationError):
            record.name, record.msg, record.args = "scrapy_urlcanon", str(error), ()
            record.exc_info = None
        return True


_WITHOUT_TRACEBACK = _WithoutTraceback()


def log_configuration_errors_plainly() -> None:
    """Log errors that end a crawl before it begins as problems of the configuration.

    Otherwise asyncio logs them with a traceback through Scrapy
    (``AsyncCrawlerRunner._crawl_and_track``), or Twisted does if the crawl is a deferred, as in a
    ``CrawlerProcess``. Twisted also prints them to standard error, which remains.
    """
    for name in ("asyncio", "twisted"):
        logging.getLogger(name).addFilter(_WITHOUT_TRACEBACK)


class UnparsableUrlError(ValueError):
    """A text is not an http or https URL, or its rules do not settle; the message says why.

    The methods of :class:`~scrapy_urlcanon.Canonicalizer` return such a text unchanged; only
    :meth:`~scrapy_urlcanon.Canonicalizer.policy` raises this.
    """


class TemplateError(ValueError):
    """A template is not valid; the message says why."""


class ReportError(ValueError):
    """A JSON report cannot be read; the message says where and why."""


class LearnError(Exception):
    """The base class of the errors of :mod:`scrapy_urlcanon.learn`."""


class InputError(LearnError):
    """An input of observations cannot be read. The message says which one and why."""


class StoreVersionError(LearnError):
    """An observation store has another version than the one supported."""


class SpillError(LearnError):
    """The observations fit neither into memory nor into the temporary directory."""


class ProcessError(LearnError):
    """A process that learned from some domains was killed."""


def did_you_mean(name: object, known: Iterable[str], *, prefix: str = "") -> str:
    """Return ``; did you mean 'x'?`` for the name in *known* nearest to *name*, or "".

    :param prefix: what all names begin with, which makes none of them like another.

    >>> did_you_mean("colapse", ["keep", "collapse"])
    "; did you mean 'collapse'?"
    >>> did_you_mean("COLLAPSE", ["keep", "collapse"])
    "; did you mean 'collapse'?"
    >>> did_you_mean("qqq", ["keep", "collapse"])
    ''
    >>> did_you_mean("MY_DEBUG", ["MY_ORDER"], prefix="MY_")
    ''
    """
    # Imported here for a faster start: few crawls have an error.
    from difflib import get_close_matches  # noqa: PLC0415

    start = prefix.lower()
    written = {known_name.lower().removeprefix(start): known_name for known_name in known}
    nearest = get_close_matches(str(name).lower().removeprefix(start), written, n=1)
    return f"; did you mean {written[nearest[0]]!r}?" if nearest else ""
