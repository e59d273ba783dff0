"""Where a value of the configuration was written."""

from __future__ import annotations

from typing import NamedTuple


class Layer(NamedTuple):
    """One pattern of one origin of rules, or a whole origin if it has no patterns.

    >>> print(Layer("urlcanon.toml", "example.com"))
    urlcanon.toml['example.com']
    """

    origin: str
    """A setting, the path of a rule file, a preset."""
    pattern: str | None = None
    """The pattern as it was written, or None where the origin holds for all URLs."""

    def __str__(self) -> str:
        return self.origin if self.pattern is None else f"{self.origin}[{self.pattern!r}]"


ALWAYS = Layer("always")
"""The layer of the normalizations that no option turns off."""


def preset_layer(preset: str) -> Layer:
    """Return the layer of the values of *preset*."""
    return Layer(f"preset {preset}")
