"""Reads observations from whole responses, as in WARC files.

Responses are written to a temporary store first: which lines are boilerplate is known only when all
were seen.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError, status_of
from scrapy_urlcanon.learn.readers.content_coding import decoded
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import MAX_BODY, Page

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.observation import Observation


def through_store(
    responses: Iterable[tuple[str, int | str, dict[str, str], bytes]], skipped: Counter[str]
) -> Iterator[Observation]:
    """Yield the observations of responses.

    :param responses: URL, status, headers by lower-case name, and body of each response. The status
        may be anything that a server sent; the body has its content coding.
    :param skipped: counts responses that are not observations, by reason.
    :raises InputError: if the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="urlcanon-") as directory:
        path = Path(directory, "observations.sqlite")
        with ObservationStore(path) as store:
            for url, sent, headers, whole in responses:
                try:
                    status = status_of(sent)
                except BadObservationError as error:
                    skipped[error.reason] += 1
                    continue
                content_type = headers.get("content-type", "")
                location = headers.get("location", "")
                if 300 <= status < 400 and location:  # noqa: PLR2004
                    store.add_redirect(url, status, location)
                    continue
                try:
                    body = decoded(whole, headers.get("content-encoding", ""), MAX_BODY)[:MAX_BODY]
                except ImportError as error:
                    skipped[f"compressed, without the package {error.name} to read it"] += 1
                    continue
                kind = _kind_of(content_type, body)
                page = Page(
                    url,
                    body,
                    _text_of(content_type, body) if kind else None,
                    kind=kind or "plain",
                    link_header=headers.get("link", ""),
                    date=headers.get("date", ""),
                )
                store.add(page, status=status)
        if store.refused:
            raise InputError(f"{directory}: no room for {store.refused} of the responses")
        yield from read_store(path, skipped)


def _text_of(content_type: str, body: bytes) -> str | None:
    """Return the body as text; None if its encoding is no text encoding."""
    from w3lib.encoding import html_to_unicode  # noqa: PLC0415 - not needed by any other reader

    try:
        return html_to_unicode(content_type, body)[1]
    except (LookupError, UnicodeError):
        return None


def _kind_of(content_type: str, body: bytes) -> Literal["html", "xml", "plain"] | None:
    """Return the kind of text of a response, as Scrapy's response classes; None for other data."""
    kind = content_type.lower()
    if "html" in kind or (not kind and body.lstrip()[:1] == b"<"):
        return "html"
    if "xml" in kind:
        return "xml"
    return "plain" if kind.startswith("text/") or "json" in kind or "javascript" in kind else None


def read_warc(path: Path, skipped: Counter[str]) -> Iterator[Observation]:
    """Yield the observations of a WARC file (ISO 28500), with the package warcio.

    :param skipped: counts records that are not observations, by reason.
    :raises InputError: if warcio is not installed, or the file is not a WARC file.
    """
    try:
        # Optional, and without annotations.
        from warcio import (  # type: ignore[import-untyped]  # noqa: PLC0415
            archiveiterator,
            bufferedreaders,
            exceptions,
        )
    except ImportError:
        raise InputError(f"{path}: reading WARC needs warcio: pip install warcio") from None

    def responses() -> Iterator[tuple[str, str, dict[str, str], bytes]]:
        try:
            with path.open("rb") as file:
                for record in archiveiterator.ArchiveIterator(file):
                    if record.rec_type != "response" or record.http_headers is None:
                        continue
                    url = record.rec_headers.get_header("WARC-Target-URI") or ""
                    status = record.http_headers.get_statuscode()
                    if not url.startswith(("http://", "https://")) or not status:
                        skipped["not an http(s) response"] += 1
                        continue
                    headers = {name.lower(): value for name, value in record.http_headers.headers}
                    raw = record.raw_stream
                    is_chunked = headers.get("transfer-encoding", "").lower() == "chunked"
                    body = bufferedreaders.ChunkedDataReader(raw) if is_chunked else raw
                    whole = body.read(MAX_BODY)
                    # warcio ends without an error where a compressed file does.
                    if getattr(raw, "limit", 0) and not raw.read(1):
                        skipped["record cut short"] += 1
                        continue
                    yield url, status, headers, whole
        except exceptions.ArchiveLoadFailed as error:
            raise InputError(f"{path}: expected a WARC file: {error}") from None
        except EOFError:
            skipped["file cut short"] += 1
        except Exception as error:
            # For malformed records warcio raises all kinds of exceptions.
            raise InputError(f"{path}: cannot be read to its end: {error}") from error

    yield from through_store(responses(), skipped)
