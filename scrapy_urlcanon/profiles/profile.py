"""Reads profiles: one TOML file for each program, checked as a whole."""

from __future__ import annotations

import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.templates import Template, parse_template
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, TemplateError, did_you_mean
from scrapy_urlcanon.rule_files.documents import is_texts, parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self

SIGN_KINDS = ("generator", "header", "cookie", "asset", "element", "title", "link")
"""Where a sign stands: ``<meta name="generator">``, a header of the response, the name of a cookie,
the address of a style sheet, script or image, an element, the title, a link to another host."""
BENCHMARK, DOCUMENTATION = "benchmark", "documentation"
TEMPLATE_OPTIONS = ("rewrite_path", "skip")
"""The options whose values hold paths: these begin at the place of the program."""
_ELEMENT = re.compile(r"[a-z][a-z0-9-]*")
_NOT_CERTAIN = ("skip",)
_ANY_PLACE = "example.com"


@frozen
class Sign:
    """One thing that tells a program."""

    kind: str
    """One of :data:`SIGN_KINDS`."""
    text: str
    """The beginning of the generator or of the title; the name of a header, a cookie or an element;
    the path of an asset below the place of the program; the host that a link leads to. ``*`` is any
    text."""
    value: str = "*"
    """What the value of a header has to be; ``*`` is any text."""
    attributes: Mapping[str, str] = field(factory=dict)
    """What an element has to have: one class among others, and whole values of all else."""
    is_certain: bool = False
    """Whether no other program has it."""

    def __str__(self) -> str:
        told = [self.text]
        told += [f"{name}={value}" for name, value in self.attributes.items()]
        if self.value != "*":
            told.append(self.value)
        return f"{self.kind} {' '.join(told)}"


@frozen
class Told:
    """What every rule of a profile has to tell."""

    merges: str
    """Which URLs it makes one."""
    because: str
    """Why these are one page."""
    source: str
    """Where that is known from: a page of the documentation, a file of the source."""
    proved_by: str
    """``benchmark``, if a crawl of the real program proved it; else ``documentation``."""
    is_certain: bool = False
    """Whether it holds without any evidence from the site. Else it is a suspicion."""
    is_view: bool = False
    """Whether its URLs show the same things in another order or layout, or lead to what others do:
    the text of their pages may differ."""
    since: tuple[int, ...] = ()
    """The first version that it holds for; all up to :attr:`until` where it is empty."""
    until: tuple[int, ...] = ()
    """The last version that it holds for; all where it is empty."""

    def lines(self) -> Iterator[str]:
        """Yield what it does, and below which place."""
        raise NotImplementedError

    def holds_for(self, version: tuple[int, ...]) -> bool:
        """Tell whether it is for *version*; for an unknown one, if it is for all."""
        if not version:
            return not (self.since or self.until)
        return self.since <= version and (
            not self.until or version[: len(self.until)] <= self.until
        )


def options_shown(options: Mapping[str, Any]) -> str:
    """Return *options* as a reader is shown them.

    >>> options_shown({"drop_params": ["sid"], "www": "strip"})
    "drop_params = ['sid'], www = 'strip'"
    """
    return ", ".join(f"{name} = {value!r}" for name, value in options.items())


@frozen
class ProfileRule(Told):
    """Options for URLs of a program."""

    where: tuple[str, ...] = ("",)
    """Patterns without a host, which begin at the place of the program."""
    options: Mapping[str, Any] = field(factory=dict)
    """As in any rule; paths in them begin at the place too."""

    def lines(self) -> Iterator[str]:
        for where in self.where:
            yield f"/{where}: {options_shown(self.options)}"


@frozen
class Part(Told):
    """URLs that show the page on which a part of it stands, such as one post of a topic.

    No rewrite computes that page. But a fetched one in which an element has the id of the part
    proves that it was seen.
    """

    links: tuple[Template, ...] = ()
    """The shapes of these URLs, from the place on; each has ``{part}``."""
    pages: tuple[Template, ...] = ()
    """The shapes of the URLs of the pages, from the place on."""
    id: str = "{part}"
    """The id, with ``{part}`` in it."""
    attribute: str = "id"
    """The attribute that has it; an ``id`` may be the ``name`` of an anchor as well."""
    within: str = ""
    """The name of a place in all templates without which the id says nothing, if any."""

    def lines(self) -> Iterator[str]:
        for template in self.links:
            yield f"{template}: where a page has the {self.attribute} {self.id!r}"


_RulesAndParts: TypeAlias = tuple[tuple[ProfileRule, ...], tuple[Part, ...]]


