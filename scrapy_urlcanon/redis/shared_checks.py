"""Shares what audits need between processes: the contents of pages, and verdicts."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.case import AuditedPair
from scrapy_urlcanon.crawl.checks.kept_contents import KeptContents
from scrapy_urlcanon.pages.same_page import PageDigest
from scrapy_urlcanon.pages.verdict import Judgement, Verdict
from scrapy_urlcanon.redis import scripts
from scrapy_urlcanon.redis.frontier import KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.redis.frontier import Frontier

_FORMAT = 2
"""Raised whenever the fields of :class:`PageDigest` change, so that contents that another version
stored are not read."""
_MOST_VERDICTS = 10_000
_MOST_LINES = 64
"""The most lines of another page that are shared. Any line of its own shows that it is another."""


class SharedContents(KeptContents):
    """Stores the contents of pages in Redis, and in this process those that it has fetched."""

    def __init__(self, frontier: Frontier, max_pages: int) -> None:
        super().__init__(max_pages)
        self._frontier = frontier
        self._key = f"{frontier.prefix}contents:{_FORMAT}"

    def __setitem__(self, page: bytes, content: PageDigest) -> None:
        """Store *content* for *page*."""
        super().__setitem__(page, content)
        arguments = (page, _encoded(content), self._half, KEPT)
        self._frontier.tell(scripts.REMEMBER, (self._key,), arguments)

    def get(self, page: bytes) -> PageDigest | None:
        """Return the content of *page*, or None."""
        known = super().get(page)
        if known is not None:
            return known
        found = self._frontier.ask(scripts.RECALL, (self._key,), (page,))
        return _decoded(found) if found else None

    def pop(self, page: bytes) -> PageDigest | None:
        """Forget *page* in this process only; return its content, or None."""
        return super().pop(page) or self.get(page)


class SharedVerdicts:
    """Publishes the verdicts of each process to all others.

    A process that joins later gets the earlier verdicts too, as far as they are kept.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._key = f"{frontier.prefix}verdicts"
        self._last = "0"

    def tell(self, pair: AuditedPair) -> None:
        """Publish the verdict about *pair*, if there is one."""
        judgement = pair.judgement
        if judgement.verdict is Verdict.CANNOT_TELL:
            return
        data = [
            pair.url,
            pair.first,
            pair.entries,
            pair.domain,
            pair.page.hex(),
            judgement.verdict.value,
            sorted(judgement.own)[:_MOST_LINES],
            sorted(judgement.lacking)[:_MOST_LINES],
        ]
        arguments = (_MOST_VERDICTS, self._frontier.name, json.dumps(data), KEPT)
        self._frontier.tell(scripts.TELL_VERDICT, (self._key,), arguments)

    def new(self) -> Iterator[AuditedPair]:
        """Yield the verdicts that other processes published since the last call.

        :raises RedisError: if Redis does not answer.
        """
        for _, found in self._frontier.server.xread({self._key: self._last}):
            for self._last, fields in found:
                if fields[b"process"].decode() != self._frontier.name:
                    yield _pair(json.loads(fields[b"verdict"]))


def _pair(data: list[Any]) -> AuditedPair:
    url, first, entries, domain, page, verdict, *lines = data
    own, lacking = (frozenset(map(tuple, part)) for part in lines)
    return AuditedPair(
        url,
        first,
        tuple(RuleEntry(*entry) for entry in entries),
        domain,
        Judgement(Verdict(verdict), own=own, lacking=lacking),
        bytes.fromhex(page),
    )


def _encoded(content: PageDigest) -> str:
    parts = (b64encode(part).decode() if isinstance(part, bytes) else part for part in content)
    return json.dumps([*parts])


def _decoded(text: bytes) -> PageDigest:
    digest, title, sketch, simhash, lines, title_shape, unread, media = json.loads(text)
    return PageDigest(
        b64decode(digest),
        title,
        None if sketch is None else b64decode(sketch),
        simhash,
        None if lines is None else b64decode(lines),
        title_shape,
        b64decode(unread),
        media,
    )
