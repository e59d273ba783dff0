"""Makes and recognises the requests that the plugin adds to a crawl.

They are copies of requests of the spider with a mark that says why they were made, and for which
URL. The mark is in ``meta``, since retries, redirects and jobs on disk make new
:class:`~scrapy.Request` objects that keep nothing but ``meta``. It names its URL, since spiders
    copy ``meta`` to requests of their own (``meta=response.meta``): for any other URL it is
    invalid. The mark of an audit is an exception; it is removed before a spider is given the
    request.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.url import url_is_from_any_domain

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.origins import LANDED_KEY, sources_of
from scrapy_urlcanon.crawl.settings import DROP_KEY, RECORD_KEY

if TYPE_CHECKING:
    from scrapy import Spider

MARK_KEY: Final = "_urlcanon"
"""In ``request.meta``: the mark. Plain data, so that any queue can store it."""

RESCUE: Final = "rescue"
"""A variant that is fetched because the request that it was dropped for failed."""
AUDIT: Final = "audit"
"""A variant, or a kept URL, that is fetched to compare the two."""
RELEASED: Final = "released"
"""A dropped variant that is fetched for the spider after all; ``in_doubt`` if it looks different
but an audit could not tell whether it is another page."""
OWN_URL: Final = "own URL"
"""Only for the HTTP cache: the outcome of one URL, such as a failure, that other URLs of the page
do not share."""
REWRITTEN: Final = "rewritten"
"""A request that replaces another one: for the canonical URL, or for the URL at which the page of a
skipped URL is found."""
SKIPPED: Final = "skipped"
"""A request for a skipped URL that waits for the outcome of its replacement."""

OF_ANOTHER_URL: Final = frozenset(
    {
        LANDED_KEY,
        MARK_KEY,
        "redirect_reasons",
        "redirect_times",
        "redirect_ttl",
        "redirect_urls",
        "retry_times",
    }
)
"""Keys of ``meta`` that belong to one URL and are not copied to a request for another."""
NOT_PLAIN: Final = frozenset({MARK_KEY, "redirect_urls"})
"""Keys of ``meta`` that no :func:`plain <is_plain>` request has."""
_CREDENTIALS: Final = ("Authorization", "Cookie")


def with_url(request: Request, url: str, meta: dict[str, Any] | None = None) -> Request:
    """Return a copy of *request* with *url*, and with *meta* if given.

    :meth:`scrapy.Request.replace` calls the constructor, which fails for subclasses with required
        arguments that are not in their ``attributes``.
    """
    changed: dict[str, Any] = {"url": url} if meta is None else {"url": url, "meta": meta}
    try:
        duplicate: Request = request.replace(**changed)
    except TypeError:
        duplicate = copy(request)
        duplicate._meta = dict(request.meta if meta is None else meta)  # noqa: SLF001
        duplicate._set_url(url)  # noqa: SLF001
    return duplicate


def sent_to(request: Request, url: str, meta: dict[str, Any] | None = None) -> Request:
    """Return a copy of *request* that may be sent to *url*, and has *meta* if given.

    If that is another site, or would be sent unencrypted though *request* is not, credentials are
    removed, as by a redirect (Scrapy 2.19, ``downloadermiddlewares/redirect.py``).

    >>> request = Request("https://a.example/", headers={"Authorization": "Basic c2VjcmV0"})
    >>> [sent_to(request, f"{url}.example/").headers for url in ("https://www.a", "http://a")]
    [{b'Authorization': [b'Basic c2VjcmV0']}, {}]
    """
    copy = with_url(request, url, meta)
    is_exposed = request.url.startswith("https:") and not copy.url.startswith("https:")
    if is_exposed or domain_of(request.url) != domain_of(copy.url):
        # A copy of a subclass may share them.
        copy.headers = copy.headers.copy()
        for name in _CREDENTIALS:
            copy.headers.pop(name, None)
        copy.cookies = {}
    return copy


def marked(request: Request, reason: str, url: str | None = None, **details: Any) -> Request:
    """Return a copy of *request*, for *url* if given, marked with *reason* and *details*."""
    url = request.url if url is None else url
    copy = sent_to(request, url, meta=dict(request.meta))
    # The URL of the copy, since the constructor escapes characters.
    copy.meta[MARK_KEY] = {"reason": reason, "url": copy.url, **details}
    return copy


def rewritten(request: Request, url: str, **details: Any) -> Request:
    """Return a request for *url* that replaces *request*; :func:`original_of` is the inverse."""
    return marked(request, REWRITTEN, url, original=request.url, **details)


def mark_of(request: Request, reason: str) -> dict[str, Any] | None:
    """Return the mark of *request* with *reason*, if it is valid for its URL.

    It is also valid if its URL was redirected here. The mark of an audit is valid for any URL.
    """
    mark = request.meta.get(MARK_KEY)
    if not isinstance(mark, dict) or mark.get("reason") != reason:
        return None
    if reason == AUDIT:
        # No spider sees it. So a request with it for another URL was made by a downloader
        # middleware, such as one that asks a service for the page.
        return mark
    urls = (request.url, *sources_of(request))
    return mark if mark.get("url") in urls else None


def own_mark_of(request: Request, *reasons: str) -> dict[str, Any] | None:
    """Return the mark of *request* with one of *reasons*, if it names the very URL of *request*."""
    mark = request.meta.get(MARK_KEY)
    if not isinstance(mark, dict) or mark.get("url") != request.url:
        return None
    return mark if mark.get("reason") in reasons else None


def inherited_mark_of(request: Request, reason: str) -> dict[str, Any] | None:
    """Return the mark of *request* with *reason*, whatever URL it names."""
    mark = request.meta.get(MARK_KEY)
    return mark if isinstance(mark, dict) and mark.get("reason") == reason else None


def is_plain(request: Request) -> bool:
    """Tell whether neither the plugin nor a redirect made *request*."""
    return NOT_PLAIN.isdisjoint(request.meta)


def asks_by_url(request: Request) -> bool:
    """Tell whether *request* is a GET without a body, so that only its URL selects the page."""
    return request.method == "GET" and not request.body


def by_get(request: Request) -> Request:
    """Return *request* if it is a GET, else a plain GET for its URL with the same meta."""
    return request if request.method == "GET" else Request(request.url, meta=request.meta)


def is_unfiltered(request: Request) -> bool:
    """Tell whether *request* is not dropped, or not recorded, by the duplicate filter."""
    meta = request.meta
    return request.dont_filter or meta.get(RECORD_KEY) is False or meta.get(DROP_KEY) is False


def is_unrecorded(request: Request) -> bool:
    """Tell whether the duplicate filter recorded neither *request* nor one that it retries."""
    return is_unfiltered(request) and not is_retry(request)


def is_for_the_spider(request: Request) -> bool:
    """Tell whether a callback of the spider waits for the page of *request*.

    Not for a robots.txt, a file of a media pipeline, or a fetch of an audit.
    """
    return request.callback is not NO_CALLBACK and not mark_of(request, AUDIT)


def is_retry(request: Request) -> bool:
    """Tell whether *request* repeats another one, as Scrapy's retries do."""
    return request.dont_filter and "retry_times" in request.meta


