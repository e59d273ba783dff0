"""The settings of what sees to it that no page is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings
    from typing_extensions import Self


@frozen
class Safeguards:
    """The values of the settings; each attribute is named after its own.

    >>> from scrapy.settings import Settings
    >>> Safeguards.load(Settings({"URLCANON_RESCUE_MAX_PENDING": "10"})).rescue_max_pending
    10
    """

    rescue: bool = True
    """Whether a variant is fetched when the request that stood for it failed."""
    rescue_max_pending: int = 100_000
    """How many dropped requests may wait for the outcome of another one."""
    remembered_pages: int = 2_000_000
    """Of how many pages it is remembered whether they were fetched."""
    audit: float = 0.0
    """The share of the dropped variants that are fetched all the same, to compare them."""
    audit_max_false: float = 0.1
    """The rate of false merges past which a rule is suspended for a domain."""
    audit_max_pending: int = 10_000
    """How many dropped requests are remembered in case that their rule is suspended."""
    audit_max_pages: int = 100_000
    """Of how many pages the content is remembered, some 700 bytes each."""
    audit_max_size: int = 1_048_576
    """Up to which size, in bytes, the text of a response is read."""
    record_start: bool = False
    """Whether start requests are recorded as seen.

    Off, as in Scrapy: a start page that links to itself is fetched twice, one request
    too many. On, the link is dropped, and with it the callback that it would have had:
    a ``CrawlSpider`` never applies its rules' callbacks to a start response.
    """
    declared_canonical: bool = False
    """Whether what a page declares to be its canonical URL is taken as seen, once that way of
    declaring has proved right. Off: a site that has it wrong costs pages."""
    job_rules: str = "warn"
    """What to do where the rules changed since a job began: ``warn``, ``error`` or ``keep``."""
    job_journal: bool = True
    """Whether a job writes down what it does, so that a kill loses nothing."""

    @classmethod
    def load(cls, settings: BaseSettings) -> Self:
        """Return what *settings* say.

        :raises ConfigurationError: with all problems at once.
        """
        values: dict[str, Any] = {}
        problems = []
        for name, (expected, convert) in _SETTINGS.items():
            value = settings.get(name)
            if value is None:
                continue
            try:
                values[name.removeprefix("URLCANON_").lower()] = convert(value)
            except (TypeError, ValueError):
                message = f"expected {expected}, got {value!r}"
                if name in _CHOICES:
                    message += did_you_mean(value, _CHOICES[name])
                problems.append(Problem(name, message))
        if problems:
            raise ConfigurationError(problems)
        return cls(**values)


def _flag(value: object) -> bool:
    if value in {True, "1", "true", "True"}:
        return True
    if value in {False, "0", "false", "False"}:
        return False
    raise ValueError


def _count(value: Any) -> int:
    if isinstance(value, (bool, float)) or int(value) < 0:
        raise ValueError
    return int(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError
    return float(value)


def _job_rules(value: Any) -> str:
    if value not in _CHOICES["URLCANON_JOB_RULES"]:
        raise ValueError
    return str(value)


_FLAG = ("True or False", _flag)
_COUNT = ("a number of 0 or more", _count)

_SHARE = ("a number from 0 to 1", _share)

_CHOICES = {"URLCANON_JOB_RULES": ("warn", "error", "keep")}

_SETTINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "URLCANON_RESCUE": _FLAG,
    "URLCANON_RESCUE_MAX_PENDING": _COUNT,
    "URLCANON_REMEMBERED_PAGES": _COUNT,
    "URLCANON_RECORD_START": _FLAG,
    "URLCANON_DECLARED_CANONICAL": _FLAG,
    "URLCANON_JOB_RULES": ("'warn', 'error' or 'keep'", _job_rules),
    "URLCANON_JOB_JOURNAL": _FLAG,
    "URLCANON_AUDIT": _SHARE,
    "URLCANON_AUDIT_MAX_FALSE": _SHARE,
    "URLCANON_AUDIT_MAX_PENDING": _COUNT,
    "URLCANON_AUDIT_MAX_PAGES": _COUNT,
    "URLCANON_AUDIT_MAX_SIZE": _COUNT,
}

NAMES = tuple(_SETTINGS)
"""The names of these settings."""
