"""A scheduler like that of scrapy-redis, which loses nothing when a process is killed."""

from __future__ import annotations

import logging
from collections import deque
from functools import partial
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.misc import load_object
from scrapy_redis.queue import FifoQueue, LifoQueue, PriorityQueue
from scrapy_redis.scheduler import Scheduler as RedisScheduler

from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of
from scrapy_urlcanon.crawl.scheduling.engine import under_way
from scrapy_urlcanon.crawl.settings import DROP_KEY, RECORD_KEY, value_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.redis.dupefilter import RFPDupeFilter, SharedSeen
from scrapy_urlcanon.redis.frontier import Frontier
from scrapy_urlcanon.redis.shared import Shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_KINDS = {PriorityQueue: "priority", FifoQueue: "fifo", LifoQueue: "lifo"}
_ATTRIBUTE = "_scrapy_urlcanon_shared"
_OTHER_CLASSES = Problem(
    "SCHEDULER",
    "needs SCHEDULER_QUEUE_CLASS to be one of scrapy-redis, and DUPEFILTER_CLASS to be "
    "scrapy_urlcanon.redis.RFPDupeFilter",
)


class Scheduler(RedisScheduler):  # type: ignore[misc]
    """Queues requests in Redis, with the queues, keys and serializers of scrapy-redis.

    A request that is on its way stays in Redis until all requests that came of it are queued. If
    its process has been gone for 30 seconds, another process queues it again. Processes end when
    nothing is queued or on its way anywhere. The last one deletes the keys, unless
    ``SCHEDULER_PERSIST`` is True.

    Fetches of audits are queued in this process, since only it knows what to compare them with. So
    are requests that no queue can store, as when the callback is no method of the spider.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler of *crawler*."""
        made: Self = super().from_crawler(crawler)
        made._crawler = crawler
        made._shared = cls.urlcanon_shared(crawler)
        made._half = value_of("remembered_pages", crawler.settings) // 2
        made._here = deque[Request]()
        return made

    @classmethod
    def urlcanon_shared(cls, crawler: Crawler) -> Shared:
        """Return what the processes of *crawler* share, made by the first call.

        :raises ConfigurationError: if the queue is none of scrapy-redis, its keys belong to
            something else, or Redis does not answer or refuses what a crawl needs.
        """
        found: Shared | None = getattr(crawler, _ATTRIBUTE, None)
        if found is None:
            try:
                found = cls._make_shared(crawler)
            except RedisError as error:
                message = (
                    f"Redis does not answer, or refuses: {str(error).rstrip('.')}; set REDIS_URL, "
                    "or REDIS_HOST and REDIS_PORT"
                )
                raise ConfigurationError([Problem("SCHEDULER", message)]) from error
            setattr(crawler, _ATTRIBUTE, found)
        return found

    @classmethod
    def _make_shared(cls, crawler: Crawler) -> Shared:
        # First: what scrapy-redis makes of another one, such as Scrapy's default, is a traceback.
        if not issubclass(load_object(crawler.settings["DUPEFILTER_CLASS"]), RFPDupeFilter):
            raise ConfigurationError([_OTHER_CLASSES])
        scheduler = cls.from_settings(crawler.settings)
        spider: Any = crawler.spider
        names = {"spider": spider.name}
        queue_class = load_object(scheduler.queue_cls)
        kind = next((kind for base, kind in _KINDS.items() if issubclass(queue_class, base)), None)
        if kind is None:
            raise ConfigurationError([_OTHER_CLASSES])
        queue = queue_class(
            server=scheduler.server,
            spider=spider,
            key=scheduler.queue_key % names,
            serializer=scheduler.serializer,
        )
        seen = scheduler.dupefilter_key % names
        frontier = Frontier(scheduler.server, spider.name, queue.key, seen, kind)
        frontier.join(persists=scheduler.persist, flushes=scheduler.flush_on_start)
        return Shared(crawler, frontier, _encoder(queue))

    def open(self, spider: Spider) -> None:
        """Take part in the crawl."""
        self.flush_on_start = False  # It is done.
        super().open(spider)
        self._frontier = self._shared.frontier
        self.df.urlcanon_seen = SharedSeen(self._frontier)
        self._frontier.beat()
        self._crawler.signals.connect(self._spider_idle, signals.spider_idle)

    def close(self, reason: str) -> None:
        """Leave the crawl, and delete the keys if nobody else takes part."""
        del reason
        try:
            # In this order, so that what waits here is queued before the requests that it came of
            # are forgotten.
            self._frontier.beat()
            self._frontier.land(under_way(self._crawler))
            self._frontier.leave(persists=self.persist)
        except RedisError as error:
            self._frontier.failed(error)

    def enqueue_request(self, request: Request) -> bool:
        """Queue *request*, unless its page was requested before, in any process."""
        if mark_of(request, AUDIT):
            self._keep_here(request)
            return True
        try:
            value = b"%d " % -request.priority + self._shared.encode(request)
        except ValueError:
            value = b""
            self.stats.inc_value("scheduler/unserializable")
        fingerprint, url, canonical = b"", "", request.url
        if not request.dont_filter:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
            canonical = self._shared.canonical_of(request) or request.url
            url = request.url if request.url != canonical else ""
        meta = request.meta
        first = self._frontier.enqueue(
            fingerprint.hex(),
            value,
            url,
            self._half,
            records=meta.get(RECORD_KEY) is not False,
            drops=meta.get(DROP_KEY) is not False,
            on_dropped=partial(self._dropped_later, request, fingerprint, canonical),
        )
        if first is None and value:
            self.stats.inc_value("scheduler/enqueued/redis")
            return True
        if first is None:
            self._keep_here(request)
            return True
        self._dropped(request, fingerprint, first or canonical)
        return False

    def _keep_here(self, request: Request) -> None:
        self._here.append(request)
        self._frontier.go_on()
        self.stats.inc_value("scheduler/enqueued/memory")

    def _dropped(self, request: Request, fingerprint: bytes, first: str) -> None:
        if self._shared.first_urls:
            self._shared.first_urls.know(fingerprint, first)
        self.df.log(request, self.spider)

    def _dropped_later(
        self, request: Request, fingerprint: bytes, canonical: str, first: str
    ) -> None:
        """Send ``request_dropped`` for a request that had waited for Redis, as the engine would.

        Otherwise nobody would fetch it if the request that stands for its page fails.
        """
        self.stats.inc_value("scheduler/enqueued/redis", -1)
        self._dropped(request, fingerprint, first or canonical)
        self._crawler.signals.send_catch_log(
            signals.request_dropped, request=request, spider=self.spider
        )

    def next_request(self) -> Request | None:
        """Return the next request, or None if there is none now or Redis does not answer."""
        try:
            if self._frontier.beat():
                self._shared.look_around()
            if self._here:
                self.stats.inc_value("scheduler/dequeued/memory")
                kept: Request = self._here.popleft()
                return kept
            while popped := self._frontier.pop(under_way(self._crawler)):
                number, data = popped
                request = self._read(data)
                if request:
                    self._frontier.took_off(number, request)
                    self.stats.inc_value("scheduler/dequeued/redis")
                    return request
                self._frontier.set_aside(number)
        except RedisError as error:
            self._frontier.failed(error)
        return None

    def _read(self, data: bytes) -> Request | None:
        """Return the request in *data*, or None if it cannot be read here."""
        try:
            request: Request = self.queue._decode_request(data)  # noqa: SLF001
        except Exception as error:  # noqa: BLE001 - what it is made of may be of any class
            logger.error(  # noqa: TRY400 - the message says it all
                "A request in Redis cannot be read: %(error)s. It is kept for processes that join "
                "the crawl later.",
                {"error": error},
                extra={"spider": self.spider},
            )
            return None
        return request

    def has_pending_requests(self) -> bool:
        """Tell whether anything is queued, or True if Redis does not answer."""
        try:
            return bool(self._here) or len(self.queue) > 0
        except RedisError as error:
            self._frontier.failed(error)
            return True

    def _spider_idle(self) -> None:
        """Keep the process alive as long as anything is queued or on its way, here or elsewhere.

        :raises DontCloseSpider: if so.
        """
        try:
            self._frontier.beat()
            self._frontier.land(under_way(self._crawler))
            stays = (
                bool(self._here)
                or self._frontier.is_down
                or len(self.queue) > 0
                or self._frontier.is_busy_elsewhere()
                or (self._shared.shared_lives and self._shared.shared_lives.release_all() > 0)
                # An audit of another process may still let through what was dropped here. And the
                # last process has to know that it is the last, to delete the keys.
                or not self._frontier.are_all_done()
            )
            if not stays:
                self._shared.look_around()
                stays = len(self.queue) > 0
        except RedisError as error:
            self._frontier.failed(error)
            stays = True
        if stays:
            raise DontCloseSpider


def _encoder(queue: Any) -> Callable[[Request], bytes]:
    """Return a function that encodes requests for *queue*, and raises ValueError if it cannot."""

    def encode(request: Request) -> bytes:
        try:
            data = queue._encode_request(request)  # noqa: SLF001
        except (AttributeError, PicklingError, TypeError) as error:
            # As Scrapy's own queues do (``scrapy/squeues.py``).
            raise ValueError(str(error)) from error
        return data if isinstance(data, bytes) else str(data).encode()

    return encode
