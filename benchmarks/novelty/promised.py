"""Measures whether ``URLCANON_STOP`` keeps its promise: ``python -m benchmarks.novelty.promised``.

Generated sites have a few kinds of URLs, each with a share of pages with news. They are crawled
without an engine to the point where a crawl would be closed, and then to their end: how many of
the requests that would have been left have news?
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from benchmarks.novelty.offline import SLOT, ByNews, Crawling
from benchmarks.results import conditions, table, write

if TYPE_CHECKING:
    from scrapy import Request

_SITE = "http://site.example"
_RATES = (0, 0, 0.005, 0.02, 0.05, 0.1, 0.4, 1)
_KINDS = ("news", "tag", "shop", "print", "day", "user", "find", "old")
_FORMS = ("/{kind}/{number}", "/{kind}?id={number}", "/x/{number}/{kind}.html")
_LEAST = 20
"""If fewer requests were left, no share is computed."""


class MixedSite:
    """A site with some kinds of URLs, each with its share of pages with news.

    :param count: of its pages.
    """

    start = f"{_SITE}/"

    def __init__(self, seed: int, count: int) -> None:
        random = Random(seed)
        form, width = random.choice(_FORMS), random.choice((2, 4, 10, 40))
        kinds = [(name, random.choice(_RATES)) for name in _KINDS[: random.randint(3, 8)]]
        self._known: dict[str, HtmlResponse] = {}
        self._pages: dict[str, tuple[int, bool]] = {}
        for number in range(count):
            kind, rate = random.choice(kinds)
            url = _SITE + (form.format(kind=kind, number=number) if number else "/")
            self._pages[url] = number, random.random() < rate
        urls = [*self._pages]
        self._links: list[list[str]] = [[] for _ in urls]
        for number, url in enumerate(urls[1:], 1):
            self._links[(number - 1) // width].append(url)
            self._links[random.randrange(number)].append(url)

    def has_news(self, url: str) -> bool:
        """Tell whether the page of *url* has news."""
        return self._pages[url][1]

    def at(self, url: str) -> tuple[HtmlResponse, list[str]]:
        """Return the response to *url*, always the same, and its links."""
        number, has_news = self._pages[url]
        if url not in self._known:
            random = Random(number)
            words = ("".join(random.choices(ascii_lowercase, k=7)) for _ in range(60))
            text = " ".join(words) if has_news else "nothing to see here"
            anchors = "".join(f'<a href="{link}">x</a>' for link in self._links[number])
            body = f"<html><body><h1>menu</h1><p>{text}</p>{anchors}</body></html>".encode()
            kind = {"Content-Type": "text/html"}
            self._known[url] = HtmlResponse(url, 200, kind, body, encoding="utf-8")
        return self._known[url], self._links[number]


@dataclass
class Left:
    """The requests that a crawl would have left, and how many of them had news."""

    urls: set[str] = field(default_factory=set)
    with_news: int = 0

    @property
    def share(self) -> float:
        """The share with news."""
        return self.with_news / len(self.urls)


class Stopping(ByNews):
    """Goes on where the plugin would close the crawl, and records the requests left then."""

    def __init__(self, site: MixedSite, stop: float) -> None:
        super().__init__({"URLCANON_STOP": stop})
        self.left = Left()
        waiting: set[str] = set()
        push, pop, is_done = self.push, self.pop, self.crawl.is_done

        def pushed(request: Request) -> None:
            waiting.add(request.url)
            push(request)

        def popped() -> Request | None:
            if not self.left.urls and is_done(SLOT, 0):
                self.left.urls = {*waiting}
            request = pop()
            if request:
                waiting.discard(request.url)
                if request.url in self.left.urls:
                    self.left.with_news += site.has_news(request.url)
            return request

        # None is written down: the crawl goes on.
        self.crawl.is_done = lambda *_: False  # type: ignore[method-assign]
        self.push, self.pop = pushed, popped


def left_of(site: MixedSite, stop: float) -> Left:
    """Crawl *site*; return the requests that this ``URLCANON_STOP`` would have left."""
    frontier = Stopping(site, stop)
    Crawling(site, frontier, sys.maxsize).run()
    return frontier.left


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty.promised", description=__doc__)
    parser.add_argument("--stop", type=float, default=0.05, help="URLCANON_STOP (0.05)")
    parser.add_argument("--sites", type=int, default=200, help="how many (200)")
    parser.add_argument("--pages", type=int, default=800, help="of each (800)")
    options = parser.parse_args()
    every = (left_of(MixedSite(seed, options.pages), options.stop) for seed in range(options.sites))
    stopped = [left for left in every if len(left.urls) >= _LEAST]
    requests = sum(len(left.urls) for left in stopped)
    with_news = sum(left.with_news for left in stopped)
    found = {
        "URLCANON_STOP": options.stop,
        "sites": options.sites,
        "pages of each": options.pages,
        "crawls that left something": len(stopped),
        "requests that were left": requests,
        "share of these with news": round(with_news / max(requests, 1), 4),
        "crawls with a larger share than promised": sum(
            left.share > options.stop for left in stopped
        ),
        "largest share": round(max((left.share for left in stopped), default=0.0), 3),
        **conditions(),
    }
    rows = [[name, f"{value}"] for name, value in found.items()]
    write("novelty-promised", found, [table(["what was left", "measured"], rows)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
