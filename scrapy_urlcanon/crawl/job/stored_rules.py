"""Reads and writes the file that says under which rules stored fingerprints were made.

Such a file lies beside each store of fingerprints: in the directory of a job, in that of the HTTP
cache and in that of scrapy-deltafetch.
"""

from __future__ import annotations

import json
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_urlcanon.canonicalizer.configuration import Configuration

FILE = "urlcanon.json"
_VERSION = 1
_SHOWN = 200
_RECOGNISED: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("profile", "host", "place"), str),
    "port": (str, NoneType),
    "version": list,
}
"""The keys of a recognised program, with the types of their values."""


class StoredRules:
    """The rules under which the fingerprints of a store were made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: RulesDocument | None = None
        """The rules, or None if there is no file or it cannot be read."""
        self.suspended: list[tuple[RuleEntry, str]] = []
        """The entries that audits suspended, each with its domain."""
        self.recognised: dict[str, list[dict[str, Any]]] = {}
        """By host: the recognised programs, in the form of :meth:`.Installation.as_data`."""
        self.has_former = False
        """Whether part of the store was filled before the plugin was on, or under other rules."""
        self.problem: str | None = None
        """Why the file cannot be read, or None."""
        try:
            text = path.read_text(encoding="utf-8")
            self.document, self.suspended, self.recognised, self.has_former = _parse(text)
        except FileNotFoundError:
            pass
        # Whatever others wrote into the file may raise any exception.
        except Exception as error:  # noqa: BLE001
            reason = "it is nested too deep" if isinstance(error, RecursionError) else error
            self.problem = (
                f"{path} cannot be read: expected the JSON that scrapy-urlcanon writes there, "
                f"version {_VERSION}, but {redact(str(reason))[:_SHOWN]}"
            )

    def configuration(self, document: RulesDocument) -> Configuration:
        """Return the configuration of *document*, which was read from the file.

        :raises ConfigurationError: if it is not valid: the file was edited, or a version wrote it
            that has other options.
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

    def change_to(self, new: RulesDocument) -> str:
        """Return a description of how the *new* rules differ from those stored."""
        if self.problem:
            return f"{self.problem}. The rules may have changed"
        if self.document is None:
            return "scrapy-urlcanon was turned on"
        return f"The canonicalization rules changed ({', '.join(self.document.changes(new))})"

    def save(self) -> None:
        """Write the file atomically.

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
            "former": self.has_former,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(stored, indent=1))


def _parse(
    text: str,
) -> tuple[RulesDocument, list[tuple[RuleEntry, str]], dict[str, list[dict[str, Any]]], bool]:
    """Return the rules, the suspended entries, the recognised programs and ``has_former``.

    :raises Exception: of any kind, if the text is not as it was written.
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
        # Try what will be called later.
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
    return document, suspended, recognised, stored.get("former") is True
