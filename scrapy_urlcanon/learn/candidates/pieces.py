"""Expresses the pieces in which a URL differs from another one by the pieces of that one.

A piece is a segment of the path or the value of a parameter: a number, a code, a slug (a text for
readers, such as a title), or several of these with punctuation between them.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.vocabulary import NUMBER, is_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_MAX_CODE = 3
"""Texts of up to this many characters are no slugs."""

_NUMBERED = re.compile("([0-9]+)([-_,])")
_NUMBER_LAST = re.compile(r"([-_,.])([0-9]+)((?:\.[a-z]{2,5})?)$")
_LOCALE = re.compile("[a-z]{2}[-_][A-Za-z]{2,4}")
_WORD = re.compile("[^0-9.,_-]{3}")
_WORD_LAST = re.compile(r"(.*[^\W_])([-_,.]+(?:[^\W_]+|[^\W\d_]{1,2}[-_,.]))")
_SIGNS = "/.:,-_"
_BETWEEN_FIELDS = ":,;|"
_MIN_FIELDS = 4
_ENDING = re.compile(r"\.[a-z]{2,5}$")
_HEX = re.compile("[0-9A-Fa-f]{8,}")
_FIRST_WORD = re.compile("[A-Za-z0-9%]+([-_]).")


class Field(NamedTuple):
    """A field of the first template. The text that it matches in a URL is its token."""

    kind: str
    """What it matches, as written in a template: ``:digits``, or empty for any text."""
    look: str = ""
    """How its tokens are put together if each is a slug beside a number: ``{number}-{text}``."""
    sign: str = ""
    """What ends the first word of its tokens if each has several words, as titles have."""
    is_hex: bool = False
    """Whether its tokens are hexadecimal, so that a template can tell them from a title beside
    them."""


class Slug(NamedTuple):
    """A field of the first template whose text does not select the page, such as a title."""

    kind: str = "slug"


class Token(NamedTuple):
    """A place in the second template: it is filled with what the field of that number matched."""

    number: int


TEXT, DIGITS = Field(""), Field(":digits")

Pattern: TypeAlias = "tuple[str | Field | Slug, ...]"
"""A piece of the first template: literal texts, fields and slugs."""
Filling: TypeAlias = "tuple[str | Token, ...]"
"""A piece of the second template: literal texts, and places for tokens."""
Words: TypeAlias = "tuple[str, ...]"
"""Texts of a URL."""


def without_slugs(one: str, other: str) -> tuple[Pattern, str, Filling] | None:
    """Return a substitution for two segments that differ in a slug, or None if they do not.

    The rule says that any slug shows the page, so all become one, a hyphen. A number or a file
    extension beside the slug stays.

    :return: the pattern of *one*, the token in it, and what to put in its place.
    """
    if not one or not other or NUMBER.sub("0", one) == NUMBER.sub("0", other):
        return None
    first, last, ending = _NUMBERED.match(one), _NUMBER_LAST.search(one), _ENDING.search(one)
    pattern: Pattern
    filling: Filling
    if first and other.startswith(first[0]):
        before, after, token = first[0], "", first[1]
        pattern, filling = (DIGITS, first[2], Slug()), (Token(0), first[2] + "-")
    elif last and other.endswith(last[0]):
        before, after, token = "", last[0], last[2]
        pattern = (Slug(), last[1], DIGITS, last[3])
        filling = ("-" + last[1], Token(0), last[3])
    else:
        end = ending[0] if ending and other.endswith(ending[0]) else ""
        before, after, token = "", end, one.removesuffix(end)
        pattern, filling = (TEXT, end), ("-" + end,)
    if any(is_code(slug.removeprefix(before).removesuffix(after)) for slug in (one, other)):
        return None
    return pattern, token, filling


def is_code(text: str) -> bool:
    """Tell whether a text may be an abbreviation, a language or a number, and so is no slug."""
    return len(text) <= _MAX_CODE or bool(_LOCALE.fullmatch(text)) or not _WORD.search(text)


class _Span(NamedTuple):
    """A part of a piece: characters *start* to *end* of the piece of that number."""

    piece: int
    start: int
    end: int


class Explained(NamedTuple):
    """How the pieces of one URL give those of another."""

    patterns: list[Pattern]
    """The pieces of the first URL, as patterns."""
    tokens: list[str]
    """What the fields of these patterns match, in this order."""
    fillings: list[Filling]
    """The wanted pieces of the second URL."""
    beside: list[str]
    """The texts in the places of slugs."""


def explain(pieces: Sequence[str], wanted: Sequence[str]) -> Explained:
    """Return patterns of *pieces*, and the *wanted* pieces in terms of what their fields match.

    >>> found = explain(["red-shoe-t12-15.html"], ["12", "15"])
    >>> found.patterns == [(Slug(), "-t", DIGITS, "-", DIGITS, ".html")]
    True
    >>> found.tokens, found.fillings, found.beside
    (['12', '15'], [(Token(number=0),), (Token(number=1),)], ['red-shoe'])
    """
    taken, spans = _all_taken(pieces, wanted)
    unlike = [want for want, parts in zip(wanted, taken, strict=True) if parts == (want,)]
    alike = (
        [number for number, piece in enumerate(pieces) if _differ_in_numbers(piece, want)]
        for want in unlike
    )
    of_one_number = {these[0] for these in alike if these}
    found = Explained([], [], [], [])
    numbers: dict[_Span, int] = {}
    for number, piece in enumerate(pieces):
        first = len(found.tokens)
        if spans[number]:
            pattern, beside = _pattern(piece, sorted(spans[number]))
            found.beside.extend(beside)
        elif number in of_one_number and len(only := NUMBER.findall(piece)) == 1:
            before, token, after = piece.partition(only[0])
            pattern = before, DIGITS, after
            found.tokens.append(token)
        else:
            pattern = (DIGITS if is_number(piece) else TEXT,)
            found.tokens.append(piece)
        found.patterns.append(pattern)
        for place, span in enumerate(sorted(spans[number])):
            numbers[span] = first + place
            found.tokens.append(piece[span.start : span.end])
    found.fillings.extend(
        tuple(Token(numbers[part]) if isinstance(part, _Span) else part for part in parts)
        for parts in taken
    )
    return found


def _field_by_field(pieces: Sequence[str], want: str) -> tuple[tuple[str | _Span, ...], set[_Span]]:
    """Return *want* in terms of a piece with as many separated fields, and all fields of that one.

    At least half of the fields must agree; one that differs may be a session id (`5:7:1234::3`).

    >>> pieces = ["5:7:1234::3"]
    >>> parts, fields = _field_by_field(pieces, "5:7:0::3")
    >>> [part if isinstance(part, str) else pieces[0][part.start : part.end] for part in parts]
    ['5', ':', '7', ':0::', '3']
    >>> len(fields)
    4
    """
    for (number, piece), sign in product(enumerate(pieces), _BETWEEN_FIELDS):
        own, others = piece.split(sign), want.split(sign)
        same = sum(text == other != "" for text, other in zip(own, others, strict=False))
        if len(own) == len(others) >= _MIN_FIELDS and 2 * same >= len(own):
            parts: list[str | _Span] = []
            fields = set()
            start = 0
            for text, other in zip(own, others, strict=True):
                span = _Span(number, start, start + len(text))
                parts += [sign, span if text and text == other else other]
                fields |= {span} if text else set()
                start = span.end + len(sign)
            return _joined(parts[1:]), fields
    return (want,), set()


def has_fields(text: str) -> bool:
    """Tell whether a text has too many separated fields for the number of a page, or a language.

    >>> has_fields("100:5:0::NO"), has_fields("2"), has_fields("en-GB,en")
    (True, False, False)
    """
    return max(map(text.count, _BETWEEN_FIELDS)) >= _MIN_FIELDS - 1


def _fits(span: _Span, others: Collection[_Span], piece: str) -> bool:
    """Tell whether a part of a piece may be a token beside the tokens *others*.

    Several tokens of one piece must not overlap, and must all be numbers, or all that the piece
    has between separators of one kind, such as ``/topic/title`` as the value of a parameter.
    """
    several = {span, *others}
    texts = [piece[one.start : one.end] for one in sorted(several)]
    return len(several) == 1 or (
        (all(map(is_number, texts)) or any(sign.join(texts) == piece.strip("/") for sign in _SIGNS))
        and not any(span != one and span.start < one.end and one.start < span.end for one in others)
    )


def _differ_in_numbers(piece: str, want: str) -> bool:
    return NUMBER.sub("0", piece) == NUMBER.sub("0", want) != want


def _taken(pieces: Sequence[str], want: str) -> tuple[str | _Span, ...]:
    """Return *want* as parts of pieces, with literal texts where no piece has the text.

    >>> _taken(["x", "12", "15"], "topic12-15.html")
    ('topic', _Span(piece=1, start=0, end=2), '-', _Span(piece=2, start=0, end=2), '.html')
    """
    if not want:
        return (want,)
    if want in pieces:
        return (_Span(pieces.index(want), 0, len(want)),)
    for number, piece in enumerate(pieces):
        if is_token(want, piece):
            start = piece.find(want)
            return (_Span(number, start, start + len(want)),)
    ending = _ENDING.search(want)
    text = want[: ending.start()] if ending else ""
    if ending and text in pieces and not is_code(text):
        # A slug and a file extension.
        return _Span(pieces.index(text), 0, len(text)), ending[0]
    numbers = NUMBER.findall(want)
    spans = [_span_of(pieces, digits, numbers) for digits in numbers]
    if not all(spans):
        # A number that no piece has may stay as a literal, but then only whole pieces are taken for
        # the numbers beside it.
        spans = [span and (span if is_number(pieces[span.piece]) else None) for span in spans]
    parts: list[str | _Span] = [*NUMBER.split(want)]
    for place, (span, digits) in reversed([*enumerate(zip(spans, numbers, strict=True))]):
        parts.insert(place + 1, span or digits)
    return _joined(parts)


def _all_taken(
    pieces: Sequence[str], wanted: Iterable[str]
) -> tuple[list[tuple[str | _Span, ...]], list[set[_Span]]]:
    """Return each wanted text as parts of pieces, and for each piece its parts that are tokens.

    If two wanted texts need parts that cannot both be tokens (:func:`_fits`), the first gets its.
    """
    spans: list[set[_Span]] = [set() for _ in pieces]
    taken: list[tuple[str | _Span, ...]] = []
    for want in wanted:
        parts = _taken(pieces, want)
        own = {part for part in parts if isinstance(part, _Span)}
        if not all(_fits(span, spans[span.piece], pieces[span.piece]) for span in own):
            parts, own = (want,), set()
        if parts == (want,):
            free = [piece if not spans[n] else "" for n, piece in enumerate(pieces)]
            parts, own = _field_by_field(free, want)
        for span in own:
            spans[span.piece].add(span)
        taken.append(parts)
    return taken, spans


def _span_of(pieces: Sequence[str], digits: str, wanted: Collection[str]) -> _Span | None:
    """Return where a number stands in the pieces, or None.

    A piece that is the number is preferred; one with numbers that are not wanted is left out.
    """
    spans = [
        _Span(number, *match.span())
        for number, piece in enumerate(pieces)
        for match in NUMBER.finditer(piece)
        if match[0] == digits and all(other in wanted for other in NUMBER.findall(piece))
    ]
    return min(spans, key=lambda span: (pieces[span.piece] != digits, span), default=None)


def _joined(parts: Iterable[str | _Span]) -> tuple[str | _Span, ...]:
    """Return the parts with adjacent texts joined."""
    found: list[str | _Span] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part:
            found.append(part)
    return tuple(found)


def _pattern(piece: str, spans: Sequence[_Span]) -> tuple[Pattern, Words]:
    """Return the pattern of a piece with tokens at *spans*, and the texts in its slugs."""
    pattern, beside = _before(piece[: spans[0].start])
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        pattern += (DIGITS if is_number(piece[span.start : span.end]) else TEXT,)
        if following:
            pattern += (piece[span.end : following.start],)
    last, others = _around(piece[spans[-1].end :])
    return pattern + last, beside + others


def is_token(part: str, text: str) -> bool:
    """Tell whether *part* stands in *text* as a whole word, or as a whole number if it is one."""
    start = text.find(part)
    if start < 0:
        return False
    before, after = text[:start][-1:], text[start + len(part) :][:1]
    same = str.isdigit if part.isdigit() else str.isalnum
    return not (before and same(before)) and not (after and same(after))


def _around(text: str) -> tuple[Pattern, Words]:
    """Return the pattern of the text beside a token, and the text in its slug, if it has one.

    A text is punctuation and a slug. If it lacks one of the two, or is a file extension, it is a
    literal. Whether the slug is a literal as well is found out by comparing more pairs.
    """
    if not any(c.isalnum() for c in text) or _ENDING.fullmatch(text):
        return (text,), ()
    if not text[0].isalnum():
        return (text[0], Slug()), (text[1:],)
    return ((Slug(), text[-1]), (text[:-1],)) if not text[-1].isalnum() else ((text,), ())


def _before(text: str) -> tuple[Pattern, Words]:
    """Return the pattern of the text before a token, with the token's own word as a literal.

    >>> _before("red-shoe-p-")
    ((Slug(kind='slug'), '-p-'), ('red-shoe',))
    >>> _before("red-shoe-t"), _before("red-shoe-"), _before("topic")
    (((Slug(kind='slug'), '-t'), ('red-shoe',)), ((Slug(kind='slug'), '-'), ('red-shoe',)), \
(('topic',), ()))
    """
    found = _WORD_LAST.fullmatch(text)
    return ((Slug(), found[2]), (found[1],)) if found else _around(text)


def look_of(token: str) -> str:
    """Return where a slug has its number; empty if it has none, or if the token is no slug.

    >>> look_of("12-some-title"), look_of("some-title-12.html"), look_of("12-de")
    ('{number}-{text}', '{text}-{number}.html', '')
    """
    first, last = _NUMBERED.match(token), _NUMBER_LAST.search(token)
    if first and not is_code(token[first.end() :]):
        return "{number}" + first[2] + "{text}"
    if last and not is_code(token[: last.start()]):
        return "{text}" + last[1] + "{number}" + last[3]
    return ""


def text_of_look(tokens: Collection[str]) -> Field:
    """Return the field for some tokens that are not all numbers, with what they have in common.

    >>> text_of_look(["12-some-title", "7-a-day_out"])
    Field(kind='', look='{number}-{text}', sign='-', is_hex=False)
    >>> text_of_look(["12-some-title", "edit"]) == TEXT
    True
    """
    looks = {look_of(token) for token in tokens}
    signs = {found[1] if (found := _FIRST_WORD.match(token)) else "" for token in tokens}
    return Field(
        "",
        looks.pop() if len(looks) == 1 else "",
        signs.pop() if len(signs) == 1 else "",
        all(map(_HEX.fullmatch, tokens)),
    )
