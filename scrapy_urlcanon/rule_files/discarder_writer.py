"""Writes rules in the format of duplicate-url-discarder (Zyte), as far as it can say them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.rule_files.composition import PatternIndex
from scrapy_urlcanon.rule_files.duplicate_url_discarder import REMOVAL, REMOVAL_EXCEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ORDER = 100
"""The order number that duplicate-url-discarder's own rules have."""
_HOST = re.compile(r"[a-z0-9_.-]+")
# Other names may have several spellings in URLs, and its rules match only one of them.
_NAME = re.compile(r"[A-Za-z0-9_.~-]+")


def to_duplicate_url_discarder(
    rules: Mapping[str, Mapping[str, Any]],
) -> tuple[str, tuple[str, ...]]:
    """Return *rules* as its JSON, and what that leaves out, one line for each.

    The format has parameters to drop and parameters to keep, by exact name. Its patterns with a
    path mean other URLs than ours, so only rules for hosts are written. Its rules for a URL all
    apply, one after the other, so what any other pattern of ours keeps is never removed.

    >>> rules = {"a.example": {"drop_params": ["sid", "utm_*"], "www": "strip"}}
    >>> text, left_out = to_duplicate_url_discarder(rules)
    >>> [(rule["processor"], rule["args"], rule["urlPattern"]) for rule in json.loads(text)]
    [('queryRemoval', ['sid'], {'include': ['a.example']})]
    >>> left_out
    ('a.example: drop_params utm_*', 'a.example: www')

    :param rules: in the shape of ``URLCANON_RULES``.
    :raises ValueError: if a pattern is none.
    """
    patterns = {text: parse_pattern(text) for text in rules}
    options_of = {patterns[text]: options for text, options in rules.items()}
    index = PatternIndex(options_of)
    written: list[dict[str, Any]] = []
    left_out: list[str] = []
    for text, pattern in patterns.items():
        options = options_of[pattern]
        if not _HOST.fullmatch(text):
            left_out += [f"{text}: {option}" for option in options]
            continue
        spared = [*_kept({"override": options.get("override", {})})]
        spared += [
            name
            for other in dict.fromkeys(index.related(pattern))
            if other != pattern and other.overlaps(pattern)
            for name in _kept(options_of[other])
        ]
        for processor, names in _removals(text, options, spared, left_out):
            written.append(
                {
                    "args": names,
                    "order": _ORDER,
                    "processor": processor,
                    "urlPattern": {"include": [text]},
                }
            )
    return json.dumps(written, indent=2) + "\n", tuple(left_out)


def _kept(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names and globs that *options* keep where weaker ones drop them."""
    if not options.get("inherit", True):
        yield "*"
    for layer in (options, options.get("override", {})):
        yield from (name[1:] for name in layer.get("drop_params", ()) if name.startswith("!"))
        yield from (name for name in layer.get("keep_params") or () if not name.startswith("!"))


def _removals(
    pattern: str, options: Mapping[str, Any], spared: Sequence[str], left_out: list[str]
) -> Iterator[tuple[str, list[str]]]:
    kept = options.get("keep_params")
    if kept is not None:
        kept = list(dict.fromkeys([*kept, *spared]))
    if kept is not None and all(map(_NAME.fullmatch, kept)):
        # All other parameters are dropped, so names to drop are not needed.
        options = {name: value for name, value in options.items() if name != "drop_params"}
        more = [name for name in kept if name not in options["keep_params"]]
        left_out += [f"{pattern}: keep_params, without {name}" for name in more]
        yield REMOVAL_EXCEPT, kept
    elif kept is not None:
        left_out.append(f"{pattern}: keep_params")
    for option, value in options.items():
        if option == "drop_params":
            taken_back = (name[1:] for name in value if name.startswith("!"))
            is_spared = [glob_matcher(name) for name in (*(kept or ()), *spared, *taken_back)]
            names = [
                name
                for name in value
                if _NAME.fullmatch(name) and not any(matches(name) for matches in is_spared)
            ]
            left_out += [f"{pattern}: {option} {name}" for name in value if name not in names]
            if names:
                yield REMOVAL, names
        elif option != "keep_params":
            left_out.append(f"{pattern}: {option}")
