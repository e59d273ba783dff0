"""Proposes replacements of the beginning or the end of paths, whatever their depth.

These are the substring substitutions of DustBuster (Bar-Yossef, Keidar and Schonfeld 2007), at the
borders of segments and words: ``/print/{rest:path} -> /{rest}``,
``/{rest:path}.html.htm -> /{rest}.html``. They are proposed if pairs of several depths suggest
them. For one depth a template of :mod:`.templates` is narrower, and enough, unless a name has one
word more before its extension (``x.print.html``), which no template can say.

A parameter whose value is the whole path, or its end, becomes that path:
``/go?to=/{rest:path} -> /{rest}``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.candidates import common
from scrapy_urlcanon.learn.location import name_of, readable, value_of
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.vocabulary import LANGUAGE, LANGUAGE_NAME, SWITCHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.learn.candidates import Candidate, Duplicates
    from scrapy_urlcanon.learn.location import Location

_MAX_LENGTH = 60
"""How many characters a replacement may take out and put in, slashes not counted."""

_BORDER = re.compile("[^A-Za-z0-9%]")
_ENDING = re.compile(r"\.[A-Za-z]{2,5}\Z")


def substitutions_of_paths(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the substitutions that no template says as well, each with a page that suggests it."""
    found: dict[Candidate, list[int]] = {}
    depths: dict[Candidate, set[int]] = {}
    alone: set[Candidate] = set()
    for page, one, other in duplicates.pairs(lambda location: location.path):
        if one.params != other.params or one.origin != other.origin:
            continue
        for first, second in ((one, other), (other, one)):
            source, target = first.path, second.path
            ends = [*substitutions(source, target)]
            names = [*whole_names(source, target)]
            if duplicates.leads_back(first, second):
                ends, names = ([each.reversed() or each for each in some] for some in (ends, names))
            for rewrite in (*ends, *names):
                found.setdefault((rewrite,), []).append(page)
                depths.setdefault((rewrite,), set()).add(source.count("/"))
            if _has_word_more(source, target):
                alone.update((rewrite,) for rewrite in ends)
    for candidate, pages in found.items():
        if len(depths[candidate]) > 1 or candidate in alone:
            yield from ((candidate, page) for page in pages)


def paths_in_parameters(duplicates: Duplicates) -> Iterator[tuple[Candidate, int]]:
    """Yield the templates that turn a parameter into the path in its value, each with the page."""
    for page, one, other in duplicates.pairs(lambda location: location.path):
        for source, target in ((one, other), (other, one)):
            rewrite = path_in_parameter(source, target)
            if rewrite is not None:
                yield (rewrite,), page


def path_in_parameter(source: Location, target: Location) -> RewriteTemplates | None:
    """Return the template from *source* to *target* if that path ends in a value of the source.

    The value must have two segments or more: a single word may be there by chance. Its file
    extension may be another one, as where a script makes the file. Other parameters
    that only the source has are dropped with their values, but for a language that the path does
    not say: what leads to a page in the language that it chooses, and that the site remembers, is
    no other URL of that page.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> path_in_parameter(
    ...     locate("http://a.example/go?from=x&to=/shoes/7/red"),
    ...     locate("http://a.example/shoes/7/red?from=x"),
    ... )
    RewriteTemplates(source='/go?to=/{rest:path}', target='/{rest}')
    >>> path_in_parameter(
    ...     locate("http://a.example/w/index.php?printable=yes&title=Help/Links"),
    ...     locate("http://a.example/wiki/Help/Links"),
    ... )
    RewriteTemplates(source='/w/index.php?printable=yes&title={rest:path}', target='/wiki/{rest}')
    >>> path_in_parameter(
    ...     locate("http://a.example/print?file=/2004/03/war.DTL"),
    ...     locate("http://a.example/2004/03/war.html"),
    ... )
    RewriteTemplates(source='/print?file=/{rest:path}.DTL', target='/{rest}.html')
    >>> path_in_parameter(
    ...     locate("http://a.example/set?locale=de&next=/shoes/7/red"),
    ...     locate("http://a.example/shoes/7/red"),
    ... )
    """
    taken = [param for param in source.params if param not in target.params]
    if source.origin != target.origin or not {*target.params} < {*source.params}:
        return None
    for place, param in enumerate(taken):
        name, _, value = readable(param).partition("=")
        rest, ending = value.removeprefix("/"), ""
        path = target.path
        if not path.endswith(f"/{rest}") and (found := _ENDING.search(rest)):
            rest, ending = rest[: found.start()], found[0]
            path = _ENDING.sub("", path)
        if len(list(filter(None, rest.split("/")))) > 1 and path.endswith(f"/{rest}"):
            others = [*taken[:place], *taken[place + 1 :]]
            if any(_chooses_a_language(other) for other in others if not _says(target, other)):
                return None
            start, before = value.removesuffix(rest + ending), path.removesuffix(rest)
            query = [*taken[:place], f"{name}={start}{{rest:path}}{ending}", *taken[place + 1 :]]
            new = f"{before}{{rest}}{target.path.removeprefix(path)}"
            return RewriteTemplates(f"{source.path}?{'&'.join(query)}", new)
    return None


