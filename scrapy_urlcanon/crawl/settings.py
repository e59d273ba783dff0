"""The settings of the plugin: each is one attribute, and the table of the docs is made of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import Attribute, field, fields, frozen
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import example, problem_of, problem_of_file
from scrapy_urlcanon.rule_files.loading import load_configuration as load_rules
from scrapy_urlcanon.wording import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.profiles.profile import Profile

PREFIX: Final = "URLCANON_"
META_KEY: Final = "urlcanon"
"""``request.meta["urlcanon"]``: False, or options for this request alone."""

PAGE_KEY: Final = "urlcanon_key"
"""``request.meta["urlcanon_key"]``: a text that names the page, whatever the URL."""
DROP_KEY: Final = "urlcanon_drop"
"""``request.meta["urlcanon_drop"] = False``: fetch it though its page was requested before."""
RECORD_KEY: Final = "urlcanon_record"
"""``request.meta["urlcanon_record"] = False``: drop no other request because of this one."""
BROWSER_PAGE_KEY: Final = "playwright_page"
"""Of scrapy-playwright: the page of the browser that a response, or the spider, has open."""
ACTING_META: Final = frozenset({BROWSER_PAGE_KEY, "playwright_page_methods"})
"""Of requests that do more than fetch: they go on in a page of the spider's, or click in one."""
REFETCH_KEY: Final = "urlcanon_refetch"
"""``request.meta["urlcanon_refetch"]``: fetch it though an earlier run has got its page."""

DECLARED_CANONICAL: Final = "declared_canonical"
"""To what a drop is due where no rule is: a page that the spider has declares its URL."""
DECLARED_CANONICAL_SETTING: Final = PREFIX + DECLARED_CANONICAL.upper()
DECLARED_CANONICAL_TITLE: Final = "Do not fetch what a page declares to be its canonical URL"

STORES = HTTPCACHE, DELTAFETCH = ("HTTPCACHE_ENABLED", "DELTAFETCH_ENABLED")
"""Settings that turn on what stores pages by their fingerprints from crawl to crawl."""

REPORT_FORMATS: Final = {
    ".html": "scrapy_urlcanon.report.page.to_html",
    ".json": "scrapy_urlcanon.report.json_form.to_json",
    ".csv": "scrapy_urlcanon.report.csv_form.to_csv",
}
"""By the suffix of a file the function that makes its text of a report.

By its path, as :data:`.components.REPORT`: settings are checked where no report is imported.
"""
_OFF: Final = (False, "", "0", "false", "False", "none", "None")
"""What a command line may have for no path and no order; a file of such a name is ``./False``."""
_JOB_RULES: Final = ("warn", "error", "keep")
_ORDERS: Final = ("novelty",)
ITEM, TEXT, _ = _SEEN_BY = ("item", "text", "response")
SCRAPY, COMPACT, COMPACT_128, DISK = _SEEN_SETS = ("scrapy", "compact", "compact-128", "disk")


def _flag(name: str, value: Any) -> bool:
    if value in (True, "1", "true", "True"):
        return True
    if value in (False, "0", "false", "False"):
        return False
    raise _expected(name, "True or False", value)


def _count(name: str, value: Any) -> int:
    try:
        if not isinstance(value, (bool, float)) and int(value) >= 0:
            return int(value)
    except (TypeError, ValueError):
        pass
    raise _expected(name, "a whole number of 0 or more", value)


def _profiles(name: str, value: Any) -> bool | tuple[Any, ...]:
    """Return whether there are any, or names and paths; that there are such is checked."""
    if not isinstance(value, (list, tuple)):
        try:
            return _flag(name, value)
        except ConfigurationError:
            if not isinstance(value, str):
                raise _expected(name, "True, False, or names and paths", value) from None
    paths = _paths(name, value)
    if paths:
        # Few crawls name any, and all would wait for the import.
        from scrapy_urlcanon.profiles.catalogue import chosen  # noqa: PLC0415

        chosen(paths, setting=name)
    return paths


def _share(name: str, value: Any) -> float:
    try:
        if not isinstance(value, bool) and 0 <= float(value) <= 1:
            return float(value)
    except (TypeError, ValueError):
        pass
    raise _expected(name, "a number from 0 to 1", value)


def _order(name: str, value: Any) -> str | None:
    if value in (*_OFF, *_ORDERS):
        return None if value in _OFF else str(value)
    raise _expected(name, "'novelty' or nothing", value, _ORDERS)


def _one_of(*known: str) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if value in known:
            return str(value)
        *others, last = map(repr, known)
        raise _expected(name, f"{', '.join(others)} or {last}", value, known)

    return read


