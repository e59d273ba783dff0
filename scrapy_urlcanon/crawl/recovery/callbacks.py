"""What of a spider a request is for, and for which of them it is at work."""

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
    """Return the name of what of *spider* a response to *request* is for.

    It is the same in the next run of a job. A ``CrawlSpider`` has one for each of its rules. What
    is bound to arguments is for what it is bound to, as with ``cb_kwargs``; so are a closure, and a
    method of whatever object of a class. What is made of another function, as by one that wraps a
    callback, is for that one too.
    """
    callback = request.callback or _default(spider)
    name = getattr(callback, "__qualname__", "")
    if not name or _LOCAL in name:
        name = _name_of_other(callback)
        # Each once: what wraps itself again at each page would have a name for each.
        names = {*map(_name_of_other, _functions_within(callback))} - {name}
        name = " ".join((name, *sorted(names)))
    rule = request.meta.get("rule") if isinstance(spider, CrawlSpider) else None
    return name if rule is None else f"{name}, rule {rule}"


def rescue_of(variant: Request, spider: Spider | None) -> Request:
    """Return what is fetched of *variant*, which was dropped, to bring its callback the page."""
    return marked(variant, RESCUE, callback=callback_of(variant, spider))


def begins_rescue(request: Request) -> bool:
    """Tell whether *request* begins a rescue: it is no retry of one, nor what that led to."""
    return own_mark_of(request, RESCUE) is not None and not is_retry(request)


def at_work(crawler: Crawler) -> Collection[Request]:
    """Return the requests whose callbacks are not done, or what these yielded is not through.

    Such a callback may raise yet (Scrapy 2.19, ``core/scraper.py``, ``Slot.active``).
    """
    slot = crawler.engine.scraper.slot
    return slot.active if slot else ()


def _default(spider: Spider | None) -> Any:
    """Return what a response is for whose request names no callback (``core/scraper.py``).

    For a ``CrawlSpider`` that is not its ``parse``, as it is not for those that read feeds.
    """
    default = getattr(spider, "_parse", None)
    # It calls ``parse`` and does nothing else.
    is_of_all = getattr(default, "__func__", None) is Spider._parse  # noqa: SLF001
    return getattr(spider, "parse", None) if default is None or is_of_all else default


def _name_of_other(callback: Any) -> str:
    """Return the name of *callback*, which is no plain method: what tells it from others.

    Of a method that a decorator wrapped it is the name under which its class has it. All lambdas of
    a function have one name.

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
    """Yield the functions that *callback* is bound to, and those that these are bound to.

    They are arguments of a ``partial``, defaults, and what a closure has of where it was made.
    """
    seen, to_see = {id(callback)}, [callback]
    while to_see:
        each = to_see.pop()
        bound: list[Any] = []
        if isinstance(each, partial):
            bound = [*each.args, *each.keywords.values()]
            to_see.append(each.func)
        elif isinstance(each, FunctionType):
            # What a decorator left in a method is the same for each of its objects.
            bound = [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
            bound += map(_content, each.__closure__ or ())
        for one in bound:
            if isinstance(one, _FUNCTIONS) and id(one) not in seen:
                seen.add(id(one))
                to_see.append(one)
                yield one


def _content(cell: CellType) -> Any:
    """Return what *cell* of a closure has, None where that is deleted."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
