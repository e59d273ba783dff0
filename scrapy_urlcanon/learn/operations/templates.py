"""The operation that rewrites paths and queries from one shape to another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from scrapy_urlcanon.canonicalizer.canonicalizer import MAX_PASSES
from scrapy_urlcanon.canonicalizer.rules.template import RewritePath
from scrapy_urlcanon.learn.location import (
    MARK,
    Location,
    as_template,
    is_for_names,
    parts_of,
    to_url,
    with_path,
)
from scrapy_urlcanon.learn.operations.base import ANY, Operation
from scrapy_urlcanon.learn.vocabulary import (
    FIRST_PAGE,
    LANGUAGE,
    PART_OF_LISTING,
    has_token,
    is_number,
    is_ordering,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy_urlcanon.canonicalizer.rewrites import Rewrite
    from scrapy_urlcanon.canonicalizer.url import Url

# A parameter whose number a pair of templates leaves out.
_NUMBERED = re.compile(r"[?&]([^=&?]+)=\{_\w*:digits\}(?![^&])")
# A field that it does not leave out, and one that it does, in a segment of its own.
_KEPT = re.compile(r"\{[^_]")
_LEFT_OUT = re.compile(r"/\{(_\w+)(?::digits)?\}(?=[/?]|\Z)")
_PLACE = re.compile(r"\{(?P<name>\w+)(?::\w+)?\}")
# What stands for itself in templates, in paths and in queries.
_PLAIN = re.compile(r"[\w.~-]+", re.ASCII)
_QUERY_NAME = re.compile("[?&]([^=&?]+)=")


@dataclass(frozen=True)
class RewriteTemplates(Operation):
    """Rewrite path and query by a pair of templates.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> step = RewriteTemplates("/wp-trackback.php?p={a:digits}", "/?p={a}")
    >>> step.apply(locate("http://a.example/wp-trackback.php?p=7")).url
    'http://a.example/?p=7'
    """

    option = RewritePath
    is_fitted = True
    is_template = True
    source: str
    target: str

    @property
    def setting(self) -> object:
        return [[as_template(self.source), as_template(self.target)]]

    @cached_property
    def rewrite(self) -> Rewrite:
        """The pair as an object of the canonicalizer."""
        (rewrite, _), *_ = self.rule.value
        return rewrite  # type: ignore[no-any-return]

    @property
    def is_valid(self) -> bool:
        return super().is_valid and not is_for_names(self.rewrite.source)

    @property
    def subjects(self) -> frozenset[str]:
        new = self.rewrite.target.params
        return frozenset(self.rewrite.source.params) - new.keys() or super().subjects

    @property
    def handle(self) -> str:
        """A parameter of the first template, its first or last segment, or their number."""
        for name in self.rewrite.source.params:
            return "?" + name
        path, _ = parts_of(self.source)
        if ":path}" not in path:
            return f"{path.count('/')} segments"
        for mark in (path[: path.find("/", 1) + 1], "/" + path.rpartition("/")[2]):
            if mark and "{" not in mark:
                return mark
        return ANY

    @property
    def shapes(self) -> tuple[str, str]:
        return self.source.replace(":digits", "").replace(":path", ""), self.target

    def reversed(self) -> RewriteTemplates | None:
        """Return the pair that leads back, or None if this one leaves something out.

        >>> RewriteTemplates("/articles/{a:digits}", "/go?to={a}").reversed()
        RewriteTemplates(source='/go?to={a:digits}', target='/articles/{a}')
        >>> RewriteTemplates("/articles/{a:digits}-{_s}", "/go?to={a}").reversed()
        >>> RewriteTemplates("/{a}.html", "/{a}").reversed()
        """
        places = {found["name"]: found[0] for found in _PLACE.finditer(self.source)}
        if any(self.target.count(f"{{{name}}}") != 1 for name in places):
            return None
        back = RewriteTemplates(
            _PLACE.sub(lambda found: places[found["name"]], self.target), self.shapes[0]
        )
        return back if back.is_valid and not back.rewrite.may_lead_to_itself else None

    @property
    def is_for_listings(self) -> bool:
        """Whether the first template has the number or order of a listing that the second lacks.

        The number of the first part does not count, since a listing begins with it.

        >>> RewriteTemplates("/list/page-{_a:digits}/", "/list/page-1/").is_for_listings
        True
        >>> RewriteTemplates("/list/{a}/page-1", "/list/{a}").is_for_listings
        False
        >>> RewriteTemplates("/list/page-{a:digits}/print", "/list/page-{a}/").is_for_listings
        False
        >>> RewriteTemplates("/list?c={c}&sort={_s}", "/list/{c}").is_for_listings
        True
        """
        one, other = (
            {*PART_OF_LISTING.findall(text), *filter(is_ordering, _QUERY_NAME.findall(text))}
            for text in (self.source, self.target)
        )
        return not one - FIRST_PAGE <= other

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return the pair for only the one text that it leaves out, if no other was seen.

        ``/topic/7/last`` says nothing of ``/topic/7/2``.

        >>> from scrapy_urlcanon.learn.location import locate
        >>> step = RewriteTemplates("/{a}/{b:digits}/{_c}", "/{a}/{b}")
        >>> step.as_seen(locate(f"http://a.example/topic/{i}/last") for i in range(3)).source
        '/{a}/{b:digits}/last'
        """
        seen: dict[str, str | None] = {}
        names = _LEFT_OUT.findall(self.source)
        for location in changed if names else ():
            found = self._found(location) or {}
            names = [n for n in names if seen.setdefault(n, found.get(n)) == found.get(n)]
            if not names:
                break
        texts = {name: text for name in names if (text := seen.get(name))}
        source = _LEFT_OUT.sub(lambda found: "/" + texts.get(found[1], found[0][1:]), self.source)
        one = RewriteTemplates(source, self.target)
        return one if one.is_valid else self

    def below(self, segments: Iterable[str]) -> RewriteTemplates | None:
        """Return the pair with the first segments of its paths written out; None if it cannot be.

        >>> RewriteTemplates("/{a}/{b:digits}/find-us", "/{a}/{b}").below(["node"])
        RewriteTemplates(source='/node/{b:digits}/find-us', target='/node/{b}')
        >>> RewriteTemplates("/{a}-{b}/print", "/{a}-{b}").below(["node-7"])
        """
        source, target = self.source, self.target
        before = ""
        for segment in segments:
            place = source.removeprefix(before).partition("?")[0].split("/", 2)[1:2]
            field = place and _PLACE.fullmatch(place[0])
            if field and _PLAIN.fullmatch(segment) and ":path}" not in place[0]:
                source = source.replace(place[0], segment)
                target = target.replace(f"{{{field['name']}}}", segment)
            elif place != [segment]:
                return None
            before += "/" + segment
        one = RewriteTemplates(source, target)
        return one if one.is_valid else None

    def after(self, step: Operation) -> Operation:
        """Return the pair for URLs whose paths *step* has changed.

        >>> from scrapy_urlcanon.learn.operations.paths import LowerPath
        >>> RewriteTemplates("/Node/{a}/Print", "/Node/{a}").after(LowerPath())
        RewriteTemplates(source='/node/{a}/print', target='/node/{a}')
        """
        texts = (text.partition("?") for text in (self.source, self.target))
        return RewriteTemplates(*(step.on_path(path) + mark + query for path, mark, query in texts))

    @cached_property
    def _fits(self) -> Callable[[str], re.Match[str] | None]:
        """A function that tells whether a path fits the first template.

        One of a hundred paths does, and taking each URL apart for that took most of the time.
        """
        return self.rewrite.source.path.expression.fullmatch

    def _found(self, location: Location) -> Mapping[str, str] | None:
        """Return what the first template finds in a path, or None if it does not fit."""
        source, found = self.rewrite.source, self._fits(parts_of(location.path)[0])
        if found is None or source.bare is None:
            return found and found.groupdict()
        match = source.match(to_url(location))
        return match and match.found

    @cached_property
    def _goes_by_path(self) -> bool:
        return cast("RewritePath", self.rule).goes_by_path

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names of parameters that it leaves out with any number.

        >>> sorted(RewriteTemplates("/?oldid={_b:digits}&title={a}", "/{a}").numbers)
        ['oldid']
        """
        return frozenset(_NUMBERED.findall(self.source))

    @cached_property
    def left_out_behind(self) -> frozenset[str]:
        """The fields that it leaves out behind all fields that it keeps.

        A number there tells a part or a version of a thing. A number before a title, such as a day,
        may be left out.

        >>> sorted(RewriteTemplates("/{_a:digits}/{b}/{_c:digits}/", "/{b}/").left_out_behind)
        ['_c']
        """
        kept = [found.end() for found in _KEPT.finditer(self.source)]
        return frozenset(_LEFT_OUT.findall(self.source, kept[-1]) if kept else ())

    def left_out(self, location: Location) -> tuple[str, ...]:
        """Return what it leaves out of a URL's path: identifiers, numbers of parts, languages.

        Other texts that it leaves out are empty in the result.

        >>> from scrapy_urlcanon.learn.location import locate
        >>> step = RewriteTemplates("/get/{_b}/{a}", "/get/head/{a}")
        >>> [step.left_out(locate(f"http://a.example/get/{b}/x.c")) for b in ("r7", "ab12" * 10)]
        [('',), ('ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12',)]
        >>> step = RewriteTemplates("/{a:digits}/diff/{_b:digits}/", "/{a}/diff/")
        >>> step.left_out(locate("http://a.example/7/diff/2/"))
        ('2',)
        """
        # Most templates leave nothing out.
        found = (self._found(location) if "{_" in self.source else None) or {}
        behind = self.left_out_behind
        return tuple(
            text
            if has_token(text) or LANGUAGE.fullmatch(text) or (name in behind and is_number(text))
            else ""
            for name, text in found.items()
            if name.startswith("_")
        )

    def apply(self, location: Location) -> Location:
        if not self._goes_by_path:
            return super().apply(location)
        # As there, without a URL for each step.
        path = first = location.path
        if MARK in path:
            path = first = parts_of(path)[0]
        for _ in range(MAX_PASSES):
            match = self._fits(path)
            new = match and self.rewrite.path_of(match.groupdict())
            if new is None or new == path:
                rest = location.path[len(first) :]
                return location if path == first else with_path(location, path + rest)
            path = new
        return location

    def _apply_once(self, location: Location) -> Location:
        # The path tells most URLs that do not fit; the option itself looks at the query.
        is_other = self._fits(parts_of(location.path)[0]) is None
        return location if is_other else super()._apply_once(location)

    def change(self, url: Url) -> Url:
        # The option would follow it up at once, which is done here anyway.
        return self.rewrite.apply(url)
