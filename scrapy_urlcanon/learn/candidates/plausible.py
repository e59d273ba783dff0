"""Refuses pairs of templates that are probably true only by chance, or only for now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.learn.candidates.pieces import is_token
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.vocabulary import (
    FIRST_PAGE,
    LANGUAGE,
    PART_OF_LISTING,
    SWITCHED,
    is_date,
    is_edition,
    is_identifier,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from scrapy_urlcanon.learn.operations.templates import RewriteTemplates

_NAME_OF_NUMBER = re.compile(r"(?<=.)/(id)(?=/(?:[0-9]+|\{\w+:digits\})(?:/|\Z))")
_BEFORE_ENDING = re.compile(r"[-._]([a-z]{2})(?=\.[a-z]{2,5}\Z)")
_LONG = re.compile("[0-9]{3,}")
_SIGNS = re.compile(r"[\W_]")
_LEFT_OUT = re.compile(r"\{_\w+:digits\}")
_BEHIND = re.compile(r"\}([^{}?&=]+)")
_TITLE = re.compile(r"[^\W\d_]+(?:[-_+][^\W\d_]+)+")


def is_plausible(rewrite: RewriteTemplates) -> bool:
    """Tell whether a pair of templates may hold for a site, and is worth trying.

    >>> from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
    >>> is_plausible(RewriteTemplates("/list/?C={_a}", "/list/?O=D"))
    False
    >>> is_plausible(RewriteTemplates("/de/{a}", "/{a}?lang=de"))
    True
    >>> is_plausible(RewriteTemplates("/de/{a}", "/fr/{a}"))
    False
    >>> is_plausible(RewriteTemplates("/id/{a:digits}", "/{a}"))
    False
    >>> is_plausible(RewriteTemplates("/news/{a}", "/fr/news/{a}"))
    False
    >>> is_plausible(RewriteTemplates("/news/{a}.fr.html", "/news/{a}.html"))
    False
    >>> is_plausible(RewriteTemplates("/detail?r={b:digits}", "/eg/record/{b}"))
    True
    >>> is_plausible(RewriteTemplates("/wiki/{b}_(fr)", "/wiki/{b}/fr"))
    True
    >>> is_plausible(RewriteTemplates("/{a:digits}/", "/id/eprint/{a}"))
    True
    >>> is_plausible(RewriteTemplates("/{_a:digits}/{b}", "/go/{b}/some-title"))
    False
    >>> is_plausible(RewriteTemplates("/p?size={b:digits}-10", "/p?size={b}-11"))
    False
    >>> is_plausible(RewriteTemplates("/?topic={a:digits}.msg{_b:digits}", "/?topic={a}.20"))
    False
    >>> is_plausible(RewriteTemplates("/?num={a:digits}", "/?num={a}/2"))
    False
    >>> is_plausible(RewriteTemplates("/{a}/latest", "/{a}/2.3"))
    True
    >>> is_plausible(RewriteTemplates("/event/{a}/{_day:digits}/month", "/event/{a}/07/month"))
    True
    >>> is_plausible(RewriteTemplates("/news/id/{b:digits}", "/news/{b}"))
    True
    >>> is_plausible(RewriteTemplates("/blog/archive/2026/11/", "/blog/"))
    False
    >>> is_plausible(RewriteTemplates("/blog/", "/blog/archive/2026/11/"))
    False
    >>> is_plausible(RewriteTemplates("/catalog/2025-26/{a}", "/catalog/current/{a}"))
    False
    >>> is_plausible(RewriteTemplates("/fall2025/course/{a}", "/course/{a}"))
    False
    >>> is_plausible(RewriteTemplates("/blog/2026/{a}", "/blog/{a}?year=2026"))
    True
    >>> is_plausible(RewriteTemplates("/{_a}/{b:digits}-{_s}", "/index.php?view=article&id={b}"))
    True
    >>> is_plausible(RewriteTemplates("/{a}/{b:digits}", "/{a}?view=article&id={b}"))
    False
    >>> is_plausible(RewriteTemplates("/list?show_files=1", "/list?show_news=1"))
    False
    >>> is_plausible(RewriteTemplates("/a?c=3:{_s}&id={a}", "/a?c=3&id={a}"))
    True
    """
    source, target = _Halves.of(rewrite.source), _Halves.of(rewrite.target)
    return not (
        _changes_parts(rewrite)
        or _puts_in_another(rewrite, source, target)
        or _puts_in_a_title(source, target)
        or _changes_the_language_or_date(rewrite, source, target)
    ) and _explains_its_params(source, target)


class _Halves(NamedTuple):
    """A template in two halves: its path and its query."""

    path: str
    params: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the halves of the template *text*."""
        path, _, query = text.partition("?")
        return cls(path, frozenset(query.split("&")) - {""})

    @property
    def segments(self) -> set[str]:
        """The segments of the path."""
        return {*self.path.split("/")}


