"""A site without a network: a download handler that answers, and records the requests."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

from differential.case import Answer, Page, identity, key

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from differential.case import Case

_LIMIT = 3_000
_CODINGS = (("", None), ("gzip", gzip.compress), ("deflate", zlib.compress))
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ko", "lu", "me", "ni", "po", "ru", "ta")


class Server:
    """Answers as the site of *case*, in all crawls with the plugin, or in all without it."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._asked: Counter[tuple[str, str]] = Counter()
        self.hits: list[str] = []
        """The requested URLs, in order."""
        self.is_endless = False
        """Whether there were too many."""
        self.on_hit: dict[int, Callable[[Crawler], None]] = {}
        """By the number of a request, a function to call with the crawler before it is answered."""

    def respond(self, request: Request, crawler: Crawler) -> Response:
        """Answer *request* of *crawler*.

        :raises OSError: if the connection is to be reset.
        """
        url = request.url
        self.hits.append(url)
        if len(self.hits) in self.on_hit:
            self.on_hit.pop(len(self.hits))(crawler)
        if len(self.hits) > _LIMIT:
            self.is_endless = True
            raise IgnoreRequest
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            text = self._case.robots.get(parts.hostname or "")
            if text is None:
                return Response(url, status=404)
            return TextResponse(url, body=text.encode(), headers={"Content-Type": "text/plain"})
        has_cookie = "cookies" not in self._case.server or b"Cookie" in request.headers
        # Scrapy alone drops any other one that is redirected to itself as a duplicate.
        if not has_cookie and request.dont_filter:
            return Response(url, 302, {"Location": url, "Set-Cookie": "visited=1; Path=/"})
        answer = self._answer_of_now(request)
        response = reply(self._case, request, answer)
        if "validates" in self._case.server and answer is None:
            response = _validated(request, response)
        if request.method == "HEAD":
            return response.replace(body=b"")
        return _encoded(response) if "encodes" in self._case.server else response

    def _answer_of_now(self, request: Request) -> Answer | None:
        """Return the present answer to *request* in place of its page; some change with time."""
        answer = self._case.answer(request.url)
        if answer is None or answer.is_for_good:
            return answer
        if request.method == "HEAD":
            return None
        # What is sent by POST is another request, as the law has it.
        asked = request.method, key(request.url)
        self._asked[asked] += 1
        is_before = self._asked[asked] <= (answer.times or answer.first)
        return None if is_before is bool(answer.first) else answer


def _encoded(response: Response) -> Response:
    """Return *response* with the encoding of its URL, if it has a body and the URL an encoding."""
    coding, encode = _CODINGS[zlib.crc32(response.url.encode()) % len(_CODINGS)]
    if not response.body or not encode:
        return response
    headers = {**response.headers, "Content-Encoding": coding}
    return response.replace(body=encode(response.body), headers=headers)


def _validated(request: Request, response: Response) -> Response:
    """Return *response* as one that has to be validated, or the answer that it has not changed."""
    tag = f'"{identity(request.url)}"'.encode()
    if request.headers.get("If-None-Match") == tag:
        return Response(request.url, status=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "max-age=0"
    return response


def reply(case: Case, request: Request, answer: Answer | None) -> Response:
    """Return the response to *request*: *answer*, or its page."""
    name = identity(request.url)
    if answer is None:
        answer = Answer(body="page") if name else Answer(404)
    elif case.shows_page(answer):
        answer = Answer(answer.status, answer.location, body="page")
    if answer.reset:
        raise ConnectionResetError
    headers = {"Content-Type": "text/html", "Cache-Control": "max-age=1000"}
    if answer.location is not None:
        headers["Location"] = answer.location
    if answer.refresh:
        body = f'<meta http-equiv="refresh" content="0; url={answer.refresh}">'
    elif answer.body == "page" and name:
        body = markup(name, case.pages.get(name, Page()), case.program)
    elif answer.body in {"empty", "error"}:
        body = "" if answer.body == "empty" else "<title>Error</title>Something went wrong."
    else:
        body = markup(answer.body, Page())
    flags = []
    if answer.is_cut:
        body, flags = body.partition("<a ")[0].removesuffix("</body></html>"), ["dataloss"]
    return HtmlResponse(request.url, answer.status, headers, body.encode(), flags, encoding="utf-8")


def markup(name: str, page: Page, program: str = "") -> str:
    """Return the HTML of the page *name*, of a site that runs on *program*."""
    random = Random(name)
    words = " ".join("".join(random.choices(_SYLLABLES, k=3)) for _ in range(60))
    canonical = f'<link rel="canonical" href="{page.canonical}">' if page.canonical else ""
    links = "".join(f'<a class="{each.callback}" href="{each.url}">go</a>' for each in page.links)
    generator = f'<meta name="generator" content="{program}">' if program else ""
    return (
        f'<html><head><meta name="page" content="{name}"><title>{name} {words[:12]}</title>'
        f"{canonical}{generator}</head><body><p>{words}</p>{links}</body></html>"
    )


class Handler(BaseDownloadHandler):
    """Fetches from the server of the spider."""

    async def download_request(self, request: Request) -> Response:
        """Return the response of the site."""
        from twisted.internet import reactor  # noqa: PLC0415

        spider = self.crawler.spider
        delay = spider.case.delays.get(key(request.url))
        if delay:
            await maybe_deferred_to_future(deferLater(reactor, delay, lambda: None))
        return spider.server.respond(request, self.crawler)
