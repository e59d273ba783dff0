"""The settings of the plugin. Each is one attribute; the table in the docs is made from them."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.crawl import setting_values as read
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import example, fill, problem_of
from scrapy_urlcanon.rule_files.loading import load_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy import Spider
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.profiles.profile import Profile

PREFIX: Final = "URLCANON_"
META_KEY: Final = "urlcanon"
"""``request.meta["urlcanon"]``: False, or options for this request only."""

PAGE_KEY: Final = "urlcanon_key"
"""``request.meta["urlcanon_key"]``: a text that names the page, whatever the URL."""
DROP_KEY: Final = "urlcanon_drop"
"""``request.meta["urlcanon_drop"] = False``: fetch it though its page was requested before."""
RECORD_KEY: Final = "urlcanon_record"
"""``request.meta["urlcanon_record"] = False``: drop no other request because of this one."""
BROWSER_PAGE_KEY: Final = "playwright_page"
"""Of scrapy-playwright: the browser page that a response came from, or that the spider has open."""
BROWSER_PAGE_ASKED_KEY: Final = "playwright_include_page"
"""Of scrapy-playwright: whether the callback is to be given that page."""
ACTING_META: Final = frozenset({BROWSER_PAGE_KEY, "playwright_page_methods"})
"""Keys of requests that do more than fetch: they reuse a browser page, or act in one."""
REFETCH_KEY: Final = "urlcanon_refetch"
"""``request.meta["urlcanon_refetch"]``: fetch it though an earlier run has got its page."""

DECLARED_CANONICAL: Final = "declared_canonical"
"""The cause of a drop that no rule caused: a page that the spider has declares its URL."""
DECLARED_CANONICAL_SETTING: Final = PREFIX + DECLARED_CANONICAL.upper()
DECLARED_CANONICAL_TITLE: Final = "Do not fetch what a page declares to be its canonical URL"

STORES = HTTPCACHE, DELTAFETCH = ("HTTPCACHE_ENABLED", "DELTAFETCH_ENABLED")
"""Settings that turn on stores of pages by fingerprint that last from crawl to crawl."""

REPORT_FORMATS: Final = {
    ".html": "scrapy_urlcanon.report.page.to_html",
    ".json": "scrapy_urlcanon.report.json_form.to_json",
    ".csv": "scrapy_urlcanon.report.csv_form.to_csv",
}
"""The function that formats a report, by suffix of the file.

