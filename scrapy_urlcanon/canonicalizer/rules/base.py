"""What a rule is."""

from __future__ import annotations

from abc import abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting, ValueType


# No class here is a named tuple, or of an ABC, without which mypy checks the same: for so many
# classes that would be a fifth of what importing the plugin takes.


class Example:
    """What an option does to a URL; run by the tests and shown in the documentation."""

    def __init__(self, value: Any, url: str, canonical: str) -> None:
        self.value = value
        """The value of the option."""
        self.url = url
        self.canonical = canonical
        """The same as :attr:`url` where the option must leave it alone."""


class Classical:
    """A normalization that the literature or the tools of the field know, with an example.

    Collected from RFC 3986 (section 6), the URL standard, the work on DUST ("different URLs
    with similar text"), and the canonicalizers of crawlers and web archives.
    """

    def __init__(self, normalization: str, url: str, value: Any = None) -> None:
        self.normalization = normalization
        """What it is called."""
        self.url = url
        self.value = value
        """The value of the option in the example; None where it is always on."""


_AS_BEFORE: Final = object()


class Presets:
    """The values of an option in the presets, where they differ from the preset before.

    Before the first preset is the neutral value. Each preset merges what those before it merge.

    >>> Presets(safe="drop").values("keep")
    {'scrapy': 'keep', 'safe': 'drop', 'aggressive': 'drop'}

    :param scrapy: what Scrapy's default fingerprint merges and nothing more:
        ``w3lib.url.canonicalize_url`` itself decides about what no rule of the user changes.
    :param safe: what is wrong nowhere that we know of.
    :param aggressive: what is right on most sites and wrong on some.
    """

    NAMES: Final = ("scrapy", "safe", "aggressive")

    def __init__(
        self, scrapy: Any = _AS_BEFORE, safe: Any = _AS_BEFORE, aggressive: Any = _AS_BEFORE
    ) -> None:
        self._changed = (scrapy, safe, aggressive)

    def values(self, neutral: Any) -> dict[str, Any]:
        """Return the value in each preset, written as a user would."""
        value = list(neutral) if isinstance(neutral, tuple) else neutral
        value = dict(value) if isinstance(value, MappingProxyType) else value
        found = {}
        for preset, changed in zip(self.NAMES, self._changed, strict=True):
            value = value if changed is _AS_BEFORE else changed
            found[preset] = value
        return found


class AlwaysOn:
    """What no option turns off."""

    name: ClassVar[str]
    """In stats and explanations."""
    classical: ClassVar[tuple[Classical, ...]]
    """What the field calls it."""
    changes: ClassVar[tuple[tuple[str, str], ...]]
    """Pairs of a URL and its canonical form."""
    keeps: ClassVar[tuple[str, ...]] = ()
    """URLs that it must leave alone."""


class TextNormalization(AlwaysOn):
    """A normalization of the text of a URL, before it is split into components."""

    @abstractmethod
    def apply(self, text: str) -> str:
        """Return the normalized text.

        :raises UnparsableUrlError: if it cannot be a URL.
        """


class Normalization(AlwaysOn):
    """A normalization of the components of a URL."""

    @abstractmethod
    def apply(self, url: Url) -> Url:
        """Return the normalized URL.

        :raises UnparsableUrlError: if it cannot be a URL.
        """


