"""Guards what is stored under fingerprints against a change of the rules that made them."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.project import data_path

from scrapy_urlcanon.crawl.recovery.rules_document import RulesDocument
from scrapy_urlcanon.crawl.settings import DELTAFETCH, HTTPCACHE
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration

logger = logging.getLogger(__name__)

ERROR, KEEP = "error", "keep"
FILE = "urlcanon.json"
# Scrapy 2.19 stores 20 bytes for a fingerprint, after two for their number.
_BYTES_PER_FINGERPRINT = 22


class StoredRules:
    """The file beside a store that says which rules its fingerprints are of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.document: RulesDocument | None = None
        """The rules; None where there is no file, or none that can be read."""
        self.suspended: list[tuple[str, str]] = []
        """Pairs of an option and the domain on which the audit turned it off."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            self.document = RulesDocument(stored["rules"])
            self.suspended = [(option, domain) for option, domain in stored["suspended"]]
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def save(self) -> None:
        """Write the file, at once and as a whole."""
        if self.document is None:
            return
        stored = {
            "digest": self.document.digest,
            "rules": self.document.data,
            "suspended": sorted(self.suspended),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, json.dumps(stored, indent=1))


def guard_job(settings: BaseSettings, configuration: Configuration, mode: str) -> Configuration:
    """Return the rules for a crawl with a ``JOBDIR``: *configuration*, or those it began with.

    :param mode: the value of ``URLCANON_JOB_RULES``.
    :raises ConfigurationError: if the rules changed and *mode* is ``error``.
    """
    directory = Path(settings["JOBDIR"])
    stored = StoredRules(directory / FILE)
    document = RulesDocument.of(configuration)
    seen = directory / "requests.seen"
    size = seen.stat().st_size if seen.exists() else 0
    if size and (stored.document is None or stored.document.digest != document.digest):
        message = (
            f"{_change(stored.document, document)} since the job in JOBDIR began: its "
            f"{size // _BYTES_PER_FINGERPRINT} stored fingerprints are of other rules, so "
            "that pages may be fetched again, or taken for seen"
        )
        if mode == ERROR:
            raise ConfigurationError([Problem("URLCANON_JOB_RULES", message)])
        if mode == KEEP and stored.document is not None:
            logger.info("%s. It goes on with the rules that it began with.", message)
            return stored.document.configuration()
        logger.warning("%s.", message)
    if stored.document is None or stored.document.digest != document.digest:
        stored.document, stored.suspended = document, []
        stored.save()
    return configuration


def stored_suspensions(settings: BaseSettings) -> list[tuple[str, str]]:
    """Return what the audit suspended before the job was interrupted: options and domains."""
    return StoredRules(Path(settings["JOBDIR"]) / FILE).suspended


def store_suspension(settings: BaseSettings, option: str, domain: str) -> None:
    """Note that *option* is off on *domain* for as long as the job goes on."""
    stored = StoredRules(Path(settings["JOBDIR"]) / FILE)
    if (option, domain) not in stored.suspended:
        stored.suspended.append((option, domain))
        stored.save()


def guard_stores(
    settings: BaseSettings, configuration: Configuration, mode: str, spider: str
) -> None:
    """Warn where the HTTP cache or scrapy-deltafetch has fingerprints of other rules.

    :param spider: the name of the spider: each has a store of its own.
    :raises ConfigurationError: if one has and *mode* is ``error``.
    """
    document = RulesDocument.of(configuration)
    problems = []
    for name, directory in _stores(settings):
        path = directory / f"{spider.replace('/', '_')}.{FILE}"
        stored = StoredRules(path)
        # A directory of the spider's name, or files of that name and any suffixes.
        is_used = directory.is_dir() and any(
            f"{entry.name}.".startswith(f"{spider}.") and entry != path
            for entry in directory.iterdir()
        )
        if stored.document is not None and stored.document.digest == document.digest:
            continue
        if is_used:
            message = (
                f"{_change(stored.document, document)} since the store of {name} was made: "
                "what it has of a page whose fingerprint changed is not found any more"
            )
            problems.append(Problem("URLCANON_JOB_RULES", message))
        if not is_used or mode != ERROR:
            stored.document = document
            stored.save()
    if problems and mode == ERROR:
        raise ConfigurationError(problems)
    for problem in problems:
        logger.warning("%s.", problem.message)


def _stores(settings: BaseSettings) -> Iterator[tuple[str, Path]]:
    """Yield the stores that are keyed by the fingerprint, with their directories."""
    if settings.getbool(HTTPCACHE):
        yield "the HTTP cache", Path(data_path(settings["HTTPCACHE_DIR"]))
    if settings.getbool(DELTAFETCH):
        directory = settings.get("DELTAFETCH_DIR", "deltafetch")
        yield "scrapy-deltafetch", Path(data_path(directory))


def _change(old: RulesDocument | None, new: RulesDocument) -> str:
    if old is None:
        return "scrapy-urlcanon was turned on"
    return f"The canonicalization rules changed ({', '.join(old.changes(new))})"
