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
from scrapy_urlcanon.canonicalizer.rules.authority import (
    HostAliases,
    Scheme,
    SubdomainToPath,
    Userinfo,
    Www,
)
from scrapy_urlcanon.canonicalizer.rules.base import (
    Example,
    Normalization,
    Option,
    ParameterRule,
    Rule,
    TextNormalization,
)
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.nested_url import NestedUrl
from scrapy_urlcanon.canonicalizer.rules.path import (
    DirectoryIndex,
    DuplicateSlashes,
    PathCase,
    PathParams,
    TrailingSlash,
)
from scrapy_urlcanon.canonicalizer.rules.query import (
    DefaultParams,
    DropParams,
    EmptyParams,
    KeepParams,
    ParamCase,
    QuerySeparator,
    RepeatedParams,
    SortQuery,
    TrackingParams,
)
from scrapy_urlcanon.canonicalizer.rules.template import RewritePath, Skip

CATALOGUE: tuple[type[Option], ...] = (
    # For the URL as it was written.
    NestedUrl,
    QuerySeparator,
    Scheme,
    Userinfo,
    HostAliases,
    Www,
    SubdomainToPath,
    PathParams,
    DuplicateSlashes,
    PathCase,
    DirectoryIndex,
    TrailingSlash,
    # The names of parameters before all that goes by them.
    ParamCase,
    # Before the rules that drop parameters: it may need one of them.
    RewritePath,
    TrackingParams,
    DropParams,
    KeepParams,
    DefaultParams,
    EmptyParams,
    RepeatedParams,
    SortQuery,
    Fragment,
    # Looks at what they left.
    Skip,
)
"""Every option, in the order in which they apply."""

BY_NAME: dict[str, type[Option]] = {option.name: option for option in CATALOGUE}
"""Every option by its name."""

__all__ = [
    "ALWAYS_ON",
    "BY_NAME",
    "CATALOGUE",
    "NORMALIZATIONS",
    "TEXT_NORMALIZATIONS",
    "Example",
    "Normalization",
    "Option",
    "ParameterRule",
    "Rule",
    "Skip",
    "TextNormalization",
]
