"""Measures what resuming a killed job costs: CPU and memory for each request in its journal.

Run it as ``python -m benchmarks.resume [requests]``. A job of that many requests is killed when
half of them are done, and resumed. Both runs are processes of their own, and are measured up to
the first request that is sent. The figures of the first run are subtracted.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from time import process_time
from typing import TYPE_CHECKING

from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse

from benchmarks import results
from benchmarks.processes import result_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

REQUESTS = 200_000
_IS_RUN = "run"


class Server(BaseDownloadHandler):
    """Answers at once."""

    lazy = False

    async def download_request(self, request: Request) -> Response:
        """Return a page for *request*."""
        return TextResponse(request.url, body=b"a page", request=request)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


class HalfDone(Spider):
    """Crawls a given number of pages, and kills its process when half of them are done."""

    name = "half"
    pages = 0
    done = 0

    async def start(self) -> AsyncIterator[Request]:
        """Yield the request for what links them all."""
        yield Request("http://site.example/", dont_filter=True)

    def parse(self, response: Response) -> Iterator[Request]:
        """Yield the requests for the pages."""
        for number in range(self.pages):
            url = f"http://site{number % 1_000}.example/page/{number}"
            yield response.follow(url, self.parse_page)

    def parse_page(self, _: Response) -> None:
        """Count the page."""
        self.done += 1
        if self.done == self.pages // 2:
            # As a kill does, nothing is closed or flushed.
            os._exit(0)


def begin_or_resume(pages: int) -> None:
    """Run the job in the directory ``job``, and print its costs when the first request is sent."""
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_urlcanon.Addon": 500},
            "JOBDIR": "job",
            "DOWNLOAD_HANDLERS": {"http": Server},
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 100,
        }
    )
    crawler = process.create_crawler(HalfDone)

    def sent() -> None:
        crawler.signals.disconnect(sent, signals.request_reached_downloader)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps([process_time(), memory]), flush=True)
        if crawler.stats.get_value("urlcanon/job/recovered"):
            os._exit(0)

    crawler.signals.connect(sent, signals.request_reached_downloader)
    process.crawl(crawler, pages=pages)
    process.start()


def main() -> None:
    """Measure both runs, and write the results."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    with tempfile.TemporaryDirectory() as directory:
        (seconds, memory), resumed = (
            result_of("resume", pages, _IS_RUN, directory=directory) for _ in range(2)
        )
    each = {
        "microseconds": (resumed[0] - seconds) / pages * 1e6,
        "bytes": (resumed[1] - memory) / pages,
    }
    results.write(
        "resume",
        {"conditions": results.conditions(), "requests": pages, **each},
        [
            results.table(
                [f"to resume a killed job of {pages:,} requests", "for each"],
                [
                    ["CPU", f"{each['microseconds']:.0f} us"],
                    ["memory", f"{each['bytes']:.0f} bytes"],
                ],
            )
        ],
    )


if __name__ == "__main__":
    if sys.argv[2:] == [_IS_RUN]:
        begin_or_resume(int(sys.argv[1]))
    else:
        main()
