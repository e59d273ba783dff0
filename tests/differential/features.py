"""Names the features of a case, so that they can be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from differential.case import identity, redirect_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from differential.case import Answer, Case


_FEW = 10


def features(case: Case) -> set[str]:
    """Return the features of *case*, each as a short name."""
    return {*_of_links(case), *_of_answers(case), *_of_pages(case), *_of_settings(case)}


def _of_links(case: Case) -> Iterator[str]:
    for link in case.links():
        having = {
            "POST": link.method == "POST",
            "HEAD": link.method == "HEAD",
            "errback asks for another URL": link.mirror,
            "meta passed on": link.meta,
            "rules of one request": link.rules is not None,
            "priorities": link.priority,
            f"request of a class: {link.kind}": link.kind,
            f"meta of one request: {link.own}": link.own,
            "cb_kwargs": link.arguments,
        }
        yield from (name for name, given in having.items() if given)
    if any(link.dont_filter for page in case.pages.values() for link in page.links):
        yield "dont_filter"
    if len(case.start) > 1:
        yield "several start requests"
    if len({link.callback for link in case.links()}) > 1:
        yield "several callbacks"
    yield "CrawlSpider" if case.spider == "crawl" else "plain Spider"


def _of_answers(case: Case) -> Iterator[str]:
    for url, answer in case.answers.items():
        yield _name(url, answer)
        if answer.times:
            yield "fault for some time"
        if answer.first:
            yield "page that is had once"


def _name(url: str, answer: Answer) -> str:
    if answer.reset:
        return "connection error"
    if answer.refresh:
        return "meta refresh"
    target = redirect_target(url, answer)
    if target:
        to_itself = identity(url) == identity(target)
        return "redirect to another URL of the page" if to_itself else "redirect to another page"
    if answer.location is not None:
        return "redirect with an unusable Location"
    if answer.status == 200:
        name = "empty body" if answer.body == "empty" else "error page with 200"
        return "page cut short" if answer.is_cut else name
    return f"status {answer.status}"


def _of_pages(case: Case) -> Iterator[str]:
    pages = case.pages.values()
    having = {
        "files of items": any(page.files for page in pages),
        "inline download": any(page.inline for page in pages),
        "callback raises": any(page.raises for page in pages),
        "declared canonicals": any(page.canonical for page in pages),
        "robots.txt": case.robots,
        "allowed_domains": case.allowed_domains,
        "handle_httpstatus_list": case.handled,
        "delays": case.delays,
        "skipped URLs whose page is known": case.places,
    }
    yield from (name for name, given in having.items() if given)
    yield from (f"spider {habit}" for habit in case.habits)
    yield from (f"server {way}" for way in case.server)
    if case.mixing:
        yield f"spider middleware: {case.mixing}, at {case.mixing_at}"
    if case.end:
        yield f"job: {case.end}{', twice' if case.end_again else ''}"
    if case.later_plugin:
        yield "job: other rules in its next run"
    if case.program:
        yield "known program"
    if sum(bool(page.canonical) for page in pages) > _FEW:
        yield "declared canonicals, many and right"
    for each in case.interferences:
        yield f"middleware, {each.where}: {each.action}"


def _of_settings(case: Case) -> Iterator[str]:
    for name, value in {**case.settings, **case.plugin}.items():
        if name in {"URLCANON_RULES", "URLCANON_SPIDER_RULES"}:
            yield from (f"rule {option}" for rules in value.values() for option in rules)
        elif name in {"SCHEDULER_DISK_QUEUE", "HTTPCACHE_ENABLED"}:
            pass
        elif name == "SCHEDULER_MEMORY_QUEUE":
            yield "first in, first out"
        elif isinstance(value, (bool, str)) and name != "URLCANON_PRESET":
            yield name if value is not False else f"{name} off"
        else:
            yield f"{name} {value}"
    if case.settings.get("HTTPCACHE_ENABLED"):
        yield "HTTP cache, cold and warm" if case.crawls > 1 else "HTTP cache"
