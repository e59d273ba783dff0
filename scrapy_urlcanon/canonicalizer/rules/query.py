"""Options for the query."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.names import AnyCaseMatcher, Entry, NameMatcher, is_path
from scrapy_urlcanon.canonicalizer.percent_encoding import lower_letters
from scrapy_urlcanon.canonicalizer.rules.base import (
    Classical,
    Example,
    ParameterRule,
    Presets,
    Rule,
)
from scrapy_urlcanon.canonicalizer.rules.param_names import in_one_case, listed
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS
from scrapy_urlcanon.canonicalizer.values import Choice, Flag, NameList, NameMap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


_LIST = Layer("the list of tracking parameters")


@cache
def _matcher_of_list(*, in_any_case: bool) -> NameMatcher:
    """Return what finds the names of tracking parameters."""
    matcher = AnyCaseMatcher if in_any_case else NameMatcher
    return matcher(Entry(name, takes_back=False, layer=_LIST) for name in TRACKING_PARAMS)


class TrackingParams(ParameterRule):
    """Drop the parameters that only tell where a visitor came from.

    What it does: drops ``utm_*`` and a list of exact names used by advertising and newsletter
    services, except on pages that are known to need one of them. A name in ``keep_params``, or
    ``!name`` in ``drop_params``, is left alone. So is a URL that carries its own signature
    (``X-Amz-Signature`` and the like), which would no longer be valid.

    Why it is safe: the services document these names, and they are so specific that no site uses
    them for its content; the server sends the same page without them.

    When it is wrong: a site about those services, or one that shows the parameter on the page. Take
    the name back there.
    """

    name = "tracking_params"
    component = "query"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    presets = Presets(safe="drop")
    place = 330
    classical = (Classical("Tracking variables", "http://example.com/?utm_source=x", value="drop"),)
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
        Example(
            "drop",
            "https://s3.example/a?X-Amz-Signature=0a&utm_source=x",
            "https://s3.example/a?X-Amz-Signature=0a&utm_source=x",
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = _matcher_of_list(in_any_case=in_one_case(options) is lower_letters)
        self._dropped = listed(options, "drop_params")
        self._kept = listed(options, "keep_params")

    @classmethod
    def taken_back(cls, entry: str) -> dict[str, Any]:
        return DropParams.taken_back(entry)

    def drops(self, name: str, value: str) -> Cause | None:
        del value
        if name in self._names and name not in self._kept and not self._dropped.exempts(name):
            return Cause(self._layer, name)
        return None


class DropParams(ParameterRule):
    """Drop parameters that do not select the page.

    What it does: drops the parameters with these names. ``*`` stands for any text, and ``!name``
    takes back a name that a lower layer or a glob lists. ``keep_params`` beats it. It applies to
    signed URLs too: with ``["X-Amz-*"]`` an object has one URL, whoever signed it.

    Why it is safe: it is only as safe as what you know about the site. Session ids, sort orders,
    print views and where to return to after a login are the usual ones.

    When it is wrong: the parameter selects content, on this site or on one page of it. ``ref``,
    ``id``, ``view`` or ``sort`` mean something different on every site: list such names for a
    domain, not for ``*``.
    """

    name = "drop_params"
    component = "query"
    spares_signed = False
    values = NameList()
    neutral = ()
    presets = Presets(
        aggressive=[
            "jsessionid",
            "phpsessid",
            "PHPSESSID",
            "JSESSIONID",
            "aspsessionid*",
            "ASPSESSIONID*",
            "CFID",
            "CFTOKEN",
        ]
    )
    place = 340
    classical = (
        Classical(
            "Arbitrary variables", "http://example.com/?id=123&fakefoo=fakebar", value=["fakefoo"]
        ),
        Classical("Session variables", "http://example.com/?id=1&sid=0A1B", value=["sid"]),
        Classical(
            "Variables of temporary state", "http://example.com/?id=1&back=%2F", value=["back"]
        ),
    )
    changes = (
        Example(["sid"], "http://example.com/?sid=1&id=2", "http://example.com/?id=2"),
        Example(
            ["tx_*", "!tx_id"], "http://example.com/?tx_a=1&tx_id=2", "http://example.com/?tx_id=2"
        ),
        Example(
            ["X-Amz-*"],
            "https://s3.example/a?X-Amz-Signature=0a&X-Amz-Date=1&versionId=2",
            "https://s3.example/a?versionId=2",
        ),
    )
    keeps = (
        Example(["sid"], "http://example.com/?SID=1&side=2", "http://example.com/?SID=1&side=2"),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = listed(options, self.name)
        self._kept = listed(options, "keep_params")

    def drops(self, name: str, value: str) -> Cause | None:
        del value
        entry = self._names.match(name)
        if entry is None or entry.takes_back or name in self._kept:
            return None
        return Cause(entry.layer, entry.pattern)


class KeepParams(ParameterRule):
    """Drop all parameters but these.

    What it does: with a list, even an empty one, drops every parameter that is not on it (``*``
    stands for any text), including signatures. With None, every parameter stays.

    Why it is safe: on a site that you know, the parameters that select a page are few, and those
    that do not grow in number every month.

    When it is wrong: a page of the site that you did not think of needs another parameter. Set it
    for a path, not for a domain, where you can.
    """

    name = "keep_params"
    drops_any_name = True
    component = "query"
    spares_signed = False
    values = NameList(optional=True)
    neutral = None
    place = 350
    classical = (
        Classical(
            "Unexpected variables", "http://example.com/?id=123&fakefoo=fakebar", value=["id"]
        ),
    )
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
        self._names = listed(options, self.name)

    def drops(self, name: str, value: str) -> Cause | None:
        del value
        return None if name in self._names else Cause(self._layer, name)

    @classmethod
    def taken_back(cls, entry: str) -> dict[str, Any]:
        return {cls.name: [entry]}


class DefaultParams(ParameterRule):
    """Drop parameters that have their default value.

    What it does: drops a parameter if its value is exactly the one given. Does nothing to a URL
    that carries its own signature.

    Why it is safe: ``?sort=ascending`` and no ``sort`` at all are the same page, if that is what
    the site does without it.

    When it is wrong: the default differs between pages of the site, or between visitors.
    """

    name = "default_params"
    component = "query"
    values = NameMap()
    neutral = MappingProxyType({})
    place = 360
    classical = (
        Classical(
            "Default variables",
            "http://example.com/?id=&sort=ascending",
            value={"sort": "ascending"},
        ),
    )
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
        Example(
            {"page": "1"},
            "https://s3.example/a?X-Amz-Signature=0a&page=1",
            "https://s3.example/a?X-Amz-Signature=0a&page=1",
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._fold = in_one_case(options)
        self._defaults = {self._fold(name): (*known, name) for name, known in self.value.items()}

    def drops(self, name: str, value: str) -> Cause | None:
        default, layer, entry = self._defaults.get(self._fold(name), (None, None, ""))
        return Cause(layer, entry) if layer and value == default else None

    def by_name(self, name: str) -> bool:
        return self._fold(name) not in self._defaults


class EmptyParams(ParameterRule):
    """Drop parameters without a value or without a name.

    What it does: drops ``id=`` and ``=123``. Does nothing to a URL that carries its own signature,
    or if nothing would be left of the query: what stands there alone, as in ``?Page:Name`` of some
    wikis, is the page. So is what looks like a path, as in ``?12-title&page=2`` or
    ``?/topic/12&st=20`` of some forums.

    Why it is safe: it comes from a form with an empty field, or a template that had nothing to put
    there.

    When it is wrong: the name alone selects the page, next to other parameters, as in
    ``?id=1&print``.
    """

    name = "empty_params"
    component = "query"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    presets = Presets(aggressive="drop")
    place = 370
    classical = (Classical("Empty variables", "http://example.com/?id=&=123&a=1", value="drop"),)
    spares_last = True
    changes = (Example("drop", "http://example.com/?id=&=123&a=1", "http://example.com/?a=1"),)
    keeps = (
        Example("drop", "http://example.com/?a=0", "http://example.com/?a=0"),
        Example("drop", "http://example.com/?Page%3AName=", "http://example.com/?Page%3AName="),
        Example("drop", "http://example.com/?12-a=&page=2", "http://example.com/?12-a=&page=2"),
        Example(
            "drop",
            "https://s3.example/a?X-Amz-Signature=0a&versionId=",
            "https://s3.example/a?X-Amz-Signature=0a&versionId=",
        ),
    )

    def drops(self, name: str, value: str) -> Cause | None:
        return None if name and (value or is_path(name)) else Cause(self._layer)

    def by_name(self, name: str) -> bool:
        return not name


class RepeatedParams(Rule):
    """Drop parameters that repeat an earlier one with the same value.

    What it does: keeps the first of several that are the same. Does nothing to a URL that carries
    its own signature.

    Why it is safe: choosing a filter twice does not filter more. Some sites add the filter to the
    URL again at each click, so that a crawl never ends.

    When it is wrong: the server counts them.
    """

    name = "repeated_params"
    component = "query"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    place = 380
    classical = (Classical("Repeated variables", "http://example.com/?a=1&a=1", value="drop"),)
    changes = (
        Example("drop", "http://example.com/?tag=a&tag=b&tag=a", "http://example.com/?tag=a&tag=b"),
    )
    keeps = (
        Example("drop", "http://example.com/?tag=a&tag=b", "http://example.com/?tag=a&tag=b"),
        Example(
            "drop",
            "https://s3.example/a?X-Amz-Signature=0a&tag=a&tag=a",
            "https://s3.example/a?X-Amz-Signature=0a&tag=a&tag=a",
        ),
    )

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        kept = tuple(dict.fromkeys(url.query))
        if len(kept) == len(url.query) or is_signed(url.query):
            return url
        return url._replace(query=kept)


class SortQuery(Rule):
    """Sort the parameters.

    What it does: sorts them as text, by name and then by value.

    Why it is safe: nearly every server looks them up by name. Scrapy does the same.

    When it is wrong: the order of several parameters with one name means something, or the server
    reads the query as one text.
    """

    name = "sort_query"
    component = "query"
    values = Flag()
    neutral = False
    presets = Presets(scrapy=True)
    place = 390
    classical = (
        Classical("Sorted variables", "http://example.com/?lang=en&article=fred", value=True),
    )
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
