"""The fast path: the canonical form of the common URLs without parsing them.

Nearly all URLs of a crawl are spelled plainly: ``http://`` or ``https://``, a host, a path
without escapes, dot segments or ``;``, a query. For such a URL the always-on normalizations
of the path have nothing to do, those of the rest can be read off its text, and what stands
before the path is the same for all URLs of a host: it is parsed once.

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
    CANONICAL_QUERY_TEXT,
    decode_query_text,
    encode_parameter,
    encode_path,
)
from scrapy_urlcanon.canonicalizer.rules.base import ParameterRule, parameter
from scrapy_urlcanon.canonicalizer.rules.fragment import Fragment
from scrapy_urlcanon.canonicalizer.rules.query import SortQuery
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.url import Url
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.policy import Policies, Policy

_CACHED_PREFIXES = 10_000
_CACHED_POLICIES = 2_000
_CACHED_VERDICTS = 10_000
_MAX_PASSES = 4

# Path, query and fragment of a plain URL. In the path nothing needs to be encoded, and it
# has no parameters; the others are free of what the URL parser drops or refuses.
_PLAIN_PATH = r"/[A-Za-z0-9\-._~!$&'()*+,=:@/%]*"
_plain = re.compile(rf"({_PLAIN_PATH})?(?:\?([!-\"$-~]*))?(#[!-~]*)?").fullmatch
_is_plain_path = re.compile(_PLAIN_PATH).fullmatch

# Every parameter has a name, an `=` and a value, both in their one spelling.
_PARAMETER = f"{CANONICAL_QUERY_TEXT}={CANONICAL_QUERY_TEXT}"
_is_canonical_query = re.compile(f"{_PARAMETER}(?:&{_PARAMETER})*").fullmatch

# Scheme and host that the host parser of the WHATWG URL standard leaves as they are: lower
# case, no port, no userinfo, no Punycode, and a last label that cannot be a number.
_plain_prefix = re.compile(r"(https?)://((?:(?!xn--)[a-z0-9_\-]+\.)*(?!xn--)[a-z]+)").fullmatch


class FastPolicy:
    """What the fast path needs to know of a policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        rules = policy.rules
        self.authority_rules = [rule for rule in rules if rule.component == "authority"]
        self.path_rules = [rule for rule in rules if rule.component == "path"]
        self.parameter_rules = [rule for rule in rules if isinstance(rule, ParameterRule)]
        self.sorts = any(isinstance(rule, SortQuery) for rule in rules)
        self.drops_fragment = any(
            isinstance(rule, Fragment) and rule.value == "drop" for rule in rules
        )
        self.is_supported = not policy.as_scrapy and all(
            isinstance(rule, (ParameterRule, SortQuery, Fragment))
            or rule.component in {"authority", "path"}
            for rule in rules
        )
        self._verdicts: dict[str, bool | None] = {}

    def query(self, pieces: list[str]) -> list[str] | None:
        """Return what the rules make of *pieces*, all of which are in their one spelling.

        None where a parameter would be dropped from a signed URL: not all rules do that.
        """
        if self.parameter_rules:
            verdicts = self._verdicts
            kept = []
            for piece in pieces:
                name = piece.partition("=")[0]
                drops = verdicts[name] if name in verdicts else self._verdict(name)
                if drops is None:
                    drops = self._drops(*parameter(piece))
                if not drops:
                    kept.append(piece)
            if len(kept) < len(pieces) and is_signed(pieces):
                return None
            pieces = kept
        if self.sorts:
            pieces.sort()
        return pieces

    def _verdict(self, name: str) -> bool | None:
        """Tell whether parameters called *name* are dropped; None if it depends on the value."""
        decoded = decode_query_text(name)
        verdict: bool | None = False
        for rule in self.parameter_rules:
            if not rule.by_name(decoded):
                verdict = None
            elif rule.drops(decoded, "") is not None:
                verdict = True
                break
        if len(self._verdicts) >= _CACHED_VERDICTS:
            self._verdicts.clear()
        self._verdicts[name] = verdict
        return verdict

    def _drops(self, name: str, value: str) -> bool:
        return any(rule.drops(name, value) is not None for rule in self.parameter_rules)

    def path(self, path: str) -> str | None:
        """Return what the rules make of *path*, or None if that is no plain path."""
        url = Url("", None, "", None, path, None, None)
        for _ in range(_MAX_PASSES):
            changed = url
            for rule in self.path_rules:
                changed = rule.apply(changed)
            if changed == url:
                return url.path
            if not _is_plain_path(changed.path) or "/." in changed.path:
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

    base: Url
    """Normalized, with the path ``/``."""
    policy: FastPolicy | None
    """The policy for all of these URLs; None where it depends on path and query."""
    canonical: str
    """What stands there in the canonical URLs, under that policy."""


