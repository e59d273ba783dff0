"""Writes the requests of which nothing new is expected to a file, and reads them again."""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from datetime import date, datetime
from os import SEEK_END
from typing import TYPE_CHECKING, Any

from attrs import define
from lxml import etree  # type: ignore[import-untyped]
from scrapy import signals
from scrapy.utils.request import request_from_dict

from scrapy_urlcanon.crawl.own_requests import MARK_KEY, RESCUE, mark_of
from scrapy_urlcanon.crawl.scheduling.engine import hear
from scrapy_urlcanon.crawl.scheduling.seen import forget_seen
from scrapy_urlcanon.files import why_unreadable
from scrapy_urlcanon.novelty.kinds import MAX_KINDS, OTHER, kind_of
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_TAKEN = ".taken-up"
_LOGGED = 3
"""How many invalid lines are logged one by one; of the others only their number."""


@define
class _File:
    """What several crawls in one process share about a file that they write to at the same time."""

    is_begun: bool
    """Whether the present content of the file is kept."""
    crawls: int = 0


_files: dict[Path, _File] = {}


class LeftRequests:
    """Writes requests to a file, one to a line as JSON, and reads them again.

    Values that JSON does not have, such as bytes, are written as an object with one key. Other
    objects are an error.

    :param adds: whether the present content of the file is kept.
    """

    def __init__(self, path: Path, spider: Spider | None, *, adds: bool = False) -> None:
        self.path = path
        self._file = _File(is_begun=adds)
        self._spider = spider
        self._is_anew = False
        self.counts: dict[str, int] = {}
        """How many requests were written, by kind of URL."""

    def add(self, request: Request) -> None:
        """Write *request*.

        :raises OSError: if it cannot be written.
        :raises ValueError: if it could not be read again: its callback is no method of the spider,
            or it holds an object that cannot be represented.
        """
        data = request.to_dict(spider=self._spider if request.callback or request.errback else None)
        if mark_of(request, RESCUE):
            # Whether the rescue is needed shows when the request that it was to replace is taken
            # up.
            data["meta"] = {key: value for key, value in data["meta"].items() if key != MARK_KEY}
        data["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in data["headers"].items()
        }
        try:
            written = json.dumps(_as_json(data))
        except RecursionError as error:
            raise ValueError("it is nested too deep, and cannot be written as JSON") from error
        line = f"{written}\n".encode()
        with self.path.open("ab" if self._file.is_begun else "wb", buffering=0) as file:
            end = file.seek(0, SEEK_END)
            if file.write(line) != len(line):
                # Otherwise the next run of the job would continue this line.
                file.truncate(end)
                raise OSError("No room for a request on the disk")
        self._file.is_begun = True
        kind = kind_of(request.url).text
        if kind not in self.counts and len(self.counts) >= MAX_KINDS:
            kind = OTHER
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def opened(self) -> None:
        """Note that the crawl begins; others in this process may write to the same file.

        As when a spider is run for two sites at once: what one of them left is then kept by the
        other.
        """
        self._file = _files.setdefault(self.path.resolve(), self._file)
        self._file.crawls += 1

    def closed(self) -> None:
        """Note that the crawl has ended."""
        self._file.crawls -= 1
        if not self._file.crawls:
            _files.pop(self.path.resolve(), None)
        if self._is_anew and not self.counts:
            self.path.unlink(missing_ok=True)

    def begin_anew(self) -> None:
        """Let what this crawl writes, if only nothing, take the place of what the file has."""
        self._file.is_begun = False
        self._is_anew = True

    def so_far(self) -> Iterator[Request]:
        """Yield what was written, also by earlier runs of the job."""
        if self._file.is_begun and self.path.exists():
            yield from self

    def __iter__(self) -> Iterator[Request]:
        """Yield what an earlier crawl wrote. Lines that cannot be read are logged and skipped."""
        wrong = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    data = _from_json(json.loads(line))
                    if not isinstance(data, dict) or "url" not in data:
                        raise ValueError('expected a JSON object with "url"')  # noqa: TRY301
                    yield request_from_dict(data, spider=self._spider)
                # A line may be anything.
                except Exception as error:  # noqa: BLE001
                    wrong += 1
                    if wrong <= _LOGGED:
                        logger.warning(
                            "Line %(number)d of %(path)s is no request: %(error)s",
                            {"number": number, "path": self.path, "error": error},
                            extra={"spider": self._spider},
                        )
        if wrong > _LOGGED:
            logger.warning(
                "%(path)s: %(lines)s in all are no requests.",
                {"path": self.path, "lines": count_of(wrong, "line")},
                extra={"spider": self._spider},
            )


