"""Reads the provider JSON of ClearURLs (``data.min.json``).

Format: https://docs.clearurls.xyz/1.23.0/specs/rules. A provider has a regular expression
for its URLs, others for the URLs that it leaves alone, and others again for the names of
the parameters that it removes; these match a whole name, decoded.

An exception that our patterns cannot take out leaves the whole provider out: the rule
without it would merge what ClearURLs keeps apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeGuard

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.approximation import includes_no_subdomain, path_at_border
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = "ClearURLs"

_LISTS = ("rules", "rawRules", "referralMarketing", "exceptions", "redirections")

_SCHEME = re.compile(r"\^?(?:https\?|https|http|\(\?:https\?\)):(?:\\?/){2}")
_ONE_SCHEME = re.compile(r"\^?https?:")
_NOT_HTTP = re.compile(r"\^(?:wss?|wss\?|ftp):")
_ANY_SUBDOMAINS = re.compile(r"\((?:\?:)?\[a-z0-9-\]\+\\?\.\)\*\??")
_ANY_SUFFIX = re.compile(
    r"\^https\?:(?:\\?/){2}(?:\((?:\?:)?\[a-z0-9-\]\+\\?\.\)\*\??)?([^/]*?)"
    r"\((?:\?:)?\\\.\[a-z\]\{2,\}\)\{1,\}"
)
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_ANYTHING = frozenset({".*", "^.*", "^.*$"})
_WORD = re.compile(r"[^.*+?()\[\]{}|\\^$]")

_LETTER_CASE = LeftOut(
    "providers",
    "all names and paths",
    "letter case makes no difference there and does here",
    partly=True,
)


def is_format(document: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether *document*, parsed JSON, is meant as a catalogue of providers."""
    if not isinstance(document, dict) or "providers" not in document:
        return False
    providers = document["providers"]
    if isinstance(providers, dict):
        return all(isinstance(provider, dict) for provider in providers.values())
    return isinstance(providers, list)


def read(document: Mapping[str, Any]) -> Imported:
    """Return what *document*, parsed JSON, is in our terms.

    :raises ValueError: with all that is wrong, each with its place.
    """
    providers = document["providers"]
    problems = list(_problems(providers))
    if problems:
        raise ValueError("; ".join(problems))
    groups: list[RuleGroup] = []
    left_out: list[LeftOut] = []
    for name, provider in providers.items():
        group, missing = _translate(f"providers.{name}", provider)
        groups.append(group)
        left_out += missing
    rules = compose(groups)
    if rules:
        left_out.append(_LETTER_CASE)
    return Imported(FORMAT, rules, tuple(left_out))


