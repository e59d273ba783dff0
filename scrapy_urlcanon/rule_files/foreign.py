"""Translates rule files of other programs into the shape of ``URLCANON_RULES``.

:func:`read_foreign` recognises a file by its content. A translation never merges more than the
original rule; what our options cannot express is listed with the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.rule_files import clearurls, duplicate_url_discarder, query_filter, removeparam
from scrapy_urlcanon.rule_files.documents import parse_json
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Imported", "LeftOut", "read_foreign", "read_together"]

_MALFORMED = object()


def read_foreign(text: str, *, name: str) -> Imported | None:
    """Translate *text*, a rule file of another program, into our options.

    Return None if it is in no known foreign format, for example in our own.

    >>> imported = read_foreign("||example.com^$removeparam=ref", name="list.txt")
    >>> imported.format, imported.rules
    ('removeparam', {'example.com': {'drop_params': ['ref']}})

    :param name: the name of the file, for messages; a ``.toml`` is never a foreign one.
    :raises ValueError: if it is in a known format, but not valid; the message says what was
        expected and where.
    """
    return read_together([(name, text)])[0]


def read_together(files: Iterable[tuple[str, str]]) -> tuple[Imported | None, ...]:
    """Translate files that are used together, each as :func:`read_foreign` does.

    Files of duplicate-url-discarder depend on each other: its rules for all URLs do not apply to
    a URL that a rule of any file matches. All that they say together is returned for the first of
    them, and nothing for the others.

    >>> found = read_together([("ours.toml", ""), ("list.txt", "||a.example^$removeparam=ref")])
    >>> [imported and imported.rules for imported in found]
    [None, {'a.example': {'drop_params': ['ref']}}]

    :param files: pairs of name and text.
    :raises ValueError: as :func:`read_foreign`, with the name of the file.
    """
    results: list[Imported | None] = []
    discarder_rules: list[duplicate_url_discarder.UrlRule] = []
    discarder_places: list[int] = []
    for place, (name, text) in enumerate(files):
        try:
            document = _parse(text, name)
            if duplicate_url_discarder.is_format(document):
                several = bool(discarder_places)
                discarder_places.append(place)
                discarder_rules += duplicate_url_discarder.parse(document, name=name)
                results.append(Imported(duplicate_url_discarder.FORMAT, {}) if several else None)
            else:
                results.append(_read(document, text, name))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    if discarder_places:
        results[discarder_places[0]] = duplicate_url_discarder.translate(discarder_rules)
    return tuple(results)


def _parse(text: str, name: str) -> object:
    text = text.removeprefix("\ufeff").lstrip()
    if name.lower().endswith(".toml") or not text.startswith(("{", "[")):
        return _MALFORMED
    try:
        return parse_json(text)
    except ValueError:
        return _MALFORMED


def _read(document: object, text: str, name: str) -> Imported | None:
    if clearurls.is_format(document):
        return clearurls.read(document)
    if query_filter.is_format(document):
        return query_filter.read(document)
    is_text = document is _MALFORMED and not name.lower().endswith((".toml", ".json"))
    if is_text and removeparam.is_format(text):
        return removeparam.read(text)
    return None
