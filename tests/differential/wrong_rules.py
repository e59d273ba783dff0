"""Random sites under rules of which some are wrong, and what an audit must not lose there.

A site has a few paths, whose pages are selected by one or two of three parameters. Its rules drop
two or three of these. Some URLs fail; some are requested with other methods and bodies too.

No page has several URLs that no rule merges: content that several such URLs show would be taken
for a wall, and be no evidence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from audited_shop import BOILERPLATE
from loopback import page
from scrapy import Request
from sites import SITE, FollowSpider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopback import Request as Asked
    from loopback import Response

WITH_MIDDLEWARES = 300
"""The first seed whose spider may have middlewares, or read meta that a download sets."""
_API = "http://api.example/?url="
_PARAMETERS = ["id", "ref", "sid"]
_HUB = re.compile(r"/hub(\d+)")


class AsksAnotherServer:
    """A downloader middleware that sends requests to a service that fetches pages."""

    def process_request(self, request):
        if request.url.startswith(_API):
            return None
        meta = {**request.meta, "page": request.url}
        return request.replace(url=f"{_API}{quote(request.url, safe='')}", meta=meta)

    def process_response(self, request, response):
        return response.replace(url=request.meta["page"])


class Timing:
    """One that reads from a response what it stored in the meta of its request."""

    def process_request(self, request):
        request.meta["begun"] = True

    def process_response(self, request, response):
        assert request.meta["begun"]
        return response


@dataclass
class WrongRules:
    """The site of one seed."""

    seed: int
    selecting: list[str] = field(default_factory=list)
    """The parameters that select pages."""
    dropped: list[str] = field(default_factory=list)
    """The parameters that a rule drops."""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        random = Random(self.seed)
        self.selecting = random.sample(_PARAMETERS, random.choice([1, 1, 2]))
        self.dropped = random.sample(_PARAMETERS, random.choice([2, 3]))
        urls = list(dict.fromkeys(self._urls(random)))
        share_failing = random.choice([0, 0.05, 0.2])
        self._statuses = {
            url: random.choice([404, 500, 503]) for url in urls if random.random() < share_failing
        }
        self._has_counter = random.random() < 0.5
        self._hubs = self._linked([*self._asked(urls, random)], random)
        self._visits = count()
        at_once = random.choice([1, 1, 8])
        self.settings = {
            "CONCURRENT_REQUESTS": at_once,
            "RETRY_ENABLED": False,
            "SCHEDULER_MEMORY_QUEUE": random.choice(
                ["scrapy.squeues.FifoMemoryQueue", "scrapy.squeues.LifoMemoryQueue"]
            ),
        }
        self.share = random.choice([1, 1, 0.3])
        """The share of drops that is audited."""
        others = Random(f"middlewares {self.seed}")
        kinds = [AsksAnotherServer, Timing] if self.seed >= WITH_MIDDLEWARES else []
        chosen = [kind for kind in kinds if others.random() < 0.4]
        self.settings["DOWNLOADER_MIDDLEWARES"] = dict.fromkeys(chosen, 543)

    def _urls(self, random: Random) -> Iterator[str]:
        names = [name for name in _PARAMETERS if name in {*self.selecting, *self.dropped}]
        for path in "abc"[: random.choice([1, 2, 3])]:
            for _ in range(random.choice([6, 12])):
                query = [f"{name}={random.randrange(5)}" for name in names]
                chosen = "&".join(each for each in query if random.random() < 0.6)
                yield f"/{path}?{chosen}".rstrip("?")

    @staticmethod
    def _asked(urls: list[str], random: Random) -> Iterator[tuple[str, str, str]]:
        has_forms = random.random() < 0.5
        for url in urls:
            method = random.choices(["POST", "GET", ""], [0.2, 0.1, 0.7])[0]
            if method and has_forms:
                for body in "xyz"[: random.choice([1, 2, 3])]:
                    yield url, method, body
            yield url, "GET", ""

    @staticmethod
    def _linked(asked: list[Any], random: Random) -> list[list[Any]]:
        hubs: list[list[Any]] = [[] for _ in range(random.choice([2, 4, 6]))]
        for each in asked:
            for hub in random.sample(hubs, random.choice([1, 1, 2])):
                hub.extend([each] * random.choice([1, 1, 1, 4]))
        for hub in hubs:
            random.shuffle(hub)
        return hubs

    @property
    def rules(self) -> dict[str, Any]:
        """The settings with which the plugin is on."""
        rules = {"site.example": {"drop_params": self.dropped}}
        return {"URLCANON_RULES": rules, "URLCANON_AUDIT": self.share}

    @property
    def wrong(self) -> set[str]:
        """The entries that should be suspended."""
        return {f"drop_params:{name}" for name in self.dropped if name in self.selecting}

    def identity(self, target: str, body: str) -> str:
        """Return the page that *target* shows for *body*."""
        path, _, query = target.partition("?")
        chosen = sorted(
            each for each in query.split("&") if each[: each.find("=")] in self.selecting
        )
        return f"{path} {'&'.join(chosen)} {body}"

    def respond(self, asked: Asked) -> Response:
        """Answer the request *asked*."""
        if asked.url.startswith(_API):
            url = unquote(asked.url.removeprefix(_API))
            asked = replace(asked, target=url.removeprefix(SITE))
        if asked.target in self._statuses:
            return page("failed", status=self._statuses[asked.target])
        name = self.identity(asked.target, asked.body.decode())
        words = re.sub(r"\W+", "_", name)
        text = " ".join(f"{words}w{n}" for n in range(6))
        counter = f"<i>at {next(self._visits)}</i>" if self._has_counter else ""
        return page(f"<title>T {name}</title><nav>{BOILERPLATE}</nav><p>{text}</p>{counter}")

    def spider(self) -> type[FollowSpider]:
        """Return a spider that requests all links of the hubs, and records which pages it got."""
        site = self

        class Asking(FollowSpider):
            def parse(self, response):
                assert response.meta["download_latency"] >= 0
                target = response.url.removeprefix(SITE)
                hub = _HUB.fullmatch(target)
                if not hub and target != "/":
                    name = site.identity(target, response.request.body.decode())
                    yield {"url": name, "text": ""}
                    return
                number = int(hub[1]) if hub else 0
                for url, method, body in site._hubs[number]:
                    yield Request(SITE + url, method=method, body=body)
                if number + 1 < len(site._hubs):
                    yield Request(f"{SITE}/hub{number + 1}")

        return Asking


def lost(site: WrongRules, off: Any, on: Any) -> list[str]:
    """Return what the crawl *on* lacks, and had to get as the one without the plugin, *off*, did.

    That is everything if each wrong entry was suspended. Otherwise, if all drops were audited,
    it is what is requested by URL alone, since nothing else is audited.
    """
    found = {name.removeprefix("audit/suspended/").replace("/", ":", 1) for name in on.figures}
    missing = sorted({*off.pages} - {*on.pages})
    if site.wrong <= found:
        return missing
    return [name for name in missing if name.endswith(" ")] if site.share == 1 else []
