"""The text of HTML and XML that a reader sees, and what stands in the head."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter

from lxml import etree  # type: ignore[import-untyped]

_UNSEEN = (
    *("script", "style", "noscript", "template", "svg"),
    *(etree.Comment, etree.ProcessingInstruction),
)
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"),
    *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
    *("li", "main", "nav", "ol", "option", "p", "pre", "section", "table", "td", "th"),
    *("title", "tr", "ul"),
)
# In one case or the other, by first letter: without regard to case it takes four times as long.
_BORDER = re.compile(
    r"<(?=/?(?:"
    + "|".join(
        f"{letter}(?:{'|'.join(name[1:] for name in names)})"
        for case in (str.lower, str.upper)
        for letter, names in groupby(map(case, _BLOCKS), itemgetter(0))
    )
    + r")[\s/>])"
)
_END_OF_HEAD = re.compile(r"</head|<body", re.IGNORECASE)

MAX_HEAD = 1 << 18
"""Characters of a page in which its head is looked for; real ones end long before."""


def parse(text: str) -> etree._Element | None:
    """Return the document that *text* is, or None where there is none in it.

    The borders of its blocks are marked in the text before, so that they are those of the lines:
    to visit the elements one by one takes longer than all else together.
    """
    try:
        # As bytes, because lxml refuses text with an encoding declaration.
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=False)
        return etree.fromstring(_BORDER.sub("\n<", text).encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def head_of(text: str) -> etree._Element | None:
    """Return the document of the head of *text* alone: what a visitor wrote stands behind it."""
    end = _END_OF_HEAD.search(text, 0, MAX_HEAD)
    return parse(text[: end.start()] if end else text[:MAX_HEAD])


def title_of(document: etree._Element) -> str:
    r"""Return the title of *document*, white space folded; empty where there is none.

    >>> title_of(parse("<title>One\n title</title><p>Text"))
    'One title'
    """
    for element in document.iter("title"):
        return " ".join("".join(element.itertext()).split())
    return ""


def images_of(document: etree._Element) -> list[str]:
    """Return the addresses of the images in *document* without their queries, as they stand there.

    Two pages of a gallery may differ in nothing else. The query is often the time of a change.
    """
    found = (element.get("src") for element in document.iter("img"))
    return [src.partition("?")[0] for src in found if src and not src.startswith("data:")]


def visible_lines(document: etree._Element) -> list[str]:
    """Return the lines of *document* that a reader sees, white space folded.

    The document is used up.
    """
    etree.strip_elements(document, *_UNSEEN, with_tail=False)
    return folded_lines(etree.tostring(document, method="text", encoding="unicode"))


def folded_lines(text: str) -> list[str]:
    """Return the lines of plain *text* that hold anything, white space folded."""
    return [" ".join(words) for line in text.split("\n") if (words := line.split())]
