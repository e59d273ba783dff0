"""The parameters that only tell where a visitor came from."""

from __future__ import annotations

TRACKING_PARAMS: tuple[str, ...] = ("utm_*", "gclid", "fbclid")
"""Exact names, but for ``utm_*``."""