def _changes_parts(rewrite: RewriteTemplates) -> bool:
    """Tell whether the literal number of a page of a listing is dropped or put in.

    Only the first page may be, or a field that stands for any page.
    """
    before, after = (
        set(PART_OF_LISTING.findall(text)) for text in (rewrite.source, rewrite.target)
    )
    return any(part.isdigit() and part not in FIRST_PAGE for part in before ^ after)


def _puts_in_another(rewrite: RewriteTemplates, source: _Halves, target: _Halves) -> bool:
    """Tell whether one identifier becomes another: one of many things would be another of them.

    Two revisions of a text, for example, are one page only if nothing changed between them.
    """
    mine, theirs = (
        {*filter(is_identifier, _SIGNS.split(text)), *_LONG.findall(text)}
        for text in (rewrite.source, rewrite.target)
    )
    put = theirs - mine
    if not put:
        return False
    # A template may lead all values in one place, such as the days of a month, to one of them.
    places = zip(source.path.split("/"), target.path.split("/"), strict=False)
    of_all = {new for old, new in places if _LEFT_OUT.fullmatch(old)}
    is_first = {number.lstrip("0") for number in put} <= FIRST_PAGE
    # A number behind a thing is that of a part of it, unless it replaces a word, as in `latest`.
    behind, now_behind = (
        set(_SIGNS.split(" ".join(_BEHIND.findall(text)))) for text in rewrite.shapes
    )
    is_part = behind <= now_behind and not put.isdisjoint(now_behind)
    is_of_any = is_first or put <= of_all or not (is_part or _LEFT_OUT.search(rewrite.source))
    return bool(mine - theirs) or not is_of_any


def _puts_in_a_title(source: _Halves, target: _Halves) -> bool:
    """Tell whether a number becomes a title: each number would get the title of one thing."""
    come = target.segments - source.segments
    return bool(_LEFT_OUT.search(source.path)) and any(_TITLE.fullmatch(text) for text in come)


def _changes_the_language_or_date(
    rewrite: RewriteTemplates, source: _Halves, target: _Halves
) -> bool:
    """Tell whether a language, a year or a date is dropped or put in.

    That holds only for now: a page may be translated tomorrow, and all articles of a blog may be of
    one year today. A language may be put in where another word goes with it. A word that names the
    number behind it (``/news/id/7``) is no language.
    """
    said, now_said = (
        {*half.segments, *_BEFORE_ENDING.findall(half.path), *map(value_of, half.params)}
        for half in (source, target)
    )
    is_more = all("{" in text and "{_" not in text for text in said - now_said) and all(
        "{" in text or LANGUAGE.fullmatch(text) for text in now_said - said
    )
    moved = now_said.intersection(_SIGNS.split(rewrite.source))
    return any(
        (LANGUAGE.fullmatch(text) and (text in said or is_more))
        or is_date(text)
        or is_edition(text)
        for text in (said ^ now_said).difference(_NAME_OF_NUMBER.findall(source.path), moved - said)
    )


def _explains_its_params(source: _Halves, target: _Halves) -> bool:
    """Tell whether each parameter that is put in has its reason in what is taken out.

    The reason is a segment with its value, another parameter with its value, or a longer value of
    the same parameter. A value such as ``1`` of another switch is no reason: all switches have it.
    If no reason is there, the parameter makes no difference, which has to be shown of it alone. If
    a path becomes that of a script, its parameters need no reason.
    """
    if not source.params and "{" not in target.path:
        return True
    lost = source.params - target.params
    switches = set(filter(SWITCHED.fullmatch, map(value_of, lost))) - source.segments
    gone = (source.segments - target.segments | set(map(value_of, lost))) - switches
    named = {name_of(param): value_of(param) for param in lost}
    return all(
        "{" in param
        or value_of(param) in gone
        or is_token(value_of(param), named.get(name_of(param), ""))
        for param in target.params - source.params
    )
