"""Removes from a case what makes Scrapy alone lose pages by chance."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from differential.case import MAX_REDIRECTS, identity, key, redirect_target

if TYPE_CHECKING:
    from differential.case import Case

_LONGEST = MAX_REDIRECTS - 1
_UNFILTERED = {"drop", "record"}
"""What a request may set in its own meta that does half of what ``dont_filter`` does."""


def made_fair(case: Case) -> Case:
    """Return *case* without what could make two correct crawls of it differ."""
    case = _no_captcha_that_is_not_retried(case)
    case = _no_fault_longer_than_retries(case)
    case = _one_callback_for_each_url(case)
    case = _redirects_within_a_callback(case)
    case = _short_chains(case)
    case = _plain_posts(case)
    case = _mirrors_of_one_callback(case)
    case = _finite(case)
    case = _no_trap_for_record_start(case)
    case = _no_look_at_the_url_of_what_is_cached(case)
    case = _no_retry_that_is_removed(case)
    return _one_depth_for_each_url(case)


def _no_captcha_that_is_not_retried(case: Case) -> Case:
    """Show no captcha to a spider that would take it for the page."""
    if "retries" in case.habits:
        return case
    answers = {url: each for url, each in case.answers.items() if each.body != "captcha"}
    return replace(case, answers=answers)


def _no_fault_longer_than_retries(case: Case) -> Case:
    """Let each fault end before the retries of a chain of redirects are used up, or never.

    With a cache, each retry is answered with the fault again.
    """
    retries = case.settings.get("RETRY_TIMES", 0) * case.settings.get("RETRY_ENABLED", True)
    if retries > _LONGEST and not case.settings.get("HTTPCACHE_ENABLED"):
        return case
    answers = {url: answer for url, answer in case.answers.items() if not answer.times}
    return replace(case, answers=answers)


def _callbacks(case: Case) -> dict[str, str]:
    """Return the callback that requests each URL; a POST is another request."""
    callbacks: dict[str, str] = {}
    for link in case.links():
        if link.callback != "start" and link.method == "GET":
            callbacks.setdefault(key(link.url), link.callback)
    return callbacks


def _map_links(case: Case, change) -> Case:
    """Return *case* with each link changed, and without links that become None."""
    pages = {
        name: replace(page, links=tuple(new for link in page.links if (new := change(name, link))))
        for name, page in case.pages.items()
    }
    start = tuple(new for link in case.start if (new := change(None, link)))
    return replace(case, pages=pages, start=start)


def _one_callback_for_each_url(case: Case) -> Case:
    callbacks = _callbacks(case)

    def change(_, link):
        if link.method == "POST":
            return replace(link, callback="parse")
        if link.callback == "start":
            # Filtered, either this one or the link to it would be dropped.
            return replace(link, dont_filter=link.dont_filter or key(link.url) in callbacks)
        return replace(link, callback=callbacks.get(key(link.url), link.callback))

    return _map_links(case, change)


def _redirects_within_a_callback(case: Case) -> Case:
    callbacks = _callbacks(case)

    def is_fair(url, target):
        sources = _reached(case, url, callbacks)
        return len(sources | _reached(case, target, callbacks)) <= 1

    answers = {
        url: answer
        for url, answer in case.answers.items()
        if not (target := redirect_target(url, answer)) or is_fair(url, target)
    }
    interferences = tuple(
        each
        for each in case.interferences
        if each.action != "request"
        or (
            is_fair(each.url, each.other)
            # Or two of them could go on for ever.
            and (
                each.where == "handler"
                or (
                    key(each.other) not in map(key, answers)
                    and all(key(other.url) != key(each.other) for other in case.interferences)
                )
            )
        )
    )
    return replace(case, answers=answers, interferences=interferences)


def _reached(case: Case, url: str, callbacks: dict[str, str]) -> set[str]:
    """Return the callbacks of all URLs from which a chain of redirects passes *url*."""
    leads_to = defaultdict(set)
    for source, answer in case.answers.items():
        target = redirect_target(source, answer)
        if target:
            leads_to[key(target)].add(key(source))
            leads_to[key(source)].add(key(target))
    for each in case.interferences:
        if each.action == "request":
            leads_to[key(each.other)].add(key(each.url))
            leads_to[key(each.url)].add(key(each.other))
    found, to_follow = set(), [key(url)]
    while to_follow:
        one = to_follow.pop()
        if one not in found:
            found.add(one)
            to_follow += leads_to[one]
    return {callbacks[one] for one in found if one in callbacks}


def _short_chains(case: Case) -> Case:
    answers = dict(case.answers)
    for start in case.answers:
        url, seen = start, []
        while (answer := answers.get(key(url))) and key(url) not in seen:
            seen.append(key(url))
            target = redirect_target(url, answer)
            if not target:
                break
            url = target
            if len(seen) > _LONGEST:
                answers.pop(seen[-1], None)
                break
    return replace(case, answers=answers)


def _plain_posts(case: Case) -> Case:
    def change(_, link):
        if link.method == "POST" and case.next_hop(link.url):
            # It would become a GET, of another callback than that of the GETs for the URL.
            return replace(link, method="GET", callback=callbacks.get(key(link.url), "parse"))
        return link

    callbacks = _callbacks(case)
    return _map_links(case, change)


def _mirrors_of_one_callback(case: Case) -> Case:
    callbacks = _callbacks(case)

    def change(_, link):
        if link.mirror and (
            callbacks.setdefault(key(link.mirror), link.callback) != link.callback
            or len(_reached(case, link.mirror, callbacks) | {link.callback}) > 1
            or link.method == "POST"
        ):
            return replace(link, mirror="")
        return link

    return _map_links(case, change)


def _finite(case: Case) -> Case:
    """Let unfiltered links lead from a page to later ones only."""

    def change(name, link):
        if name is not None and (link.dont_filter or link.own in _UNFILTERED):
            # With the canonical URL a wrong rule may lead back, and from a loop of redirects a
            # cache that has the page by another URL.
            urls = {link.url, case.canonicalizer.canonicalize(link.url)}
            ends = {identity(link.url), *map(case.shown, urls)}
            if case.settings.get("HTTPCACHE_ENABLED") and case.end_of(link.url) is None:
                ends |= set(map(identity, case.chain(link.url)))
            ends.discard(None)
            if any(_number(end) <= _number(name) for end in ends):
                own = "" if link.own in _UNFILTERED else link.own
                return replace(link, dont_filter=False, own=own)
        return link

    return _map_links(case, change)


def _number(name: str) -> int:
    return int(name[1:]) if name[1:].isdigit() else 1_000


def _no_trap_for_record_start(case: Case) -> Case:
    """Drop URLCANON_RECORD_START if a start page is for several callbacks: it records one only."""
    if not case.plugin.get("URLCANON_RECORD_START"):
        return case
    if len({link.callback for link in case.links()}) == 1 and case.spider == "plain":
        return case
    plugin = {k: v for k, v in case.plugin.items() if k != "URLCANON_RECORD_START"}
    return replace(case, plugin=plugin)


def _no_look_at_the_url_of_what_is_cached(case: Case) -> Case:
    """Let nothing refuse a response by its URL, since a cached one has that of a variant."""
    if not case.settings.get("HTTPCACHE_ENABLED"):
        return case
    refusing = {"input", "callback"}
    kept = tuple(each for each in case.interferences if each.where not in refusing)
    return replace(case, interferences=kept)


def _no_retry_that_is_removed(case: Case) -> Case:
    """Let nothing remove a retry by its URL, which may be the canonical one that was fetched."""
    if "retries" not in case.habits or not case.plugin.get("URLCANON_REWRITE"):
        return case
    kept = tuple(each for each in case.interferences if each.where != "link")
    return replace(case, interferences=kept)


def _one_depth_for_each_url(case: Case) -> Case:
    limit = case.settings.get("DEPTH_LIMIT")
    while limit:
        found = _url_with_two_depths(case, limit)
        if found is None:
            break
        name, url = found

        def change(page, link, name=name, url=url):
            return None if page == name and key(link.url) == url else link

        case = _map_links(case, change)
    return case


def _url_with_two_depths(case: Case, limit: int) -> tuple[str, str] | None:
    """Return a page, and the URL of a link there that is reached at another depth too."""
    depth_of: dict[str, int] = {}
    done = set()
    to_follow: list[tuple[str, int, str | None]] = [(each.url, 0, None) for each in case.start]
    while to_follow:
        # The shallow ones first: the deeper link is the one that goes.
        to_follow.sort(key=lambda each: -each[1])
        url, depth, source = to_follow.pop()
        one = key(url)
        if depth > limit or (one, depth) in done:
            continue
        if depth_of.setdefault(one, depth) != depth and source is not None:
            return source, _linked_as(case, source, one)
        done.add((one, depth))
        following = case.next_hop(url)
        if following:
            to_follow.append((following, depth, source))
        name = case.shown(url)
        if name in case.pages and not following:
            for link in case.pages[name].links:
                to_follow.append((link.url, depth + 1, name))
                if link.mirror:
                    to_follow.append((link.mirror, depth + 1, name))
    return None


def _linked_as(case: Case, name: str, one: str) -> str:
    """Return the link of page *name* that leads to the URL *one*, perhaps by redirects."""
    for link in case.pages[name].links:
        for url in filter(None, (link.url, link.mirror)):
            seen = set()
            following: str | None = url
            while following and key(following) not in seen:
                seen.add(key(following))
                following = case.next_hop(following)
            if one in seen:
                return key(link.url)
    raise AssertionError((name, one))