@frozen(slots=False)
class Profile:
    """What is known of one program."""

    name: str
    kind: str
    """What it is: ``forum``, ``wiki`` ..."""
    signs: tuple[Sign, ...]
    scripts: tuple[str, ...]
    """Names of scripts, which stand at the place itself."""
    shapes: tuple[Template, ...]
    """Shapes of URLs that hardly another program has, from the place on."""
    runs_on: tuple[str, ...]
    """The programs that show their signs on its pages too."""
    read_rules: Callable[[], _RulesAndParts] = field(eq=False, repr=False)
    """Returns the rules, and what is known of parts of pages."""

    @property
    def rules(self) -> tuple[ProfileRule, ...]:
        """Options for its URLs."""
        return self._rules_and_parts[0]

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is known of the URLs of parts of its pages."""
        return self._rules_and_parts[1]

    @property
    def all_rules(self) -> tuple[Told, ...]:
        """The rules, and what is known of parts of pages."""
        return (*self.rules, *self.parts)

    @cached_property
    def _rules_and_parts(self) -> _RulesAndParts:
        return self.read_rules()

    def with_version(self, version: tuple[int, ...]) -> str:
        """Return the name of the program with its *version*, if that is known."""
        return f"{self.name} {'.'.join(map(str, version))}".rstrip()

    @classmethod
    def read(cls, origin: str, text: str, *, is_ours: bool = False) -> Self:
        """Return the profile that *text*, TOML, is.

        :param origin: what messages call it.
        :param is_ours: whether all of it was checked before, and its rules stand behind all else.
            They are most of it, and are read once somebody asks for them: each crawl looks for all
            programs, and few sites run on one.
        :raises ConfigurationError: with all problems at once.
        """
        try:
            document = parse_toml(_BEGIN_OF_RULES.split(text, maxsplit=1)[0] if is_ours else text)
        except ValueError as error:
            raise ConfigurationError([Problem(origin, f"cannot be read: {error}")]) from None
        reader = _Reader(origin, are_rules_checked=is_ours)
        table = reader.table(document, "", _PROFILE_KEYS)
        profile = cls(
            name=reader.text(table, "name", ""),
            kind=reader.text(table, "kind", ""),
            signs=tuple(reader.each(table, "signs", reader.sign)),
            scripts=reader.texts(table, "scripts", ""),
            shapes=reader.templates(table, "shapes", ""),
            runs_on=reader.texts(table, "runs_on", ""),
            read_rules=partial(reader.rules_and_parts, text),
        )
        if not is_ours:
            _ = profile.all_rules
        if not (
            any(sign.is_certain for sign in profile.signs)
            or len({sign.kind for sign in profile.signs}) > 1
        ):
            reader.note("signs", "expected a certain one, or those of two kinds")
        if reader.problems:
            raise ConfigurationError(reader.problems)
        return profile


_BEGIN_OF_RULES = re.compile(r"^\[\[(?:rules|parts)\]\]", re.MULTILINE)
_PROFILE_KEYS = ("name", "kind", "home", "signs", "rules", "parts", "scripts", "shapes", "runs_on")
_SIGN_KEYS = (*SIGN_KINDS, "value", "with", "certain")
_TOLD_KEYS = ("merges", "because", "source", "proved_by", "certain", "view", "since", "until")
_RULE_KEYS = (*_TOLD_KEYS, "where", "options")
_PART_KEYS = (*_TOLD_KEYS, "links", "pages", "id", "attribute", "within")


class _Reader:
    """Reads the tables of one file, and notes all that is wrong with them."""

    def __init__(self, origin: str, *, are_rules_checked: bool) -> None:
        self._origin = origin
        self._are_rules_checked = are_rules_checked
        self.problems: list[Problem] = []

    def note(self, key: str, message: str) -> None:
        self.problems.append(Problem(self._origin, message, key=key))

    def table(self, value: object, key: str, keys: Sequence[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.note(key, f"expected a table, got {value!r}")
            return {}
        for name in value:
            if name not in keys:
                self.note(f"{key}.{name}".strip("."), "no such key" + did_you_mean(name, keys))
        return value

    def text(self, table: Mapping[str, Any], name: str, key: str, default: str = "") -> str:
        value: object = table.get(name, default)
        if not isinstance(value, str):
            self.note(f"{key}.{name}".strip("."), f"expected a text, got {value!r}")
            return ""
        if not value and not default and name != "within":
            self.note(f"{key}.{name}".strip("."), "it is missing, or empty")
        return value

    def texts(self, table: Mapping[str, Any], name: str, key: str) -> tuple[str, ...]:
        value = table.get(name, [])
        if not is_texts(value):
            self.note(f"{key}.{name}".strip("."), f"expected a list of texts, got {value!r}")
            return ()
        return tuple(value)

    def flag(self, table: Mapping[str, Any], name: str, key: str) -> bool:
        value = table.get(name, False)
        if not isinstance(value, bool):
            self.note(f"{key}.{name}", f"expected true or false, got {value!r}")
        return value is True

    def version(self, table: Mapping[str, Any], name: str, key: str) -> tuple[int, ...]:
        value = table.get(name)
        if value is None:
            return ()
        version = parse_version(value) if isinstance(value, str) else ()
        if not version:
            self.note(f"{key}.{name}", f"expected a version such as '1.39', got {value!r}")
        return version

    def each(
        self, table: Mapping[str, Any], name: str, read: Callable[[object, str], Any]
    ) -> Iterator[Any]:
        value = table.get(name, [])
        if not isinstance(value, list):
            self.note(name, f"expected tables [[{name}]], got {value!r}")
            return
        for number, each in enumerate(value):
            yield read(each, f"{name}[{number}]")

    def sign(self, value: object, key: str) -> Sign:
        table = self.table(value, key, _SIGN_KEYS)
        kinds = [kind for kind in SIGN_KINDS if kind in table]
        if len(kinds) != 1:
            self.note(key, f"expected one of {', '.join(SIGN_KINDS)}, got {len(kinds)} of them")
            return Sign("", "")
        attributes = table.get("with", {})
        if not isinstance(attributes, dict) or not all(
            isinstance(text, str) for text in attributes.values()
        ):
            self.note(f"{key}.with", f"expected attributes and their texts, got {attributes!r}")
            attributes = {}
        text = self.text(table, kinds[0], key)
        if kinds[0] == "element" and _ELEMENT.fullmatch(text) is None:
            self.note(f"{key}.element", f"expected the name of an element, got {text!r}")
        return Sign(
            kinds[0],
            text,
            self.text(table, "value", key, "*"),
            attributes,
            self.flag(table, "certain", key),
        )

    def rules_and_parts(self, text: str) -> _RulesAndParts:
        document = parse_toml(text)
        return (
            tuple(self.each(document, "rules", self.rule)),
            tuple(self.each(document, "parts", self.part)),
        )

    def rule(self, value: object, key: str) -> ProfileRule:
        table = self.table(value, key, _RULE_KEYS)
        told = self._told(table, key)
        where = self.texts(table, "where", key) or ("",)
        for text in where:
            if text.startswith("/"):
                message = (
                    f"expected what stands below the place, {text.lstrip('/')!r}, got {text!r}"
                )
                self.note(f"{key}.where", message)
        options = table.get("options")
        if not isinstance(options, dict) or not options:
            self.note(f"{key}.options", f"expected a mapping of options, got {options!r}")
            options = {}
        for option in _NOT_CERTAIN:
            if told["is_certain"] and option in options:
                self.note(f"{key}.options.{option}", "it loses pages, so it cannot be certain")
        if not self._are_rules_checked:
            self._check(options, where, key)
        return ProfileRule(**told, where=where, options=options)

    def _check(self, options: Mapping[str, Any], where: Iterable[str], key: str) -> None:
        source = Source(key, {f"{_ANY_PLACE}/{text}": options for text in where})
        try:
            Configuration.load(DEFAULT_PRESET, [source])
        except ConfigurationError as error:
            self.problems += (
                problem._replace(origin=self._origin, key=f"{key}.{problem.key or 'where'}")
                for problem in error.problems
            )

    def part(self, value: object, key: str) -> Part:
        table = self.table(value, key, _PART_KEYS)
        part = Part(
            **self._told(table, key),
            links=self.templates(table, "links", key),
            pages=self.templates(table, "pages", key),
            id=self.text(table, "id", key, "{part}"),
            attribute=self.text(table, "attribute", key, "id"),
            within=self.text(table, "within", key),
        )
        for name in ("links", "pages"):
            if not table.get(name):
                self.note(f"{key}.{name}", "expected templates")
        if any("part" not in template.kinds for template in part.links):
            self.note(f"{key}.links", "expected {part} in each")
        if part.id.count("{part}") != 1:
            self.note(f"{key}.id", f"expected one {{part}} in it, got {part.id!r}")
        for template in (*part.links, *part.pages) if part.within else ():
            if part.within not in template.kinds:
                self.note(f"{key}.within", f"{{{part.within}}} is not in {str(template)!r}")
        return part

    def templates(self, table: Mapping[str, Any], name: str, key: str) -> tuple[Template, ...]:
        found = []
        for text in self.texts(table, name, key):
            try:
                found.append(parse_template(f"/{text}"))
            except TemplateError as error:
                self.note(f"{key}.{name}".strip("."), f"{text!r}: {error}")
        return tuple(found)

    def _told(self, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        proved_by = self.text(table, "proved_by", key)
        is_certain = self.flag(table, "certain", key)
        if proved_by not in {BENCHMARK, DOCUMENTATION, ""}:
            message = f"expected {BENCHMARK!r} or {DOCUMENTATION!r}, got {proved_by!r}"
            self.note(f"{key}.proved_by", message)
        elif is_certain and proved_by != BENCHMARK:
            self.note(f"{key}.certain", "only what a benchmark proved is certain")
        return {
            "merges": self.text(table, "merges", key),
            "because": self.text(table, "because", key),
            "source": self.text(table, "source", key),
            "proved_by": proved_by,
            "is_certain": is_certain,
            "is_view": self.flag(table, "view", key),
            "since": self.version(table, "since", key),
            "until": self.version(table, "until", key),
        }


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers that *text* begins with; none where it does not begin with one.

    >>> parse_version("1.39.17-1+deb12"), parse_version("beta")
    ((1, 39, 17), ())
    """
    numbers = []
    for piece in text.split("."):
        digits = piece[: len(piece) - len(piece.lstrip("0123456789"))]
        if not digits.isascii() or not digits or len(digits) > _LONGEST_NUMBER:
            break
        numbers.append(int(digits))
        if digits != piece:
            break
    return tuple(numbers)


_LONGEST_NUMBER = 9
