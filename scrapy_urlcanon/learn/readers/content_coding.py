"""Decodes the content codings of a body: ``Content-Encoding`` (RFC 9110, section 8.4)."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

GZIP: Final = b"\x1f\x8b"
"""The first bytes of gzip data (RFC 1952, section 2.3.1)."""


def ungzipped(data: bytes, limit: int) -> bytes:
    """Return *data*, decompressed if they are gzip: at most *limit* bytes.

    :raises zlib.error: if the data are broken.
    """
    if not data.startswith(GZIP):
        return data
    return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, limit)


def decoded(body: bytes, codings: str, limit: int) -> bytes:
    """Return *body* with the *codings* of its header decoded: at most *limit* bytes.

    A body that does not have these codings is returned unchanged. ``br`` and ``zstd`` need the
    packages that Scrapy uses for them.

    >>> decoded(zlib.compress(b"hello"), "deflate", 100)
    b'hello'

    :raises ImportError: if such a package is missing.
    """
    # Some caches keep the header of a decoded body, and some servers send no header.
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
    """A body does not have the coding of its header."""


def _gunzip(data: bytes, limit: int) -> bytes:
    try:
        return ungzipped(data, limit)
    except zlib.error as error:
        raise _BadCodingError from error


def _inflate(data: bytes, limit: int) -> bytes:
    # Some servers send raw deflate without the zlib format (RFC 9110, section 8.4.1.2).
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

    :raises ImportError: if none is, with the name of the last.
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
