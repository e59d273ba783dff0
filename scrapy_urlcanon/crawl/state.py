"""What the components of one crawl share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.crawl.safeguards import Safeguards
from scrapy_urlcanon.crawl.settings import META_KEY, STORES, load_configuration
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.redaction import redact

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.checks.declared_canonicals import DeclaredCanonicalPages
    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
    from scrapy_urlcanon.crawl.recovery.job import JobRecovery
    from scrapy_urlcanon.rule_files.clean_param import CleanParam

logger = logging.getLogger(__name__)

_ATTRIBUTE = "_scrapy_urlcanon"


class CrawlState:
    """The canonicalizer of a crawl and the fingerprinter that uses it.

    Get it with :meth:`of`: the fingerprinter, which is constructed first, may be wrapped
    by another one, so that the middlewares cannot ask ``crawler.request_fingerprinter``.

    :raises ConfigurationError: if the settings of the crawler are not valid.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        configuration = load_configuration(settings)
        self._settings = settings
        self.is_job = bool(settings["JOBDIR"]) and crawler.spider is not None
        """Whether this is a crawl that can be resumed, and not a command or a shell."""
        if crawler.spider is not None and (self.is_job or any(map(settings.getbool, STORES))):
            configuration = self._guard(configuration, crawler.spider.name)
        self.canonicalizer = Canonicalizer.from_configuration(configuration)
        self.suspended: set[tuple[str, str]] = set()
        """Pairs of an option and the domain on which it was turned off in this crawl."""
        self.fingerprinter: RequestFingerprinter | None = None
        """The one of this crawl, once it is constructed."""
        self.recovery: JobRecovery | None = None
        """What takes the job up again, if this is one."""
        self.declared_canonicals: DeclaredCanonicalPages | None = None
        """What believes pages that declare a canonical URL, if anything does."""
        self._reported_meta: set[str] = set()
        if self.is_job:
            from scrapy_urlcanon.crawl.recovery.stored_rules import resume_suspensions  # noqa: PLC0415

            resume_suspensions(settings, self)

    def _guard(self, configuration: Configuration, spider: str) -> Configuration:
        """Return the rules to crawl under: what is stored may be of others."""
        # Few crawls store anything, and all would wait for the import.
        from scrapy_urlcanon.crawl.recovery.stored_rules import guard_job, guard_stores  # noqa: PLC0415

        mode = Safeguards.load(self._settings).job_rules
        if self.is_job:
            configuration = guard_job(self._settings, configuration, mode)
        guard_stores(self._settings, configuration, mode, spider)
        return configuration

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlState:
        """Return the state of *crawler*, made on the first call."""
        state = getattr(crawler, _ATTRIBUTE, None)
        if not isinstance(state, cls):
            state = cls(crawler)
            setattr(crawler, _ATTRIBUTE, state)
        return state

    def suspend(self, option: str, domain: str) -> bool:
        """Turn *option* off on *domain*, a normalized one, for the rest of the crawl.

        Return False where it is off already.
        """
        if (option, domain) in self.suspended:
            return False
        self.suspended.add((option, domain))
        if option in BY_NAME:
            self.canonicalizer.suspend(option, domain)
            if self.fingerprinter:
                self.fingerprinter.forget()
        if self.is_job:
            from scrapy_urlcanon.crawl.recovery.stored_rules import store_suspension  # noqa: PLC0415

            store_suspension(self._settings, option, domain)
        return True

    def declare(self, robots_url: str, declared: CleanParam) -> None:
        """Take over what the robots.txt at *robots_url* declares."""
        self.canonicalizer.declare(*declared.rule_sets(robots_url))
        if self.fingerprinter:
            self.fingerprinter.forget()

    def canonical(self, request: Request, url: str | None = None) -> str | None:
        """Return the canonical URL of *request*, or None where no rule is to touch it.

        That is so where its URL is to be taken as it is (``verbatim_url``,
        ``meta["urlcanon"] = False``), is none of http and https, or cannot be parsed.

        :param url: another URL than that of *request*, under the same meta.
        """
        if url is None:
            url = request.url
        meta = request.meta
        if meta.get("verbatim_url"):
            return None
        options = meta.get(META_KEY)
        if options is None or options is True:
            return self.canonicalizer.canonical_or_none(url)
        if options is False:
            return None
        try:
            return self.canonicalizer.canonical_or_none(url, options=options)
        except ConfigurationError as error:
            # The request is not to be lost for it, nor the log to be flooded.
            if str(error) not in self._reported_meta:
                self._reported_meta.add(str(error))
                logger.error(  # noqa: TRY400
                    "No rules for %(request)s, because of its meta: %(error)s",
                    {"request": redact(request.url), "error": error},
                )
            return None
