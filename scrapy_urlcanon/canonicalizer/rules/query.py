"""Options for the query."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.names import Entry, NameMatcher
from scrapy_urlcanon.canonicalizer.rules.base import Example, ParameterRule, Rule
from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS
from scrapy_urlcanon.canonicalizer.values import Choice, Flag, NameList, NameMap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


def _listed(options: Mapping[str, Setting], name: str) -> NameMatcher:
    setting = options.get(name)
    return NameMatcher((setting and setting.value) or ())


class TrackingParams(ParameterRule):
    """Drop the parameters that only tell where a visitor came from.

    What it does: drops ``utm_*`` and a list of exact names of advertising and newsletter
    services. A name in ``keep_params``, or ``!name`` in ``drop_params``, is left alone.

    Why it is safe: the names are those that the services document, long enough that no
    site uses them for its content; the server hands out the same page.

    When it is wrong: a site about the services themselves, or one that shows the
    parameter on the page. Take the name back there.
    """

    name = "tracking_params"
    component = "query"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    changes = (
        Example(
            "drop",
            "http://example.com/?id=1&utm_source=mail&gclid=x",
            "http://example.com/?id=1",
        ),
    )
    keeps = (
        Example("drop", "http://example.com/?ref=1&source=2", "http://example.com/?ref=1&source=2"),
        Example("drop", "http://example.com/?utm=1", "http://example.com/?utm=1"),
    )

    _names = NameMatcher(Entry(name, takes_back=False, layer="") for name in TRACKING_PARAMS)

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._dropped = _listed(options, "drop_params")
        self._kept = _listed(options, "keep_params")

    def drops(self, name: str, value: str) -> str | None:
        del value
        if name in self._names and name not in self._kept and not self._dropped.exempts(name):
            return self._layer
        return None


class DropParams(ParameterRule):
    """Drop parameters that do not select the page.

    What it does: drops the parameters of these names; ``*`` stands for any text, and
    ``!name`` takes a name back that a lower layer or a glob lists. ``keep_params`` beats it.

    Why it is safe: it is only as safe as what you know about the site. Session ids, sort
    orders, print views and where to return to after a login are the usual ones.

    When it is wrong: the parameter selects content, on this site or on one page of it.
    ``ref``, ``id``, ``view`` or ``sort`` mean something else on every site: give such names
    for a domain, not for ``*``.
    """

    name = "drop_params"
    component = "query"
    values = NameList()
    neutral = ()
    changes = (
        Example(["sid"], "http://example.com/?sid=1&id=2", "http://example.com/?id=2"),
        Example(
            ["tx_*", "!tx_id"], "http://example.com/?tx_a=1&tx_id=2", "http://example.com/?tx_id=2"
        ),
    )
    keeps = (
        Example(["sid"], "http://example.com/?SID=1&side=2", "http://example.com/?SID=1&side=2"),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = NameMatcher(self.value)
        self._kept = _listed(options, "keep_params")

    def drops(self, name: str, value: str) -> str | None:
        del value
        entry = self._names.match(name)
        if entry is None or entry.takes_back or name in self._kept:
            return None
        return entry.layer


class KeepParams(ParameterRule):
    """Drop all parameters but these.

    What it does: with a list, even an empty one, drops every parameter that is not on it
    (``*`` stands for any text). With None every parameter stays.

    Why it is safe: on a site whose pages you know, what selects a page is a short list,
    and what does not select one grows every month.

    When it is wrong: a page of the site that you did not think of needs another
    parameter. Give it for a path, not for a domain, where you can.
    """

    name = "keep_params"
    component = "query"
    values = NameList(optional=True)
    neutral = None
    changes = (
        Example(["t"], "http://example.com/thread?t=1&hl=x", "http://example.com/thread?t=1"),
        Example([], "http://example.com/thread?t=1", "http://example.com/thread"),
    )
    keeps = (
        Example(
            ["t*"], "http://example.com/thread?t1=1&t2=2", "http://example.com/thread?t1=1&t2=2"
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = NameMatcher(self.value)

    def drops(self, name: str, value: str) -> str | None:
        del value
        return None if name in self._names else self._layer


class DefaultParams(ParameterRule):
    """Drop parameters that have their default value.

    What it does: drops a parameter where its value is the given one, letter by letter.

    Why it is safe: ``?sort=ascending`` and no ``sort`` at all are the same page, if that
    is what the site does without it.

    When it is wrong: the default differs between the pages of a site or between visitors.
    """

    name = "default_params"
    component = "query"
    values = NameMap()
    neutral = MappingProxyType({})
    changes = (
        Example(
            {"sort": "ascending"},
            "http://example.com/?id=1&sort=ascending",
            "http://example.com/?id=1",
        ),
        Example({"page": "1"}, "http://example.com/list?page=1", "http://example.com/list"),
    )
    keeps = (
        Example(
            {"page": "1"}, "http://example.com/list?page=10", "http://example.com/list?page=10"
        ),
    )

    def drops(self, name: str, value: str) -> str | None:
        default, layer = self.value.get(name, (None, None))
        return layer if value == default else None

    def by_name(self, name: str) -> bool:
        return name not in self.value


class EmptyParams(ParameterRule):
    """Drop parameters without a value or without a name.

    What it does: drops ``id=`` and ``=123``.

    Why it is safe: a form that was sent with an empty field, or a template that had
    nothing to put there.

    When it is wrong: the name alone selects the page, as in ``?Page:Name`` of some wikis
    or ``?print``.
    """

    name = "empty_params"
    component = "query"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    changes = (Example("drop", "http://example.com/?id=&=123&a=1", "http://example.com/?a=1"),)
    keeps = (Example("drop", "http://example.com/?a=0", "http://example.com/?a=0"),)

    def drops(self, name: str, value: str) -> str | None:
        return None if name and value else self._layer

    def by_name(self, name: str) -> bool:
        return not name


class SortQuery(Rule):
    """Sort the parameters.

    What it does: sorts them as text, by name and then by value.

    Why it is safe: nearly every server reads them by name. Scrapy does the same.

    When it is wrong: the order of several parameters of one name means something, or the
    server reads the query as one text.
    """

    name = "sort_query"
    component = "query"
    values = Flag()
    neutral = False
    changes = (
        Example(
            value=True,
            url="http://example.com/?b=1&a=2&a=1",
            canonical="http://example.com/?a=1&a=2&b=1",
        ),
    )
    keeps = (
        Example(
            value=False, url="http://example.com/?b=1&a=2", canonical="http://example.com/?b=1&a=2"
        ),
    )

    def apply(self, url: Url) -> Url:
        return url if url.query is None else url._replace(query=tuple(sorted(url.query)))
