"""A site, a spider and settings, as plain data: what is generated, shrunk and printed.

Each page has an identity such as ``p3``, and each file one such as ``f1``, which is in the path
of all its URLs. Everything else in a URL is decoration that the site ignores. So every rule that
removes decoration is right, and the page of a URL is known without rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from protego import Protego
from w3lib.url import canonicalize_url

from differential.decoration import HOST, OF_PROGRAM, merged
from scrapy_urlcanon import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLBACKS = ("parse", "parse_b", "parse_c")
MAX_REDIRECTS = 4
"""More redirects than any chain has that does not end in a loop."""
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
    """The URL of the same page that the errback requests; "" for no errback."""
    meta: str = ""
    """``all``: the ``meta`` of the response is passed on, as many spiders do."""
    rules: Any = None
    """The value of ``meta["urlcanon"]``."""
    kind: str = ""
    """The subclass of ``Request``: ``form``, ``json`` or ``own``."""
    arguments: bool = False
    """Whether it has ``cb_kwargs``."""
    own: str = ""
    """What its ``meta`` sets for this request only: ``key`` names its page, ``drop`` has it
    fetched anyway, ``record`` keeps it from making others duplicates."""


@dataclass(frozen=True)
class Answer:
    """The answer of one URL. A URL without an answer shows its page, with status 200."""

    status: int = 200
    location: str | None = None
    refresh: str = ""
    """The target of a ``<meta http-equiv=refresh>``."""
    body: str = "error"
    """``page``, ``error``, ``empty``, ``captcha``, or the name of a page that many URLs show."""
    reset: bool = False
    """Whether the connection is reset."""
    times: int = 0
    """How many times it answers so before it shows its page; 0 for always."""
    first: int = 0
    """How many times it shows its page before it answers so."""
    is_cut: bool = False
    """Whether its body is truncated before the links."""

    @property
    def is_for_good(self) -> bool:
        """Whether the URL never shows its page."""
        return not self.times and not self.first


@dataclass(frozen=True)
class Page:
    """The page that all its URLs show."""

    links: tuple[Link, ...] = ()
    files: tuple[str, ...] = ()
    """The ``file_urls`` of the item of this page."""
    inline: tuple[str, ...] = ()
    """The URLs that the callback downloads while it runs."""
    canonical: str = ""
    """The canonical URL that it declares."""
    raises: bool = False
    """Whether the callback raises, after everything else."""


@dataclass(frozen=True)
class Interference:
    """An action of a middleware of the user, or of the spider, on the requests for one URL."""

    where: str
    """``request``, ``response`` or ``exception``: methods of a downloader middleware. ``input``:
    of a spider middleware. ``link``: a request for the URL is removed from the output.
    ``handler``: exceptions of its callback are handled. ``callback``: the callback of the spider
    raises."""
    url: str
    action: str = "ignore"
    """``ignore``; ``raise``; ``half``: raise halfway through the output; ``page``: answer with
    the page; ``moved``: with the page under *other*; ``error``: with a 404; ``request``: request
    *other* instead."""
    other: str = ""
    priority: int = 500


@dataclass(frozen=True)
class Case:
    """Everything that both crawls have in common."""

    pages: dict[str, Page]
    start: tuple[Link, ...]
    answers: dict[str, Answer] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    """In seconds."""
    robots: dict[str, str] = field(default_factory=dict)
    """The robots.txt of a host; others have none."""
    interferences: tuple[Interference, ...] = ()
    spider: str = "plain"
    """``plain``, or ``crawl`` for a ``CrawlSpider`` with a rule for each callback."""
    handled: tuple[int, ...] = ()
    """The spider's ``handle_httpstatus_list``."""
    habits: tuple[str, ...] = ()
    """Habits of the spider: it ``follows`` redirects itself; ``retries`` captchas; its callbacks
    are ``lambdas`` or ``partials``; it ``sleeps`` between its requests, begins ``late`` with
    them, or returns them from ``coroutines``; it yields ``items`` too, for a slow pipeline; it
    ``starts late``, or makes its start requests when it ``idles``; it ``listens`` to drops from
    its first page on."""
    server: tuple[str, ...] = ()
    """Habits of the server: it redirects a client without a cookie to the same URL with one,
    unless the request is filtered (``cookies``); wants cached pages validated (``validates``);
    compresses its responses (``encodes``)."""
    mixing: str = ""
    """What a spider middleware does to the output of callbacks: ``reversed``, each request
    ``twice``, or ``late``."""
    mixing_at: int = 500
    """The order of that middleware."""
    allowed_domains: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of both crawls. Each gets a ``JOBDIR`` of its own."""
    plugin: dict[str, Any] = field(default_factory=dict)
    """Settings of the crawl with the plugin."""
    places: dict[str, str] = field(default_factory=dict)
    """For each URL that is skipped, another URL of its page, which the plugin gets as a setting."""
    program: str = ""
    """The known program that the site runs on."""
    crawls: int = 1
    """With two, the second crawl has the HTTP cache that the first one filled."""
    end: str = ""
    """How the first run of the job with the plugin ends before it is resumed: by an orderly
    ``stop``, or a ``kill``."""
    end_after: int = 0
    """The number of requests after which it ends."""
    end_again: int = 0
    """After how many more requests the second run ends in the same way; 0 if it does not."""
    later_plugin: dict[str, Any] = field(default_factory=dict)
    """Settings of all runs but the first."""

    def answer(self, url: str) -> Answer | None:
        """Return the answer of *url* in place of its page."""
        return self.answers.get(key(url))

    @property
    def canonicalizer(self) -> Canonicalizer:
        """The canonicalizer of the crawl with the plugin."""
        rules = self.plugin.get("URLCANON_RULES") or self.plugin.get("URLCANON_SPIDER_RULES", {})
        if self.program:
            rules = {**rules, HOST: merged([rules.get(HOST, {}), OF_PROGRAM])}
        return Canonicalizer(rules, preset=self.plugin.get("URLCANON_PRESET", "safe"))

    @property
    def follows_redirects(self) -> bool:
        """Whether the redirect middleware is on."""
        return bool(self.settings.get("REDIRECT_ENABLED", True)) or "follows" in self.habits

    def shows_page(self, answer: Answer) -> bool:
        """Tell whether *answer* counts as the page because the spider handles its status."""
        return answer.status in self.handled and "follows" not in self.habits

    def forbids(self, url: str) -> bool:
        """Tell whether a robots.txt forbids *url*.

        Of several requests that wait for that file, Scrapy may let all but the first pass.
        """
        text = self.robots.get(urlsplit(url).hostname or "", "")
        return not Protego.parse(text).can_fetch(url, "Scrapy")

    def links(self) -> Iterator[Link]:
        """Yield all requests that the spider may make, but for media and inline downloads."""
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
        """The interferences that determine the response of a request; the others only refuse it."""
        wheres = {"request", "response", "exception"}
        return (each for each in self.interferences if each.where in wheres)

    def next_hop(self, url: str) -> str | None:
        """Return the next URL of a request for *url*, by a redirect or a middleware."""
        for each in self._at_the_download:
            if key(each.url) != key(url):
                continue
            if each.action == "request":
                return each.other
            if each.where == "request" and each.action in {"page", "moved"}:
                # The server is not asked, which would redirect it.
                return None
        answer = self.answer(url)
        if answer is None or not answer.is_for_good or self.shows_page(answer):
            return None
        return redirect_target(url, answer, follows=self.follows_redirects)

    def raises_at(self, url: str, action: str = "") -> bool:
        """Tell whether the callback raises at *url*, in this way where one is named."""
        return any(
            each.where == "callback" and key(each.url) == key(url) and action in {"", each.action}
            for each in self.interferences
        )

    def asked_by_handler(self, url: str) -> str | None:
        """Return the URL that is requested when the callback raises at the end of *url*."""
        end = self.end_of(url)
        if end is None or not self.raises_at(end):
            return None
        for each in self.interferences:
            if each.where == "handler" and each.action == "request" and key(each.url) == key(end):
                return each.other
        return None

    def end_of(self, url: str) -> str | None:
        """Return the URL at which a request for *url* ends; None for a loop."""
        *_, last = self.chain(url)
        return None if self.next_hop(last) else last

    def chain(self, url: str) -> Iterator[str]:
        """Yield *url* and the URLs that it leads to, each once."""
        seen: set[str] = set()
        following: str | None = url
        while following is not None and key(following) not in seen:
            seen.add(key(following))
            yield following
            following = self.next_hop(following)

    def shown(self, url: str) -> str | None:
        """Return what a request for *url* ends with, if nothing forbids it; None for a failure."""
        end = self.end_of(url)
        if end is None:
            return None
        url = end
        answer = self.answer(url)
        for each in self._at_the_download:
            if key(each.url) == key(url) and each.action in {"page", "moved"}:
                return identity(url)
        if answer is None or not answer.is_for_good or self.shows_page(answer):
            return identity(url)
        if answer.reset or answer.status != 200 or answer.body == "empty":
            return None
        return identity(url) if answer.body == "page" else answer.body


def redirect_target(url: str, answer: Answer, *, follows: bool = True) -> str | None:
    """Return the target of *answer* for *url*; None for no redirect."""
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
    """Return a key that URLs share if Scrapy alone takes them for one."""
    return canonicalize_url(url)


@lru_cache(100_000)
def identity(url: str) -> str | None:
    """Return the page or file that *url* is a URL of."""
    found = _IDENTITY.findall(unquote(url.partition("#")[0].partition("?")[0]).lower())
    return found[-1] if found else None