def _expiry(name: str, value: Any) -> dict[str, float]:
    """Return seconds by host, `*` for all others; 0 for never."""
    is_json = isinstance(value, str) and value.lstrip().startswith("{")
    is_by_host = is_json or isinstance(value, (dict, BaseSettings))
    by_host = _rules(name, value) if is_by_host else {"*": value}
    found, problems = {}, []
    for host, text in by_host.items():
        place = str(host) if is_by_host else None
        seconds = seconds_of(text)
        if seconds is None:
            message = f"expected a time such as 3600, '12h' or '30d', got {text!r}"
            problems.append(Problem(name, message, place))
            continue
        try:
            found[host if host == "*" else _host(host)] = seconds
        except (TypeError, ValueError) as error:
            problems.append(Problem(name, str(error), place))
    if problems:
        raise ConfigurationError(problems)
    return found


def _order_by(name: str, value: Any) -> Any:
    """Return *value*, or the callable that it is the path of."""
    if value in ("text", "items") or callable(value):
        return value
    try:
        if isinstance(value, str) and "." in value and callable(found := load_object(value)):
            return found
    except (ImportError, NameError, ValueError) as error:
        message = f"expected the path of a callable, got {value!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from error
    expected = "'text', 'items' or the path of a callable"
    raise _expected(name, expected, value, ("text", "items"))


def _rules(name: str, value: Any) -> Any:
    """Return *value* as plain data: a command line gives JSON, Scrapy its own mapping."""
    if isinstance(value, str):
        return _json(name, value, "a mapping")
    return value.copy_to_dict() if isinstance(value, BaseSettings) else value


def _json(name: str, text: str, expected: str) -> Any:
    # From the command line: few crawls are to wait for the import.
    from scrapy_urlcanon.rule_files.documents import parse_json  # noqa: PLC0415

    try:
        return parse_json(text, unique_keys=True)
    except ValueError as error:
        message = f"expected {expected} or JSON, got {text!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from None


def _listed(name: str, text: str) -> list[Any]:
    """Return the list that *text* is: JSON, or names with commas between, as Scrapy takes it."""
    if text.lstrip().startswith("["):
        return list(_json(name, text, "names with commas between"))
    return [part.strip() for part in text.split(",") if part.strip()]


def _paths(name: str, value: Any) -> tuple[str, ...]:
    if value in _OFF:
        return ()
    if isinstance(value, str):
        value = _listed(name, value)
    elif isinstance(value, os.PathLike):
        value = [value]
    elif not isinstance(value, (list, tuple)):
        raise _expected(name, "a path or a list of paths", value)
    wrong = [path for path in value if not isinstance(path, (str, os.PathLike))]
    if wrong:
        raise ConfigurationError(
            [problem for path in wrong for problem in _expected(name, "a path", path).problems]
        )
    return tuple(map(_at_home, value))


def _at_home(path: str | os.PathLike[str]) -> str:
    """Return *path* with what ``~`` stands for: no shell has done that in a setting."""
    return str(os.path.expanduser(os.fspath(path)))  # noqa: PTH111 - a path that may not exist


def _any(name: str, value: Any) -> Any:
    """Return *value*: it is checked where it is used."""
    del name
    return value


def _fingerprinter(name: str, value: Any) -> Any:
    """Return the class that *value* is, or is the path of."""
    if not value:
        return None
    try:
        found = load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        message = f"expected the path of a fingerprinter class, got {value!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from error
    if not callable(getattr(found, "fingerprint", None)):
        raise _expected(name, "a class with a method fingerprint(request)", value)
    return found


def _sites(name: str, value: Any) -> bool | frozenset[str]:
    if isinstance(value, str) and ("." in value or value.lstrip().startswith("[")):
        value = _listed(name, value)
    if not isinstance(value, (list, tuple)):
        try:
            return _flag(name, value)
        except ConfigurationError:
            raise _expected(name, "True, False or a list of hosts", value) from None
    hosts, problems = set(), []
    for text in value:
        try:
            hosts.add(_host(text))
        except (TypeError, ValueError) as error:
            problems.append(Problem(name, str(error), str(text)))
    if problems:
        raise ConfigurationError(problems)
    return frozenset(hosts)


def _host(text: Any) -> str:
    """Return the host that *text* is, as it stands in URLs.

    :raises TypeError: if it is no text.
    :raises ValueError: if it is anything else than a host.
    """
    pattern = parse_pattern(text)
    if not pattern.is_for_whole_host or "*" in pattern.host:
        raise ValueError("expected a host without a path and without a '*'")
    return pattern.host


def _path_of_store(name: str, value: Any) -> str | None:
    return None if value in _OFF else _path_of_file(name, value)


def _path_of_file(name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)) or value in (*_OFF, "true", "True"):
        raise _expected(name, "a path", value)
    template = _at_home(value)
    problem = problem_of_file(template)
    if problem:
        raise ConfigurationError([Problem(name, problem, template)])
    return template


