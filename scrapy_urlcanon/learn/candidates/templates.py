"""Makes templates that turn one URL of a page into another, from pairs of such URLs.

As in DustBuster (Bar-Yossef, Keidar and Schonfeld 2007), a rule is a substitution that was seen in
many pairs. As in the pattern tree of Lei et al. (2010), a token becomes a literal if few values
make up most of the pairs, otherwise a field.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS, Candidate, Duplicates, common
from scrapy_urlcanon.learn.candidates.pieces import (
    DIGITS,
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
    text_of_look,
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
    from collections.abc import Iterator, Sequence

    from scrapy_urlcanon.learn.location import Location

MAX_PIECES = 10
"""How many segments and parameters a template may take out of the middle, and how many put in."""

MAX_SEGMENTS = 10
"""How many segments the path of the first URL may have."""

ANY_PATH = -1
"""For :attr:`Skeleton.head`: the whole path is passed on, whatever its length."""

LITERAL_SHARE = 0.2
"""A value that is on this share of the pages becomes a literal."""

SLUG_SHARE = 0.5
"""The same for a text in the place of a slug, since few titles are alike."""

_OF_PART = re.compile(r"[\d\W_]+(?:\.[a-z]{2,5})?\Z")
_FIELD = re.compile(r"\{[^{}]*\}")


Literals: TypeAlias = "tuple[str | Field, ...]"
"""What each token becomes: a literal if one value is on enough of the pages, or a field."""


_Narrow: TypeAlias = Literal["", "numbers", "titles", "hex"]
"""Which fields of a template match less than any text: with ``numbers`` a number and the slug
beside it are fields of their own; with ``titles`` a text that is left out must have several words,
so that ``/job/7/{title}`` does not match ``/job/7/apply``; with ``hex`` a text must be hexadecimal,
so that it is clear where the title in ``{title}-{id:hex}`` ends.
"""


class Skeleton(NamedTuple):
    """How one URL is computed from another, tokens left out.

    Pairs with equal skeletons may be explained by one pair of templates.
    """

    head: int
    """How many segments stand before those that differ; :data:`ANY_PATH` for any path."""
    tail: int
    """How many segments stand after them."""
    middle: tuple[Pattern, ...]
    """The segments of the first URL that differ."""
    params: tuple[tuple[str, Pattern], ...]
    """The names and values of the parameters that only the first URL has."""
    target: tuple[Filling, ...]
    """The segments that replace those that differ."""
    target_params: tuple[tuple[str, Filling], ...]
    """The names and values of the parameters that only the second URL has."""

    @property
    def plain(self) -> int:
        """How many of the tokens belong to fields; those after them are the texts of slugs."""
        patterns = *self.middle, *(pattern for _, pattern in self.params)
        fields = sum(isinstance(part, Field) for pattern in patterns for part in pattern)
        return max(self.head, 0) + self.tail + fields


class _Pairs(NamedTuple):
    """The pairs of URLs with one skeleton."""

    entries: list[tuple[int, Words]]
    """The page of each pair, and its tokens."""
    depths: set[int]
    """How many slashes the paths of the first URLs have."""
    led_back: set[int]
    """The pages of pairs whose second URL redirects to the first."""


def pairs_of_templates(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the pairs of templates that pairs of URLs suggest, each with the page of the pair."""
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
    """Yield pairs of templates for pairs of URLs with one skeleton, each with their pages."""
    if len({page for page, _ in pairs.entries}) < MIN_PROPOSERS:
        return
    if skeleton.head == ANY_PATH and len(pairs.depths) == 1:
        return  # a narrower template says the same
    for slug_share in (SLUG_SHARE, LITERAL_SHARE):
        are_said = True
        for literals, pages in _split(pairs.entries, skeleton.plain, slug_share, ()):
            rewrite = _rewrite(skeleton, literals)
            if len(literals) > skeleton.plain and rewrite is not None and not rewrite.is_valid:
                rewrite = _rewrite(skeleton, literals, "hex")
            if rewrite is None or not is_plausible(rewrite):
                continue
            if not all(isinstance(text, str) for text in literals[skeleton.plain :]):
                are_said = are_said and rewrite.is_valid
            is_led_back = 2 * len(pages & pairs.led_back) > len(pages)
            # The reverse merges the same URLs, and follows the redirects of the site.
            yield (is_led_back and rewrite.reversed()) or rewrite, pages
            titles = _rewrite(skeleton, literals, "titles")
            if titles is not None and titles != rewrite:
                yield titles, pages
        # If no template can say where a slug begins, as in `b7~S1` and `b7~S3`, each text in its
        # place that is on enough of the pages gets a template of its own.
        if are_said:
            return


