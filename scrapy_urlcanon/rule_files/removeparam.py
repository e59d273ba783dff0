"""Reads the ``$removeparam`` rules of filter lists (AdGuard, uBlock Origin).

Syntax: https://adguard.com/kb/general/ad-filtering/create-own-filters/#removeparam-modifier.
Of a rule that names parameters, the host and a plain path are read; what makes it depend
on the page that sent the request, or on anything else that a URL does not show, leaves it
out. An exception (``@@``) that our patterns cannot express leaves out what it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attrs import Factory, define, frozen

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.approximation import path_at_border
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMAT = "removeparam"

_HEADER = re.compile(r"\[(?:adblock|adguard|ublock)[^\]]*\]\s*\Z", re.IGNORECASE)
_MODIFIERS = re.compile(r"\$(?=(?:[^$]*,)?(?:removeparam|queryprune)(?:[=,]|\Z))")
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_URL_PATTERN = re.compile(r"\|\|([^/^*|?$]+)(.*)", re.DOTALL)
_PLAIN_PATH = re.compile(r"(?:/[\w.~!'();:@&=+%-]*)+")
_BAD_FILTER = "badfilter"
_DOCUMENT = frozenset({"document", "doc"})
_ALL: None = None

_PREFIX = "a prefix as text there; here it ends on the border of a segment"
_TOO_MUCH = "it is left out wherever it would be removed, since this exception cannot be expressed"


@frozen
class FilterRule:
    """One line of a list that has a ``removeparam`` modifier."""

    where: str
    text: str
    is_exception: bool
    url_pattern: str
    modifiers: tuple[str, ...]

    @classmethod
    def parse(cls, where: str, line: str) -> FilterRule | None:
        """Return the rule in *line*, or None where it has no such modifier.

        >>> FilterRule.parse("line 1", "||example.com^$removeparam=ref").modifiers
        ('removeparam=ref',)
        """
        found = _MODIFIERS.search(line)
        if not found:
            return None
        is_exception = line.startswith("@@")
        url_pattern = line[2 * is_exception : found.start()]
        modifiers = tuple(part.strip() for part in _UNESCAPED_COMMA.split(line[found.end() :]))
        return cls(where, line, is_exception, url_pattern, modifiers)

    def without_badfilter(self) -> tuple[bool, str, frozenset[str]]:
        """Return what two rules have in common of which one disables the other."""
        modifiers = frozenset(self.modifiers) - {_BAD_FILTER}
        return self.is_exception, self.url_pattern, modifiers

    def value(self) -> str | None:
        """Return what stands after ``removeparam=``, or None."""
        for modifier in self.modifiers:
            name, equals, value = modifier.partition("=")
            if name in {"removeparam", "queryprune"}:
                return value.replace("\\,", ",") if equals and value else None
        return None


class _CannotExpressError(ValueError):
    """Our options cannot express this part of a rule."""


def is_format(text: str) -> bool:
    """Tell whether *text* is meant as a filter list."""
    lines = (line.strip() for line in text.splitlines())
    return any(_HEADER.match(line) or FilterRule.parse("", line) for line in lines)


def read(text: str) -> Imported:
    """Return what the ``removeparam`` rules of *text*, a filter list, are in our terms."""
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
    others: Counter[str] = Counter()
    conditions = 0
    for number, raw_line in enumerate(text.splitlines(), 1):
        line = raw_line.strip()
        where = f"line {number}"
        if line.startswith("!#"):
            conditions += line.startswith("!#if")
            conditions -= line.startswith("!#endif") and conditions > 0
            if line.startswith("!#include"):
                left_out.append(LeftOut(where, line, "no other files are read"))
        elif rule := None if line.startswith("!") else FilterRule.parse(where, line):
            if conditions and not rule.is_exception:
                left_out.append(LeftOut(where, line, "it stands in an !#if"))
            else:
                yield rule
        elif line and not line.startswith("!") and not _HEADER.match(line):
            others["other rules"] += 1
    if others:
        text = f"{others['other rules']} rules without removeparam"
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
        except (_CannotExpressError, NotFiniteError) as error:
            self.left_out.append(LeftOut(rule.where, rule.text, str(error)))
            return
        for scope in scopes:
            if names is None:
                self.everything.append((scope, rule))
            else:
                self.group.drop(scope, names)
        self.exceptions += [(Pattern(host), names) for host in exempt]
        path = scopes[0].path if scopes else ""
        if path and not rule.url_pattern.rstrip("*").endswith(("/", "^")):
            self.left_out.append(LeftOut(rule.where, rule.text, _PREFIX, partly=True))

    def add_exception(self, rule: FilterRule) -> None:
        try:
            names = _names(rule.value())
        except (_CannotExpressError, NotFiniteError):
            names = _ALL
        scopes = _superset(rule)
        self.exceptions += [(scope, names) for scope in scopes]
        if not scopes:
            self.barred.append((rule, names))
        elif any(scope.path for scope in scopes) or rule.url_pattern.strip("|^*") != scopes[0].host:
            reason = "here it is for all of " + ", ".join(map(str, scopes))
            self.left_out.append(LeftOut(rule.where, rule.text, reason, partly=True))

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
        return compose([self.group, keeping_nothing])

    def _bar(self, rule: FilterRule, barred: list[str] | None) -> None:
        """Leave out the names that the exception *rule* is about."""
        # Its host is not known, so it may be any.
        self.group.except_for(Pattern(ANY_HOST), barred)
        self.left_out.append(LeftOut(rule.where, rule.text, _TOO_MUCH))


def _names(value: str | None) -> list[str] | None:
    """Return names and globs that *value* stands for; None: all of them.

    >>> _names("ref"), _names("/^(?:utm_|pk_kwd=)/"), _names(None)
    (['ref'], ['utm_*', 'pk_kwd'], None)
    """
    if value is None:
        return _ALL
    if value.startswith("~"):
        raise _CannotExpressError("it keeps one parameter and removes the others")
    if not value.startswith("/"):
        name = unquote(value)
        if not is_writable(name):
            raise _CannotExpressError(NOT_WRITABLE)
        return [name]
    expression, _, flags = value[1:].rpartition("/")
    if flags:
        raise _CannotExpressError("its expression has flags")
    if not expression.startswith("^"):
        raise _CannotExpressError("its expression may match anywhere in name=value")
    return [_entry(text) for text in finite_texts(_as_group(expression[1:]))]


def _as_group(expression: str) -> str:
    # ^a|b is (^a)|b, so what follows ^ must have no alternatives outside of a group.
    depth = 0
    for position, character in enumerate(expression):
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth and expression[position - 1 : position] != "\\":
            raise _CannotExpressError("^ belongs to its first alternative alone")
    return expression


def _entry(text: str) -> str:
    """Return the entry for what ``^text`` matches of ``name=value``."""
    name, equals, value = text.partition("=")
    if value or not is_writable(name):
        raise _CannotExpressError("it depends on the value, or " + NOT_WRITABLE)
    return name if equals else f"{name}*"


def _sources(rule: FilterRule) -> tuple[list[str] | None, list[str]]:
    """Return the hosts that *rule* is restricted to, or None, and those that it leaves out.

    ``domain=`` is about the page that asks; of a page that was asked for by itself, which
    is what a crawler does, it is the page's own host.
    """
    restricted: list[str] | None = None
    exempt: list[str] = []
    for modifier in rule.modifiers:
        name, _, value = modifier.partition("=")
        if name in {"removeparam", "queryprune", *_DOCUMENT}:
            continue
        if name not in {"domain", "from", "to"} or restricted is not None or exempt:
            raise _CannotExpressError(f"{modifier}: our rules know nothing but the URL")
        hosts = [host for host in value.lower().split("|") if host]
        for host in hosts:
            if not _HOST.fullmatch(host.removeprefix("~")):
                raise _CannotExpressError(f"{host}: our patterns know plain hosts alone")
        exempt = [host[1:] for host in hosts if host.startswith("~")]
        restricted = [host for host in hosts if not host.startswith("~")] or None
    return restricted, exempt


def _scopes(rule: FilterRule, restricted: Iterable[str] | None) -> Iterator[Pattern]:
    """Return scopes inside what *rule* is for."""
    pattern = rule.url_pattern
    if pattern.strip("*") == "":
        yield from map(Pattern, restricted or (ANY_HOST,))
        return
    found = _URL_PATTERN.fullmatch(pattern)
    host = found[1].lower() if found else ""
    if not found or not _HOST.fullmatch(host):
        raise _CannotExpressError("our patterns begin with a plain host, or are for all")
    if restricted is not None and not any(Pattern(r).covers(Pattern(host)) for r in restricted):
        raise _CannotExpressError("it depends on the page that asks")
    path = found[2].rstrip("*").removesuffix("^") or "/"
    if not _PLAIN_PATH.fullmatch(path):
        raise _CannotExpressError("its path is not a plain prefix")
    yield Pattern(host, path.rstrip("/"))


def _superset(rule: FilterRule) -> list[Pattern]:
    """Return scopes that hold at least what *rule* is for, or none but the one for all URLs.

    What modifiers say makes a rule narrower, so it need not be looked at.
    """
    found = _URL_PATTERN.fullmatch(rule.url_pattern)
    if found and _HOST.fullmatch(found[1].lower()) and found[2][:1] in {"", "/", "^", "?"}:
        literal = re.split(r"[*^|?$]", found[2], maxsplit=1)[0]
        is_whole = found[2][len(literal) :].startswith(("^", "?"))
        path = literal.rstrip("/") if is_whole else path_at_border(literal)
        return [Pattern(found[1].lower(), path)]
    for modifier in rule.modifiers:
        name, _, value = modifier.partition("=")
        hosts = value.lower().split("|")
        if name in {"domain", "from", "to"} and all(map(_HOST.fullmatch, hosts)):
            return [Pattern(host) for host in hosts]
    return []
