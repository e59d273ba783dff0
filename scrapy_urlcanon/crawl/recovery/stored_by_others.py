"""What others store by fingerprint, and is not the same for all URLs of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.settings import HTTPCACHE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def keep_apart(
    crawler: Crawler, fallback: RequestFingerprinterProtocol, fingerprints: PageFingerprints
) -> None:
    """Keep failures, and the files of media pipelines, apart by their URLs.

    Media pipelines tell files apart by *fallback*. They keep what became of a file by its
    fingerprint, failures included, and nobody hears what they do not fetch for it: under a rule
    that is wrong, or where one of two URLs fails, an item would get the file of another one or
    none, and no audit or rescue would know.
    """
    if crawler.settings.getbool(HTTPCACHE):
        from scrapy_urlcanon.crawl.recovery.cached_failures import (  # noqa: PLC0415
            keep_failures_apart,
        )

        keep_failures_apart(crawler, fingerprints)
    if crawler.settings.getwithbase("ITEM_PIPELINES"):
        from scrapy.pipelines.media import MediaPipeline  # noqa: PLC0415

        for pipeline in crawler.engine.scraper.itemproc.middlewares:
            if isinstance(pipeline, MediaPipeline):
                pipeline._fingerprinter = fallback  # noqa: SLF001 - there is no other way in
