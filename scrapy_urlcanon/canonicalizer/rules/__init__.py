"""The catalogue of options, and the normalizations that are always on.

A new option is one class in one of the modules below. Its place in the order, its value in each
preset, its tests and its documentation come from the class.
"""

from __future__ import annotations

from scrapy_urlcanon.canonicalizer.rules import (
    authority,
    fragment,
    nested_url,
    param_names,
    param_values,
    path,
    query,
    separators,
    template,
)
from scrapy_urlcanon.canonicalizer.rules.always import (
    ALWAYS_ON,
    NORMALIZATIONS,
    TEXT_NORMALIZATIONS,
)
from scrapy_urlcanon.canonicalizer.rules.base import (
    AlwaysOn,
    Classical,
    Example,
    Normalization,
    Option,
    ParameterRule,
    PathRule,
    Presets,
    Rule,
    TextNormalization,
)
from scrapy_urlcanon.canonicalizer.rules.catalogue import Catalogue, options_of
from scrapy_urlcanon.canonicalizer.rules.template import Skip

CATALOGUE = Catalogue(
    options_of(
        authority,
        fragment,
        nested_url,
        param_names,
        param_values,
        path,
        query,
        separators,
        template,
    )
)
"""Every option, in the order in which they apply."""

BY_NAME = CATALOGUE.by_name
"""Every option by its name."""

__all__ = [
    "ALWAYS_ON",
    "BY_NAME",
    "CATALOGUE",
    "NORMALIZATIONS",
    "TEXT_NORMALIZATIONS",
    "AlwaysOn",
    "Catalogue",
    "Classical",
    "Example",
    "Normalization",
    "Option",
    "ParameterRule",
    "PathRule",
    "Presets",
    "Rule",
    "Skip",
    "TextNormalization",
]
