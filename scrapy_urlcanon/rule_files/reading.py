"""Rule files: ours, in TOML or JSON, and those of other programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.exceptions import Problem

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from scrapy_urlcanon.rule_files.foreign import LeftOut

_SUFFIXES = {".toml": "TOML", ".json": "JSON"}


@frozen
class RulesFile:
    """What a rule file says."""

    name: str
    """Its path, as it was given."""
    format: str
    """``TOML``, ``JSON`` or the name of a foreign format."""
    rules: object
    """In the shape of the ``URLCANON_RULES`` setting, if the file is right."""
    left_out: tuple[LeftOut, ...] = ()
    """What a foreign file says that our rules cannot express."""

    @property
    def is_foreign(self) -> bool:
        """Whether it is a file of another program."""
        return self.format not in _SUFFIXES.values()


def read_rules_files(
    paths: Iterable[str | os.PathLike[str]], *, setting: str
) -> tuple[list[RulesFile], list[Problem]]:
    """Return what the files of *paths* say, in order, and what is wrong with them.

    Foreign files are recognized by their content, ours by their suffix. The files of
    duplicate-url-discarder are one: what they say together stands in the place of the first.

    :param setting: what holds the paths, for the problems.
    """
    problems: list[Problem] = []
    texts: list[tuple[str, str]] = []
    for path in paths:
        try:
            texts.append((str(path), Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            problems.append(Problem(setting, f"cannot read {str(path)!r}: {error}"))
    if not texts:
        return [], problems
    # Most crawls have no rule files, and every crawl would wait for the import.
    from scrapy_urlcanon.rule_files.foreign import read_together  # noqa: PLC0415

    try:
        foreign = read_together(texts)
    except ValueError as error:
        return [], [*problems, Problem(setting, f"cannot read {error}")]
    files: list[RulesFile] = []
    for (name, text), imported in zip(texts, foreign, strict=True):
        if imported is not None:
            files.append(RulesFile(name, imported.format, imported.rules, imported.left_out))
            continue
        try:
            files.append(_read_ours(name, text))
        except ValueError as error:
            problems.append(Problem(setting, f"cannot read {name!r}: {error}"))
    return files, problems


def _read_ours(name: str, text: str) -> RulesFile:
    file_format = _SUFFIXES.get(Path(name).suffix.lower())
    if file_format is None:
        raise ValueError("expected a file whose name ends in .toml or .json, or a known rule list")
    read = _read_toml if file_format == "TOML" else json.loads
    return RulesFile(name, file_format, read(text))


def _read_toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    return tomllib.loads(text)