def _paths_of_reports(name: str, value: Any) -> tuple[str, ...]:
    paths = _paths(name, value)
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


def _expected(name: str, expected: str, value: object, known: Any = ()) -> ConfigurationError:
    nearest = did_you_mean(value, known) if isinstance(value, str) else ""
    return ConfigurationError([Problem(name, f"expected {expected}, got {value!r}{nearest}")])


def _setting(read: Callable[[str, Any], Any], *, default: object) -> Any:
    """Return the attribute of a setting.

    :param read: returns the value of the setting, given its name and what Scrapy has of it.
    """
    return field(default=default, metadata={"read": read})


# What makes values equal, and shows them, is code that every crawl would wait for.
@frozen(kw_only=True, eq=False, repr=False)
class CrawlSettings:
    """The values of the settings; each attribute is named after its own, its docstring Markdown.

    >>> from scrapy.settings import Settings
    >>> CrawlSettings.load(Settings({"URLCANON_RESCUE_MAX_PENDING": "10"})).rescue_max_pending
    10
    """

    enabled: bool = _setting(_flag, default=True)
    """Whether the add-on does anything."""
    preset: Any = _setting(_any, default=DEFAULT_PRESET)
    """`"scrapy"`, `"safe"` or `"aggressive"`."""
    rules: Any = _setting(_rules, default={})
    """Options by pattern."""
    rules_files: tuple[Any, ...] = _setting(_paths, default=())
    """Paths of TOML or JSON files of the same shape, or [of other programs](importing.md)."""
    spider_rules: Any = _setting(_rules, default={})
    """Options by pattern, for `custom_settings`."""
    clean_param: bool = _setting(_flag, default=False)
    """Take over the `Clean-param` lines of each robots.txt."""
    declared_canonical: bool = _setting(_flag, default=False)
    """Take the canonical URL that a page declares as seen, [where that has proved
    right](reliability.md#declared-canonicals)."""
    profiles: bool | tuple[Any, ...] = _setting(_profiles, default=True)
    """Go by [what is known of the programs](profiles.md) that sites run on: `True`, `False`, or a
    list of their names and of paths of files of your own, in which `"*"` stands for all of ours."""
    rewrite: bool | frozenset[str] = _setting(_sites, default=False)
    """`True` or a list of hosts: fetch the canonical URL, not the linked one; no `=` is added."""
    record: str | None = _setting(_path_of_store, default=None)
    """The file in which the crawl keeps what it saw, [to learn from](learning.md); `%(name)s`
    and `%(time)s` are those of the spider and the start."""
    record_revisits: bool = _setting(_flag, default=True)
    """While recording, fetch a few pages again, 11 of 240 and 23 of 30,000, [to tell noise from
    content](learning.md#what-the-store-holds)."""
    report: tuple[str, ...] = _setting(_paths_of_reports, default=())
    """Where to write [the report](report.md): a path or several."""
    fallback_request_fingerprinter_class: Any = _setting(_fingerprinter, default=None)
    """Gets the requests with their canonical URL; Scrapy's does where none is named."""
    rescue: bool = _setting(_flag, default=True)
    """Fetch a dropped variant where the request that stood for it fails."""
    rescue_max_pending: int = _setting(_count, default=100_000)
    """How many dropped requests may wait for the outcome of another one."""
    pending_max_bytes: int = _setting(_count, default=100_000_000)
    """About how many bytes those that wait may take, with their `meta`; and as many those that are
    remembered for the audit, and those for declared canonicals."""
    remembered_pages: int = _setting(_count, default=2_000_000)
    """Of how many pages it is remembered whether they were fetched."""
    audit: float = _setting(_share, default=0.0)
    """The share of the dropped variants, and of skipped URLs, that is fetched all the same, to
    compare; at most the same share of all fetches. With 1 every one is."""
    audit_max_false: float = _setting(_share, default=0.1)
    """The rate of false merges past which an entry of an option is suspended for a domain."""
    audit_max_pending: int = _setting(_count, default=10_000)
    """How many dropped requests are remembered in case their rule is suspended."""
    audit_max_pages: int = _setting(_count, default=100_000)
    """Of how many pages the content, and what was declared of them, is remembered."""
    audit_max_size: int = _setting(_count, default=1_048_576)
    """Up to how many bytes the text of a response is read."""
    order: str | None = _setting(_order, default=None)
    """`"novelty"`: fetch first what will probably [bring something new](order.md)."""
    seen: str | None = _setting(_path_of_store, default=None)
    """The file of [the pages that earlier runs have got](earlier-runs.md), which are not fetched
    again; `%(name)s` is the name of the spider."""
    skip_places: str | None = _setting(_path_of_store, default=None)
    """The file of `scrapy urlcanon learn --places`, which says [where the pages of skipped URLs
    are](learning.md#where-skipped-pages-are): those are fetched."""
    seen_by: str = _setting(_one_of(*_SEEN_BY), default=ITEM)
    """Which pages those are: they gave an `"item"`, or the callback got `"text"` of them, or a
    `"response"` that is a success and not empty."""
    seen_expires: Any = _setting(_expiry, default={})
    """After how long a page is fetched again: seconds, or such as `"12h"` and `"30d"`; or a mapping
    from hosts, and `*`, to that. Unset: never."""
    order_by: Any = _setting(_order_by, default="text")
    """What counts as new: `"text"`, `"items"`, or the path of a callable that returns a number for
    a response and the list of its items."""
    order_lines: int = _setting(_count, default=1 << 21)
    """How many lines of text are remembered, of 5 bytes each."""
    stop: float = _setting(_share, default=0.0)
    """Close the crawl when less than this share of what waits is expected to [bring anything
    new](order.md#when-it-is-done), which needs the order by novelty; with 0 it goes on."""
    left: str = _setting(_path_of_file, default="urlcanon-left-%(name)s.jsonl")
    """Where to write the requests that are not fetched because of that."""
    take_up: str | None = _setting(_path_of_store, default=None)
    """Such a file of an earlier crawl, whose requests are scheduled first."""
    record_start: bool = _setting(_flag, default=False)
    """Record start requests as seen: a link to a start page is dropped, [and its callback with
    it](reliability.md#start-requests)."""
    seen_set: str = _setting(_one_of(*_SEEN_SETS), default=SCRAPY)
    """What keeps the fingerprints of requests: `"scrapy"`, `"compact"`, `"compact-128"` or
    `"disk"`, [by the size of the crawl](memory.md#what-was-seen)."""
    job_rules: str = _setting(_one_of(*_JOB_RULES), default="warn")
    """`"warn"`, `"error"` or `"keep"`: what to do where a resumed job's rules changed."""
    job_journal: bool = _setting(_flag, default=True)
    """Write down what a job does, so that a kill loses nothing."""
    configuration: Configuration = field()
    """The rules of all layers but ``request.meta``: no setting, but made of four of them."""

    def chosen_profiles(self) -> tuple[Profile, ...]:
        """Return the profiles of :attr:`profiles`."""
        from scrapy_urlcanon.profiles.catalogue import chosen  # noqa: PLC0415

        choice = self.profiles
        if isinstance(choice, bool):
            choice = ("*",) if choice else ()
        return chosen(choice, setting=name_of("profiles"))

    @property
    def changes_urls(self) -> bool:
        """Whether other URLs may be fetched than those that the spider asks for.

        Then what stands for the very same URL may be for a callback that never asked for it.
        """
        return bool(self.rewrite or self.skip_places)

    @classmethod
    def load(cls, settings: BaseSettings) -> Self:
        """Return what *settings* say.

        :raises ConfigurationError: with every problem of every setting of the plugin.
        """
        problems = list(_unknown_names(settings))
        values: dict[str, Any] = {}
        for attribute in attributes():
            try:
                values[attribute.name] = _value_of(attribute, settings)
            except ConfigurationError as error:
                problems += error.problems
        try:
            values["configuration"] = load_rules(
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
        if problems:
            raise ConfigurationError(problems)
        return cls(**values)


def name_of(attribute: str) -> str:
    """Return the name of the setting that *attribute* has the value of."""
    return PREFIX + attribute.upper()


def value_of(attribute: str, settings: BaseSettings) -> Any:
    """Return the value of one setting alone: before a crawl is made all are not to be loaded.

    :raises ConfigurationError: if it is not valid.
    """
    return _value_of(getattr(fields(CrawlSettings), attribute), settings)


def load_configuration(settings: BaseSettings) -> Configuration:
    """Return the rules of *settings*, all layers but ``request.meta``.

    :raises ConfigurationError: with every problem of every setting of the plugin.
    """
    return CrawlSettings.load(settings).configuration


def attributes() -> tuple[Attribute[Any], ...]:
    """Return the attributes that have the value of a setting."""
    return tuple(attribute for attribute in fields(CrawlSettings) if attribute.metadata)


def _value_of(attribute: Attribute[Any], settings: BaseSettings) -> Any:
    name = name_of(attribute.name)
    value = settings.get(name)
    return attribute.default if value is None else attribute.metadata["read"](name, value)


NAMES: Final = tuple(name_of(attribute.name) for attribute in attributes())
"""Every setting of the plugin."""


def _unknown_names(settings: BaseSettings) -> Iterator[Problem]:
    for name in settings:
        # In another case only where a command line or ``custom_settings`` has it.
        if isinstance(name, str) and name.upper().startswith(PREFIX) and name not in NAMES:
            yield Problem(name, "no such setting" + did_you_mean(name.upper(), NAMES))
