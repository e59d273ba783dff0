"""Computes the fingerprints of requests: the fallback's fingerprint of the canonical URL."""

from __future__ import annotations

import logging
from hashlib import sha1
from typing import TYPE_CHECKING, Any, Final, overload
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.python import global_object_name
from scrapy.utils.request import RequestFingerprinter as ScrapyRequestFingerprinter

from scrapy_urlcanon.crawl.canonical_urls import OWN_RULES, has_no_host
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import (
    MARK_KEY,
    asks_by_url,
    reason_for_own_fingerprint,
    with_url,
)
from scrapy_urlcanon.crawl.settings import META_KEY, PAGE_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls

logger = logging.getLogger(__name__)

# With fewer, new URLs take a tenth less time, as the memo fits into the processor's cache. But
# pages link what others linked long ago: with 2,048 a crawl takes 8 % more instructions.
_REMEMBERED_URLS = 16_384
_KNOWN: Final = (
    Request
    if all(hasattr(Request("data:,"), name) for name in ("_url", "_body", "_meta"))
    else None
)
"""The class whose attributes can be read directly, as they are in Scrapy 2.19
(``http/request/__init__.py``), or None."""
_SPECIAL_META = frozenset({META_KEY, PAGE_KEY, MARK_KEY, "redirect_urls", "verbatim_url"})


