"""A site, a spider and settings, as plain data: what is generated, shrunk and printed.

A page is known by an identity, ``p3``, and a file by one like ``f1``. It stands in the path of
every URL of the page; whatever else a URL has is decoration that the site does not look at. So
every rule that takes decoration away is right, and what a URL is about needs no rules to know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from protego import Protego
from w3lib.url import canonicalize_url

from scrapy_urlcanon import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLBACKS = ("parse", "parse_b", "parse_c")
MAX_REDIRECTS = 4
"""More than any chain of redirects has that does not end in a loop."""
_IDENTITY = re.compile(r"/([pf]\d+)")


@dataclass(frozen=True)
class Link:
    """A request that the spider makes."""

    url: str
    callback: str = "parse"
    method: str = "GET"
    dont_filter: bool = False
    priority: int = 0
    mirror: str = ""
    """What the errback asks for, which has the same page: "" has no errback."""
    meta: str = ""
    """``all``: what the response has in ``meta`` is passed on, as many spiders do."""
    rules: Any = None
    """What is given as ``meta["urlcanon"]``."""


@dataclass(frozen=True)
class Answer:
    """What one URL answers; where there is none, it is its page, with the status 200."""

    status: int = 200
    location: str | None = None
    refresh: str = ""
    """Where a ``<meta http-equiv=refresh>`` leads to."""
    body: str = "error"
    """``page``, ``error``, ``empty``, ``captcha``, or the name of a page that stands for many."""
    reset: bool = False
    """Whether the connection is reset."""
    times: int = 0
    """How often it answers so, before it has its page; 0 is for good."""


@dataclass(frozen=True)
class Page:
    """What all URLs of one page show."""

    links: tuple[Link, ...] = ()
    files: tuple[str, ...] = ()
    """What the item of this page has in ``file_urls``."""
    inline: tuple[str, ...] = ()
    """What the callback downloads while it runs."""
    canonical: str = ""
    """The canonical URL that it declares."""
    raises: bool = False
    """Whether the callback raises, after everything else."""


@dataclass(frozen=True)
class Interference:
    """What a middleware of the user does to the requests for one URL."""

    where: str
    """``request``, ``response`` or ``exception`` of a downloader middleware, ``input`` of a
    spider middleware, ``link``: a request for it is removed from the output; or the callback
    of the spider itself, which raises: ``callback``."""
    url: str
    action: str = "ignore"
    """``ignore``, ``raise``, ``page``: answer with the page, ``error``: answer with a 404,
    ``request``: ask for *other* instead."""
    other: str = ""
    priority: int = 500


@dataclass(frozen=True)
class Case:
    """All that two crawls have in common."""

    pages: dict[str, Page]
    start: tuple[Link, ...]
    answers: dict[str, Answer] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    """In seconds."""
    robots: dict[str, str] = field(default_factory=dict)
    """The robots.txt of a host; others have none."""
    interferences: tuple[Interference, ...] = ()
    spider: str = "plain"
    """``plain`` or ``crawl``, with a rule for each callback."""
    handled: tuple[int, ...] = ()
    """The spider's ``handle_httpstatus_list``."""
    habits: tuple[str, ...] = ()
    """What else the spider does: it ``follows`` redirects itself, ``retries`` what is a captcha,
    its callbacks are ``lambdas`` or ``partials``, or it ``sleeps`` between its requests."""
    allowed_domains: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    """Of both crawls; ``JOBDIR`` stands for a directory of each one's own."""
    plugin: dict[str, Any] = field(default_factory=dict)
    """Of the crawl with the plugin."""
    places: dict[str, str] = field(default_factory=dict)
    """What the plugin is told of URLs that are skipped: another one of the same page."""
    crawls: int = 1
    """Two: the second one has the HTTP cache that the first one filled."""
    end: str = ""
    """How the first run of the job with the plugin ends, which is then resumed: ``stop``, in order,
    or ``kill``."""
    end_after: int = 0
    """After how many requests."""

    def answer(self, url: str) -> Answer | None:
        """Return what *url* is to answer instead of its page."""
        return self.answers.get(key(url))

    @property
    def canonicalizer(self) -> Canonicalizer:
        """That of the crawl with the plugin."""
        rules = self.plugin.get("URLCANON_RULES") or self.plugin.get("URLCANON_SPIDER_RULES", {})
        return Canonicalizer(rules, preset=self.plugin.get("URLCANON_PRESET", "safe"))

    @property
    def follows_redirects(self) -> bool:
        """Whether the redirect middleware is on."""
        return bool(self.settings.get("REDIRECT_ENABLED", True)) or "follows" in self.habits

    def shows_page(self, answer: Answer) -> bool:
        """Tell whether *answer* has the page since the spider handles its status."""
        return answer.status in self.handled and "follows" not in self.habits

    def forbids(self, url: str) -> bool:
        """Tell whether a robots.txt forbids *url*.

        Of several requests that wait for that file Scrapy may let all but the first pass.
        """
        text = self.robots.get(urlsplit(url).hostname or "", "")
        return not Protego.parse(text).can_fetch(url, "Scrapy")

    def links(self) -> Iterator[Link]:
        """Yield all requests that the spider may make but for media and inline downloads."""
        yield from self.start
        for page in self.pages.values():
            yield from page.links

    def urls(self) -> Iterator[str]:
        """Yield every URL that is named anywhere."""
        for link in self.links():
            yield link.url
            if link.mirror:
                yield link.mirror
        for page in self.pages.values():
            yield from page.files
            yield from page.inline
            if page.canonical:
                yield page.canonical
        yield from self.places.values()
        for url, answer in self.answers.items():
            yield url
            target = redirect_target(url, answer)
            if target:
                yield target
        for interference in self.interferences:
            yield interference.url
            if interference.other:
                yield interference.other

    @property
    def _at_the_download(self) -> Iterator[Interference]:
        """The interferences that say what a request gets; the others only refuse."""
        wheres = {"request", "response", "exception"}
        return (each for each in self.interferences if each.where in wheres)

    def next_hop(self, url: str) -> str | None:
        """Return where a request for *url* leads on to, by a redirect or a middleware."""
        for each in self._at_the_download:
            if each.action == "request" and key(each.url) == key(url):
                return each.other
        answer = self.answer(url)
        if answer is None or answer.times or self.shows_page(answer):
            return None
        return redirect_target(url, answer, follows=self.follows_redirects)

    def shown(self, url: str) -> str | None:
        """Return what a request for *url* ends with, if nobody forbids it; None is a failure."""
        seen = set()
        while key(url) not in seen:
            seen.add(key(url))
            following = self.next_hop(url)
            if following is None:
                break
            url = following
        else:
            return None
        answer = self.answer(url)
        for each in self._at_the_download:
            if key(each.url) == key(url) and each.action == "page":
                return identity(url)
        if answer is None or answer.times or self.shows_page(answer):
            return identity(url)
        if answer.reset or answer.status != 200 or answer.body == "empty":
            return None
        return identity(url) if answer.body == "page" else answer.body


def redirect_target(url: str, answer: Answer, *, follows: bool = True) -> str | None:
    """Return where *answer* of *url* leads to, None if nowhere."""
    if answer.refresh:
        return answer.refresh
    redirects = {301, 302, 303, 307, 308}
    if not follows or answer.status not in redirects or not answer.location:
        return None
    try:
        target = urljoin(url, answer.location)
        scheme = urlsplit(target).scheme
    except ValueError:
        return None
    return target if scheme in {"http", "https"} else None


@lru_cache(100_000)
def key(url: str) -> str:
    """Return what URLs have in common that Scrapy alone takes for one."""
    return canonicalize_url(url)


@lru_cache(100_000)
def identity(url: str) -> str | None:
    """Return the page or file that *url* is a URL of."""
    found = _IDENTITY.findall(unquote(url.partition("#")[0].partition("?")[0]).lower())
    return found[-1] if found else None