def retries_of(request: Request) -> int:
    """Return how often *request* was tried before. A spider may have put anything there.

    >>> [retries_of(Request("data:,", meta={"retry_times": times})) for times in (2, -1, "two")]
    [2, 0, 0]
    """
    times = request.meta.get("retry_times")
    return max(times, 0) if isinstance(times, int) else 0


def leads_off_site(request: Request, url: str, spider: Spider | None) -> bool:
    """Tell whether *spider* allows the domain of *request* but not that of *url*.

    The offsite middleware would refuse a request for *url* (Scrapy 2.19,
    ``downloadermiddlewares/offsite.py``).
    """
    allowed = getattr(spider, "allowed_domains", None)
    if not allowed or not url_is_from_any_domain(request.url, allowed):
        return False
    return not url_is_from_any_domain(url, allowed)


def reason_for_own_fingerprint(request: Request) -> str | None:
    """Return why *request* needs a fingerprint other than that of its page, as text, or None.

    The text differs for each callback of a rescue, since each needs the page, and for each fetch of
    an audit. It is the same for retries. The target of a redirect from a rescue has none, since it
    is a page like any other. The target of a redirect from an audit has one, since it is compared.
    """
    mark = own_mark_of(request, RESCUE, RELEASED, OWN_URL)
    if mark:
        reason, callback = str(mark["reason"]), mark.get("callback")
        return f"{reason} for {callback}" if callback else reason
    mark = mark_of(request, AUDIT)
    if mark:
        return f"{AUDIT} {mark.get('round')}.{mark['number']} of {mark['case']}"
    return None


def original_of(request: Request) -> Request:
    """Return the request that *request* replaces, or *request* itself if it replaces none."""
    mark = mark_of(request, REWRITTEN)
    if mark is None:
        return request
    meta = {key: value for key, value in request.meta.items() if key not in OF_ANOTHER_URL}
    original = with_url(request, mark["original"], meta=meta)
    # Marked, so that the next run of a job knows that it waits for the page at another URL.
    return marked(original, SKIPPED, place=mark["url"]) if "skip" in mark else original
