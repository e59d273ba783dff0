"""The library interface, which does not need Scrapy."""

from __future__ import annotations

import os
from copy import deepcopy
from typing import TYPE_CHECKING

from scrapy_urlcanon import canonicalizer
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.rule_files.loading import load_configuration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Unpack

    from scrapy_urlcanon.canonicalizer.options import Options, RuleOptions

_MOST_KEPT = 100


class Canonicalizer(canonicalizer.Canonicalizer):
    """Maps all URLs of one page to one canonical URL.

    >>> Canonicalizer({"*": {"www": "strip"}}).canonicalize("http://www.example.com/")
    'http://example.com/'

    Text that is not an http or https URL is returned unchanged. The object can be pickled.

    :param rules: options by pattern, in the shape of the ``URLCANON_RULES`` setting. A type checker
        takes the options of a pattern for a
        :class:`~scrapy_urlcanon.canonicalizer.options.RuleOptions`: annotate a variable that holds
        rules with ``dict[str, RuleOptions]``.
    :param preset: ``scrapy``, ``safe`` or ``aggressive``.
    :param rules_files: the path of a TOML or JSON file of the same shape, or several paths, or
        None; *rules* win over the files.
    :raises ConfigurationError: with all problems of the configuration at once.
    """

    def __init__(
        self,
        rules: Mapping[str, RuleOptions] | None = None,
        *,
        preset: str = DEFAULT_PRESET,
        rules_files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = (),
    ) -> None:
        files = [rules_files] if isinstance(rules_files, (str, os.PathLike)) else rules_files
        self._setup(load_configuration(preset, rules_files=files or (), rules=[("rules", rules)]))


_kept: dict[str, canonicalizer.Canonicalizer] = {}


def canonicalize(url: str, *, preset: str = DEFAULT_PRESET, **options: Unpack[Options]) -> str:
    """Return the canonical form of *url* with a preset and options for all URLs.

    For rules by host, make a :class:`Canonicalizer`.

    >>> canonicalize("http://www.example.com/?b&a", www="strip")
    'http://example.com/?a=&b='

    :raises ConfigurationError: if the preset or an option is not valid.
    :raises TypeError: if *url* is not a string.
    """
    # Lists and mappings are not hashable, and may change later.
    key = repr((preset, options))
    made = _kept.get(key)
    if made is None:
        made = canonicalizer.Canonicalizer({"*": deepcopy(options)}, preset=preset)
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = made
    return made.canonicalize(url)
