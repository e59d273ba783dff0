"""A visitor who installs a program through its web pages."""

from __future__ import annotations

from http.cookiejar import CookieJar
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

from benchmarks.programs.program import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


class Visitor:
    """Goes through the forms of an installer."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def send(self, path: str, form: Mapping[str, str], expected: str) -> str:
        """Send *form*; return what comes back, which has to have *expected* in it."""
        with self._opener.open(self._url + path, urlencode(form).encode(), timeout=300) as answer:
            said = answer.read().decode(errors="replace")
        if expected not in said:
            raise Unavailable(f"{path} with {sorted(form)} was answered with\n{said[-3000:]}")
        return said
