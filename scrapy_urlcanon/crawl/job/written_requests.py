"""What the journal of a job says of a request, and which it has said, to write none twice."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.crawl.own_requests import OF_ANOTHER_URL, asks_by_url, is_unfiltered
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of

if TYPE_CHECKING:
    from scrapy import Spider

# What is put there while a request is on its way.
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
"""Bytes of an identity: of what a request is for, and of what it sends."""
_REMEMBERED = 16_384
_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
"""Types of what is the same for good: an object that a request carries may be changed."""
_REFERER = frozenset({b"Referer"})


def data_of(request: Request, spider: Spider | None) -> dict[str, Any]:
    """Return what makes *request* again (:func:`~scrapy.utils.request.request_from_dict`).

    Without what is empty, as its constructor takes it to be.

    :raises ValueError: if it cannot be made again: its callback is no method of *spider*.
    """
    data = request.to_dict(spider=spider)
    if "_class" in data:
        # Who knows what a subclass takes for granted.
        return data
    return {name: value for name, value in data.items() if value not in _EMPTY}


def identity_of(request: Request, spider: Spider | None, *, url: str | None = None) -> bytes:
    """Return what *request* and its retries have in common, and no other request has.

    :param url: another URL than that of *request*, which redirected to it.
    """
    meta = {key: value for key, value in request.meta.items() if key not in _ADDED_TO_META}
    callback = callback_of(request, spider)
    text = repr((url or request.url, callback, request.cb_kwargs, sorted(meta.items(), key=repr)))
    sent = request.method.encode() + request.body
    return _digest(text.encode(errors="replace"), _WITHOUT_SENT) + _digest(sent, _SENT)


def without_sent(identity: bytes) -> bytes:
    """Return what is left of *identity* where it is not known what was sent.

    A redirect may make a GET of a form, and a middleware change it.
    """
    return identity[:_WITHOUT_SENT]


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(data, digest_size=size).digest()


def digest_of(url: str, method: str, body: bytes) -> bytes:
    """Return what a request for *url* has under any rules, and few others have."""
    return _digest(f"{method} {url} ".encode(errors="replace") + body, 8)


class WrittenRequests:
    """Tells requests of which a record would say nothing that the journal does not say.

    Nine of ten links of a crawl lead to what was linked before. Such a request is dropped: now, and
    when the job is taken up after a kill, since the first one comes before it. So it is where only
    the page that links it tells it from that one: by the ``Referer``, the priority, or a depth that
    is no less. It is known of late ones alone.
    """

    def __init__(self) -> None:
        # The least depth by a hash of what a request is: a crawl has too few for two to share one.
        self._depths: dict[int, int] = {}

    def note(self, request: Request, fingerprint: bytes) -> bool:
        """Note that *request* is written down; tell whether it has to be.

        :param fingerprint: that of *request*, under the rules of now.
        """
        if type(request) is not Request or not asks_by_url(request) or is_unfiltered(request):
            return True
        if request.cookies or request.flags or not request.headers.keys() <= _REFERER:
            return True
        meta, arguments = {**request.meta}, request.cb_kwargs
        depth = meta.pop("depth", 0)
        if type(depth) is not int:
            return True
        # Most carry nothing.
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
        """Forget all: what was noted last could not be written."""
        self._depths.clear()
