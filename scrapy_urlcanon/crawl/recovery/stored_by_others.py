"""Keeps apart what the HTTP cache and media pipelines store by fingerprint, where URLs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.settings import HTTPCACHE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def keep_apart(
    crawler: Crawler,
    fallback: RequestFingerprinterProtocol,
    fingerprints: PageFingerprints,
    *,
    has_former: bool,
) -> None:
    """Keep the failures in the HTTP cache, and the files of media pipelines, apart by URL.

    Media pipelines get *fallback* as their fingerprinter. They remember the result for each
    fingerprint, failures included, and do not tell anybody what they skip. So if a rule is wrong,
    or one of two URLs fails, an item would get the wrong file or none, and no audit or rescue would
    see it.

    :param has_former: whether the cache may have responses of a crawl without the plugin, or under
        other rules.
    """
    if crawler.settings.getbool(HTTPCACHE):
        from scrapy_urlcanon.crawl.recovery.cached_failures import (  # noqa: PLC0415
            keep_failures_apart,
        )

        keep_failures_apart(crawler, fingerprints, has_former=has_former)
    if crawler.settings.getwithbase("ITEM_PIPELINES"):
        from scrapy.pipelines.media import MediaPipeline  # noqa: PLC0415

        # An ITEM_PROCESSOR of the user need not show its pipelines.
        for pipeline in getattr(crawler.engine.scraper.itemproc, "middlewares", ()):
            if isinstance(pipeline, MediaPipeline):
                pipeline._fingerprinter = fallback  # noqa: SLF001 - there is no other way in
