"""The request fingerprinter that Scrapy constructs: ``REQUEST_FINGERPRINTER_CLASS``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.components import add_components, leave_job_alone, warn_of_absent
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.fingerprints import PageFingerprints

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class RequestFingerprinter(PageFingerprints):
    """Gives all requests for one page the same fingerprint: that of its canonical URL.

    The fingerprint is made by ``URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS``, which is given the
    request with its canonical URL.

    >>> from scrapy import Request
    >>> from scrapy.utils.test import get_crawler
    >>> crawler = get_crawler(settings_dict={"ADDONS": {"scrapy_urlcanon.Addon": 500}})
    >>> one, other = map(Request, ("http://example.com/", "http://example.com/?utm_source=mail"))
    >>> prints = crawler.request_fingerprinter
    >>> len(prints.fingerprint(one)), prints.fingerprint(one) == prints.fingerprint(other)
    (20, True)
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the fingerprinter of *crawler*.

        :raises ConfigurationError: if the settings of the plugin are not valid.
        """
        if not crawler.settings.frozen:
            # Also without the add-on: with the fingerprinter alone, pages would be lost. And
            # another add-on may have changed settings after ours.
            add_components(crawler.settings)
            leave_job_alone(crawler)
        warn_of_absent(crawler.settings)
        return Crawl.of(crawler, cls).fingerprinter_of(cls)
