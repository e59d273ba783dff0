"""The text of HTML and XML that a reader sees, and what stands in the head."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Literal

from lxml import etree  # type: ignore[import-untyped]

from scrapy_urlcanon.pages.inner_loops import fold_spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEDIA = ("img", "source", "video", "audio", "iframe", "frame", "embed", "object")
_UNSEEN = ("script", "style", "noscript", "template", "svg")
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"),
    *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
    *("li", "main", "nav", "ol", "option", "p", "pre", "section", "table", "td", "th"),
    *("title", "tr", "ul"),
)
# A stylesheet, because libxslt visits the elements without coming back to Python for each.
_TEXT = """
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/>
<xsl:template match="{unseen}|comment()|processing-instruction()"/>
<xsl:template match="{blocks}">
<xsl:text>&#10;</xsl:text><xsl:apply-templates/><xsl:text>&#10;</xsl:text>
</xsl:template>
</xsl:stylesheet>
"""
_of_thread = threading.local()
# The end too: the last member has no comma, and may be another one at each visit.
_BETWEEN_MEMBERS = re.compile(r'(?:(?<=[\[{])|,)\s*(?=["\[{])|(?=[\]}])')

_END_OF_HEAD = re.compile(r"</head|<body", re.IGNORECASE)

MAX_HEAD = 1 << 18
"""Characters of a page in which its head is looked for; real ones end long before."""


def parse(text: str) -> etree._Element | None:
    """Return the document that *text* is, or None where there is none in it."""
    try:
        # As bytes, because lxml refuses text with an encoding declaration.
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=False)
        return etree.fromstring(text.replace("\0", "").encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def text_of_head(text: str) -> str:
    """Return the head of *text* alone: what a visitor wrote stands behind it."""
    end = _END_OF_HEAD.search(text, 0, MAX_HEAD)
    return text[: end.start()] if end else text[:MAX_HEAD]


def title_of(document: etree._Element) -> str:
    r"""Return the title of *document*, white space folded; empty where there is none.

    >>> title_of(parse("<title>One\n title</title><p>Text"))
    'One title'
    """
    # In its head first: to ask a whole document for one title looks through all of it for a second.
    for part in (next(document.iterchildren("*"), document), document):
        for element in part.iter("title"):
            return " ".join("".join(element.itertext()).split())
    return ""


def media_of(document: etree._Element) -> list[str]:
    """Return the addresses of what *document* embeds, without their queries, as they stand there.

    That is images, sounds, films and other documents (HTML Standard, section 4.8, "Embedded
    content"), and images that a script is to load (``data-src``). Two pages of a gallery, or two
    with one film each, may differ in nothing else. The query is often the time of a change.

    >>> page = '<img src=a.gif data-src="/b.jpg?1"><video><source src=c.mp4></video>'
    >>> media_of(parse(page))
    ['/b.jpg', 'c.mp4']
    """
    found = (_embedded_by(element) for element in document.iter(*_MEDIA))
    return [address.partition("?")[0] for address in found if address]


def _embedded_by(element: etree._Element) -> str:
    """Return the address of what an *element* embeds; empty where it is part of the page."""
    for name in ("data-src", "src", "data"):
        address = element.get(name)
        if address and not address.startswith("data:"):
            return str(address)
    # One image in several sizes: "small.jpg 1x, large.jpg 2x".
    return str(element.get("srcset", "")).strip().partition(" ")[0]


def scripts_of(document: etree._Element) -> str:
    """Return the scripts that stand in *document*, and the data for them.

    >>> scripts_of(parse("<title>App</title><script src=a.js></script><script>id = 1</script>"))
    'id = 1'
    """
    return "\n".join(filter(None, (element.text for element in document.iter("script"))))


def text_of(document: etree._Element, kind: Literal["html", "xml"] = "html") -> str:
    """Return the text of *document* that a reader sees, with line breaks where blocks end.

    In XML, of which a reader sees what some program makes of it, each element is one.
    """
    stylesheet = getattr(_of_thread, kind, None)
    if stylesheet is None:
        blocks = "*" if kind == "xml" else "|".join(_BLOCKS)
        # lxml copies one of another thread at each use.
        stylesheet = etree.XSLT(etree.XML(_TEXT.format(unseen="|".join(_UNSEEN), blocks=blocks)))
        setattr(_of_thread, kind, stylesheet)
    try:
        return str(stylesheet(document))
    except etree.XSLTApplyError:
        return "\n".join(_texts_of_deep(document))


def _texts_of_deep(document: etree._Element) -> Iterator[str]:
    """Yield the visible texts of a document that is nested deeper than libxslt goes."""
    walk = etree.iterwalk(document, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and element.tag in _UNSEEN:
            walk.skip_subtree()
        elif event == "start":
            yield element.text or ""
        if event != "start":
            yield element.tail or ""


def with_lines_of_members(text: str) -> str:
    r"""Return *text* with each member of its objects on a line of its own, if it is JSON.

    Most of it is sent as one line, which a time or an id makes another one at each visit.

    >>> with_lines_of_members('{"id": 1, "rows": [[1, 2], [3, 4]]}')
    '{\n"id": 1\n"rows": [\n[1, 2\n]\n[3, 4\n]\n]\n}'
    >>> with_lines_of_members('He said: ["yes", "no"]')
    'He said: ["yes", "no"]'
    """
    is_json = text.lstrip()[:1] in {"{", "["}
    return _BETWEEN_MEMBERS.sub("\n", text) if is_json else text


def folded_lines(text: str) -> bytes:
    r"""Return the lines of plain *text* that hold anything, white space folded, in UTF-8.

    >>> folded_lines(" one \t two\n\n three\xa0four")
    b'one two\nthree four'
    """
    return fold_spaces(text.encode("utf-8", "surrogatepass"))
