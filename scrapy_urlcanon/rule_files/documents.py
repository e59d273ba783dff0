"""Reads JSON and TOML that anybody may have written: what is nested too deep is an error too."""

from __future__ import annotations

import json
import sys
from typing import Any

MAX_DEPTH = 50
"""Levels of lists and mappings; no file that is read here has ten of them."""


def parse_json(text: str) -> Any:
    """Return what *text* says.

    :raises ValueError: if it is no JSON, or is nested too deep.
    """
    try:
        return _checked(json.loads(text))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def parse_toml(text: str) -> Any:
    """Return what *text* says.

    :raises ValueError: if it is no TOML, or is nested too deep.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        return _checked(tomllib.loads(text))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"


def _checked(document: Any) -> Any:
    """Return *document*, which whoever shows or copies it can take for not too deep."""
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
