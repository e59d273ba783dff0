"""Random sites, and jobs on them whose processes are killed."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from urllib.parse import urljoin, urlsplit

from command_line import ScrapyProcess, as_arguments
from loopback import Loopback, page, redirect
from sites import ALONE

from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces

SPIDER = Path(__file__).parent / "soak" / "soaked_spider.py"
START = "http://site.example/"
SETTINGS = {
    "ADDONS": {"scrapy_urlcanon.Addon": 500},
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "JOBDIR": "job",
    "RETRY_TIMES": 0,
    **ALONE,
    # Scrapy makes so many tasks for each response, and by default 100.
    "CONCURRENT_ITEMS": 10,
    "LOG_LEVEL": "WARNING",
}
FIFO = "scrapy.squeues.PickleFifoDiskQueue"
_SKIPPED = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"], "skip": ["/old{id}"]}},
    "URLCANON_SKIP_PLACES": "places",
}
OPTIONS = {
    "plain": {},
    "rewrite": {"URLCANON_REWRITE": True},
    "audit": {"URLCANON_AUDIT": 0.3},
    "declared canonicals": {"URLCANON_DECLARED_CANONICAL": True, "URLCANON_AUDIT": 0.1},
    "record": {"URLCANON_RECORD": "store.sqlite"},
    "first in, first out": {"SCHEDULER_DISK_QUEUE": FIFO, "CONCURRENT_REQUESTS": 4},
    "marshal, one at a time": {
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.MarshalLifoDiskQueue",
        "CONCURRENT_REQUESTS": 1,
    },
    "retries": {"RETRY_TIMES": 2},
    "compact set": {"URLCANON_SEEN_SET": "compact"},
    "disk set": {"URLCANON_SEEN_SET": "disk"},
    "start recorded": {"URLCANON_RECORD_START": True},
    "by expected news": {"URLCANON_ORDER": "novelty"},
    "by expected news, rewrite, retries": {
        "URLCANON_ORDER": "novelty",
        "URLCANON_REWRITE": True,
        "RETRY_TIMES": 1,
    },
    "rewrite, retries, first in, first out": {
        "URLCANON_REWRITE": True,
        "RETRY_TIMES": 1,
        "SCHEDULER_DISK_QUEUE": FIFO,
    },
    "skipped pages": _SKIPPED,
    "everything": {
        **_SKIPPED,
        "URLCANON_REWRITE": True,
        "URLCANON_AUDIT": 0.3,
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_RECORD": "store.sqlite",
    },
}
"""Settings by name."""


class Site:
    """Pages of several URLs each, of which some are dead and some redirect.

    All live URLs of a path show one page; each declares the path to be its canonical URL. Which
    callback a link is for is in its URL.

    :param size: how many pages there are.
    """

    def __init__(self, seed: object, size: int = 80) -> None:
        self._random = random.Random(f"site {seed}")
        self._links: dict[str, list[str]] = {"/": []}
        self._dead: set[str] = set()
        self._targets: dict[str, str] = {}
        self.places: dict[str, str] = {}
        """The target of each URL that redirects, by its canonical URL."""
        paths = ["/"]
        for n in range(size):
            path = f"/p{n}"
            urls = self._urls_of(path)
            for _ in range(self._random.randint(1, 4)):
                # Most hang on the few that came first.
                above = paths[int(len(paths) * self._random.random() ** 2)]
                self._links[above] += self._random.sample(urls, self._random.randint(1, len(urls)))
            self._links[path] = []
            paths.append(path)

    def _urls_of(self, path: str) -> list[str]:
        urls = [f"{path}?sid={sid}" for sid in ("1", "2", "3")]
        if self._random.random() < 0.3:
            urls += [f"{path}?sid=x1", f"{path}?sid=x2"]
        if self._random.random() < 0.4:
            urls.append(path)
        if self._random.random() < 0.3:
            urls += [f"{path}?ref=1", f"{path}?ref=2"]
        # With rewriting the path alone is fetched first.
        self._dead |= {url for url in dict.fromkeys([*urls, path]) if self._random.random() < 0.3}
        if self._random.random() < 0.15:
            source = f"/old{path[1:]}?sid=1"
            self._targets[source] = self._random.choice(urls[:3])
            # Another one than it redirects to, and as often dead.
            self.places[f"{START}old{path[1:]}"] = (
                f"{START}{path[1:]}?sid={len(self.places) % 3 + 1}"
            )
            urls.append(source)
        return urls

    def respond(self, request):
        """Answer *request*."""
        target = request.target
        if target in self._targets:
            return redirect(self._targets[target])
        path = urlsplit(target).path
        if target in self._dead or path not in self._links:
            return page("missing", status=404 if len(target) % 2 else 503)
        links = "".join(f'<p>{link} <a href="{link}">link</a>' for link in self._links[path])
        return page(f'<link rel="canonical" href="{path}"><title>{path}</title>{path}{links}')

    def expected(self) -> set[tuple[str, str]]:
        """Return the callbacks and paths that are reachable without the plugin."""
        had: set[tuple[str, str]] = set()
        visited: set[str] = set()
        left = ["/"]
        while left:
            path = left.pop()
            if path in visited:
                continue
            visited.add(path)
            for link in self._links[path]:
                # A redirect keeps the callback of the link.
                callback = "other" if "sid=x" in link else "one"
                url = self._targets.get(link, link)
                target = urlsplit(url).path
                if url not in self._dead:
                    had.add((callback, target))
                    left.append(target)
        return had


@dataclass
class Outcome:
    """The outcome of one job."""

    kills: int = 0
    lost: set[tuple[str, str]] = field(default_factory=set)
    pages: int = 0
    requests: int = 0
    fetched_twice: int = 0
    """The number of requests for URLs that an earlier run had requested."""
    stats: Counter[str] = field(default_factory=Counter)
    """The stats of the plugin, added up over the runs that were not killed."""
    errors: str = ""
    """The log of the runs, if it has a traceback or a run failed."""

    @property
    def is_right(self) -> bool:
        return not self.lost and not self.errors


class Job:
    """A job in *directory*, on a random site.

    :param options: a name in :data:`OPTIONS`.
    :param kills: how many of its runs are killed, at random moments.
    :param disk: whether the disk fills and empties.
    """

    def __init__(self, directory: Path, seed: int, options: str, *, kills=1, disk=False, size=80):
        self._directory = directory
        self._site = Site(seed, size)
        self._random = random.Random(f"job {seed}")
        self._settings = {**SETTINGS, **OPTIONS[options]}
        self._seed = seed
        self._disk = disk
        self._kind = self._random.choice(["Spider", "CrawlSpider"])
        self._kills = kills
        self._kill_at = 0
        self._hits = 0
        self._process: ScrapyProcess | None = None
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Kill and resume the job, and let its last run end."""
        if "URLCANON_SKIP_PLACES" in self._settings:
            with closing(SkipPlaces(self._directory / "places")) as places:
                places.add(self._site.places)
        with Loopback(self._respond) as server:
            for left in range(self._kills, -1, -1):
                self._hits = 0
                # Most of what there is to fetch is fetched in the first runs.
                most = max(3, 150 // (self._kills - left + 1))
                self._kill_at = self._random.randint(1, most) if left else 0
                before = set(server.hits)
                count = len(server.hits)
                self._run_once(server, left)
                self.outcome.fetched_twice += sum(url in before for url in server.hits[count:])
            self.outcome.requests = len(server.hits)
        expected = self._site.expected()
        self.outcome.pages = len(expected)
        self.outcome.lost = expected - self._got()
        return self.outcome

    def _respond(self, request):
        self._hits += 1
        if self._hits == self._kill_at:
            # Not only between a request and its response.
            Timer(self._random.random() * 0.03, self._process.kill).start()
        return self._site.respond(request)

    def _run_once(self, server: Loopback, left: int) -> None:
        environment = {**server.proxies, "SOAK_SPIDER": self._kind}
        if self._disk:
            environment["SOAK_DISK"] = f"{self._seed} {left}"
        command = ("runspider", SPIDER, *as_arguments(self._settings))
        self._process = ScrapyProcess(*command, cwd=self._directory, environment=environment)
        ended = self._process.wait()
        status, errors = ended.returncode, ended.stderr
        self.outcome.kills += status == -9
        if status not in {0, -9} or "Traceback" in errors:
            self.outcome.errors += errors
        path = self._directory / "stats.json"
        if status == 0 and path.exists():
            stats = json.loads(path.read_text(encoding="utf-8"))
            names = ("urlcanon/job/", "urlcanon/rescue")
            self.outcome.stats.update({k: v for k, v in stats.items() if k.startswith(names)})
            if stats["reason"] != "finished":
                self.outcome.errors += f"it ended because of: {stats['reason']}\n"

    def _got(self) -> set[tuple[str, str]]:
        path = self._directory / "got.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        pairs = (line.split() for line in lines)
        return {(callback, urlsplit(urljoin(START, url)).path) for callback, url in pairs}
