"""Guards what is stored under fingerprints against a change of the rules that made them."""

from __future__ import annotations

import json
import logging
import re
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.job.journal import FILE as JOURNAL
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.seen_sets.base import SCRAPY_FILE
from scrapy_urlcanon.crawl.seen_sets.stored import count_in, is_in_another
from scrapy_urlcanon.crawl.settings import DELTAFETCH, HTTPCACHE, name_of, value_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.profile import Profile

logger = logging.getLogger(__name__)

ERROR, KEEP = "error", "keep"
FILE = "urlcanon.json"
_VERSION = 1
_SHOWN = 200
_BYTES_PER_FINGERPRINT = 22
_LONGEST_LINE = 42
_UNSAVED_PART = 64
"""One of so many hosts may have something recognised that is not written yet."""
_RECOGNISED: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("profile", "host", "place"), str),
    "port": (str, NoneType),
    "version": list,
}
"""What is stored of each program."""
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_HEXADECIMAL = re.compile(rb"[0-9a-f]{40}\r?\n")


class StoredRules:
    """The file beside a store that says which rules its fingerprints are of."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: RulesDocument | None = None
        """The rules; None where there is no file, or none that can be read."""
        self.suspended: list[tuple[RuleEntry, str]] = []
        """Pairs of an option and the domain on which the audit turned it off."""
        self.orphans: set[str] = set()
        """Fingerprints, in hexadecimal, that the duplicate filter has stored, and that pages had
        until what was suspended was."""
        self.recognised: dict[str, list[dict[str, Any]]] = {}
        """By host the programs that were recognised, each as :meth:`.Installation.as_data`."""
        self.problem: str | None = None
        """Why there is a file that cannot be read."""
        try:
            text = path.read_text(encoding="utf-8")
            self.document, self.suspended, self.recognised, self.orphans = _parse(text)
        except FileNotFoundError:
            pass
        # As many as there are things that are wrong with what others have written there.
        except Exception as error:  # noqa: BLE001
            reason = "it is nested too deep" if isinstance(error, RecursionError) else error
            self.problem = (
                f"{path} cannot be read: expected the JSON that scrapy-urlcanon writes there, "
                f"version {_VERSION}, but {redact(str(reason))[:_SHOWN]}"
            )

    def configuration(self, document: RulesDocument) -> Configuration:
        """Return the configuration of *document*, which was read.

        :raises ConfigurationError: if it is not valid: the file was changed by hand, or written
            by another version that knows other options.
        """
        try:
            configuration = document.configuration()
            for rule_set in chain.from_iterable(configuration.origins):
                configuration.overrides(str(self.path), rule_set.options)
        except ConfigurationError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"expected rules as scrapy-urlcanon writes them ({error!r})"
            raise ConfigurationError([Problem(str(self.path), message)]) from error
        return configuration

    def save(self) -> None:
        """Write the file, at once and as a whole.

        :raises OSError: if it cannot be written.
        """
        if self.document is None:
            return
        stored = {
            "version": _VERSION,
            "digest": self.document.digest,
            "rules": self.document.data,
            "suspended": [[*entry, domain] for entry, domain in sorted(self.suspended)],
            "recognised": list(chain.from_iterable(self.recognised.values())),
            "orphans": sorted(self.orphans),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(stored, indent=1))


def _parse(
    text: str,
) -> tuple[RulesDocument, list[tuple[RuleEntry, str]], dict[str, list[dict[str, Any]]], set[str]]:
    """Return what is stored: the rules, what is suspended, what is recognised, and orphans.

    :raises Exception: of whatever kind, if it is not as it was written.
    """
    try:
        stored = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(stored, dict):
        raise TypeError(f"got {type(stored).__name__}")
    version = stored.get("version", _VERSION)
    if version != _VERSION:
        raise ValueError(f"its version is {version!r}")
    missing = {"rules", "suspended"} - stored.keys()
    if missing:
        raise ValueError(f"there is no {min(missing)!r}")
    document = RulesDocument(stored["rules"])
    try:
        # What is asked of it later.
        document.changes(RulesDocument({**document.data, "digest": document.digest}))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("its 'rules' have another shape") from error
    suspended = [
        (RuleEntry(option, entry), domain) for option, entry, domain in stored["suspended"]
    ]
    if not all(isinstance(text, str) for entry, domain in suspended for text in (*entry, domain)):
        raise TypeError("'suspended' is no list of three texts each")
    recognised: dict[str, list[dict[str, Any]]] = {}
    for data in stored.get("recognised", []):
        if not all(isinstance(data.get(name), kind) for name, kind in _RECOGNISED.items()):
            raise TypeError("'recognised' has another shape")
        recognised.setdefault(data["host"], []).append(data)
    return document, suspended, recognised, set(map(str, stored.get("orphans", [])))


class JobRules:
    """The rules of a job, in its directory."""

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
        """Whether what is stored is of other rules than those to crawl under."""
        self.is_seen_elsewhere = is_in_another(self._directory, value_of("seen_set", settings))
        """Whether what was seen is stored where the duplicate filter of this run does not look."""

    def guard(self, configuration: Configuration, mode: str) -> Configuration:
        """Return the rules to crawl under: *configuration*, or those that the job began with.

        :param mode: the value of ``URLCANON_JOB_RULES``.
        :raises ConfigurationError: if the rules changed and *mode* is ``error``, or if it is
            ``keep`` and those that are to be kept cannot be read.
        """
        stored = self._stored
        document = RulesDocument.of(configuration)
        count = _stored_fingerprints(self._directory / SCRAPY_FILE) + count_in(self._directory)
        has_changed = stored.document is None or stored.document.digest != document.digest
        if count and has_changed:
            message = (
                f"{_change(stored, document)} since the job in JOBDIR began: its {count} stored "
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
            stored.document, stored.suspended, stored.orphans = document, [], set()
            self.save()
        return configuration

    @property
    def digest(self) -> bytes:
        """The digest of the rules to crawl under, less what is suspended, after :meth:`guard`."""
        if self._stored.document is None:
            return b""
        return repr((self._stored.document.digest, sorted(self.suspended))).encode()

    @property
    def suspended(self) -> tuple[tuple[RuleEntry, str], ...]:
        """What the audit suspended before the job was interrupted, each with its domain."""
        return tuple(self._stored.suspended)

    def suspend(self, entry: RuleEntry, domain: str) -> None:
        """Note that *entry* is off on *domain* for as long as the job goes on."""
        if (entry, domain) not in self._stored.suspended:
            self._stored.suspended.append((entry, domain))
            self.save()

    @property
    def orphans(self) -> set[bytes]:
        """What the duplicate filter has stored, though no page has that fingerprint any more."""
        return {bytes.fromhex(text) for text in self._stored.orphans if _HEX.fullmatch(text)}

    def orphan(self, fingerprints: Iterable[bytes]) -> None:
        """Note that no page has *fingerprints* any more."""
        new = {each.hex() for each in fingerprints} - self._stored.orphans
        if new:
            self._stored.orphans |= new
            self.save()

    def recognised(self, profiles: Callable[[], Iterable[Profile]]) -> Iterator[Installation]:
        """Yield what earlier runs recognised, as far as it is among *profiles* still."""
        if self._stored.recognised:
            from scrapy_urlcanon.profiles.installation import Installation  # noqa: PLC0415

            known = {profile.name: profile for profile in profiles()}
            for data in chain.from_iterable(self._stored.recognised.values()):
                if data["profile"] in known:
                    yield Installation.from_data(data, known[data["profile"]])

    def recognise(self, host: str, installations: Iterable[Installation]) -> None:
        """Note what was recognised on *host*, for as long as the job goes on.

        A kill may lose some of many hosts, on which it is recognised again: to write all of them
        down for each one would take ever longer in a broad crawl.
        """
        self._stored.recognised[host] = [one.as_data() for one in installations]
        self._unsaved += 1
        if self._unsaved * _UNSAVED_PART > len(self._stored.recognised):
            self.save()

    def save(self) -> None:
        """Write the rules, and what was found in the crawl, as far as the disk takes it."""
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


def guard_stores(
    settings: BaseSettings,
    configuration: Configuration,
    mode: str,
    spider: str,
    unwritten: UnwrittenFiles,
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
                f"{_change(stored, document)} since the store of {name} was made: "
                "what it has of a page whose fingerprint changed is not found any more"
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


def _stores(settings: BaseSettings) -> Iterator[tuple[str, Path]]:
    """Yield the stores that are keyed by the fingerprint, with their directories."""
    names = {}
    if settings.getbool(HTTPCACHE):
        names["the HTTP cache"] = settings["HTTPCACHE_DIR"]
    if settings.getbool(DELTAFETCH):
        names["scrapy-deltafetch"] = settings.get("DELTAFETCH_DIR", "deltafetch")
    for name, directory in names.items():
        try:
            yield name, Path(data_path(directory))
        except NotConfigured:
            # Without a scrapy.cfg, as in an egg of scrapyd, a project has no folder for data:
            # these have no store then, and turn themselves off.
            continue


def _stored_fingerprints(path: Path) -> int:
    """Return how many fingerprints Scrapy has stored in the file at *path*.

    Before Scrapy 2.16 each is a line in hexadecimal; since then it is 20 bytes, after two for
    their number.
    """
    try:
        with path.open("rb") as file:
            line = _HEXADECIMAL.match(file.read(_LONGEST_LINE))
        size = path.stat().st_size
    except OSError:
        return 0
    return -(-size // (len(line[0]) if line else _BYTES_PER_FINGERPRINT))


def _change(old: StoredRules, new: RulesDocument) -> str:
    if old.problem:
        return f"{old.problem}. The rules may have changed"
    if old.document is None:
        return "scrapy-urlcanon was turned on"
    return f"The canonicalization rules changed ({', '.join(old.document.changes(new))})"
