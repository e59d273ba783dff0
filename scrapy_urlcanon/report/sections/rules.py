"""Explains what the options in a report do, from their docstrings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.canonicalizer.rules.documentation import rule_page
from scrapy_urlcanon.crawl.dropped.summary import title_of
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.report.sections.options import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.report.document import Report

_TEXT_OF_DECLARED: Final = """
**What it does:** the canonical URL that a page declares is taken as seen once the spider has that
page, where pages that declare in that way were seen to show what they declare.

**When it is wrong:** the way of declaring was right on the pages that were compared, and is not
on others. ``URLCANON_AUDIT`` compares some of the dropped ones too.
"""

_CODE = re.compile(r"``(.+?)``|`([^`]+)`")
_LEAD = re.compile(r"(What it does|Why it is safe|When it is wrong):\s")


class Rules(Section):
    """The text about each option in the report; on the HTML page only."""

    place = 70
    name = "rules"
    label = "Rules"

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        names = [option.name for option in report.rows(Option)]
        return {"rules": [(name, title_of(name), text_of(name)) for name in names]}


class Span(NamedTuple):
    """A run of text."""

    text: str
    is_code: bool


class Block(NamedTuple):
    """A paragraph or an item of a list."""

    lead: str
    """Its first words if they are a heading such as "What it does"; else empty."""
    spans: tuple[Span, ...]
    is_item: bool


def text_of(name: str) -> tuple[Block, ...]:
    """Return the documentation of the option *name* without its heading; empty for other names."""
    if name == DECLARED_CANONICAL:
        return tuple(_blocks(_TEXT_OF_DECLARED))
    if name not in BY_NAME:
        return ()
    _, _, body = rule_page(BY_NAME[name]).partition("\n\n")
    return tuple(_blocks(body))


def _blocks(markdown: str) -> Iterator[Block]:
    for paragraph in re.split(r"\n{2,}", markdown.strip()):
        if paragraph.startswith("- "):
            for item in paragraph.removeprefix("- ").split("\n- "):
                yield Block("", _spans(item), is_item=True)
        else:
            text = " ".join(paragraph.split())
            lead = _LEAD.match(text)
            yield Block(
                lead[1] if lead else "", _spans(text[lead.end() :] if lead else text), is_item=False
            )


def _spans(text: str) -> tuple[Span, ...]:
    # Text alternates with code in one of two forms.
    pieces = _CODE.split(text)
    spans: list[Span] = []
    for start in range(0, len(pieces), 3):
        codes = pieces[start + 1 : start + 3]
        spans += [Span(pieces[start], is_code=False)]
        spans += [Span(code, is_code=True) for code in codes if code]
    return tuple(span for span in spans if span.text)
