"""Extracts host, port and first directory from a URL, quickly and without validation."""

from __future__ import annotations

import re

_END = re.compile("[/?#]")


def authority_of(url: str) -> str:
    """Return the host of *url*, with its port if any, in lower case.

    >>> authority_of("http://user@Example.com:8080/a?b")
    'example.com:8080'
    """
    return _END.split(url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2].lower()


def directory_of(url: str) -> str:
    """Return the first directory of *url*.

    >>> directory_of("http://example.com/forum/a?b")
    'forum'
    """
    return url.partition("://")[2].partition("/")[2].lstrip("/").partition("/")[0]
