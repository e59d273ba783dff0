"""Sites with traps: most of their URLs bring nothing new, and one part of the site is the content.

Each site is a function from a URL to an HTML text, or None for no page; ``content`` has the URLs of
its pages of content. All text is derived from the URL, so that any two crawls see the same site.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

HOST = "http://site.example"
_SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so"]
_WORDS = ["".join(Random(n).choices(_SYLLABLES, k=2 + n % 3)) for n in range(4_000)]


def words(seed, count):
    """Return *count* words, the same for each *seed*."""
    return " ".join(Random(f"{seed}").choices(_WORDS, k=count))


def html(title, lines, links):
    """Return a page with these lines and links."""
    body = "".join(f"<p>{line}</p>\n" for line in lines)
    anchors = "".join(f'<li><a href="{href}">{text}</a></li>\n' for href, text in links)
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1>\n"
        f"<p>Welcome to the site of all things</p>\n{body}<ul>\n{anchors}</ul></body></html>"
    )


def parameters(parts):
    """Return the parameters of a split URL."""
    return dict(parse_qsl(parts.query, keep_blank_values=True))


class Site:
    """Base of the sites: a home page, numbered listings, and articles."""

    articles = 300
    per_listing = 10
    path = "/article"
    seed = ""

    def __init__(self, host=HOST):
        self.host = host
        self.names = [
            words(f"name {self.seed}{n}", 2).replace(" ", "-") + f"-{n}"
            for n in range(self.articles)
        ]
        self.content = {f"{host}{self.path}/{name}" for name in self.names}

    def __call__(self, url):
        parts = urlsplit(url)
        query = parameters(parts)
        if parts.path == "/":
            return html("Home", [words("home", 30)], [*self.extra_links(url), *self.first_links()])
        if parts.path == "/list":
            number = int(query.get("page", "1"))
            first = (number - 1) * self.per_listing
            names = self.names[first : first + self.per_listing]
            links = [(f"{self.path}/{name}", name.replace("-", " ")) for name in names]
            return html("Listing", [], [*self.extra_links(url), *links, *self.listings(number)])
        if parts.path.startswith(f"{self.path}/"):
            name = parts.path.removeprefix(f"{self.path}/")
            if name in self.names:
                return self.article(url, name, query)
        return self.extra(parts)

    def article(self, url, name, query):
        del query
        lines = [words(f"{self.seed}{name} {n}", 12) for n in range(10)]
        return html(name.replace("-", " "), lines, [*self.extra_links(url), ("/", "Home")])

    def first_links(self):
        return self.listings(1)

    def listings(self, number):
        last = -(-self.articles // self.per_listing)
        near = range(max(1, number - 2), min(number + 3, last + 1))
        return [(f"/list?page={n}", f"Page {n}") for n in near]

    def extra_links(self, url):
        del url
        return []

    def extra(self, parts):
        del parts


class Finder(Site):
    """A search whose filtered views, 16 a year, all show a part of one list."""

    years = range(2000, 2025)

    def extra_links(self, url):
        del url
        return [("/find", "Find")]

    def extra(self, parts):
        if parts.path != "/find":
            return None
        filters = [
            (f"/find?{urlencode({'type': t, 'year': y, 'order': o})}", f"{t} {y} {o}")
            for t in ("news", "essay", "note", "review")
            for y in self.years
            for o in ("new", "old", "title", "size")
        ]
        shown = Random(parts.query).sample(self.names[:30], 10)
        return html("Find", [name.replace("-", " ") for name in shown], filters)


class Shop(Site):
    """Products under four filters that combine."""

    articles = 240
    path = "/product"
    filters: ClassVar = {
        "colour": ("red", "green", "blue", "black", "white"),
        "size": ("s", "m", "l", "xl"),
        "brand": ("acme", "globex", "initech", "umbrella"),
        "sort": ("price", "name", "rating"),
    }

    def listings(self, number):
        return [("/search", "All"), *super().listings(number)]

    def extra(self, parts):
        if parts.path != "/search":
            return None
        links = []
        for name, values in self.filters.items():
            for value in values:
                chosen = {**parameters(parts), name: value}
                ordered = {key: chosen[key] for key in self.filters if key in chosen}
                links.append((f"/search?{urlencode(ordered)}", f"{name} {value}"))
        shown = Random(parts.query).sample(self.names[:30], 12)
        links += [(f"/product/{name}", name.replace("-", " ")) for name in shown]
        return html("Search", [f"{len(parameters(parts))} filters"], links)


class Variants(Site):
    """Log-in forms, each with another return address, print views and session ids."""

    def extra_links(self, url):
        path = urlsplit(url).path
        session = f"{Random(url).getrandbits(64):016x}"
        return [
            (f"/login?{urlencode({'returnto': path})}", "Log in"),
            (f"{path}?print=1", "Print"),
            (f"{path}?sid={session}", "Stay signed in"),
        ]

    def extra(self, parts):
        if parts.path == "/login":
            lines = ["Name", "Password", parts.query]
            return html("Log in", lines, [("/", "Home"), (f"/login?{parts.query}&lost=1", "Lost?")])
        return None


class Calendar(Site):
    """A calendar without end, with a page for each day."""

    def extra_links(self, url):
        del url
        return [("/calendar/2024/5", "Calendar")]

    def extra(self, parts):
        pieces = parts.path.strip("/").split("/")
        if pieces[0] != "calendar" or not 3 <= len(pieces) <= 4:
            return None
        year, month = int(pieces[1]), int(pieces[2])
        if len(pieces) == 4:
            return html(
                f"{year}-{month}-{pieces[3]}",
                ["No events"],
                [(f"/calendar/{year}/{month}", "Month")],
            )
        before = (year, month - 1) if month > 1 else (year - 1, 12)
        after = (year, month + 1) if month < 12 else (year + 1, 1)
        links = [
            (f"/calendar/{y}/{m}", text) for (y, m), text in ((before, "Back"), (after, "Next"))
        ]
        links += [(f"/calendar/{year}/{month}/{day}", f"{day}") for day in range(1, 29)]
        return html(f"{year}-{month}", [], links)


class Even(Site):
    """Every page has news, and no kind of pages more than another."""


class Late(Site):
    """All news comes after empty pages."""

    empty = 600

    def extra_links(self, url):
        return [] if urlsplit(url).path == "/list" else [self._link(n) for n in range(1, 31)]

    def first_links(self):
        return []

    def extra(self, parts):
        pieces = parts.path.strip("/").split("/")
        if pieces[0] != "empty":
            return None
        number = int(pieces[1])
        links = [self._link(n) for n in range(number + 1, min(number + 31, self.empty))]
        if number >= self.empty - 40:
            links.append(("/list", "Page 1"))
        return html("Empty", ["Nothing here"], links)

    @staticmethod
    def _link(number):
        return f"/empty/{number}", f"Empty {number}"


class Several:
    """Four sites of 30 articles on one host, each in a folder of its own."""

    host = HOST

    def __init__(self):
        kinds = {"f": Finder, "s": Shop, "v": Variants, "c": Calendar}
        small = {"articles": 30, "years": range(2000, 2003)}
        self._sites = {
            name: type(kind.__name__, (kind,), {**small, "seed": name})(f"{HOST}/{name}")
            for name, kind in kinds.items()
        }
        self.content = {url for site in self._sites.values() for url in site.content}

    def __call__(self, url):
        parts = urlsplit(url)
        name, _, rest = parts.path[1:].partition("/")
        if not name:
            return html("Home", [], [(f"/{each}/", each) for each in self._sites])
        if name not in self._sites:
            return None
        inner = self._sites[name](parts._replace(path=f"/{rest}").geturl())
        return inner and inner.replace('href="/', f'href="/{name}/')


SITES = {kind.__name__.lower(): kind for kind in (Finder, Shop, Variants, Calendar, Even, Late)}
