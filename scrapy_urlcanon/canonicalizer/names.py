"""Lists of names with globs: which entry decides about a name, and who wrote it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.percent_encoding import lower_letters
from scrapy_urlcanon.canonicalizer.url import is_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.canonicalizer.layers import Layer


NOT_WRITABLE = (
    "no entry of our lists is empty, begins with ! or has a literal * or half a character in it"
)


class Entry(NamedTuple):
    """One entry of a list of names."""

    pattern: str
    """A name; ``*`` in it stands for any text, and nothing else is special."""
    takes_back: bool
    """Whether it was written ``!name``: what it matches is exempt."""
    layer: Layer
    """The layer of the configuration that it stands in."""


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text matches *pattern*.

    Only ``*`` is special: it stands for any text. It looks for one literal part after
    the other, so its time is linear in the text, unlike that of a regular expression
    with several ``.*``.

    >>> matches = glob_matcher("tx_*[page]*")
    >>> matches("tx_news[page]"), matches("tx_news")
    (True, False)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return pattern.__eq__
    *middle, last = rest

    def matches(text: str) -> bool:
        if not text.startswith(first) or not text.endswith(last):
            return False
        position, end = len(first), len(text) - len(last)
        for part in middle:
            found = text.find(part, position, end)
            if found < 0:
                return False
            position = found + len(part)
        return position <= end

    return matches


class NameMatcher:
    """Finds the entry that decides about a name: the last one that matches it.

    >>> from scrapy_urlcanon.canonicalizer.layers import Layer
    >>> weak, strong = Layer("weak"), Layer("strong")
    >>> names = NameMatcher([Entry("s*", False, weak), Entry("sort", True, strong)])
    >>> names.match("sid").layer is weak, names.match("sort").takes_back, names.match("id")
    (True, True, None)
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._exact: dict[str, tuple[int, Entry]] = {}
        self._globs: list[tuple[int, Entry, Callable[[str], bool]]] = []
        for position, entry in enumerate(entries):
            if "*" in entry.pattern:
                self._globs.append((position, entry, glob_matcher(entry.pattern)))
            else:
                self._exact[entry.pattern] = (position, entry)
        self._globs.reverse()

    def match(self, name: str) -> Entry | None:
        """Return the entry that decides about *name*, or None."""
        position, decides = self._exact.get(name, (-1, None))
        for glob_position, entry, matches in self._globs:
            if glob_position < position:
                break
            if matches(name):
                return entry
        return decides

    @property
    def exact(self) -> frozenset[str] | None:
        """The names that are listed and not taken back; None if there are globs among them."""
        if self._globs:
            return None
        return frozenset(name for name, (_, entry) in self._exact.items() if not entry.takes_back)

    def __contains__(self, name: str) -> bool:
        """Tell whether *name* is listed and not taken back."""
        entry = self.match(name)
        return entry is not None and not entry.takes_back

    def cause_of(self, name: str) -> Cause | None:
        """Return the entry that lists *name*, as the cause of a change.

        None if *name* is not listed, or is taken back.
        """
        entry = self.match(name)
        if entry is None or entry.takes_back:
            return None
        return Cause(entry.layer, entry.pattern)

    def exempts(self, name: str) -> bool:
        """Tell whether *name* is taken back."""
        entry = self.match(name)
        return entry is not None and entry.takes_back


class AnyCaseMatcher(NameMatcher):
    """Finds the entry that decides about a name, ignoring case in names and entries.

    >>> from scrapy_urlcanon.canonicalizer.layers import Layer
    >>> names = AnyCaseMatcher([Entry("SID*", False, Layer("rules"))])
    >>> names.match("sid1").pattern
    'sid*'
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        super().__init__(Entry(lower_letters(name), back, layer) for name, back, layer in entries)

    @property
    def exact(self) -> None:
        """None: they are listed in whatever case."""

    def match(self, name: str) -> Entry | None:
        """Return the entry that decides about *name*, or None."""
        return super().match(lower_letters(name))


# Matches a text with a slash; one that begins with a digit but is no number; and one with a digit
# behind a character that names seldom have, such as a hyphen. Digits behind letters are common in
# names. Compiled on first use, which few crawls come to.
_PATH = r".*/.*|(?![0-9]+\Z)[0-9].*|\w*[^\w\[\]%].*[0-9].*"


def is_path(text: str) -> bool:
    """Tell whether a parameter without a value looks like a path rather than a name.

    >>> [is_path(text) for text in ("/topic/7", "12-title", "print", "f[0]", "12")]
    [True, True, False, False, False]
    """
    return re.fullmatch(_PATH, text, re.ASCII | re.DOTALL) is not None


def is_writable(name: str) -> bool:
    """Tell whether a list of names can hold the decoded *name* and mean exactly that.

    In our lists ``*`` is a glob, ``!`` before a name takes it back, and no name is empty or holds
    half of a surrogate pair, as JSON may.

    >>> is_writable("piid[0]"), is_writable("a*"), is_writable("")
    (True, False, False)
    """
    return bool(name) and "*" not in name and not name.startswith("!") and is_utf8(name)
