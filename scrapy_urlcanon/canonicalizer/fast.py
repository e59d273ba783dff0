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
    decode_query_text,
    encode_path,
    encode_query,
)
from scrapy_urlcanon.canonicalizer.rules.base import ParameterRule, PathRule
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.query import SortQuery
from scrapy_urlcanon.canonicalizer.rules.signed import SIGNATURE_PARAMS, is_signed
from scrapy_urlcanon.canonicalizer.url import Url
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.policy import Policies, Policy

_CACHED_PREFIXES = 10_000
_CACHED_POLICIES = 2_000
_CACHED_NAMES = 10_000
_MAX_PASSES = 4

# A plain path: nothing in it is or needs to be encoded, and it has no parameters.
_PATH_TEXT = r"A-Za-z0-9\-._~!$&'()*+,=:@/"
_not_plain = re.compile(f"[^{_PATH_TEXT}]").search
# Path, query and fragment that are to be encoded, but hold nothing that the URL parser
# drops or refuses. In a path still nothing may need to be encoded that is not.
_ENCODED_PATH = f"/[{_PATH_TEXT}%]*"
_is_encoded_path = re.compile(_ENCODED_PATH).fullmatch
_is_visible = re.compile(r"[!-~]*").fullmatch
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
        self.path_rules = [rule for rule in rules if isinstance(rule, PathRule)]
        self.parameter_rules = [rule for rule in rules if isinstance(rule, ParameterRule)]
        self.sorts = any(isinstance(rule, SortQuery) for rule in rules)
        self.drops_fragment = any(
            isinstance(rule, Fragment) and rule.value == "drop" for rule in rules
        )
        self.is_supported = all(
            isinstance(rule, (PathRule, ParameterRule, SortQuery, Fragment))
            or (rule.component == "authority" and not rule.as_written)
            for rule in rules
        )
        # Scrapy sorts pairs, we sort text: of `a=` and `a-b=` another one comes first.
        self.unchanged_prefix = Prefix(self, None, not self.path_rules)
        """For all prefixes that are canonical: nearly all are, so none has one of its own."""
        self._spares_last = any(rule.spares_last for rule in self.parameter_rules)
        self._sort_key = _pair if policy.as_scrapy else None
        self._kept: set[str] = set()
        """Names of parameters that no rule drops, whatever their value."""
        self._signs: set[str] = set()
        """Names of parameters that a signed URL may be told by."""
        self._rules_for_value: dict[str, tuple[ParameterRule, ...] | None] = {}

    def query(self, query: str) -> str | None:
        """Return what the rules make of *query*, which is in its one spelling.

        None where a parameter would be dropped from a signed URL: not all rules do that.
        """
        if self.parameter_rules:
            # Each parameter has one `=`.
            names = query.replace("=", "&").split("&")[::2]
            if not self._kept.issuperset(names):
                pieces = self._without_dropped(query.split("&"), names)
                if not pieces:
                    return None if pieces is None or self._spares(names) else ""
                query = "&".join(pieces)
        if self.sorts and "&" in query:
            pieces = query.split("&")
            pieces.sort(key=self._sort_key)
            query = "&".join(pieces)
        return query

    def _spares(self, names: list[str]) -> bool:
        """Tell whether the parameters with *names*, all dropped, may be left where none stays."""
        dropped = self._rules_for_value
        return self._spares_last and not all(
            name and dropped.get(name, ()) is None for name in names
        )

    def _without_dropped(self, pieces: list[str], names: list[str]) -> list[str] | None:
        """Return which *pieces*, the parameters with *names*, are kept; None if it is signed."""
        if len(self._kept) + len(self._rules_for_value) >= _CACHED_NAMES:
            self._kept.clear()
            self._signs.clear()
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
        """Return the rules that a value decides for, or None where *name* is dropped anyway."""
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
        if rules == ():
            self._kept.add(name)
        else:
            self._rules_for_value[name] = rules
        return rules

    def path(self, path: str) -> str | None:
        """Return what the rules make of *path*, or None if that is to be encoded."""
        for _ in range(_MAX_PASSES):
            changed = path
            for rule in self.path_rules:
                changed = rule.path(changed)
            if changed == path:
                return path
            if not _is_encoded_path(changed) or "/." in changed:
                return None
            path = changed
        return None

    def authority(self, url: Url) -> Url | None:
        """Return what the rules make of what stands before the path of *url*."""
        for _ in range(_MAX_PASSES):
            changed = url
            for rule in self.authority_rules:
                changed = rule.apply(changed)
            if changed is url or changed == url:
                return url
            url = changed
        return None


