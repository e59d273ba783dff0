"""Writes rules as TOML, each entry with its evidence, and finds those of a file that have it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer.configuration import OVERRIDE
from scrapy_urlcanon.learn.results.evidence_text import EVIDENCE
from scrapy_urlcanon.learn.results.in_force import WHOLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

# As written here. What a person has edited may look different.
_TABLE = re.compile(r'\[("(?:[^"\\]|\\.)*")(?:\.(\w+))?\]')
_LIST = re.compile(r"(\w+) = \[")
_SAID = re.compile(rf"\s*(\S.*?),? # {EVIDENCE.pattern}")


class Line(NamedTuple):
    """A rule in a file: an entry of a list or a mapping, or an option of one value."""

    pattern: str
    option: str
    setting: Any
    said: str = ""
    """The text of its comment."""

    @property
    def is_of_mapping(self) -> bool:
        """Whether it is an entry of a mapping, for which TOML has a table."""
        return isinstance(self.setting, dict) and self.option != OVERRIDE

    @property
    def values(self) -> list[str]:
        """What stands in the file of it, one by one."""
        if self.is_of_mapping:
            return [f"{to_text(name)} = {to_text(text)}" for name, text in self.setting.items()]
        if isinstance(self.setting, list):
            return list(map(to_text, self.setting))
        return [f"{self.option} = {to_text(self.setting)}"]

    @property
    def comment(self) -> str:
        """Its comment as TOML."""
        return f" # {self.said}" if self.said else ""


def to_text(value: object) -> str:
    """Return a TOML basic string, a list, a table, or True or False, which also stands for None.

    JSON escapes all characters that TOML needs escaped, except DEL.
    """
    if value is None or isinstance(value, bool):
        return str(bool(value)).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(to_text, value))}]"
    if isinstance(value, dict):
        pairs = (f"{to_text(name)} = {to_text(item)}" for name, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    text = json.dumps(str(value), ensure_ascii=False)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def tables(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the TOML of rules: a table for each pattern, and one for each of its mappings."""
    by_pattern: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        by_pattern.setdefault(line.pattern, {}).setdefault(line.option, []).append(line)
    for pattern, options in by_pattern.items():
        plain = [found for found in options.values() if not found[0].is_of_mapping]
        if plain:
            yield "".join([f"[{to_text(pattern)}]\n", *(option_text(found) for found in plain)])
        # A TOML table ends where the next one begins, so mappings come last.
        for option, found in options.items():
            if found[0].is_of_mapping:
                yield f"[{to_text(pattern)}.{option}]\n" + option_text(found)


def commented_out(lines: Iterable[Line]) -> str:
    """Return the TOML of rules as one paragraph of comments; empty if there are no rules.

    >>> print(commented_out([Line("a.example", "www", "strip", "unsure")]), end="")
    # ["a.example"]
    # www = "strip" # unsure
    """
    text = "\n".join(tables(lines))
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def option_text(lines: Sequence[Line]) -> str:
    """Return the TOML of an option, without the header of a mapping."""
    first = lines[0]
    if not isinstance(first.setting, list):
        return "".join(f"{value}{line.comment}\n" for line in lines for value in line.values)
    if not any(line.setting for line in lines):
        return f"{first.option} = []{first.comment}\n"
    # A list that counts as a whole has one comment; an entry that was added later has its own.
    whole = first.comment if first.option in WHOLE else ""
    entries = (
        f"    {value},{'' if whole and line is first else line.comment}\n"
        for line in lines
        for value in line.values
    )
    return "".join([f"{first.option} = [{whole}\n", *entries, "]\n"])


def learned_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the rules in *text* whose comments say that they were learned.

    Each comes as the TOML of its pattern, its option, and the TOML of its value. Rules that a
    person has written or edited are not found.
    """
    pattern = table = values = ""
    for line in text.splitlines():
        if header := _TABLE.match(line):
            pattern, table = header[1], header[2] or ""
        if opening := _LIST.match(line):
            values = opening[1]
        if said := _SAID.fullmatch(line):
            yield pattern, table or values or said[1].partition(" = ")[0], said[1]
        if line.startswith("]") or (opening and not line.partition(" # ")[0].endswith("[")):
            values = ""


def is_learned(line: Line, learned: Collection[tuple[str, str, str]]) -> bool:
    """Tell whether :func:`learned_lines` has found *line*."""
    pattern = to_text(line.pattern)
    if line.option in WHOLE:
        end = "[" if line.setting else "[]"
        return (pattern, line.option, f"{line.option} = {end}") in learned
    return all((pattern, line.option, value) in learned for value in line.values)