def names_for_everything(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names that providers for all URLs remove, whatever their exceptions.

    :raises ValueError: as :func:`read`.
    """
    problems = list(_problems(document["providers"]))
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(
        dict.fromkeys(
            name
            for provider in document["providers"].values()
            if provider["urlPattern"] in _ANYTHING
            for name in _names("", provider, [])
        )
    )


def _problems(providers: object) -> Iterator[str]:
    if not isinstance(providers, dict):
        yield (
            "providers: expected an object with a provider under each name, as in "
            "data.min.json of ClearURLs 1.x, got a list"
        )
        return
    for name, provider in providers.items():
        if not isinstance(provider.get("urlPattern"), str):
            got = provider.get("urlPattern")
            yield f"providers.{name}.urlPattern: expected a text, got {got!r}"
        for key in _LISTS:
            texts = provider.get(key, [])
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                yield f"providers.{name}.{key}: expected a list of texts, got {texts!r}"


def _translate(where: str, provider: Mapping[str, Any]) -> tuple[RuleGroup, list[LeftOut]]:
    group = RuleGroup()
    left_out = list(_never_expressed(where, provider))
    names = list(_names(where, provider, left_out))
    if not names:
        return group, left_out
    pattern = provider["urlPattern"]
    try:
        for scope in _scopes(pattern):
            group.drop(scope, names)
    except NotFiniteError as error:
        left_out.append(LeftOut(f"{where}.urlPattern", pattern, str(error)))
        return RuleGroup(), left_out
    for index, exception in enumerate(provider.get("exceptions", [])):
        place = f"{where}.exceptions[{index}]"
        try:
            excepted, is_exact = supersets(exception)
        except NotFiniteError as error:
            reason = f"{error}; without this exception the provider is left out as a whole"
            left_out.append(LeftOut(place, exception, reason))
            return RuleGroup(), left_out
        for scope in excepted:
            group.except_for(scope, None)
        if not is_exact:
            reason = "here it is for all of " + ", ".join(map(str, excepted))
            left_out.append(LeftOut(place, exception, reason, partly=True))
    return group, left_out


def _never_expressed(where: str, provider: Mapping[str, Any]) -> Iterator[LeftOut]:
    if provider.get("completeProvider"):
        reason = "it blocks requests; nothing is removed"
        yield LeftOut(f"{where}.completeProvider", "true", reason)
    for key, reason in (
        ("rawRules", "it removes any part of a URL; rewrite_path has templates for that"),
        ("redirections", "it follows a redirect; nested_url and rewrite_path have templates"),
    ):
        for index, text in enumerate(provider.get(key, [])):
            yield LeftOut(f"{where}.{key}[{index}]", text, reason)


def _names(where: str, provider: Mapping[str, Any], left_out: list[LeftOut]) -> Iterator[str]:
    # ClearURLs removes what referralMarketing lists too, unless its user says otherwise.
    for key in ("rules", "referralMarketing"):
        for index, expression in enumerate(provider.get(key, [])):
            place = f"{where}.{key}[{index}]"
            try:
                names = _whole(expression)
            except NotFiniteError as error:
                reason = f"it has no finite list of names: {error}"
                left_out.append(LeftOut(place, expression, reason))
                continue
            yield from filter(is_writable, names)
            if not all(map(is_writable, names)):
                left_out.append(LeftOut(place, expression, NOT_WRITABLE, partly=True))


def _whole(expression: str) -> tuple[str, ...]:
    """Return the texts that ``^expression$`` matches: so ClearURLs puts it together."""
    if len(_split(expression, "|")) > 1:
        raise NotFiniteError("^ and $ belong to its first and its last alternative alone")
    return finite_texts(expression)


def _scopes(pattern: str) -> Iterator[Pattern]:
    r"""Return scopes inside what *pattern* matches.

    >>> [str(scope) for scope in _scopes(r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.(?:com|de)\/x\/")]
    ['a.com/x/*', 'a.de/x/*']
    """
    if pattern in _ANYTHING:
        yield Pattern(ANY_HOST)
        return
    if _ONE_SCHEME.match(pattern):
        raise NotFiniteError("it is for one scheme, and our patterns are for all")
    with_subdomains, hosts, rest = _hosts(pattern)
    paths = finite_texts(re.sub(r"\.\*\??\Z", "", rest))
    for host in hosts:
        if not with_subdomains and not includes_no_subdomain(host):
            raise NotFiniteError(
                f"it is for {host} without its subdomains, and our patterns include them"
            )
        for path in paths:
            # The expression does not end there: the path is a prefix as text.
            if not re.fullmatch(r"(/[\w.~-]+)*/?", path):
                raise NotFiniteError("its path is not a plain prefix")
            yield Pattern(host, f"{path}*" if path.strip("/") else "")


def supersets(exception: str) -> tuple[list[Pattern], bool]:
    r"""Return scopes that hold all http URLs that *exception* matches, and whether no other.

    >>> supersets(r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.com\/b\/c.*?x=")
    ([Pattern(host='a.com', path='/b', conditions=())], False)

    :raises NotFiniteError: if there are none but the one for all URLs.
    """
    if _NOT_HTTP.match(exception):
        return [], True
    with_any_suffix = _ANY_SUFFIX.match(exception)
    if with_any_suffix:
        names = finite_texts(with_any_suffix[1], dot_is_literal=True)
        if all(map(_HOST.fullmatch, names)):
            return [Pattern(f"{name}.*") for name in names], False
    if not exception.startswith("^"):
        raise NotFiniteError("it may match anywhere in a URL")
    with_subdomains, hosts, rest = _hosts(exception)
    path = _literal_path(rest)
    return [Pattern(host, path) for host in hosts], with_subdomains and not rest


def _literal_path(rest: str) -> str:
    """Return the longest path on a segment border that all matches of *rest* begin with."""
    literal = ""
    position = 0
    while position < len(rest):
        character = rest[position]
        if character == "\\" and not rest[position + 1 : position + 2].isalnum():
            position += 1
            character = rest[position : position + 1]
            if character == "?":
                # The path ends here, so its last segment is a whole one.
                return literal.rstrip("/")
        elif not _WORD.match(character):
            break
        position += 1
        if rest[position : position + 1] in {"*", "?", "{"}:
            break
        literal += character
    return path_at_border(literal)


def _hosts(pattern: str) -> tuple[bool, tuple[str, ...], str]:
    """Return whether subdomains are included, the hosts, and what follows them."""
    scheme = _SCHEME.match(pattern)
    if not scheme or len(_split(pattern, "|")) > 1:
        raise NotFiniteError("it does not begin with https?:// and a host")
    rest = pattern[scheme.end() :]
    subdomains = _ANY_SUBDOMAINS.match(rest)
    if subdomains:
        rest = rest[subdomains.end() :]
    host = _split(rest, "/")[0]
    try:
        hosts = tuple(text.lower() for text in finite_texts(host, dot_is_literal=True))
    except NotFiniteError as error:
        raise NotFiniteError(f"it has no finite list of hosts: {error}") from None
    if not all(_HOST.fullmatch(text) for text in hosts):
        raise NotFiniteError("it has no plain hosts")
    return bool(subdomains), hosts, rest[len(host) :]


def _split(expression: str, separator: str) -> list[str]:
    r"""Split *expression* at *separator*, escaped or not, outside of groups and classes.

    >>> _split(r"a\/b(c/d)/e", "/")
    ['a', 'b(c/d)', 'e']
    """
    parts: list[str] = []
    start = position = depth = 0
    in_class = False
    while position < len(expression):
        escaped = expression[position] == "\\"
        length = 2 if escaped else 1
        character = expression[position : position + length][-1]
        is_separator = character == separator and not (escaped and separator == "|")
        if is_separator and not in_class and not depth:
            parts.append(expression[start:position])
            start = position + length
        elif escaped:
            pass
        elif in_class:
            in_class = character != "]"
        elif character in "[()":
            in_class = character == "["
            depth += {"[": 0, "(": 1, ")": -1}[character]
        position += length
    return [*parts, expression[start:]]
