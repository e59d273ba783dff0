"""From pairs of URLs that show one page to templates that turn the one into the other.

As in DustBuster (Bar-Yossef, Keidar and Schonfeld 2007) a rule is a substitution seen in many
pairs; as in the pattern tree of Lei et al. (2010) a token is a literal where few values make up
most pairs, and a field elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.learn.location import is_identifier, name_of, value_of
from scrapy_urlcanon.learn.proposals import (
    FIRST_PAGE,
    MIN_PROPOSERS,
    duplicates,
    is_protected,
    pairs,
)
from scrapy_urlcanon.learn.template import Rewrite, literal_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.proposals import Candidate

#: Segments and parameters that a template may take out of the middle, and put in.
MAX_PIECES = 6

#: Segments of the path that a template may pass on.
MAX_SEGMENTS = 8

#: In place of the number of segments: the path is passed on as a whole.
ANY_PATH = -1

#: A value that makes up this share of a token's pairs is a literal.
LITERAL_SHARE = 0.2

#: Texts of this length are no slugs.
_MAX_CODE = 3

_NUMBERED = re.compile("([0-9]+)([-_,])")
_NUMBER_LAST = re.compile(r"([-_,])([0-9]+)((?:\.[a-z]{2,5})?)$")
_LANGUAGE = re.compile("[a-z]{2}[-_][A-Za-z]{2,4}")
_WORD = re.compile("[^0-9.,_-]{3}")
_ENDING = re.compile(r"\.[a-z]{2,5}$")


class Skeleton(NamedTuple):
    """What pairs of URLs have in common that one template may explain.

    Texts in ``target`` that begin with a backslash and a number stand for that token of the source.
    """

    head: int
    """Segments before those that differ; :data:`ANY_PATH` where the path does not matter."""
    tail: int
    """Segments after them."""
    middle: tuple[str, ...]
    """Segments that differ: a pattern with ``*`` for the token, and ``#`` for a token of digits."""
    names: tuple[str, ...]
    """Parameters that are taken, each ``name=pattern``."""
    target: tuple[str, ...]
    """Segments that are put in."""
    target_names: tuple[str, ...]
    """Parameters that are put in, each ``name=text``."""


def template_proposals(groups: Groups) -> dict[Candidate, set[int]]:
    """Return the pairs of templates that the site's duplicates suggest.

    Each with the pages that suggest it.
    """
    seen: dict[Skeleton, list[tuple[int, tuple[str, ...]]]] = {}
    depths: dict[Skeleton, set[int]] = {}
    ways = (
        (page, source, *way)
        for page, locations in duplicates(groups)
        for one, other in pairs(locations)
        for source, target in ((one, other), (other, one))
        for way in skeletons(source, target)
    )
    for page, source, skeleton, tokens in ways:
        seen.setdefault(skeleton, []).append((page, tokens))
        if skeleton.head == ANY_PATH:
            depths.setdefault(skeleton, set()).add(source.place.path.count("/"))
    found: dict[Candidate, set[int]] = {}
    for skeleton, entries in seen.items():
        if len({page for page, _ in entries}) < MIN_PROPOSERS:
            continue
        if len(depths.get(skeleton, "any")) == 1:
            continue  # a narrower template says the same
        for literals, pages in _split(entries, 0, ()):
            rewrite = _rewrite(skeleton, literals)
            if rewrite is not None and not (
                _changes_the_part(rewrite)
                or _turns_into_another(rewrite)
                or _drops_for_nothing(rewrite)
            ):
                found.setdefault((rewrite,), set()).update(pages)
    return found


def _changes_the_part(rewrite: Rewrite) -> bool:
    """Whether a template drops or adds the number of one part of a listing.

    Only that of the first may go, or that of any.
    """
    parts = rewrite.dropped_parts | rewrite.added_parts
    return any(part.isdigit() and part not in FIRST_PAGE for part in parts)


def _turns_into_another(rewrite: Rewrite) -> bool:
    """Whether a template says that one of many things is another one of them.

    Two revisions of a text are one page where nothing changed between them, and elsewhere not.
    """
    source, target = (
        {text for text in re.split("[/?&=]", template) if is_identifier(text)}
        for template in (rewrite.source, rewrite.target)
    )
    return bool(source - target and target - source)


def _drops_for_nothing(rewrite: Rewrite) -> bool:
    """Whether a template drops any value of a parameter, and puts in another one out of nowhere.

    That the one makes no difference has to be shown of it by itself.

    >>> _drops_for_nothing(Rewrite("/list/?C={_a}", "/list/?O=D"))
    True
    """
    path, _, query = rewrite.source.partition("?")
    new_path, _, new_query = rewrite.target.partition("?")
    return (
        "={_" in query
        and new_query != ""
        and "{" not in new_query
        and path.count("/") == new_path.count("/")
    )


