"""Loads a configuration: rule files, ours or those of other programs, and rules at hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import read_text, why_unreadable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.canonicalizer.configuration import RuleSet
    from scrapy_urlcanon.rule_files.foreign import LeftOut

_SUFFIXES = {".toml": "TOML", ".json": "JSON"}
_CLEAN_PARAM = "(?im)^clean-param:"
_BARE_KEY = "[A-Za-z0-9_-]+"
"""A key that TOML allows without quotes."""


class RulesFile(Source):
    """A rule file; its name is its path, as it was given.

    :param file_format: ``TOML``, ``JSON`` or the name of a foreign format.
    :param left_out: what a foreign file says that our rules cannot express.
    """

    def __init__(
        self, name: str, rules: object, file_format: str, left_out: tuple[LeftOut, ...] = ()
    ) -> None:
        super().__init__(name, rules)
        self.format = file_format
        self.left_out = left_out

    @property
    def is_foreign(self) -> bool:
        """Whether it is a file of another program."""
        return self.format not in _SUFFIXES.values()


def load_configuration(
    preset: object,
    *,
    rules_files: Iterable[str | os.PathLike[str]] = (),
    rules: Iterable[tuple[str, object]] = (),
    setting_names: tuple[str, str] = ("preset", "rules_files"),
) -> Configuration:
    """Return the configuration made of a preset, rule files, and rules that win over the files.

    >>> rules = {"example.com": {"drop_params": ["sid"]}}
    >>> [[rule_set]] = load_configuration("safe", rules=[("MINE", rules)]).origins
    >>> print(rule_set.layer, *rule_set.options)
    MINE['example.com'] drop_params

    :param rules_files: paths of rule files, ours or those of other programs; later ones win.
    :param rules: pairs of a name, for messages, and rules in the shape of ``URLCANON_RULES``, or
        None; later ones win.
    :param setting_names: what *preset* and *rules_files* are called in messages.
    :raises ConfigurationError: with all problems at once, those of the files first.
    """
    files, problems = _read_rules_files(rules_files, setting=setting_names[1])
    given = [Source(name, mapping) for name, mapping in rules if mapping is not None]
    try:
        configuration = Configuration.load(preset, [*files, *given], preset_name=setting_names[0])
    except ConfigurationError as error:
        problems += error.problems
    if problems:
        raise ConfigurationError(problems)
    return configuration


def files_of(configuration: Configuration) -> list[tuple[RulesFile, tuple[RuleSet, ...]]]:
    """Return the files that *configuration* was loaded from, each with its rule sets."""
    # Origins that were not loaded here, or were added later, have no source.
    pairs = zip(configuration.sources, configuration.origins, strict=False)
    return [(source, rule_sets) for source, rule_sets in pairs if isinstance(source, RulesFile)]


def _read_rules_files(
    paths: Iterable[str | os.PathLike[str]], *, setting: str
) -> tuple[list[RulesFile], list[Problem]]:
    """Read the files of *paths*, in order, and return them and their problems.

    Foreign files are recognised by their content, ours by their suffix. All files of
    duplicate-url-discarder are translated together, in the place of the first.

    :param setting: the name of the setting with the paths, for messages.
    """
    problems: list[Problem] = []
    texts: list[tuple[str, str]] = []
    for path in paths:
        try:
            texts.append((str(path), read_text(path)))
        except (OSError, ValueError) as error:
            problems.append(Problem(setting, f"cannot read {str(path)!r}: {why_unreadable(error)}"))
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
            files.append(RulesFile(name, imported.rules, imported.format, imported.left_out))
            continue
        try:
            files.append(_read_ours(name, text))
        except ValueError as error:
            problems.append(Problem(setting, f"cannot read {name!r}: {error}"))
    return files, problems


def _read_ours(name: str, text: str) -> RulesFile:
    file_format = _SUFFIXES.get(Path(name).suffix.lower())
    if file_format is None:
        of_site = "; URLCANON_CLEAN_PARAM takes them from the robots.txt of each site"
        raise ValueError(
            "expected a file whose name ends in .toml or .json, or a known rule list"
            + (of_site if re.search(_CLEAN_PARAM, text) else "")
        )
    # Only crawls with rule files wait for the import.
    from json import JSONDecodeError  # noqa: PLC0415

    from scrapy_urlcanon.rule_files.documents import parse_json, parse_toml  # noqa: PLC0415

    if file_format == "JSON":
        try:
            return RulesFile(name, parse_json(text, unique_keys=True), file_format)
        except JSONDecodeError as error:
            raise ValueError(f"it is no JSON: {error}") from None
    document = parse_toml(text)
    bare = ((key, table) for key, table in document.items() if re.fullmatch(_BARE_KEY, key))
    unquoted = [pair for key, table in bare for pair in _unquoted(key, table)]
    if unquoted:
        quoted, got = (", ".join(names) for names in zip(*unquoted, strict=True))
        raise ValueError(
            f"expected a host in quotes, {quoted}, got {got}, which TOML takes for tables within "
            "tables"
        )
    return RulesFile(name, document, file_format)


def _unquoted(name: str, table: object) -> Iterator[tuple[str, str]]:
    """Yield the patterns that lack their quotes, or have them in the wrong place.

    Without quotes, the dots of a host make tables within *table*. Each pattern comes as it should
    be written, and as it is written.

    >>> list(_unquoted("shop", {"example": {"com": {"default_params": {"page": "1"}}}}))
    [('["shop.example.com"]', '[shop.example.com]')]
    >>> list(_unquoted("rules", {"example.com/forum/": {"www": "strip"}}))
    [('["example.com/forum/"]', '[rules."example.com/forum/"]')]
    """
    for key, inner in table.items() if isinstance(table, dict) else ():
        if not isinstance(inner, dict) or key in BY_NAME:
            continue
        if re.fullmatch(_BARE_KEY, key):
            whole = f"{name}.{key}"
            yield from list(_unquoted(whole, inner)) or [(f'["{whole}"]', f"[{whole}]")]
        else:
            yield f'["{key}"]', f'[{name}."{key}"]'
