"""Recognises the programs that the sites of a crawl run on, and declares their rules."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from attrs import define, field
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
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.profile import Profile

logger = logging.getLogger(__name__)

_LOOKS_AT_DIRECTORY = 5
"""The most responses that are examined below each first directory of a host."""
_LOOKS_AT_HOST = 32
_RESPONSES_OF_HOST = 500
"""After this many responses a host is no longer examined, whatever they were."""
_REMEMBERED_HOSTS = 100_000
_MOST_INSTALLATIONS = 8
"""The most programs on one host. One that seems to have more tells nothing."""
_MOST_HOSTS = 100_000
"""The most hosts with recognised programs; the rules of each take some kilobytes."""
_MOST_URLS = 1_000
"""The most URLs of one host that are remembered."""
_MOST_URLS_IN_ALL = 500_000
_NOT_PLAIN = OWN_RULES | {MARK_KEY}
_WORKS = range(200, 400)


class _Host:
    """What is known of a host that is still examined."""

    __slots__ = ("directories", "looks", "responses", "urls")

    def __init__(self) -> None:
        self.responses = self.looks = 0
        self.directories: dict[str, int] = {}
        self.urls: dict[str, bool] = {}
        """The URLs that were requested, each with whether the duplicate filter recorded it."""


_DONE = _Host()


@define(eq=False)
class KnownSoftware:
    """Examines the first responses of each host, and declares the rules of recognised programs.

    These are weaker than every rule of the user. Pages that were fetched before get the
    fingerprints that they have under the new rules, so that nothing is fetched again.

    :param profiles: returns the profiles that may be recognised; reading them takes a while.
    :param make_parts: makes what holds back requests for parts of pages, if a program has such
        parts.
    :param on_recognised: called with a host on which a program was recognised, and with all
        programs recognised there.
    """

    _crawler: Crawler
    _profiles: Callable[[], tuple[Profile, ...]]
    _fingerprints: PageFingerprints
    _rule_changes: RuleChanges
    _requests: PageRequests | None
    _records_start: bool
    _make_parts: Callable[[], PartsOfPages]
    _on_recognised: Callable[[str, tuple[Installation, ...]], None]
    parts: PartsOfPages | None = field(init=False, default=None)
    """Holds requests back, once there is a program whose parts of pages are known."""
    _hosts: BoundedMapping[str, _Host] = field(
        init=False, factory=lambda: BoundedMapping(_REMEMBERED_HOSTS)
    )
    _noted: int = field(init=False, default=0)
    """An upper bound of how many URLs are remembered."""
    _installations: dict[str, tuple[Installation, ...]] = field(init=False, factory=dict)

    @property
    def installations(self) -> tuple[Installation, ...]:
        """All programs that were recognised."""
        return tuple(one for found in self._installations.values() for one in found)

    def restore(self, installation: Installation) -> None:
        """Add what an earlier run of the job recognised."""
        known = self._installations.get(installation.host, ())
        self._installations[installation.host] = (*known, installation)
        self._declare(installation.host)
        self._add_parts(installation)

    def sent(self, request: Request) -> None:
        """Note that *request* goes to the downloader."""
        authority = authority_of(request.url)
        host = self._hosts.get(authority)
        if host is _DONE or not authority:
            # A ``file:`` or ``data:`` URL belongs to no site.
            return
        if host is None:
            host = self._hosts[authority] = _Host()
        # A request with a body or rules of its own may be for another page than its URL.
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
        """Forget the URLs of the hosts met first, most of whose examinations are done.

        If a program is recognised there after all, pages may be fetched again by other URLs.
        """
        hosts = [host for name in self._hosts if (host := self._hosts.get(name))]
        self._noted = sum(len(host.urls) for host in hosts)
        for host in hosts:
            if self._noted <= _MOST_URLS_IN_ALL // 2:
                return
            self._noted -= len(host.urls)
            host.urls.clear()

    def received(self, request: Request, response: Response) -> None:
        """Examine *response* if it is one of the first ones of its host."""
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
        # The same program in a deeper directory is part of the one above.
        kept = [one for one in known if not any(other.covers(one) for other in new)]
        self._installations[host] = (*kept, *new)
        self._rename(urls, lambda: self._declare(host))
        for one in new:
            Stat.PROFILE_RECOGNISED.inc(self._crawler, profile=one.profile.name)
            logger.info(
                "Recognised %(what)s, by %(signs)s",
                {"what": visible(str(one)), "signs": visible(", ".join(one.signs))},
                extra={"spider": self._crawler.spider},
            )
            self._add_parts(one)
        self._on_recognised(host, self._installations[host])

    def _add_parts(self, installation: Installation) -> None:
        # Only then is it known whether a callback has had a page.
        if self._requests and any(installation.parts()):
            self.parts = self.parts or self._make_parts()
            self.parts.add(installation)

    def _declare(self, host: str) -> None:
        """Declare the rules of all programs recognised on *host*."""
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
        """Replace the fingerprints of the pages of *urls* by those that they have after *change*.

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
    """Return the programs that made *response*, each at its place."""
    # Imported here for a faster start; the last import is needed seldom.
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
        # In a pattern these characters have another meaning.
        if not {"*", "?", "#"} & set(one.place)
    ]


def _is_html(response: Response) -> bool:
    return b"html" in (response.headers.get(b"Content-Type") or b"html").lower()


def _headers(response: Response) -> Iterator[tuple[str, str]]:
    for name, values in response.headers.items():
        for value in values:
            yield name.decode("latin-1"), value.decode("latin-1")
