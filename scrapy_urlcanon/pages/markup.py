"""Extracts from HTML and XML the text that a reader sees, and parts of the head."""

from __future__ import annotations

import re
import threading
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote_plus

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
# Types of ``input`` without editable text (HTML Standard, section 4.10.5.1), and searches.
_NOT_WRITTEN_IN = (
    *("hidden", "password", "search", "checkbox", "radio", "range", "color", "file"),
    *("submit", "image", "reset", "button"),
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphens, spaces without width, joiners and byte order marks."""
# A stylesheet, because libxslt traverses the elements without calling Python for each.
_STYLESHEET = """
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/>
<xsl:param name="asked"/>{templates}
</xsl:stylesheet>
"""
_TEXT = """
<xsl:template match="{unseen}|comment()|processing-instruction()"{mode}/>
<xsl:template match="{blocks}"{mode}>
<xsl:text>&#10;</xsl:text><xsl:apply-templates{mode}/><xsl:text>&#10;</xsl:text>
</xsl:template>
"""
# A drawing may contain text (SVG 2, chapter 11) and HTML (chapter 12, "foreignObject"), as a
# diagram does whose labels may break. A template may be the shadow tree of its parent, which
# browsers show (HTML Standard, section 4.12.3, "shadowrootmode").
_SHOWN_INSIDE = """
<xsl:template match="svg"{mode} priority="1">
<xsl:apply-templates mode="{drawn}"/>
</xsl:template>
<xsl:template match="text()" mode="{drawn}"/>
<xsl:template match="text|foreignobject" mode="{drawn}">
<xsl:text>&#10;</xsl:text><xsl:apply-templates{mode}/><xsl:text>&#10;</xsl:text>
</xsl:template>
<xsl:template match="template[@shadowrootmode]"{mode} priority="1">
<xsl:text>&#10;</xsl:text><xsl:apply-templates{mode}/><xsl:text>&#10;</xsl:text>
</xsl:template>
"""
# The values in a form with ``method=post`` are text too: two forms to edit an entry may differ in
# nothing else. Values that repeat the query of the URL are not, such as the page that a login form
# returns to; nor are fields of a search form (``get``).
_FIELDS = """
<xsl:template match="form[translate(@method, 'POST', 'post') = 'post']" priority="1">
<xsl:text>&#10;</xsl:text><xsl:apply-templates mode="fields"/><xsl:text>&#10;</xsl:text>
</xsl:template>
<xsl:template match="input[normalize-space(@value)]" mode="fields">
<xsl:variable name="type" select="concat(' ', translate(@type, '{upper}', '{lower}'), ' ')"/>
<xsl:if test="not(contains('{not_written_in}', $type))
    and not(contains(translate(@style, ' ', ''), 'display:none'))
    and not(contains($asked, concat('&#10;', @value, '&#10;')))">
<xsl:text>&#10;</xsl:text><xsl:value-of select="@value"/><xsl:text>&#10;</xsl:text>
</xsl:if>
</xsl:template>
"""
_of_thread = threading.local()
# The end too: the last member has no comma, and may change at each visit.
_BETWEEN_MEMBERS = re.compile(r'(?:(?<=[\[{])|,)\s*(?=["\[{])|(?=[\]}])')
_MARGIN = 128
"""How many characters at each end of a text are looked at, without white space."""
# JSONP calls, with the generated names of jQuery and the prefix of Express; and the prefixes of
# Angular, Google and Facebook against cross-site inclusion.
_WRAPPED = re.compile(
    r"""\)\]\}'?,?\s*|(?:while|for)\([1;]{1,2}\);
    |(?:/\*\*/[ ]?)?(?:typeof[ ][\w$.]{1,64}[ ]===[ ]'function'[ ]&&[ ])?
     (?P<call>[\w$.]{1,64}\()""",
    re.VERBOSE,
)

_END_OF_HEAD = re.compile(r"</head|<body", re.IGNORECASE)

MAX_HEAD = 1 << 18
"""How many characters of a page are searched for its head; real heads are much shorter."""


def parse(text: str) -> etree._Element | None:
    """Return the parsed document; None if *text* has no markup."""
    try:
        # As bytes, since lxml rejects strings with an encoding declaration.
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=False)
        return etree.fromstring(text.replace("\0", "").encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def text_of_head(text: str) -> str:
    """Return the part of *text* up to the end of the head; visitors may write after it."""
    end = _END_OF_HEAD.search(text, 0, MAX_HEAD)
    return text[: end.start()] if end else text[:MAX_HEAD]


def title_of(document: etree._Element) -> str:
    r"""Return the title of *document*, with white space folded, or the empty string.

    >>> title_of(parse("<title>One\n title</title><p>Text"))
    'One title'
    """
    # The head first: searching a whole document without a title there visits every element.
    for part in (next(document.iterchildren("*"), document), document):
        for element in part.iter("title"):
            return " ".join(_visible("".join(element.itertext())).split())
    return ""


def media_and_scripts_of(document: etree._Element) -> tuple[list[str], str]:
    """Return the addresses of embedded media in *document*, and the text of its inline scripts.

    Media are images, audio, video and other documents (HTML Standard, section 4.8, "Embedded
    content"), and images that a script loads (``data-src``). Two pages of a gallery may differ in
    nothing else. Their addresses are as written, but without queries, which often are timestamps.

    Scripts include the data that others make the page of, whatever their type.

    >>> page = '<img src=a.gif data-src="/b.jpg?1"><video><source src=c.mp4></video>'
    >>> media_and_scripts_of(parse(page + "<script src=a.js></script><script>id = 1</script>"))
    (['/b.jpg', 'c.mp4'], 'id = 1')
    """
    media, scripts = [], []
    # In one go, since most of the time is for the way through all elements.
    for element in document.iter("script", *_MEDIA):
        if element.tag == "script":
            scripts.append(element.text or "")
        elif address := _embedded_by(element):
            media.append(address.partition("?")[0])
    return media, "\n".join(filter(None, scripts))


def _embedded_by(element: etree._Element) -> str:
    """Return the address that an *element* embeds; empty if its content is inline."""
    for name in ("data-src", "src", "data"):
        address = element.get(name)
        if address and not address.startswith("data:"):
            return str(address)
    # One image in several sizes: "small.jpg 1x, large.jpg 2x".
    return str(element.get("srcset", "")).strip().partition(" ")[0]


def data_of(document: etree._Element) -> Iterator[str]:
    """Yield the values of ``data-*`` attributes, and of all attributes of custom elements.

    They are data for scripts (HTML Standard, sections 3.2.6.6 and 4.13).

    >>> [*data_of(parse("<div id=app data-page=1></div><x-item number=2></x-item>"))]
    ['1', '2']
    """
    for element in document.iter("*"):
        is_custom = "-" in element.tag
        for name, value in element.attrib.items():
            if is_custom or name.startswith("data-"):
                yield value


def text_of(document: etree._Element, kind: Literal["html", "xml"] = "html", url: str = "") -> str:
    """Return the text of *document* that a reader sees, with line breaks around blocks.

    In XML each element is a block.

    >>> form = parse("<form method=post>City <input value=Rome><input value=/news></form>")
    >>> text_of(form, url="http://a.example/edit?id=7&back=%2Fnews").split()
    ['City', 'Rome']

    >>> text_of(parse("<svg><title>Icon</title><text>Sold</text></svg>")).split()
    ['Sold']

    :param kind: whether the document is HTML or XML.
    :param url: the URL of the response. A form field that repeats a value of its query is not text.
    """
    stylesheet = getattr(_of_thread, kind, None)
    if stylesheet is None:
        # One for each thread: lxml copies a stylesheet of another thread at each use.
        stylesheet = etree.XSLT(etree.XML(_STYLESHEET.format(templates=_templates(kind))))
        setattr(_of_thread, kind, stylesheet)
    try:
        asked = "\n".join(("", *_values_of_query(url), ""))
        return str(stylesheet(document, asked=etree.XSLT.strparam(asked)))
    except etree.XSLTApplyError:
        return "\n".join(_texts_of_deep(document))


def _values_of_query(url: str) -> list[str]:
    query = url.partition("#")[0].partition("?")[2]
    values = (piece.partition("=")[2] for piece in query.replace(";", "&").split("&"))
    return [text for value in values if (text := unquote_plus(value)).isprintable()]


def _templates(kind: Literal["html", "xml"]) -> str:
    unseen = "|".join(_UNSEEN)
    if kind == "xml":
        return _TEXT.format(unseen=unseen, blocks="*", mode="")
    blocks = "|".join(_BLOCKS)
    # For each mode another one for drawings, so that nested texts are visited only once.
    modes = {"": "drawn", ' mode="fields"': "drawn-fields"}
    texts = (
        f"{_TEXT}{_SHOWN_INSIDE}".format(unseen=unseen, blocks=blocks, mode=mode, drawn=drawn)
        for mode, drawn in modes.items()
    )
    not_written_in = " ".join(("", *_NOT_WRITTEN_IN, ""))
    fields = _FIELDS.format(
        not_written_in=not_written_in, upper=ascii_uppercase, lower=ascii_lowercase
    )
    return "".join([*texts, fields])


def _texts_of_deep(document: etree._Element) -> Iterator[str]:
    """Yield the visible texts of a document that is nested too deep for libxslt."""
    walk = etree.iterwalk(document, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and element.tag in _UNSEEN:
            walk.skip_subtree()
        elif event == "start":
            yield element.text or ""
        if event != "start":
            yield element.tail or ""


def with_lines_of_members(text: str) -> str:
    r"""Return *text*, if it is JSON, with each member of its objects and arrays on its own line.

    JSON is mostly sent as one line, which would change as a whole with any timestamp or id.

    >>> with_lines_of_members('{"id": 1, "rows": [[1, 2], [3, 4]]}')
    '{\n"id": 1\n"rows": [\n[1, 2\n]\n[3, 4\n]\n]\n}'
    >>> with_lines_of_members('He said: ["yes", "no"]')
    'He said: ["yes", "no"]'
    """
    return _BETWEEN_MEMBERS.sub("\n", text) if is_json(text) else text


def is_json(text: str) -> bool:
    r"""Tell whether *text* may be JSON, which many programs send as HTML.

    It may be the argument of a call (JSONP), or have a prefix against cross-site inclusion.

    >>> is_json(' {"id": 1}'), is_json("[ad] <p>News"), is_json("")
    (True, False, False)
    >>> is_json('jQuery3_17({"id": 1});'), is_json(')]}\'\n{"id": 1}'), is_json("see([1]) there")
    (True, True, False)
    """
    start, end = text[:_MARGIN].lstrip(), text[-_MARGIN:].rstrip()
    wrapped = _WRAPPED.match(start)
    if wrapped:
        start = start[wrapped.end() :].lstrip()
        end = end.rstrip(" ;)\n") if wrapped["call"] else end
    return (start[:1], end[-1:]) in {("{", "}"), ("[", "]")}


def folded_lines(text: str) -> bytes:
    r"""Return the non-empty lines of plain *text*, white space folded, in UTF-8.

    >>> folded_lines(" one \t two\n\n thr\xadee\xa0four")
    b'one two\nthree four'
    """
    return fold_spaces(_visible(text).encode("utf-8", "surrogatepass"))


def _visible(text: str) -> str:
    """Return *text* without invisible characters.

    Some sites insert random ones at each visit, to recognise copies.
    """
    if not text.isascii():
        for character in _INVISIBLE:
            # Searching takes a tenth of the time of replacing.
            if character in text:
                text = text.replace(character, "")
    return text
