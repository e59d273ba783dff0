"""A site of any size, and processes that crawl it through one Redis."""

import json
import time
from collections import Counter
from pathlib import Path

from command_line import ScrapyProcess, as_arguments
from loopback import page
from sites import ALONE, SITE, links

SPIDER = Path(__file__).with_name("redis_spider.py")
RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
SCRAPY_REDIS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_urlcanon.redis.RFPDupeFilter",
}
OURS = {**SCRAPY_REDIS, "SCHEDULER": "scrapy_urlcanon.redis.Scheduler"}


def big_site(size):
    """Return a site of *size* pages, 60 % under several URLs, 2 % whose first URL is dead."""

    def urls_of(number):
        if number % 5 < 3:
            return [f"/p{number}?sid={sid}" for sid in range(3)]
        return [f"/p{number}"]

    def respond(request):
        path, _, sid = request.target.partition("?sid=")
        if path == "/":
            return links(*(url for number in range(20) for url in urls_of(number)))
        number = int(path[2:])
        if number % 50 == 10 and sid != "2":
            return page("gone", status=404)
        following = range(number * 10 + 20, min(number * 10 + 30, size))
        return links(*(url for each in (*following, number // 3) for url in urls_of(each)))

    return respond


class Processes:
    """Processes that crawl one site through one Redis."""

    def __init__(self, directory, redis_server, proxies, settings=None):
        self._directory = directory
        self._environment = {**proxies, "HEARTBEAT": str(HEARTBEAT)}
        settings = {**RULES, **OURS, "ADDONS": {"scrapy_urlcanon.Addon": 500}, **(settings or {})}
        settings |= {"REDIS_URL": redis_server.url, "RETRY_TIMES": 0, "LOG_LEVEL": "WARNING"}
        settings |= {"CONCURRENT_REQUESTS": 4, "CONCURRENT_REQUESTS_PER_DOMAIN": 4, **ALONE}
        settings |= {"DOWNLOAD_DELAY": 0}
        self._command = ["runspider", SPIDER, *as_arguments(settings)]
        self.running = []

    def start(self):
        """Start one more process."""
        process = ScrapyProcess(*self._command, cwd=self._directory, environment=self._environment)
        self.running.append(process)
        return process

    def wait(self):
        """Wait for all of them, and return their logs."""
        return [process.wait().stderr for process in self.running]

    def got(self):
        """Return how often each page was got."""
        lines = (self._directory / "got").read_text(encoding="utf-8").splitlines()
        return Counter(json.loads(line)[0].removeprefix(SITE).partition("?")[0] for line in lines)


HEARTBEAT = 0.25
"""How often the engine of a test checks whether it is idle, in seconds; Scrapy's default is 5."""


def expected_of(size):
    """Return the pages of a site of *size*."""
    return {"/", *(f"/p{number}" for number in range(size))}


def wait_for(condition):
    """Wait until *condition* is true."""
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)
