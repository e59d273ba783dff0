"""The site of the docs, from the Markdown that is read in the repository too: ``make site``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "scrapy-urlcanon"
author = "the scrapy-urlcanon developers"
project_copyright = f"2026, {author}"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinxcontrib.mermaid"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 3
highlight_language = "none"
smartquotes = False

html_theme = "sphinx_rtd_theme"
html_title = project
html_show_sourcelink = False

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PAGE = re.compile(r"\]\(([\w-]+)\.md\)")


def adapt(_: Sphinx, page: str, source: list[str]) -> None:
    """Unlink what is not on the site, and make a table of contents from the links of the index."""
    text = OUTSIDE.sub(r"\1", source[0])
    if page == "index":
        for title, body in SECTION.findall(text):
            pages = "\n".join(PAGE.findall(body))
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"
    source[0] = text


def setup(app: Sphinx) -> None:
    """Have Sphinx call :func:`adapt` for each page that it reads."""
    app.connect("source-read", adapt)
