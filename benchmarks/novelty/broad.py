"""Measures what the order costs in a broad crawl: ``python -m benchmarks.novelty.broad``.

Very many hosts of three pages each are crawled to their end, once with Scrapy's queue that is
fair between hosts and once with the plugin's. Then requests for as many hosts wait in each
queue, and all are taken from the plugin's. Before that the model predicts and learns; its memory
must not grow.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from argparse import ArgumentParser
from itertools import count, islice
from resource import RUSAGE_SELF, getrusage
from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import FifoMemoryQueue
from scrapy.utils.test import get_crawler

from benchmarks.novelty.cases import NOVELTY
from benchmarks.novelty.crawling import BREADTH_FIRST, PLUGIN, Crawled, crawl
from benchmarks.novelty.measuring import hosts_task, with_settings
from benchmarks.results import conditions, say, table, write
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.queue import NoveltyPriorityQueue
from scrapy_urlcanon.novelty.features import UrlFeatures
from scrapy_urlcanon.novelty.model import OnlineModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHAPES = (
    "/",
    "/article/{}",
    "/tag/name-{}",
    "/list?page={}",
    "/search?q=word{}&sort=date",
    "/2024/05/{}/title-of-it",
)
_CONTEXT = ("place li in ul", "alike 2", "follow", "from 1")


class BroadSpider(Spider):
    """A spider without a crawl, since queues need one."""

    name = "broad"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty.broad", description=__doc__)
    parser.add_argument("--hosts", type=int, default=10_000, help="how many (10,000)")
    parser.add_argument("--waiting", type=int, default=20, help="requests of each host (20)")
    parser.add_argument("--predictions", type=int, default=10_000_000, help="10,000,000")
    options = parser.parse_args()
    # First: what a process once took it never takes less than, by its peak.
    seconds, growth = _predict(options.predictions)
    off = _crawl({**PLUGIN, **BREADTH_FIRST, "URLCANON_PROFILES": False}, options.hosts)
    on = _crawl(NOVELTY, options.hosts)
    ours = _bytes(NoveltyPriorityQueue, options.hosts, options.waiting)
    scrapys = _bytes(DownloaderAwarePriorityQueue, options.hosts, options.waiting)
    found = {
        "hosts": options.hosts,
        "fetches with Scrapy's queue": len(off.urls),
        "fetches with ours": len(on.urls),
        "ms of CPU for each with Scrapy's queue": round(off.cpu / len(off.urls) * 1e3, 2),
        "ms of CPU for each with ours": round(on.cpu / len(on.urls) * 1e3, 2),
        "requests that wait, for each host": options.waiting,
        "bytes for each host, more than in Scrapy's queue": round(ours[0] - scrapys[0]),
        "bytes for each request that waits": round((ours[0] - scrapys[0]) / options.waiting),
        "bytes for each host once all are taken": round(ours[1]),
        "predictions": options.predictions,
        "us for each": round(seconds / options.predictions * 1e6, 1),
        "MiB more at the end than after the first tenth": round(growth, 1),
        **conditions(),
    }
    write(
        "novelty-broad", found, [table(["", "measured"], [[k, f"{v}"] for k, v in found.items()])]
    )
    return 0


def _crawl(settings: Mapping[str, Any], hosts: int) -> Crawled:
    task = hosts_task("broad", 1, hosts, limit=10 * hosts)
    crawled = crawl(with_settings(task, settings))
    say(f"{len(crawled.urls):,} fetches of {hosts:,} hosts: {crawled.cpu:.0f} s of CPU")
    return crawled


def _bytes(kind: Any, hosts: int, waiting: int) -> tuple[float, float]:
    """Return the bytes for each host while requests wait, and after all were taken from ours."""
    crawler = get_crawler(BroadSpider, NOVELTY)
    # Where nothing is on its way Scrapy's queue takes the hosts in turn.
    downloader = SimpleNamespace(slots={}, get_slot_key=lambda r: r.url.split("/")[2])
    crawler.engine = SimpleNamespace(downloader=downloader)
    queue = kind(crawler, FifoMemoryQueue, "")
    gc.collect()
    tracemalloc.start()
    for url in _urls(hosts, waiting):
        queue.push(Request(url))
    gc.collect()
    full = tracemalloc.get_traced_memory()[0]
    ordered = Crawl.of(crawler).ordered
    # From Scrapy's that takes a look at all hosts each time.
    while isinstance(queue, NoveltyPriorityQueue) and (request := queue.pop()) is not None:
        assert ordered is not None
        ordered.order.failed(request, IgnoreRequest())
    gc.collect()
    empty = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return full / hosts, empty / hosts


def _urls(hosts: int, waiting: int) -> Iterator[str]:
    for number in range(waiting):
        shape = _SHAPES[number % len(_SHAPES)].format(number)
        yield from (f"http://www.host{host}.example{shape}" for host in range(hosts))


def _predict(predictions: int) -> tuple[float, float]:
    """Predict and learn; return the seconds, and the growth in MiB after the first tenth."""
    features, model = UrlFeatures(), OnlineModel(0.5)
    begun = process_time()
    first = 0
    for number, url in enumerate(islice(_endless(), predictions)):
        found = features.of(url, _CONTEXT).all
        expected = model.expect(found)
        if number % 10 == 0:
            model.learn(found, expected > 0.5)  # noqa: PLR2004
        if number == predictions // 10:
            first = getrusage(RUSAGE_SELF).ru_maxrss
    return process_time() - begun, (getrusage(RUSAGE_SELF).ru_maxrss - first) / 1024


def _endless() -> Iterator[str]:
    for number in count():
        shape = _SHAPES[number % len(_SHAPES)].format(number)
        yield f"http://www.host{number % 20_011}.example{shape}"


if __name__ == "__main__":
    sys.exit(main())
