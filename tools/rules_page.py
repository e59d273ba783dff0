"""Writes ``docs/rules.md``, the page of the catalogue."""

from __future__ import annotations

from pathlib import Path

from scrapy_urlcanon.canonicalizer.rules.documentation import document

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"

if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
    print(PAGE)
