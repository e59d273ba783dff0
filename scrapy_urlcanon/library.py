"""The plugin as a library, without Scrapy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon import canonicalizer
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.rule_files.loading import load_configuration

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping


class Canonicalizer(canonicalizer.Canonicalizer):
    """Maps the URLs of one page to one canonical URL, under rules of files too.

    >>> Canonicalizer({"*": {"www": "strip"}}).canonicalize("http://www.example.com/")
    'http://example.com/'

    :param rules: options by pattern, in the shape of the ``URLCANON_RULES`` setting.
    :param preset: ``scrapy``, ``safe`` or ``aggressive``.
    :param rules_files: paths of TOML or JSON files of the same shape; *rules* win over them.
    :raises ConfigurationError: with all problems of the configuration at once.
    """

    def __init__(
        self,
        rules: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        preset: str = DEFAULT_PRESET,
        rules_files: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self._setup(load_configuration(preset, rules_files=rules_files, rules=[("rules", rules)]))


def canonicalize(url: str, *, preset: str = DEFAULT_PRESET, **options: Any) -> str:
    """Return the canonical form of *url* under a preset and options that hold everywhere.

    To canonicalize many URLs, make a :class:`Canonicalizer`.

    >>> canonicalize("http://www.example.com/?b&a", www="strip")
    'http://example.com/?a=&b='

    :raises ConfigurationError: if the preset or an option is not valid.
    """
    return canonicalizer.Canonicalizer({"*": options}, preset=preset).canonicalize(url)
