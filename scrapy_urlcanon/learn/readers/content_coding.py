"""Undoes what a server did to a body for its way: ``Content-Encoding`` (RFC 9110, section 8.4)."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

GZIP: Final = b"\x1f\x8b"
"""What data begin with that were packed with gzip."""


def ungzipped(data: bytes, limit: int) -> bytes:
    """Return what was packed with gzip, if it was: at most *limit* bytes of it.

    :raises zlib.error: if it is broken.
    """
    if not data.startswith(GZIP):
        return data
    return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, limit)


def decoded(body: bytes, codings: str, limit: int) -> bytes:
    """Return *body* without the *codings* that its header names: at most *limit* bytes of it.

    What has none of them after all is returned as it is. For ``br`` and ``zstd`` the packages are
    needed with which Scrapy reads them.

    >>> decoded(zlib.compress(b"hello"), "deflate", 100)
    b'hello'

    :raises ImportError: if such a package is missing.
    """
    # Some caches keep the header of what they have unpacked, and some servers send none.
    if body.startswith(GZIP):
        codings = "gzip"
    for coding in reversed(codings.lower().split(",")):
        decode = _DECODERS.get(coding.strip())
        try:
            body = decode(body, limit) if decode else body
        except _BadCodingError:
            return body
    return body


class _BadCodingError(ValueError):
    """A body is not of its coding."""


def _gunzip(data: bytes, limit: int) -> bytes:
    try:
        return ungzipped(data, limit)
    except zlib.error as error:
        raise _BadCodingError from error


def _inflate(data: bytes, limit: int) -> bytes:
    # Some servers send it without the frame that is due (RFC 9110, section 8.4.1.2).
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(window).decompress(data, limit)
        except zlib.error:
            continue
    raise _BadCodingError


def _unbrotli(data: bytes, limit: int) -> bytes:
    brotli = _package("brotlicffi", "brotli")
    try:
        unpacked: bytes = brotli.Decompressor().process(data, output_buffer_limit=limit)
    except brotli.error as error:
        raise _BadCodingError from error
    # It stops at the end of a block.
    return unpacked[:limit]


def _unzstd(data: bytes, limit: int) -> bytes:
    zstd = _package("compression.zstd", "backports.zstd")
    try:
        unpacked: bytes = zstd.ZstdDecompressor().decompress(data, limit)
    except zstd.ZstdError as error:
        raise _BadCodingError from error
    return unpacked


def _package(*names: str) -> Any:
    """Return the first package of *names* that is installed.

    :raises ImportError: if none is; it names the last one.
    """
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ImportError(name=names[-1])


_DECODERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
