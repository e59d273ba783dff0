"""Serializes what was learned, with a version and a checksum."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

_BEGIN: Final = b"urlcanon order 10\n"
"""The version changes whenever features, or what is learned of them, change their meaning."""
_CHECKSUM: Final = 4


def pack(arrays: Mapping[str, array[float] | array[int] | bytearray]) -> bytes:
    """Return *arrays* as bytes that :func:`unpack` reads."""
    sizes = {name: len(bytes(values)) for name, values in arrays.items()}
    parts = [json.dumps(sizes).encode(), b"\n", *map(bytes, arrays.values())]
    data = zlib.compress(b"".join(parts), 1)
    return _BEGIN + zlib.crc32(data).to_bytes(_CHECKSUM, "big") + data


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the arrays that :func:`pack` packed, as bytes.

    :raises ValueError: if *data* are truncated, of another version, or something else.
    """
    if not data.startswith(_BEGIN):
        raise ValueError(f"expected it to begin with {_BEGIN.decode().strip()!r}")
    checksum, packed = data[len(_BEGIN) :][:_CHECKSUM], data[len(_BEGIN) + _CHECKSUM :]
    # Nothing has the checksum 0, and so has a missing checksum.
    if not packed or zlib.crc32(packed) != int.from_bytes(checksum, "big"):
        raise ValueError("its checksum is wrong: it was cut short, or changed")
    head, _, rest = zlib.decompress(packed).partition(b"\n")
    found = {}
    for name, size in json.loads(head).items():
        found[name], rest = rest[:size], rest[size:]
    return found
