"""Finds sinks: classes of URLs that all show one page, such as a log-in form.

Such a page is no evidence for a general rule: that ``returnto`` makes no difference to a log-in
form says nothing about other pages. Yet the class may be most of a crawl. It is merged only if its
parameters name other URLs of the site, that is, where to go *next*. Otherwise it may not be a sink
at all:

- a class whose pages were all down during the crawl looks the same;
- feeds of users (data, which leads no reader anywhere) are the same while they are empty;
- searches that find nothing are one page, even if the words are names of tags on the site.

A rule drops only parameters that URLs of the page were seen with: ``/login?next=/7`` is the log-in
form, and ``/login?action=lost`` a form for a lost password.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.names import is_writable
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS
from scrapy_urlcanon.learn.candidates.allow_lists import are_endless, rare_of
from scrapy_urlcanon.learn.classes.references import names_of_urls, refers
from scrapy_urlcanon.learn.location import MARK, host_of, name_of, parts_of, reading_order
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES, Evidence, LearnedRule
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.learn.site import NO_EVIDENCE, SINK_SIZE
from scrapy_urlcanon.learn.vocabulary import NUMBER, SEARCHED
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location, Place
    from scrapy_urlcanon.learn.thresholds import Thresholds

_MAX_CONDITIONS = 20
"""For how many conditions of one place a class of several pages is looked for."""

_MAX_NAMES = 32
"""How many parameters a URL may have. One with more is a form that was sent with all its fields;
the time that it takes grows with the square of their number."""

_MAX_OTHERS = 0.01
"""Up to which share of URLs with another page a class is still listed as unsure."""


def sink_rules(
    groups: Groups, thresholds: Thresholds
) -> tuple[list[LearnedRule], list[LearnedRule]]:
    """Return rules for the sinks of a site, and rules for unsure ones."""
    by_place = _crowded(groups, thresholds)
    # A list of parameters to keep would take the path in a query for one more name.
    shared = {parts_of(path)[0] for path in groups.pages.paths() if MARK in path}
    texts: dict[str, str] | None = None
    selecting: dict[Place, set[str]] = {}
    sure: list[LearnedRule] = []
    unsure: list[LearnedRule] = []
    for place in sorted(by_place):
        locations = sorted(by_place[place], key=reading_order)
        done: set[Location] = set()
        for found in _classes(place, locations, groups, thresholds, is_shared=place[1] in shared):
            others = found.others or 0
            known = [member for member in found.members if _page(member, groups) != NO_EVIDENCE]
            merges = len(known) - found.pages - others
            if not (found.is_expressible and thresholds.is_enough(merges)):
                continue
            if done and (len(known) <= SINK_SIZE or not done.isdisjoint(found.members)):
                continue
            selecting = selecting or _selecting(groups, by_place)
            if not found.dropped.isdisjoint(selecting[place]):
                continue
            rule = found.rule(groups.site.domain, merges, thresholds)
            if texts is None:
                texts = names_of_urls(groups.pages)
            leads_on = not _shows_data(known, groups) and any(
                refers(name, found.members, texts)
                for name in found.dropped
                if not SEARCHED.fullmatch(name)
            )
            if leads_on:
                (unsure if others else sure).append(rule)
            elif found.pages == 1 and len(known) > SINK_SIZE and not others:
                unsure.append(rule)
            else:
                continue
            done.update(found.members)
    return sure, unsure


def _crowded(groups: Groups, thresholds: Thresholds) -> dict[Place, list[Location]]:
    """Return the URLs of each place that has enough of them to be a sink."""
    # Paths are counted first, which is cheap: few paths have so many URLs.
    counts = Counter(groups.pages.paths())
    enough = {count for count in set(counts.values()) if thresholds.is_enough(count - 1)}
    crowded = {p for p, count in counts.items() if count in enough and MARK not in p}
    by_place: dict[Place, list[Location]] = {}
    for location in groups.pages if crowded else ():
        if location.path in crowded:
            by_place.setdefault(location.place, []).append(location)
    return {
        place: locations
        for place, locations in by_place.items()
        if thresholds.is_enough(len(locations) - 1)
    }


class _SinkClass(NamedTuple):
    """URLs of one place that show one page, or one page for each value of some parameters."""

    scope: Scope
    members: list[Location]
    dropped: frozenset[str]
    """The names of the parameters that make no difference."""
    others: int | None
    """How many show another page than nearly all members do; None if there is no such page."""
    pages: int = 1
    is_endless: bool = False
    """Whether the dropped names are made up, so that there will be more."""

    @property
    def option(self) -> str:
        """The option of the rule."""
        return "keep_params" if self.is_endless else "drop_params"

    @property
    def setting(self) -> list[str]:
        """The value of the option."""
        if not self.is_endless:
            return [decode_query_text(name) for name in sorted(self.dropped)]
        condition = self.scope.condition
        return [decode_query_text(name_of(condition))] if condition else []

    @property
    def is_expressible(self) -> bool:
        """Whether a rule can say which URLs these are and what to drop."""
        return (
            bool(self.dropped) and self.scope.is_expressible and all(map(is_writable, self.setting))
        )

    def rule(self, domain: str, merges: int, thresholds: Thresholds) -> LearnedRule:
        """Return the rule.

        :param merges: how many members are known to show the page of another member.
        """
        others = self.others or 0
        return LearnedRule(
            domain,
            self.scope.text,
            self.option,
            self.setting,
            "sink",
            Evidence(
                pages=self.pages,
                merges=len(self.members) - self.pages - others,
                counter_examples=others,
                bound=lower_bound(merges, others, thresholds.confidence),
                examples=self._examples(),
            ),
            f"{count_of(others, 'URL')} with another page" if others else "",
        )

    def _examples(self) -> tuple[tuple[str, str], ...]:
        """Return pairs of URLs that become one."""
        first: dict[tuple[str, ...], Location] = {}
        found = []
        for member in self.members:
            other = first.setdefault(_without(member, self.dropped), member)
            if other is not member:
                found.append((member.url, other.url))
        return tuple(found[:MAX_EXAMPLES])


def _without(location: Location, names: Collection[str]) -> tuple[str, ...]:
    return tuple([param for param in location.params if name_of(param) not in names])


def _classes(
    place: Place,
    locations: list[Location],
    groups: Groups,
    thresholds: Thresholds,
    *,
    is_shared: bool,
) -> Iterator[_SinkClass]:
    """Yield the classes of the URLs of one place, the largest first.

    Classes with a few URLs that show another page come last.

    :param is_shared: whether queries that are paths were seen at this place.
    """
    origin, path = place
    host = host_of(origin)
    segments = tuple(segment for segment in path.split("/") if segment)
    likely = [] if is_shared else [_class(Scope(host, segments), locations, groups, thresholds)]
    if likely and likely[0].others == 0:
        yield likely[0]
        if len(likely[0].members) == len(locations):
            return
    tries = _MAX_CONDITIONS
    for param, members in _conditions(locations):
        found = _class(Scope(host, segments, param), members, groups, thresholds)
        likely.append(found)
        names = {name_of(other) for member in members for other in member.params}
        names.discard(name_of(param))
        if found.others == 0:
            yield found
        elif 1 < len(names) <= _MAX_NAMES and tries:
            tries -= 1
            dropped, pages = _indifferent(members, names, groups)
            if dropped:
                yield _SinkClass(found.scope, members, dropped, 0, pages)
    yield from (found for found in likely if found.others)


def _conditions(locations: list[Location]) -> Iterator[tuple[str, list[Location]]]:
    """Yield the parameters that several URLs have, with these URLs, the most common one first."""
    by_param: dict[str, list[Location]] = {}
    for location in locations:
        for param in location.params:
            by_param.setdefault(param, []).append(location)
    for param in sorted(by_param, key=lambda p: (-len(by_param[p]), p)):
        members = by_param[param]
        if len(members) > 1 and all(len(member.params) <= _MAX_NAMES for member in members):
            yield param, members


def _class(
    scope: Scope, locations: list[Location], groups: Groups, thresholds: Thresholds
) -> _SinkClass:
    """Return the class of the page that most of the URLs show.

    Its members are the URLs all of whose parameters were seen on URLs of this page.
    """
    condition = name_of(scope.condition)

    def names_of(url: Location) -> set[str]:
        return {*map(name_of, url.params)} - {condition}

    counts = Counter(name for url in locations for name in names_of(url))
    if are_endless(rare_of(counts), thresholds):
        others = _others(locations, groups)
        return _SinkClass(scope, locations, frozenset(counts), others, is_endless=True)
    most, _ = _most(_pages(locations, groups))
    dropped = frozenset(
        name for url in locations if _page(url, groups) == most for name in names_of(url)
    )
    members: list[Location] = []
    # A parameter that URLs of other pages have as well, such as a title, may select this page.
    tells = False
    for url in locations:
        if (names := names_of(url)) <= dropped:
            members.append(url)
        elif not names.isdisjoint(dropped) and _page(url, groups) != NO_EVIDENCE:
            tells = True
    others = None if tells else _others(members, groups)
    return _SinkClass(scope, members, dropped - _names_of_all(members), others)


def _names_of_all(members: Collection[Location]) -> set[str]:
    """Return the names of the parameters that all URLs have, with the same value.

    If all forms to send a page have ``option=mailto``, nothing says that ``option=poll`` is one.
    """
    counts = Counter(param for member in members for param in member.params)
    return {name_of(param) for param, count in counts.items() if count == len(members)}


def _indifferent(
    members: Iterable[Location], names: Collection[str], groups: Groups
) -> tuple[frozenset[str], int]:
    """Return which parameters of a class make no difference, and how many pages it has.

    One parameter after the other is dropped, each time the one that merges the most URLs, until
    none merges enough.
    """
    known = [member for member in members if _page(member, groups) != NO_EVIDENCE]
    dropped: frozenset[str] = frozenset()
    count = len(known)
    while True:
        tried = [
            (_distinct(known, dropped | {name}, groups), name)
            for name in sorted({*names} - dropped)
            if not _fall_apart(known, dropped, name)
        ]
        best = min(((pages, name) for pages, name in tried if pages), default=(count, ""))
        if best[0] > count - MIN_PROPOSERS:
            return dropped, count
        count, dropped = best[0], dropped | {best[1]}


def _distinct(members: Iterable[Location], dropped: Collection[str], groups: Groups) -> int:
    """Return how many URLs are left without these parameters; 0 if a page would be lost."""
    found: dict[tuple[str, ...], object] = {}
    for member in members:
        page = _page(member, groups)
        if found.setdefault(_without(member, dropped), page) != page:
            return 0
    return len(found)


def _fall_apart(members: Iterable[Location], dropped: Collection[str], name: str) -> bool:
    """Tell whether a parameter has several values, and no page with two of them.

    If print views are the same with ``option=content`` and without it, this says nothing about
    ``option=mailto``, which is a form to send a page.

    :param dropped: other parameters that make no difference.
    """
    beside: dict[tuple[str, ...], set[str]] = {}
    for member in members:
        values = {param for param in member.params if name_of(param) == name}
        beside.setdefault(_without(member, {*dropped, name}), set()).update(values)
    sets = list(beside.values())
    return len(set[str]().union(*sets)) > 1 >= max(map(len, sets))


def _page(location: Location, groups: Groups) -> tuple[int, ...] | int:
    """Return the pages that a URL showed.

    A URL that is only known as the target of a redirect showed nothing: a crawl that was cut short
    has not fetched all the log-in forms to which pages redirect.
    """
    page = groups.pages[location]
    return NO_EVIDENCE if isinstance(page, int) and page >= groups.site.contents else page


def _shows_data(locations: Iterable[Location], groups: Groups) -> bool:
    """Tell whether any of the URLs shows data, which is no text for readers."""
    pages = {_page(location, groups) for location in locations}
    return any(isinstance(page, int) and groups.site.is_data(page) for page in pages)


def _selecting(groups: Groups, places: Collection[Place]) -> dict[Place, set[str]]:
    """Return for each place the names that select pages at other places of its kind.

    If ``/welcome/7?ref=hats`` and ``/welcome/7?ref=shoes`` are two pages, it means little that
    ``/welcome/8`` has shown one page for all values of ``ref`` so far.
    """
    kinds = {_kind(place) for place in places}
    pages: dict[tuple[Place, str, object], Counter[object]] = {}
    for url in groups.pages:
        page = _page(url, groups)
        if page != NO_EVIDENCE and len(url.params) <= _MAX_NAMES and _kind(url.place) in kinds:
            for name in map(name_of, url.params):
                beside = url.place, name, _without(url, {name})
                pages.setdefault(beside, Counter())[page] += 1
    # For each kind, and for each place alone.
    more: Counter[tuple[object, str]] = Counter()
    of: Counter[tuple[object, str]] = Counter()
    for (place, name, _), shown in pages.items():
        for where in (place, _kind(place)):
            more[where, name] += len(shown) - 1
            of[where, name] += shown.total()
    names: dict[object, set[str]] = {kind: set() for kind in kinds}
    for where, name in more:
        if where in names:
            names[where].add(name)
    found: dict[Place, set[str]] = {}
    for place in places:
        kind = _kind(place)
        found[place] = {
            name
            for name in names[kind]
            if more[kind, name] - more[place, name]
            > _MAX_OTHERS * (of[kind, name] - of[place, name])
        }
    return found


def _kind(place: Place) -> object:
    """Return the kind of a place: its path with 0 for numbers, or its script in any folder."""
    origin, path = place
    script = path.rstrip("/").rpartition("/")[2]
    if NUMBER.search(script):
        return origin, None, NUMBER.sub("0", path)
    return origin, path.count("/"), script


def _others(locations: Iterable[Location], groups: Groups) -> int | None:
    """Return how many URLs show another page than nearly all do; None if no page is on these."""
    pages = _pages(locations, groups)
    most, count = _most(pages)
    others = pages.total() - count
    is_one = count > 0 and isinstance(most, int)
    return others if is_one and others <= _MAX_OTHERS * pages.total() else None


def _pages(locations: Iterable[Location], groups: Groups) -> Counter[tuple[int, ...] | int]:
    """Return on how many URLs each page is."""
    pages = Counter(_page(location, groups) for location in locations)
    del pages[NO_EVIDENCE]
    return pages


def _most(pages: Counter[tuple[int, ...] | int]) -> tuple[tuple[int, ...] | int, int]:
    """Return the page that is on most URLs, and on how many it is."""
    ((most, count),) = pages.most_common(1) or ((NO_EVIDENCE, 0),)
    return most, count
