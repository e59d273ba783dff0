"""Scrapy plugin that fetches each page once, under whatever URLs it is linked.

One line in ``settings.py`` turns it on::

    ADDONS = {"scrapy_urlcanon.Addon": 500}

The names below are imported when they are first used, so that
:mod:`scrapy_urlcanon.canonicalizer` can be used without Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from scrapy_urlcanon.version import __version__ as __version__

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.addon import Addon
    from scrapy_urlcanon.crawl.downloadermiddleware import UrlCanonDownloaderMiddleware
    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
    from scrapy_urlcanon.crawl.spidermiddleware import UrlCanonSpiderMiddleware
    from scrapy_urlcanon.library import Canonicalizer, canonicalize

__all__ = [
    "Addon",
    "Canonicalizer",
    "RequestFingerprinter",
    "UrlCanonDownloaderMiddleware",
    "UrlCanonSpiderMiddleware",
    "canonicalize",
]

_MODULES = {
    "Addon": "scrapy_urlcanon.crawl.addon",
    "Canonicalizer": "scrapy_urlcanon.library",
    "RequestFingerprinter": "scrapy_urlcanon.crawl.fingerprinter",
    "UrlCanonDownloaderMiddleware": "scrapy_urlcanon.crawl.downloadermiddleware",
    "UrlCanonSpiderMiddleware": "scrapy_urlcanon.crawl.spidermiddleware",
    "canonicalize": "scrapy_urlcanon.library",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
