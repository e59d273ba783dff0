"""Features of sites, spiders and settings that were added to the generator later.

Each addition takes a case and returns it with one feature more. It has a random source of its
own, and is drawn only from a certain seed on (:data:`FIRST` to :data:`FOURTH`), so that earlier
seeds keep their sites.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from differential.case import MAX_REDIRECTS, Answer, Interference, Link, Page, identity, key
from differential.decoration import HOST

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from differential.case import Case

    Urls = dict[str, list[str]]

FIRST = 20_000_000
"""The first seed whose case may have any of these."""
CHANCES = {
    "program": 0.15,
    "believed": 0.1,
    "raises by URL": 0.35,
    "exceptions handled": 0.4,
    "late": 0.2,
    "coroutines": 0.1,
    "items": 0.2,
    "starts late": 0.15,
    "idles": 0.15,
    "kinds": 0.25,
    "arguments": 0.25,
    "adjusted": 0.15,
    "cut short": 0.2,
    "other rules": 0.4,
    "ends twice": 0.4,
    "moved": 0.1,
    "own meta": 0.15,
}
SECOND = 30_000_000
"""The first seed whose case may have any of these too."""
CHANCES_OF_SECOND = {
    "cookies": 0.2,
    "validates": 0.15,
    "vanishes": 0.25,
    "slots": 0.15,
    "mixing": 0.3,
    "listens": 0.1,
}
THIRD = 31_000_000
"""The first seed whose case may have any of these too."""
CHANCES_OF_THIRD = {"heads": 0.15, "encodes": 0.2}
FOURTH = 34_000_000
"""The first seed whose case may have any of these too."""
CHANCES_OF_FOURTH = {"proved": 0.25}
NOT_WITH_VANISHING = {
    # Whoever asks first has the page, the others have none: so with what is rewritten to one URL,
    # and with the place of a skipped one.
    *("files", "inline", "cache", "validates", "kill", "crawl spider", "several starts", "rewrite"),
    "places",
    # What an audit had of another URL while the callback was at work is not there once it raises.
    *("raises", "raises by URL", "cut short"),
}
SINCE = {
    FIRST: CHANCES,
    SECOND: CHANCES_OF_SECOND,
    THIRD: CHANCES_OF_THIRD,
    FOURTH: CHANCES_OF_FOURTH,
}
ALL = tuple(name for chances in SINCE.values() for name in chances)
HABITS = ("listens", "late", "coroutines", "items", "starts late", "idles")
OF_PLAIN_SPIDERS = ("late", "coroutines", "arguments")
_KINDS = ("form", "json", "own")
_BELIEVED = range(70, 82)
_PROVED = range(200, 220)


def added(case: Case, name: str, urls: Urls, random: Random) -> Case:
    """Return *case* with the addition *name*; *urls* are those of each page and file."""
    if name in HABITS:
        case = replace(case, habits=(*case.habits, name))
    add = _ADDITIONS.get(name)
    return add(case, urls, random) if add else case


def _raises_by_url(case: Case, urls: Urls, random: Random) -> Case:
    """Let the callback raise at some URLs, at its beginning or halfway through its output."""
    every = _every(urls)
    chosen = random.sample(every, min(len(every), random.randint(1, 4)))
    return _interfered(
        case, (Interference("callback", url, random.choice(("raise", "half"))) for url in chosen)
    )


def _exceptions_handled(case: Case, urls: Urls, random: Random) -> Case:
    """Let a spider middleware handle exceptions of callbacks, perhaps by requesting another URL."""
    handled = []
    for url in _every(urls):
        other = random.choice(urls[identity(url) or ""])
        action = random.choice(("ignore", "ignore", "request"))
        if action == "request" and key(other) == key(url):
            action = "ignore"
        handled.append(Interference("handler", url, action, other if action == "request" else ""))
    return _interfered(case, random.sample(handled, (2 * len(handled) + 2) // 3))


def _idles(case: Case, urls: Urls, random: Random) -> Case:
    """Add start requests; all but the first are made when the spider is idle."""
    every = _every(urls)
    fed = tuple(
        Link(url, _callback(case, url), dont_filter=random.random() < 0.5)
        for url in random.sample(every, min(len(every), random.randint(1, 3)))
    )
    return replace(case, start=(*case.start, *fed))


def _kinds(case: Case, urls: Urls, random: Random) -> Case:
    del urls
    return _map_links(
        case,
        lambda link: replace(link, kind=random.choice(_KINDS)) if random.random() < 0.5 else link,
    )


def _arguments(case: Case, urls: Urls, random: Random) -> Case:
    del urls
    return _map_links(case, lambda link: replace(link, arguments=random.random() < 0.7))


def _adjusted(case: Case, urls: Urls, random: Random) -> Case:
    """Let priorities change with the depth, at a redirect and at a retry."""
    del urls
    settings = {
        "DEPTH_PRIORITY": random.choice((-1, 0, 1)),
        "REDIRECT_PRIORITY_ADJUST": random.choice((-3, 2)),
        "RETRY_PRIORITY_ADJUST": random.choice((-2, 3)),
    }
    return replace(case, settings={**case.settings, **settings})


def _cut_short(case: Case, urls: Urls, random: Random) -> Case:
    """Truncate the answer of one URL of some pages, perhaps only for a while."""
    answers = dict(case.answers)
    for name, of_page in urls.items():
        if name in case.pages and random.random() < 0.5:
            answers[random.choice(of_page)] = Answer(body="page", is_cut=True)
    settings = {**case.settings, "DOWNLOAD_FAIL_ON_DATALOSS": False}
    return replace(case, answers=answers, settings=settings)


def _believed(case: Case, urls: Urls, random: Random) -> Case:
    """Add so many pages with a right canonical URL that the plugin believes declarations.

    All are linked from the first page, by a URL that no rule changes; later ones by the
    canonical URL too. Some of them fail, or the callback raises at them.
    """
    names = [f"p{number}" for number in _BELIEVED]
    pages, answers, interferences = dict(case.pages), dict(case.answers), []
    for position, name in enumerate(names):
        urls[name] = [f"http://{HOST}/{name}?view=a", f"http://{HOST}/{name}"]
        others = [names[(position + random.randint(1, 4)) % len(names)] for _ in range(2)]
        links = [Link(f"http://{HOST}/{other}") for other in dict.fromkeys(others)]
        links.append(Link(f"http://{HOST}/p{int(name[1:]) + 100}"))
        pages[name] = Page(links=tuple(links), canonical=urls[name][1])
        if random.random() < 0.3:
            url = random.choice(urls[name])
            kind = random.choice(("raises", "404", "reset", "empty", "redirect"))
            if kind == "raises":
                interferences.append(Interference("callback", url, "raise"))
            elif kind == "redirect":
                target = next(other for other in urls[name] if other != url)
                answers[url] = Answer(302, location=target)
            else:
                answers[url] = {
                    "404": Answer(404),
                    "reset": Answer(reset=True),
                    "empty": Answer(body="empty"),
                }[kind]
    first = next(iter(pages))
    links = tuple(Link(urls[name][0], priority=random.choice((0, 0, 1))) for name in names)
    pages[first] = replace(pages[first], links=(*pages[first].links, *links))
    case = replace(
        case,
        pages=pages,
        answers=answers,
        plugin={**case.plugin, "URLCANON_DECLARED_CANONICAL": True},
    )
    return _interfered(case, interferences)


def _program(case: Case, urls: Urls, random: Random) -> Case:
    """Have the site run on a known program, and links with a parameter that its rules drop."""
    pages = dict(case.pages)
    for name in [name for name in urls if name in pages]:
        own = [f"http://{HOST}/{name}?replytocom={number}" for number in (1, 2, 3)]
        own = random.sample(own, random.randint(1, 3))
        for url in own:
            source = random.choice(list(case.pages))
            link = Link(url, _callback(case, urls[name][0]))
            links = list(pages[source].links)
            links.insert(random.randint(0, len(links)), link)
            pages[source] = replace(pages[source], links=tuple(links))
        urls[name] += own
    return replace(case, pages=pages, program="WordPress")


def _other_rules(case: Case, urls: Urls, random: Random) -> Case:
    """Give the next run of a job other rules, which are right too."""
    del urls
    if not case.end:
        return case
    plugin: dict[str, Any] = {}
    for setting in ("URLCANON_RULES", "URLCANON_SPIDER_RULES"):
        for pattern, rules in case.plugin.get(setting, {}).items():
            kept = random.sample(sorted(rules), random.randint(0, len(rules)))
            plugin.setdefault(setting, {})[pattern] = {name: rules[name] for name in kept}
    plugin["URLCANON_PRESET"] = random.choice(("scrapy", "safe", "aggressive"))
    plugin["URLCANON_JOB_RULES"] = random.choice(("warn", "warn", "keep"))
    return replace(case, later_plugin=plugin)


def _ends_twice(case: Case, urls: Urls, random: Random) -> Case:
    del urls
    return replace(case, end_again=random.randint(1, 15)) if case.end else case


def _moved(case: Case, urls: Urls, random: Random) -> Case:
    """Let a middleware answer with the page under another of its URLs, as a browser does."""
    chosen = random.sample(_every(urls), random.randint(1, 3))
    return _interfered(
        case,
        (
            Interference(
                random.choice(("request", "response")),
                url,
                "moved",
                random.choice(urls[identity(url) or ""]),
            )
            for url in chosen
        ),
    )


def _own_meta(case: Case, urls: Urls, random: Random) -> Case:
    """Let requests name their page, or how they are filtered, in their own meta."""
    del urls
    owns = ("key", "key", "drop", "record")
    chosen = random.sample(owns, random.randint(1, 2))
    return _map_links(
        case,
        lambda link: replace(link, own=random.choice(chosen)) if random.random() < 0.4 else link,
    )


def _cookies(case: Case, urls: Urls, random: Random) -> Case:
    """Have each host redirect a client without a cookie to the same URL with one, once."""
    del urls, random
    settings = {**case.settings, "COOKIES_ENABLED": True, "REDIRECT_MAX_TIMES": 2 * MAX_REDIRECTS}
    return replace(case, server=(*case.server, "cookies"), settings=settings)


def _validates(case: Case, urls: Urls, random: Random) -> Case:
    """Crawl twice with a cache whose pages have to be validated; they have not changed."""
    del urls, random
    settings = {
        **case.settings,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
    }
    return replace(case, server=(*case.server, "validates"), settings=settings, crawls=2)


def _vanishes(case: Case, urls: Urls, random: Random) -> Case:
    """Let some URLs show their page at the first request, and never again."""
    answers = dict(case.answers)
    faults = (Answer(404, first=1), Answer(503, first=1), Answer(first=1))
    for url in _every(urls):
        if random.random() < 0.4:
            answers.setdefault(url, random.choice(faults))
    return replace(case, answers=answers)


def _slots(case: Case, urls: Urls, random: Random) -> Case:
    """Have the slots of the downloader decide what is fetched next, and when."""
    del urls
    settings: dict[str, Any] = {
        **case.settings,
        "CONCURRENT_REQUESTS": 8,
        "CONCURRENT_REQUESTS_PER_DOMAIN": random.choice((1, 3)),
        "EXTENSIONS": {"scrapy.extensions.throttle.AutoThrottle": 0},
        "AUTOTHROTTLE_ENABLED": random.random() < 0.5,
        "AUTOTHROTTLE_START_DELAY": 0.001,
        "AUTOTHROTTLE_MAX_DELAY": 0.002,
    }
    if "URLCANON_ORDER" not in case.plugin:
        settings["SCHEDULER_PRIORITY_QUEUE"] = "scrapy.pqueues.DownloaderAwarePriorityQueue"
    return replace(case, settings=settings)


def _mixing(case: Case, urls: Urls, random: Random) -> Case:
    """Have a spider middleware reorder, double or hold back what callbacks yield."""
    del urls
    mixing = random.choice(("reversed", "twice", "late"))
    return replace(case, mixing=mixing, mixing_at=random.choice((1, 500, 990)))


def _heads(case: Case, urls: Urls, random: Random) -> Case:
    """Have the spider send ``HEAD`` for some pages before it requests them."""
    del urls
    pages = {}
    for name, page in case.pages.items():
        links: list[Link] = []
        for link in page.links:
            if link.method == "GET" and random.random() < 0.4:
                links.append(Link(link.url, link.callback, method="HEAD"))
            links.append(link)
        pages[name] = replace(page, links=tuple(links))
    return replace(case, pages=pages)


def _encodes(case: Case, urls: Urls, random: Random) -> Case:
    """Have the server compress its responses, with an encoding by URL."""
    del urls, random
    return replace(case, server=(*case.server, "encodes"))


def _proved(case: Case, urls: Urls, random: Random) -> Case:
    """Add pages that prove a way of declaring, and then others that declare in that way.

    When these are linked by their canonical URL, the spider should have them by another one.
    Some of them it has not: they fail, the callback raises, or a spider middleware keeps them
    from it, perhaps without any error.
    """
    names = [f"p{number}" for number in _PROVED]
    pages, answers, interferences = dict(case.pages), dict(case.answers), []
    for name in names:
        urls[name] = [f"http://{HOST}/{name}?leaf=1", f"http://{HOST}/{name}"]
        pages[name] = Page(canonical=urls[name][1], links=(Link(f"http://{HOST}/{name}0"),))
    proofs, others = names[:6], names[6:]
    for name in others:
        variant, canonical = urls[name]
        kind = random.choice(("had", "had", "raise", "refused", "kept", "404", "gone"))
        if kind == "raise":
            interferences.append(Interference("callback", variant, "raise"))
        elif kind in {"refused", "kept"}:
            interferences.append(Interference("input", variant))
        if kind in {"raise", "kept"} and random.random() < 0.7:
            interferences.append(Interference("handler", variant))
        if kind in {"404", "gone"}:
            answers[variant if kind == "404" else canonical] = Answer(404)
    both = [Link(url, priority=3) for name in proofs for url in urls[name]]
    variants = [Link(urls[name][0], priority=2) for name in others]
    hub = Page(links=tuple(Link(urls[name][1]) for name in random.sample(others, len(others))))
    pages["p250"] = hub
    first = next(iter(pages))
    links = (*pages[first].links, *both, *variants, Link(f"http://{HOST}/p250", priority=-9))
    pages[first] = replace(pages[first], links=links)
    plugin = {**case.plugin, "URLCANON_DECLARED_CANONICAL": True}
    return _interfered(replace(case, pages=pages, answers=answers, plugin=plugin), interferences)


_ADDITIONS: dict[str, Callable[[Case, Urls, Random], Case]] = {
    "program": _program,
    "believed": _believed,
    "cut short": _cut_short,
    "raises by URL": _raises_by_url,
    "exceptions handled": _exceptions_handled,
    "idles": _idles,
    "kinds": _kinds,
    "arguments": _arguments,
    "adjusted": _adjusted,
    "other rules": _other_rules,
    "ends twice": _ends_twice,
    "moved": _moved,
    "own meta": _own_meta,
    "cookies": _cookies,
    "validates": _validates,
    "vanishes": _vanishes,
    "slots": _slots,
    "mixing": _mixing,
    "heads": _heads,
    "encodes": _encodes,
    "proved": _proved,
}


def _every(urls: Urls) -> list[str]:
    return [url for name, of_page in urls.items() if name.startswith("p") for url in of_page]


def _callback(case: Case, url: str) -> str:
    """Return a callback that requests the page of *url*; if one requests *url* itself, that one."""
    callbacks = {}
    for link in case.links():
        if link.callback != "start":
            callbacks.setdefault(identity(link.url), link.callback)
            callbacks.setdefault(key(link.url), link.callback)
    return callbacks.get(key(url)) or callbacks.get(identity(url)) or "parse"


def _interfered(case: Case, more) -> Case:
    return replace(case, interferences=(*case.interferences, *more))


def _map_links(case: Case, change: Callable[[Link], Link]) -> Case:
    pages = {
        name: replace(page, links=tuple(map(change, page.links)))
        for name, page in case.pages.items()
    }
    return replace(case, pages=pages, start=tuple(map(change, case.start)))
