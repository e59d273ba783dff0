"""Defines what the plugin must not lose, and compares two crawls by that.

**The law.** A case is crawled with the plugin off and on. Whatever the spider gets without the
plugin it gets with it: each pair of a callback and a page, each file of the item of a page, each
page that a callback downloads while it runs. A page is what the site identifies as one, not a URL.
A callback gets it when a response with its content arrives: with a status from 200 to 299, or one
that the spider handles. That counts even if the callback raises.

**What is not compared**: by which of its URLs a page comes, how often, in which order; what is
not content (an empty body, an error page, a log-in form, which many URLs show); calls of
errbacks, since a request that is not made cannot fail; what becomes of items in the pipelines.

**What is not promised.** A page is promised only if a chain of links leads to it, each of which is
enough by itself: a request for its URL, with its callback, brings the page. So these are not
promised, and the plugin could not know better:

- A page whose URLs show different things (one redirects to another page, or shows a log-in form
  with status 200): the rules are wrong about it. The other page is not promised either, since the
  redirect may lead to a URL of it that fails while another URL would bring it. If all URLs that
  show anything show one and the same other page, that page is promised.
- Links that are found only on pages that are not promised.
- What a page links, if the callback raises at each URL of it, or gets it truncated by each. The
  page itself is promised, and its links are if one URL does better.

**Fair by construction.** Scrapy alone loses pages by chance, and a case in which it may do so
proves nothing. So each case has these properties (:mod:`differential.fairness`): each URL is
requested by one callback; redirects lead to a URL for the same callback; with ``DEPTH_LIMIT``
each URL is reached at one depth; what fails for a while fails less often than it is retried;
chains of redirects are shorter than ``REDIRECT_MAX_TIMES``, or loops. Then what Scrapy alone
gets does not depend on the order of responses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from differential.case import CALLBACKS, identity, key
from differential.crawling import Got, crawl_all
from scrapy_urlcanon.exceptions import ConfigurationError

if TYPE_CHECKING:
    from differential.case import Case, Link

Pair = tuple[str, str]
_QUEUES = {
    name: {
        "SCHEDULER_MEMORY_QUEUE": f"scrapy.squeues.{name}MemoryQueue",
        "SCHEDULER_DISK_QUEUE": f"scrapy.squeues.Pickle{name}DiskQueue",
    }
    for name in ("Lifo", "Fifo")
}
ORDERS = {
    "lifo": {**_QUEUES["Lifo"], "CONCURRENT_REQUESTS": 1},
    "lifo8": {**_QUEUES["Lifo"], "CONCURRENT_REQUESTS": 8},
    "fifo": {**_QUEUES["Fifo"], "CONCURRENT_REQUESTS": 1},
    "fifo8": {**_QUEUES["Fifo"], "CONCURRENT_REQUESTS": 8},
}
"""Settings for the orders in which a site may be crawled."""


@dataclass
class Verdict:
    """The outcome of both crawls of a case."""

    lost: list[tuple[int, Pair, str]] = field(default_factory=list)
    """The number of the crawl, callback and page, and the URL by which it came without the
    plugin."""
    gained: int = 0
    """How many pairs came only with the plugin."""
    promised: int = 0
    pairs: set[Pair] = field(default_factory=set)
    """What the spider got without the plugin."""
    hits: tuple[list[str], list[str]] = ((), ())
    """The requests to the site, without the plugin and with it."""
    errors: list[str] = field(default_factory=list)
    refused: bool = False
    """Whether the plugin refused these settings with a reason."""

    @property
    def failed(self) -> bool:
        """Whether the law is broken."""
        return bool(self.lost or self.errors)


async def judge(case: Case, *, everything: bool = False) -> Verdict:
    """Crawl *case* without the plugin and with it, and compare.

    :param everything: whether all that comes without the plugin counts as promised.
    """
    without = await crawl_all(case, plugin=False)
    verdict = Verdict()
    if any(got.errors for got in without):
        # Endless without the plugin too: nothing can be said.
        return verdict
    try:
        with_plugin = await crawl_all(case, plugin=True)
    except ConfigurationError:
        verdict.refused = True
        return verdict
    except Exception as error:  # noqa: BLE001
        verdict.errors.append(repr(error))
        return verdict
    for number, (off, on) in enumerate(zip(without, with_plugin, strict=True)):
        pairs = set(off.pairs) if everything else promised(case, off)
        verdict.promised += len(pairs)
        verdict.pairs |= off.pairs.keys()
        verdict.lost += [
            (number, pair, off.pairs[pair]) for pair in sorted(pairs - on.pairs.keys())
        ]
        verdict.gained += len(on.pairs.keys() - off.pairs.keys())
        verdict.errors += on.errors
    verdict.hits = tuple(
        [url for got in side for url in got.hits] for side in (without, with_plugin)
    )
    return verdict


def promised(case: Case, off: Got) -> set[Pair]:
    """Return the pairs of *off* that did not come by chance."""
    unambiguous = unambiguous_pages(case)
    found: set[Pair] = set()
    followed: set[Pair] = set()
    to_follow = [each for link in case.start for each in _pairs(link, case, off, unambiguous)]
    while to_follow:
        pair, is_whole = to_follow.pop()
        found.add(pair)
        page = case.pages.get(pair[1])
        if page is None or not is_whole or pair in followed:
            continue
        followed.add(pair)
        for link in page.links:
            to_follow += _pairs(link, case, off, unambiguous)
        for urls, callback in ((page.files, f"item of {pair[1]}"), (page.inline, "inline")):
            found |= {
                (callback, unambiguous[name])
                for url in urls
                if (name := identity(url)) in unambiguous
                and not case.forbids(url)
                # Another URL of it may be what brought it, on a page that is not promised.
                and unambiguous[name] in off.by_url[callback, key(url)]
            }
    return found


def _pairs(
    link: Link, case: Case, off: Got, unambiguous: dict[str, str]
) -> list[tuple[Pair, bool]]:
    """Return what *link* alone gets, each with whether the callback completed it."""
    name = unambiguous.get(identity(link.url) or "")
    callback = link.callback
    if case.spider == "crawl" and callback not in CALLBACKS:
        callback = "start"
    urls = [link.url, link.mirror]
    # What handles an exception may ask for another URL, and that one raise too.
    for url in urls:
        other = case.asked_by_handler(url) if url else None
        if other and other not in urls:
            urls.append(other)
    return [
        ((callback, name), off.is_whole(callback, url, name))
        for url in urls
        if name and url and not case.forbids(url) and name in off.pages_of(callback, url)
    ]


def unambiguous_pages(case: Case) -> dict[str, str]:
    """Return for each page the one page that its URLs show, if they show only one."""
    urls = set(case.urls())
    if case.plugin.get("URLCANON_REWRITE"):
        later = replace(case, plugin={**case.plugin, **case.later_plugin})
        rewritten = [set(map(each.canonicalizer.canonicalize, urls)) for each in (case, later)]
        urls = urls.union(*rewritten)
    # A middleware that would answer in the place of an exception answers nothing without one.
    answering = tuple(each for each in case.interferences if each.where != "exception")
    outcomes = defaultdict(set)
    led = set()
    for one in (case, replace(case, interferences=answering)):
        for url in urls:
            name, end = identity(url), one.end_of(url)
            shown = one.shown(url)
            if name and shown:
                outcomes[name].add(shown)
            elif name:
                # The place of a skipped URL may be had though that URL itself leads nowhere.
                ends = {end, *case.places.keys() & {*one.chain(url)}} - {None}
                led.update((name, identity(each)) for each in ends)
    for name, other in led:
        if name != other and outcomes.get(other):
            outcomes[name].add(other)
    return {
        name: next(iter(shown))
        for name, shown in outcomes.items()
        if len(shown) == 1 and shown <= {*map(identity, urls)}
    }


async def chance(case: Case) -> list[Pair]:
    """Return what is promised, but lost by Scrapy alone when it crawls in another order.

    There must be nothing: otherwise the law would demand what depends on chance.
    """
    pairs = promised(case, (await crawl_all(replace(case, crawls=1), plugin=False))[0])
    lost = []
    for settings in ORDERS.values():
        other = replace(case, crawls=1, settings={**case.settings, **settings})
        lost += pairs - (await crawl_all(other, plugin=False))[0].pairs.keys()
    return sorted(lost)
