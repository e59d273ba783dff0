"""Generates a case from a seed.

Each case has a handful of the features below, and none of the others. Bugs show where two or
three features meet; a site with all of them would hide these.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from differential import additions
from differential.case import CALLBACKS, Answer, Case, Interference, Link, Page
from differential.decoration import DECORATIONS, HOST, merged
from differential.fairness import made_fair
from scrapy_urlcanon import Canonicalizer

_FAULTS = {
    "404": lambda _: Answer(404),
    "410": lambda _: Answer(410),
    "500": lambda _: Answer(500),
    "503": lambda _: Answer(503),
    "403": lambda _: Answer(403),
    "connection reset": lambda _: Answer(reset=True),
    "empty": lambda _: Answer(body="empty"),
    "204": lambda _: Answer(204, body="empty"),
    "304": lambda _: Answer(304, body="empty"),
    "300": lambda _: Answer(300),
    "no Location": lambda r: Answer(r.choice((301, 302))),
    "unusable Location": lambda r: Answer(
        302, location=r.choice(("", "http://[", "mailto:a@b", "javascript:void(0)"))
    ),
    "error page with 200": lambda _: Answer(body="error"),
}
_TEMPORARY = (Answer(503, times=1), Answer(reset=True, times=1), Answer(500, times=2))
_TRAP = 50
_ALIASED = "p50"
_DEEP = "p63"
_SOFT = ("log-in", "offline", "not found")
_CHANCES = {
    # What many crawls have is tried often, what few have less so.
    "faults": 0.7,
    "redirects": 0.5,
    "cross redirects": 0.25,
    "refreshes": 0.15,
    "redirects off": 0.1,
    "temporary": 0.2,
    "soft": 0.1,
    "callbacks by page": 0.3,
    "callbacks by URL": 0.2,
    "crawl spider": 0.2,
    "several starts": 0.3,
    "dont_filter": 0.25,
    "post": 0.1,
    "mirrors": 0.15,
    "meta": 0.2,
    "priorities": 0.15,
    "own rules": 0.1,
    "files": 0.3,
    "inline": 0.25,
    "interference": 0.3,
    "raises": 0.1,
    "robots": 0.15,
    "clean_param": 0.1,
    "offsite": 0.2,
    "depth": 0.15,
    "handled": 0.1,
    "rewrite": 0.3,
    "cache": 0.25,
    "audit": 0.2,
    "declared": 0.2,
    "record": 0.1,
    "record_start": 0.1,
    "job": 0.1,
    "report": 0.05,
    "concurrency": 0.3,
    "fifo": 0.4,
    "delays": 0.2,
    "async": 0.1,
    "fallback": 0.1,
    "no add-on": 0.05,
    "layers": 0.15,
    "own filter": 0.05,
    "trap": 0.03,
    "alias": 0.15,
}
_ADDED = {
    "order": 0.2,
    "places": 0.2,
    "compact set": 0.1,
    "disk set": 0.1,
    "seen": 0.1,
    "follows": 0.1,
    "retries": 0.15,
    "lambdas": 0.05,
    "partials": 0.05,
    "sleeps": 0.1,
    "stop": 0.1,
    "kill": 0.1,
}
"""As above, but each has a random source of its own, so that seeds that draw none keep their
sites."""
_SKIPPED = "/short/"
_HABITS = ("follows", "retries", "lambdas", "partials", "sleeps")
_REDIRECTS = (301, 302, 303, 307, 308)
_NOT_WITH = {
    # A filter that asks no fingerprinter takes a place for a request of the spider's.
    "places": {"own filter"},
    # Of these spiders the callbacks are those of rules.
    "crawl spider": {*_HABITS, *additions.OF_PLAIN_SPIDERS},
    # Of a file, or of what a callback downloads, nobody sees that it is a captcha; and to a limit
    # of depth what a callback retries is a link more.
    "retries": {"files", "inline", "depth"},
    # A redirect that is followed there is a link more.
    "follows": {"depth", "handled"},
    # What a job cannot store ends with its run, and so do downloads and files in the pipeline.
    "kill": {"lambdas", "partials", "stop", "inline", "files", "own filter", "no add-on"},
    "stop": {"lambdas", "partials", "inline", "files", "own filter", "no add-on"},
    # The second crawl has what the first one got.
    "cache": {"seen"},
    # What a middleware asks for instead of what raised is a start for the limit of depth.
    "depth": {"exceptions handled"},
    # The redirect that brings the cookie is to be followed, and not to be answered by a cache.
    "cookies": {"redirects off", "follows", "handled", "cache", "validates"},
    # The second crawl has what the first one got.
    "validates": {"seen", "job", "stop", "kill"},
    "vanishes": additions.NOT_WITH_VANISHING,
}
_SCRAPY_SETTINGS: dict[str, dict[str, Any]] = {
    "redirects off": {"REDIRECT_ENABLED": False},
    "concurrency": {"CONCURRENT_REQUESTS": 8},
    "fifo": {
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    },
    "cache": {"HTTPCACHE_ENABLED": True},
    "job": {"JOBDIR": True},
    "own filter": {"DUPEFILTER_CLASS": "differential.spiders.UrlFilter"},
}
_PLUGIN_SETTINGS: dict[str, dict[str, Any]] = {
    # More than the other pages have URLs, less than the trap has.
    "trap": {"URLCANON_RESCUE_MAX_PENDING": _TRAP - 10},
    "record": {"URLCANON_RECORD": "seen.db"},
    "report": {"URLCANON_REPORT": "report.json"},
    "record_start": {"URLCANON_RECORD_START": True},
    "clean_param": {"URLCANON_CLEAN_PARAM": True},
    "fallback": {
        "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS": "differential.spiders.OwnFingerprinter"
    },
    "order": {
        "URLCANON_ORDER": "novelty",
        "SCHEDULER_PRIORITY_QUEUE": "differential.spiders.NoveltyFromTheFirst",
    },
    "seen": {"URLCANON_SEEN": "earlier.db", "URLCANON_SEEN_BY": "response"},
    "compact set": {"URLCANON_SEEN_SET": "compact"},
    "disk set": {"URLCANON_SEEN_SET": "disk"},
    "no add-on": {
        "ADDONS": {},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_urlcanon.RequestFingerprinter",
    },
}


FEATURES = (*_CHANCES, *_ADDED, *additions.ALL)
"""The features of cases, by the names that :func:`generate` takes."""


def generate(seed: int, *always: str) -> Case:
    """Return the case of *seed*, with the features *always* in any case."""
    return _Generator(seed, always).case()


class _Generator:
    def __init__(self, seed: int, always: tuple[str, ...]) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.has = {name for name, chance in _CHANCES.items() if self.random.random() < chance}
        self.has |= {
            name for name, chance in _ADDED.items() if Random(f"{name} {seed}").random() < chance
        }
        for first, chances in additions.SINCE.items():
            if seed >= first:
                self.has |= {
                    name
                    for name, chance in chances.items()
                    if Random(f"{name} {seed}").random() < chance
                }
        self.has.update(always)
        for name, others in _NOT_WITH.items():
            if name in self.has:
                self.has -= others
        names = self.random.sample(sorted(DECORATIONS), self.random.randint(1, 4))
        if not {"tracking_params", "www"} & set(names) or "trap" in self.has:
            names.append("drop_params")
        self.decorations = [DECORATIONS[name] for name in dict.fromkeys(names)]
        self.preset = self.random.choice(("scrapy", "safe", "safe", "safe", "aggressive"))
        self.rules = merged([each.rules for each in self.decorations])
        self.pages = [f"p{number}" for number in range(self.random.randint(3, 7))]
        if "alias" in self.has:
            self.pages.append(_ALIASED)
        self.files = [f"f{number}" for number in range(2)] if "files" in self.has else []
        canonicalizer = Canonicalizer({"*": self.rules}, preset=self.preset)
        self.urls: dict[str, list[str]] = {}
        deep = [_DEEP] if "depth" in self.has else []
        for name in (*self.pages, *self.files, *deep):
            urls = [f"http://{HOST}/{name}"]
            urls += [self.decorated(urls[0]) for _ in range(self.random.randint(1, 4))]
            self.urls[name] = list(dict.fromkeys((*urls, canonicalizer.canonicalize(urls[-1]))))
        self.places = self._places(seed) if "places" in self.has else {}
        self.callbacks = self._callbacks()

    def _places(self, seed: int) -> dict[str, str]:
        """Give some pages a URL that is skipped; return another URL of the page for each."""
        random = Random(f"places {seed}")
        self.rules = merged([self.rules, {"skip": [f"{_SKIPPED}{{id}}", f"{_SKIPPED}{{id}}/"]}])
        places = {}
        for name in random.sample(self.pages, len(self.pages) // 2 + 1):
            skipped = f"http://{HOST}{_SKIPPED}{name}"
            places[skipped] = random.choice(self.urls[name])
            self.urls[name].append(skipped)
        return places

    def decorated(self, url: str) -> str:
        for each in self.random.sample(
            self.decorations, self.random.randint(1, min(2, len(self.decorations)))
        ):
            url = each.add(url, self.random)
        return url

    def url(self, name: str) -> str:
        return self.random.choice(self.urls[name])

    def some(self, items: Any, chance: float) -> list[Any]:
        return [item for item in items if self.random.random() < chance]

    def _callbacks(self) -> dict[str, str]:
        """Return the callback of each URL."""
        random, result = self.random, {}
        for urls in self.urls.values():
            callback = random.choice(CALLBACKS)
            for url in urls:
                if "callbacks by URL" in self.has:
                    callback = random.choice(CALLBACKS[:2])
                elif "callbacks by page" not in self.has:
                    callback = "parse"
                result[url] = callback
        return result

    def link(self, url: str) -> Link:
        random, has = self.random, self.has
        link = Link(url, self.callbacks[url])
        if "crawl spider" in has:
            return link
        if "dont_filter" in has and random.random() < 0.15:
            link = replace(link, dont_filter=True)
        if "post" in has and random.random() < 0.2:
            link = replace(link, method="POST", callback="parse")
        if "mirrors" in has and random.random() < 0.3:
            name = next(name for name, urls in self.urls.items() if url in urls)
            link = replace(link, mirror=self.url(name))
        if "meta" in has and random.random() < 0.6:
            link = replace(link, meta="all")
        if "priorities" in has or "depth" in has:
            link = replace(link, priority=random.randint(-2, 2))
        if "own rules" in has and random.random() < 0.4:
            link = replace(
                link, rules=random.choice((False, {"drop_params": ["view"]}, {"fragment": "keep"}))
            )
        return link

    def case(self) -> Case:
        pages = {name: self._page(number) for number, name in enumerate(self.pages)}
        if "depth" in self.has:
            pages |= self._two_ways(pages[self.pages[0]])
        case = Case(pages=pages, start=self._start(), answers=self._answers())
        case = self._with_site(case)
        case = self._with_spider(case)
        case = self._with_scrapy(case)
        case = self._with_plugin(case)
        for name in additions.ALL:
            if name in self.has:
                case = additions.added(case, name, self.urls, Random(f"{name} of {self.seed}"))
        return made_fair(case)

    def _page(self, number: int) -> Page:
        random, has = self.random, self.has
        linked = [name for name in self.pages if name != _ALIASED]
        targets = [linked[(number + 1) % len(linked)]]
        targets += random.choices(linked, k=random.randint(0, 2))
        urls = [url for name in targets for url in self.some(self.urls[name], 0.6)]
        if number == 0 and "depth" not in has:
            urls += [self.url(name) for name in linked[1:]]
        random.shuffle(urls)
        links = [self.link(url) for url in dict.fromkeys(urls)]
        if number == 0 and "trap" in has:
            links += [Link(f"http://{HOST}/p99?sid={n}") for n in range(_TRAP)]
        return Page(
            links=tuple(links),
            files=tuple(self._files()) if self.files and random.random() < 0.6 else (),
            inline=(
                (self.url(random.choice(self.pages)),)
                if "inline" in has and "crawl spider" not in has and random.random() < 0.4
                else ()
            ),
            canonical=self._canonical(self.pages[number]),
            raises="raises" in has and random.random() < 0.2,
        )

    def _two_ways(self, first: Page) -> dict[str, Page]:
        """Return pages that lead to one page by three links, and later by two."""

        def ways(*names: str, priority: int = 0) -> tuple[Link, ...]:
            return tuple(Link(f"http://{HOST}/{name}", priority=priority) for name in names)

        deep, less_deep = self.random.choices(self.urls[_DEEP], k=2)
        # The engine asks for one more request while a callback runs: there are some.
        links = (*ways("p64", priority=-9), *first.links, *ways("p66", "p67", "p68", "p69"))
        return {
            self.pages[0]: replace(first, links=(*links, *ways("p61", priority=9))),
            "p61": Page(links=ways("p62", priority=9)),
            "p62": Page(links=(Link(deep, self.callbacks[deep], priority=9),)),
            "p64": Page(links=(Link(less_deep, self.callbacks[less_deep]),)),
            _DEEP: Page(links=ways("p65")),
        }

    def _files(self) -> list[str]:
        names = self.random.choices([*self.files, *self.files, self.pages[-1]], k=2)
        return [self.url(name) for name in dict.fromkeys(names)]

    def _canonical(self, name: str) -> str:
        if "declared" not in self.has:
            return ""
        # Either all pages lie in one way, or none does.
        lies = len(self.pages) % 2
        return f"http://{HOST}/{self.pages[0] if lies else name}"

    def _start(self) -> tuple[Link, ...]:
        random, has = self.random, self.has
        names = [self.pages[0]]
        if "several starts" in has:
            names += random.choices(self.pages[:3], k=random.randint(1, 3))
        links = [self.link(self.url(name)) for name in names]
        if "several starts" in has:
            links.append(self.link(random.choice(self.urls[names[-1]])))
        if "crawl spider" in has:
            links = [Link(link.url, "start") for link in links]
        filtered = "several starts" in has and random.random() < 0.2
        return tuple(replace(link, dont_filter=not filtered, mirror="") for link in links)

    def _answers(self) -> dict[str, Answer]:
        random = self.random
        answers = {}
        share = random.choice((0.2, 0.4, 0.6))
        kinds = random.sample(sorted(_FAULTS), 3)
        for name, urls in self.urls.items():
            for url in urls:
                choices = self._choices(name, kinds)
                if choices and random.random() < share:
                    answers[url] = random.choice(choices)
        if "alias" in self.has:
            # All URLs of one page redirect to those of another one, which nobody links.
            for url in self.urls[self.pages[-2]]:
                answers[url] = self._redirect(self.url(_ALIASED))
        return answers

    def _choices(self, name: str, kinds: list[str]) -> list[Answer]:
        """Return the possible answers of a URL of the page *name* in place of its page."""
        random, has = self.random, self.has
        choices = []
        if "faults" in has:
            choices += [_FAULTS[kind](random) for kind in kinds]
        if "redirects" in has:
            choices += [self._redirect(self.url(name)) for _ in range(2)]
        if "cross redirects" in has:
            choices.append(self._redirect(self.url(random.choice(self.pages))))
        if "refreshes" in has:
            choices.append(Answer(refresh=self.url(name)))
        if "temporary" in has:
            choices += _TEMPORARY
        if "retries" in has:
            choices += [Answer(body="captcha", times=times) for times in (1, 2)]
        if "soft" in has:
            choices.append(Answer(body=random.choice(_SOFT)))
        return choices

    def _redirect(self, target: str) -> Answer:
        return Answer(self.random.choice((301, 302, 303, 307, 308)), location=target)

    def _with_site(self, case: Case) -> Case:
        random, has = self.random, self.has
        every = [url for urls in self.urls.values() for url in urls]
        robots, settings = {}, dict(case.settings)
        if "robots" in has or "clean_param" in has:
            settings["ROBOTSTXT_OBEY"] = True
            for host in (HOST, f"www.{HOST}"):
                lines = ["User-agent: *"]
                if "robots" in has:
                    lines += self.some(("Disallow: /*sid=1", "Disallow: /item/"), 0.5)
                    lines += [f"Disallow: /{name}?" for name in self.some(self.pages[1:], 0.2)]
                    lines += [f"Disallow: /{name}$" for name in self.some(self.pages[1:], 0.2)]
                if "clean_param" in has:
                    lines += ["Clean-param: view /"]
                robots[host] = "\n".join([*lines, ""])
        domains: tuple[str, ...] = ()
        if "offsite" in has:
            domains = random.choice(((HOST,), (f"www.{HOST}",), (HOST, "mirror.example")))
        delays = {}
        if "delays" in has:
            delays = {url: random.choice((0.001, 0.002, 0.004)) for url in self.some(every, 0.4)}
        return replace(
            case, robots=robots, settings=settings, allowed_domains=domains, delays=delays
        )

    def _with_spider(self, case: Case) -> Case:
        random, has = self.random, self.has
        every = [url for urls in self.urls.values() for url in urls]
        interferences = []
        if "interference" in has:
            priority = random.choice((10, 30, 50, 500, 650, 950))
            for url in random.sample(every, min(len(every), random.randint(1, 3))):
                where = random.choice(("request", "request", "response", "response", "exception"))
                where = random.choice((where, where, where, "input", "link"))
                action = random.choice(("ignore", "raise", "page", "error", "request"))
                other = self.url(next(name for name, urls in self.urls.items() if url in urls))
                if action == "request" and other == url:
                    action = "ignore"
                interferences.append(Interference(where, url, action, other, priority))
        spider = "crawl" if "crawl spider" in has else "plain"
        handled: tuple[int, ...] = ()
        if "handled" in has:
            handled = random.choice(((404,), (301, 302), (500, 503, 410)))
        if "follows" in has:
            handled = _REDIRECTS
        return replace(
            case,
            interferences=tuple(interferences),
            spider=spider,
            handled=handled,
            habits=tuple(name for name in _HABITS if name in has),
        )

    def _with_scrapy(self, case: Case) -> Case:
        random, has = self.random, self.has
        settings = dict(case.settings)
        if has & {"temporary", "retries"}:
            settings["RETRY_TIMES"] = 5
        elif random.random() < 0.2:
            settings["RETRY_ENABLED"] = False
        if "depth" in has:
            settings["DEPTH_LIMIT"] = random.choice((1, 2, 3, 3, 3, 4))
        for name, values in _SCRAPY_SETTINGS.items():
            if name in has:
                settings |= values
        if "cache" in has:
            if random.random() < 0.4:
                settings["HTTPCACHE_POLICY"] = "scrapy.extensions.httpcache.RFC2616Policy"
            if random.random() < 0.2:
                settings["HTTPCACHE_STORAGE"] = "scrapy.extensions.httpcache.DbmCacheStorage"
        end = next((name for name in ("kill", "stop") if name in has), "")
        if end:
            settings["JOBDIR"] = True
        return replace(
            case,
            settings=settings,
            crawls=2 if "cache" in has and "JOBDIR" not in settings else 1,
            end=end,
            end_after=Random(f"end {self.seed}").randint(1, 20) if end else 0,
        )

    def _with_plugin(self, case: Case) -> Case:
        random, has = self.random, self.has
        pattern = random.choice(("*", "*", HOST))
        if "host_aliases" in self.rules:
            pattern = "*"
        setting = "URLCANON_SPIDER_RULES" if "layers" in has else "URLCANON_RULES"
        plugin: dict[str, Any] = {setting: {pattern: self.rules}}
        if self.preset != "safe":
            plugin["URLCANON_PRESET"] = self.preset
        if "rewrite" in has:
            plugin["URLCANON_REWRITE"] = random.choice((True, True, [HOST]))
        if "audit" in has:
            plugin["URLCANON_AUDIT"] = random.choice((0.2, 1.0))
        if "declared" in has and random.random() < 0.8:
            plugin["URLCANON_DECLARED_CANONICAL"] = True
        if "job" in has and random.random() < 0.3 and not case.end:
            plugin["URLCANON_JOB_JOURNAL"] = False
        for name, values in _PLUGIN_SETTINGS.items():
            if name in has:
                plugin |= values
        return replace(case, plugin=plugin, places=self.places)
