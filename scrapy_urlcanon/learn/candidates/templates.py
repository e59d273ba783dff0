"""From pairs of URLs that show one page to templates that turn the one into the other.

As in DustBuster (Bar-Yossef, Keidar and Schonfeld 2007) a rule is a substitution seen in many
pairs; as in the pattern tree of Lei et al. (2010) a token is a literal where few values make up
most pairs, and a field elsewhere.
"""

from __future__ import annotations

import re
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS, Candidate, Duplicates, common
from scrapy_urlcanon.learn.candidates.pieces import (
    DIGITS,
    TEXT,
    Field,
    Filling,
    Pattern,
    Slug,
    Token,
    Words,
    explain,
    has_fields,
    is_code,
    is_token,
    look_of,
    without_slugs,
)
from scrapy_urlcanon.learn.candidates.plausible import is_plausible
from scrapy_urlcanon.learn.location import IN_QUERY, name_of, readable_params, value_of
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.vocabulary import (
    FIRST_PAGE,
    is_number,
    is_paging,
    is_protected,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.location import Location

MAX_PIECES = 10
"""Segments and parameters that a template may take out of the middle, and put in."""

MAX_SEGMENTS = 10
"""Segments of the path that a template may pass on."""

ANY_PATH = -1
"""In place of the number of segments: the path is passed on as a whole."""

LITERAL_SHARE = 0.2
"""A value that makes up this share of a token's pairs is a literal."""

SLUG_SHARE = 0.5
"""The same of what stands in the place of a text for readers, of which few are alike."""

_OF_PART = re.compile(r"[\d\W_]+(?:\.[a-z]{2,5})?\Z")
_FIELD = re.compile(r"\{[^{}]*\}")


Literals: TypeAlias = "tuple[str | Field, ...]"
"""What stands for the tokens: a literal where one value makes up enough of the pairs."""


class Skeleton(NamedTuple):
    """What pairs of URLs have in common that one pair of templates may explain."""

    head: int
    """Segments before those that differ; :data:`ANY_PATH` where the path does not matter."""
    tail: int
    """Segments after them."""
    middle: tuple[Pattern, ...]
    """Segments that differ."""
    params: tuple[tuple[str, Pattern], ...]
    """Parameters that are taken, by name."""
    target: tuple[Filling, ...]
    """Segments that are put in."""
    target_params: tuple[tuple[str, Filling], ...]
    """Parameters that are put in, by name."""

    @property
    def plain(self) -> int:
        """How many of its tokens fields find; those behind them stand in the place of slugs."""
        patterns = *self.middle, *(pattern for _, pattern in self.params)
        fields = sum(isinstance(part, Field) for pattern in patterns for part in pattern)
        return max(self.head, 0) + self.tail + fields


class _Pairs(NamedTuple):
    """The pairs of one skeleton: the page of each, and its tokens."""

    entries: list[tuple[int, Words]]
    depths: set[int]
    led_back: set[int]
    """The pages of those whose second URL redirects to the first."""


def pairs_of_templates(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the pairs of templates that pairs of URLs suggest, each with the page."""
    seen: dict[Skeleton, _Pairs] = {}
    for page, one, other in duplicates.pairs():
        for source, target in ((one, other), (other, one)):
            leads_back = duplicates.leads_back(source, target)
            for skeleton, tokens in skeletons(source, target):
                known = seen.get(skeleton)
                if known is None:
                    known = seen[skeleton] = _Pairs([], set(), set())
                known.entries.append((page, tokens))
                known.depths.add(source.path.count("/"))
                if leads_back:
                    known.led_back.add(page)
    for skeleton, pairs in seen.items():
        for rewrite, pages in _rewrites(skeleton, pairs):
            yield from (((rewrite,), page) for page in pages)


def _rewrites(skeleton: Skeleton, pairs: _Pairs) -> Iterator[tuple[RewriteTemplates, set[int]]]:
    """Yield the pairs of templates that may explain pairs of URLs, each with the pages of these."""
    if len({page for page, _ in pairs.entries}) < MIN_PROPOSERS:
        return
    if skeleton.head == ANY_PATH and len(pairs.depths) == 1:
        return  # a narrower template says the same
    for slug_share in (SLUG_SHARE, LITERAL_SHARE):
        are_said = True
        for literals, pages in _split(pairs.entries, skeleton.plain, slug_share, ()):
            rewrite = _rewrite(skeleton, literals)
            if rewrite is None or not is_plausible(rewrite):
                continue
            if not all(isinstance(text, str) for text in literals[skeleton.plain :]):
                are_said = are_said and rewrite.is_valid
            is_led_back = 2 * len(pages & pairs.led_back) > len(pages)
            # The reverse merges the same, and leads where the site does.
            yield (is_led_back and rewrite.reversed()) or rewrite, pages
        # Where no template can say where a text ends that does not matter, `b7~S1` and `b7~S3`,
        # each of these texts that is on enough of the pages has one of its own.
        if are_said:
            return


def skeletons(source: Location, target: Location) -> Iterator[tuple[Skeleton, tuple[str, ...]]]:
    """Yield the ways to compute one URL from another, each with the tokens of the source.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/node/7/print"), locate("http://a.example/node/7")
    >>> for skeleton, tokens in skeletons(one, other):
    ...     print(skeleton.middle == ((TEXT,),), skeleton.target, tokens)
    True () ('node', '7', 'print')
    """
    if source.origin != target.origin:
        return
    segments, others = source.path.split("/")[1:], target.path.split("/")[1:]
    if len(segments) > MAX_SEGMENTS:
        return
    given, wanted = readable_params(source), readable_params(target)
    taken = [param for param in given if param not in wanted]
    put = [param for param in wanted if param not in given]
    if segments == others and not put:
        return  # dropping parameters is no template
    head = common(segments, others)
    tail = common(segments[head:][::-1], others[head:][::-1])
    middle, others = segments[head : len(segments) - tail], others[head : len(others) - tail]
    names = [name_of(param) for param in taken]
    if (
        len(middle) + len(taken) > MAX_PIECES
        or len(others) + len(put) > MAX_PIECES
        or len(set(names)) < len(names)
        or any(is_protected(name) for name in names if _is_dropped(name, taken, others, put))
    ):
        return
    outside = (*segments[:head], *segments[len(segments) - tail :])
    pieces = [*middle, *map(value_of, taken)]
    patterns, tokens, fillings, beside = explain(pieces, [*others, *map(value_of, put)])
    tokens += beside
    new_values = fillings[len(others) :]
    from_nowhere = [
        name_of(param)
        for param, value in zip(put, new_values, strict=True)
        if _token_of(value) is None
    ]
    # What a script is told beside the thing, such as `view=article&id=7`, is in its path elsewhere.
    is_script = (
        not given and len(from_nowhere) < len(put) and not any(map(is_protected, from_nowhere))
    )
    if is_script or not from_nowhere or len(put) <= len(taken):
        skeleton = Skeleton(
            head,
            tail,
            tuple(patterns[: len(middle)]),
            tuple(zip(names, patterns[len(middle) :], strict=True)),
            tuple(fillings[: len(others)]),
            tuple(zip(map(name_of, put), new_values, strict=True)),
        )
        yield skeleton, (*outside, *tokens)
        if head == len(segments) and any(segments) and taken:
            yield skeleton._replace(head=ANY_PATH), tuple(tokens)
    if middle and others and not taken and not put:
        for patterns, filling, token in _indifferent(middle, others, outside):
            yield Skeleton(head, tail, (*patterns,), (), (filling,), ()), (*outside, *token)


def _indifferent(
    middle: Sequence[str], others: Sequence[str], outside: Sequence[str]
) -> Iterator[tuple[list[Pattern], Filling, tuple[str, ...]]]:
    """Yield what makes the segments that differ one where they are texts that do not matter.

    One for another is a title, or what stands beside a number. Several of them are sections of any
    depth that show one thing, where that has a number.
    """
    if len(middle) == len(others) == 1:
        slugs = without_slugs(middle[0], others[0])
        if slugs:
            pattern, token, filling = slugs
            yield [pattern], filling, (token,)
    elif outside and look_of(outside[-1]) and not any(map(is_code, (*middle, *others))):
        yield [(Slug(),)] * len(middle), ("-",), ()


def _token_of(filling: Filling) -> Token | None:
    return next((part for part in filling if isinstance(part, Token)), None)


def _is_dropped(
    name: str, taken: Sequence[str], segments: Sequence[str], put: Sequence[str]
) -> bool:
    """Tell whether a parameter goes, and its value comes in no other one.

    Nor into the path, where it numbers a part. One with fields is no number of a part.
    """
    values = {value_of(param) for param in taken if name_of(param) == name}
    if all(map(has_fields, values)):
        return False
    if is_paging(name) and any(is_token(v, segment) for v in values for segment in segments):
        return False
    return not any(value in text for value in values for text in put)


def _split(
    entries: Sequence[tuple[int, Words]], plain: int, slug_share: float, literals: Literals
) -> Iterator[tuple[Literals, set[int]]]:
    """Yield which tokens are literals, for each part of the pairs that is large enough.

    One in the place of a slug, behind the *plain* ones, is one where most of them are alike, and
    no slug then: some other text may stand beside the same number by chance.

    :param slug_share: which share of the pages a literal in the place of a slug must be on.
    """
    pages = {page for page, _ in entries}
    if len(pages) < MIN_PROPOSERS:
        return
    position = len(literals)
    if position == len(entries[0][1]):
        yield literals, pages
        return
    parts: dict[str, list[tuple[int, Words]]] = {}
    for entry in entries:
        parts.setdefault(entry[1][position], []).append(entry)
    counts = {value: len({page for page, _ in part}) for value, part in parts.items()}
    is_slug = position >= plain
    is_alike = is_slug and max(counts.values()) >= SLUG_SHARE * len(pages)
    # Numbers beside a number are those of its parts, and no text that does not matter.
    is_part = is_slug and all(map(_OF_PART.match, parts))
    if len(parts) > 1 and not (is_alike or is_part or IN_QUERY in parts):
        field = DIGITS if all(map(is_number, parts)) else _numbered(parts)
        yield from _split(entries, plain, slug_share, (*literals, field))
    for value in sorted(parts):
        share = slug_share if is_slug and value not in FIRST_PAGE else LITERAL_SHARE
        if counts[value] >= max(MIN_PROPOSERS, share * len(pages)):
            yield from _split(parts[value], plain, slug_share, (*literals, value))


def _numbered(tokens: Iterable[str]) -> Field:
    """Return the place for some texts, with what they look like where each has a number.

    >>> _numbered(["12-some-title", "7-other"]), _numbered(["12-some-title", "other"])
    (Field(kind='', look='{number}-{text}'), Field(kind='', look=''))
    """
    looks = {look_of(token) for token in tokens}
    return Field("", looks.pop()) if len(looks) == 1 else TEXT


def _rewrite(
    skeleton: Skeleton, literals: Literals, *, numbered: bool = False
) -> RewriteTemplates | None:
    """Return the pair of templates; None where it would match every URL of that depth.

    :param numbered: whether to tell numbers from the texts beside them, which matches fewer URLs.
    """
    head = max(skeleton.head, 0)
    outside = head + skeleton.tail
    passed = set(range(outside))
    for filling in (*skeleton.target, *(filling for _, filling in skeleton.target_params)):
        passed.update(outside + part.number for part in filling if isinstance(part, Token))
    # A field that the target leaves out says so by its name.
    names = ["" if i in passed else "_" for i in range(len(literals))]
    names = [mark + chr(ord("a") + i) for i, mark in enumerate(names)]
    slugs = (f"{{_{name}}}" for name in chain("stuvwx", map("s{}".format, count(1))))

    def found(i: int, *, with_kind: bool = False) -> str:
        literal = literals[i]
        if isinstance(literal, str):
            return literal
        if not (numbered and literal.look):
            return f"{{{names[i]}{literal.kind * with_kind}}}"
        number = f"{{{names[i]}{DIGITS.kind * with_kind}}}"
        return literal.look.format(number=number, text=f"{{{names[i]}_text}}")

    def field(i: int) -> str:
        return found(i, with_kind=True)

    beside = (text if isinstance(text, str) else next(slugs) for text in literals[skeleton.plain :])
    others, fields = chain(beside, slugs), map(field, count(outside))

    def pattern_of(pattern: Pattern) -> str:
        return "".join(
            part if isinstance(part, str) else next(others if isinstance(part, Slug) else fields)
            for part in pattern
        )

    def filled(filling: Filling) -> str:
        return "".join(
            part if isinstance(part, str) else found(outside + part.number) for part in filling
        )

    middle = [*map(pattern_of, skeleton.middle)]
    query = [f"{name}={pattern_of(pattern)}" for name, pattern in skeleton.params]
    source, target = "/{rest:path}", "/{rest}"
    if skeleton.head != ANY_PATH:
        ends = range(head), range(head, outside)
        before, after = ([field(i) for i in end] for end in ends)
        source = "/" + "/".join((*before, *middle, *after))
        before, after = ([found(i) for i in end] for end in ends)
        target = "/" + "/".join((*before, *map(filled, skeleton.target), *after))
    if not query and ":digits}" not in source and not _FIELD.sub("", source).strip("/"):
        return None if numbered else _rewrite(skeleton, literals, numbered=True)
    new_query = [f"{name}={filled(filling)}" for name, filling in skeleton.target_params]
    return RewriteTemplates(_text(source, query), _text(target, new_query))


def _text(path: str, query: Sequence[str]) -> str:
    return path + ("?" + "&".join(query) if query else "")
