"""The requests that were left because nothing new was expected of them: in a file, and back."""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.request import request_from_dict

from scrapy_urlcanon.crawl.own_requests import MARK_KEY, RESCUE, mark_of
from scrapy_urlcanon.crawl.seen import forget_seen
from scrapy_urlcanon.novelty.kinds import MAX_KINDS, OTHER, kind_of
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_BYTES = "base64"
_TAKEN = ".taken-up"
_TOLD = 3
"""Of more lines that are no requests it is told only how many there are."""


class LeftRequests:
    """Writes requests to a file, one to a line as JSON, and reads them again.

    What JSON cannot say of a request is left out: its URL and its callback are always there.

    :param adds: whether what the file has already stays there.
    """

    def __init__(self, path: Path, spider: Spider | None, *, adds: bool = False) -> None:
        self.path = path
        self._mode = "a" if adds else "w"
        self._spider = spider
        self.counts: dict[str, int] = {}
        """How many were written, by kind of URL."""

    def add(self, request: Request) -> None:
        """Write *request*.

        :raises OSError: if it cannot be written.
        :raises ValueError: if its callback is none of the spider, so that it could not be read.
        """
        data = request.to_dict(spider=self._spider if request.callback else None)
        if mark_of(request, RESCUE):
            # Whether it is needed shows when the request that it was to replace is taken up.
            data["meta"] = {key: value for key, value in data["meta"].items() if key != MARK_KEY}
        data["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in data["headers"].items()
        }
        try:
            written = json.dumps(data, default=_encoded)
        except (TypeError, ValueError):
            data |= {"meta": {}, "cb_kwargs": {}}
            written = json.dumps(data, default=_encoded)
        with self.path.open(self._mode, encoding="utf-8") as file:
            file.write(f"{written}\n")
        self._mode = "a"
        kind = kind_of(request.url).text
        if kind not in self.counts and len(self.counts) >= MAX_KINDS:
            kind = OTHER
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def begin_anew(self) -> None:
        """Have the first request that is written take the place of what is there."""
        self._mode = "w"

    def so_far(self) -> Iterator[Request]:
        """Yield what was written, in an earlier run of the job too."""
        if self._mode == "a" and self.path.exists():
            yield from self

    def __iter__(self) -> Iterator[Request]:
        """Yield what an earlier crawl wrote; a line that cannot be read is said and passed over."""
        wrong = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    data: dict[str, Any] = json.loads(line, object_hook=_decoded)
                    yield request_from_dict(data, spider=self._spider)
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    wrong += 1
                    if wrong <= _TOLD:
                        logger.warning(
                            "Line %(number)d of %(path)s is no request: %(error)s",
                            {"number": number, "path": self.path, "error": error},
                            extra={"spider": self._spider},
                        )
        if wrong > _TOLD:
            logger.warning(
                "Of %(path)s %(lines)s are no requests.",
                {"path": self.path, "lines": count_of(wrong, "line")},
                extra={"spider": self._spider},
            )


class TakenUp:
    """Schedules what an earlier crawl left, before the first of the start requests.

    Where it is what this job itself left, the duplicate filter has seen it; and what is taken up
    is left no more, so that the file goes by another name.

    :param path: of the file that it wrote.
    :param is_own: whether that is where this job writes.
    :param is_known: whether all that this job left is scheduled again already.
    """

    def __init__(self, crawler: Crawler, path: Path, *, is_own: bool, is_known: bool) -> None:
        self._crawler = crawler
        self._path = path
        self._is_own = is_own
        self._is_known = is_known
        crawler.signals.connect(self.engine_started, signals.engine_started)

    def engine_started(self) -> None:
        """Schedule all of them; where the file cannot be read the crawl goes on without."""
        crawler = self._crawler
        try:
            requests = list(LeftRequests(self._path, crawler.spider))
        except OSError as error:
            logger.error(  # noqa: TRY400
                "Nothing that an earlier crawl left is taken up: %s",
                error,
                extra={"spider": crawler.spider},
            )
            return
        logger.info(
            "%(requests)s that an earlier crawl left: taken up from %(path)s.",
            {"requests": count_of(len(requests), "request"), "path": self._path},
            extra={"spider": crawler.spider},
        )
        if self._is_own and not self._is_known:
            for request in requests:
                forget_seen(crawler, crawler.request_fingerprinter.fingerprint(request))
        for request in requests:
            crawler.engine.crawl(request)
        if self._is_own:
            self._path.replace(f"{self._path}{_TAKEN}")


def _encoded(value: object) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def _decoded(value: dict[str, Any]) -> Any:
    return b64decode(value[_BYTES]) if [*value] == [_BYTES] else value
