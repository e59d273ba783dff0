"""The fast path: the canonical form of the common URLs without parsing them.

Nearly all URLs of a crawl are spelled plainly: ``http://`` or ``https://``, a host, a path
without escapes, dot segments or ``;``, a query. For such a URL the always-on normalizations
have nothing to do behind the host, and what stands before the path is the same for all URLs
of a host: it is parsed once. Most come back as they are, and are not even copied.

What is not plain, and what the rules make hard, gets None: the reference implementation,
:class:`~scrapy_urlcanon.canonicalizer.canonicalizer.Canonicalizer`, decides. It stays the
truth, and a differential test holds the two together.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.percent_encoding import (
    PLAIN_QUERY_TEXT,
    decode_query_text,
    encode_path,
    encode_query,
)
from scrapy_urlcanon.canonicalizer.rules.base import ParameterRule
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.query import SortQuery
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.url import Url, split
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.policy import Policies, Policy

_CACHED_PREFIXES = 10_000
_CACHED_POLICIES = 2_000
_CACHED_NAMES = 10_000
_MAX_PASSES = 4

# A plain path: nothing in it is or needs to be encoded, and it has no parameters.
_PATH_TEXT = r"A-Za-z0-9\-._~!$&'()*+,=:@/"
_plain_path = re.compile(f"(?:/[{_PATH_TEXT}]*)?").match
# A plain query: every parameter has a name, an `=` and a value, and nothing in them is or
# needs to be encoded.
_PARAMETER = f"{PLAIN_QUERY_TEXT}={PLAIN_QUERY_TEXT}"
_is_plain_query = re.compile(f"{_PARAMETER}(?:&{_PARAMETER})*").fullmatch
# Path, query and fragment that are to be encoded, but hold nothing that the URL parser
# drops or refuses. In a path still nothing may need to be encoded that is not.
_ENCODED_PATH = f"/[{_PATH_TEXT}%]*"
_is_encoded_path = re.compile(_ENCODED_PATH).fullmatch
_encoded = re.compile(rf"({_ENCODED_PATH})?(?:\?([!-\"$-~]*))?(#[!-~]*)?").fullmatch

# Scheme and host that the host parser of the WHATWG URL standard leaves as they are: lower
# case, no port, no userinfo, and a last label that cannot be a number. Nor may it have
# empty labels or Punycode.
_plain_prefix = re.compile(r"https?://((?:[a-z0-9_\-][a-z0-9_\-.]*\.)?[a-z]+)").fullmatch


class FastPolicy:
    """What the fast path needs to know of a policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        rules = policy.rules
        self.as_scrapy = policy.as_scrapy
        self.authority_rules = [rule for rule in rules if rule.component == "authority"]
        self.path_rules = [rule for rule in rules if rule.component == "path"]
        self.parameter_rules = [rule for rule in rules if isinstance(rule, ParameterRule)]
        self.sorts = any(isinstance(rule, SortQuery) for rule in rules)
        self.drops_fragment = any(
            isinstance(rule, Fragment) and rule.value == "drop" for rule in rules
        )
        self.is_supported = all(
            isinstance(rule, (ParameterRule, SortQuery, Fragment))
            or (rule.component in {"authority", "path"} and not rule.as_written)
            for rule in rules
        )
        # Scrapy sorts pairs, we sort text: of `a=` and `a-b=` another one comes first.
        self.unchanged_prefix = Prefix(self, None, not self.path_rules)
        """For all prefixes that are canonical: nearly all are, so none has one of its own."""
        self._sort_key = _pair if policy.as_scrapy else None
        self._kept: set[str] = set()
        self._rules_for_value: dict[str, tuple[ParameterRule, ...] | None] = {}

    def query(self, query: str) -> str | None:
        """Return what the rules make of *query*, which is in its one spelling.

        None where a parameter would be dropped from a signed URL: not all rules do that.
        """
        pieces = query.split("&")
        if self.parameter_rules:
            names = self._kept
            kept = [
                piece
                for piece in pieces
                if piece.partition("=")[0] in names or not self._drops(piece)
            ]
            if len(kept) < len(pieces) and is_signed(pieces):
                return None
            pieces = kept
        if self.sorts:
            pieces.sort(key=self._sort_key)
        return "&".join(pieces)

    def _drops(self, piece: str) -> bool:
        """Tell whether *piece* is dropped, and remember what its name alone decides."""
        name, _, value = piece.partition("=")
        known = self._rules_for_value
        rules = known[name] if name in known else self._learn(name)
        if not rules:
            return rules is None
        decoded = decode_query_text(name), decode_query_text(value)
        return any(rule.drops(*decoded) is not None for rule in rules)

    def _learn(self, name: str) -> tuple[ParameterRule, ...] | None:
        """Return the rules that a value decides for, or None where *name* is dropped anyway."""
        decoded = decode_query_text(name)
        by_value = tuple(rule for rule in self.parameter_rules if not rule.by_name(decoded))
        is_dropped = any(
            rule.drops(decoded, "") is not None
            for rule in self.parameter_rules
            if rule not in by_value
        )
        rules = None if is_dropped else by_value
        if len(self._kept) + len(self._rules_for_value) >= _CACHED_NAMES:
            self._kept.clear()
            self._rules_for_value.clear()
        if rules == ():
            self._kept.add(name)
        else:
            self._rules_for_value[name] = rules
        return rules

    def path(self, path: str) -> str | None:
        """Return what the rules make of *path*, or None if that is to be encoded."""
        url = Url("", None, "", None, path, None, None)
        for _ in range(_MAX_PASSES):
            changed = url
            for rule in self.path_rules:
                changed = rule.apply(changed)
            if changed is url or changed == url:
                return url.path
            if not _is_encoded_path(changed.path) or "/." in changed.path:
                return None
            url = changed
        return None

    def authority(self, url: Url) -> Url | None:
        """Return what the rules make of what stands before the path of *url*."""
        for _ in range(_MAX_PASSES):
            changed = url
            for rule in self.authority_rules:
                changed = rule.apply(changed)
            if changed == url:
                return url
            url = changed
        return None


