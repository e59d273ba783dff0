"""The requests that the plugin makes itself: copies with a mark that says why, and for which URL.

The mark lies in ``meta``, because a retry, a redirect and a job on disk make new
:class:`~scrapy.Request` objects, to which nothing but ``meta`` comes along. It names the
URL that it is about, because spiders copy ``meta`` to requests of their own
(``meta=response.meta``): on any other URL it means nothing, but for that of an audit, which
is taken off before a spider gets it.
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
"""In ``request.meta``; plain data, so that any queue can store it."""

RESCUE: Final = "rescue"
"""A variant that is fetched because the request that stood for it failed."""
AUDIT: Final = "audit"
"""A variant that is fetched to compare it with the page that stands for it."""
RELEASED: Final = "released"
"""A variant that is fetched for the spider after all; ``in_doubt`` where an audit could not tell
whether it is another page, though it looks different."""
OWN_URL: Final = "own URL"
"""What became of one URL, which says nothing of the others of its page."""
REWRITTEN: Final = "rewritten"
"""A request for the canonical URL, made of one for another URL, or for the place of a page, made of
one for a URL that is skipped."""
SKIPPED: Final = "skipped"
"""A request for a URL that is skipped, which waits for what becomes of the place of its page."""

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
"""Keys of the meta of a request that say nothing of what it was made of."""
NOT_PLAIN: Final = frozenset({MARK_KEY, "redirect_urls"})
"""Keys of the meta of a request that is not :func:`plain <is_plain>`."""
_CREDENTIALS: Final = ("Authorization", "Cookie")


def with_url(request: Request, url: str, meta: dict[str, Any] | None = None) -> Request:
    """Return a copy of *request* with *url*, and with *meta* where it is given.

    :meth:`scrapy.Request.replace` calls the constructor, which fails for subclasses that
    require arguments they do not list in ``attributes``.
    """
    changed: dict[str, Any] = {"url": url} if meta is None else {"url": url, "meta": meta}
    try:
        duplicate: Request = request.replace(**changed)
    except TypeError:
        duplicate = copy(request)
        duplicate._meta = dict(request.meta if meta is None else meta)  # noqa: SLF001
        duplicate._set_url(url)  # noqa: SLF001
    return duplicate


def marked(request: Request, reason: str, url: str | None = None, **details: Any) -> Request:
    """Return a copy of *request*, for *url* if given, marked with *reason* and *details*."""
    url = request.url if url is None else url
    copy = with_url(request, url, meta=dict(request.meta))
    # As the constructor left it: it escapes what a URL cannot hold.
    copy.meta[MARK_KEY] = {"reason": reason, "url": copy.url, **details}
    return copy


def rewritten(request: Request, url: str, **details: Any) -> Request:
    """Return what takes the place of *request*: the same for *url*, as :func:`original_of` undoes.

    On another site it has no credentials, as after a redirect (Scrapy 2.19,
    ``downloadermiddlewares/redirect.py``).
    """
    copy = marked(request, REWRITTEN, url, original=request.url, **details)
    if domain_of(request.url) != domain_of(copy.url):
        # A copy of a subclass may share them.
        copy.headers = copy.headers.copy()
        for name in _CREDENTIALS:
            copy.headers.pop(name, None)
    return copy


def mark_of(request: Request, reason: str) -> dict[str, Any] | None:
    """Return the mark of *request* if it has one with *reason*, or a redirect led here from it.

    That of an audit holds for all that was made of it.
    """
    mark = request.meta.get(MARK_KEY)
    if not isinstance(mark, dict) or mark.get("reason") != reason:
        return None
    if reason == AUDIT:
        # No spider sees one: what has it and another URL a middleware of the downloader made, as
        # one that has another server asked for the page.
        return mark
    urls = (request.url, *sources_of(request))
    return mark if mark.get("url") in urls else None


def own_mark_of(request: Request, *reasons: str) -> dict[str, Any] | None:
    """Return the mark of *request* if it has one with any of *reasons*, and is for its URL."""
    mark = request.meta.get(MARK_KEY)
    if not isinstance(mark, dict) or mark.get("url") != request.url:
        return None
    return mark if mark.get("reason") in reasons else None


def inherited_mark_of(request: Request, reason: str) -> dict[str, Any] | None:
    """Return the mark with *reason* that *request* has of what it was made of, whoever made it."""
    mark = request.meta.get(MARK_KEY)
    return mark if isinstance(mark, dict) and mark.get("reason") == reason else None


def is_plain(request: Request) -> bool:
    """Tell whether *request* is as it was made: not by the plugin, nor by a redirect."""
    return NOT_PLAIN.isdisjoint(request.meta)


def asks_by_url(request: Request) -> bool:
    """Tell whether *request* asks for its URL and sends nothing: a GET without a body."""
    return request.method == "GET" and not request.body


def by_get(request: Request) -> Request:
    """Return *request* if it is a GET, else a plain one for its URL with the same meta."""
    return request if request.method == "GET" else Request(request.url, meta=request.meta)


def is_unfiltered(request: Request) -> bool:
    """Tell whether *request* is not both dropped and recorded, as any other, by its fingerprint."""
    meta = request.meta
    return request.dont_filter or meta.get(RECORD_KEY) is False or meta.get(DROP_KEY) is False


def is_unrecorded(request: Request) -> bool:
    """Tell whether the duplicate filter recorded nothing of *request*, nor of what it retries."""
    return is_unfiltered(request) and not is_retry(request)


def is_for_the_spider(request: Request) -> bool:
    """Tell whether a callback of the spider waits for the page of *request*.

    Not so for a robots.txt and the images of a pipeline, nor for what is fetched to be compared.
    """
    return request.callback is not NO_CALLBACK and not mark_of(request, AUDIT)


def is_retry(request: Request) -> bool:
    """Tell whether *request* repeats another one, as Scrapy's retries do."""
    return request.dont_filter and "retry_times" in request.meta


def retries_of(request: Request) -> int:
    """Return how often *request* was tried before; a spider may have put anything there.

    >>> [retries_of(Request("data:,", meta={"retry_times": times})) for times in (2, -1, "two")]
    [2, 0, 0]
    """
    times = request.meta.get("retry_times")
    return max(times, 0) if isinstance(times, int) else 0


def leads_off_site(request: Request, url: str, spider: Spider | None) -> bool:
    """Tell whether *url* is on no domain that *spider* allows, and that of *request* is on one.

    Such a request would be refused before anybody could see that it was (Scrapy 2.19,
    ``downloadermiddlewares/offsite.py``).
    """
    allowed = getattr(spider, "allowed_domains", None)
    if not allowed or not url_is_from_any_domain(request.url, allowed):
        return False
    return not url_is_from_any_domain(url, allowed)


def reason_for_own_fingerprint(request: Request) -> str | None:
    """Return why *request* must not have the fingerprint of its page, or None.

    A retry is as the request that it repeats. One URL may rescue a page for each of several
    callbacks, none of which has it by what another got. Where a redirect leads from a rescue is a
    page as any other, which the spider may have got; where one leads from an audit is
    what is to be compared, and for each audit anew.
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
    """Return *request* as it was before it was rewritten, or itself if it was not."""
    mark = mark_of(request, REWRITTEN)
    if mark is None:
        return request
    meta = {key: value for key, value in request.meta.items() if key not in OF_ANOTHER_URL}
    original = with_url(request, mark["original"], meta=meta)
    # In the next run of a job it is to be known for which page it waits: not that of its URL.
    return marked(original, SKIPPED, place=mark["url"]) if "skip" in mark else original
