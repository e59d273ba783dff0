"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.layers import Layer
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting, ValueType


class Example(NamedTuple):
    """What an option does to a URL; run by the tests and shown in the documentation."""

    value: Any
    """The value of the option."""
    url: str
    canonical: str
    """The same as :attr:`url` where the option must leave it alone."""


class TextNormalization(ABC):
    """A normalization of the text of a URL, before it is split into components."""

    name: ClassVar[str]
    changes: ClassVar[tuple[tuple[str, str], ...]]
    keeps: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def apply(self, text: str) -> str:
        """Return the normalized text.

        :raises UnparsableUrlError: if it cannot be a URL.
        """


class Normalization(ABC):
    """A normalization of a URL that no option turns off."""

    name: ClassVar[str]
    """In stats and explanations."""
    changes: ClassVar[tuple[tuple[str, str], ...]]
    """Pairs of a URL and its canonical form."""
    keeps: ClassVar[tuple[str, ...]] = ()
    """URLs that it must leave alone."""

    @abstractmethod
    def apply(self, url: Url) -> Url:
        """Return the normalized URL.

        :raises UnparsableUrlError: if it cannot be a URL.
        """


class Option(ABC):
    """One option of the catalogue, with the value that it has for some URLs.

    Its docstring is its page in ``docs/rules.md``: what it does, why it is safe, when it
    is wrong. Its examples are its tests.
    """

    name: ClassVar[str]
    """The name of the option."""
    values: ClassVar[ValueType]
    """What its values look like."""
    neutral: ClassVar[Any]
    """The value with which it does nothing."""
    changes: ClassVar[tuple[Example, ...]]
    """What it must act on."""
    keeps: ClassVar[tuple[Example, ...]]
    """What it must leave alone."""
    acts: ClassVar[str] = "It changes"
    """What it does to the URLs of :attr:`changes`."""

    def __init__(self, options: Mapping[str, Setting]) -> None:
        """Prepare for *options*, by name; they may hold others that this one respects."""
        self.value, self._layer = options[self.name]

    @classmethod
    def compile(cls, options: Mapping[str, Setting]) -> Self | None:
        """Return the option prepared for *options*, or None where it has nothing to do."""
        setting = options.get(cls.name)
        if setting is None or setting.value == cls.neutral:
            return None
        return cls(options)


class Rule(Option):
    """An option that changes URLs."""

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

    def layers(self, before: Url, after: Url) -> tuple[Layer, ...]:
        """Return the layers of the configuration that made *after* of *before*."""
        del before, after
        return (self._layer,)


class PathRule(Rule):
    """A rule for the path that needs to see nothing else."""

    component = "path"

    @abstractmethod
    def path(self, path: str) -> str:
        """Return what the rule makes of *path*, a normalized one."""

    def apply(self, url: Url) -> Url:
        path = self.path(url.path)
        return url if path == url.path else url._replace(path=path)


class ParameterRule(Rule):
    """A rule that drops parameters of the query, each by itself."""

    spares_signed: ClassVar[bool] = True
    """Whether it leaves a URL alone that :func:`~.signed.is_signed`."""

    @abstractmethod
    def drops(self, name: str, value: str) -> Layer | None:
        """Return the layer that drops the parameter *name* with *value*, or None.

        Both are decoded; the value is empty where there is none.
        """

    def by_name(self, name: str) -> bool:
        """Tell whether the value makes no difference to what becomes of *name*."""
        del name
        return True

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        kept = tuple(piece for piece in url.query if self.drops(*parameter(piece)) is None)
        if len(kept) == len(url.query) or (self.spares_signed and is_signed(url.query)):
            return url
        return url._replace(query=kept or None)

    def layers(self, before: Url, after: Url) -> tuple[Layer, ...]:
        del after
        return distinct(self.drops(*parameter(piece)) for piece in before.query or ())


def distinct(layers: Iterable[Layer | None]) -> tuple[Layer, ...]:
    """Return *layers* without None, each once, in their order."""
    return tuple(dict.fromkeys(layer for layer in layers if layer))


def parameter(piece: str) -> tuple[str, str]:
    """Return name and value, decoded, of a *piece* of a query.

    >>> parameter("q=C%2B%2B+11")
    ('q', 'C++ 11')
    """
    name, _, value = piece.partition("=")
    return decode_query_text(name), decode_query_text(value)
