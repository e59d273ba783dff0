"""Hypothesis strategies: URLs that strain the grammar, other spellings of them, rule sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.rules import CATALOGUE
from scrapy_urlcanon.canonicalizer.values import Choice, Flag, NameList, NameMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy

    from scrapy_urlcanon.canonicalizer.rules import Rule

NAMES = ["a", "b", "id", "sid", "é", "a b", "a[b]", "A", "utm_source", "gclid", "print", "页"]
FILES = ["index.html", "index.php", "default.aspx", "..", "."]
HOSTS = [
    "example.com",
    "www.example.com",
    "www.www2.shop.example.co.uk",
    "www.com",
    "www.co.uk",
    "localhost",
    "bücher.example",
    "xn--bcher-kva.example",
    "例子.卷筒纸",
    "192.0.2.1",
    "0xC0.0.2.1",
    "3221225985",
    "[2001:DB8:0:0::1]",
    "[::ffff:192.0.2.1]",
]

# Pieces with a meaning somewhere in the grammar, or in one of its implementations.
DELIMITERS = list(":/?#[]@!$&'()*+,;=%\\ |\"<>^`{}~-._")
INVISIBLE = ["\t", "\n", "\r", "\x00", "\x1f", "\x7f", "\xa0", "\xad", "\u200b", "\ufeff"]
ESCAPES = [
    *(f"%{byte:02x}" for byte in b"\x00\t %&+./:;=?@A[\\~\x7f\x80\xc3\xe9\xff"),
    *(f"%{byte:02X}" for byte in b"/;=?@\xe9"),
    "%2",
    "%%",
    "%2%35",
    "%25%32%46",
    "%zz",
    "%C3%A9",
    "%u00e9",
]
SEGMENTS = [".", "..", "...", "%2e", ".%2E", ".;", "..;a=b", "//", "/./", "/../", ";", "/;/"]
LETTERS = [
    "a",
    "B",
    "0",
    "7F",
    "é",
    "ß",
    "İ",
    "ａ",
    "．",
    "。",
    "⁄",
    "／",
    "💩",
    "e\u0301",
    "\ud800",
]
TOKENS = [*DELIMITERS, *INVISIBLE, *ESCAPES, *SEGMENTS, *LETTERS, *NAMES, *FILES, "http://"]

tokens = st.sampled_from(TOKENS)
texts = st.text(st.characters()) | st.lists(tokens, max_size=12).map("".join)
"""Any text, including lone surrogates, and tokens in any order."""


def _mostly(usual: list[str]) -> SearchStrategy[str]:
    known = st.sampled_from(usual)
    return st.one_of(known, known, known, known, st.lists(tokens, max_size=4).map("".join))


_schemes = st.sampled_from([*["http", "https"] * 4, "HTTP", "hTTps", "ftp", ""])
_slashes = st.sampled_from(["://"] * 15 + [":", ":/", ":///", ":\\\\", "//", ":/\t/"])
_userinfo = st.sampled_from([""] * 20 + ["@", ":@", "u@", "u:@", "u:p@", "u:p:q@", "a@b@", "é%@"])
_hosts = _mostly([*HOSTS, *(f"{host}." for host in HOSTS), "example.com.."])
_ports = st.sampled_from([""] * 20 + [":", ":80", ":443", ":0080", ":8080", ":65536", ":٣", ":8a"])
_segments = _mostly([*NAMES, *FILES, "", "forum", "a%2Fb", "a;b"])
_paths = st.lists(_segments, max_size=5).map(lambda segments: "".join(f"/{s}" for s in segments))
_values = _mostly(["", "1", "x y", "x+y", "x%20y", "C%2B%2B", "http://example.com/?a=1"])
_pieces = st.builds("{}{}{}".format, _mostly(NAMES), st.sampled_from(["=", ""]), _values)
_queries = st.lists(_pieces, max_size=4).map(lambda pieces: "?" + "&".join(pieces))
_fragments = _mostly(["top", "!/a", "/a", ""]).map("#{}".format)


@st.composite
def urls(draw: DrawFn, hosts: SearchStrategy[str] = _hosts) -> str:
    """Draw text that looks like a URL, with oddities in any component."""
    url = draw(_schemes) + draw(_slashes) + draw(_userinfo) + draw(hosts) + draw(_ports)
    return url + draw(_paths) + draw(st.just("") | _queries) + draw(st.just("") | _fragments)


@st.composite
def mutated(draw: DrawFn, originals: SearchStrategy[str]) -> str:
    """Draw one of *originals* with tokens inserted, replaced or removed."""
    url = draw(originals)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(url)))
        end = draw(st.integers(start, min(start + 3, len(url))))
        url = url[:start] + draw(tokens | st.just("")) + url[end:]
    return url


def _escape(draw: DrawFn, url: str) -> str:
    at = draw(st.integers(0, len(url) - 1))
    if url[at] in "%?#&=" or not url[at].isprintable():
        return url
    escaped = quote(url[at].encode(errors="replace"), safe="")
    if len(escaped) == 1:
        escaped = f"%{ord(escaped):02X}"
    return url[:at] + draw(st.sampled_from([escaped, escaped.lower()])) + url[at + 1 :]


def _change_case_of_authority(draw: DrawFn, url: str) -> str:
    end = draw(st.integers(0, url.find("/", 8) % (len(url) + 1)))
    return url[:end].swapcase() + url[end:]


def _shuffle_query(draw: DrawFn, url: str) -> str:
    path, question_mark, rest = url.partition("?")
    query, hash_, fragment = rest.partition("#")
    pieces = draw(st.permutations(query.split("&")))
    return path + question_mark + "&".join(pieces) + hash_ + fragment


def _replace(old: str, new: str) -> Callable[[DrawFn, str], str]:
    def replace(draw: DrawFn, url: str) -> str:
        found = [at for at in range(8, len(url)) if url.startswith(old, at)]
        if not found:
            return url
        at = draw(st.sampled_from(found))
        return url[:at] + new + url[at + len(old) :]

    return replace


# Each mostly leads to what Scrapy takes for the same URL; where not, the pair is no pair.
_RESPELLINGS: list[Callable[[DrawFn, str], str]] = [
    _escape,
    _escape,
    _change_case_of_authority,
    _shuffle_query,
    _replace("/", "/./"),
    _replace("/", "/x/../"),
    _replace("/", "/%2e/"),
    _replace("/", "/x/.%2E/"),
    _replace("/", "\\"),
    _replace("%", "%25"),
    _replace("%25", "%"),
    _replace("&", "&&"),
    _replace("=&", "&"),
    _replace("&", "=&"),
    _replace("?", "?&"),
    _replace("#", "&#"),
    _replace("#", ";#"),
    _replace("+", "%20"),
    _replace("%20", " "),
    _replace("=", "=\t"),
    _replace("::", ":0:"),
    _replace(":0", ":0000"),
    lambda _, url: url.partition("#")[0],
    lambda _, url: f"{url}#top",
    lambda _, url: f" {url}\n",
    lambda _, url: url if "?" in url else f"{url};",
    lambda _, url: url if "?" in url else f"{url}?",
]


@st.composite
def respelled(draw: DrawFn, originals: SearchStrategy[str]) -> tuple[str, str]:
    """Draw one of *originals*, and what may be another spelling of it."""
    url = original = draw(originals.filter(bool))
    for respell in draw(st.lists(st.sampled_from(_RESPELLINGS), min_size=1, max_size=4)):
        url = respell(draw, url)
    return original, url


_globs = st.sampled_from(["*", "a*", "*b", "*i*", "utm_*", "index.*", "*;*"])
_any_names = st.text(min_size=1) | st.lists(tokens, min_size=1).map("".join).filter(str.isascii)
_marks = st.sampled_from(["", "", "!"])
_option_names = st.sampled_from(NAMES + FILES) | _globs | _any_names


def _values_of(rule: type[Rule]) -> SearchStrategy[Any]:
    """Draw valid values of the option: from its examples, and by its type."""
    examples = [example.value for example in (*rule.changes, *rule.keeps)]
    drawn: SearchStrategy[Any] = st.sampled_from(examples)
    values = rule.values
    if isinstance(values, Choice):
        return st.sampled_from(values.choices)
    if isinstance(values, Flag):
        return st.booleans()
    if isinstance(values, NameMap):
        keys, texts = _option_names | st.sampled_from(HOSTS), _mostly(["1", "", *HOSTS])
        drawn |= st.dictionaries(keys, texts | st.none(), max_size=3)
    elif isinstance(values, NameList):
        drawn |= st.lists(st.builds("{}{}".format, _marks, _option_names), max_size=4)
        drawn |= st.none() if values.optional else drawn
    else:
        entries = [entry for value in examples for entry in value]
        drawn |= st.lists(st.sampled_from(entries), max_size=4)
    return drawn.filter(lambda value: values.problem(value) is None)


options = st.fixed_dictionaries(
    {}, optional={"inherit": st.booleans()} | {rule.name: _values_of(rule) for rule in CATALOGUE}
)
"""Options of one rule set, over the whole catalogue."""

_SITE = ["example.com", "www.example.com", "shop.example.com", "www.www2.Example.com"]

_pattern_hosts = st.sampled_from(["*", "*", "*", *_SITE, "com", "192.0.2.1", "[2001:db8::1]"])
_pattern_paths = st.sampled_from([*[""] * 12, "/", "/a", "/forum/", "/a%2fb", "/index.html"])
_conditions = st.sampled_from([*[""] * 15, "?a", "?id=1", "?a=*&sid", "?%C3%A9=x+y", "?a=*b*"])
patterns = st.builds("{}{}{}".format, _pattern_hosts, _pattern_paths, _conditions)

rules = st.lists(
    st.tuples(patterns, options), min_size=1, max_size=4, unique_by=lambda r: parse_pattern(r[0])
)
rules = rules.map(dict)
"""Rules in the shape of the ``URLCANON_RULES`` setting."""

_of_examples = [example.url for rule in CATALOGUE for example in (*rule.changes, *rule.keeps)]
urls_with_rules = st.one_of(
    urls(st.sampled_from(_SITE)),
    st.sampled_from(_of_examples),
    mutated(st.sampled_from(_of_examples)),
)
"""URLs, most of which have rules among :data:`rules`."""
