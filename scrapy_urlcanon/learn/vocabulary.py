"""What names and values of parameters mean: pagination, sort orders, languages, identifiers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable

# A site has few parameter names and up to millions of URLs that have them.
_of_names = lru_cache(1024)

# Names of parameters for pagination, page size and language. If they make no difference in a crawl,
# listings were short or pages not yet translated, which may change. So only the number of a first
# page may be learned.
PAGINATION = re.compile(
    r"""(?:p|pg|pn|page|paged|pagina|pagenum|page_?no|page_?number|page_?index|seite|
        start|offset|from|first|skip|begin|cursor|after|before|limitstart|startat|start_?index)""",
    re.VERBOSE | re.IGNORECASE,
)
# Those of them that have other meanings too: `from=home` is where a visitor came from.
_OF_OTHER_THINGS = re.compile("start|from|first|skip|begin|after|before", re.IGNORECASE)
PAGE_SIZE = re.compile(
    r"""limit|(?:(?:items|results|rows|posts)_?)?per_?page|page_?(?:size|limit)|rpp|
        (?:(?:max|num)[-_]?)?(?:items|rows)|(?:max|num)[-_]?results""",
    re.VERBOSE | re.IGNORECASE,
)
# Names for one of several listings: `comments_page`, `photo-page`, `b_start`, `page_users`.
_OF_ONE_LISTING = re.compile(
    r"(?<![^_-])(?:page|paged|page_?(?:num|no|number|index)|current_?page|start|offset)\Z"
    r"|\Apage_(?!id\Z|size|limit)",
    re.IGNORECASE,
)
# The type of the value, which Zope appends to the name.
_TYPE = re.compile("(?::[a-z]+)+")
_IN_BRACKETS = re.compile(r"[^\[\]]+")
LANGUAGE_NAME = re.compile(
    "l|lang|language|langue|lng|hl|locale|sprache|idioma|variant|uselang|setlang", re.IGNORECASE
)

# Names of parameters for sort orders. If they make no difference, the listing had one entry.
ORDERING = re.compile(
    "(?:sort|order)(?:[_-]?(?:by|dir|order|key|field))?|dir(?:ection)?|asc|desc", re.IGNORECASE
)

SEARCHED = re.compile(
    "query|search|keywords?|(?:search|query)[-_]?(?:query|words?|terms?|text|string)",
    re.IGNORECASE,
)
"""Names of parameters for search terms."""

SEARCHED_OR_Q = re.compile(f"q|{SEARCHED.pattern}", re.IGNORECASE)
"""The same with ``q``, which in some programs is the path of the page."""

FIRST_PAGE = frozenset(("", "0", "1"))
"""Values for a first page."""

PART_OF_LISTING = re.compile(
    r"(?<![a-z])(?:page|paged|pagina|seite|pg|p)[-_/]?([0-9]+|\{_\w+:digits\})(?![0-9a-z])",
    re.IGNORECASE,
)
"""A page number in a path, or in a template for paths."""

LANGUAGE = re.compile(
    "[a-z]{2}([-_]([a-z]{2}|arab|beng|cans|cyrl|deva|ethi|guru|han[st]|hebr|latn|mong|tfng))?"
)
"""A language code in a host or a path, in lower case, maybe with a region or a script.

