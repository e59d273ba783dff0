"""Spiders that write to a file at once what they get, on a disk that may fill and empty."""

import json
import os
import random
import resource
from pathlib import Path

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

START = "http://site.example/"
JOURNAL = Path("job/urlcanon.journal")
_HARD = resource.getrlimit(resource.RLIMIT_FSIZE)[1]


class Disk:
    """Fills the disk for some responses in turn: no file may grow beyond the size of the journal.

    The journal is soon the largest file of a job, so Scrapy's own files are not affected.
    """

    _LARGE = 20_000

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._left = 0
        self._is_full = False

    def note(self):
        """Count a response; fill or empty the disk when it is time."""
        if self._left:
            self._left -= 1
            return
        self._left = self._random.randrange(12)
        size = JOURNAL.stat().st_size if JOURNAL.exists() else 0
        self._is_full = not self._is_full and size > self._LARGE
        limit = resource.RLIM_INFINITY
        if self._is_full:
            limit = size + self._random.randrange(300)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, _HARD))

    @staticmethod
    def empty():
        """Let files grow again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, _HARD))


class Notes:
    """Records what callbacks get."""

    disk = Disk(os.environ["SOAK_DISK"]) if "SOAK_DISK" in os.environ else None

    def note(self, callback, response):
        """Record that *callback* got *response*."""
        with Path("got.txt").open("a", encoding="utf-8") as file:
            file.write(f"{callback} {response.url}\n")
        if self.disk:
            self.disk.note()

    def closed(self, reason):
        """Record the stats."""
        if self.disk:
            self.disk.empty()
        stats = {**self.crawler.stats.get_stats(), "reason": reason}
        Path("stats.json").write_text(json.dumps(stats, default=str), encoding="utf-8")


if os.environ.get("SOAK_SPIDER") == "CrawlSpider":

    class RuleSpider(Notes, CrawlSpider):
        """Follows links by rules."""

        name = "soaked"
        start_urls = (START,)
        rules = (
            Rule(LinkExtractor(allow="sid=x"), callback="parse_other", follow=True),
            Rule(LinkExtractor(), callback="parse_one", follow=True),
        )

        def parse_one(self, response):
            self.note("one", response)

        def parse_other(self, response):
            self.note("other", response)

else:

    class FollowSpider(Notes, Spider):
        """Follows every link, with one of two callbacks."""

        name = "soaked"

        async def start(self):
            yield Request(START, dont_filter=True)

        def parse(self, response):
            self.note("one", response)
            yield from self.follow(response)

        def parse_other(self, response):
            self.note("other", response)
            yield from self.follow(response)

        def follow(self, response):
            for link in response.css("a"):
                url = link.attrib["href"]
                yield response.follow(url, self.parse_other if "sid=x" in url else self.parse)
