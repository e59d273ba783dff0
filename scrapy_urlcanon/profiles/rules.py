"""The rules of profiles, and what they know about parts of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.exceptions import ConfigurationError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.profiles.reading import TableReader

BENCHMARK, DOCUMENTATION = "benchmark", "documentation"
TEMPLATE_OPTIONS = frozenset({"rewrite_path", "skip"})
"""The options with paths in their values, which are relative to the place of the program."""
_NOT_CERTAIN = ("skip",)
_ANY_PLACE = "example.com"


@frozen
class DocumentedRule:
    """A rule of a profile: what it merges, why that is safe, and by which source."""

    merges: str
    """Which URLs it merges."""
    because: str
    """Why these URLs are one page."""
    source: str
    """The source of that: a page of the documentation, or a file of the program."""
    proved_by: str
    """``benchmark``, if a crawl of the real program proved it; else ``documentation``."""
    is_certain: bool = False
    """Whether it holds without evidence from the site. Otherwise it is a suspicion."""
    is_view: bool = False
    """Whether its URLs show the same things in another order or layout, or lead where others do, so
    that the texts of the pages may differ."""
    since: tuple[int, ...] = ()
    """The first version that it holds for; if empty, all up to :attr:`until`."""
    until: tuple[int, ...] = ()
    """The last version that it holds for; if empty, all from :attr:`since` on."""

    def lines(self) -> Iterator[str]:
        """Yield what it does, and below which place."""
        raise NotImplementedError

    def holds_for(self, version: tuple[int, ...]) -> bool:
        """Tell whether it holds for *version*; for an unknown one, whether it holds for all."""
        if not version:
            return not (self.since or self.until)
        return self.since <= version and (
            not self.until or version[: len(self.until)] <= self.until
        )


def options_shown(options: Mapping[str, Any]) -> str:
    """Return *options* as text for a reader.

    >>> options_shown({"drop_params": ["sid"], "www": "strip"})
    "drop_params = ['sid'], www = 'strip'"
    """
    return ", ".join(f"{name} = {value!r}" for name, value in options.items())


@frozen
class ProfileRule(DocumentedRule):
    """Options for URLs of a program."""

    where: tuple[str, ...] = ("",)
    """Patterns without a host, relative to the place of the program."""
    options: Mapping[str, Any] = field(factory=dict)
    """As in any rule; paths are relative to the place of the program."""

    def lines(self) -> Iterator[str]:
        for where in self.where:
            yield f"/{where}: {options_shown(self.options)}"


@frozen
class Part(DocumentedRule):
    """URLs that show the page on which a part of it stands, such as one post of a topic.

    No rewrite can compute the URL of that page. But a fetched page with an element that has the id
    of the part proves that it was seen.
    """

    links: tuple[Template, ...] = ()
    """The shapes of these URLs, relative to the place; each has ``{part}``."""
    pages: tuple[Template, ...] = ()
    """The shapes of the URLs of the pages, relative to the place."""
    id: str = "{part}"
    """The id of the element, with ``{part}`` in it."""
    attribute: str = "id"
    """The attribute with the id; for ``id`` also the ``name`` of an anchor."""
    within: str = ""
    """A field of all templates that must be equal as well, if the id alone is not unique."""

    def lines(self) -> Iterator[str]:
        for template in self.links:
            yield f"{template}: where a page has the {self.attribute} {self.id!r}"


_COMMON_KEYS = ("merges", "because", "source", "proved_by", "certain", "view", "since", "until")
_RULE_KEYS = (*_COMMON_KEYS, "where", "options")
_PART_KEYS = (*_COMMON_KEYS, "links", "pages", "id", "attribute", "within")


def read_rule(
    reader: TableReader, value: object, key: str, *, are_options_checked: bool
) -> ProfileRule:
    """Return the rule in *value*, and note its problems in *reader*.

    :param key: the key of the rule, for messages.
    :param are_options_checked: whether its options were checked before, which takes long.
    """
    table = reader.table(value, key, _RULE_KEYS)
    documentation = _documentation(reader, table, key)
    where = reader.texts(table, "where", key) or ("",)
    for text in where:
        if text.startswith("/"):
            message = f"expected what stands below the place, {text.lstrip('/')!r}, got {text!r}"
            reader.note(f"{key}.where", message)
    options = table.get("options")
    if not isinstance(options, dict) or not options:
        reader.note(f"{key}.options", f"expected a mapping of options, got {options!r}")
        options = {}
    for option in _NOT_CERTAIN:
        if documentation["is_certain"] and option in options:
            reader.note(f"{key}.options.{option}", "it loses pages, so it cannot be certain")
    if not are_options_checked:
        _check(reader, options, where, key)
    return ProfileRule(**documentation, where=where, options=options)


def _check(reader: TableReader, options: Mapping[str, Any], where: Iterable[str], key: str) -> None:
    source = Source(key, {f"{_ANY_PLACE}/{text}": options for text in where})
    try:
        Configuration.load(DEFAULT_PRESET, [source])
    except ConfigurationError as error:
        reader.problems += (
            problem._replace(origin=reader.origin, key=f"{key}.{problem.key or 'where'}")
            for problem in error.problems
        )


def read_part(reader: TableReader, value: object, key: str) -> Part:
    """Return what *value* says about parts of pages, as :func:`read_rule` does."""
    table = reader.table(value, key, _PART_KEYS)
    part = Part(
        **_documentation(reader, table, key),
        links=read_templates(reader, table, "links", key),
        pages=read_templates(reader, table, "pages", key),
        id=reader.text(table, "id", key, "{part}"),
        attribute=reader.text(table, "attribute", key, "id"),
        within=reader.text(table, "within", key),
    )
    for name in ("links", "pages"):
        if not table.get(name):
            reader.note(f"{key}.{name}", "expected templates")
    if any("part" not in template.kinds for template in part.links):
        reader.note(f"{key}.links", "expected {part} in each")
    if part.id.count("{part}") != 1:
        reader.note(f"{key}.id", f"expected one {{part}} in it, got {part.id!r}")
    for template in (*part.links, *part.pages) if part.within else ():
        if part.within not in template.kinds:
            reader.note(f"{key}.within", f"{{{part.within}}} is not in {str(template)!r}")
    return part


def _documentation(reader: TableReader, table: Mapping[str, Any], key: str) -> dict[str, Any]:
    proved_by = reader.text(table, "proved_by", key)
    is_certain = reader.flag(table, "certain", key)
    if proved_by not in {BENCHMARK, DOCUMENTATION, ""}:
        message = f"expected {BENCHMARK!r} or {DOCUMENTATION!r}, got {proved_by!r}"
        reader.note(f"{key}.proved_by", message)
    elif is_certain and proved_by != BENCHMARK:
        reader.note(f"{key}.certain", "only what a benchmark proved is certain")
    return {
        "merges": reader.text(table, "merges", key),
        "because": reader.text(table, "because", key),
        "source": reader.text(table, "source", key),
        "proved_by": proved_by,
        "is_certain": is_certain,
        "is_view": reader.flag(table, "view", key),
        "since": reader.version(table, "since", key),
        "until": reader.version(table, "until", key),
    }


def read_templates(
    reader: TableReader, table: Mapping[str, Any], name: str, key: str
) -> tuple[Template, ...]:
    """Return the templates under *name* in *table*, as :func:`read_rule` does."""
    found = []
    for text in reader.texts(table, name, key):
        try:
            found.append(parse_template(f"/{text}"))
        except TemplateError as error:
            reader.note(f"{key}.{name}".strip("."), f"{text!r}: {error}")
    return tuple(found)