class Option:
    """One option of the catalogue, with the value that it has for some URLs.

    The class says all that there is to say of the option. Its docstring is its page in
    ``docs/rules.md``: what it does, why it is safe, when it is wrong. Its examples are its tests.
    """

    name: ClassVar[str]
    """The name of the option."""
    values: ClassVar[ValueType]
    """What its values look like."""
    neutral: ClassVar[Any]
    """The value with which it does nothing."""
    presets: ClassVar[Presets] = Presets()
    """Its values in the presets, where they differ."""
    place: ClassVar[int]
    """Its place in the order in which the options apply, by what it changes: below 100 the URL
    as it was written, from 100 scheme and host, 200 the path, 300 the query, 400 the fragment."""
    classical: ClassVar[tuple[Classical, ...]] = ()
    """What the field calls it."""
    changes: ClassVar[tuple[Example, ...]]
    """What it must act on."""
    keeps: ClassVar[tuple[Example, ...]]
    """What it must leave alone."""
    drops_any_name: ClassVar[bool] = False
    """Whether its entries are whatever names URLs bring along, and not those of its value."""
    acts: ClassVar[str] = "It changes"
    """What it does to the URLs of :attr:`changes`."""

    def __init__(self, options: Mapping[str, Setting]) -> None:
        """Prepare for *options*, by name; they may hold others that this one respects."""
        self.value, self._layer = options[self.name]

    @classmethod
    def in_presets(cls) -> dict[str, Any]:
        """Return its value in each preset."""
        return cls.presets.values(cls.neutral)

    @classmethod
    def taken_back(cls, entry: str) -> dict[str, Any]:
        """Return the options which, in a stronger layer, turn *entry* off.

        >>> from scrapy_urlcanon.canonicalizer.rules import BY_NAME
        >>> BY_NAME["drop_params"].taken_back("sid"), BY_NAME["www"].taken_back("")
        ({'drop_params': ['!sid']}, {'www': 'keep'})

        :param entry: as in :class:`~scrapy_urlcanon.canonicalizer.entries.RuleEntry`.
        """
        value = cls.values.taken_back(entry) if entry else None
        return {cls.name: cls.neutral if value is None else value}

    @classmethod
    def is_usual(cls, name: str) -> bool:
        """Tell whether *name* is one that it is used for, where its values are lists of names."""
        del name
        return True

    @classmethod
    def compile(cls, options: Mapping[str, Setting]) -> Self | None:
        """Return the option prepared for *options*, or None where it has nothing to do."""
        setting = options.get(cls.name)
        if setting is None or setting.value == cls.neutral:
            return None
        return cls(options)


class Rule(Option):
    """An option that changes URLs.

    >>> from scrapy_urlcanon.canonicalizer.layers import Layer
    >>> from scrapy_urlcanon.canonicalizer.rules import BY_NAME
    >>> from scrapy_urlcanon.canonicalizer.url import split
    >>> option = BY_NAME["drop_params"]
    >>> setting = option.values.merge(None, ["sid"], Layer("rules"))
    >>> rule = option.compile({option.name: setting})
    >>> str(rule.apply(split("http://example.com/?sid=1&id=2")))
    'http://example.com/?id=2'
    """

    component: ClassVar[Literal["authority", "path", "query", "fragment", "url"]]
    """What it changes at most: ``authority`` stands for the scheme too, ``url`` for all."""
    as_written: ClassVar[bool] = False
    """Whether it is for the URL before the normalizations, which would take away the
    difference that it is about. What it leaves is normalized, and the rules for that are
    looked up, as if it had been there from the start."""

    @abstractmethod
    def apply(self, url: Url) -> Url:
        """Return what the rule makes of *url*.

        Its components are normalized, unless the rule is for the URL :attr:`as_written`.
        """

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        """Return what of the option's value made *after* of *before*."""
        del before, after
        return (Cause(self._layer),)


class PathRule(Rule):
    """A rule for the path that needs to see nothing else."""

    component = "path"

    @abstractmethod
    def path(self, path: str) -> str:
        """Return what the rule makes of the normalized *path*."""

    def apply(self, url: Url) -> Url:
        path = self.path(url.path)
        return url if path == url.path else url.with_path(path)


class ParameterRule(Rule):
    """A rule that drops parameters of the query, each by itself."""

    spares_signed: ClassVar[bool] = True
    """Whether it leaves a URL alone that :func:`~.signed.is_signed`."""
    spares_last: ClassVar[bool] = False
    """Whether it drops nothing where nothing would be left of the query."""

    @abstractmethod
    def drops(self, name: str, value: str) -> Cause | None:
        """Return what drops the parameter *name* with *value*, or None.

        Both are decoded; the value is empty where there is none.
        """

    def by_name(self, name: str) -> bool:
        """Tell whether the value makes no difference to what becomes of *name*."""
        del name
        return True

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        kept = tuple(piece for piece in url.query if self.drops(*decode_parameter(piece)) is None)
        if len(kept) == len(url.query) or (self.spares_signed and is_signed(url.query)):
            return url
        if not kept and self.spares_last:
            return url
        return url.with_query(kept or None)

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct(self.drops(*decode_parameter(piece)) for piece in before.query or ())


def distinct(causes: Iterable[Cause | None]) -> tuple[Cause, ...]:
    """Return *causes* without None, each once, in their order."""
    return tuple(dict.fromkeys(cause for cause in causes if cause))
