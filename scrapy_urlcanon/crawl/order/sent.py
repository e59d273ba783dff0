"""Shows what a request sends in its body as parameters of its URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

if TYPE_CHECKING:
    from scrapy import Request

_MOST: Final = 1 << 16
_FIELD = re.compile(r'"([^"\\]*)"\s*:\s*(?:"([^"\\]*)|([^\s",\[\]{}]+))')


def url_with_fields(request: Request) -> str:
    """Return the URL of *request*, with the fields of a form or of JSON in its query.

    A site may answer everything at one URL, and tell a list from an article by what is sent there.

    >>> from scrapy import FormRequest
    >>> from scrapy.http import JsonRequest
    >>> url_with_fields(FormRequest("http://a.example/do?lang=en", formdata={"page": "2"}))
    'http://a.example/do?lang=en&page=2'
    >>> url_with_fields(JsonRequest("http://a.example/do", data={"by": {"tag": "a&b"}, "page": 2}))
    'http://a.example/do?tag=a%26b&page=2'
    """
    url = request.url
    if not request.body:
        return url
    kind = request.headers.get("Content-Type") or b""
    fields = request.body[:_MOST].decode("utf-8", "replace")
    if b"json" in kind:
        found = _FIELD.findall(fields)
        fields = urlencode([(name, text or number) for name, text, number in found])
    elif b"urlencoded" not in kind:
        return url
    path, _, query = url.partition("#")[0].partition("?")
    return f"{path}?{query}&{fields}" if query else f"{path}?{fields}"
