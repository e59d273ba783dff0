"""The catalogue of rules, in the order in which they apply.

A new option is one class, listed here and in
:mod:`scrapy_urlcanon.canonicalizer.presets`; its tests and its documentation come from it.
"""

from __future__ import annotations

from scrapy_urlcanon.canonicalizer.rules.always import (
    ALWAYS_ON,
    NORMALIZATIONS,
    TEXT_NORMALIZATIONS,
)
from scrapy_urlcanon.canonicalizer.rules.authority import Scheme, Www
from scrapy_urlcanon.canonicalizer.rules.base import (
    ALWAYS,
    Example,
    Normalization,
    ParameterRule,
    Rule,
    TextNormalization,
)
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.path import (
    DirectoryIndex,
    DuplicateSlashes,
    TrailingSlash,
)
from scrapy_urlcanon.canonicalizer.rules.query import (
    DefaultParams,
    DropParams,
    EmptyParams,
    KeepParams,
    SortQuery,
    TrackingParams,
)

CATALOGUE: tuple[type[Rule], ...] = (
    Scheme,
    Www,
    DuplicateSlashes,
    DirectoryIndex,
    TrailingSlash,
    TrackingParams,
    DropParams,
    KeepParams,
    DefaultParams,
    EmptyParams,
    SortQuery,
    Fragment,
)
"""Every option, in the order in which they apply."""

BY_NAME: dict[str, type[Rule]] = {rule.name: rule for rule in CATALOGUE}
"""Every option by its name."""

__all__ = [
    "ALWAYS",
    "ALWAYS_ON",
    "BY_NAME",
    "CATALOGUE",
    "NORMALIZATIONS",
    "TEXT_NORMALIZATIONS",
    "Example",
    "Normalization",
    "ParameterRule",
    "Rule",
    "TextNormalization",
]