def take_up(crawler: Crawler, path: Path, *, is_own: bool, is_known: bool) -> None:
    """Have the requests that an earlier crawl left scheduled before the first start request.

    If this job left them itself, the duplicate filter has seen them. And the file is renamed, if
    this crawl writes to the same one: otherwise the first request that it leaves would replace all
    of them. If the file cannot be read, the crawl goes on without them.

    :param path: the file that the earlier crawl wrote.
    :param is_own: whether this crawl writes to that file.
    :param is_known: whether the job schedules all that it left anyway, after a kill.
    """

    def engine_started() -> None:
        try:
            requests = list(LeftRequests(path, crawler.spider))
        except OSError as error:
            logger.error(  # noqa: TRY400
                "Requests that an earlier crawl left cannot be taken up from %(path)s: %(reason)s",
                {"path": path, "reason": why_unreadable(error)},
                extra={"spider": crawler.spider},
            )
            return
        logger.info(
            "Taken up from %(path)s: %(requests)s that an earlier crawl left.",
            {"requests": count_of(len(requests), "request"), "path": path},
            extra={"spider": crawler.spider},
        )
        if is_own and not is_known:
            for request in requests:
                forget_seen(crawler, crawler.request_fingerprinter.fingerprint(request))
        for request in requests:
            crawler.engine.crawl(request)
        if is_own:
            path.replace(f"{path}{_TAKEN}")

    hear(crawler, engine_started, signals.engine_started)


def _as_json(value: Any) -> Any:
    """Return *value* in a form that JSON can represent, and that :func:`_from_json` reads.

    >>> _from_json(json.loads(json.dumps(_as_json({"a": (1, b"c"), "d": {2: None}}))))
    {'a': (1, b'c'), 'd': {2: None}}

    :raises ValueError: if there is none.
    """
    kind = type(value)
    if value is None or kind in _PLAIN:
        return value
    if kind is list:
        return [*map(_as_json, value)]
    if (
        kind is dict
        and _DECODERS.keys().isdisjoint(value)
        and all(type(key) is str for key in value)
    ):
        return {key: _as_json(one) for key, one in value.items()}
    if kind in _ENCODERS:
        tag, encode = _ENCODERS[kind]
        return {tag: encode(value)}
    raise ValueError(f"{kind.__name__} cannot be written as JSON: {value!r:.80}")


def _from_json(value: Any) -> Any:
    """Return the value that :func:`_as_json` converted to *value*."""
    if isinstance(value, list):
        return [*map(_from_json, value)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (tag := next(iter(value))) in _DECODERS:
        return _DECODERS[tag](value[tag])
    return {key: _from_json(one) for key, one in value.items()}


# A CrawlSpider puts the text of each link into its meta, as a string from XPath that knows its
# element. It is read back as a plain string.
_PLAIN = frozenset({bool, int, float, str, etree._ElementUnicodeResult})  # noqa: SLF001
_ENCODERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    bytes: ("base64", lambda data: b64encode(data).decode()),
    tuple: ("tuple", lambda items: [*map(_as_json, items)]),
    # Of other keys than texts.
    dict: ("pairs", lambda items: [[_as_json(key), _as_json(one)] for key, one in items.items()]),
    date: ("date", date.isoformat),
    datetime: ("datetime", datetime.isoformat),
}
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "base64": b64decode,
    "tuple": lambda items: tuple(map(_from_json, items)),
    "pairs": lambda pairs: {_from_json(key): _from_json(one) for key, one in pairs},
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}
