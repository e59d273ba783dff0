"""The part of the fast path that applies one policy to prefix, path and query."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.inner_loops import (
    are_filled,
    are_named,
    canonical_prefix,
    encode_path,
    encode_query,
    sort_query,
    trimmed_path,
)
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.canonicalizer.registrable_domain import suffix_names
from scrapy_urlcanon.canonicalizer.rules.authority import (
    Port,
    Scheme,
    SubdomainToPath,
    Userinfo,
    Www,
)
from scrapy_urlcanon.canonicalizer.rules.base import ParameterRule, PathRule
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.nested_url import Amp, NestedUrl, UnwrapParams
from scrapy_urlcanon.canonicalizer.rules.param_names import ParamCase
from scrapy_urlcanon.canonicalizer.rules.param_values import LowerValues
from scrapy_urlcanon.canonicalizer.rules.path import (
    DirectoryIndex,
    DuplicateSlashes,
    PathParams,
    TrailingSlash,
)
from scrapy_urlcanon.canonicalizer.rules.query import EmptyParams, RepeatedParams, SortQuery
from scrapy_urlcanon.canonicalizer.rules.separators import EscapedAmpersand, QuerySeparator
from scrapy_urlcanon.canonicalizer.rules.signed import SIGNATURE_PARAMS, is_signed
from scrapy_urlcanon.canonicalizer.rules.template import RewritePath
from scrapy_urlcanon.canonicalizer.url import Url, made_of
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scrapy_urlcanon.canonicalizer.policy import Policy

_CACHED_NAMES = 10_000
_MAX_PASSES = 4
_pair = methodcaller("partition", "=")

# In the order in which they apply, before options that drop parameters.
_SHAPING = (ParamCase, LowerValues, RewritePath)
# Their effect does not depend on later ones, and applying them again changes nothing.
_SETTLING_AUTHORITY = (Port, Scheme, Userinfo, Www)
_TRIMMING = (DuplicateSlashes, PathParams, DirectoryIndex, TrailingSlash)
_KNOWN = (
    *(PathRule, ParameterRule, SortQuery, RepeatedParams, Fragment, SubdomainToPath, *_SHAPING),
    *(Amp, NestedUrl, UnwrapParams, EscapedAmpersand, QuerySeparator),
)


class FastPolicy:
    """A policy, compiled for the fast path."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        rules = policy.rules
        self.as_scrapy = policy.as_scrapy
        self.authority_rules = [
            rule
            for rule in rules
            if rule.component == "authority" or isinstance(rule, SubdomainToPath)
        ]
        www = next((rule.value for rule in rules if isinstance(rule, Www)), None)
        self._settles_authority_at_once = www != "add" and all(
            isinstance(rule, _SETTLING_AUTHORITY) for rule in self.authority_rules
        )
        self._before_host = next((f"{r.value}://" for r in rules if isinstance(r, Scheme)), "")
        self._suffix_names = suffix_names() if www else None
        self._strips_numbered = www == "strip"
        self.path_rules = [rule for rule in rules if isinstance(rule, PathRule)]
        self.parameter_rules = [rule for rule in rules if isinstance(rule, ParameterRule)]
        self.drops_fragment = any(
            isinstance(rule, Fragment) and rule.value == "drop" for rule in rules
        )
        self._shaping = [rule for rule in rules if isinstance(rule, _SHAPING)]
        # A pair of templates is applied once to a URL, and parameters are changed one by one.
        self._settles_at_once = not self.path_rules and all(
            rule.goes_by_path for rule in rules if isinstance(rule, RewritePath)
        )
        self._indexes = _trimmed_indexes(self.path_rules)
        self._last = [rule for rule in rules if isinstance(rule, RepeatedParams)]
        # Rules for the URL as written leave most URLs unchanged.
        written = {type(rule) for rule in rules if rule.as_written}
        self.splits_at_semicolons = QuerySeparator in written
        self._decodes_ampersands = EscapedAmpersand in written
        self._unwraps_paths = NestedUrl in written
        self._unwraps_params = UnwrapParams in written
        self.unwraps_amp = any(isinstance(rule, Amp) for rule in rules)
        moves_hosts = any(isinstance(rule, SubdomainToPath) for rule in rules)
        self.is_plain = not (self._shaping or written or self.unwraps_amp or moves_hosts)
        """Whether path and query can be canonicalized separately."""
        self.is_supported = all(
            isinstance(rule, _KNOWN) or rule.component == "authority" for rule in rules
        ) and (self.is_plain or not policy.as_scrapy)
        # Shared by nearly all prefixes, which are canonical.
        self._unchanged_prefix: Prefix = (self, None, not self.path_rules, None)
        self._sort = None
        if any(isinstance(rule, SortQuery) for rule in rules):
            self._sort = sort_pairs if policy.as_scrapy else sort_query
        self._kept: set[str] = set()
        """Names of parameters that no rule drops with any value."""
        self._filled: set[str] = set()
        """These, and names of parameters that are dropped only without a value."""
        takes_value = any(isinstance(rule, EmptyParams) for rule in self.parameter_rules)
        self._stays, self._staying = (
            (are_filled, self._filled) if takes_value else (are_named, self._kept)
        )
        self._signs: set[str] = set()
        """Names of parameters that may mark a signed URL."""
        self._rules_for_value: dict[str, tuple[ParameterRule, ...] | None] = {}

    def query(self, query: str) -> str | None:
        """Return *query*, which is normalized, under the rules.

        None if a parameter would be dropped from a signed URL, which only some rules may do.
        """
        if self.parameter_rules and not self._stays(query, self._staying):
            # Each parameter has exactly one `=`.
            names = query.replace("=", "&").split("&")[::2]
            pieces = self._without_dropped(query.split("&"), names)
            if not pieces:
                return None if pieces is None or self._spares(names) else ""
            query = "&".join(pieces)
        if "&" in query:
            if self._last:
                query = "&".join(self._last[0].apply(_without_authority("/", query)).query or ())
            if self._sort:
                query = self._sort(query)
        return query

    def _spares(self, names: list[str]) -> bool:
        """Tell whether a query stays as it is although all of its parameters could be dropped."""
        dropped = self._rules_for_value
        return any(rule.spares_last for rule in self.parameter_rules) and not all(
            name and dropped.get(name, ()) is None for name in names
        )

    def _without_dropped(self, pieces: list[str], names: list[str]) -> list[str] | None:
        """Return the *pieces*, parameters with *names*, that are kept; None for a signed URL."""
        if len(self._kept) + len(self._rules_for_value) >= _CACHED_NAMES:
            for remembered in (self._kept, self._filled, self._signs):
                remembered.clear()
            self._rules_for_value.clear()
        known, kept_names = self._rules_for_value, self._kept
        kept = []
        for name, piece in zip(names, pieces, strict=True):
            if name not in kept_names:
                rules = known[name] if name in known else self._learn(name)
                if rules is None:
                    continue
                if rules:
                    decoded = decode_query_text(name), decode_query_text(piece.partition("=")[2])
                    if any(rule.drops(*decoded) is not None for rule in rules):
                        continue
            kept.append(piece)
        if len(kept) < len(pieces) and not self._signs.isdisjoint(names) and is_signed(pieces):
            return None
        return kept

    def _learn(self, name: str) -> tuple[ParameterRule, ...] | None:
        """Return the rules that depend on the value; None if *name* is dropped with any value."""
        if name.lower() in SIGNATURE_PARAMS:
            self._signs.add(name)
        decoded = decode_query_text(name)
        by_value = tuple(rule for rule in self.parameter_rules if not rule.by_name(decoded))
        is_dropped = any(
            rule.drops(decoded, "") is not None
            for rule in self.parameter_rules
            if rule not in by_value
        )
        rules = None if is_dropped else by_value
        if rules is not None and all(isinstance(rule, EmptyParams) for rule in rules):
            self._filled.add(name)
        if rules == ():
            self._kept.add(name)
        else:
            self._rules_for_value[name] = rules
        return rules

    def path(self, path: str) -> str | None:
        """Return *path* under the rules; None if the result must be percent-encoded."""
        trimmed = None if self._indexes is None else trimmed_path(path, self._indexes)
        if trimmed is not None:
            return trimmed
        for _ in range(_MAX_PASSES):
            changed = path
            for rule in self.path_rules:
                changed = rule.path(changed)
            if changed == path:
                return path
            if not _is_settled_path(changed):
                return None
            path = changed
        return None

    def _may_act_on_written(self, rest: str) -> bool:
        """Tell whether a rule for URLs as written may change one with this *rest* after the host.

        Splitting parameters at semicolons does not count.
        """
        path, _, query = rest.partition("?")
        return (
            (self._unwraps_paths and "//" in path)
            or (self._decodes_ampersands and ";" in query)
            or (self._unwraps_params and ("/" in query or "%2f" in query.lower()))
        )

    def settle(
        self, path: str, query: str, written: str, *, is_conditional: bool = False
    ) -> tuple[str, str] | None:
        """Return *path* and *query* under all rules together; None leaves it to the reference.

        :param written: the URL that they were read from.
        :param is_conditional: whether the policy may change after each pass.
        """
        if self._may_act_on_written(written):
            return None
        passes = 1 if is_conditional else _MAX_PASSES
        for _ in range(passes + 1):
            changed, changed_query = path, query
            for rule in self.path_rules:
                changed = rule.path(changed)
            if self._shaping and (changed == path or _is_settled_path(changed)):
                before = url = _without_authority(changed, query)
                try:
                    for shaping in self._shaping:
                        url = shaping.apply(url)
                except UnparsableUrlError:
                    return None
                if url is not before:
                    changed, changed_query = url.path, "&".join(url.query or ())
                    if changed_query != query and encode_query(changed_query) != changed_query:
                        return None
            if changed != path and not _is_settled_path(changed):
                return None
            kept = self.query(changed_query) if changed_query else ""
            if kept is None:
                return None
            if self._settles_at_once or (kept == query and changed == path):
                return changed, kept
            path, query = changed, kept
        return None

    def prefix(self, text: str, canonical: str) -> Prefix:
        """Return what is known of the prefix *text*, whose canonical form is *canonical*."""
        if canonical == text:
            return self._unchanged_prefix
        return self, canonical, False, None

    def plain_prefix(self, text: str, ends: set[str]) -> Prefix | None:
        """Return what is known of the prefix *text*, a scheme and a plain host.

        None for other prefixes, for a host under one of *ends*, and if this policy takes more than
        one pass. The last two labels of the host stay.
        """
        if not self._settles_authority_at_once:
            return None
        canonical = canonical_prefix(
            text, ends, self._before_host, self._suffix_names, self._strips_numbered
        )
        if canonical is None:
            return None
        return self._unchanged_prefix if canonical is text else (self, canonical, False, None)

    def authority(self, url: Url) -> Url | None:
        """Return *url* with its authority under the rules."""
        for _ in range(_MAX_PASSES):
            changed = url
            for rule in self.authority_rules:
                changed = rule.apply(changed)
            if self._settles_authority_at_once or changed == url:
                return changed
            url = changed
        return None


