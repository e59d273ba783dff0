"""Reads profiles: one TOML file for each program, which is checked as a whole."""

from __future__ import annotations

import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from attrs import field, frozen

from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.profiles.reading import TableReader
from scrapy_urlcanon.rule_files.documents import parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.profiles.rules import DocumentedRule, Part, ProfileRule

SIGN_KINDS = ("generator", "header", "cookie", "asset", "element", "title", "link")
"""Kinds of signs: ``<meta name="generator">``, a response header, the name of a cookie, the address
of a style sheet or script, an element, the title, a link to another host."""
_ELEMENT = re.compile(r"[a-z][a-z0-9-]*")
_NOT_IN_TEXTS = frozenset({"html", "head", "body", "meta", "link", "script"})
"""Elements that hardly any site lets its visitors write."""


@frozen
class Sign:
    """One sign of a program."""

    kind: str
    """One of :data:`SIGN_KINDS`."""
    text: str
    """What to look for, with ``*`` for any text: the beginning of the generator or of the title;
    the name of a header, a cookie or an element; the path of an asset below the place of the
    program; the host of a link."""
    value: str = "*"
    """The value that a header must have; ``*`` is any text."""
    attributes: Mapping[str, str] = field(factory=dict)
    """The attributes that an element must have: for ``class`` one of its classes, else the whole
    value."""
    is_certain: bool = False
    """Whether no other program has it."""

    @property
    def evidence(self) -> str:
        """The kind of evidence: all that visitors may write into a text is of one kind.

        >>> Sign("link", "a.example").evidence, Sign("element", "div").evidence
        ('text', 'text')
        >>> Sign("element", "body").evidence, Sign("asset", "a.css").evidence
        ('element', 'asset')
        """
        if self.kind == "link" or (self.kind == "element" and self.text not in _NOT_IN_TEXTS):
            return "text"
        return self.kind

    def __str__(self) -> str:
        told = [self.text]
        told += [f"{name}={value}" for name, value in self.attributes.items()]
        if self.value != "*":
            told.append(self.value)
        return f"{self.kind} {' '.join(told)}"


@frozen(slots=False)
class Profile:
    """What is known about one program."""

    name: str
    kind: str
    """The kind of program: ``forum``, ``wiki`` ..."""
    signs: tuple[Sign, ...]
    scripts: tuple[str, ...]
    """Names of scripts that are directly at the place of the program."""
    runs_on: tuple[str, ...]
    """Programs that it runs on, whose signs are on its pages too."""
    _read_rest: Callable[[], _Rest] = field(eq=False, repr=False)

    @property
    def shapes(self) -> tuple[Template, ...]:
        """Shapes of URLs that hardly any other program has, relative to its place."""
        return self._rest.shapes

    @property
    def rules(self) -> tuple[ProfileRule, ...]:
        """Options for its URLs."""
        return self._rest.rules

    @property
    def parts(self) -> tuple[Part, ...]:
        """Rules for URLs of parts of its pages."""
        return self._rest.parts

    @property
    def all_rules(self) -> tuple[DocumentedRule, ...]:
        """All rules: those with options, and those for parts of pages."""
        return (*self.rules, *self.parts)

    @cached_property
    def _rest(self) -> _Rest:
        return self._read_rest()

    def with_version(self, version: tuple[int, ...]) -> str:
        """Return the name of the program, with its *version* if that is known."""
        return f"{self.name} {'.'.join(map(str, version))}".rstrip()

    @classmethod
    def read(cls, origin: str, text: str, *, is_ours: bool = False) -> Self:
        """Parse a profile.

        :param origin: the name for messages.
        :param text: the profile in TOML.
        :param is_ours: whether it was checked before and has its rules at the end. These are then
            read when they are first needed: each crawl looks for all programs, and few sites run on
            one of them.
        :raises ConfigurationError: with all problems at once.
        """
        try:
            document = parse_toml(_BEGIN_OF_RULES.split(text, maxsplit=1)[0] if is_ours else text)
        except ValueError as error:
            raise ConfigurationError([Problem(origin, f"cannot be read: {error}")]) from None
        reader = TableReader(origin)
        table = reader.table(document, "", _PROFILE_KEYS)
        profile = cls(
            name=reader.text(table, "name", ""),
            kind=reader.text(table, "kind", ""),
            signs=tuple(reader.each(table, "signs", partial(_read_sign, reader))),
            scripts=reader.texts(table, "scripts", ""),
            runs_on=reader.texts(table, "runs_on", ""),
            read_rest=partial(_read_rest, reader, text, are_options_checked=is_ours),
        )
        if not is_ours:
            _ = profile.rules
        if not (
            any(sign.is_certain for sign in profile.signs)
            or len({sign.evidence for sign in profile.signs}) > 1
        ):
            reader.note(
                "signs",
                "expected a certain one, or those of two kinds; what stands in texts is one kind",
            )
        if reader.problems:
            raise ConfigurationError(reader.problems)
        return profile


_BEGIN_OF_RULES = re.compile(r"^\[\[(?:rules|parts)\]\]", re.MULTILINE)
_PROFILE_KEYS = ("name", "kind", "home", "signs", "rules", "parts", "scripts", "shapes", "runs_on")
_SIGN_KEYS = (*SIGN_KINDS, "value", "with", "certain")


class _Rest(NamedTuple):
    """The parts of a profile that are needed only if the program is found."""

    shapes: tuple[Template, ...]
    rules: tuple[ProfileRule, ...]
    parts: tuple[Part, ...]


def _read_rest(reader: TableReader, text: str, *, are_options_checked: bool) -> _Rest:
    from scrapy_urlcanon.profiles.rules import (  # noqa: PLC0415 - few crawls need it
        read_part,
        read_rule,
        read_templates,
    )

    document = parse_toml(text)
    rule = partial(read_rule, reader, are_options_checked=are_options_checked)
    return _Rest(
        read_templates(reader, document, "shapes", ""),
        tuple(reader.each(document, "rules", rule)),
        tuple(reader.each(document, "parts", partial(read_part, reader))),
    )


def _read_sign(reader: TableReader, value: object, key: str) -> Sign:
    table = reader.table(value, key, _SIGN_KEYS)
    kinds = [kind for kind in SIGN_KINDS if kind in table]
    if len(kinds) != 1:
        reader.note(key, f"expected one of {', '.join(SIGN_KINDS)}, got {len(kinds)} of them")
        return Sign("", "")
    attributes = table.get("with", {})
    if not isinstance(attributes, dict) or not all(
        isinstance(text, str) for text in attributes.values()
    ):
        reader.note(f"{key}.with", f"expected attributes and their texts, got {attributes!r}")
        attributes = {}
    text = reader.text(table, kinds[0], key)
    if kinds[0] == "element" and _ELEMENT.fullmatch(text) is None:
        reader.note(f"{key}.element", f"expected the name of an element, got {text!r}")
    return Sign(
        kinds[0],
        text,
        reader.text(table, "value", key, "*"),
        attributes,
        reader.flag(table, "certain", key),
    )
