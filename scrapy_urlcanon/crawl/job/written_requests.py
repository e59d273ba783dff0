"""Says what the journal stores of a request, and which requests need no further record."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.crawl.own_requests import OF_ANOTHER_URL, asks_by_url, is_unfiltered
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of

if TYPE_CHECKING:
    from scrapy import Spider

# Keys that are put into the meta of a request while it is on its way.
_ADDED_TO_META = OF_ANOTHER_URL | {
    "_auth_proxy",
    "_dont_cache",
    "_scheme_proxy",
    "cache_timestamp",
    "cached_response",
    "download_latency",
    "download_slot",
    "download_timeout",
    "proxy",
}
_EMPTY: tuple[object, ...] = (None, b"", [], {}, 0, False)
_WITHOUT_SENT, _SENT = 8, 4
"""Bytes of an identity: those for what a request asks for, and those for what it sends."""
_REMEMBERED = 16_384
_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
"""Immutable types: any other object that a request carries may change later."""
_REFERER = frozenset({b"Referer"})


def data_of(request: Request, spider: Spider | None) -> dict[str, Any]:
    """Return the data from which :func:`~scrapy.utils.request.request_from_dict` makes *request*.

    Empty values are left out, since they are the defaults of the constructor.

    :raises ValueError: if it cannot be made again: its callback is no method of *spider*.
    """
    data = request.to_dict(spider=spider)
    if "_class" in data:
        # The constructor of a subclass may require any of them.
        return data
    return {name: value for name, value in data.items() if value not in _EMPTY}


def identity_of(request: Request, spider: Spider | None, *, url: str | None = None) -> bytes:
    """Return a hash that *request* shares with its retries, and with no other request.

    :param url: a URL that redirected to *request*, to get the identity of that request.
    """
    meta = {key: value for key, value in request.meta.items() if key not in _ADDED_TO_META}
    callback = callback_of(request, spider)
    asked = url or request.url, callback
    try:
        text = repr((*asked, request.cb_kwargs, sorted(meta.items(), key=repr)))
    except Exception:  # noqa: BLE001 - whatever the objects of a spider raise there
        text = repr(asked)
    sent = request.method.encode() + request.body
    return _digest(text.encode(errors="replace"), _WITHOUT_SENT) + _digest(sent, _SENT)


def without_sent(identity: bytes) -> bytes:
    """Return *identity* without the part for what the request sends.

    A redirect may turn a form into a GET, and a middleware may change what is sent.
    """
    return identity[:_WITHOUT_SENT]


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(data, digest_size=size).digest()


def digest_of(url: str, method: str, body: bytes) -> bytes:
    """Return a hash of a request that does not depend on the rules."""
    return _digest(f"{method} {url} ".encode(errors="replace") + body, 8)


class WrittenRequests:
    """Recognises requests whose record would say nothing new, among the last few thousand.

    Nine of ten links of a crawl lead to a URL that was linked before. Such a request is dropped,
    now and when the job is resumed after a kill, since the first one stands before it in the
    journal. So its record is not needed, if it differs from the first one only in what comes from
    the page that links it: the ``Referer``, the priority, or a depth that is no less.
    """

    def __init__(self) -> None:
        # The least depth of each request, by a hash of it. (A collision is too unlikely to matter.)
        self._depths: dict[int, int] = {}

    def note(self, request: Request, fingerprint: bytes) -> bool:
        """Tell whether *request* has to be written down, and note that it is.

        :param fingerprint: that of *request*, under the present rules.
        """
        if type(request) is not Request or not asks_by_url(request) or is_unfiltered(request):
            return True
        if request.cookies or request.flags or not request.headers.keys() <= _REFERER:
            return True
        meta, arguments = {**request.meta}, request.cb_kwargs
        depth = meta.pop("depth", 0)
        if type(depth) is not int:
            return True
        # Asked first, since most requests carry nothing.
        if (meta or arguments) and not _PLAIN.issuperset(
            map(type, (*meta.values(), *arguments.values()))
        ):
            return True
        functions = request.callback, request.errback
        key = hash((fingerprint, request.url, functions, *meta.items(), None, *arguments.items()))
        least = self._depths.get(key)
        if least is not None and least <= depth:
            return False
        if len(self._depths) >= _REMEMBERED:
            self._depths.clear()
        self._depths[key] = depth
        return True

    def forget(self) -> None:
        """Forget all requests, since the last one could not be written."""
        self._depths.clear()