Settle: TypeAlias = "Callable[[str, int, str, str], str | None]"
"""Canonicalizes a URL, given the start of its path, its path and its query."""
# A tuple: each host has one, and an instance of a class takes seven times as long.
Prefix: TypeAlias = "tuple[FastPolicy | None, str | None, bool, Settle | None]"
"""What is known of the part of a URL before the path: the policy; the canonical prefix, None if it
is the same; whether URLs with a plain path and no query are canonical; and, in place of a policy, a
function for path and query if they select the policy, or are changed together."""


def _trimmed_indexes(rules: list[PathRule]) -> frozenset[str] | None:
    """Return the index names with which :func:`.trimmed_path` has the effect of all *rules*.

    None if it has not. Repeated slashes are left to the rules, and plain paths have no parameters.
    """
    index = next((rule for rule in rules if isinstance(rule, DirectoryIndex)), None)
    strips = any(isinstance(rule, TrailingSlash) and rule.value == "strip" for rule in rules)
    if not strips or not all(isinstance(rule, _TRIMMING) for rule in rules):
        return None
    return index.exact_names if index else frozenset()


def sort_pairs(query: str) -> str:
    """Return *query* with its parameters in the order of their names and values, as in Scrapy.

    >>> sort_pairs("a-b=&a="), sort_query("a-b=&a=")
    ('a=&a-b=', 'a-b=&a=')
    """
    return "&".join(sorted(query.split("&"), key=_pair))


def _is_settled_path(path: str) -> bool:
    """Tell whether the normalizations leave *path*, the result of rules, unchanged."""
    return encode_path(path) == path and "/." not in path


def _without_authority(path: str, query: str) -> Url:
    return made_of(("", None, "", None, path, tuple(query.split("&")) if query else None, None))
