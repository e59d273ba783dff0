"""Keeps what is nobody's business out of logs, reports and stats."""

from __future__ import annotations

import re

_HIDDEN = "***"

# Scheme, slashes, and everything up to the last "@" before path, query or fragment.
_USERINFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]*:)?(//)[^/?#]*@")
_PARAMETER = re.compile(r"(?P<name>[^&;#=]+)=[^&;#]*")

# Words of names, as in `access_token`, `X-Amz-Signature` and `authToken`.
_SECRET_WORDS = {
    "apikey",
    "assertion",
    "auth",
    "authorization",
    "code",
    "cookie",
    "credential",
    "credentials",
    "csrf",
    "hmac",
    "jsessionid",
    "jwt",
    "key",
    "nonce",
    "otp",
    "pass",
    "passwd",
    "password",
    "phpsessid",
    "pin",
    "pwd",
    "sas",
    "secret",
    "sess",
    "session",
    "sessionid",
    "sid",
    "sig",
    "sign",
    "signature",
    "ticket",
    "token",
    "xsrf",
}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONG_SECRET = re.compile(
    r"token|secret|passw|session|sessid|signature|credential|apikey|api_key|auth(?!or)",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Tell whether a parameter of this *name* looks as if its value were a secret.

    >>> [name for name in ("access_token", "PHPSESSID", "q", "X-Amz-Signature", "keyword")
    ...     if is_secret(name)]
    ['access_token', 'PHPSESSID', 'X-Amz-Signature']
    """
    words = {word.lower() for word in _WORDS.findall(name)}
    return not words.isdisjoint(_SECRET_WORDS) or bool(_LONG_SECRET.search(name))


_SIGNATURE_WORDS = {"hdnea", "hdntl", "hdnts", "hmac", "sig", "sign", "signature"}


def is_signed(url: str) -> bool:
    """Tell whether a parameter of *url* looks like a signature of the others.

    As of Amazon S3 and CloudFront, Google Cloud Storage, Azure and Akamai, and any secret
    that comes with an expiry.

    >>> is_signed("https://b.s3.amazonaws.com/a?X-Amz-Expires=60&X-Amz-Signature=0a1b")
    True
    >>> is_signed("https://a.example/file?md5=0a1b&expires=1700000000&token=2c")
    True
    >>> is_signed("https://a.example/file?token=2c&signal=1")
    False
    """
    names = [parameter["name"] for parameter in _PARAMETER.finditer(url.partition("?")[2])]
    words = {word.lower() for name in names for word in _WORDS.findall(name)}
    if not words.isdisjoint(_SIGNATURE_WORDS):
        return True
    return not words.isdisjoint({"expires", "expiry", "exp"}) and any(map(is_secret, names))


def redact(url: str) -> str:
    """Return *url* without userinfo, and with ``***`` for what looks like a secret.

    >>> redact("https://user:pw@example.com/a;jsessionid=1?id=2&token=3#access_token=4")
    'https://example.com/a;jsessionid=***?id=2&token=***#access_token=***'
    """
    before, question_mark, query = _USERINFO.sub(r"\1\2", url).partition("?")
    return _PARAMETER.sub(_hide, before) + question_mark + _PARAMETER.sub(_hide, query)


def _hide(parameter: re.Match[str]) -> str:
    name = parameter["name"]
    # In the path a name follows a slash, if no semicolon.
    return f"{name}={_HIDDEN}" if is_secret(name.rpartition("/")[2]) else parameter[0]
