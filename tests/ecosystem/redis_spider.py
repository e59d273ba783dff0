"""A spider for processes that share a frontier and are killed."""

import json
import os

from scrapy import Request, Spider
from scrapy.core.engine import ExecutionEngine

from scrapy_urlcanon.redis import frontier


class RedisSpider(Spider):
    """Follows all links, and records what its callbacks got."""

    name = "shared"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        # As processes that are gone are told sooner, and the end of the crawl is, the test is.
        ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = float(os.environ["HEARTBEAT"])
        frontier.ALIVE, frontier._BEAT = 10.0, 0.5
        return super().from_crawler(crawler, *args, **kwargs)

    async def start(self):
        yield Request("http://site.example/", dont_filter=False)

    def parse(self, response):
        # At once and whole: the process may be killed.
        line = json.dumps([response.url, os.getpid()]) + "\n"
        file = os.open("got", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())
        os.close(file)
        yield from response.follow_all(css="a")