By path, as :data:`.components.REPORT`, since settings are checked where no report is imported.
"""
_, ERROR, KEEP = _JOB_RULES = ("warn", "error", "keep")
ITEM, TEXT, _ = _SEEN_BY = ("item", "text", "response")
SCRAPY, COMPACT, COMPACT_128, DISK = _SEEN_SETS = ("scrapy", "compact", "compact-128", "disk")
_COMPARING: Final = ("audit", "declared_canonical")
"""The attributes of the settings that have pages compared."""


def _paths_of_reports(name: str, value: Any) -> tuple[str, ...]:
    paths = read.paths(name, value)
    problems = []
    for place, path in enumerate(paths):
        problem = "it is listed twice" if path in paths[:place] else _problem_of_report(path)
        if problem:
            problems.append(Problem(name, problem, path))
    if problems:
        raise ConfigurationError(problems)
    return paths


def _problem_of_report(template: str) -> str | None:
    problem = problem_of(template)
    if problem:
        return problem
    suffix = Path(example(template)).suffix.lower()
    if suffix not in REPORT_FORMATS:
        nearest = did_you_mean(suffix, REPORT_FORMATS)
        return f"expected a name that ends in one of {', '.join(REPORT_FORMATS)}{nearest}"
    return None


class SettingAttribute:
    """What is known of a setting besides its value; it stands in for the value in the class.

    :param reader: returns the value, given the name of the setting and what Scrapy has for it.
    :param needs: the attributes of settings without any of which this one has no effect.
    :param file: what a crawl does with the files that the setting names.
    """

    name: str

    def __init__(
        self,
        reader: Callable[[str, Any], Any],
        *,
        default: object,
        needs: tuple[str, ...] = (),
        file: Literal["read", "written"] | None = None,
    ) -> None:
        self.read = reader
        self.default = default
        self.needs = needs
        self.file = file

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


_setting: Any = SettingAttribute
"""For the type checker: on an instance the attribute is the value."""


# Not an attrs class: generating it took a tenth of the time to import the plugin.
class CrawlSettings:
    """The values of all settings. The docstring below each attribute is Markdown, for the docs.

    >>> from scrapy.settings import Settings
    >>> CrawlSettings.load(Settings({"URLCANON_RESCUE_MAX_PENDING": "10"})).rescue_max_pending
    10
    """

    enabled: bool = _setting(read.flag, default=True)
    """Whether the add-on does anything."""
    preset: Any = _setting(lambda _, value: value, default=DEFAULT_PRESET)
    """`"scrapy"`, `"safe"` or `"aggressive"`."""
    rules: Any = _setting(read.rules, default={})
    """Options by pattern."""
    rules_files: tuple[Any, ...] = _setting(read.paths, default=(), file="read")
    """Paths of TOML or JSON files of the same shape, or [of other programs](importing.md)."""
    spider_rules: Any = _setting(read.rules, default={})
    """Options by pattern, for `custom_settings`."""
    profiles: bool | tuple[Any, ...] = _setting(read.profiles, default=True)
    """Use [what is known about the programs](profiles.md) that sites run on: `True`, `False`, or a
    list of names of programs and paths of your own files, in which `"*"` stands for all built-in
    ones."""
    clean_param: bool = _setting(read.flag, default=False)
    """Apply the `Clean-param` lines of each robots.txt."""
    declared_canonical: bool = _setting(read.flag, default=False)
    """Drop requests for the canonical URL that a fetched page declares, [where that has proved
    right](reliability.md#declared-canonicals)."""
    skip_places: str | None = _setting(read.path_of_input, default=None, file="read")
    """The file of `scrapy urlcanon learn --places`, which says [where the pages of skipped URLs
    are](learning.md#where-skipped-pages-are), so that they are fetched there."""
    rewrite: bool | frozenset[str] = _setting(read.sites, default=False)
    """`True` or a list of hosts: fetch the canonical URL instead of the linked one; each
    parameter is spelled as it is in the link."""
    fallback_request_fingerprinter_class: Any = _setting(read.fingerprinter, default=None)
    """The fingerprinter that gets each request with its canonical URL; by default Scrapy's."""
    rescue: bool = _setting(read.flag, default=True)
    """Fetch a dropped variant if the request that stood for it fails."""
    rescue_max_pending: int = _setting(read.count, default=100_000)
    """How many dropped requests may wait for the outcome of another one."""
    pending_max_bytes: int = _setting(read.count, default=100_000_000)
    """About how many bytes the waiting requests may take, with their `meta`. The same limit applies
    to those remembered for the audit, and to those for declared canonicals."""
    remembered_pages: int = _setting(read.count, default=2_000_000)
    """How many pages the crawl remembers as fetched; for the half of them that were linked last it
    always does. A forgotten page is [fetched again](reliability.md#rescue) if another of its URLs
    is linked."""
    audit: float = _setting(read.share, default=0.0)
    """The share of dropped variants and skipped URLs that is fetched anyway, to compare. Audits
    take at most the same share of all fetches, except for [the first of each entry on each
    domain](reliability.md#audit). 1 means all of them."""
    audit_max_false: float = _setting(read.share, default=0.1, needs=_COMPARING)
    """The rate of false merges above which an entry of an option is suspended on a domain: of all
    that are audited there, or of those in one section of it."""
    audit_max_pending: int = _setting(read.count, default=10_000, needs=_COMPARING)
    """How many dropped requests are remembered, to fetch them if their rule is suspended."""
    audit_max_pages: int = _setting(read.count, default=100_000, needs=_COMPARING)
    """For how many pages their content, and what other pages declare about them, is remembered."""
    audit_max_size: int = _setting(read.count, default=1_048_576)
    """The largest response, in bytes, whose text is compared. Of larger ones the bytes are."""
    record: str | None = _setting(read.path_of_store, default=None, file="written")
    """The file in which the crawl records what it sees, [to learn from](learning.md); `%(name)s` is
    the name of the spider and `%(time)s` the time of the start."""
    record_revisits: bool = _setting(read.flag, default=True, needs=("record",))
    """While recording, fetch a few pages a second time, 11 of 240 and 23 of 30,000, [to tell noise
    from content](learning.md#what-the-store-holds)."""
    report: tuple[str, ...] = _setting(_paths_of_reports, default=(), file="written")
    """Where to write [the report](report.md): one or more paths."""
    seen: str | None = _setting(read.path_of_store, default=None, file="written")
    """The file of [the pages that earlier runs got](earlier-runs.md), which are not fetched again;
    `%(name)s` is the name of the spider."""
    seen_by: str = _setting(read.one_of(*_SEEN_BY), default=ITEM, needs=("seen",))
    """Which pages count as got: those that gave an `"item"`, those whose callback got `"text"`, or
    those whose callback got a `"response"` that is a success and not empty."""
    seen_expires: Any = _setting(read.expiry, default={}, needs=("seen",))
    """After how long a page is fetched again: seconds, or a text such as `"12h"` or `"30d"`; or a
    mapping from hosts, and `*`, to these. Unset: never."""
    order: str | None = _setting(read.order, default=None)
    """`"novelty"`: fetch first the pages that will probably [bring something new](order.md)."""
    order_by: Any = _setting(read.order_by, default=TEXT, needs=("order",))
    """What counts as new: `"text"`, `"items"`, or a callable (or its path) that returns a number
    for a response and the list of its items."""
    order_lines: int = _setting(read.count, default=1 << 21, needs=("order",))
    """How many lines of text are remembered, at 5 bytes each."""
    stop: float = _setting(read.share_of_rest, default=0.0, needs=("order",))
    """Close the crawl when less than this share of the waiting requests [brings anything
    new](order.md#when-it-is-done), as a random sample of them shows; needs `URLCANON_ORDER`. With 0
    it goes on."""
    left: str = _setting(
        read.path_of_file,
        default="urlcanon-left-%(name)s.jsonl",
        needs=("stop",),
        file="written",
    )
    """Where to write the requests that are then not fetched."""
    take_up: str | None = _setting(read.path_of_store, default=None, file="read")
    """The `URLCANON_LEFT` file of an earlier crawl, whose requests are scheduled first; `%(name)s`
    is the name of the spider."""
    record_start: bool = _setting(read.flag, default=False)
    """Record start requests as seen: a link to a start page is dropped, [and its callback with
    it](reliability.md#start-requests)."""
    seen_set: str = _setting(read.one_of(*_SEEN_SETS), default=SCRAPY)
    """Where fingerprints of requests are kept: `"scrapy"`, `"compact"`, `"compact-128"` or
    `"disk"`, [depending on the size of the crawl](memory.md#what-was-seen)."""
    job_rules: str = _setting(read.one_of(*_JOB_RULES), default="warn")
    """What to do if the rules of a resumed job changed: `"warn"`, `"error"` or `"keep"`."""
    job_journal: bool = _setting(read.flag, default=True)
    """Keep a journal of what a job does, so that a kill loses nothing."""

    def __init__(self, configuration: Configuration, **values: Any) -> None:
        """Store the *values* of all settings, by attribute."""
        self.configuration = configuration
        """The rules of all layers but ``request.meta``; made from four settings."""
        vars(self).update(values)

    def having(self, **values: Any) -> Self:
        """Return a copy of these settings with other *values*."""
        return type(self)(**vars(self) | values)

    def chosen_profiles(self) -> tuple[Profile, ...]:
        """Return the profiles that :attr:`profiles` selects."""
        from scrapy_urlcanon.profiles.catalogue import chosen  # noqa: PLC0415

        choice = self.profiles
        if isinstance(choice, bool):
            choice = ("*",) if choice else ()
        return chosen(choice, setting=name_of("profiles"))

    @property
    def changes_urls(self) -> bool:
        """Whether the crawl may fetch other URLs than those that the spider asked for.

        If so, the first request for a URL may be for a callback that never asked for that URL.
        """
        return bool(self.rewrite or self.skip_places)

    def seen_file(self, spider: Spider | None) -> Path | None:
        """Return the file of ``URLCANON_SEEN`` for *spider*, or None if there is none."""
        return _filled(self.seen, spider.name) if spider and self.seen else None

    def take_up_file(self, spider: Spider | type[Spider] | None) -> Path | None:
        """Return the file of ``URLCANON_TAKE_UP`` for *spider*, or None if there is none.

        :param spider: None if no spider is meant; then there is none that depends on the spider.
        """
        if not self.take_up or (spider is None and "%(name)s" in self.take_up):
            return None
        return _filled(self.take_up, spider.name if spider else "")

    def doubts(self) -> Iterator[str]:
        """Yield warnings about valid values that are probably not what was intended.

        They are about settings without effect, and about doubtful rules.
        """
        for attribute in attributes():
            is_set = getattr(self, attribute.name) != attribute.default
            needed = attribute.needs
            if is_set and needed and not any(getattr(self, name) for name in needed):
                names = " or ".join(map(name_of, needed))
                yield f"{name_of(attribute.name)} has no effect without {names}."
        if self.skip_places and not self.configuration.sets(SKIP):
            yield (
                f"{name_of('skip_places')} has no effect: no rule skips anything. `learn --skip` "
                "turns such rules on."
            )
        yield from map(str, self.configuration.doubts())

    @classmethod
    def load(cls, settings: BaseSettings) -> Self:
        """Return the values in *settings*.

        :raises ConfigurationError: with all problems of all settings of the plugin.
        """
        problems = list(_unknown_names(settings))
        values: dict[str, Any] = {}
        for attribute in attributes():
            try:
                values[attribute.name] = _value_of(attribute, settings)
            except ConfigurationError as error:
                problems += error.problems
        try:
            values["configuration"] = load_configuration(
                values["preset"],
                rules_files=values.get("rules_files", ()),
                rules=[
                    (name_of(attribute), values[attribute])
                    for attribute in ("rules", "spider_rules")
                    if attribute in values
                ],
                setting_names=(name_of("preset"), name_of("rules_files")),
            )
        except ConfigurationError as error:
            problems += error.problems
        problems += _written_over(values, settings["JOBDIR"])
        if problems:
            raise ConfigurationError(problems)
        return cls(**values)


def _filled(template: str, spider: str) -> Path:
    return Path(fill(template, name=spider, time=datetime.now(timezone.utc)))


def name_of(attribute: str) -> str:
    """Return the name of the setting for *attribute*."""
    return PREFIX + attribute.upper()


def value_of(attribute: str, settings: BaseSettings) -> Any:
    """Return the value of one setting, without loading the others.

    :raises ConfigurationError: if it is not valid, with all problems of all settings.
    """
    try:
        return _value_of(vars(CrawlSettings)[attribute], settings)
    except ConfigurationError:
        # To report all problems at once.
        CrawlSettings.load(settings)
        raise


def configuration_of(settings: BaseSettings) -> Configuration:
    """Return the rules in *settings*, from all layers but ``request.meta``.

    :raises ConfigurationError: with all problems of all settings of the plugin.
    """
    return CrawlSettings.load(settings).configuration


def attributes() -> tuple[SettingAttribute, ...]:
    """Return what is known of each setting."""
    named = vars(CrawlSettings).values()
    return tuple(attribute for attribute in named if isinstance(attribute, SettingAttribute))


def _value_of(attribute: SettingAttribute, settings: BaseSettings) -> Any:
    name = name_of(attribute.name)
    value = settings.get(name)
    return attribute.default if value is None else attribute.read(name, value)


NAMES: Final = tuple(name_of(attribute.name) for attribute in attributes())
"""The names of all settings of the plugin."""


def _unknown_names(settings: BaseSettings) -> Iterator[Problem]:
    for name in settings:
        # Only a command line or ``custom_settings`` can have it in lower case.
        if isinstance(name, str) and name.upper().startswith(PREFIX) and name not in NAMES:
            yield Problem(name, "no such setting" + did_you_mean(name, NAMES, prefix=PREFIX))


SCRAPY_FILE: Final = "requests.seen"
"""The file of Scrapy's own set of seen requests (``scrapy/dupefilters.py``)."""
_OF_JOB: Final = (SCRAPY_FILE, "spider.state")
"""The files that Scrapy keeps in ``JOBDIR`` (``dupefilters.py``, ``extensions/spiderstate.py``)."""
_TAKEN_AND_LEFT: Final = (name_of("take_up"), name_of("left"))


def _written_over(values: Mapping[str, Any], job: str | None) -> Iterator[Problem]:
    """Yield a problem for each file that two settings name, if one of them writes it.

    ``URLCANON_TAKE_UP`` and ``URLCANON_LEFT`` may name the same: the old file is renamed first.

    :param job: the directory in which Scrapy keeps files of its own.
    """
    named = {os.path.abspath(os.path.join(job, file)): "JOBDIR" for file in _OF_JOB if job}  # noqa: PTH100, PTH118
    # Files that are read come first.
    for attribute in sorted(attributes(), key=lambda each: each.file == "written"):
        name, kind = name_of(attribute.name), attribute.file
        value = values.get(attribute.name) if kind else None
        for path in (value,) if isinstance(value, str) else value or ():
            # Of the files that are read only what an earlier crawl left may have placeholders.
            path_of_file = example(path) if kind == "written" or name in _TAKEN_AND_LEFT else path
            file = os.path.abspath(path_of_file)  # noqa: PTH100 - any text, and no look at the disk
            if file not in named:
                named[file] = name
            elif kind == "written" and (named[file], name) != _TAKEN_AND_LEFT:
                message = f"{named[file]} names this file too: give each one of its own"
                yield Problem(name, message, path)
