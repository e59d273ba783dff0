"""Hides credentials and session ids in what reports and logs show of URLs.

:func:`redact` is for text that is stored or sent, and :func:`redact_rule` for parts of rules;
:func:`visible` makes text safe to display; :func:`shown_url` does both, for reports, logs and rules
    files.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import pairwise
from urllib.parse import quote, unquote_plus

REDACTED = "***"
"""Takes the place of a value that is not shown."""

# Words that mark a name as that of a secret, in whatever way sites write it: `X-Amz-Signature`,
# `accessToken`, `user[password]`.
_SECRET_WORDS = frozenset(
    {
        *("auth", "authorization", "authtoken", "cookie", "credential", "credentials"),
        *("csrf", "hmac", "jwt", "otp", "passcode", "passphrase", "passwd", "password"),
        *("pw", "pwd", "secret", "sess", "session", "sig", "signature", "token", "xsrf"),
    }
)
# Names that mark a secret only by themselves: `sort_key` and `pass_count` are none.
_SECRET_NAMES = frozenset(
    {
        *("accesskey", "accesstoken", "apikey", "cfid", "cftoken", "code", "key", "oauth", "pass"),
        *("pin", "privatekey", "secretkey", "sessid", "sessionid", "sid", "ticket"),
    }
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key")})
_SECRET_PREFIXES = ("aspsessionid", "csrf", "phpsess", "jsession")

_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_USERINFO = re.compile(r"\A([A-Za-z][A-Za-z0-9+.\-]*:)?([/\\]*)(?:[^/\\?#][^/?#]*)?@")
_NESTED_USERINFO = re.compile(r"[/\\]{2}[^/\\?#]*@")
_DELIMITER = re.compile("[/?&;#]")
_PLACE = re.compile(r"\{[^{}]*\}")
_MAX_DEPTH = 4
_LONGEST = 1_000
_LONGEST_END = 200
_LEFT_OUT = "[… "
_SHAPELESS = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def is_secret(name: str) -> bool:
    """Tell whether the value of a parameter of this name is not to be shown.

    >>> [is_secret(name) for name in ("sid", "access_token", "userPassword", "X-Amz-Signature")]
    [True, True, True, True]
    >>> [is_secret(name) for name in ("id", "sort_key", "keyword", "passage", "design")]
    [False, False, False, False, False]
    """
    words = [word.lower() for word in _WORD.findall(unquote_plus(name))]
    whole = "".join(words)
    return (
        whole in _SECRET_NAMES
        or whole.startswith(_SECRET_PREFIXES)
        or not _SECRET_WORDS.isdisjoint(words)
        or not _SECRET_PAIRS.isdisjoint(pairwise(words))
    )


def redact(url: str) -> str:
    """Return *url* without userinfo and without the values of parameters that look secret.

    These may be in the path (``;jsessionid=``), the query, the fragment, and in a URL that is the
    value of a parameter. Any text is accepted; the time is linear in its length.

    >>> redact("http://me:pw@example.com/a;jsessionid=1?sid=2&id=3#access_token=4")
    'http://***@example.com/a;jsessionid=***?sid=***&id=3#access_token=***'
    >>> redact("http://example.com/?next=http%3A%2F%2Fme%3Apw%40example.com")
    'http://example.com/?next=***'
    """
    rest, hash_, fragment = _USERINFO.sub(rf"\1\2{REDACTED}@", url).partition("#")
    path, question_mark, query = rest.partition("?")
    # A fragment may be a query, as in OAuth 2.0 (RFC 6749, section 4.2.2), or a route with one.
    route, second_question_mark, its_query = fragment.partition("?")
    return "".join(
        [
            "/".join(map(_pairs, path.split("/"))),
            question_mark,
            _query(query),
            hash_,
            _query(route),
            second_question_mark,
            _query(its_query),
        ]
    )


def redact_rule(text: str) -> str:
    """Return *text*, an entry of a rule, redacted as by :func:`redact`.

    Placeholders of a template are no values. If there are no other values to redact, the text is
    shown unchanged, so that it can be pasted.

    >>> redact_rule("/show?sid={sid}"), redact_rule("/show?sid=4fa2&id={id}")
    ('/show?sid={sid}', '/show?sid=***&id={id}')
    """
    without_places = _PLACE.sub("", text)
    return text if redact(without_places) == without_places else redact(text)


def _query(query: str) -> str:
    return "&".join(map(_pairs, query.split("&")))


def _pairs(text: str) -> str:
    """Redact the pairs in *text* that are separated by semicolons.

    A semicolon may also be part of a value, so nothing after a secret is shown.
    """
    shown = []
    for pair in text.split(";"):
        name, _, value = pair.partition("=")
        if value and is_secret(name):
            shown.append(f"{name}={REDACTED}")
            break
        shown.append(f"{name}={REDACTED}" if _holds_secret(value) else pair)
    return ";".join(shown)


def _holds_secret(value: str) -> bool:
    """Tell whether *value* is a URL, or part of one, that contains something to redact."""
    for _ in range(_MAX_DEPTH):
        if _NESTED_USERINFO.search(value):
            return True
        pairs = (piece.partition("=") for piece in _DELIMITER.split(value))
        if any(content and is_secret(name) for name, _, content in pairs):
            return True
        decoded = unquote_plus(value)
        if decoded == value:
            return False
        value = decoded
    # Nobody encodes a URL that often. What was not searched is not shown.
    return True


def visible(text: str) -> str:
    r"""Return *text* with invisible characters percent-encoded.

    These are control and format characters, among them the marks for the direction of writing
    (Unicode categories C, Zl and Zp), which a page or a terminal would obey.

    >>> visible("http://example.com/\u202egpj.exe\x1b[2J")
    'http://example.com/%E2%80%AEgpj.exe%1B[2J'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        quote(character, safe="", errors="surrogatepass")
        if unicodedata.category(character) in _SHAPELESS
        else character
        for character in text
    )


def visible_lines(text: str) -> str:
    r"""Return *text* with each of its lines made :func:`visible`.

    >>> visible_lines("one\n\x1b[2Jtwo")
    'one\n%1B[2Jtwo'
    """
    return "\n".join(map(visible, text.split("\n")))


def visible_json(document: str) -> str:
    r"""Return *document*, valid JSON, with invisible characters escaped.

    The content is the same: except at the ends of lines, such characters are only within strings.

    >>> visible_json('{"a": "\u202eb"}')
    '{"a": "\\u202eb"}'
    """
    return "\n".join(
        "".join(
            json.dumps(character)[1:-1]
            if unicodedata.category(character) in _SHAPELESS
            else character
            for character in line
        )
        for line in document.split("\n")
    )


def shown_url(url: str) -> str:
    """Return *url* as it is displayed: redacted, visible, and shortened if it is very long.

    >>> shown_url("http://example.com/?sid=1&id=2")
    'http://example.com/?sid=***&id=2'
    >>> len(shown_url("http://example.com/" + 100_000 * "a"))
    1023
    """
    url = visible(redact(url))
    if len(url) <= _LONGEST:
        return url
    left_out = f"{_LEFT_OUT}{len(url) - _LONGEST:,} characters …]"
    return url[: _LONGEST - _LONGEST_END] + left_out + url[-_LONGEST_END:]


def is_whole(shown: str) -> bool:
    """Tell whether the result of :func:`shown_url` is the whole URL, with nothing left out.

    >>> is_whole(shown_url("http://example.com/?id=1"))
    True
    >>> is_whole(shown_url("http://example.com/?sid=1"))
    False
    """
    return REDACTED not in shown and _LEFT_OUT not in shown
