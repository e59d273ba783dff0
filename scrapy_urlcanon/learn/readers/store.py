"""Reads the observations in a store that crawls wrote."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.captures import by_domain
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.partitions import in_parts
from scrapy_urlcanon.learn.store import SAME_URL, decompress
from scrapy_urlcanon.learn.store_file import open_store
from scrapy_urlcanon.pages.blocks import Blocks, unpack_outlines
from scrapy_urlcanon.pages.signature import (
    BOILERPLATE_SHARE,
    RAW,
    Boilerplate,
    Lines,
    Signature,
    unpack,
    unpack_hashes,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence

    from scrapy_urlcanon.learn.captures import Captures
    from scrapy_urlcanon.learn.partitions import Part
    from scrapy_urlcanon.pages.blocks import Outline

MIN_TEXTS = 5
"""With fewer distinct texts of a site its boilerplate cannot be distinguished from content."""

SAMPLED_TEXTS = 10_000
"""The most distinct texts of a site that are compared to find its boilerplate: those with the
smallest digests, a random sample. The standard error of a share of .2 is .004."""

NOISE_SHARE = 0.2
"""A line that changes at more than this share of second visits is noise; at fewer, pages were
edited."""

MIN_VISITS = 3
"""On how many pages a line with a number must stay the same at the second visit to be content: a
counter stays the same by chance now and then."""

# The texts of the responses, each with the text that it is compressed against.
_SAID = (
    "CREATE TEMP VIEW said AS SELECT texts.*, others.lines AS first "
    "FROM texts LEFT JOIN texts AS others ON others.id = texts.other"
)
# The first capture of each text. Images and data are left out: they have no menus, and beside a
# thousand of them the menu of every page would be in few texts.
_SAMPLE = (
    "SELECT text, lines, first FROM responses JOIN said ON said.id = text WHERE responses.id IN ("
    "SELECT min(responses.id) FROM responses JOIN said ON said.id = text "
    "WHERE domain = ? AND text_sha1 != '' AND instr(text_sha1, ?) != 1 "
    "GROUP BY text_sha1 ORDER BY text_sha1 LIMIT ?) ORDER BY responses.id"
)
_VISITS = (
    "SELECT steady, noise, outlines, crawl, url, text "
    "FROM visited JOIN visits ON visits.id = visited.id WHERE visited.domain = ?"
)
# By domain, since they are read by domain, and a broad crawl has thousands.
_VISITED = (
    "CREATE TEMP TABLE visited AS SELECT domain, id FROM visits",
    "CREATE INDEX temp.visited_by_domain ON visited (domain, id)",
)
_REORDERED = (
    """
    CREATE TEMP TABLE reordered AS SELECT domain, crawl, url, kept FROM audits
    WHERE option = 'sort_query' AND same
    """,
    "CREATE INDEX temp.reordered_by_domain ON reordered (domain)",
)
_KNOWN_TEXTS = 20_000
_KNOWN_LINES = 1_000


def read_store(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[Observation]:
    """Yield the observations of a store, domain by domain, with digests without boilerplate.

    :param skipped: counts rows that are not observations, by reason.
    :raises StoreVersionError: if another version of this package wrote the store.
    :raises InputError: if it is not a store, or cannot be read to its end.
    """
    skipped = Counter() if skipped is None else skipped
    with reading(path) as connection:
        domains = connection.execute(
            "SELECT DISTINCT domain FROM responses ORDER BY domain"
        ).fetchall()
        for (domain,) in domains:
            yield from _of_domain(connection, domain, skipped)


def _of_domain(
    connection: sqlite3.Connection, domain: str, skipped: Counter[str]
) -> Iterator[Observation]:
    """Yield the observations of one domain.

    Where an audit found another order of the parameters to be the page that was kept, it shows what
    that showed: what moves in it was told from a second fetch of that URL.
    """
    texts = _Texts(connection, domain)
    kept_of = {
        (crawl, url): (crawl, kept)
        for crawl, url, kept in connection.execute(
            "SELECT crawl, url, kept FROM reordered WHERE domain = ?", (domain,)
        )
    }
    kept_texts: dict[tuple[int, str], object] = dict.fromkeys(kept_of.values())
    rows = connection.execute(
        "SELECT crawl, url, status, bytes, raw_sha1, canonical, redirect, text "
        "FROM responses WHERE domain = ? ORDER BY crawl, id",
        (domain,),
    )
    for crawl, url, status, size, raw, canonical, redirect, said in rows:
        text = said
        if (crawl, url) in kept_texts:
            kept_texts[crawl, url] = text
        elif kept := kept_of.get((crawl, url)):
            text = kept_texts[kept] or text
        fields = {
            "url": url,
            "status": status,
            "raw_sha1": raw.hex() if isinstance(raw, bytes) else raw,
            "bytes": size,
            "canonical": url if canonical == SAME_URL else canonical,
            "redirect": redirect,
        }
        try:
            observation = Observation.from_fields(fields, said=texts.said(text))
            if again := texts.again.get((crawl, url)):
                is_steady = texts.is_steady(text, again) if observation.has_content else None
                observation = observation._replace(is_steady=is_steady)
            yield observation
        except BadObservationError as error:
            skipped[error.reason] += 1
        except ValueError:
            skipped["lines cut short"] += 1


class OtherDomainsError(Exception):
    """The domain of a row is not that of its URL, as after a change of the Public Suffix List."""


class Stores:
    """The observations of stores, which are indexed by domain.

    So a few domains can be read at a time, without the others.
    """

    def __init__(self, paths: Sequence[Path], skipped: Counter[str] | None = None) -> None:
        self.paths = paths
        self.skipped: Counter[str] = Counter() if skipped is None else skipped
        """Rows that are not observations, counted by reason."""

    def __iter__(self) -> Iterator[Observation]:
        """Yield all observations, store by store."""
        return chain.from_iterable(read_store(path, self.skipped) for path in self.paths)

    def parts(self) -> Sequence[Part]:
        """Return the observations in parts, each domain whole in one of them.

        :raises OtherDomainsError: if a row has no domain.
        """
        sizes: Counter[str] = Counter()
        for path in self.paths:
            with reading(path) as connection:
                sizes.update(
                    dict(connection.execute("SELECT domain, count(*) FROM responses GROUP BY 1"))
                )
        if not all(isinstance(name, str) for name in sizes):
            raise OtherDomainsError
        return [_PartOfStores(*part, self.paths) for part in in_parts(dict(sorted(sizes.items())))]


class _PartOfStores(NamedTuple):
    """Some domains of stores."""

    size: int
    domains: Sequence[str]
    paths: Sequence[Path]

    def captures(self, skipped: Counter[str]) -> dict[str, Captures]:
        """Return the captures of each domain.

        :raises OtherDomainsError: if the domain of a row is not that of its URL, of which another
            part may have more rows.
        """
        found: dict[str, Captures] = {}
        for path in self.paths:
            with reading(path) as connection:
                for domain in self.domains:
                    captures = by_domain(_of_domain(connection, domain, skipped))
                    if not captures.keys() <= {domain}:
                        raise OtherDomainsError(domain)
                    for name, more in captures.items():
                        if found.setdefault(name, more) is not more:
                            found[name].extend(more)
        return found


class _Again(NamedTuple):
    """A second visit of a URL."""

    text: object
    """The number of the text; None if the body was the same byte for byte."""
    noise: Collection[int]
    """Masked hashes of lines that only this visit shows to be noise."""


class _SecondVisits(NamedTuple):
    """What second visits show about the lines of a domain, by their masked hashes."""

    steady: set[int]
    """Lines that stay the same."""
    noise: set[int]
    """Lines that change."""
    counters: set[int]
    """Lines that were always there again with another number."""
    outlines: list[tuple[Outline, Outline]]
    """The outline of each page at both visits."""
    again: dict[tuple[object, object], _Again]
    """The second visits by crawl and URL, if the store has these."""


class _Texts:
    """The texts of one domain without boilerplate.

    They are cached: in a crawl to learn from each text occurs many times.
    """

    def __init__(self, connection: sqlite3.Connection, domain: str) -> None:
        self._connection = connection
        self._said: dict[object, Observation] = {}
        self._lines: dict[object, Lines] = {}
        visits = self._second_visits(domain)
        self.again = visits.again
        self._blocks = Blocks(
            visits.outlines,
            visits.noise,
            lambda: (lines for _, lines in self._sampled(domain)),
            visits.counters,
        )
        self._boilerplate = self._boilerplate_of(domain, visits.steady, visits.noise)

    def said(self, text: object) -> Observation:
        """Return an observation of the text with the number *text*.

        :raises ValueError: if its lines are broken.
        :raises BadObservationError: if another value is not valid for its column.
        """
        known = self._said.get(text)
        if known is None:
            if len(self._said) >= _KNOWN_TEXTS:
                self._said.clear()
            known = self._said[text] = self._read(text, self._boilerplate)
        return known

    def is_steady(self, text: object, again: _Again) -> bool | None:
        """Tell whether a second visit showed the same page as *text*; None if that is unknown.

        Noise is what other visits show to be noise: without the lines in which the two differ
        themselves any two visits would show the same page.
        """
        if again.text is None:
            return True
        known = self._boilerplate._replace(noise={*self._boilerplate.noise} - {*again.noise})
        try:
            first, second = self._read(text, known), self._read(again.text, known)
        except ValueError:
            return None
        return first.same_page(second) if first.has_content and second.has_content else None

    def _read(self, text: object, boilerplate: Boilerplate) -> Observation:
        stored, title, packed, first = self._row(text)
        digest = stored.hex() if isinstance(stored, bytes) else stored
        lines = self._lines.pop(text, None)
        if lines is None:
            lines = self._own(_unpacked(packed, first))
        main, simhash = Signature("", str(digest), 0, lines).main(boilerplate)
        return Observation.from_fields(
            {
                "url": "http://text.invalid/",
                "text_sha1": digest,
                "title": title,
                "main_sha1": main,
                "simhash64": None if simhash is None else f"{simhash:x}",
            }
        )

    def _row(self, text: object) -> tuple[object, ...]:
        """Return digest, title and lines of a text, and the lines that these are packed against."""
        row: tuple[object, ...] | None = self._connection.execute(
            "SELECT text_sha1, title, lines, first FROM said WHERE id = ?", (text,)
        ).fetchone()
        return row or (None, None, None, None)

    def _boilerplate_of(self, domain: str, steady: set[int], noise: set[int]) -> Boilerplate:
        """Return the lines that are in too many distinct texts of the domain to be content.

        Texts that differ only in numbers and noise count as one: a login form under a thousand
        URLs, with a visitor counter, is still one page.
        """
        masked: Counter[int] = Counter()
        exact: Counter[int] = Counter()
        distinct: set[int] = set()
        for text, whole in self._sampled(domain):
            lines = self._own(whole)
            if len(self._lines) < _KNOWN_LINES:
                self._lines[text] = lines
            shapes = frozenset(lines.columns[0])
            # 64 bits distinguish ten thousand texts.
            key = hash(shapes - noise if noise else shapes)
            if key not in distinct:
                distinct.add(key)
                masked.update(shapes)
                exact.update({*lines.columns[1]})
        if len(distinct) < MIN_TEXTS:
            return Boilerplate(steady=steady, noise=noise)
        most = max(1, BOILERPLATE_SHARE * len(distinct))
        return Boilerplate(
            {line for line, count in masked.items() if count > most},
            {line for line, count in exact.items() if count > most},
            steady,
            noise,
        )

    def _own(self, lines: Lines) -> Lines:
        return self._blocks.left_of(lines) if self._blocks else lines

    def _second_visits(self, domain: str) -> _SecondVisits:
        """Return what second visits show about the lines of a domain."""
        stayed: Counter[int] = Counter()
        changed: Counter[int] = Counter()
        counters: set[int] = set()
        missing: set[int] = set()
        outlines = []
        seen = []
        for steady, noise, shown, crawl, url, text in self._connection.execute(_VISITS, (domain,)):
            others: tuple[int, ...] = ()
            with suppress(ValueError):
                stayed.update(unpack_hashes(steady))
                others = unpack_hashes(noise)
                changed.update(others)
            with suppress(ValueError):
                outlines.append(unpack_outlines(shown))
                first, again = map(frozenset, outlines[-1])
                counters.update((first & again).intersection(others))
                missing |= first ^ again
            seen.append(((crawl, url), text, others))

        def is_moving(line: int, count: int) -> bool:
            return count > NOISE_SHARE * (count + stayed[line])

        moving = {line for line, count in changed.items() if is_moving(line, count)}
        again_at = {
            key: _Again(text, [n for n in others if not is_moving(n, changed[n] - 1)])
            for key, text, others in seen
        }
        steady_lines = {line for line, count in stayed.items() if count >= MIN_VISITS} - moving
        return _SecondVisits(steady_lines, moving, counters - missing, outlines, again_at)

    def _sampled(self, domain: str) -> Iterator[tuple[object, Lines]]:
        """Yield distinct texts of the site, each with its number."""
        for text, packed, first in self._connection.execute(_SAMPLE, (domain, RAW, SAMPLED_TEXTS)):
            with suppress(ValueError):
                yield text, _unpacked(packed, first)


def _unpacked(packed: object, first: object) -> Lines:
    """Return the lines that are stored as *packed*, against the *first* lines if there are any.

    :raises ValueError: if the data are broken.
    """
    if not isinstance(packed, bytes) or not isinstance(first, (bytes, NoneType)):
        raise ValueError(f"expected lines, got {packed!r:.80}")  # noqa: TRY004
    return unpack(decompress(packed, first) if first else packed)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open the store at *path*.

    :raises StoreVersionError: where another version of this package wrote it.
    :raises InputError: where it is no store, or cannot be read to its end.
    """
    with closing(open_store(Path(path), writable=False)) as connection:
        # Invalid UTF-8 must make one bad row, not end the reading.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            yield connection
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be read to its end: {error}") from error


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open the store at *path*, with temporary tables and views to read it by domain.

    :raises StoreVersionError: where another version of this package wrote it.
    :raises InputError: where it is no store, or cannot be read to its end.
    """
    with opened(path) as connection:
        for statement in (_SAID, *_VISITED, *_REORDERED):
            connection.execute(statement)
        yield connection