class FastPath:
    """Canonicalizes the plain URLs under the rules that it supports."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._prefixes: dict[str, Prefix | None] = {}
        self._fast_policy = lru_cache(_CACHED_POLICIES)(FastPolicy)

    def canonical(self, url: str) -> str | None:
        """Return the canonical form of *url*, or None to leave it to the reference."""
        # Behind the slashes of the scheme there is at least one letter of a host.
        end = url.find("/", 8)
        if end < 0:
            end = len(url)
        text = url[:end]
        prefix = self._prefixes[text] if text in self._prefixes else self._learn(text)
        plain = _plain(url, end)
        if prefix is None or plain is None:
            return None
        path, query, fragment = plain.groups()
        if not path:
            path = "/"
        elif "%" in path:
            path = encode_path(path)
        if "/." in path:
            return None
        pieces = _pieces(query) if query else []
        policy = prefix.policy
        if policy is None:
            return self._conditional(prefix, path, pieces, fragment)
        if fragment is not None and not policy.drops_fragment:
            return None
        if policy.path_rules:
            canonical_path = policy.path(path)
            if canonical_path is None:
                return None
            path = canonical_path
        if pieces:
            kept = policy.query(pieces)
            if kept is None:
                return None
            pieces = kept
        return f"{prefix.canonical}{path}?{'&'.join(pieces)}" if pieces else prefix.canonical + path

    def _conditional(
        self, prefix: Prefix, path: str, pieces: list[str], fragment: str | None
    ) -> str | None:
        """Return the canonical form under the policy that path and query select."""
        url = prefix.base._replace(path=path, query=tuple(pieces) or None)
        policy = self._fast_policy(self._policies.for_url(url))
        if not policy.is_supported or (fragment is not None and not policy.drops_fragment):
            return None
        authority = policy.authority(url)
        canonical_path = policy.path(path)
        kept = policy.query(pieces)
        if authority is None or canonical_path is None or kept is None:
            return None
        canonical = authority._replace(path=canonical_path, query=tuple(kept) or None)
        # The rules that hold for the canonical URL may be others: the reference follows up.
        if canonical != url and self._policies.for_url(canonical) is not policy.policy:
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
        plain = _plain_prefix(text)
        if plain:
            base = Url(plain[1], None, plain[2], None, "/", None, None)
        else:
            try:
                base = normalize(parse(text + "/", []), [])
            except UnparsableUrlError:
                return None
            if base.path != "/":
                return None
        host = self._policies.for_host(base.host)
        if host.only is None:
            return Prefix(base, None, "")
        policy = self._fast_policy(host.only)
        canonical = policy.authority(base) if policy.is_supported else None
        if canonical is None or (
            canonical.host != base.host
            and self._policies.for_host(canonical.host).only is not host.only
        ):
            return None
        return Prefix(base, policy, str(canonical)[:-1])


def _pieces(query: str) -> list[str]:
    """Return the parameters of *query*, all of them in their one spelling."""
    if _is_canonical_query(query):
        return query.split("&")
    return [
        encode_parameter(piece if "=" in piece else piece + "=")
        for piece in query.split("&")
        if piece
    ]
