"""Warns if the HTTP cache or scrapy-deltafetch holds pages under fingerprints of other rules."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.job.stored_rules import FILE, StoredRules
from scrapy_urlcanon.crawl.settings import DELTAFETCH, ERROR, HTTPCACHE, name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles

logger = logging.getLogger(__name__)

_CACHE: Final = "the HTTP cache"


def guard_stores(
    settings: BaseSettings,
    configuration: Configuration,
    mode: str,
    spider: str,
    unwritten: UnwrittenFiles,
) -> bool:
    """Warn if the HTTP cache or scrapy-deltafetch was filled under other rules.

    Both look pages up by fingerprint, so that they no longer find a page whose fingerprint changed.
    What the HTTP cache stored in a crawl without the plugin, or without rules, is found all the
    same.

    :param spider: the name of the spider: each spider has its own store.
    :return: whether the HTTP cache may have responses of a crawl without the plugin, or under other
        rules.
    :raises ConfigurationError: if a store was filled under other rules and *mode* is ``error``.
    """
    document = RulesDocument.of(configuration)
    problems = []
    has_former = False
    for name, directory in _stores(settings):
        path = directory / f"{spider.replace('/', '_')}.{FILE}"
        stored = StoredRules(path)
        # A directory with the name of the spider, or files with that name and any suffix.
        is_used = directory.is_dir() and any(
            f"{entry.name}.".startswith(f"{spider}.") and entry != path
            for entry in directory.iterdir()
        )
        is_same = stored.document is not None and stored.document.digest == document.digest
        stored.has_former |= is_used and not is_same
        has_former |= name == _CACHE and stored.has_former
        if is_same:
            continue
        is_found = name == _CACHE and stored.document is None and not stored.problem
        if is_used and not is_found:
            message = (
                f"{stored.change_to(document)} since the store of {name} was made: "
                "what it has of a page whose fingerprint changed may not be found any more"
            )
            problems.append(Problem(name_of("job_rules"), message))
        if not is_used or mode != ERROR:
            stored.document = document
            try:
                stored.save()
            except OSError as error:
                unwritten.note(path, error, "A change of the rules will not be noticed.")
    if problems and mode == ERROR:
        raise ConfigurationError(problems)
    for problem in problems:
        logger.warning("%s.", problem.message)
    return has_former


def _stores(settings: BaseSettings) -> Iterator[tuple[str, Path]]:
    """Yield the name and directory of each store that is keyed by fingerprint."""
    names = {}
    if settings.getbool(HTTPCACHE):
        names[_CACHE] = settings["HTTPCACHE_DIR"]
    if settings.getbool(DELTAFETCH):
        names["scrapy-deltafetch"] = settings.get("DELTAFETCH_DIR", "deltafetch")
    for name, directory in names.items():
        try:
            yield name, Path(data_path(directory))
        except NotConfigured:
            # Without a scrapy.cfg, as in an egg of scrapyd, a project has no data folder. The
            # stores then turn themselves off.
            continue
