"""Writes rules in the format of duplicate-url-discarder (Zyte), as far as it can say them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.rule_files.duplicate_url_discarder import REMOVAL, REMOVAL_EXCEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ORDER = 100
"""What that project gives to its own rules."""
_HOST = re.compile(r"[a-z0-9_.-]+")
# Of others its rules hold the name as it stands in the URL, which may be in several spellings.
_NAME = re.compile(r"[A-Za-z0-9_.~-]+")


def to_duplicate_url_discarder(
    rules: Mapping[str, Mapping[str, Any]],
) -> tuple[str, tuple[str, ...]]:
    """Return *rules* as its JSON, and what that leaves out, one line for each.

    It knows parameters to drop and parameters to keep, by exact name. A pattern with a path
    stands for other URLs there than here, so that only hosts are written.

    >>> rules = {"a.example": {"drop_params": ["sid", "utm_*"], "www": "strip"}}
    >>> text, left_out = to_duplicate_url_discarder(rules)
    >>> [(rule["processor"], rule["args"], rule["urlPattern"]) for rule in json.loads(text)]
    [('queryRemoval', ['sid'], {'include': ['a.example']})]
    >>> left_out
    ('a.example: drop_params utm_*', 'a.example: www')

    :param rules: in the shape of ``URLCANON_RULES``.
    """
    written: list[dict[str, Any]] = []
    left_out: list[str] = []
    for pattern, options in rules.items():
        if not _HOST.fullmatch(pattern):
            left_out += [f"{pattern}: {option}" for option in options]
            continue
        for processor, names in _removals(pattern, options, left_out):
            written.append(
                {
                    "args": names,
                    "order": _ORDER,
                    "processor": processor,
                    "urlPattern": {"include": [pattern]},
                }
            )
    return json.dumps(written, indent=2) + "\n", tuple(left_out)


def _removals(
    pattern: str, options: Mapping[str, Any], left_out: list[str]
) -> Iterator[tuple[str, list[str]]]:
    kept = options.get("keep_params")
    if kept is not None and all(map(_NAME.fullmatch, kept)):
        # All others go, so those to drop need not be named.
        options = {name: value for name, value in options.items() if name != "drop_params"}
        yield REMOVAL_EXCEPT, list(kept)
    elif kept is not None:
        left_out.append(f"{pattern}: keep_params")
    for option, value in options.items():
        if option == "drop_params":
            names = [name for name in value if _NAME.fullmatch(name) and name not in (kept or ())]
            left_out += [f"{pattern}: {option} {name}" for name in value if name not in names]
            if names:
                yield REMOVAL, names
        elif option != "keep_params":
            left_out.append(f"{pattern}: {option}")
