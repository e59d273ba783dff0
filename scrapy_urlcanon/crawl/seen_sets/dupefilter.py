"""The duplicate filter for the sets of ``URLCANON_SEEN_SET``."""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.request import referer_str

from scrapy_urlcanon.crawl.seen_sets.base import COMPACT_FILE, DISK_FILE, bits_by
from scrapy_urlcanon.crawl.settings import COMPACT, COMPACT_128, value_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.seen_sets.compact import CompactSet
    from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet

logger = logging.getLogger(__name__)


class SeenSetDupeFilter(BaseDupeFilter):
    """Drops requests whose fingerprint is in the set of ``URLCANON_SEEN_SET``.

    It asks the fingerprinter of the crawl, counts and logs as Scrapy's own filter does. With
    ``JOBDIR`` the set lasts from run to run.

    :param seen: the set.
    :param temporary: a directory of the set that is deleted with it, if any.
    """

    def __init__(
        self,
        seen: CompactSet | DiskSet,
        fingerprinter: RequestFingerprinterProtocol,
        *,
        temporary: str | None = None,
        debug: bool = False,
    ) -> None:
        self.urlcanon_seen = seen
        """Other parts of the plugin look up here what was seen (:func:`.seen_fingerprints`)."""
        self.fingerprinter = fingerprinter
        self._temporary = temporary
        self._debug = debug
        self._is_logged = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the duplicate filter of *crawler*.

        :raises ConfigurationError: if the set of the job cannot be used.
        """
        kind = value_of("seen_set", crawler.settings)
        directory = job_dir(crawler.settings)
        temporary = None
        bits_of = bits_by(crawler.request_fingerprinter)
        if kind in {COMPACT, COMPACT_128}:
            from scrapy_urlcanon.crawl.seen_sets.compact import CompactSet  # noqa: PLC0415

            path = Path(directory, COMPACT_FILE) if directory else None
            bits = 128 if kind == COMPACT_128 else 64
            seen: CompactSet | DiskSet = CompactSet(bits, path, bits_of=bits_of)
        else:
            from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet  # noqa: PLC0415

            if not directory:
                directory = temporary = tempfile.mkdtemp(prefix="urlcanon-seen-")
            seen = DiskSet(Path(directory, DISK_FILE), bits_of=bits_of)
        debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
        return cls(seen, crawler.request_fingerprinter, temporary=temporary, debug=debug)

    def request_seen(self, request: Request) -> bool:
        """Record *request*; return whether its fingerprint was seen before."""
        return not self.urlcanon_seen.add(self.fingerprinter.fingerprint(request))

    def close(self, reason: str) -> None:
        """Write what is not written yet."""
        del reason
        self.urlcanon_seen.close()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def log(self, request: Request, spider: Spider) -> None:
        """Count a dropped request; log the first one, or all with ``DUPEFILTER_DEBUG``."""
        spider.crawler.stats.inc_value("dupefilter/filtered")
        if self._is_logged and not self._debug:
            return
        self._is_logged = True
        more = "" if self._debug else " - no more duplicates will be shown (see DUPEFILTER_DEBUG)"
        logger.debug(
            "Filtered duplicate request: %(request)s (referer: %(referer)s)%(more)s",
            {"request": request, "referer": referer_str(request), "more": more},
            extra={"spider": spider},
        )
