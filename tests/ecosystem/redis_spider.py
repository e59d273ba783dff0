"""A spider for processes that share a frontier, and that are killed."""

import json
import os

from scrapy import Request, Spider


class RedisSpider(Spider):
    """Follows all links, and writes down what its callbacks got."""

    name = "shared"

    async def start(self):
        yield Request("http://site.example/", dont_filter=False)

    def parse(self, response):
        # At once and whole: the process may be killed.
        line = json.dumps([response.url, os.getpid()]) + "\n"
        file = os.open("got", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())
        os.close(file)
        yield from response.follow_all(css="a")