class PageFingerprints:
    """Gives all requests for one page the same fingerprint.

    The fallback is given the request with its canonical URL, so that whatever else it considers
    (headers, page objects, fragments) still counts. If the fallback is Scrapy's default class it is
    not called: a hash of method, canonical URL and body does the same and is far cheaper.

    Requests without a canonical URL (:meth:`.CanonicalUrls.of`) get the fingerprint of the
    fallback.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        canonical_urls: CanonicalUrls,
        first_urls: FirstUrls,
        fallback: RequestFingerprinterProtocol,
    ) -> None:
        self._canonicalizer = canonicalizer
        self._canonical_urls = canonical_urls
        self.first_urls = first_urls
        """The first URL under each fingerprint."""
        self._fallback = fallback
        self._fallback_is_default = type(fallback) is ScrapyRequestFingerprinter
        is_own = type(self).fingerprint is PageFingerprints.fingerprint
        self.gives_digests = is_own and self._fallback_is_default
        """Whether each fingerprint is a SHA-1 digest, whose bits are spread."""
        self._fingerprints: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        self._memo: dict[str, bytes] = {}
        self._fast_canonical = canonicalizer.fast_path.canonical

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of *request*, 20 bytes with the default fallback.

        Many components call this, several times for one request. So nothing is counted here, and
        whatever is noted may be noted again.
        """
        if type(request) is _KNOWN:
            # Read directly, which takes a quarter of the time of calling the properties.
            url, body, meta = request._url, request._body, request._meta  # noqa: SLF001
        else:
            url, body, meta = request.url, request.body, request.meta
        if (
            self._fallback_is_default
            and request.method == "GET"
            and not body
            and request.callback is not NO_CALLBACK
            and (not meta or _SPECIAL_META.isdisjoint(meta))
        ):
            # Only the URL counts. Remembering the last URLs takes less time and memory than
            # remembering the fingerprint of each request.
            memo = self._memo
            fingerprint = memo.get(url)
            if fingerprint is not None:
                return fingerprint
            canonical = self._fast_canonical(url)
            if canonical is None:
                canonical = self._canonicalizer.canonical_or_none(url)
            if canonical is not None and (canonical is url or not has_no_host(url)):
                fingerprint = sha1(canonical.encode()).digest()  # noqa: S324
                if canonical is not url:
                    self.first_urls.note(fingerprint, url, canonical)
                if len(memo) >= _REMEMBERED_URLS:
                    memo.clear()
                memo[url] = fingerprint
                return fingerprint
        known = self._fingerprints.get(request)
        if known is None:
            known = self._fingerprints[request] = self._fingerprint(request)
        return known

    def canonical(self, url: str) -> str:
        """Return the canonical URL of a plain request for *url*."""
        return self._canonicalizer.canonicalize(url)

    def of_canonical(self, url: str) -> bytes:
        """Return the fingerprint of plain requests whose canonical URL is *url*."""
        if self._fallback_is_default:
            return sha1(url.encode()).digest()  # noqa: S324
        return self._of_url(Request(url), url)

    def beside_rules(self, request: Request) -> bytes:
        """Return what tells *request* apart from others for its URL, whatever the rules are.

        A fallback may consider headers or page objects, which make two pages of one URL. Empty if
        the fallback is Scrapy's default class, which does not.
        """
        return b"" if self._fallback_is_default else self._fallback.fingerprint(request)

    def was_asked_for(self, url: str) -> bool:
        """Tell whether the fingerprint of a plain request for *url* was asked for recently."""
        return url in self._memo

    def forget_url(self, url: str) -> bool:
        """Forget that the fingerprint of *url* was asked for; return whether it recently was."""
        return self._memo.pop(url, None) is not None

    def forget(self) -> None:
        """Forget all fingerprints, since the rules changed."""
        self._memo.clear()
        self._fingerprints.clear()

    def _fingerprint(self, request: Request) -> bytes:
        if request.callback is NO_CALLBACK:
            # A file of a media pipeline, or a robots.txt: no rule applies to it.
            return self._fallback.fingerprint(request)
        canonical = self._canonical_urls.of(request)
        if canonical is None:
            self._canonical_urls.note_untouched(request.url)
            untouched = self._fallback.fingerprint(request)
            reason = reason_for_own_fingerprint(request)
            # The fallback may give it the fingerprint of another URL of its page, which failed.
            return _apart(untouched, reason) if reason else untouched
        reason = self.reason_for_own_fingerprint(request, canonical)
        if reason:
            # With the fingerprint of its page it would be dropped as a duplicate. And the HTTP
            # cache would answer with what it stored for the page: the redirect that led here, or
            # the failure that this request is to make up for.
            return _apart(self._of_url(request, request.url), reason)
        fingerprint = self._of_page(request, request.url, canonical)
        self.first_urls.note(fingerprint, request.url, canonical)
        return fingerprint

    def restore(self, fingerprint: bytes, url: str, meta: Mapping[str, Any]) -> None:
        """Note that in an earlier run *url* was the first one under *fingerprint*."""
        if _SPECIAL_META.isdisjoint(meta):
            canonical = self._fast_canonical(url) or self._canonicalizer.canonical_or_none(url)
            is_own = has_no_host(url)
        else:
            request = Request(url, meta=dict(meta))
            canonical = self._canonical_urls.of(request)
            is_own = self.reason_for_own_fingerprint(request, canonical or "") is not None
        if canonical is not None and canonical != url and not is_own:
            self.first_urls.know(fingerprint, url)

    @overload
    def page(self, request: Request) -> bytes: ...

    @overload
    def page(self, request: Request, url: str | None) -> bytes | None: ...

    def page(self, request: Request, url: str | None = None) -> bytes | None:
        """Return the fingerprint that all requests for the page of *request* share.

        It differs from :meth:`fingerprint` for requests with a fingerprint of their own, such as
        rescues and redirects to the own canonical form.

        :param url: another URL than that of *request*. The result is None if no rule applies to it.
        """
        meta = request.meta
        if url is None and "redirect_urls" not in meta and MARK_KEY not in meta:
            return self.fingerprint(request)
        if url is not None and asks_by_url(request) and OWN_RULES.isdisjoint(meta):
            # Known if the fingerprint of a plain request for it was asked for recently.
            known = self._memo.get(url)
            if known is not None:
                return known
        canonical = self._canonical_urls.of(request, url)
        if canonical is None:
            return None if url else self._fallback.fingerprint(request)
        return self._of_page(request, url or request.url, canonical)

    def reason_for_own_fingerprint(self, request: Request, canonical: str) -> str | None:
        """Return why *request* needs a fingerprint made from its URL as it is, or None."""
        if MARK_KEY in request.meta:
            reason = reason_for_own_fingerprint(request)
            if reason:
                return reason
        return "redirect" if self.is_redirect_to_itself(request, canonical) else None

    def is_redirect_to_itself(self, request: Request, canonical: str | None = None) -> bool:
        """Tell whether *request* follows a redirect to its own canonical form."""
        sources = sources_of(request)
        if not sources:
            return False
        if canonical is None:
            canonical = self._canonical_urls.of(request)
        return canonical is not None and any(
            self._canonical_urls.of(request, source) == canonical for source in sources
        )

    def _of_page(self, request: Request, url: str, canonical: str) -> bytes:
        """Return the fingerprint of *request* for *url*, whose canonical URL is *canonical*."""
        bare, mark, fragment = url.partition("#")
        if fragment and not self._fallback_is_default and "#" not in canonical:
            # A browser may show another page for each (``keep_fragments`` of Scrapy's function).
            fingerprint = self._fallback.fingerprint
            if fingerprint(with_url(request, url)) != fingerprint(with_url(request, bare)):
                canonical += mark + fragment
        return self._of_url(request, canonical)

    def _of_url(self, request: Request, url: str) -> bytes:
        """Return the fingerprint that *request* would have with *url* as its URL."""
        if self._fallback_is_default:
            if request.method == "GET" and not request.body:
                return sha1(url.encode()).digest()  # noqa: S324
            # Each part but the last is prefixed with its length, so that no two requests give the
            # same text, and none gives that of a URL.
            method = request.method
            framed = f"{len(method)}:{method}{len(url)}:{url}".encode() + request.body
            return sha1(framed).digest()  # noqa: S324
        # verbatim_url keeps the fallback from canonicalizing the URL again (Scrapy 2.17).
        return self._fallback.fingerprint(
            with_url(request, url, meta={**request.meta, "verbatim_url": True})
        )


def _apart(fingerprint: bytes, reason: str) -> bytes:
    """Return a fingerprint made from *fingerprint* and *reason*, different from all others."""
    return sha1(f"{reason}:".encode() + fingerprint).digest()  # noqa: S324


def warn_of_another(crawler: Crawler) -> None:
    """Warn if Scrapy uses a fingerprinter that is none of ours."""
    in_use = type(crawler.request_fingerprinter)
    if not issubclass(in_use, PageFingerprints):
        logger.warning(
            "Requests are fingerprinted by %(in_use)s, so the canonicalization rules may "
            "have no effect. Set REQUEST_FINGERPRINTER_CLASS to "
            "scrapy_urlcanon.RequestFingerprinter, or, if another add-on replaced it, give "
            "scrapy_urlcanon.Addon a higher number in ADDONS than that one has.",
            {"in_use": global_object_name(in_use)},
            extra={"spider": crawler.spider},
        )