def _chooses_a_language(param: str) -> bool:
    """Tell whether a parameter has a language for its value, or says so by its name.

    >>> [*map(_chooses_a_language, ("to=fr", "setlang=german", "redirect=no", "from=menu"))]
    [True, True, False, False]
    """
    value = value_of(param).lower()
    return bool(
        LANGUAGE_NAME.fullmatch(name_of(param))
        or (LANGUAGE.fullmatch(value) and not SWITCHED.fullmatch(value))
    )


def _says(location: Location, param: str) -> bool:
    """Tell whether the path has the value of a parameter for a segment."""
    return value_of(param) in location.path.split("/")


def substitutions(source: str, target: str) -> Iterator[RewriteTemplates]:
    """Yield the templates that replace the beginning, or the end, of *source* to give *target*.

    >>> list(substitutions("/print/a/b", "/a/b"))
    [RewriteTemplates(source='/print/{rest:path}', target='/{rest}')]
    >>> list(substitutions("/a/b.html.htm", "/a/b.html"))
    [RewriteTemplates(source='/{rest:path}.html.htm', target='/{rest}.html')]
    """
    segments, others = source.split("/")[1:], target.split("/")[1:]
    tail = common(segments[::-1], others[::-1])
    head, put = segments[: len(segments) - tail], others[: len(others) - tail]
    if tail and head and any(segments[len(head) :]) and _may_differ(head, put):
        before, after = ("".join(f"{segment}/" for segment in part) for part in (head, put))
        yield RewriteTemplates(f"/{before}{{rest:path}}", f"/{after}{{rest}}")
    # The replaced end begins at a border of both paths. If it is only dropped, from within a
    # segment, it takes one word more, or every `.htm` of the site would be dropped.
    starts = [m.start() for m in _BORDER.finditer(source)]
    equal = common(source, target)
    starts = [
        start
        for start in starts
        if start <= equal and (target[start:] == "" or _BORDER.match(target, start))
    ]
    start = starts.pop() if starts else 0
    if start == len(target) and source[start] != "/":
        start = starts.pop() if starts else 0
    end, instead = source[start:], target[start:]
    if start > 1 and end.strip("/") and _may_differ(end.split("/"), instead.split("/")):
        yield RewriteTemplates(f"/{{rest:path}}{end}", f"/{{rest}}{instead}")


def whole_names(source: str, target: str) -> Iterator[RewriteTemplates]:
    """Yield the template that replaces the whole name of a file if a part of it differs.

    A rule about the part would be too general: in a gallery ``index_small.html`` may be the same as
    ``index.html``, though no picture is the same in two sizes.

    >>> list(whole_names("/a/index_small.html", "/a/index.html"))
    [RewriteTemplates(source='/{rest:path}/index_small.html', target='/{rest}/index.html')]
    """
    folder, _, name = source.rpartition("/")
    other, _, instead = target.rpartition("/")
    in_part = common(name, instead) and _BORDER.search(name)
    if in_part and folder and folder == other and _may_differ([name], [instead]):
        yield RewriteTemplates(f"/{{rest:path}}/{name}", f"/{{rest}}/{instead}")


def _has_word_more(source: str, target: str) -> bool:
    """Tell whether *source* is *target* with one word more before the extension of its name.

    A language does not count as such a word.

    >>> _has_word_more("/a/b.print.html", "/a/b.html"), _has_word_more("/a/b.html", "/a/b")
    (True, False)
    >>> _has_word_more("/a/b.de.html", "/a/b.html"), _has_word_more("/a/b.new", "/a/b-part")
    (False, False)
    """
    start = common(source, target)
    ending = target[start:]
    more = source[start : len(source) - len(ending)]
    return (
        bool(more and ending)
        and source == target[:start] + more + ending
        and "/" not in more + ending
        and not any(map(LANGUAGE.fullmatch, _BORDER.split(more.lower())))
    )


def _may_differ(taken: list[str], put: list[str]) -> bool:
    """Tell whether a replacement is short, and no word in it has a digit or is a language.

    A page that is not translated now may be tomorrow.
    """
    words = [word for word in (*taken, *put) if word]
    return sum(map(len, words)) <= _MAX_LENGTH and not any(
        LANGUAGE.fullmatch(word.lower()) or any(c.isdigit() for c in word) for word in words
    )
