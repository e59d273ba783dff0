"""Splits observations of many domains into parts that fit in memory."""

from __future__ import annotations

import pickle
import tempfile
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

from scrapy_urlcanon.exceptions import SpillError
from scrapy_urlcanon.learn.captures import by_domain

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from scrapy_urlcanon.learn.captures import Captures
    from scrapy_urlcanon.learn.observation import Observation

MAX_HELD = 500_000
"""Observations that are kept in memory before they are written to disk: some 75 MB, and twice that
if pages declare other URLs than their own."""

PARTITIONS = 64
"""Files that they are written to. Each domain is in one file, so that a 64th of the input is in
memory at once, or the largest domain."""


_ENOUGH = 4_000
"""The least number of observations in a part, except the last: handing over fewer to a process
would take longer than learning from them."""


class Part(Protocol):
    """Some domains with all of their captures; it can be pickled."""

    @property
    def size(self) -> int:
        """How much work it is, compared with other parts of the same kind."""

    def captures(self, skipped: Counter[str]) -> dict[str, Captures]:
        """Return the captures of each domain.

        :param skipped: counts rows that are not observations, by reason.
        """


class Partitions:
    """Observations by domain, on disk if there are more than :data:`MAX_HELD`.

    It is a context manager, which deletes the files. They are in the directory that ``TMPDIR``
    names, take about as much space as the observations as text, and only their owner may read them.

    >>> from collections import Counter
    >>> from scrapy_urlcanon.learn import Observation
    >>> urls = "http://b.example/", "http://a.example/", "http://www.a.example/"
    >>> with Partitions(map(Observation, urls)) as partitions:
    ...     for part in partitions.parts():
    ...         print(part.size, list(part.captures(Counter())))
    3 ['a.example', 'b.example']
    """

    def __init__(
        self, observations: Iterable[Observation], domains: Collection[str] | None = None
    ) -> None:
        """Read all observations, or those of some domains.

        :raises SpillError: if the disk is full.
        """
        self.observations = 0
        """The number of observations."""
        self._held: dict[str, Captures] = {}
        self._spilled: set[str] = set()
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        rest = iter(observations)
        try:
            self._held = by_domain(islice(rest, MAX_HELD), domains)
            for first in rest:
                self._spill()
                self._held = by_domain(chain([first], islice(rest, MAX_HELD - 1)), domains)
            if self._spilled:
                self._spill()
            self.observations += sum(map(len, self._held.values()))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delete the files."""
        if self._directory is not None:
            self._directory.cleanup()

    def parts(self) -> Sequence[Part]:
        """Return the captures in parts, each domain whole in one of them.

        To be called once: the captures are handed over.
        """
        if not self._spilled:
            names = {name: len(captures) for name, captures in sorted(self._held.items())}
            return [
                _Held(size, {name: self._held.pop(name) for name in part})
                for size, part in in_parts(names)
            ]
        return [_Spilled(path.stat().st_size, path) for path in self._paths() if path.exists()]

    def _paths(self) -> list[Path]:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="urlcanon-learn-")
        directory = Path(self._directory.name)
        return [directory / str(number) for number in range(PARTITIONS)]

    def _spill(self) -> None:
        """Append the captures in memory to the files of their domains, and free them."""
        parts: list[list[str]] = [[] for _ in range(PARTITIONS)]
        for domain in self._held:
            parts[crc32(domain.encode("utf-8", "surrogatepass")) % PARTITIONS].append(domain)
        self._spilled.update(self._held)
        self.observations += sum(map(len, self._held.values()))
        try:
            for path, names in zip(self._paths(), parts, strict=True):
                if names:
                    with path.open("ab") as file:
                        for name in names:
                            pickle.dump((name, self._held.pop(name)), file, -1)
        except OSError as error:
            raise SpillError(
                f"{tempfile.gettempdir()}: no room for observations that do not fit in memory: "
                f"{error.strerror or error} (TMPDIR names another directory)"
            ) from error


def in_parts(sizes: Mapping[str, int]) -> Iterator[tuple[int, list[str]]]:
    """Yield lists of domains, in the given order, with their total size.

    >>> list(in_parts({"a.example": 3_000, "b.example": 3_000, "c.example": 10}))
    [(6000, ['a.example', 'b.example']), (10, ['c.example'])]
    """
    size, names = 0, []
    for name, count in sizes.items():
        size += count
        names.append(name)
        if size >= _ENOUGH:
            yield size, names
            size, names = 0, []
    if names:
        yield size, names


class _Held(NamedTuple):
    """Captures that fit in memory."""

    size: int
    held: dict[str, Captures]

    def captures(self, skipped: Counter[str]) -> dict[str, Captures]:
        """Return the captures, to be popped one by one."""
        del skipped
        return self.held


class _Spilled(NamedTuple):
    """Captures in a file."""

    size: int
    path: Path

    def captures(self, skipped: Counter[str]) -> dict[str, Captures]:
        """Return the captures.

        :raises SpillError: if they cannot be read back.
        """
        del skipped
        return _read(self.path)


def _read(path: Path) -> dict[str, Captures]:
    found: dict[str, Captures] = {}
    try:
        with path.open("rb") as file:
            # Only peek() detects the end of the file without reading.
            while file.peek(1):
                name, captures = pickle.load(file)  # noqa: S301 - written by us, readable by us only
                known = found.setdefault(name, captures)
                if known is not captures:
                    known.extend(captures)
    except OSError as error:
        raise SpillError(f"{path}: cannot be read back: {error.strerror or error}") from error
    return found
