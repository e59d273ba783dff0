"""Formats rules for logs and reports, without the secrets that they may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.redaction import REDACTED, is_secret, redact, redact_rule, visible

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.layers import Layer

_LONGEST = 1_000


def shown_layer(layer: Layer) -> str:
    """Return *layer* as text.

    >>> from scrapy_urlcanon.canonicalizer.layers import Layer
    >>> shown_layer(Layer("urlcanon.toml", "example.com/?token=1"))
    "urlcanon.toml['example.com/?token=***']"
    """
    if layer.pattern is not None:
        layer = layer._replace(pattern=redact(layer.pattern))
    return str(layer)


def shown_value(value: Any) -> str:
    """Return the *value* of an option as Python source, shortened to what a report can show.

    >>> shown_value({"sid": "1", "view": "grid"}), shown_value(["/a?token=1", "/a?sid={s}"])
    ("{'sid': '***', 'view': 'grid'}", "['/a?token=***', '/a?sid={s}']")
    """
    text = visible(repr(_redacted(value)))
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}[… {len(text) - _LONGEST:,} characters …]"


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact_rule(value)
    if isinstance(value, (list, tuple)):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {
            name: REDACTED if is_secret(str(name)) and item is not None else _redacted(item)
            for name, item in value.items()
        }
    return value
