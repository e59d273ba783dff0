"""Options for the case of the letters in names, and how lists of names heed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.names import AnyCaseMatcher, NameMatcher
from scrapy_urlcanon.canonicalizer.percent_encoding import lower_case, lower_letters
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Option, Rule
from scrapy_urlcanon.canonicalizer.values import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy_urlcanon.canonicalizer.names import Entry
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


class NameCase(Option):
    """Match names in any case.

    What it does: with ``ignore``, names match in any case: those of parameters in ``drop_params``,
    ``keep_params``, ``default_params``, ``lower_values``, ``drop_values``, ``unwrap_params``,
    ``path_params`` and the list of tracking parameters, and the file names in ``directory_index``.
    What stays in the URL is not changed: ``?ID=1`` and ``?id=1`` are still two URLs.

    Why it is safe: if the server ignores case, what is true of a name is true of all its spellings;
    and on most others only one of them is ever linked.

    When it is wrong: a server tells them apart and uses both, as it may with short names: ``p`` for
    a page and ``P`` for a product.
    """

    name = "name_case"
    acts = "With the names in lists it changes"
    values = Choice(("heed", "ignore"))
    neutral = "heed"
    place = 305
    classical = (
        Classical(
            "Names in any case", "http://example.com/?UTM_Source=x&Utm_Medium=y", value="ignore"
        ),
    )
    changes = (
        Example("ignore", "http://example.com/?UTM_Source=x&ID=1", "http://example.com/?ID=1"),
    )
    keeps = (
        Example("heed", "http://example.com/?UTM_Source=x", "http://example.com/?UTM_Source=x"),
        Example("ignore", "http://example.com/?ID=A", "http://example.com/?ID=A"),
    )


class ParamCase(Rule):
    """Write the names of parameters in lower case.

    What it does: ``?ID=1`` becomes ``?id=1``; values keep their case. The names in other options
    then match in any case, but templates have to be written in lower case. To match names in any
    case without changing them, use ``name_case``.

    Why it is safe: ASP, ASP.NET, ColdFusion and similar servers ignore the case of names, and sites
    on them link both ``?Id=`` and ``?id=``.

    When it is wrong: everywhere else. PHP, Java and Python tell them apart.
    """

    name = "param_case"
    component = "query"
    values = Choice(("keep", "lower"))
    neutral = "keep"
    # Before all that goes by the names of parameters.
    place = 310
    classical = (
        Classical("Case of the names of variables", "http://example.com/?ID=A", value="lower"),
    )
    changes = (
        Example("lower", "http://example.com/?ID=A&Page=2", "http://example.com/?id=A&page=2"),
        Example("lower", "http://example.com/?a%C3%89=B", "http://example.com/?a%C3%A9=B"),
    )
    keeps = (
        Example("lower", "http://example.com/?a%C9=B", "http://example.com/?a%C9=B"),
        Example("lower", "http://example.com/?a=B", "http://example.com/?a=B"),
    )

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        query = tuple(map(_lower_name, url.query))
        return url if query == url.query else url.with_query(query)


def _lower_name(piece: str) -> str:
    if piece.islower():
        return piece
    name, equals, value = piece.partition("=")
    # Most names have no letter that is percent-encoded.
    return (lower_case(name) if "%" in name else name.lower()) + equals + value


def in_one_case(options: Mapping[str, Setting]) -> Callable[[str], str]:
    """Return what names of parameters go through before they are compared."""
    of_names, of_params = options.get(NameCase.name), options.get(ParamCase.name)
    ignores = (of_names and of_names.value == "ignore") or (
        of_params and of_params.value == "lower"
    )
    return lower_letters if ignores else str


def listed(options: Mapping[str, Setting], name: str) -> NameMatcher:
    """Return the list of names of parameters that is the value of the option *name*."""
    setting = options.get(name)
    return matcher(options, (setting and setting.value) or ())


def matcher(options: Mapping[str, Setting], entries: Iterable[Entry]) -> NameMatcher:
    """Return the list *entries* of names of parameters."""
    return (
        AnyCaseMatcher(entries) if in_one_case(options) is lower_letters else NameMatcher(entries)
    )


def names_in_path(options: Mapping[str, Setting], entries: Iterable[Entry]) -> NameMatcher:
    """Return the list *entries* of names of what stands in a path."""
    setting = options.get(NameCase.name)
    is_any = setting is not None and setting.value == "ignore"
    return AnyCaseMatcher(entries) if is_any else NameMatcher(entries)
