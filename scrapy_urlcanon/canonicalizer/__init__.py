"""URL text in, URL text out: no Scrapy, and no I/O."""

from __future__ import annotations

from scrapy_urlcanon.canonicalizer.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.explanation import Explanation, Step

__all__ = ["Canonicalizer", "Explanation", "Step"]
