"""Generates sites whose pages change at each visit, to measure verdicts on rules.

A page is identified by its address without decoration. The site also answers every other address
that the right entries turn into that one. The page of a response is in its ``flags``, which the
spider sees, and nothing that compares texts does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from email.utils import format_datetime
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from scrapy.http import HtmlResponse, Response

from benchmarks.verdicts.movements import MOVEMENTS, Slots, Visit, words
from benchmarks.verdicts.options import OPTIONS, Address, DropNoise, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

_BASES = 100, 220
_BRANCHING = 5
_HUGE = 10_000_000
"""The bytes of a page that is too large. One page in :data:`_ONE_IN` is."""
_ONE_IN = 20
_OWN_LINES = 2
"""The least number of lines of a page that a similar page lacks."""
_TRACKED = 0.12
"""The share of the links with a parameter that the preset drops."""


class Kind(NamedTuple):
    """What a page contains."""

    title: str
    lines: tuple[str, ...]
    is_form: bool = False
    """Whether it is the log-in form, which many URLs show."""
    is_bare: bool = False
    """Whether it is without the menu and footer of the site."""


@dataclass(frozen=True)
class Manners:
    """Behaviour of a site that makes it hard to judge."""

    again: str = ""
    """What is served instead of a page that was fetched before, as an audit may do: ``captcha``,
    ``429``, ``log-in``, ``other`` (by order) or ``cookie`` (by a cookie)."""
    share: float = 1.0
    """The share of those fetches for which that is served."""
    is_chaos: bool = False
    """Whether the text changes at each fetch."""
    is_huge: bool = False
    """Whether some pages have 10 MB."""
    shows_url: bool = False
    """Whether each page shows the URL by which it was fetched."""


@dataclass
class Site:
    """The pages of one domain, how they link each other, and what a fetch of them returns.

    :param options: the options by which links are decorated. :param wrong: the option whose
        wrong entry merges different pages.
    """

    seed: str
    movement: str = "nothing"
    options: tuple[str, ...] = ("drop_params",)
    wrong: str | None = None
    manners: Manners = field(default_factory=Manners)
    domain: str = "moving.example"
    is_v_noise: bool = False
    """Whether the parameter that selects content on other sites is noise on this one."""

    def __post_init__(self) -> None:
        self.random = Random(f"{self.seed} visits")
        self.fetches = 0
        self._fetched: Counter[Address] = Counter()
        random = Random(self.seed)
        self._options = [OPTIONS[name] for name in self.options if name != self.wrong]
        if self.wrong and not OPTIONS[self.wrong].is_either:
            self._options.append(OPTIONS[self.wrong])
        if self.is_v_noise:
            self._options = [DropNoise()]
        self._is_bare_host = "www" in self.options
        self.has_fresh_links = random.random() < 0.5  # noqa: PLR2004
        """Whether links have a new session at each visit, so that without rules the site is
        endless."""
        self._has_one_title = random.random() < 0.2  # noqa: PLR2004
        self._menu = [words(f"{self.seed} menu {n}", 2) for n in range(random.randint(5, 25))]
        self._kinds: dict[Address, Kind] = {}
        self._make_pages(random)
        self._targets = dict(self._links(random))
        self._texts: dict[Address, str] = {}

    # What there is

    @property
    def pages(self) -> set[Address]:
        """The pages that a crawl must reach."""
        return set(self._kinds)

    @property
    def home(self) -> str:
        """The URL to begin at."""
        return next(iter(self._kinds)).url(self.domain)

    def rules(self, *, wrong: bool = True) -> dict[str, Any]:
        """Return the options: all right entries and, if it has one, the wrong entry."""
        return {
            name: OPTIONS[name].value(wrong=wrong and name == self.wrong) for name in self.options
        }

    def address(self, url: str) -> Address | None:
        """Return the page of *url*; None for no page."""
        address = Address.of(url)
        params = (item for item in address.params if item[0] != "utm_source")
        address = replace(address, params=tuple(params))
        before = None
        while address != before:
            before = address
            for option in self._options:
                address = option.plain(address)
        return address if address in self._kinds else None

    def _make_pages(self, random: Random) -> None:
        www = not self._is_bare_host
        self._kinds[Address("/", www=www)] = self._kind(random, "home", paragraphs=3)
        bases: list[Address] = []
        for number in range(1, random.randint(*_BASES)):
            address, kind = self._base(number, random)
            address = replace(address, www=www)
            self._kinds[address] = kind
            if not kind.is_form:
                bases.append(address)
        option = self._twins_of()
        if option is None:
            return
        random.shuffle(bases)
        most = int(len(self._kinds) * random.uniform(0.25, 0.5))
        for address in bases:
            for number in range(1, random.randint(2, 4)):
                twin = option.twin(address, number)
                if twin is not None and most > 0:
                    self._kinds[twin] = self._kind_of_twin(self._kinds[address], number, random)
                    most -= 1

    def _twins_of(self) -> Option | None:
        if self.wrong:
            return OPTIONS[self.wrong]
        # Content that no rule touches; where there is one value, all is right or all is wrong.
        possible = [option for option in self._options if not option.is_either]
        return possible[0] if possible else None

    def _base(self, number: int, random: Random) -> tuple[Address, Kind]:
        name = f"{self.seed} {number}"
        chance = random.random()
        if chance < 0.06:  # noqa: PLR2004
            text = (words(f"{self.seed} log-in", 25),)
            return Address(f"/members/{number}/"), Kind("Log in", text, is_form=True, is_bare=True)
        if chance < 0.2:  # noqa: PLR2004
            entries = tuple(words(f"{self.seed} entry {n}", 8) for n in range(number, number + 10))
            title = f"List, page {number // 4}"
            return Address("/list/", (("page", str(number)),)), self._titled(title, entries)
        if chance < 0.35:  # noqa: PLR2004
            text = (words(name, 22),)
            kind = self._titled(words(name, 3), text)._replace(is_bare=True)
            return Address(f"/{random.choice(('item', 'branch'))}/{number}/"), kind
        kind = self._kind(random, name, paragraphs=random.choice((2, 4, 8, 20)))
        if chance < 0.45:  # noqa: PLR2004
            return Address("/show/", (("id", str(number)),)), kind
        return Address(f"/{'item' if chance < 0.7 else 'branch'}/{number}/"), kind  # noqa: PLR2004

    def _kind(self, random: Random, name: str, paragraphs: int) -> Kind:
        lines = [words(f"{name} {n}", random.randint(12, 40)) for n in range(paragraphs)]
        return self._titled(words(name, 3), (*lines, f"Price: {random.randint(1, 999)}.00"))

    def _titled(self, title: str, lines: tuple[str, ...]) -> Kind:
        site = words(f"{self.seed} name", 2)
        return Kind(site if self._has_one_title else f"{title} - {site}", lines)

    def _kind_of_twin(self, kind: Kind, number: int, random: Random) -> Kind:
        """Return another page, which may share some lines and the title."""
        lines = tuple(
            line
            if index >= _OWN_LINES and random.random() < 0.5  # noqa: PLR2004
            else words(f"{line} {number}", max(2, len(line.split())))
            for index, line in enumerate(kind.lines)
        )
        is_titled = random.random() < 0.5  # noqa: PLR2004
        title = f"{words(f'{kind.title} {number}', 2)} - {kind.title}" if is_titled else kind.title
        return kind._replace(title=title, lines=lines)

    def _links(self, random: Random) -> Iterator[tuple[Address, list[Address]]]:
        """Yield which pages each page links: those below it in a tree, and a few others."""
        pages = [*self._kinds]
        tree = [pages[0], *random.sample(pages[1:], len(pages) - 1)]
        for index, page in enumerate(tree):
            first = index * _BRANCHING + 1
            others = random.choices(tree[1:], k=random.choice((1, 1, 2)))
            yield page, [*tree[first : first + _BRANCHING], *others]

    # What it answers

    def respond(self, request: Request) -> Response:
        """Answer *request*."""
        self.fetches += 1
        address = self.address(request.url)
        if address is None:
            return HtmlResponse(request.url, 404, body=b"<h1>Not found</h1>", encoding="utf-8")
        count, self._fetched[address] = self._fetched[address], self._fetched[address] + 1
        visit = Visit(self.seed, self.fetches, self.random)
        headers = {"Content-Type": "text/html", "Date": format_datetime(visit.time)}
        manners = self.manners
        is_again = bool(count)
        if manners.again == "cookie":
            name = f"seen{_number(address)}"
            headers["Set-Cookie"] = f"{name}=1; path=/"
            is_again = name.encode() in (request.headers.get("Cookie") or b"")
        if manners.again and is_again and self.random.random() < manners.share:
            status, html = self._instead(manners.again, address)
            return HtmlResponse(request.url, status, headers, html.encode(), encoding="utf-8")
        html = self._page(address, visit)
        if manners.shows_url:
            html = html.replace("<footer>", f"<footer><p>Retrieved from {request.url}</p>")
        return HtmlResponse(
            request.url, 200, headers, html.encode(), flags=[repr(address)], encoding="utf-8"
        )

    def _instead(self, what: str, address: Address) -> tuple[int, str]:
        if what == "captcha":
            text = words("captcha", 30)
            return 200, f"<title>Are you a robot?</title><p>{text}</p><img src='/captcha.png'>"
        if what == "429":
            return 429, "<title>Too many requests</title>"
        if what == "log-in":
            text = words(f"{self.seed} log-in", 25)
            return 200, f"<title>Log in</title><form><p>{text}</p><input name='user'></form>"
        text = words(f"{self.seed} {address} otherwise", 80)
        return 200, f"<title>{text[:20]}</title><p>{text}</p>"

    def _page(self, address: Address, visit: Visit) -> str:
        kind = self._kinds[address]
        if self.manners.is_chaos:
            number = visit.random.getrandbits(32)
            kind = kind._replace(
                lines=tuple(words(f"{number} {line}", 20) for line in kind.lines),
                title=kind.title if number % 2 else words(str(number), 3),
            )
            text = text_of(kind, self._menu)
            return document(kind, text, self._list(address, visit), Slots())
        text = self._texts.get(address)
        if text is None:
            text = self._texts[address] = text_of(kind, self._menu)
        if self.manners.is_huge and _number(address) % _ONE_IN == 0:
            text += f"<p>{words(f'{address} huge', _HUGE // 7 // 100)}</p>" * 100
        return document(kind, text, self._list(address, visit), MOVEMENTS[self.movement](visit))

    def _list(self, address: Address, visit: Visit) -> str:
        """Return the links of a page."""
        random = visit.random if self.has_fresh_links else Random(f"{self.seed} {address}")
        return "".join(self._link(target, random) for target in self._targets[address])

    def _link(self, target: Address, random: Random) -> str:
        url = self.decorated(target, random)
        label = " ".join(self._kinds[target].lines[0].split()[:2])
        return f'<li><a href="{url}">{label}</a></li>'

    def decorated(self, target: Address, random: Random) -> str:
        """Return a URL of the page *target*."""
        if random.random() < _TRACKED:
            target = target.plus("utm_source", "mail")
        option = random.choice(self._options) if self._options else None
        if option and random.random() < 0.7:  # noqa: PLR2004
            target = option.decorated(target, random)
            if random.random() < 0.3:  # noqa: PLR2004
                target = self._with_another(target, option, random)
        return target.url(self.domain)

    def _with_another(self, target: Address, option: Option, random: Random) -> Address:
        others = [other for other in self._options if other is not option]
        return random.choice(others).decorated(target, random) if others else target


@dataclass
class TwoSites:
    """Two domains as one site: the home page of the first one links that of the second."""

    first: Site
    second: Site

    @property
    def pages(self) -> set[Address]:
        """The pages of both, those of the second one with its domain before their path."""
        return self.first.pages | {_moved(each, self.second) for each in self.second.pages}

    @property
    def home(self) -> str:
        return self.first.home

    def respond(self, request: Request) -> Response:
        host = urlsplit(request.url).hostname or ""
        if not host.endswith(self.second.domain):
            response = self.first.respond(request)
            if request.url == self.first.home:
                link = f'<a href="{self.second.home}">other</a></body>'
                response = response.replace(body=response.text.replace("</body>", link).encode())
            return response
        response = self.second.respond(request)
        address = self.second.address(request.url)
        response.flags[:] = [repr(_moved(address, self.second)) for _ in response.flags if address]
        return response


def _number(address: Address) -> int:
    return crc32(repr(address).encode())


def _moved(address: Address, site: Site) -> Address:
    return replace(address, path=f"//{site.domain}{address.path}")


def text_of(kind: Kind, menu: list[str]) -> str:
    """Return the text of a page of *kind*, below the menu of its site."""
    lines = "".join(f"<p>{line}</p>" for line in kind.lines)
    if kind.is_form:
        lines = f"<form><input name='user'>{lines}<input name='password' type='password'></form>"
    if kind.is_bare:
        return lines
    return f"<ul>{''.join(f'<li>{item}</li>' for item in menu)}</ul>{lines}"


def document(kind: Kind, text: str, links: str, moved: Slots, head: str = "") -> str:
    """Return the whole page."""
    return (
        f"<!doctype html><html><head><title>{kind.title}</title>{head}</head><body>{moved.top}"
        f"<main><h1>{kind.title}</h1>{text}{moved.side}</main><ul>{links}</ul>"
        f"<footer>{moved.foot}</footer></body></html>"
    )