class Prefix(NamedTuple):
    """What stands before the path, for all URLs in which the same does."""

    policy: FastPolicy
    canonical: str | None
    """What stands there in the canonical URLs; None where that is the same."""
    keeps_paths: bool
    """Whether URLs with a plain path and nothing else are canonical."""


class ConditionalPrefix(NamedTuple):
    """What stands before the path, where the policy depends on path and query."""

    base: Url
    """Normalized, with the path ``/``."""
    text: str
    """The same without the path."""
    keeps_paths: bool = False


class FastPath:
    """Canonicalizes the plain URLs under the rules that it supports."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._prefixes: dict[str, Prefix | ConditionalPrefix | None] = {}
        self._fast_policy = lru_cache(_CACHED_POLICIES)(FastPolicy)

    def canonical(self, url: str) -> str | None:
        """Return the canonical form of *url*, or None to leave it to the reference.

        Where nothing changes that is *url* itself, no copy of it.
        """
        # Behind the slashes of the scheme there is at least one letter of a host.
        start = url.find("/", 8)
        if start < 0:
            start = len(url)
        text = url[:start]
        prefix = self._prefixes[text] if text in self._prefixes else self._learn(text)
        if prefix is None:
            return None
        end = _plain_path(url, start).end()  # type: ignore[union-attr]
        is_plain, has_fragment = True, False
        if end == len(url) > start:
            if prefix.keeps_paths and "/." not in url:
                return url
            path, query = url[start:], ""
        elif start < end and "%" not in url and url[end] == "?" and _is_plain_query(url, end + 1):
            path, query = url[start:end], url[end + 1 :]
        else:
            read = _read_encoded(url, start)
            if read is None:
                return None
            is_plain, (path, query, has_fragment) = False, read
        if "/." in path:
            return None
        if isinstance(prefix, ConditionalPrefix):
            return self._conditional(prefix, path, query, has_fragment=has_fragment)
        policy, before, _ = prefix
        if (has_fragment and not policy.drops_fragment) or (policy.as_scrapy and not is_plain):
            return None
        canonical_path = policy.path(path) if policy.path_rules else path
        canonical_query = policy.query(query) if query else ""
        if canonical_path is None or canonical_query is None:
            return None
        if is_plain and canonical_query == query and canonical_path == path and before is None:
            return url
        return _join(before or text, canonical_path, canonical_query)

    def _conditional(
        self, prefix: ConditionalPrefix, path: str, query: str, *, has_fragment: bool
    ) -> str | None:
        """Return the canonical form under the policy that path and query select."""
        url = _with_path(prefix.base, path, query)
        policy = self._fast_policy(self._policies.for_url(url))
        if (
            not policy.is_supported
            or policy.as_scrapy
            or (has_fragment and not policy.drops_fragment)
        ):
            return None
        authority = policy.authority(prefix.base) if policy.authority_rules else prefix.base
        canonical_path = policy.path(path) if policy.path_rules else path
        canonical_query = policy.query(query) if query else ""
        if authority is None or canonical_path is None or canonical_query is None:
            return None
        if canonical_query == query and canonical_path == path and authority == prefix.base:
            return _join(prefix.text, path, query)
        canonical = _with_path(authority, canonical_path, canonical_query)
        # The rules that hold for the canonical URL may be others: the reference follows up.
        if self._policies.for_url(canonical) is not policy.policy:
            return None
        return str(canonical)

    def _learn(self, text: str) -> Prefix | ConditionalPrefix | None:
        """Return what is to be known of the prefix *text*, and remember it."""
        prefix = None if "?" in text or "#" in text else self._parse(text)
        if len(self._prefixes) >= _CACHED_PREFIXES:
            self._prefixes.clear()
        self._prefixes[text] = prefix
        return prefix

    def _parse(self, text: str) -> Prefix | ConditionalPrefix | None:
        plain_host = _plain_host(text)
        base = None if plain_host else _base(text)
        host = plain_host or (base and base.host)
        if host is None:
            return None
        only = self._policies.for_host(host).only
        if only is None:
            base = base or split(text + "/")
            return ConditionalPrefix(base, str(base)[:-1])
        policy = self._fast_policy(only)
        if not policy.is_supported or (policy.as_scrapy and plain_host is None):
            return None
        if plain_host and not policy.authority_rules:
            return policy.unchanged_prefix
        canonical = policy.authority(base or split(text + "/"))
        if canonical is None or (
            canonical.host != host and self._policies.for_host(canonical.host).only is not only
        ):
            return None
        before = str(canonical)[:-1]
        if before == text:
            return policy.unchanged_prefix
        return Prefix(policy, before, keeps_paths=False)


def _plain_host(prefix: str) -> str | None:
    """Return the host of *prefix*, where the host parser leaves it as it is."""
    match = _plain_prefix(prefix)
    return None if match is None or ".." in prefix or "xn--" in prefix else match[1]


def _base(prefix: str) -> Url | None:
    """Return the URL with the path ``/`` and *prefix*, if there is one."""
    try:
        url = normalize(parse(prefix + "/", []), [])
    except UnparsableUrlError:
        return None
    return url if url.path == "/" else None


def _read_encoded(url: str, start: int) -> tuple[str, str, bool] | None:
    """Return path and query of *url* in their one spelling, and whether it has a fragment."""
    match = _encoded(url, start)
    if match is None:
        return None
    path, query, fragment = match.groups()
    return (
        encode_path(path) if path and "%" in path else path or "/",
        encode_query(query) if query else "",
        fragment is not None,
    )


def _with_path(url: Url, path: str, query: str) -> Url:
    pieces = tuple(query.split("&")) if query else None
    return Url(url.scheme, url.userinfo, url.host, url.port, path, pieces, None)


def _join(before: str, path: str, query: str) -> str:
    return f"{before}{path}?{query}" if query else before + path


def _pair(piece: str) -> tuple[str, str, str]:
    """Return what Scrapy's canonicalization sorts a *piece* without escapes by."""
    return piece.partition("=")