def skeletons(source: Location, target: Location) -> Iterator[tuple[Skeleton, tuple[str, ...]]]:
    """Yield the ways to compute *target* from *source*, each with the tokens of the source.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/node/7/print"), locate("http://a.example/node/7")
    >>> for skeleton, tokens in skeletons(one, other):
    ...     print(skeleton.middle == ((Field(""),),), skeleton.target, tokens)
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
    # The path becomes that of a script, whose parameters say what the path said, and more:
    # `view=article&id=7`.
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
    """Yield skeleton parts for segments that differ only in slugs, if they do.

    A single segment may be another title, or have another one beside its number. Several segments
    may be sections of any depth, if the thing that they show has a number behind them.
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
    """Tell whether a parameter is dropped and its value reappears in no other parameter.

    The number of a page may also reappear in the path. A value with separated fields is no such
    number.
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
    """Yield what tokens become, with the pages of the pairs for which that holds.

    The pairs are split by the values of one token after another; parts of fewer than
    :data:`MIN_PROPOSERS` pages are left out. A text in the place of a slug becomes a literal only,
    and no field, if most of them are equal: another one may stand beside the same number by
    chance.

    :param plain: how many tokens belong to fields, not to slugs.
    :param slug_share: on which share of the pages a text in the place of a slug must be to become
        a literal.
    :param literals: what the tokens before this one became.
    """
    pages = {page for page, _ in entries}
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
    # Numbers beside a number are those of parts, such as pages of a topic, and no slugs.
    is_part = is_slug and all(map(_OF_PART.match, parts))
    if len(parts) > 1 and not (is_alike or is_part or IN_QUERY in parts):
        field = DIGITS if all(map(is_number, parts)) else text_of_look(parts)
        yield from _split(entries, plain, slug_share, (*literals, field))
    for value in sorted(parts):
        share = slug_share if is_slug and value not in FIRST_PAGE else LITERAL_SHARE
        if counts[value] >= max(MIN_PROPOSERS, share * len(pages)):
            yield from _split(parts[value], plain, slug_share, (*literals, value))


def _rewrite(
    skeleton: Skeleton, literals: Literals, narrow: _Narrow = ""
) -> RewriteTemplates | None:
    """Return the pair of templates, or None if it would match every URL of that depth.

    :param narrow: which fields match less than any text.
    """
    head = max(skeleton.head, 0)
    outside = head + skeleton.tail
    passed = set(range(outside))
    for filling in (*skeleton.target, *(filling for _, filling in skeleton.target_params)):
        passed.update(outside + part.number for part in filling if isinstance(part, Token))
    # The name of a field that the target leaves out begins with an underscore.
    names = ["" if i in passed else "_" for i in range(len(literals))]
    names = [mark + chr(ord("a") + i) for i, mark in enumerate(names)]
    slugs = (f"{{_{name}}}" for name in chain("stuvwx", map("s{}".format, count(1))))
    places = [*map(partial(_in_both, narrow=narrow), literals, names)]

    def found(i: int) -> str:
        return places[i][1]

    def field(i: int) -> str:
        return places[i][0]

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
        return None if narrow else _rewrite(skeleton, literals, "numbers")
    new_query = [f"{name}={filled(filling)}" for name, filling in skeleton.target_params]
    return RewriteTemplates(_text(source, query), _text(target, new_query))


def _in_both(literal: str | Field, name: str, *, narrow: _Narrow) -> tuple[str, str]:
    """Return what a literal or a field of this name is in the first template, and in the second.

    >>> _in_both(Field("", sign="-"), "_c", narrow="titles")[0]
    '{_c:word}-{_c_more}'
    """
    if isinstance(literal, str):
        return literal, literal
    if narrow == "numbers" and literal.look:
        text = f"{{{name}_text}}"
        numbers = f"{{{name}{DIGITS.kind}}}", f"{{{name}}}"
        one, other = (literal.look.format(number=number, text=text) for number in numbers)
        return one, other
    if narrow == "titles" and name.startswith("_") and literal.sign and not literal.look:
        return f"{{{name}:word}}{literal.sign}{{{name}_more}}", ""
    kind = ":hex" if narrow == "hex" and literal.is_hex else literal.kind
    return f"{{{name}{kind}}}", f"{{{name}}}"


def _text(path: str, query: Sequence[str]) -> str:
    return path + ("?" + "&".join(query) if query else "")
