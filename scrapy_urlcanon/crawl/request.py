"""Requests with another URL."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request


def with_url(request: Request, url: str, meta: dict[str, Any] | None = None) -> Request:
    """Return a copy of *request* with *url*, and with *meta* where it is given.

    :meth:`scrapy.Request.replace` calls the constructor, which fails for subclasses that
    require arguments they do not list in ``attributes``.
    """
    changed: dict[str, Any] = {"url": url} if meta is None else {"url": url, "meta": meta}
    try:
        duplicate: Request = request.replace(**changed)
    except TypeError:
        duplicate = copy(request)
        duplicate._meta = dict(request.meta if meta is None else meta)  # noqa: SLF001
        duplicate._set_url(url)  # noqa: SLF001
    return duplicate
