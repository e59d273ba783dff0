"""The inner loops over URLs, features and lines, in Python: the reference for the compiled ones."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from math import exp
from typing import TYPE_CHECKING, Final
from zlib import crc32

from scrapy_urlcanon.novelty.packing import MASK, SPREAD, packed, unpacked

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence

RARE: Final = 4
"""A text that fewer URLs had is rare. All rare texts share two features, for whether they were met
before."""
MOST_MET: Final = 255
"""The largest count."""
_KEPT: Final = 1 << 12
_WORD = re.compile(r"[a-z%]*")

UNSURE: Final = 8.0
"""The variance of a prediction, in logits, if all features are new."""
OF_ITS_OWN: Final = 1.0
"""The variance for a new kind of which all features are known."""
FORGOTTEN: Final = 0.008
"""Divided by the slope of the logistic function at the prediction, it is the share of the variance
that never goes away, as with a constant forgetting rate (T. McCormick and others, "Dynamic logistic
regression and dynamic model averaging for binary classification", Biometrics 68, 2012). It is a
twentieth for a usual prediction, and 1 for predictions near 0, where an example says little. With a
twentieth everywhere a kind that was once good took 207 pages without news to fall from 0.1 to 0.01;
now it takes 37."""
LEAST_SLOPE: Final = 0.002
"""The least slope that is used, so that examples count near 0 and 1 too."""
MOST: Final = 30.0
CAUTION: Final = 0.6
"""The cautious prediction for a kind of which nothing is known is lower by this share."""

OTHER_NUMBERS: Final = 0.2
"""What a word counts in a line that differs from an old one only in its numbers."""
CLOCK: Final = 32
"""A line that had this many different numbers is a clock or a counter; more count nothing."""
MAX_LINES: Final = 5000
RUN: Final = 4
"""The length of a run of words. A text has many known runs of three by chance; with six a list of
titles would be new in every order."""


def split_url(url: str) -> tuple[str, str, str]:
    """Return *url* up to the last slash of its path, the rest of that, and the query.

    >>> split_url("http://a.example/post/7?lang=en#top")
    ('http://a.example/post/', '7', 'lang=en')
    """
    path, _, query = url.partition("#")[0].partition("?")
    folder, slash, leaf = path.rpartition("/")
    return folder + slash, leaf, query


def note_texts(
    counts: bytearray,
    path: tuple[str, ...],
    query: tuple[tuple[str, str], ...],
    of_host: int,
) -> tuple[bytes, int, int]:
    """Return the packed features of the texts in a URL, and count the texts.

    The other two values are the least of their counts before, and the number of texts.

    :param counts: how often a text was met, by its feature for the host.
    :param path: the segments of the path, at least one.
    :param query: names and values of the parameters.
    :param of_host: a hash of the host, below ``2 ** 64``.
    """
    least = MOST_MET
    numbers: list[int] = []
    for name, text in _texts(path, query):
        begin, first, again = _crcs(name)
        number, place = _feature(begin, text, of_host)
        count = counts[place]
        least = min(count, least)
        if count < MOST_MET:
            counts[place] = count + 1
        if count < RARE:
            # With a masked number it may be another text.
            number = again if count and "#" not in text else first
            place = (number * SPREAD ^ of_host) >> 7 & MASK
        numbers += (number & MASK, place)
    return packed(numbers), least, len(numbers) // 2


def hash_texts(path: tuple[str, ...], query: tuple[tuple[str, str], ...], of_host: int) -> bytes:
    """Return the features that :func:`note_texts` returns if no text is rare; count nothing."""
    numbers: list[int] = []
    for name, text in _texts(path, query):
        number, place = _feature(_crcs(name)[0], text, of_host)
        numbers += (number & MASK, place)
    return packed(numbers)


def _texts(path: tuple[str, ...], query: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    """Yield the free texts in a URL, each with the name of its role."""
    for end in range(2, len(path)):
        yield f"prefix{end}", f"/{'/'.join(path[:end])}"
    for segment in path[1:-1]:
        # In any position: the pages below ``class-use`` are alike in each folder.
        yield "segment", segment
    for of_name, text in (("", path[-1]), *((f" {name}", value) for name, value in query)):
        yield f"value{of_name}" if of_name else "leaf", text
        # The first word of a text too.
        head = _WORD.match(text)
        if head and head.end() < len(text):
            yield f"head{of_name}", head[0]


def _feature(begin: int, text: str, of_host: int) -> tuple[int, int]:
    """Return the CRC of *text*, continued from *begin*, and its feature for the host."""
    number = crc32(text.encode("utf-8", "replace"), begin)
    return number, (number * SPREAD ^ of_host) >> 7 & MASK


@lru_cache(_KEPT)
def _crcs(name: str) -> tuple[int, int, int]:
    """Return the CRCs of a role's prefix, of a rare new text, and of a rare known text."""
    begin, first, again = (
        crc32(text.encode("utf-8", "replace"))
        for text in (f"{name}=", f"first {name}", f"again {name}")
    )
    return begin, first, again


def expect(weights: array[float], features: bytes, prior: float) -> float:
    """Return the share predicted for packed *features*; *prior* is a logit."""
    logit = prior + sum(map(weights.__getitem__, unpacked(features)))
    return 1.0 / (1.0 + exp(-max(-MOST, min(MOST, logit))))


def doubts(known: array[float], kinds: Iterable[bytes]) -> list[float]:
    """Return the mean uncertainty of the features of each of *kinds*, without the last feature."""
    return [_doubt(known, features) for features in kinds]


def count_on(
    weights: array[float], known: array[float], kinds: Iterable[bytes], prior: float
) -> list[float]:
    """Return a cautious prediction for each of *kinds*, which are packed features.

    :param prior: a logit.
    """
    return [
        expect(weights, features, prior) * (1.0 - CAUTION * _doubt(known, features))
        for features in kinds
    ]


def _doubt(known: array[float], features: bytes) -> float:
    numbers = unpacked(features)[:-1]
    return sum(1.0 - known[number] for number in numbers) / max(1, len(numbers))


def learn(
    weights: array[float],
    known: array[float],
    features: bytes,
    prior: float,
    share: float,
    *,
    again: bool,
) -> None:
    """Update *weights* and *known* with the example that packed *features* brought *share*."""
    expected = expect(weights, features, prior)
    numbers = unpacked(features)
    doubts = [1.0 - known[number] for number in numbers]
    of_each, of_its_own = UNSURE / len(numbers), OF_ITS_OWN * doubts[-1]
    unsure = of_each * sum(doubts) + of_its_own
    slope = max(expected * (1.0 - expected), LEAST_SLOPE)
    surer = 1.0 + unsure * slope
    move = (share - expected) / surer
    for number, doubt in zip(numbers, doubts, strict=True):
        weights[number] += move * of_each * doubt
    weights[numbers[-1]] += move * of_its_own
    if not again:
        least = min(1.0, FORGOTTEN / slope)
        for number, doubt in zip(numbers, doubts, strict=True):
            known[number] = 1.0 - max(doubt / surer, least)


def place_of(line: int, size: int) -> tuple[int, int]:
    """Return the slot of a 64-bit hash in a table of *size*, and the tag that is kept there.

    A tag is never 0, which marks an empty slot.
    """
    tag, place = divmod(line, size)
    return place, tag & 0xFFFFFFFF or 1


def note_lines(
    places: array[int],
    counts: bytearray,
    masked: Sequence[int],
    exact: Sequence[int],
    lengths: Sequence[int],
) -> tuple[int, int, float, list[int]]:
    """Remember lines; return their number of words, of new words, and the worth of these.

    The last value are the indices of the lines that count fully.
    """
    size = len(places)
    found: list[int] = []
    words = new = 0
    worth = 0.0
    each = zip(masked, exact, lengths, strict=True)
    for number, (shape, line, length) in enumerate(islice(each, MAX_LINES)):
        words += length
        place, tag = place_of(line, size)
        if places[place] == tag:
            continue
        places[place] = tag
        counts[place] = 0
        new += length
        if shape != line:
            place, tag = place_of(shape, size)
            if places[place] == tag:
                if counts[place] < CLOCK:
                    counts[place] += 1
                    worth += OTHER_NUMBERS * length
                continue
            places[place] = tag
            counts[place] = 0
        worth += length
        found.append(number)
    return words, new, worth, found


def own_shares(places: array[int], texts: Sequence[bytes]) -> list[float]:
    """Return the share of words of each of *texts* that are in no known run.

    All runs in them are remembered.

    :param places: a hash table of 16-bit tags; its size is a power of two.
    """
    mask = len(places) - 1
    found: list[tuple[int, int]] = []
    shares = []
    for text in texts:
        words = [crc32(word) for word in text.split()]
        known = end = 0
        for begin in range(len(words) - RUN + 1):
            run = 0
            for word in words[begin : begin + RUN]:
                run = (run * SPREAD + word) & 0xFFFFFFFF
            place, tag = run & mask, run >> 16 or 1
            if places[place] == tag:
                known += begin + RUN - max(begin, end)
                end = begin + RUN
            found.append((place, tag))
        shares.append(1.0 - known / len(words) if words else 1.0)
    for place, tag in found:
        places[place] = tag
    return shares
