"""What is asked of each URL, feature and line, in Python: the reference of what is compiled."""

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
"""A text that fewer URLs had is taken for any rare one: it says nothing, but that it is rare, and
whether it was met before."""
MOST_MET: Final = 255
"""More often no text is counted."""
_KEPT: Final = 1 << 12
_WORD = re.compile(r"[a-z%]*")

UNSURE: Final = 8.0
"""The variance, in logits, of what is expected where all features are new."""
OF_ITS_OWN: Final = 1.0
"""That of what is expected of a kind of which nothing is known but all of its features."""
FORGOTTEN: Final = 0.008
"""Divided by the slope of the logistic function at what is expected, it is the share of the doubt
that no number of examples takes away, as where older ones are forgotten at one rate (T. McCormick
and others, "Dynamic logistic regression and dynamic model averaging for binary classification",
Biometrics 68, 2012): a twentieth where what is usual is expected, all where next to nothing is. An
example says little there. With a twentieth for all a class that was good once came down ever more
slowly: from 0.1 to 0.01 in 207 pages that brought nothing, where it takes 37 now."""
LEAST_SLOPE: Final = 0.002
"""Near the ends of the function: an example counts there too."""
MOST: Final = 30.0
CAUTION: Final = 0.6
"""What nothing is known of can be counted on for that share less of what is expected."""

OTHER_NUMBERS: Final = 0.2
"""What a new line is worth that differs from an old one in its numbers alone."""
CLOCK: Final = 32
"""A line that had so many other numbers is a clock, or a counter: more are worth nothing."""
MAX_LINES: Final = 5000
RUN: Final = 4
"""So many words one after the other that were read before say nothing. Of runs of three a text has
many by chance; with six a list of titles would be new in each other order."""


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
    """Return packed features of the texts in a URL, which count as met once more.

    And how often the one was met before that was met least often, and how many there are.

    :param counts: how often a text was met, by its feature as one of its host.
    :param path: the segments of the path, at least one.
    :param query: names and values of the parameters.
    :param of_host: below ``2 ** 64``; makes features those of one host.
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
            # With a sign for numbers in it, it is not known to be the same text.
            number = again if count and "#" not in text else first
            place = (number * SPREAD ^ of_host) >> 7 & MASK
        numbers += (number & MASK, place)
    return packed(numbers), least, len(numbers) // 2


def hash_texts(path: tuple[str, ...], query: tuple[tuple[str, str], ...], of_host: int) -> bytes:
    """Return what :func:`note_texts` returns where no text is rare, and count nothing."""
    numbers: list[int] = []
    for name, text in _texts(path, query):
        number, place = _feature(_crcs(name)[0], text, of_host)
        numbers += (number & MASK, place)
    return packed(numbers)


def _texts(path: tuple[str, ...], query: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    """Yield the texts in a URL that may be any, each after the name of what it is."""
    for end in range(2, len(path)):
        yield f"prefix{end}", f"/{'/'.join(path[:end])}"
    for segment in path[1:-1]:
        # Wherever it stands: what ``class-use`` holds is alike in each folder.
        yield "segment", segment
    for of_name, text in (("", path[-1]), *((f" {name}", value) for name, value in query)):
        yield f"value{of_name}" if of_name else "leaf", text
        # Of what begins with a word, that word alone too.
        head = _WORD.match(text)
        if head and head.end() < len(text):
            yield f"head{of_name}", head[0]


def _feature(begin: int, text: str, of_host: int) -> tuple[int, int]:
    """Return the checksum of *text* after *begin*, and its feature as one of the host."""
    number = crc32(text.encode("utf-8", "replace"), begin)
    return number, (number * SPREAD ^ of_host) >> 7 & MASK


@lru_cache(_KEPT)
def _crcs(name: str) -> tuple[int, int, int]:
    """Return the checksum that goes on with a text of this *name*, and those of rare ones.

    That is of one that was never met, and of one that was met in another URL.
    """
    begin, first, again = (
        crc32(text.encode("utf-8", "replace"))
        for text in (f"{name}=", f"first {name}", f"again {name}")
    )
    return begin, first, again


def expect(weights: array[float], features: bytes, prior: float) -> float:
    """Return the share that is expected of packed *features*; *prior* is a logit."""
    logit = prior + sum(map(weights.__getitem__, unpacked(features)))
    return 1.0 / (1.0 + exp(-max(-MOST, min(MOST, logit))))


def doubts(known: array[float], kinds: Iterable[bytes]) -> list[float]:
    """Return for each of *kinds* the mean doubt in its packed features, but for the last one."""
    return [_doubt(known, features) for features in kinds]


def count_on(
    weights: array[float], known: array[float], kinds: Iterable[bytes], prior: float
) -> list[float]:
    """Return the share that can be counted on of each of *kinds*, which are packed features.

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
    """Change *weights* and *known* by what packed *features* brought: *share*."""
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
    """Return where of so many places a hash of 64 bits has its own, and what is kept of it there.

    Never 0, which stands where nothing was seen.
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
    """Note lines; return how many words they have, how many of these are new, and their worth.

    And the numbers of the lines that are worth all of that.
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
    """Return which share of the words of each of *texts* stands in no run that was noted before.

    All runs in them are noted.

    :param places: of 16 bits each, a power of two of them.
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
