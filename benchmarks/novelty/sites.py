"""Generated sites with traps: endless parts, pages without news, late news.

Each page of content says which it is in the header ``X-Page``, which only the benchmark reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import product
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.programs.content import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Answer(NamedTuple):
    """What a site returns."""

    html: str
    content: str = ""
    """The name of the page of content, or none."""
    status: int = 200


@dataclass(frozen=True)
class Site:
    """Answers to paths and queries."""

    host: str
    answer: Callable[[str, Mapping[str, str]], Answer]
    content: frozenset[str]
    """The pages of content."""

    def respond(self, url: str) -> Answer:
        parts = urlsplit(url)
        return self.answer(parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)))


_MISSING = Answer("<h1>Not found</h1>", status=404)
_SECTIONS, _ARTICLES = 12, 28
_LISTED = 7
"""The number of articles that a section lists."""


@cache
def _text(seed: str, paragraphs: int = 3) -> str:
    """Return the text of a page, of its own."""
    writer = Writer(1)
    writer.random = Random(seed)
    title = writer.title(3)
    return f"<h1>{title}</h1>" + "".join(f"<p>{writer.paragraph()}</p>" for _ in range(paragraphs))


def _list(links: Iterable[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{escape(url)}">{text}</a></li>' for url, text in links)
    return f"<ul>{items}</ul>"


def _page(menu: str, body: str) -> str:
    return (
        f"<!doctype html><html><head><title>A site</title></head><body><nav>{menu}</nav>"
        f"<main>{body}</main><footer><p>All that is here was made up.</p></footer></body></html>"
    )


class Magazine:
    """A home page, 12 sections and 28 articles in each: 349 pages.

    A section lists its first articles, and each article links the one this many further on.

    :param extra: links that stand first on the home page, and *foot* those that stand last on
        each other one.
    """

    def __init__(
        self,
        seed: int,
        extra: Sequence[tuple[str, str]] = (),
        foot: Callable[[str], Sequence[tuple[str, str]]] = lambda _: (),
    ) -> None:
        self.seed = seed
        names = Writer(1000 + seed).names(200)
        self.sections = names[:_SECTIONS]
        random = Random(seed)
        self.articles = {
            f"/{section}/{random.choice(names)}-{number}": (section, number)
            for section in self.sections
            for number in range(_ARTICLES)
        }
        self._paths = list(self.articles)
        self._extra = extra
        self._foot = foot
        self.paths = frozenset({"/", *(f"/{each}" for each in self.sections), *self.articles})

    @property
    def menu(self) -> str:
        return _list([("/", "Home"), *((f"/{each}", each.title()) for each in self.sections)])

    def html(self, path: str, more: str = "") -> str:
        """Return the page of *path*, with *more* before its text."""
        menu = _list(self._extra) + self.menu if path == "/" else self.menu
        foot = "" if path == "/" else _list(self._foot(path))
        return _page(menu, more + self.body(path) + foot)

    def body(self, path: str) -> str:
        """Return the text and the links of *path*."""
        text = _text(f"{self.seed}{path}")
        if path in self.articles:
            section, number = self.articles[path]
            first = self._paths.index(path) - number
            found = [
                first + each for each in (number + _LISTED, number - 1) if 0 <= each < _ARTICLES
            ]
        elif (section := path.strip("/")) in self.sections:
            first = self.sections.index(section) * _ARTICLES
            found = [first + each for each in range(_LISTED)]
        else:
            return text
        return text + _list((self._paths[each], self._paths[each][1:]) for each in found)


def _colours(seed: int) -> dict[str, list[str]]:
    """Return the values of four filters."""
    names = Writer(2000 + seed).names(80)
    return {
        name: names[number * 6 : number * 6 + 6]
        for number, name in enumerate(("colour", "size", "brand", "material"))
    }


def finder(seed: int, host: str = "finder.example") -> Site:
    """Return a magazine beside a finder: each of its 400 views links the others."""
    filters = _colours(seed)
    things = Writer(3000 + seed).names(60)
    combinations = [
        dict(zip(filters, values, strict=True)) for values in product(*filters.values())
    ]
    shown = Random(seed).sample(combinations, 400)
    links = _list((f"/finder?{urlencode(each)}", " ".join(each.values())) for each in shown)

    def foot(path: str) -> Sequence[tuple[str, str]]:
        chosen = Random(f"{seed}{path}").sample(shown, 2)
        return [(f"/finder?{urlencode(each)}", "Found often") for each in chosen]

    magazine = Magazine(seed, [("/finder", "Find")], foot)

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        if path in magazine.paths:
            return Answer(magazine.html(path), path)
        if path != "/finder":
            return _MISSING
        random = Random(str(sorted(query.items())))
        found = random.sample(things, random.randint(3, 20))
        title = " ".join(query.values()) or "everything"
        rows = "".join(f"<p>{each}</p>" for each in found)
        return Answer(_page(magazine.menu, f"<h1>Found: {title}</h1>{rows}{links}"))

    return Site(host, answer, magazine.paths)


_CATEGORIES, _PRODUCTS, _A_PAGE = 12, 240, 7
_ORDERS = ("price", "name", "newest")


def _filter_links(
    path: str, kept: Mapping[str, str], filters: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Return links that set each filter to each value or remove it, and links that sort."""
    links = []
    for name, values in filters.items():
        for value in values:
            changed = {**kept, name: value}
            if kept.get(name) == value:
                del changed[name]
            links.append((f"{path}?{urlencode(changed)}" if changed else path, value))
    return [
        *links,
        *((f"{path}?{urlencode({**kept, 'order': each})}", each) for each in _ORDERS),
    ]


