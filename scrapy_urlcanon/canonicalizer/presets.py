"""The presets: the value of every option before any rule of the user.

Each option says in which of them it differs, see
:class:`~scrapy_urlcanon.canonicalizer.rules.base.Presets`.
"""

from __future__ import annotations

from typing import Final

from scrapy_urlcanon.canonicalizer.rules import CATALOGUE

PRESETS: Final = CATALOGUE.presets
DEFAULT_PRESET: Final = "safe"
