"""Makes what orders a crawl, where its settings ask for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.order.progress import OrderedCrawl
    from scrapy_urlcanon.crawl.recovery.unwritten import UnwrittenFiles
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats


def ordered_crawl(
    crawler: Crawler,
    settings: CrawlSettings,
    stats: CrawlStats,
    unwritten: UnwrittenFiles,
    fingerprints: PageFingerprints | None,
    *,
    is_job: bool,
) -> OrderedCrawl | None:
    """Return what orders the crawl of *crawler*, or None where no order is set.

    :param fingerprints: as of :class:`.OrderedCrawl`.
    :raises ConfigurationError: if the requests of its job wait in an order that is not set.
    """
    if settings.order:
        # What few crawls use all would wait for.
        from scrapy_urlcanon.crawl.order.progress import OrderedCrawl  # noqa: PLC0415

        return OrderedCrawl(crawler, settings, stats, unwritten, fingerprints, is_job=is_job)
    if is_job:
        _check_queue(crawler.settings["JOBDIR"])
    return None


def _check_queue(job: str) -> None:
    """Raise an error if what waits in a job waits in our queue: Scrapy's cannot read it.

    :param job: the directory of the job.
    """
    from scrapy_urlcanon.crawl.order.index import QUEUE, is_of_order  # noqa: PLC0415

    # In it the scheduler stored its state.
    state = Path(job, QUEUE)
    try:
        is_ours = is_of_order(json.loads(state.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return
    if is_ours:
        message = (
            "expected 'novelty', in which this job began: without it nobody can read what waits "
            f"in {state.parent}. Set it, or begin another JOBDIR"
        )
        raise ConfigurationError([Problem(name_of("order"), message)])