def skeletons(source: Location, target: Location) -> Iterator[tuple[Skeleton, tuple[str, ...]]]:
    """Yield the ways to compute one URL from another, each with the tokens of the source.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/node/7/print"), locate("http://a.example/node/7")
    >>> for skeleton, tokens in skeletons(one, other):
    ...     print(skeleton.middle, skeleton.target, tokens)
    ('*',) () ('node', '7', 'print')
    """
    if source.place[:2] != target.place[:2]:
        return
    segments, others = source.place.path.split("/")[1:], target.place.path.split("/")[1:]
    if len(segments) > MAX_SEGMENTS or any(
        "{" in text or "}" in text for text in (source.url, target.url)
    ):
        return
    taken = [param for param in source.params if param not in target.params]
    put = [param for param in target.params if param not in source.params]
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
        or any(is_protected(name) for name in names if _is_dropped(name, taken, put))
    ):
        return
    pieces = [*middle, *(value_of(param) for param in taken)]
    wanted = [*others, *(value_of(param) for param in put)]
    for patterns, tokens, texts in _explanations(pieces, wanted):
        if any("\\" not in text for text in texts[len(others) :]) and len(put) > len(taken):
            continue  # a parameter out of nowhere
        skeleton = Skeleton(
            head,
            tail,
            tuple(patterns[: len(middle)]),
            tuple(
                f"{name}={pattern}"
                for name, pattern in zip(names, patterns[len(middle) :], strict=True)
            ),
            tuple(texts[: len(others)]),
            tuple(
                f"{name_of(param)}={text}"
                for param, text in zip(put, texts[len(others) :], strict=True)
            ),
        )
        yield skeleton, (*segments[:head], *segments[len(segments) - tail :], *tokens)
        if head == len(segments) and any(segments) and taken:
            yield skeleton._replace(head=ANY_PATH), tuple(tokens)
    if len(middle) == len(others) == 1 and not taken and not put:
        yield from _slugs(middle[0], others[0], head, tail, segments)


def _slugs(
    one: str, other: str, head: int, tail: int, segments: Sequence[str]
) -> Iterator[tuple[Skeleton, tuple[str, ...]]]:
    """Yield what makes two segments one in which any text for readers will do.

    That it does not matter is what the rule says, so that one for all of them is as good as each:
    a hyphen. What is beside the text, a number or the ending of a file, is passed on.
    """
    if not one or not other or _digits_masked(one) == _digits_masked(other):
        return
    outside = (*segments[:head], *segments[len(segments) - tail :])
    first, last, ending = _NUMBERED.match(one), _NUMBER_LAST.search(one), _ENDING.search(one)
    if first and other.startswith(first[0]):
        before, after, token = first[0], "", first[1]
        pattern, text = f"#{first[2]}?", f"\\0\\{first[2]}-"
    elif last and other.endswith(last[0]):
        before, after, token = "", last[0], last[2]
        pattern, text = f"?{last[1]}#{last[3]}", f"-{last[1]}\\0\\{last[3]}"
    else:
        end = ending[0] if ending and other.endswith(ending[0]) else ""
        before, after, token = "", end, one.removesuffix(end)
        pattern, text = f"*{end}", f"-{end}"
    if not any(_is_code(slug.removeprefix(before).removesuffix(after)) for slug in (one, other)):
        yield Skeleton(head, tail, (pattern,), (), (text,), ()), (*outside, token)


def _is_code(text: str) -> bool:
    """Whether a text may be an abbreviation, a language or a number, and none for readers."""
    return len(text) <= _MAX_CODE or bool(_LANGUAGE.fullmatch(text)) or not _WORD.search(text)