def shop(seed: int, host: str = "shop.example") -> Site:
    """Return a shop of 240 products, whose listings have four filters and three orders."""
    filters = _colours(seed)
    random = Random(seed)
    names = Writer(4000 + seed).names(400)
    categories = names[:_CATEGORIES]
    products = {
        f"/product/{names[20 + number]}-{number}": (
            categories[number % _CATEGORIES],
            {name: random.choice(values) for name, values in filters.items()},
        )
        for number in range(_PRODUCTS)
    }
    pages = -(-_PRODUCTS // _CATEGORIES // _A_PAGE)
    listings = {
        f"/category/{each}?page={page}" if page > 1 else f"/category/{each}"
        for each in categories
        for page in range(1, pages + 1)
    }
    menu = _list([("/", "Home"), *((f"/category/{each}", each) for each in categories)])

    def listing(category: str, query: Mapping[str, str]) -> Answer:
        path = f"/category/{category}"
        page = int(query["page"]) if query.get("page", "").isdigit() else 1
        chosen = {name: query[name] for name in filters if name in query}
        found = [
            url
            for url, (of, values) in products.items()
            if of == category and all(values[name] == value for name, value in chosen.items())
        ]
        order = query.get("order")
        if order in _ORDERS:
            found.sort(key=lambda url: Random(url + order).random())
        kept = {**chosen, **({"order": order} if order in _ORDERS else {})}
        rows = "".join(
            f'<p><a href="{url}">{url[9:]}</a> of {category}</p>'
            for url in found[(page - 1) * _A_PAGE : page * _A_PAGE]
        )
        links = _filter_links(path, kept, filters)
        if page * _A_PAGE < len(found):
            links.insert(0, (f"{path}?{urlencode({**kept, 'page': page + 1})}", "Next"))
        title = " ".join([category, *chosen.values()])
        url = f"{path}?{urlencode(dict(query))}" if query else path
        content = url if url in listings else ""
        return Answer(_page(menu, f"<h1>{title}</h1>{_list(links)}{rows}"), content)

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        kind, _, name = path.strip("/").partition("/")
        if path == "/":
            return Answer(_page(menu, _text(f"{seed} home")), path)
        if kind == "category" and name in categories:
            return listing(name, query)
        if path in products:
            of, values = products[path]
            facts = "".join(f"<p>{each}: {value}</p>" for each, value in values.items())
            back = _list([(f"/category/{of}", of)])
            return Answer(_page(menu, _text(f"{seed}{path}") + facts + back), path)
        return _MISSING

    return Site(host, answer, frozenset({"/", *listings, *products}))


def doors(seed: int, host: str = "doors.example") -> Site:
    """Return a magazine whose pages link a log-in form, a print view and a session."""
    magazine = Magazine(seed)
    sessions = Random(seed)

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        if path == "/login":
            back = escape(query.get("returnto", "/"))
            form = f"<h1>Log in</h1><p>You will return to {back}.</p><p>Your name and password:</p>"
            return Answer(_page(magazine.menu, form))
        if path not in magazine.paths:
            return _MISSING
        if "print" in query:
            return Answer(_page("", magazine.body(path)), path)
        session = f"{sessions.getrandbits(64):016x}"
        more = _list(
            [
                (f"/login?returnto={path}", "Log in"),
                (f"{path}?print=1", "Print"),
                (f"{path}?sid={session}", "Your session"),
            ]
        )
        return Answer(magazine.html(path, more), path)

    return Site(host, answer, magazine.paths)


_DAYS = 28


def calendar(seed: int, host: str = "calendar.example") -> Site:
    """Return a magazine beside a calendar of events without end, on which nothing happens."""
    magazine = Magazine(
        seed, [("/events/2026/11", "Events")], lambda _: [("/events/2026/12", "Events to come")]
    )

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        del query
        if path in magazine.paths:
            return Answer(magazine.html(path), path)
        parts = path.strip("/").split("/")
        if parts[0] != "events" or not all(each.isdigit() for each in parts[1:]):
            return _MISSING
        year, month = int(parts[1]), int(parts[2])
        if len(parts) > 3:  # noqa: PLR2004
            return Answer(_page(magazine.menu, f"<h1>{path[8:]}</h1><p>Nothing happens.</p>"))
        links = [
            (f"/events/{year + (month > 11)}/{month % 12 + 1}", "Next month"),  # noqa: PLR2004
            (f"/events/{year - (month < 2)}/{(month - 2) % 12 + 1}", "Month before"),  # noqa: PLR2004
            *((f"/events/{year}/{month}/{day}", str(day)) for day in range(1, _DAYS + 1)),
        ]
        return Answer(_page(magazine.menu, f"<h1>{year}-{month}</h1>{_list(links)}"))

    return Site(host, answer, magazine.paths)


def even(seed: int, host: str = "even.example") -> Site:
    """Return 3,000 pages, each of which says something new, that link one another at random."""
    count = 3000

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        name = path.strip("/").removeprefix("page/")
        number = int(name) if name.isdigit() else 0
        if query or number >= count or path not in {"/", f"/page/{number}"}:
            return _MISSING
        random = Random(f"{seed} {number}")
        targets = [number * 3 + each for each in (1, 2, 3)]
        targets += [random.randrange(1, count) for _ in range(6)]
        links = _list((f"/page/{each}", f"page {each}") for each in targets if each < count)
        body = _text(f"{seed} {number}") + links
        return Answer(_page("", body), path)

    return Site(host, answer, frozenset({"/", *(f"/page/{n}" for n in range(1, count))}))


def late(seed: int, host: str = "late.example") -> Site:
    """Return 2,000 pages that say nothing, and then a magazine of 349."""
    magazine = Magazine(seed)
    paths = {f"/archive{path}" for path in magazine.paths}

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        del query
        if path in paths:
            inner = magazine.html(path.removeprefix("/archive"))
            return Answer(inner.replace('href="/', 'href="/archive/'), path)
        name = path.strip("/").removeprefix("item/") or "0"
        if not name.isdigit() or int(name) >= _EMPTY:
            return _MISSING
        number = int(name)
        targets = [each for each in range(number * 5 + 1, number * 5 + 6) if each < _EMPTY]
        links = [(f"/item/{each}", str(each)) for each in targets]
        if number == _EMPTY - 1:
            links.append(("/archive/", "archive"))
        return Answer(_page("", f"<p>Nothing here.</p>{_list(links)}"))

    return Site(host, answer, frozenset(paths))


_EMPTY = 2000


def several(seed: int, host: str = "several.example") -> Site:
    """Return all of the traps on one host, each below its folder."""
    sites = {
        name: make(seed + number)
        for number, (name, make) in enumerate(
            {"finder": finder, "shop": shop, "doors": doors, "calendar": calendar}.items()
        )
    }
    content = {"/", *(f"/{name}{page}" for name, site in sites.items() for page in site.content)}

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        if path == "/":
            links = _list((f"/{name}/", name) for name in sites)
            return Answer(_page("", _text(f"{seed} front") + links), path)
        name, _, rest = path[1:].partition("/")
        if name not in sites:
            return _MISSING
        found = sites[name].answer(f"/{rest}", query)
        return Answer(
            found.html.replace('href="/', f'href="/{name}/'),
            found.content and f"/{name}{found.content}",
            found.status,
        )

    return Site(host, answer, frozenset(content))


def wide(seed: int, host: str = "wide.example") -> Site:
    """Return an endless site whose pages link 40 others each, to measure costs."""

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        del query
        number = int(path.strip("/").removeprefix("page/") or 0)
        links = ((f"/page/{each}", str(each)) for each in range(number * 40 + 1, number * 40 + 41))
        return Answer(_page("", _text(f"{seed} {number % 300}") + _list(links)))

    return Site(host, answer, frozenset())


def broad(seed: int, host: str = "broad.example") -> Site:
    """Return a small site, as one of very many: a page with links to two others."""

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        del query
        links = [] if path.strip("/") else [("/about/us", "us"), (f"/page/{seed % 7}", "page")]
        return Answer(_page("", _text(f"{(seed * 3 + len(path)) % 300}") + _list(links)))

    return Site(host, answer, frozenset())


KINDS: dict[str, Callable[..., Site]] = {
    "broad": broad,
    "finder": finder,
    "shop": shop,
    "doors": doors,
    "calendar": calendar,
    "even": even,
    "late": late,
    "several": several,
    "wide": wide,
}


_OF_HOSTS = {"hosts": (finder, shop, doors, calendar), "broad": (broad,)}


def hosts(kind: str, seed: int, count: int = 50) -> list[Site]:
    """Return sites, each on a host of its own; for the kind ``hosts`` all traps."""
    kinds = _OF_HOSTS[kind]
    return [kinds[n % len(kinds)](seed + n, f"www.host{n:02}.example") for n in range(count)]
