"""Measures the news of a crawl by the text of the downloaded pages.

News are the words in lines of visible text that no page fetched before had. Pages are read by
separate code, so that the order is not judged by its own.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING

from lxml import etree, html

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNSEEN = frozenset(
    {"script", "style", "noscript", "template", "title", "head", "option", "textarea"}
)
_IN_A_LINE = frozenset(
    {
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn"),
        *("em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small"),
        *("span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
_TEXTS = ("text/", "xml", "json", "javascript")


class News:
    """Counts the words of lines that were not seen before."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def of(self, body: bytes, content_type: str) -> int:
        """Return how many words of news a response has, and remember its lines."""
        words = 0
        for line in lines(body, content_type):
            key = blake2b(line.encode(errors="replace"), digest_size=8).digest()
            if key not in self._seen:
                self._seen.add(key)
                words += len(line.split())
        return words


def lines(body: bytes, content_type: str) -> Iterator[str]:
    """Yield the lines of visible text of a response."""
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind:
        yield from _of_html(body)
    elif "json" in kind:
        yield from _of_json(body)
    elif any(part in kind for part in _TEXTS):
        yield from _plain(body.decode(errors="replace"))


def _of_json(body: bytes) -> Iterator[str]:
    """Yield the texts and numbers in JSON: as one line, every other order of them would be news."""
    try:
        waiting = [json.loads(body)]
    except ValueError:
        yield from _plain(body.decode(errors="replace"))
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            yield from _plain(str(value))


def _plain(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if words := line.split():
            yield " ".join(words)


def _of_html(body: bytes) -> Iterator[str]:
    try:
        root = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError):
        return
    line: list[str] = []
    for text in _texts(root):
        if text is None:
            if words := " ".join(line).split():
                yield " ".join(words)
            line.clear()
        else:
            line.append(text)
    if words := " ".join(line).split():
        yield " ".join(words)


def _texts(root: html.HtmlElement) -> Iterator[str | None]:
    """Yield the texts of a page, and None at the end of each line."""
    for event, element in etree.iterwalk(root, events=("start", "end")):
        is_shown = isinstance(element.tag, str) and element.tag not in _UNSEEN
        if is_shown and element.tag not in _IN_A_LINE:
            yield None
        if event == "start":
            if is_shown and element.text:
                yield from _shown(element.text, element)
        elif element.tail:
            yield from _shown(element.tail, element.getparent())


def _shown(text: str, element: html.HtmlElement | None) -> Iterator[str | None]:
    """Yield a text within *element* if it is shown, preformatted text by lines."""
    is_preformatted = False
    while element is not None:
        if element.tag in _UNSEEN:
            return
        is_preformatted |= element.tag == "pre"
        element = element.getparent()
    first, *others = text.split("\n") if is_preformatted else [text]
    yield first
    for line in others:
        yield None
        yield line
