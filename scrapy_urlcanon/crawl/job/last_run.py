"""Finds out how the last run of a job ended, and whether the queue that it left can be used."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.job.job_files import has_begun, was_killed_since
from scrapy_urlcanon.crawl.job.journal import FILE, Journal, Kind, Record
from scrapy_urlcanon.crawl.job.under_rules import under_rules
from scrapy_urlcanon.crawl.scheduling.engine import is_local
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.job.job_queue import JobQueue
    from scrapy_urlcanon.crawl.job.job_rules import JobRules

logger = logging.getLogger(__name__)


class LastRun:
    """Reads the journal of a job, and converts it to the present rules if these have changed.

    :param request_of: makes a request from the data of a record; raises if it cannot.
    """

    def __init__(
        self,
        journal: Journal,
        queue: JobQueue,
        fingerprints: PageFingerprints,
        rules: JobRules,
        request_of: Callable[[dict[str, Any]], Request],
    ) -> None:
        self._journal = journal
        self._fingerprints = fingerprints
        self._rules = rules
        self._request_of = request_of
        self.digest = rules.digest
        """The digest of the present rules. The fingerprints in the journal are made under these by
        now."""
        # The digest of the rules of the last run; empty before the first run.
        self._rules_before = b""
        self.begun: set[bytes] = set()
        """If the run was killed: the fingerprints of the requests that it had sent."""
        self.was_killed = self._read()
        self._is_queue_lost = self.was_killed or queue.is_damaged()
        has_other_rules = self._become_of_rules()
        self.is_lost = has_other_rules or self._is_queue_lost or rules.is_seen_elsewhere
        """Whether Scrapy's queue and seen-set are useless: the last run did not end in order, or
        had other rules or another seen-set."""

    def _read(self) -> bool:
        """Tell whether the last run was killed, and note which requests it had sent."""
        journal = self._journal
        journal.scan(self._note)
        if not journal.path.exists() or (journal.last_kind is Kind.CLOSED and not journal.problem):
            self.begun.clear()
            return was_killed_since(journal.path)
        self._find_end()
        return True

    def _find_end(self) -> None:
        """Find the last record up to which the journal can be used."""
        journal = self._journal
        if not journal.problem:
            journal.scan(self._check_of_requests())
        if journal.problem:
            logger.warning(
                "%(path)s can only be read up to a damaged record: %(problem)s. What came after it "
                "is done again.",
                {"path": journal.path, "problem": journal.problem},
            )

    def _check_of_requests(self) -> Callable[[Record], None]:
        """Return a check that raises at a record whose request cannot be made again.

        Its callback may no longer exist. The journal is used only up to that record, so that the
        page which yielded the request is processed again.
        """
        known: set[tuple[object, object]] = set()

        def check(record: Record) -> None:
            data = record.request
            if data is None:
                return
            functions = data.get("callback"), data.get("errback")
            if functions not in known or "_class" in data:
                self._request_of(data)
                known.add(functions)

        return check

    def _become_of_rules(self) -> bool:
        """Convert the journal to the present rules; return whether they were others.

        :raises ConfigurationError: if it cannot be written. With the old fingerprints, pages would
            be taken for seen that are not.
        """
        journal, before = self._journal, self._rules_before
        has_changed = before != self.digest if before else self._rules.has_changed
        if journal.last_kind is None or not has_changed:
            return False
        if not journal.problem:
            self._find_end()
        try:
            journal.replace(under_rules(journal, self.digest, self._fingerprints, self._request_of))
        except OSError as error:
            message = (
                "the rules have changed, or an audit suspended some, and it cannot be written "
                f"anew: {error.strerror or error}. The job is as it was; go on with it once it can"
            )
            raise ConfigurationError([Problem(str(journal.path), message)]) from error
        self.begun.clear()
        journal.scan(self._note)
        if not self._is_queue_lost:
            self.begun.clear()
        return True

    def _note(self, entry: Record) -> None:
        if entry.kind is Kind.BEGUN:
            self.begun.add(entry.fingerprint)
        elif entry.kind is Kind.OPENED:
            self._rules_before = entry.fingerprint


def can_be_taken_up(settings: BaseSettings) -> bool:
    """Tell whether the job can be resumed from its journal.

    It cannot with a scheduler that stores its queue elsewhere, such as that of scrapy-redis, where
    the queue survives a kill anyway. Nor can it if the job was begun without a journal, or its
    journal cannot be read.
    """
    if not is_local(settings):
        return False
    directory = Path(settings["JOBDIR"])
    path = directory / FILE
    if not path.exists():
        is_begun = has_begun(directory)
        if is_begun:
            logger.warning(
                "%(path)s is not there, and the job has begun: without the plugin or its "
                "journal, or the file was removed. The job goes on without one. If its last "
                "run was killed, pages may be missing: begin a new job.",
                {"path": path},
            )
        return not is_begun
    problem = Journal.problem_of(path)
    if problem:
        logger.error(
            "%(path)s is no journal that this version can read: %(problem)s. The job goes on "
            "without one. If its last run was killed, pages may be missing: begin a new job.",
            {"path": path, "problem": problem},
        )
    return not problem
