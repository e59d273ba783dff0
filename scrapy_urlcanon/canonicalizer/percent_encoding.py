"""Percent-encoding of the components of a URL: one spelling for each of them.

Which characters stand for themselves and which stay percent-encoded differs by
component, because so does what is equivalent (RFC 3986, section 6.2.2.2):

========= ============================================= ==============================
component raw                                           percent-encoded, even if it was
                                                        not, and never decoded
========= ============================================= ==============================
userinfo  unreserved, sub-delims but ``; =``            all else; ``:`` in the password
path      unreserved, sub-delims, ``: @ / ;``           ``%25 %2F %3B %3F`` (never
                                                        decoded) and all else
query     unreserved; a space is ``+``                  all else, ``%26 %2B %2F %3D``
                                                        among it
fragment  RFC 3986, section 3.5                         all else; nothing is decoded
========= ============================================= ==============================

A path is what RFC 3986 says. The names and values of a query are
application/x-www-form-urlencoded (WHATWG URL, section 5), as Scrapy's own
fingerprint sees them: there ``a=b/c`` and ``a=b%2Fc`` are one, ``a=b+c`` and ``a=b%2Bc``
are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_letters, digits
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_from_bytes, quote_plus, unquote_plus, unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNRESERVED = "A-Za-z0-9\\-._~"
_SUB_DELIMS = "!$&'()*+,;="

# `%` is in each class: what is not the start of an escape is dealt with apart.
_NOT_IN_PATH = re.compile(f"[^{_UNRESERVED}{_SUB_DELIMS}:@/%]")

_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_KEPT_IN_PATH = frozenset("%/;?")
RAW_IN_PATH = frozenset(
    byte
    for byte in range(0x21, 0x7F)
    if chr(byte) not in _KEPT_IN_PATH and not _NOT_IN_PATH.match(chr(byte))
)
"""The bytes that are decoded in a path."""
_RAW_IN_PATH = {f"%{byte:02X}": chr(byte) for byte in RAW_IN_PATH}


def _escapes(bytes_: Iterable[int]) -> str:
    """Return a pattern that matches the upper-case digits of the escapes of *bytes_*."""
    low_digits: dict[str, str] = {}
    hexadecimal = bytes(bytes_).hex().upper()
    for high, low in zip(hexadecimal[::2], hexadecimal[1::2], strict=True):
        low_digits[high] = low_digits.get(high, "") + low
    high_digits: dict[str, str] = {}
    for high, lows in low_digits.items():
        high_digits[lows] = high_digits.get(lows, "") + high
    return "|".join(f"[{highs}][{lows}]" for lows, highs in high_digits.items())


_ENCODED_IN_PATH = _escapes(set(range(256)) - RAW_IN_PATH)
_STRAY_PERCENT = re.compile(f"%(?!{_ENCODED_IN_PATH})")

PLAIN_IN_QUERY = f"{ascii_letters}{digits}-._~+".encode()
# A plus sign stands for a space.
ENCODED_IN_QUERY = frozenset(range(256)).difference(PLAIN_IN_QUERY, b" ").union(b"+")
_ENCODED_IN_QUERY = _escapes(ENCODED_IN_QUERY)
_ALL_BUT_SEPARATORS = bytes(byte for byte in range(256) if byte not in b"&=")
_MOST_PARAMETERS = 100
# To take bytes out is faster than to look for others with a regular expression.
_ONE_EQUALS_SIGN_EACH = frozenset(b"=" + b"&=" * n for n in range(_MOST_PARAMETERS))
"""What is left without the plain characters of a query in which each parameter has one `=`."""

_NOT_IN_QUERY_TEXT = re.compile(f"[^{_UNRESERVED}+%]")
_NOT_IN_QUERY = re.compile(f"[^{_UNRESERVED}+%&=]")
_OTHER_ESCAPE = re.compile(f"%(?!{_ENCODED_IN_QUERY})(?:[0-9A-Fa-f]{{2}})?")

# Compiled where they are used, which few crawls do.
_NOT_IN_FRAGMENT = f"[^{_UNRESERVED}{_SUB_DELIMS}:@/?%]"
_ESCAPES_OR_UPPER = "(?:%[89A-F][0-9A-F])+|%..|[A-Z]+"


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _decode_in_path(match: re.Match[str]) -> str:
    escape = match[0].upper()
    return _RAW_IN_PATH.get(escape, escape)


def _encode_in_query(match: re.Match[str]) -> str:
    return _in_query(match[0])


@lru_cache(maxsize=1024)
def _in_query(text: str) -> str:
    """Return what stands in a query for *text*, a character or an escape."""
    return quote_plus(text if len(text) == 1 else unquote_to_bytes(text))


def encode_path(path: str) -> str:
    r"""Return *path* in its one spelling (RFC 3986, sections 3.3 and 6.2.2).

    A percent sign that starts no escape is an encoded percent sign (``%25``). Decoding may
    put two hexadecimal digits behind one; what that spells is then an escape where it is one
    that is never decoded (Scrapy merges the two), so that a second call changes nothing.

    >>> encode_path("/%7euser/caf\u00e9/C%2b%2B/a%2fb/100%")
    '/~user/caf%C3%A9/C++/a%2Fb/100%25'
    >>> encode_path("/%%341")
    '/%2541'
    """
    path = _NOT_IN_PATH.sub(_encode, path)
    if "%" not in path or not _STRAY_PERCENT.search(path):
        return path
    return _STRAY_PERCENT.sub("%25", decode_path(path))


def decode_path(path: str) -> str:
    """Return *path* with the escapes decoded that are the character, and the others in capitals.

    >>> decode_path("/%7euser/a%2fb")
    '/~user/a%2Fb'
    """
    return _ESCAPE.sub(_decode_in_path, path)


def encode_userinfo(userinfo: str) -> str:
    """Return *userinfo*, a name and perhaps a password behind a colon, in its one spelling.

    >>> encode_userinfo("m%65@home:p w:%3a")
    'me%40home:p%20w%3A%3A'
    """
    name, colon, password = userinfo.partition(":")
    return _encode_part_of_userinfo(name) + colon + _encode_part_of_userinfo(password)


def _encode_part_of_userinfo(part: str) -> str:
    return quote_from_bytes(unquote_to_bytes(part), safe="!$&'()*+,")


def encode_fragment(fragment: str) -> str:
    """Return *fragment* with what may not stand in it percent-encoded.

    >>> encode_fragment("a b")
    'a%20b'
    """
    return re.sub(_NOT_IN_FRAGMENT, _encode, fragment)


def encode_query_text(text: str) -> str:
    r"""Return *text*, a name or a value of a query, in its one spelling.

    That is application/x-www-form-urlencoded (WHATWG URL, section 5), but with the
    unreserved characters of RFC 3986. Bytes that are no UTF-8 stay as they are.

    >>> encode_query_text("caf\u00e9 %e9%2f:")
    'caf%C3%A9+%E9%2F%3A'
    """
    return _OTHER_ESCAPE.sub(_encode_in_query, _NOT_IN_QUERY_TEXT.sub(_encode_in_query, text))


def encode_query(query: str) -> str:
    """Return *query* with each parameter in its one spelling and with a `=`, and none empty.

    >>> encode_query("a:b=c=%7e&&d")
    'a%3Ab=c%3D~&d='
    """
    if query.isascii():
        rest = query.encode().translate(None, PLAIN_IN_QUERY)
        if rest in _ONE_EQUALS_SIGN_EACH:
            return query
        if b"%" in rest:
            query = _OTHER_ESCAPE.sub(_encode_in_query, query.replace("%20", "+"))
        others = rest.translate(None, b"%&=")
        for byte in set(others) if others else ():
            query = query.replace(chr(byte), _in_query(chr(byte)))
        if rest.translate(None, _ALL_BUT_SEPARATORS) in _ONE_EQUALS_SIGN_EACH:
            return query
    else:
        query = _NOT_IN_QUERY.sub(_encode_in_query, _OTHER_ESCAPE.sub(_encode_in_query, query))
    return "&".join(
        [
            piece if piece.count("=") == 1 else _with_one_equals_sign(piece)
            for piece in query.split("&")
            if piece
        ]
    )


def _with_one_equals_sign(piece: str) -> str:
    name, _, value = piece.partition("=")
    return name + "=" + value.replace("=", "%3D")


def as_path(text: str) -> str:
    """Return *text* of a query, in its one spelling, as a path is spelled.

    >>> as_path("%2Ftopic%2F12-caf%C3%A9+au+lait%2F")
    '/topic/12-caf%C3%A9%20au%20lait/'
    """
    return encode_path(text.replace("+", "%20").replace("%2F", "/"))


def as_query_text(path: str) -> str:
    """Return *path* as a name or a value of a query is spelled.

    >>> as_query_text("/topic/C++")
    '%2Ftopic%2FC%2B%2B'
    """
    return encode_query_text(path.replace("+", "%2B"))


def decode_query_text(text: str) -> str:
    """Return what *text*, a name or a value of a query, says.

    >>> decode_query_text("filter%5Bprice%5D")
    'filter[price]'
    """
    # Most names and values have neither.
    return unquote_plus(text) if "%" in text or "+" in text else text


def lower_case(text: str) -> str:
    """Return *text*, normalized, in lower case.

    Letters that are percent-encoded too, in UTF-8: of other encodings it is not known which
    bytes are letters.

    >>> lower_case("/A/caf%C3%89/%C9%2F")
    '/a/caf%C3%A9/%C9%2F'
    """
    return re.sub(_ESCAPES_OR_UPPER, _lower, text)


def _lower(match: re.Match[str]) -> str:
    if not match[0].startswith("%"):
        return match[0].lower()
    try:
        decoded = unquote_to_bytes(match[0]).decode() if len(match[0]) > 3 else ""  # noqa: PLR2004
    except UnicodeDecodeError:
        decoded = ""
    return quote(lower_letters(decoded)) or match[0]


def lower_letters(text: str) -> str:
    """Return *text*, decoded, in lower case, each letter by itself.

    >>> lower_letters("ΑΣ"), "ΑΣ".lower()
    ('ασ', 'ας')
    """
    return text.lower() if text.isascii() else "".join(map(str.lower, text))


def encode_parameter(piece: str) -> str:
    """Return *piece*, a parameter of a query, with name and value in their one spelling.

    >>> encode_parameter("a:b=c=%7e")
    'a%3Ab=c%3D~'
    """
    name, equals, value = piece.partition("=")
    return encode_query_text(name) + equals + encode_query_text(value)


def decode_parameter(piece: str) -> tuple[str, str]:
    """Return name and value, decoded, of *piece*, a parameter of a query.

    >>> decode_parameter("q=C%2B%2B+11")
    ('q', 'C++ 11')
    """
    name, _, value = piece.partition("=")
    if "%" not in piece and "+" not in piece:
        return name, value
    return decode_query_text(name), decode_query_text(value)