Scripts are those by which the CLDR tells the locales of one language apart: other words of four
letters make it two syllables, as in ``ki-kile``."""

# Names of parameters for sessions, as programs and servers write them: `PHPSESSID`, `osCsid`.
_SESSION = re.compile("s|sid|cfid|cftoken|zenid|.*(?:csid|sess).*", re.IGNORECASE)
# Names of parameters for one version of a text: `oldid`, `rev`, `wikiPageVersion`, `commit_id`.
_VERSION = re.compile(
    r"(?:.*(?:[a-z](?=[A-Z])|[_-]))?(?i:vers?|version|rev|revision|edition|diff|commit|changeset"
    r"|snapshot|old)(?i:[_-]?(?:id|nr|no|num|number))?"
)
# CFID and CFTOKEN are numbers.
_LONG_NUMBER = re.compile("[0-9]{5,}")

NUMBER = re.compile("[0-9]+")

SWITCHED = re.compile("[0-9]+|on|off|yes|no|true|false|[yntf]", re.IGNORECASE)
"""Values of a switch."""

# A page number; no listing has more pages.
_PART = re.compile("[0-9]{1,9}")

# Readable words, such as `home`, `top-nav` or `topNav`. Cursors contain digits, or capitals
# anywhere: `MjA` is a page number in base64.
_WORDS = re.compile("[A-Za-z]|[A-Za-z][a-z]+(?:[-_.+][A-Za-z][a-z]*|[A-Z][a-z]+)*")

# A UUID, or a run of letters and digits.
_PARTS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^\W_]+", re.IGNORECASE)

# A number, a digest or token of sixteen characters or more, or a UUID.
_IDENTIFIER = re.compile(
    r"[0-9]+|(?=[a-z]*[0-9])[0-9a-z]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.IGNORECASE,
)


# A day or a month with the year, with or without a time of day.
_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
# A year, or a year that ends in the next, such as a school year: `2025-26`.
_YEARS = rf"{_YEAR}(?:[-_](?:{_YEAR}|[0-9]{{2}}))?"

# Names of parameters for a year, or for a part of it.
_YEARLY = re.compile(
    r"(?:\b|_|(?<=[a-z])(?=[A-Z]))(?i:year|yr|season|term|semester|jahr|ann[eo]e?|ano|edition)\Z"
)
# A year, alone or with the word for a term.
_EDITION = re.compile(rf"(?:[a-z]{{1,9}}[-_]?)?{_YEARS}|{_YEARS}[-_]?[a-z]{{1,9}}", re.IGNORECASE)

_DATE = re.compile(
    rf"{_YEAR}(?:[-/.]{_MONTH}(?:[-/.]{_DAY})?|(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01]))(?:[T ].*)?"
    rf"|(?:{_DAY}[-/.]{_MONTH}|{_MONTH}[-/.]{_DAY}|{_MONTH})[-/.]{_YEAR}"
)


@_of_names
def is_protected(name: str, worded: frozenset[str] = frozenset()) -> bool:
    """Tell by its name whether a parameter is for pagination, page size or language.

    :param worded: names that mean something else on the site, from :func:`worded_names`.

    >>> [is_protected(name) for name in ("start", "b_start:int", "page[size]", "page_users")]
    [True, True, True, True]
    >>> [is_protected(name) for name in ("items", "numRows", "max-results", "results")]
    [True, True, True, False]
    >>> is_protected("page_id")
    False
    """
    return name not in worded and (
        _numbers_parts(name)
        or any(names.fullmatch(_bare(name)) for names in (PAGE_SIZE, LANGUAGE_NAME))
    )


@_of_names
def _numbers_parts(name: str) -> bool:
    bare = _bare(name)
    return bool(PAGINATION.fullmatch(bare) or _OF_ONE_LISTING.search(bare))


@_of_names
def _bare(name: str) -> str:
    """Return the name of a parameter without a type and with brackets replaced.

    >>> _bare("b_start:int"), _bare("page%5Bnumber%5D")
    ('b_start', 'page_number')
    """
    text = unquote(name) if "%" in name else name
    if ":" in text:
        text = _TYPE.sub("", text)
    return "_".join(_IN_BRACKETS.findall(text)) if "[" in text else text


@_of_names
def is_paging(name: str, worded: frozenset[str] = frozenset()) -> bool:
    """Tell by its name whether a parameter is for pagination.

    ``p`` is not: it is as often the number of a post.

    :param worded: as for :func:`is_protected`.

    >>> is_paging("pagenum"), is_paging("limit"), is_paging("page_size"), is_paging("p")
    (True, False, False, False)
    """
    return name != "p" and name not in worded and _numbers_parts(name)


@_of_names
def is_page_size(name: str) -> bool:
    """Tell by its name whether a parameter says how many entries a part of a listing has.

    >>> is_page_size("limit"), is_page_size("page[size]"), is_page_size("page")
    (True, True, False)
    """
    return bool(PAGE_SIZE.fullmatch(_bare(name)))


def numbers_of_first_parts(params: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pagination parameters that may select a first page, as names and values.

    >>> numbers_of_first_parts(["comments_page=0", "page=1", "page=2", "id=1"])
    [('comments_page', '0'), ('page', '1')]
    """
    split = (param.partition("=") for param in params)
    return [(name, value) for name, _, value in split if value in {"0", "1"} and is_paging(name)]


