"""The duplicate filter of scrapy-redis, with the fingerprints of this plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_redis.dupefilter import RFPDupeFilter as RedisDupeFilter

from scrapy_urlcanon.redis import scripts

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_urlcanon.redis.frontier import Frontier


class SeenInRedis:
    """A set of fingerprints in Redis, without safeguards."""

    def __init__(self, server: Any, key: str) -> None:
        self._server = server
        self._key = key

    def add(self, fingerprint: bytes) -> bool:
        """Record *fingerprint*; return whether it is new."""
        return bool(self._server.sadd(self._key, fingerprint.hex()))

    def discard(self, fingerprint: bytes) -> None:
        """Forget *fingerprint*."""
        self._server.srem(self._key, fingerprint.hex())

    def __contains__(self, fingerprint: object) -> bool:
        return isinstance(fingerprint, bytes) and bool(
            self._server.sismember(self._key, fingerprint.hex())
        )


class SharedSeen:
    """The same set, accessed through the frontier. If Redis does not answer, changes wait there.

    Fingerprints are recorded and forgotten while callbacks yield requests or entries are suspended,
    which an error of Redis must not interrupt.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._keys = (frontier.seen,)

    def add(self, fingerprint: bytes) -> bool:
        """Record *fingerprint*; return whether it is new, or True if Redis does not answer."""
        added = self._frontier.tell(scripts.RECORD, self._keys, (fingerprint.hex(),))
        return added is None or bool(added)

    def discard(self, fingerprint: bytes) -> None:
        """Forget *fingerprint*."""
        self._frontier.tell(scripts.FORGET, self._keys, (fingerprint.hex(),))

    def __contains__(self, fingerprint: object) -> bool:
        return isinstance(fingerprint, bytes) and bool(
            self._frontier.ask(scripts.IS_RECORDED, self._keys, (fingerprint.hex(),))
        )


class RFPDupeFilter(RedisDupeFilter):  # type: ignore[misc]
    """Drops requests whose fingerprint is in Redis.

    Unlike that of scrapy-redis it asks the fingerprinter of the crawl, and counts drops in
    ``dupefilter/filtered``.
    """

    fingerprinter = None
    """None, so that :meth:`.FirstUrls.watch` does not wrap the fingerprinter of the crawl: the
    wrapper looks up what was seen, which would ask Redis twice for each request."""

    def __init__(self, server: Any, key: str, debug: bool = False) -> None:  # noqa: FBT001, FBT002
        super().__init__(server, key, debug)
        self.urlcanon_seen: SeenInRedis | SharedSeen = SeenInRedis(server, key)
        self._crawler: Crawler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the duplicate filter of *crawler*, for Scrapy's own scheduler."""
        made: Self = super().from_crawler(crawler)
        made._crawler = crawler
        return made

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """Return the duplicate filter of *spider*, for a scheduler of scrapy-redis."""
        made: Self = super().from_spider(spider)
        made._crawler = spider.crawler
        return made

    def request_fingerprint(self, request: Request) -> str:
        """Return the fingerprint of *request* in hexadecimal."""
        if self._crawler is None:
            raise RuntimeError("made without a crawler, whose fingerprinter is to be asked")
        return self._crawler.request_fingerprinter.fingerprint(request).hex()

    def request_seen(self, request: Request) -> bool:
        """Record the fingerprint of *request*; return whether it was seen before."""
        return not self.urlcanon_seen.add(bytes.fromhex(self.request_fingerprint(request)))

    def log(self, request: Request, spider: Spider) -> None:
        """Count a dropped request, and log it as scrapy-redis does."""
        super().log(request, spider)
        spider.crawler.stats.inc_value("dupefilter/filtered")
