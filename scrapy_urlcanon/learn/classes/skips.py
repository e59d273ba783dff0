"""Classes of URLs whose page is always found under another URL, though no rewrite computes which.

``/?p=123`` and ``/some-slug/`` show one page, and nothing in the one tells the other. What tells
is the evidence of content, redirects and declared canonicals, and then only for the class as a
whole: that every ``/?p={id}`` that was looked at is found elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.templates import Template, parse_template
from scrapy_urlcanon.confidence import at_most, lower_bound
from scrapy_urlcanon.learn.location import (
    Location,
    host_of,
    name_of,
    readable_params,
    reading_order,
    to_url,
    value_of,
)
from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule
from scrapy_urlcanon.learn.vocabulary import PAGINATION, is_number, is_protected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups

#: Segments of the path, and parameters, that a class of URLs may have.
_MAX_SEGMENTS, _MAX_PARAMS = 4, 2

#: A text for readers beside its number.
_NUMBERED = re.compile(r"[A-Za-z][-_.]?[0-9]|[0-9][-_.]?[A-Za-z]")

#: Where fewer URLs of a class than this were seen the class is not looked at.
_MIN_MEMBERS = 4


@dataclass(slots=True)
class _SkipClass:
    template: str
    members: list[Location] = field(default_factory=list)
    confirmed: set[int] = field(default_factory=set)
    """Pages of members that were seen under a URL outside the class."""
    declared_seen: int = 0
    """Members that declare a URL which was seen and shows the same page."""
    claimed: int = 0
    """Members that declare a URL which was not seen."""
    undeclared_found: int = 0
    alone: int = 0
    """Members that declare nothing, or themselves, and whose page was seen nowhere else."""
    contradicted: int = 0
    """Members that declare a URL which shows another page."""
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_wide(self) -> bool:
        """Whether the template has a place for any segment."""
        return self.template.count("{") > self.template.count(":digits}")


def template_of(location: Location) -> str:
    """Return the class of a URL: path and names of parameters, with fields where it has digits.

    It is empty for a URL without an identifier: a class of all slugs would be the whole site.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> template_of(locate("http://a.example/?p=12")), template_of(locate("http://a.example/node/7"))
    ('/?p={a:digits}', '/node/{a:digits}')
    >>> template_of(locate("http://a.example/some-slug/"))
    ''

    Where the identifier is a parameter, a slug with a number of its own may be any.

    >>> template_of(locate("http://a.example/forum/cats-7/topic/tom-12/?post=345"))
    '/forum/{a}/topic/{b}/?post={c:digits}'
    """
    segments = location.address.path.split("/")[1:]
    depth = len(segments) - (not segments[-1])
    if depth > _MAX_SEGMENTS or len(location.params) > _MAX_PARAMS:
        return ""
    names = iter("abcdefgh")
    fields = 0
    parts = []
    for segment in segments:
        if is_number(segment):
            fields += 1
            parts.append("{" + next(names) + ":digits}")
        elif location.params and _NUMBERED.search(segment):
            parts.append("{" + next(names) + "}")
        else:
            parts.append(segment)
    params = []
    for param in readable_params(location):
        name, value = name_of(param), value_of(param)
        if not name or (is_protected(name) and name != "p") or not is_number(value):
            return ""
        fields += 1
        params.append(f"{name}={{{next(names)}:digits}}")
    if fields != 1:
        # Two numbers are a date, a listing and its page, an article and its comment: a tree, not
        # a short link.
        return ""
    return "/" + "/".join(parts) + ("?" + "&".join(params) if params else "")


def skip_rules(
    groups: Groups, thresholds: Thresholds, form: Callable[[Location], Location]
) -> list[LearnedRule]:
    """Return the classes of URLs of a site that need not be fetched.

    ``form`` is what the accepted rewrite rules make of a URL. Members of an accepted class count
    no longer as the other place where a page is found.
    """
    declared = {
        groups.site.locations[row]: form(target)
        for relation in (groups.site.declared, groups.site.redirects)
        for row, target in relation.items()
    }
    likely = {location for page in groups.duplicates() for location in groups.forms(page)}
    likely.update(location for location, target in declared.items() if location != target)
    classes = _classes_of(likely & groups.pages.keys(), groups)
    if not classes:
        return []
    wanted = {groups.pages[member] for found in classes.values() for member in found.members}
    by_page: dict[int, list[Location]] = {
        page: []
        for page in wanted
        if isinstance(page, int) and page >= 0 and not groups.site.is_sink(page)
    }
    for location, pages in groups.pages.items():
        if isinstance(pages, int) and pages in by_page and location not in groups.promised:
            by_page[pages].append(location)
    skipped: set[Location] = set()
    rules = []
    for (host, template), found in sorted(
        classes.items(), key=lambda item: (-len(item[1].members), item[0])
    ):
        if len(found.members) < _MIN_MEMBERS:
            continue
        _look(found, groups, by_page, declared, skipped)
        evidence = _judge(found, thresholds)
        if evidence is not None:
            skipped.update(found.members)
            rules.append(
                LearnedRule(groups.site.domain, host, "skip", [template], "skip", evidence)
            )
    return rules


def _classes_of(likely: Iterable[Location], groups: Groups) -> dict[tuple[str, str], _SkipClass]:
    """Return the classes that some URLs are in, by host and template, with all their members."""
    classes: dict[tuple[str, str], _SkipClass] = {}
    # A place for any segment takes more than the segments with a number that made it one.
    wide: dict[tuple[object, ...], list[tuple[Template, _SkipClass]]] = {}
    for location in likely:
        key = _key(location)
        if key[1] and key not in classes:
            found = classes[key] = _SkipClass(key[1])
            if found.is_wide:
                wide.setdefault(_shape(location), []).append((parse_template(key[1]), found))
    for location in sorted(groups.pages, key=reading_order) if classes else ():
        if location in groups.promised:
            continue
        exact = classes.get(_key(location))
        if exact is not None and not exact.is_wide:
            exact.members.append(location)
        for template, found in wide.get(_shape(location), ()) if wide else ():
            if template.match(to_url(location)) is not None:
                found.members.append(location)
    return classes


def _key(location: Location) -> tuple[str, str]:
    return host_of(location.address), template_of(location)


def _shape(location: Location) -> tuple[object, ...]:
    """Return what all members of a class have in common."""
    address, params = location
    return host_of(address), address.path.count("/"), *map(name_of, params)


def _look(
    found: _SkipClass,
    groups: Groups,
    by_page: dict[int, list[Location]],
    declared: dict[Location, Location],
    skipped: set[Location],
) -> None:
    members = set(found.members)
    for member in found.members:
        page = groups.pages[member]
        if not isinstance(page, int) or page < 0:
            continue
        others = [
            other
            for other in by_page.get(page, ())
            if other not in members
            and other not in skipped
            and (_is_elsewhere(member, other) or _is_part(member, other))
        ]
        target = declared.get(member)
        if target is not None and (target == member or target in members or target in skipped):
            target = None
        if others:
            found.confirmed.add(page)
            found.examples.append((member.url, min(others).url))
        if target is None:
            if others:
                found.undeclared_found += 1
            else:
                found.alone += 1
        elif target in others:
            found.declared_seen += 1
        elif (
            target in groups.pages and groups.pages[target] != -1 and target not in groups.promised
        ):
            found.contradicted += 1
        else:
            found.claimed += 1


def _is_elsewhere(member: Location, other: Location) -> bool:
    """Tell whether another URL is a place of its own, and no longer form of the member."""
    path = member.address.path.rstrip("/")
    return not other.params and not (path and f"{other.address.path}/".startswith(f"{path}/"))


def _is_part(member: Location, other: Location) -> bool:
    """Tell whether another URL is that part of a numbered text to which the member leads.

    A post leads to the page of its topic that it is on; which one no rewrite computes.
    """
    return (
        member.address == other.address
        and bool(_NUMBERED.search(member.address.path))
        and all(PAGINATION.fullmatch(name_of(param)) for param in other.params)
    )


def _judge(found: _SkipClass, thresholds: Thresholds) -> Evidence | None:
    """Return the evidence for a class if it is enough.

    Of a crawl that was cut short many URLs are missing, so that a page which is found elsewhere
    may not have been *seen* elsewhere. How often that happens is known: of the members that
    declare where they belong, some declare a URL that was seen and some one that was not. Members
    that declare nothing must not be alone more often than that.
    """
    declared = found.declared_seen + found.claimed
    unseen = found.claimed / declared if declared else 0.0
    undeclared = found.undeclared_found + found.alone
    excess = 0
    if found.alone and (
        not unseen or _more_often(found.alone, undeclared, unseen, thresholds.confidence)
    ):
        excess = ceil(found.alone - undeclared * unseen)
    pages, lost = len(found.confirmed), found.contradicted + excess
    if not thresholds.accept_alias(pages, lost):
        return None
    return Evidence(
        pages=pages,
        merges=len(found.members),
        counter_examples=lost,
        bound=lower_bound(pages, lost, thresholds.confidence),
        confidence=thresholds.confidence,
        examples=tuple(sorted(found.examples, key=lambda pair: (len(pair[0]), pair))[:3]),
    )


def _more_often(count: int, trials: int, probability: float, confidence: float) -> bool:
    """Tell whether so many events are more than chance makes of that probability."""
    at_least = 1.0 - at_most(count - 1, trials, probability) if count else 1.0
    return at_least < 1.0 - confidence
