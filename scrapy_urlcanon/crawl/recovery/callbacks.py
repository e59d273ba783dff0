"""Names the callback that a request is for, and tells which callbacks are still running."""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from scrapy import Spider
from scrapy.spiders import CrawlSpider

from scrapy_urlcanon.crawl.own_requests import RESCUE, is_retry, marked, own_mark_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import CellType

    from scrapy import Request
    from scrapy.crawler import Crawler

_LOCAL = ".<locals>."
_FUNCTIONS = (FunctionType, MethodType, partial)


def callback_of(request: Request, spider: Spider | None) -> str:
    """Return a name for the callback of *request*, the same in each run of a job.

    A page that one callback has had may still be needed by another, so states are kept by callback.

    A ``CrawlSpider`` has a name for each of its rules. Bound arguments (``partial``, defaults) do
    not make another callback, as ``cb_kwargs`` do not. Neither do the variables of a closure, or
    the instance of a bound method. If functions are bound, as in a decorator that wraps a callback,
    their names are part of the name.
    """
    callback = request.callback or _default(spider)
    name = getattr(callback, "__qualname__", "")
    if not name or _LOCAL in name:
        name = _name_of_other(callback)
        # Each once: a callback that wraps itself again for each page would get a new name each
        # time.
        names = {*map(_name_of_other, _functions_within(callback))} - {name}
        name = " ".join((name, *sorted(names)))
    rule = request.meta.get("rule") if isinstance(spider, CrawlSpider) else None
    return name if rule is None else f"{name}, rule {rule}"


def rescue_of(variant: Request, spider: Spider | None) -> Request:
    """Return the request that is sent to rescue a page by the dropped *variant*."""
    return marked(variant, RESCUE, callback=callback_of(variant, spider))


def begins_rescue(request: Request) -> bool:
    """Tell whether *request* is the first of a rescue, not a retry or a redirect of one."""
    return own_mark_of(request, RESCUE) is not None and not is_retry(request)


def at_work(crawler: Crawler) -> Collection[Request]:
    """Return the requests whose callback is running, or whose output is still being processed.

    Such a callback may still raise (Scrapy 2.19, ``core/scraper.py``, ``Slot.active``).
    """
    slot = crawler.engine.scraper.slot
    return slot.active if slot else ()


def _default(spider: Spider | None) -> Any:
    """Return what is called for a response whose request names no callback (``core/scraper.py``).

    For ``CrawlSpider`` and the feed spiders that is ``_parse``, not ``parse``.
    """
    default = getattr(spider, "_parse", None)
    # ``Spider._parse`` only calls ``parse``.
    is_of_all = getattr(default, "__func__", None) is Spider._parse  # noqa: SLF001
    return getattr(spider, "parse", None) if default is None or is_of_all else default


def _name_of_other(callback: Any) -> str:
    """Return a name for a *callback* that is no plain method, to tell it from others.

    A method made by a decorator has the name of its attribute in its class. Functions made within
    functions are told apart by their first line and a checksum of their code.

    >>> from scrapy import Request, Spider
    >>> def callbacks(self):
    ...     return [lambda response: self.parse(response), lambda response: self.find(response)]
    >>> names = [callback_of(Request("data:,", each), None) for each in callbacks(Spider("a"))]
    >>> names[0] == names[1]
    False
    """
    while isinstance(callback, partial):
        callback = callback.func
    name: str = getattr(callback, "__qualname__", None) or type(callback).__qualname__
    if _LOCAL not in name:
        return name
    function = getattr(callback, "__func__", None)
    if function is not None:
        for owner in type(callback.__self__).__mro__:
            for attribute, value in vars(owner).items():
                if value is function:
                    return f"{owner.__qualname__}.{attribute}"
    code = getattr(function or callback, "__code__", None)
    if code is None:
        return name
    return f"{name} {code.co_firstlineno} {crc32(code.co_code + repr(code.co_names).encode())}"


def _functions_within(callback: Any) -> Iterator[Any]:
    """Yield the functions that are bound to *callback*, and those bound to them in turn.

    They may be arguments of a ``partial``, default arguments, or variables of a closure.
    """
    seen, to_see = {id(callback)}, [callback]
    while to_see:
        each = to_see.pop()
        bound: list[Any] = []
        if isinstance(each, partial):
            bound = [*each.args, *each.keywords.values()]
            to_see.append(each.func)
        elif isinstance(each, FunctionType):
            # A bound method is not looked into: what it holds is the same for each instance.
            bound = [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
            bound += map(_content, each.__closure__ or ())
        for one in bound:
            if isinstance(one, _FUNCTIONS) and id(one) not in seen:
                seen.add(id(one))
                to_see.append(one)
                yield one


def _content(cell: CellType) -> Any:
    """Return the value of a closure's *cell*, or None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
