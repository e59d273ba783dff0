"""Keeps the rules that a job was begun with, and what its runs have found out about them."""

from __future__ import annotations

import logging
import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.job.journal import FILE as JOURNAL
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.job.stored_rules import FILE, StoredRules
from scrapy_urlcanon.crawl.seen_sets.stored import count_in, is_in_another
from scrapy_urlcanon.crawl.settings import ERROR, KEEP, SCRAPY_FILE, name_of, value_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.profile import Profile

logger = logging.getLogger(__name__)

_BYTES_PER_FINGERPRINT = 22
_LONGEST_LINE = 42
_UNSAVED_PART = 64
"""The file is written once this fraction (one in 64) of the hosts with recognised programs is
new."""
_HEXADECIMAL = re.compile(rb"[0-9a-f]{40}\r?\n")


class JobRules:
    """The rules of a job, stored in its directory."""

    def __init__(self, settings: BaseSettings, unwritten: UnwrittenFiles) -> None:
        self._directory = Path(settings["JOBDIR"])
        journal = self._directory / JOURNAL
        self._has_journal = (
            settings.getbool(name_of("job_journal"), default=True) and journal.exists()
        )
        self._stored = StoredRules(self._directory / FILE)
        self._unwritten = unwritten
        self._unsaved = 0
        self.has_changed = False
        """Whether what is stored was made under other rules than those of this run."""
        self.is_seen_elsewhere = is_in_another(self._directory, value_of("seen_set", settings))
        """Whether the seen requests are stored in another seen-set than that of this run."""

    def guard(self, configuration: Configuration, mode: str) -> Configuration:
        """Return the rules to crawl under: *configuration*, or those that the job was begun with.

        :param mode: the value of ``URLCANON_JOB_RULES``.
        :raises ConfigurationError: if the rules changed and *mode* is ``error``, or if *mode* is
            ``keep`` and the old rules cannot be read.
        """
        stored = self._stored
        document = RulesDocument.of(configuration)
        count = _stored_fingerprints(self._directory / SCRAPY_FILE) + count_in(self._directory)
        has_changed = stored.document is None or stored.document.digest != document.digest
        if count and has_changed:
            message = (
                f"{stored.change_to(document)} since the job in JOBDIR began: its {count} stored "
                "fingerprints are of other rules"
            )
            if mode == ERROR or (mode == KEEP and stored.problem):
                raise ConfigurationError([Problem(name_of("job_rules"), message)])
            if mode == KEEP and stored.document is not None:
                logger.info("%s. It goes on with the rules that it began with.", message)
                return stored.configuration(stored.document)
            logger.warning(
                "%s, %s.",
                message,
                "and are made anew from its journal"
                if self._has_journal
                else "so that pages may be fetched again, or taken for seen",
            )
            self.has_changed = True
        elif stored.problem:
            logger.warning("%s. It is written anew.", stored.problem)
        if self.is_seen_elsewhere:
            logger.warning(
                "%s changed since the last run of the job in JOBDIR: what was seen is %s.",
                name_of("seen_set"),
                "made anew from its journal"
                if self._has_journal
                else "not known any more, and is fetched again",
            )
        if has_changed:
            stored.document, stored.suspended = document, []
            self.save()
        return configuration

    @property
    def digest(self) -> bytes:
        """A digest of the rules of this run without suspended entries; set by :meth:`guard`."""
        if self._stored.document is None:
            return b""
        return repr((self._stored.document.digest, sorted(self.suspended))).encode()

    @property
    def suspended(self) -> tuple[tuple[RuleEntry, str], ...]:
        """The entries that audits of earlier runs suspended, each with its domain."""
        return tuple(self._stored.suspended)

    def suspend(self, entry: RuleEntry, domain: str) -> None:
        """Store that *entry* is off on *domain* for the rest of the job."""
        if (entry, domain) not in self._stored.suspended:
            self._stored.suspended.append((entry, domain))
            self.save()

    def recognised(self, profiles: Callable[[], Iterable[Profile]]) -> Iterator[Installation]:
        """Yield the programs that earlier runs recognised, if *profiles* still has them."""
        if self._stored.recognised:
            from scrapy_urlcanon.profiles.installation import Installation  # noqa: PLC0415

            known = {profile.name: profile for profile in profiles()}
            for data in chain.from_iterable(self._stored.recognised.values()):
                if data["profile"] in known:
                    yield Installation.from_data(data, known[data["profile"]])

    def recognise(self, host: str, installations: Iterable[Installation]) -> None:
        """Store the programs recognised on *host*, for the rest of the job.

        The file is not written for each host, which would take ever longer in a broad crawl. What a
        kill loses is recognised again.
        """
        self._stored.recognised[host] = [one.as_data() for one in installations]
        self._unsaved += 1
        if self._unsaved * _UNSAVED_PART > len(self._stored.recognised):
            self.save()

    def save(self) -> None:
        """Write the rules and what was found out. An error of the disk is logged."""
        try:
            self._stored.save()
            self._unsaved = 0
        except OSError as error:
            self._unsaved += 1
            consequence = "The crawl goes on; it is tried again when it ends."
            self._unwritten.note(self._stored.path, error, consequence)

    def spider_closed(self) -> None:
        """Write what is not written yet."""
        if self._unsaved:
            self.save()


def _stored_fingerprints(path: Path) -> int:
    """Return how many fingerprints Scrapy has stored in the file at *path*.

    Before Scrapy 2.16 each is a line of hexadecimal digits. Since then each is 20 bytes, after two
    bytes for their number.
    """
    try:
        with path.open("rb") as file:
            line = _HEXADECIMAL.match(file.read(_LONGEST_LINE))
        size = path.stat().st_size
    except OSError:
        return 0
    return -(-size // (len(line[0]) if line else _BYTES_PER_FINGERPRINT))
