"""Keeps the rules away from the files and images of media pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.pipelines.media import MediaPipeline

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol


def leave_media_alone(crawler: Crawler, fallback: RequestFingerprinterProtocol) -> None:
    """Have the media pipelines of *crawler* tell files apart by *fallback*.

    They keep what became of a file by its fingerprint, failures included, and nobody hears what
    they do not fetch for it: under a rule that is wrong, or where one of two URLs fails, an item
    would get the file of another one or none, and no audit or rescue would know.
    """
    for pipeline in crawler.engine.scraper.itemproc.middlewares:
        if isinstance(pipeline, MediaPipeline):
            pipeline._fingerprinter = fallback  # noqa: SLF001 - there is no other way in