class Prefix(NamedTuple):
    """What stands before the path, for all URLs in which the same does."""

    policy: FastPolicy | None
    """None where it depends on path and query."""
    canonical: str | None
    """What stands there in the canonical URLs; None where that is the same."""
    keeps_paths: bool
    """Whether URLs with a plain path and nothing else are canonical."""
    base: Url | None = None
    """Normalized, with the path ``/``; None where there is a policy."""


class FastPath:
    """Canonicalizes the plain URLs under the rules that it supports."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._prefixes: dict[str, Prefix | None] = {}
        self._fast_policy = lru_cache(_CACHED_POLICIES)(FastPolicy)

    def use(self, policies: Policies) -> None:
        """Canonicalize under *policies* from now on, which may be those of before, changed."""
        self._policies = policies
        self._prefixes.clear()
        self._fast_policy.cache_clear()

    def canonical(self, url: str) -> str | None:
        """Return the canonical form of *url*, or None to leave it to the reference.

        Where nothing changes that is *url* itself, no copy of it.
        """
        # Behind the slashes of the scheme there is at least one letter of a host.
        start = url.find("/", 8)
        if start < 0:
            start = len(url)
        text = url[:start]
        prefix = self._prefixes.get(text)
        if prefix is None:
            prefix = None if text in self._prefixes else self._learn(text)
            if prefix is None:
                return None
        other = _not_plain(url, start)
        has_fragment = False
        if other is None and start < len(url):
            if prefix.keeps_paths and "/." not in url:
                return url
            path, query, is_spelled_so = url[start:], "", True
        elif (
            other and other[0] == "?" and other.start() > start and url.isascii() and "#" not in url
        ):
            path, _, written = url[start:].partition("?")
            query = encode_query(written)
            is_spelled_so = query == written != ""
            if not (is_spelled_so or _is_visible(written)):
                return None
        else:
            read = _read_encoded(url, start)
            if read is None:
                return None
            is_spelled_so, (path, query, has_fragment) = False, read
        if "/." in path:
            return None
        policy, before, _, base = prefix
        if policy is None:
            return base and self._conditional(base, path, query, has_fragment=has_fragment)
        if (has_fragment and not policy.drops_fragment) or (
            policy.as_scrapy and ("%" in url or not is_spelled_so)
        ):
            return None
        canonical_path = policy.path(path) if policy.path_rules else path
        canonical_query = policy.query(query) if query else ""
        if canonical_path is None or canonical_query is None:
            return None
        if is_spelled_so and canonical_query == query and canonical_path == path and not before:
            return url
        if canonical_query:
            return f"{before or text}{canonical_path}?{canonical_query}"
        return f"{before or text}{canonical_path}"

    def _conditional(self, base: Url, path: str, query: str, *, has_fragment: bool) -> str | None:
        """Return the canonical form under the policy that path and query select."""
        url = _with_path(base, path, query)
        policy = self._fast_policy(self._policies.for_url(url))
        if (
            not policy.is_supported
            or policy.as_scrapy
            or (has_fragment and not policy.drops_fragment)
        ):
            return None
        authority = policy.authority(base) if policy.authority_rules else base
        canonical_path = policy.path(path) if policy.path_rules else path
        canonical_query = policy.query(query) if query else ""
        if authority is None or canonical_path is None or canonical_query is None:
            return None
        if canonical_query == query and canonical_path == path and authority == base:
            return str(url)
        canonical = _with_path(authority, canonical_path, canonical_query)
        # The rules that hold for the canonical URL may be others: the reference follows up.
        if self._policies.for_url(canonical) is not policy.policy:
            return None
        return str(canonical)

    def _learn(self, text: str) -> Prefix | None:
        """Return what is to be known of the prefix *text*, and remember it."""
        prefix = None if "?" in text or "#" in text else self._parse(text)
        if len(self._prefixes) >= _CACHED_PREFIXES:
            self._prefixes.clear()
        self._prefixes[text] = prefix
        return prefix

    def _parse(self, text: str) -> Prefix | None:
        plain_host = _plain_host(text)
        base = None if plain_host else _base(text)
        host = plain_host or (base and base.host)
        if host is None:
            return None
        only = self._policies.for_host(host).only
        policy = self._fast_policy(only) if only else None
        if policy:
            if not policy.is_supported or (policy.as_scrapy and plain_host is None):
                return None
            if plain_host and not policy.authority_rules:
                return policy.unchanged_prefix
        if base is None:
            base = Url(text.partition(":")[0], None, host, None, "/", None, None)
        if policy is None:
            return Prefix(None, None, keeps_paths=False, base=base)
        canonical = policy.authority(base)
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


def _pair(piece: str) -> tuple[str, str, str]:
    """Return what Scrapy's canonicalization sorts a *piece* without escapes by."""
    return piece.partition("=")