def _is_dropped(name: str, taken: Sequence[str], put: Sequence[str]) -> bool:
    values = {value_of(param) for param in taken if name_of(param) == name}
    return not any(value in text for value in values for text in put)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences begin with in common."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _explanations(
    pieces: Sequence[str], wanted: Sequence[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield patterns of the pieces, their tokens, and what is wanted in terms of these.

    A pattern has ``*`` in place of the token, or ``#`` where it is digits.
    """
    patterns = ["#" if piece.isdigit() and piece.isascii() else "*" for piece in pieces]
    tokens = list(pieces)
    texts = []
    for want in wanted:
        text = want
        for number, piece in enumerate(pieces):
            if not piece:
                continue
            if piece == want:
                text = f"\\{number}\\"
                break
            if piece.isdigit() and piece in want and len(piece) > 0 and _is_token(piece, want):
                before, after = want.split(piece, 1)
                text = f"{before}\\{number}\\{after}"
                break
            if want and want in piece and _is_token(want, piece):
                before, after = piece.split(want, 1)
                patterns[number] = f"{_mask(before)}{'#' if want.isdigit() else '*'}{_mask(after)}"
                tokens[number] = want
                text = f"\\{number}\\"
                break
            if _digits_masked(piece) == _digits_masked(want) != want:
                patterns[number] = _digits_masked(piece).replace("0", "#", 1)
                if patterns[number].count("0") or "*" in patterns[number]:
                    patterns[number] = "*"
                else:
                    tokens[number] = "".join(c for c in piece if c.isdigit())
                break
        texts.append(text)
    yield patterns, tokens, texts


def _is_token(part: str, text: str) -> bool:
    """Whether a part of a text is bounded by something other than what it is made of."""
    start = text.index(part)
    before, after = text[:start][-1:], text[start + len(part) :][:1]
    same = str.isdigit if part.isdigit() else str.isalnum
    return not (before and same(before)) and not (after and same(after))


def _mask(text: str) -> str:
    """Return the punctuation around a token, with ``?`` for a slug that does not matter.

    Text without a slug comes back as it is.
    """
    if not text or not any(c.isalnum() for c in text):
        return text
    if not text[0].isalnum():
        return text[0] + "?"
    return "?" + text[-1] if not text[-1].isalnum() else text


def _digits_masked(text: str) -> str:
    masked = ""
    for c in text:
        if c.isdigit() and c.isascii():
            masked += "" if masked.endswith("0") else "0"
        else:
            masked += c
    return masked


def _split(
    entries: Sequence[tuple[int, tuple[str, ...]]], position: int, literals: tuple[str | None, ...]
) -> Iterator[tuple[tuple[str | None, ...], set[int]]]:
    """Yield which tokens are literals, for each part of the pairs that is large enough.

    None stands for a field, ``#`` for one of digits.
    """
    pages = {page for page, _ in entries}
    if len(pages) < MIN_PROPOSERS:
        return
    if position == len(entries[0][1]):
        yield literals, pages
        return
    parts: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for entry in entries:
        parts.setdefault(entry[1][position], []).append(entry)
    if len(parts) > 1:
        digits = all(value.isdigit() for value in parts)
        yield from _split(entries, position + 1, (*literals, "#" if digits else None))
    for value in sorted(parts):
        count = len({page for page, _ in parts[value]})
        if count >= MIN_PROPOSERS and count >= LITERAL_SHARE * len(pages):
            yield from _split(parts[value], position + 1, (*literals, value))


def _rewrite(skeleton: Skeleton, literals: Sequence[str | None]) -> Rewrite | None:
    """Return the pair of templates; None where it would not be a rule."""
    segments = max(skeleton.head, 0)
    outside = segments + skeleton.tail
    passed = set(range(outside))
    for text in (*skeleton.target, *skeleton.target_names):
        passed.update(outside + int(number) for number in text.split("\\")[1::2])
    # A field that the target leaves out says so by its name.
    names = [
        chr(ord("a") + i) if i in passed else "_" + chr(ord("a") + i) for i in range(len(literals))
    ]
    extra = iter(("_s", "_t", "_u", "_v", "_w", "_x"))

    def text_of(i: int, *, in_source: bool) -> str:
        literal = literals[i]
        if literal is not None and literal != "#":
            return literal
        return f"{{{names[i]}:digits}}" if literal == "#" and in_source else f"{{{names[i]}}}"

    def pattern_of(pattern: str, i: int) -> str:
        before, token, after = pattern.partition("#" if "#" in pattern else "*")
        del token
        before, after = (
            part.replace("?", "{" + next(extra) + "}") if "?" in part else part
            for part in (before, after)
        )
        return before + text_of(i, in_source=True) + after

    def filled(text: str) -> str:
        parts = text.split("\\")
        return (
            parts[0] + text_of(outside + int(parts[1]), in_source=False) + parts[2]
            if len(parts) > 1
            else text
        )

    head = [text_of(i, in_source=True) for i in range(segments)]
    tail = [text_of(i, in_source=True) for i in range(segments, outside)]
    patterns = [*skeleton.middle, *(value_of(name) for name in skeleton.names)]
    middle = [pattern_of(pattern, outside + i) for i, pattern in enumerate(patterns)]
    path, values = middle[: len(skeleton.middle)], middle[len(skeleton.middle) :]
    whole = skeleton.head == ANY_PATH
    source = "/{rest:path}" if whole else "/" + "/".join([*head, *path, *tail])
    query = "&".join(
        f"{name_of(name)}={value}" for name, value in zip(skeleton.names, values, strict=True)
    )
    new_head = [text_of(i, in_source=False) for i in range(segments)]
    new_tail = [text_of(i, in_source=False) for i in range(segments, outside)]
    put = [filled(text) for text in skeleton.target]
    target = "/{rest}" if whole else "/" + "/".join([*new_head, *put, *new_tail])
    new_query = "&".join(
        f"{name_of(name)}={filled(value_of(name))}" for name in skeleton.target_names
    )
    if not query and not literal_of(source).strip("/") and ":digits}" not in source:
        return None  # fields only: it would match every URL of that depth
    return Rewrite(
        source + ("?" + query if query else ""), target + ("?" + new_query if new_query else "")
    )
