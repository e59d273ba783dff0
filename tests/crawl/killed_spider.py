"""A spider that writes to a file at once what it gets, since it is killed in the middle."""

import json
from pathlib import Path

from scrapy import Request, Spider


class KilledSpider(Spider):
    """Follows every link."""

    name = "killed"

    async def start(self):
        yield Request("http://site.example/")

    def parse(self, response):
        with Path("got.txt").open("a", encoding="utf-8") as file:
            file.write(response.url + "\n")
        yield from response.follow_all(css="a")

    def closed(self, reason):
        Path("stats.json").write_text(
            json.dumps({**self.crawler.stats.get_stats(), "reason": reason}, default=str),
            encoding="utf-8",
        )
