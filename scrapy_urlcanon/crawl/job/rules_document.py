"""Represents the rules of a crawl as plain data that can be stored, compared and restored."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.configuration import Configuration, RuleSet
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.patterns import Pattern, parse_pattern
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS

if TYPE_CHECKING:
    from typing_extensions import Self

_SHOWN = 10


@frozen
class RulesDocument:
    """All that decides which requests are duplicates, as JSON.

    >>> from scrapy_urlcanon.canonicalizer import Canonicalizer
    >>> def document(rules):
    ...     return RulesDocument.of(Canonicalizer(rules).configuration)
    >>> old = document({"a.example": {"www": "strip"}, "b.example": {"www": "strip"}})
    >>> new = document({"a.example": {"www": "keep"}, "b.example": {"www": "strip"}})
    >>> old.digest == new.digest, old.changes(new)
    (False, ["rules['a.example']"])
    >>> RulesDocument.of(old.configuration()) == old
    True
    """

    data: dict[str, Any]

    @classmethod
    def of(cls, configuration: Configuration) -> Self:
        """Return the document of *configuration*."""
        preset = configuration.preset
        rule_sets = [
            # What a site declares during the crawl is not part of the configuration.
            [
                _rule_set_as_data(rule_set, rule_set.pattern)
                for rule_set in origin
                if isinstance(rule_set.pattern, Pattern)
            ]
            for origin in configuration.origins
        ]
        data = {
            "preset": preset,
            # These come with the plugin, and may change with its version.
            "preset_values": PRESETS[preset],
            "tracking_params": sorted(TRACKING_PARAMS),
            "origins": rule_sets,
        }
        # In the form that is read back from a file, with lists instead of tuples.
        return cls(json.loads(json.dumps(data)))

    @property
    def digest(self) -> str:
        """A hexadecimal digest that is equal for equal rules, whatever layers they come from."""
        origins = [
            [{**rule_set, "layer": None} for rule_set in origin] for origin in self.data["origins"]
        ]
        text = json.dumps({**self.data, "origins": [o for o in origins if o]}, sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def configuration(self) -> Configuration:
        """Return the configuration that this document was made of.

        The values of the preset and the tracking parameters are those of the installed plugin.

        :raises ValueError: if the preset no longer exists.
        """
        if self.data["preset"] not in PRESETS:
            raise ValueError(f"there is no preset {self.data['preset']!r}")
        return Configuration(
            self.data["preset"],
            tuple(
                tuple(_rule_set_from_data(rule_set) for rule_set in origin)
                for origin in self.data["origins"]
            ),
        )

    def changes(self, other: RulesDocument) -> list[str]:
        """Return the names of the layers that were added, removed or changed in *other*.

        >>> from scrapy_urlcanon.canonicalizer import Canonicalizer
        >>> def document(www):
        ...     options = {"www": www, "override": {"drop_params": ["!id"]}}
        ...     return RulesDocument.of(Canonicalizer({"a.example": options}).configuration)
        >>> document("strip").changes(document("keep"))
        ["rules['a.example']"]
        """
        names = []
        if self.data["preset"] != other.data["preset"]:
            names.append(f"the preset ({self.data['preset']} -> {other.data['preset']})")
        names += [
            text
            for key, text in (
                ("preset_values", "the values of the preset"),
                ("tracking_params", "the tracking parameters that the plugin knows"),
            )
            if self.data[key] != other.data[key] and self.data["preset"] == other.data["preset"]
        ]
        mine, theirs = self._layers(), other._layers()
        names += [
            layer
            for layer in dict.fromkeys([*mine, *theirs])
            if mine.get(layer) != theirs.get(layer)
        ]
        if not names and self.digest != other.digest:
            names.append("the order of the rules")
        if len(names) > _SHOWN:
            names[_SHOWN:] = [f"{len(names) - _SHOWN} more"]
        return names

    def _layers(self) -> dict[str, list[Any]]:
        """Return the rule sets by layer. A layer may have two: its options and its overrides."""
        layers: dict[str, list[Any]] = {}
        for origin in self.data["origins"]:
            for rule_set in origin:
                layers.setdefault(rule_set["layer"], []).append(rule_set)
        return layers


def _rule_set_as_data(rule_set: RuleSet, pattern: Pattern) -> dict[str, Any]:
    return {
        "pattern": pattern.text,
        "options": dict(rule_set.options),
        "inherit": rule_set.inherit,
        "override": rule_set.overrides,
        "layer": str(rule_set.layer),
    }


def _rule_set_from_data(data: dict[str, Any]) -> RuleSet:
    return RuleSet(
        parse_pattern(data["pattern"]),
        data["options"],
        Layer(data["layer"]),
        inherit=data["inherit"],
        overrides=data.get("override", False),
    )