def numbers_of_parts(params: Iterable[str]) -> list[tuple[str, int]]:
    """Return the pagination parameters with their numbers.

    >>> numbers_of_parts(["page=12", "comments_page=0", "from=home", "p=7", "id=1"])
    [('page', 12), ('comments_page', 0)]
    """
    split = (param.partition("=") for param in params)
    return [
        (name, int(text)) for name, _, text in split if _PART.fullmatch(text) and is_paging(name)
    ]


def worded_names(params: Iterable[str]) -> frozenset[str]:
    """Return the names that mostly mean pagination, but mostly have other values here.

    :param params: the parameters of a site; repetitions make no difference.

    >>> sorted(worded_names(["from=home", "from=search", "from=20", "start=all", "start=20"]))
    ['from']
    >>> worded_names(["ref_page=/news/3", "b_start:int=20"])
    frozenset({'ref_page'})
    """
    values: dict[str, set[str]] = {}
    for param in params:
        name, _, value = param.partition("=")
        if _may_be_of_other_things(name):
            values.setdefault(name, set()).add(value)
    return frozenset(
        name
        for name, found in values.items()
        if 2 * sum(_says_other_things(name, value) for value in found) > len(found)
    )


@_of_names
def _may_be_of_other_things(name: str) -> bool:
    bare = _bare(name)
    is_known = PAGINATION.fullmatch(bare) and not _OF_OTHER_THINGS.fullmatch(bare)
    return not is_known and _numbers_parts(name)


def _says_other_things(name: str, value: str) -> bool:
    """Tell by a value whether a name that mostly means pagination means something else."""
    if not _may_be_of_other_things(name):
        return False
    if PAGINATION.fullmatch(_bare(name)):
        return is_worded(value)
    return bool(value) and not is_number(value)


def is_worded(value: str) -> bool:
    """Tell whether a value is made of words, and is not a number, token or cursor.

    >>> [is_worded(value) for value in ("home", "topNav", "a", "t3_abc", "MjA", "")]
    [True, True, True, False, False, False]
    """
    return bool(_WORDS.fullmatch(value))


@_of_names
def is_ordering(name: str) -> bool:
    """Tell by its name whether a parameter is for a sort order.

    >>> is_ordering("sort_by"), is_ordering("dir"), is_ordering("assorted")
    (True, True, False)
    """
    return bool(ORDERING.fullmatch(name))


def is_identifier(text: str) -> bool:
    """Tell whether a text is an identifier: a number, digest, token or UUID.

    What is learned about one of them says nothing about the others.

    >>> is_identifier("42"), is_identifier("da39a3ee5e6b4b0d"), is_identifier("HEAD")
    (True, True, False)
    """
    return bool(_IDENTIFIER.fullmatch(text))


def is_session(name: str, values: Iterable[str]) -> bool:
    """Tell whether a parameter has the name of a session, and only tokens or long numbers as value.

    >>> is_session("osCsid", ["da39a3ee5e6b4b0d"]), is_session("CFID", ["4820117"])
    (True, True)
    >>> is_session("sid", ["12"]), is_session("commit", ["da39a3ee5e6b4b0d"])
    (False, False)
    """
    return bool(_SESSION.fullmatch(name)) and all(
        has_token(value) or _LONG_NUMBER.fullmatch(value) for value in values
    )


