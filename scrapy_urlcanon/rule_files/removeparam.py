"""Reads the ``$removeparam`` rules of filter lists (AdGuard, uBlock Origin).

Syntax: https://adguard.com/kb/general/ad-filtering/create-own-filters/#removeparam-modifier.
Rules that name parameters are read, with their host and a plain path. A rule that depends on the
page that sent the request, or on anything else that a URL does not show, is left out. If our
patterns cannot express an exception (``@@``), the rules that it is about are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attrs import Factory, define, frozen

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.filter_patterns import (
    CannotExpressError,
    host_pattern,
    scopes_around,
    scopes_inside,
)
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts, split_at
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut
from scrapy_urlcanon.rule_files.list_conditions import Conditions
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMAT = "removeparam"

_HEADER = re.compile(r"\[(?:adblock|adguard|ublock)[^\]]*\]\s*\Z", re.IGNORECASE)
_MODIFIERS = re.compile(r"\$(?=(?:[^$]*,)?(?:removeparam|queryprune)(?:[=,]|\Z))")
_ALLOWS_PAGES = re.compile(r"@@.*\$(?:[^$]*,)?(?:document|doc|urlblock)(?:,|\Z)")
_ELSEWHERE = re.compile(r"!\+.*(?<!NOT_)PLATFORM\(")
"""A hint (``!+``) that the next rule is only for the named programs."""
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")
_GLOB = re.compile(r"(?:\.\*(?:[\w-]|\\[.-])+)+=")
_ANY_VALUE = re.compile(r"\.\*\$?\Z")
_BAD_FILTER = "badfilter"
_DOCUMENT = frozenset({"document", "doc"})
_REMOVES = frozenset({"removeparam", "queryprune"})
"""The modifier itself, by each of its names."""
_OF_HOSTS = frozenset({"domain", "from", "to"})
"""Modifiers whose value is a list of hosts."""
_ALL: None = None
# Types of requests that a crawler does not make: it asks for documents.
_OTHER_TYPES = frozenset(
    {"font", "image", "media", "object", "other", "ping", "script", "stylesheet", "subdocument"}
    | {"websocket", "xmlhttprequest", "xhr", "css", "frame"}
)

_TOO_MUCH = "it is left out wherever it would be removed, since this exception cannot be expressed"


@frozen
class FilterRule:
    """One line of a list that removes parameters, or keeps them."""

    where: str
    text: str
    is_exception: bool
    url_pattern: str
    modifiers: tuple[str, ...]

    @classmethod
    def parse(cls, where: str, line: str) -> FilterRule | None:
        """Return the rule in *line*, or None if it is not about parameters.

        >>> FilterRule.parse("line 1", "||example.com^$removeparam=ref").modifiers
        ('removeparam=ref',)
        >>> FilterRule.parse("line 1", "@@||example.com^$document").value() is None
        True
        """
        found = _MODIFIERS.search(line)
        if found:
            start, end = found.span()
        elif _ALLOWS_PAGES.match(line):
            start = line.rindex("$")
            end = start + 1
        else:
            return None
        is_exception = line.startswith("@@")
        url_pattern = line[2 * is_exception : start]
        modifiers = tuple(part.strip() for part in _UNESCAPED_COMMA.split(line[end:]))
        return cls(where, line, is_exception, url_pattern, modifiers)

    def without_badfilter(self) -> tuple[bool, str, frozenset[str]]:
        """Return what a rule and the ``badfilter`` rule that disables it have in common."""
        modifiers = frozenset(self.modifiers) - {_BAD_FILTER}
        return self.is_exception, self.url_pattern, modifiers

    def value(self) -> str | None:
        """Return what stands after ``removeparam=``, or None."""
        for modifier in self.modifiers:
            name, equals, value = modifier.partition("=")
            if name in _REMOVES:
                return value.replace("\\,", ",") if equals and value else None
        return None


def is_format(text: str) -> bool:
    """Tell whether *text* is meant as a filter list."""
    lines = (line.strip() for line in text.splitlines())
    return any(_HEADER.match(line) or _MODIFIERS.search(line) for line in lines)


def read(text: str) -> Imported:
    """Translate the ``removeparam`` rules of *text*, a filter list, into our options."""
    translation = _Translation()
    rules = list(_rules(text, translation.left_out))
    disabled = {r.without_badfilter() for r in rules if _BAD_FILTER in r.modifiers}
    for rule in rules:
        if rule.without_badfilter() in disabled:
            continue
        if rule.is_exception:
            translation.add_exception(rule)
        else:
            translation.add_rule(rule)
    return Imported(FORMAT, translation.rules(), tuple(translation.left_out))


def _rules(text: str, left_out: list[LeftOut]) -> Iterator[FilterRule]:
    others = 0
    conditions = Conditions()
    line = ""
    for number, raw_line in enumerate(text.splitlines(), 1):
        is_for_all = conditions.hold and not _ELSEWHERE.match(line)
        line = raw_line.strip()
        where = f"line {number}"
        if line.startswith("!#"):
            conditions.read(line)
            if line.startswith("!#include"):
                left_out.append(LeftOut(where, line, "no other files are read"))
        elif rule := None if line.startswith("!") else FilterRule.parse(where, line):
            # An exception only keeps parameters, so it never merges too much.
            if not is_for_all and not rule.is_exception:
                reason = "it stands in an !#if, or behind a hint, for other programs"
                left_out.append(LeftOut(where, line, reason))
            else:
                yield rule
        elif line and not line.startswith("!") and not _HEADER.match(line):
            others += 1
    if others:
        text = f"{count_of(others, 'rule')} without removeparam"
        left_out.append(LeftOut("list", text, "they block or hide and change no URL"))


@define
class _Translation:
    group: RuleGroup = Factory(RuleGroup)
    everything: list[tuple[Pattern, FilterRule]] = Factory(list)
    """Where all parameters are removed."""
    exceptions: list[tuple[Pattern, list[str] | None]] = Factory(list)
    barred: list[tuple[FilterRule, list[str] | None]] = Factory(list)
    """Exceptions that cannot be expressed, with the names that they are about."""
    left_out: list[LeftOut] = Factory(list)

    def add_rule(self, rule: FilterRule) -> None:
        try:
            restricted, exempt = _sources(rule)
            names = _names(rule.value())
            scopes = list(_scopes(rule, restricted))
        except (CannotExpressError, NotFiniteError) as error:
            self.left_out.append(LeftOut(rule.where, rule.text, str(error)))
            return
        for scope in scopes:
            if names is None:
                self.everything.append((scope, rule))
            else:
                self.group.drop(scope, names)
        self.exceptions += [(Pattern(host), names) for host in exempt]

    def add_exception(self, rule: FilterRule) -> None:
        try:
            names = _names(rule.value())
        except (CannotExpressError, NotFiniteError):
            names = _ALL
        scopes = _scopes_of_exception(rule)
        if scopes is None:
            self.barred.append((rule, names))
            return
        self.exceptions += [(scope, names) for scope in scopes]

    def rules(self) -> dict[str, dict[str, object]]:
        for scope, excepted in self.exceptions:
            self.group.except_for(scope, excepted)
        for rule, barred in self.barred:
            self._bar(rule, barred)
        keeping_nothing = RuleGroup()
        for scope, rule in self.everything:
            overlapping = any(scope.overlaps(other) for other, _ in self.exceptions)
            if overlapping or self.barred:
                reason = "an exception takes some of its parameters out"
                self.left_out.append(LeftOut(rule.where, rule.text, reason))
            else:
                keeping_nothing.set_option(scope, "keep_params", [])
        self.group.holds_for_tracking = True
        return compose([self.group, keeping_nothing])

    def _bar(self, rule: FilterRule, barred: list[str] | None) -> None:
        """Leave out the names that the exception *rule* is about: it may be for any host."""
        self.group.remove(barred)
        self.left_out.append(LeftOut(rule.where, rule.text, _TOO_MUCH))


def _names(value: str | None) -> list[str] | None:
    """Return the names and globs that *value* stands for; None stands for all names.

    >>> _names("ref"), _names("/^(?:utm_|pk_kwd=)/"), _names(None)
    (['ref'], ['utm_*', 'pk_kwd'], None)
    """
    if value is None:
        return _ALL
    if value.startswith("~"):
        raise CannotExpressError("it keeps one parameter and removes the others")
    if not value.startswith("/"):
        name = unquote(value)
        if not is_writable(name):
            raise CannotExpressError(NOT_WRITABLE)
        return [name]
    expression, _, flags = value[1:].rpartition("/")
    if flags not in {"", "i"}:
        raise CannotExpressError("its expression has flags")
    if not expression.startswith("^"):
        raise CannotExpressError("its expression may match anywhere in name=value")
    # The rule is for any value, so the rest of the expression makes no difference.
    expression = _ANY_VALUE.sub("", expression[1:])
    glob = _GLOB.fullmatch(expression)
    if glob:
        return [glob[0].replace(".*", "*").replace("\\", "").removesuffix("=")]
    if len(split_at(expression, "|")) > 1:
        raise CannotExpressError("^ belongs to its first alternative alone")
    return [_entry(text) for text in finite_texts(expression)]


def _entry(text: str) -> str:
    """Return the entry for what ``^text`` matches of ``name=value``."""
    name, equals, value = text.partition("=")
    if value or not is_writable(name):
        raise CannotExpressError("it depends on the value, or " + NOT_WRITABLE)
    return name if equals else f"{name}*"


def _sources(rule: FilterRule) -> tuple[list[str] | None, list[str]]:
    """Return the hosts that *rule* is restricted to, or None, and those that it leaves out.

    ``domain=`` is about the page that sends the request. A crawler requests pages directly, so it
    is the host of the page itself.
    """
    restricted: list[str] | None = None
    exempt: list[str] = []
    for modifier in rule.modifiers:
        name, _, value = modifier.partition("=")
        if name in _REMOVES or name in _DOCUMENT:
            continue
        if name.startswith("~") and name[1:] in _OTHER_TYPES:
            continue
        if name not in _OF_HOSTS or restricted is not None or exempt:
            raise CannotExpressError(f"{modifier}: our rules know nothing but the URL")
        hosts = [host for host in value.lower().split("|") if host]
        for host in hosts:
            plain = host_pattern(host.removeprefix("~"))
            if plain is None or ("*" in plain and not host.startswith("~")):
                raise CannotExpressError(f"{host}: our patterns know plain hosts alone")
        exempt = [host[1:] for host in hosts if host.startswith("~")]
        restricted = [host for host in hosts if not host.startswith("~")] or None
    return restricted, exempt


def _scopes(rule: FilterRule, restricted: Iterable[str] | None) -> Iterator[Pattern]:
    """Return scopes that hold only for URLs of *rule*."""
    scopes = scopes_inside(rule.url_pattern)
    if restricted is None:
        yield from scopes
        return
    for host in restricted:
        for scope in scopes:
            if scope.host == ANY_HOST:
                yield Pattern(host, scope.path)
            elif not Pattern(host).covers(Pattern(scope.host)):
                raise CannotExpressError("it depends on the page that asks")
            else:
                yield scope


def _scopes_of_exception(rule: FilterRule) -> list[Pattern] | None:
    """Return scopes that hold at least for the URLs of *rule*, or None if there are none.

    Modifiers only make a rule narrower, so they can be ignored.
    """
    scopes = scopes_around(rule.url_pattern) if rule.url_pattern.strip("*") else None
    if scopes is not None:
        return scopes
    for modifier in rule.modifiers:
        name, _, value = modifier.partition("=")
        hosts = [host_pattern(host) for host in value.lower().split("|")]
        if name in _OF_HOSTS and all(hosts):
            return [Pattern(host) for host in hosts if host]
    return None
