"""Measures the memory of the bookkeeping for rescue, in bytes.

Run it as ``python -m benchmarks.bookkeeping [requests]``. A *request* was fetched and has no
variants; a *dropped variant* waits for its representative.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from hashlib import sha1
from types import SimpleNamespace
from typing import TYPE_CHECKING

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from benchmarks import results
from scrapy_urlcanon import Addon, RequestFingerprinter, UrlCanonDownloaderMiddleware
from scrapy_urlcanon.crawl.callbackmiddleware import UrlCanonCallbackMiddleware

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

VARIANTS_OF = 100_000


def used() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def crawler_with_middleware() -> tuple[Crawler, UrlCanonDownloaderMiddleware]:
    settings = {
        "ADDONS": {Addon: 500},
        "REQUEST_FINGERPRINTER_CLASS": RequestFingerprinter,
        "URLCANON_RULES": {"*": {"drop_params": ["sid"]}},
        "URLCANON_RESCUE_MAX_PENDING": 10**9,
        "URLCANON_REMEMBERED_PAGES": 10**9,
    }
    crawler = get_crawler(Spider, settings)
    return crawler, UrlCanonDownloaderMiddleware.from_crawler(crawler)


def per_request(count: int) -> float:
    crawler, middleware = crawler_with_middleware()
    callbacks = UrlCanonCallbackMiddleware.from_crawler(crawler)
    # No response is with the spider any more when the next request is sent.
    crawler.engine = SimpleNamespace(scraper=SimpleNamespace(slot=None))
    # Scrapy's dupefilter has each fingerprint too: that is not our memory.
    seen = set()
    before = used()
    for n in range(count):
        request = Request(f"http://site{n % 1000}.example/page/{n}")
        seen.add(crawler.request_fingerprinter.fingerprint(request))
        middleware.process_request(request)
        response = Response(request.url, body=b"page", request=request)
        callbacks.process_spider_input(middleware.process_response(request, response))
    total = used() - before
    before = used()
    alone = {sha1(str(n).encode()).digest() for n in range(count)}
    dupefilter = used() - before
    assert len(alone) == len(seen) == count
    return (total - dupefilter) / count


def per_variant(count: int) -> tuple[float, float]:
    crawler, middleware = crawler_with_middleware()
    urls = [f"http://site.example/page/{n}" for n in range(count)]
    for url in urls:
        middleware.process_request(Request(url))
    before = used()
    requests = [Request(f"{url}?sid=1") for url in urls]
    alone = used() - before
    before = used()
    for request in requests:
        crawler.signals.send_catch_log(signals.request_dropped, request=request, spider=None)
    return alone / count, (used() - before) / count


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    tracemalloc.start()
    each = per_request(count)
    alone, kept = per_variant(min(count, VARIANTS_OF))
    results.write(
        "bookkeeping",
        {
            "conditions": results.conditions(),
            "requests": count,
            "bytes of a request": each,
            "bytes of a waiting variant": kept,
            "bytes of its request": alone,
        },
        [
            results.table(
                [f"bookkeeping of {count:,} requests", "bytes"],
                [
                    ["a fetched request", f"{each:.0f}"],
                    ["a waiting variant", f"{kept:,.0f}"],
                    ["the request of that variant itself", f"{alone:,.0f}"],
                ],
            )
        ],
    )


if __name__ == "__main__":
    main()
