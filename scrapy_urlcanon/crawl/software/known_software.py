"""Recognises the programs that the sites of a crawl run on, and declares their rules."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.canonical_urls import OWN_RULES
from scrapy_urlcanon.crawl.own_requests import MARK_KEY, asks_by_url
from scrapy_urlcanon.crawl.reading import tree_of
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.crawl.software.authority import authority_of, directory_of
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.exceptions import UnparsableUrlError
from scrapy_urlcanon.redaction import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.software.parts_of_pages import PartsOfPages
    from scrapy_urlcanon.crawl.stats import CrawlStats
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.profile import Profile

logger = logging.getLogger(__name__)

_LOOKS_AT_DIRECTORY = 5
"""Responses that are looked at below each first directory of a host."""
_LOOKS_AT_HOST = 32
_RESPONSES_OF_HOST = 500
"""After so many nothing is looked at any more, whatever they were."""
_REMEMBERED_HOSTS = 100_000
_MOST_INSTALLATIONS = 8
"""Programs on one host; one that shows more of them tells nothing."""
_MOST_HOSTS = 100_000
"""On which something may be recognised: the rules of each take some kilobytes."""
_MOST_URLS = 1_000
"""That are remembered of one host."""
_MOST_URLS_IN_ALL = 500_000
_NOT_PLAIN = OWN_RULES | {MARK_KEY}
_WORKS = range(200, 400)


class _Host:
    """What is known of a host that is still looked at."""

    __slots__ = ("directories", "looks", "responses", "urls")

    def __init__(self) -> None:
        self.responses = self.looks = 0
        self.directories: dict[str, int] = {}
        self.urls: dict[str, bool] = {}
        """What was sent to it, and whether the duplicate filter recorded that."""


_DONE = _Host()


class KnownSoftware:
    """Looks at the first responses of each host, and declares the rules of what it recognises.

    They are weaker than every rule of the user. What was fetched before is known by its new
    fingerprint from then on, so that nothing is fetched again for it.

    :param profiles: returns those that may be recognised: to read them takes a while.
    :param make_parts: makes what holds requests for parts of pages back, where parts are known.
    :param on_recognised: is called with a host on which something was recognised, and all that was.
    """

    def __init__(
        self,
        crawler: Crawler,
        profiles: Callable[[], tuple[Profile, ...]],
        fingerprints: PageFingerprints,
        rule_changes: RuleChanges,
        stats: CrawlStats,
        *,
        requests: PageRequests | None,
        records_start: bool,
        make_parts: Callable[[], PartsOfPages],
        on_recognised: Callable[[str, tuple[Installation, ...]], None],
    ) -> None:
        self._crawler = crawler
        self._profiles = profiles
        self._fingerprints = fingerprints
        self._rule_changes = rule_changes
        self._stats = stats
        self._requests = requests
        self._records_start = records_start
        self._make_parts = make_parts
        self._on_recognised = on_recognised
        self.parts: PartsOfPages | None = None
        """What holds requests back, as soon as there is a program of which parts are known."""
        self._hosts: BoundedMapping[str, _Host] = BoundedMapping(_REMEMBERED_HOSTS)
        self._noted = 0
        """How many URLs are remembered, at most."""
        self._installations: dict[str, tuple[Installation, ...]] = {}

    @property
    def installations(self) -> tuple[Installation, ...]:
        """All that was recognised."""
        return tuple(one for found in self._installations.values() for one in found)

    def restore(self, installation: Installation) -> None:
        """Take over what an earlier run of the job recognised."""
        known = self._installations.get(installation.host, ())
        self._installations[installation.host] = (*known, installation)
        self._declare(installation.host)
        self._add_parts(installation)

    def sent(self, request: Request) -> None:
        """Note that *request* goes to the downloader."""
        authority = authority_of(request.url)
        host = self._hosts.get(authority)
        if host is _DONE or not authority:
            # No site is at the URL of a file, or at one that is its own page (``data:``).
            return
        if host is None:
            host = self._hosts[authority] = _Host()
        # What is asked for with more than its URL is another page than that of its URL.
        is_plain = asks_by_url(request) and _NOT_PLAIN.isdisjoint(request.meta)
        if is_plain and len(host.urls) < _MOST_URLS:
            is_recorded = not request.dont_filter or self._records_start
            known = host.urls.get(request.url)
            host.urls[request.url] = known or is_recorded
            if known is None:
                self._noted += 1
                if self._noted >= _MOST_URLS_IN_ALL:
                    self._forget_urls()

    def _forget_urls(self) -> None:
        """Forget the URLs of the hosts that were met first, which had most of their looks.

        If something is recognised there after all, pages may be fetched again by other URLs.
        """
        hosts = [host for name in self._hosts if (host := self._hosts.get(name))]
        self._noted = sum(len(host.urls) for host in hosts)
        for host in hosts:
            if self._noted <= _MOST_URLS_IN_ALL // 2:
                return
            self._noted -= len(host.urls)
            host.urls.clear()

    def received(self, request: Request, response: Response) -> None:
        """Look at *response*, if it is one of the first ones of its host."""
        authority = authority_of(request.url)
        if self.parts:
            self.parts.received(request, response, authority)
        host = self._hosts.get(authority)
        if host is _DONE or host is None or MARK_KEY in request.meta:
            return
        host.responses += 1
        if response.status in _WORKS and _is_html(response):
            directory = directory_of(request.url)
            looks = host.directories.get(directory, 0)
            if looks < _LOOKS_AT_DIRECTORY:
                host.directories[directory] = looks + 1
                host.looks += 1
                self._look(response, host.urls)
        if host.looks >= _LOOKS_AT_HOST or host.responses >= _RESPONSES_OF_HOST:
            self._hosts[authority] = _DONE

    def _look(self, response: Response, urls: Mapping[str, bool]) -> None:
        found = recognised_by(response, self._profiles())
        if not found:
            return
        host = found[0].host
        known = self._installations.get(host, ())
        new = [one for one in found if not any(other.covers(one) for other in known)]
        if not new or len(known) + len(new) > _MOST_INSTALLATIONS:
            return
        if not known and len(self._installations) >= _MOST_HOSTS:
            return
        # The same program further down is part of what stands above it.
        kept = [one for one in known if not any(other.covers(one) for other in new)]
        self._installations[host] = (*kept, *new)
        self._rename(urls, lambda: self._declare(host))
        for one in new:
            self._stats.inc(Stat.PROFILE_RECOGNISED, profile=one.profile.name)
            logger.info(
                "Recognised %(what)s, by %(signs)s",
                {"what": visible(str(one)), "signs": visible(", ".join(one.signs))},
                extra={"spider": self._crawler.spider},
            )
            self._add_parts(one)
        self._on_recognised(host, self._installations[host])

    def _add_parts(self, installation: Installation) -> None:
        # Without them nobody would say that a page was had.
        if self._requests and any(installation.parts()):
            self.parts = self.parts or self._make_parts()
            self.parts.add(installation)

    def _declare(self, host: str) -> None:
        """Declare the rules of all that was recognised on *host*."""
        found = self._installations[host]
        self._rule_changes.declare(
            host,
            "profiles",
            tuple(
                rule_set
                for one in found
                for rule_set in one.rule_sets(
                    certain=True,
                    others=tuple(
                        other.place
                        for other in found
                        if other.port == one.port and not one.belongs_to(other)
                    ),
                )
            ),
        )

    def _rename(self, urls: Mapping[str, bool], change: Callable[[], None]) -> None:
        """Know the pages of *urls* by the fingerprints that these have after *change*.

        :param urls: each with whether the duplicate filter recorded it.
        """
        before = {url: self._fingerprints.fingerprint(Request(url)) for url in urls}
        change()
        names: dict[bytes, bytes] = {}
        for url, page in before.items():
            request = Request(url)
            new = self._fingerprints.fingerprint(request)
            if new == page:
                continue
            names.setdefault(page, new)
            if urls[url]:
                record_as_seen(self._crawler, request)
        if self._requests:
            self._requests.rename(names)


def recognised_by(response: Response, profiles: Iterable[Profile]) -> list[Installation]:
    """Return which of *profiles* made *response*, at their places."""
    # No crawl is to wait for the imports before it begins, and few for the last one.
    from scrapy_urlcanon.profiles.page_signs import MAX_BODY, PageSigns  # noqa: PLC0415
    from scrapy_urlcanon.profiles.recognition import recognise  # noqa: PLC0415

    try:
        url = normalize(parse(response.url, []), [])
    except UnparsableUrlError:
        return []
    document = tree_of(response) if len(response.body) <= MAX_BODY else None
    page = PageSigns.of(response.url, _headers(response), response.body, document)
    found = recognise(page, profiles)
    if not found:
        return []
    from scrapy_urlcanon.profiles.installation import Installation  # noqa: PLC0415

    return [
        Installation(one.profile, url.host, url.port, one.place, one.version, one.signs)
        for one in found
        # In a pattern these would be something else.
        if not {"*", "?", "#"} & set(one.place)
    ]


def _is_html(response: Response) -> bool:
    return b"html" in (response.headers.get(b"Content-Type") or b"html").lower()


def _headers(response: Response) -> Iterator[tuple[str, str]]:
    for name, values in response.headers.items():
        for value in values:
            yield name.decode("latin-1"), value.decode("latin-1")
