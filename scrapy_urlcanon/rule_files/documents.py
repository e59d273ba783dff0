"""Reads JSON and TOML from anybody: text that is nested too deep is an error as well."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TypeGuard

MAX_DEPTH = 50
"""How many levels of lists and mappings there may be. Real files have fewer than ten."""


def parse_json(text: str, *, unique_keys: bool = False) -> Any:
    """Return the value of *text*, which is JSON.

    :param unique_keys: whether a key that is twice in one object is an error; otherwise the last
        one holds, as usual.
    :raises ValueError: if *text* is empty or no JSON, or is nested too deep.
    """
    if not text.strip():
        raise ValueError("it is empty")
    try:
        return _checked(json.loads(text, object_pairs_hook=_unique if unique_keys else None))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def parse_toml(text: str) -> Any:
    """Return the value of *text*, which is TOML.

    :raises ValueError: if *text* is no TOML, or is nested too deep.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        return _checked(tomllib.loads(text))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"it is no TOML: {error}{_hint(text, str(error))}") from None


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Tell whether *value*, parsed, is a list of texts; it may be empty.

    >>> is_texts(["sid", "ref"]), is_texts("sid"), is_texts(["sid", 1])
    (True, False, False)
    """
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _hint(text: str, message: str) -> str:
    """Return a hint for an error in a table whose name is a pattern that lacks its quotes."""
    number = _LINE.search(message)
    line = text.split("\n")[int(number[1]) - 1] if number else ""
    if not line.lstrip().startswith("[") or '"' in line:
        return ""
    return '; a pattern stands in quotes there, as in ["example.com/forum/"] or ["*"]'


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(
                f"{json.dumps(key, ensure_ascii=False)} stands twice in one object, where JSON "
                "forgets the first: join the two"
            )
        found[key] = value
    return found


_LINE = re.compile(r"at line (\d+)")
_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"


def _checked(document: Any) -> Any:
    """Return *document*; raise ValueError if it is nested too deep to be shown or copied."""
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return document
    raise ValueError(_TOO_DEEP)
