"""The fast path: canonicalizes common URLs without parsing them.

Nearly all URLs of a crawl are plain: ``http://`` or ``https://``, a host, a path without
percent-encoding, dot segments or ``;``, and a query. In such a URL the always-on normalizations
change nothing after the host. The part before the path is the same for all URLs of a host, so it is
parsed once. Most URLs are canonical, and are returned without a copy.

For other URLs, and under rules that it does not support, the fast path returns None, and the
reference implementation, :class:`~scrapy_urlcanon.canonicalizer.canonicalizer.Canonicalizer`, is
used. A differential test checks that both agree.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from scrapy_urlcanon.canonicalizer.fast_policy import FastPolicy, Prefix
from scrapy_urlcanon.canonicalizer.inner_loops import encode_query, plain_host, read
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.url import Url, made_of
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.policy import Policies

_CACHED_PREFIXES = 10_000
_CACHED_POLICIES = 2_000
_LEFT_TO_REFERENCE: Prefix = (None, None, False, None)


class Joint:
    """A prefix under rules that take path and query together, or the URL as written.

    :param canonical: the prefix of the canonical URLs.
    :param start: the beginning of the path of canonical URLs: a segment that was a subdomain.
    """

    __slots__ = ("canonical", "policy", "start")

    def __init__(self, policy: FastPolicy, canonical: str, start: str) -> None:
        self.policy = policy
        self.canonical = canonical
        self.start = start

    def settle(self, url: str, start: int, path: str, query: str) -> str | None:
        """Return the canonical form of *url*, whose *path* begins at *start*."""
        if "#" in url and not self.policy.drops_fragment:
            return None
        written = url[start:]
        if self.policy.splits_at_semicolons and ";" in written:
            if "#" in written:
                return None
            query = encode_query(written.partition("?")[2].replace(";", "&"))
        settled = self.policy.settle(self.start + path, query, written)
        if settled is None:
            return None
        path, query = settled
        canonical = f"{self.canonical}{path}?{query}" if query else f"{self.canonical}{path}"
        return url if canonical == url else canonical


class FastPath:
    """Canonicalizes plain URLs under the rules that it supports."""

    def __init__(self, policies: Policies) -> None:
        self._prefixes: dict[str, Prefix] = {}
        self._fast_policy = lru_cache(_CACHED_POLICIES)(FastPolicy)
        self.use(policies)

    def use(self, policies: Policies) -> None:
        """Use *policies* from now on, which may be the same object after a change."""
        self._policies = policies
        self._prefixes.clear()
        self._fast_policy.cache_clear()
        self._others: tuple[FastPolicy, set[str]] | Literal[False] | None = None
        """The policy of hosts without rules of their own, and the ends of the others. None before
        the first host; False if each host must be looked up."""

    def canonical(self, url: str) -> str | None:
        """Return the canonical form of *url*; None leaves it to the reference implementation.

        If nothing changes, that is *url* itself, not a copy.
        """
        plain = read(url)
        if plain is None:
            return None
        path: str | None
        if isinstance(plain, str):
            text, path, query, is_spelled_so = plain, None, "", True
        else:
            text, path, query, is_spelled_so = plain
        prefix = self._prefixes.get(text)
        if prefix is None:
            prefix = self._learn(text)
        policy, before, keeps_paths, settle = prefix
        if path is None:
            if keeps_paths:
                return url
            path = url[len(text) :]
        if policy is None:
            return settle and settle(url, len(text), path, query)
        if (not policy.drops_fragment and "#" in url) or (
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

    def _conditional(self, base: Url, url: str, start: int, path: str, query: str) -> str | None:
        """Return the canonical form of *url* under the policy that path and query select.

        :param base: the normalized part before the path, with the path ``/``.
        """
        normalized = _with_path(base, path, query)
        policy = self._fast_policy(self._policies.for_url(normalized))
        if (
            not policy.is_supported
            or policy.as_scrapy
            or (not policy.drops_fragment and "#" in url)
        ):
            return None
        authority = policy.authority(base) if policy.authority_rules else base
        if authority is None:
            return None
        if policy.is_plain:
            changed = policy.path(path) if policy.path_rules else path
            kept = policy.query(query) if query else ""
            if changed is None or kept is None:
                return None
        elif authority.path != "/" or (policy.unwraps_amp and _may_be_amp(base.host)):
            return None
        else:
            written = url[start:]
            if policy.splits_at_semicolons and ";" in written:
                query = encode_query(written.partition("?")[2].replace(";", "&"))
                normalized = _with_path(base, path, query)
                if "#" in written or self._policies.for_url(normalized) is not policy.policy:
                    return None
            settled = policy.settle(path, query, written, is_conditional=True)
            if settled is None:
                return None
            changed, kept = settled
        if kept == query and changed == path and authority == base:
            return str(normalized)
        canonical = _with_path(authority, changed, kept)
        # Other rules may hold for the canonical URL: left to the reference.
        if self._policies.for_url(canonical) is not policy.policy:
            return None
        return str(canonical)

    def _find_others(self) -> tuple[FastPolicy, set[str]] | Literal[False]:
        ends = self._policies.ends
        only = self._policies.of_others().only
        if ends is None or only is None:
            return False
        policy = self._fast_policy(only)
        return policy.is_supported and policy.is_plain and (policy, ends)

    def _learn(self, text: str) -> Prefix:
        """Return what is known of the prefix *text*, and cache it."""
        others = self._others
        if others is None:
            others = self._others = self._find_others()
        # The canonical host has the same last two labels, so it has no rules of its own either.
        prefix = others[0].plain_prefix(text, others[1]) if others else None
        if prefix is None:
            prefix = self._parse(text) or _LEFT_TO_REFERENCE
        if len(self._prefixes) >= _CACHED_PREFIXES:
            self._prefixes.clear()
        self._prefixes[text] = prefix
        return prefix

    def _parse(self, text: str) -> Prefix | None:
        plain = plain_host(text)
        base = None if plain or "?" in text or "#" in text else _base(text)
        host = plain or (base and base.host)
        if host is None:
            return None
        only = self._policies.for_host(host).only
        policy = self._fast_policy(only) if only else None
        if policy:
            if not policy.is_supported or (policy.as_scrapy and plain is None):
                return None
            prefix = policy.plain_prefix(text, set()) if policy.is_plain else None
            if prefix:
                # As below, without making a URL.
                other_host = (prefix[1] or text).partition("://")[2]
                if other_host != host and self._policies.for_host(other_host).only is not only:
                    return None
                return prefix
        if base is None:
            base = made_of((text.partition(":")[0], None, host, None, "/", None, None))
        if policy is None:
            return None, None, False, partial(self._conditional, base)
        canonical = policy.authority(base)
        if canonical is None or (
            canonical.host != host and self._policies.for_host(canonical.host).only is not only
        ):
            return None
        if policy.unwraps_amp and (_may_be_amp(host) or _may_be_amp(canonical.host)):
            return None
        before = str(canonical)[: -len(canonical.path)]
        if not policy.is_plain:
            joint = Joint(policy, before, canonical.path[:-1])
            return None, None, False, joint.settle
        return policy.prefix(text, before)


def _may_be_amp(host: str) -> bool:
    return "google." in host or host.endswith(".ampproject.org")


def _base(prefix: str) -> Url | None:
    """Return the URL with this *prefix* and the path ``/``; None if it is not valid."""
    try:
        url = normalize(parse(prefix + "/", []), [])
    except UnparsableUrlError:
        return None
    return url if url.path == "/" else None


def _with_path(url: Url, path: str, query: str) -> Url:
    pieces = tuple(query.split("&")) if query else None
    return made_of((*url[:4], path, pieces, None))
