"""Changes rules in a TOML file, and leaves comments, order and all else as they are.

It is a module of its own so that tomlkit is imported only if there is such a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import tomlkit
from tomlkit.items import InlineTable, Table

from scrapy_urlcanon.learn.results.in_force import subject_of
from scrapy_urlcanon.learn.results.toml_text import (
    is_learned,
    learned_lines,
    option_text,
    tables,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_urlcanon.learn.results.toml_text import Line


def edited(text: str, added: Sequence[Line], removed: Sequence[Line]) -> str:
    """Return *text* with the rules of *added* and without those of *removed*.

    :param added: rules for patterns that *text* has.
    """
    document = tomlkit.parse(text)
    learned = set(learned_lines(text))
    successors = {_subject(line): line for line in added}
    done = []
    for line in removed:
        successor = successors.get(_subject(line))
        if successor and not is_learned(line, learned):
            _replace(document[line.pattern], line, successor)
            done.append(successor)
        else:
            _remove(document[line.pattern], line)
    options: dict[tuple[str, str], list[Line]] = {}
    for line in added:
        if line not in done:
            options.setdefault((line.pattern, line.option), []).append(line)
    for (pattern, option), lines in options.items():
        table: Any = document[pattern]
        if option not in table:
            _add_option(table, lines, has_header=pattern in _with_header(document))
        elif isinstance(lines[0].setting, list):
            for line in lines:
                for value in line.setting:
                    _add_line(table[option], value, comment=line.said)
        else:
            body = tomlkit.parse(option_text(lines)).body
            _append(table[option], [(key, item) for key, item in body if key])
    return document.as_string()


def _subject(line: Line) -> tuple[str, str, str | None]:
    return line.pattern, line.option, subject_of(line.option, line.setting)


def _replace(table: Any, old: Line, new: Line) -> None:
    """Write *new* in the place of *old*, with what a person says of it."""
    if isinstance(old.setting, list):
        values = table[old.option]
        values[values.index(old.setting[0])] = new.setting[0]
        _add_line(values, comment=f"{to_text(new.setting[0])}: {new.said}")
        return
    place, name, value = table, old.option, new.setting
    if old.is_of_mapping:
        place = table[old.option]
        ((name, value),) = new.setting.items()
    comment = place[name].trivia.comment.removeprefix("#").strip()
    place[name] = value
    # In an inline table a comment would hide all that follows.
    if not isinstance(place, InlineTable):
        place[name].comment(f"{comment}; {new.said}" if comment else new.said)


def _remove(table: Any, line: Line) -> None:
    if isinstance(line.setting, list):
        values = table[line.option]
        for value in line.setting:
            del values[values.index(value)]
        is_empty = not values and "#" not in values.as_string()
    elif line.is_of_mapping:
        for name in line.setting:
            del table[line.option][name]
        is_empty = not table[line.option]
    else:
        is_empty = True
    if is_empty:
        del table[line.option]


def _with_header(document: tomlkit.TOMLDocument) -> set[str]:
    """Return the patterns whose table has a header, unlike inline tables and dotted keys."""
    return {
        key.key
        for key, item in document.body
        if key and isinstance(item, Table) and not key.is_dotted()
    }


def _add_option(table: Any, lines: Sequence[Line], *, has_header: bool) -> None:
    first = lines[0]
    if first.is_of_mapping and not has_header:
        # Without a header of its own, the table of the site cannot have one with a header in it.
        table[first.option] = tomlkit.inline_table()
        for line in lines:
            table[first.option].update(line.setting)
        return
    item = cast("Any", tomlkit.parse("".join(tables(lines))))[first.pattern][first.option]
    if not first.is_of_mapping or not isinstance(table, Table):
        _append(table, [(first.option, item)])
        return
    before = table
    while before.value.body and isinstance(before.value.body[-1][1], Table):
        before = before.value.body[-1][1]
    comments = _without_comments_at_end(before)
    table.add(first.option, item)
    item.value.body.extend(comments)


def _add_line(values: Any, *entry: object, comment: str) -> None:
    values.add_line(*entry, comment=comment or None, indent="    ")
    if values.as_string().splitlines()[-1].strip() != "]":
        values.add_line(indent="")


def _append(table: Any, entries: Sequence[tuple[Any, Any]]) -> None:
    """Add *entries* to a table, before the tables in it and the comments at its end."""
    if not isinstance(table, Table):
        for key, item in entries:
            table[key] = item
        return
    body = table.value.body
    inner = [
        (key, item, item.trivia.indent)
        for key, item in body
        if key and isinstance(item, Table) and not key.is_dotted()
    ]
    for key, _, _ in inner:
        table.remove(key)
    comments = _without_comments_at_end(table)
    for key, item in entries:
        table.add(key, item)
    body.extend(comments)
    for key, item, indent in inner:
        table.add(key, item)
        item.trivia.indent = indent


def _without_comments_at_end(table: Table) -> list[Any]:
    """Remove and return the comments and empty lines at the end: they belong to what follows."""
    body = table.value.body
    end = len(body)
    while end and body[end - 1][0] is None:
        end -= 1
    comments = body[end:]
    del body[end:]
    return comments