@_of_names
def is_name_of_thing(name: str) -> bool:
    """Tell whether a name says that a parameter selects a thing, as names that end in ``id`` do.

    >>> [*map(is_name_of_thing, ("id", "topic_id", "PageID", "sid", "ref"))]
    [True, True, True, False, False]
    """
    return name.lower().endswith("id") and not _SESSION.fullmatch(name)


@_of_names
def is_name_of_version(name: str) -> bool:
    """Tell whether a name says that a parameter selects a version of a text.

    >>> [*map(is_name_of_version, ("oldid", "rev", "wikiPageVersion", "page_rev", "commit_id"))]
    [True, True, True, True, True]
    >>> [*map(is_name_of_version, ("prev", "review", "id", "folder", "via"))]
    [False, False, False, False, False]
    """
    return bool(_VERSION.fullmatch(name))


def is_date(value: str) -> bool:
    """Tell whether the value of a parameter is a date: a day or a month with the year.

    >>> [is_date(value) for value in ("2026-11-25", "20261125", "25%2F11%2F2026", "2026-11")]
    [True, True, True, True]
    >>> [is_date(value) for value in ("2026", "26-11", "20269925", "10.1")]
    [False, False, False, False]
    """
    return bool(_DATE.fullmatch(unquote(value)))


@lru_cache(1024)
def is_edition(text: str) -> bool:
    """Tell whether a text names an edition: a year, a school year or a term of a year.

    >>> [is_edition(text) for text in ("2026", "2025-26", "fall2025", "2026SP", "spring_2026")]
    [True, True, True, True, True]
    >>> [is_edition(text) for text in ("20261", "room-2026-b", "2026-11", "current")]
    [False, False, False, False]
    """
    return bool(_EDITION.fullmatch(text)) and not is_date(text)


def selects_edition(name: str, value: str) -> bool:
    """Tell whether a parameter selects an edition. A mere number is a year only by its name.

    >>> selects_edition("catalogYear", "2026"), selects_edition("t", "26SP")
    (True, False)
    >>> selects_edition("t", "2026SP"), selects_edition("comment", "2026")
    (True, False)
    """
    return is_edition(value) and bool(_YEARLY.search(name) or not is_number(value))


def has_token(text: str) -> bool:
    """Tell whether a text contains a digest, a token or a UUID, or is one.

    >>> has_token("ann@example.org-da39a3ee5e6b4b0d"), has_token("12-ways-to-knit")
    (True, False)
    """
    return not all(map(is_number, filter(is_identifier, _PARTS.findall(text))))


def is_number(text: str) -> bool:
    """Tell whether a text consists of ASCII digits."""
    return text.isdigit() and text.isascii()


def may_be_default(name: str, value: str) -> bool:
    """Tell whether a value may be the default of a parameter.

    A digest or a token may not: it is one of many, or different in the next crawl. An empty value
    may, whatever the name.

    >>> may_be_default("page", "1"), may_be_default("page", "7"), may_be_default("sort", "up")
    (True, False, True)
    >>> may_be_default("limit", "10"), may_be_default("limit", "")
    (False, True)
    >>> may_be_default("from", "20"), may_be_default("from", "home")
    (False, True)

    Among numbered languages the first is that of the site.

    >>> may_be_default("L", "0"), may_be_default("L", "1"), may_be_default("L", "en")
    (True, False, False)
    """
    if value and is_protected(name) and not _says_other_things(name, value):
        if LANGUAGE_NAME.fullmatch(name):
            return value == "0"
        return _numbers_parts(name) and value in FIRST_PAGE
    return value.isdigit() or not is_identifier(value)
