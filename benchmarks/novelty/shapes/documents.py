"""Sites of documents: a manual, a reference, a library's catalogue, a gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchmarks.novelty.shapes.making import (
    chance,
    link,
    list_of,
    name_of,
    number_of,
    page_of,
    pager,
    part,
    plain,
    random_of,
    slug_of,
    table,
    text_of,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.novelty.shapes.making import Pages


_WHOLE_TREE = 150
"""A menu shows all pages of a site up to this size."""


def manual(seed: int) -> Pages:
    """Return a manual: a tree of chapters and sections, an index, and the source of each page."""
    random = random_of("manual", seed)
    depth, wide = random.choice([(3, 7), (3, 9), (4, 5), (2, 20)])
    has_tree, has_source = chance(random, 0.5), chance(random, 0.6)
    ending = random.choice(["/", ".html"])
    below: dict[str, list[str]] = {}

    def grow(path: str, level: int) -> None:
        count = random.randint(wide // 3 + 1, wide) if level < depth else 0
        below[path] = [f"{path}/{slug_of(seed, path, each)}-{each}" for each in range(count)]
        for each in below[path]:
            grow(each, level + 1)

    grow("doc", 0)
    order = list(below)
    places = {each: number for number, each in enumerate(order)}
    shown = order if has_tree and len(order) < _WHOLE_TREE else below["doc"]
    contents = [(f"/{each}{ending}", name_of(seed, each, count=3)) for each in shown]
    entries = [(f"/{each}{ending}#{n}", name_of(seed, each, n)) for each in order for n in range(2)]
    menu = [(f"/doc{ending}", "Contents"), ("/genindex", "Index"), ("/search", "Search"), *contents]

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        del query
        name = "/".join(path).removesuffix(".html") or "doc"
        if name == "genindex":
            return page_of("Index", list_of(sorted(entries, key=lambda entry: entry[1])), menu=menu)
        if name == "search":
            return page_of("Search", "<p>Words to look for:</p>", menu=menu)
        if path and path[0] == "sources":
            name = name.removeprefix("sources/").removesuffix(".txt")
            return plain(text_of(seed, name)) if name in below else None
        if name not in below:
            return None
        near = [order[at] for at in (places[name] - 1, places[name] + 1) if 0 <= at < len(order)]
        links = [(f"/{each}{ending}", name_of(seed, each, count=3)) for each in below[name]]
        around = [
            (f"/{each}{ending}", word) for each, word in zip(near, ("Back", "Next"), strict=False)
        ]
        if has_source:
            around.append((f"/sources/{name}.txt", "Source"))
        text = text_of(seed, name, median=50 if below[name] else 250)
        return page_of(
            name_of(seed, name, count=3), text, list_of(links), list_of(around), menu=menu
        )

    return pages


def reference(seed: int) -> Pages:
    """Return a reference of packages, classes and members, with trees, uses and an index."""
    random = random_of("reference", seed)
    has_members, has_source = chance(random, 0.5), chance(random, 0.5)
    packages = [f"{slug_of(seed, each)}.{each}" for each in range(random.randint(6, 25))]
    classes = {
        package: [
            f"{name_of(seed, package, each).replace(' ', '')}{each}"
            for each in range(random.randint(4, 25))
        ]
        for package in packages
    }
    members = {
        (package, each): [
            f"{slug_of(seed, package, each, n)}{n}"
            for n in range(min(30, int(random.paretovariate(0.8)) + 2))
        ]
        for package in packages
        for each in classes[package]
    }
    top = [(f"/{each}", each) for each in ("overview", "tree", "all", "index", "help")]

    def brief(*of: object) -> str:
        return words(random_of("brief", seed, *of), 9)

    def of_class(package: str, each: str) -> str:
        rows = [
            [link(f"/{package}/{each}/{n}" if has_members else f"#{n}", n), brief(package, each, n)]
            for n in members[package, each]
        ]
        see = random_of("see", seed, package, each).sample(list(members), 3)
        links = [(f"/{one}/{two}", two) for one, two in see]
        if has_source:
            links.append((f"/source/{package}/{each}", "Source"))
        details = (
            ""
            if has_members
            else "".join(
                f"<h3>{n}</h3>{text_of(seed, package, each, n, median=25)}"
                for n in members[package, each]
            )
        )
        menu = [*top, (f"/{package}", "Package"), (f"/{package}/{each}/use", "Use")]
        text = text_of(seed, package, each, median=60)
        return page_of(each, text, table(rows), details, list_of(links), menu=menu)

    def whole(name: str) -> str | None:
        if name == "overview":
            rows = [[link(f"/{each}", each), brief(each)] for each in packages]
            return page_of("Overview", table(rows), menu=top)
        if name in {"tree", "all"}:
            links = [
                (f"/{package}/{each}", f"{package}.{each}" if name == "tree" else each)
                for package, each in members
            ]
            return page_of(name, list_of(links), menu=top)
        if name == "index":
            rows = [
                [link(f"/{package}/{each}#{n}", n), brief(package, each, n)]
                for (package, each), names in members.items()
                for n in names
            ]
            return page_of(name, table(sorted(rows)), menu=top)
        return page_of("Help", text_of(seed, "help"), menu=top) if name == "help" else None

    def of_package(package: str, view: str) -> str:
        if view == "tree":
            links = [(f"/{package}/{each}", f"{package}.{each}") for each in classes[package]]
            return page_of(f"Tree of {package}", list_of(links), menu=top)
        rows = [
            [link(f"/{package}/{each}", each), brief(package, each)] for each in classes[package]
        ]
        menu = [*top, (f"/{package}/tree", "Tree")]
        return page_of(package, text_of(seed, package, median=80), table(rows), menu=menu)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        del query
        package, each, more, *_ = [*(path or ["overview"]), "", "", ""]
        if package == "source" and (each, more) in members:
            return page_of(more, plain(text_of(seed, "source", each, more, median=300)))
        if package not in classes:
            return whole(package)
        if each in {"", "tree"}:
            return of_package(package, each)
        if (package, each) not in members:
            return None
        if not more:
            return of_class(package, each)
        if more == "use":
            used = random_of("use", seed, package, each).sample(list(members), 2)
            links = [(f"/{one}/{two}", f"{one}.{two}") for one, two in used]
            return page_of(f"Uses of {each}", list_of(links), menu=top)
        if not has_members or more not in members[package, each]:
            return None
        text = text_of(seed, package, each, more, median=60)
        return page_of(more, text, list_of([(f"/{package}/{each}", each)]), menu=top)

    return pages


def library(seed: int) -> Pages:
    """Return a catalogue: records by letter, subject and author, and a search with orders."""
    random = random_of("library", seed)
    count, size = random.randint(300, 2000), random.choice([10, 20, 50])
    formats = random.sample(["bibtex", "ris", "marc", "mail", "cite"], random.randint(1, 4))
    subjects, authors = random.randint(15, 60), count // 4
    subject = {each: random.randrange(subjects) for each in range(count)}
    author = {each: random.randrange(authors) for each in range(count)}
    median = random.choice([20, 60, 150])
    menu = [
        (f"/{each}" if each else "/", each or "home")
        for each in ("", "browse", "search", "help", "login")
    ]
    lists = {
        "letter": lambda value: [each for each in range(count) if each % 20 == value],
        "subject": lambda value: [each for each in range(count) if subject[each] == value],
        "author": lambda value: [each for each in range(count) if author[each] == value],
    }

    def shown(all_: Sequence[int], page: int, url: Callable[[int], str]) -> str:
        rows = [
            [
                link(f"/record/{each}", name_of(seed, each, count=4)),
                name_of(seed, "by", author[each]),
            ]
            for each in part(all_, page, size)
        ]
        return table(rows) + pager(len(all_), size, url)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        kind, value, more, *_ = [*path, "", "", ""]
        page = number_of(query, "page")
        if kind in {"", "help"}:
            links = [(f"/record/{each}", name_of(seed, each, count=4)) for each in range(8)]
            return page_of(kind or "Library", text_of(seed, kind), list_of(links), menu=menu)
        if kind == "login":
            return page_of("Log in", "<p>The number of your card:</p>", menu=menu)
        if kind == "browse":
            links = [(f"/letter/{each}", chr(65 + each)) for each in range(20)]
            links += [(f"/subject/{each}", name_of(seed, "on", each)) for each in range(subjects)]
            return page_of("Browse", list_of(links), menu=menu)
        if kind == "search":
            order = query.get("sort", "")
            all_ = sorted(range(count), key=lambda each: random_of(order, each).random())
            orders = [
                (f"/search?sort={each}", each) for each in ("title", "year", "author", "shelf")
            ]
            links = [*orders, *((f"/search?subject={each}", str(each)) for each in range(10))]
            if "subject" in query:
                all_ = lists["subject"](number_of(query, "subject"))
            html = shown(all_, page, lambda n: f"/search?{urlencode({**query, 'page': n})}")
            return page_of("Search", list_of(links), html, menu=menu)
        if kind in lists and value.isdecimal():
            html = shown(lists[kind](int(value)), page, lambda n: f"/{kind}/{value}?page={n}")
            return page_of(f"By {kind}", html, menu=menu)
        if kind != "record" or not value.isdecimal() or int(value) >= count:
            return None
        each = int(value)
        if more:
            line = f"{more}: {name_of(seed, each, count=4)} / {name_of(seed, 'by', author[each])}"
            return page_of(more, f"<pre>{line}</pre>") if more in formats else None
        links = [(f"/record/{each}/{one}", one) for one in formats]
        links += [(f"/author/{author[each]}", "author"), (f"/subject/{subject[each]}", "subject")]
        links += [(f"/login?next=/record/{each}", "Reserve")]
        text = text_of(seed, "record", each, median=median, spread=1.2)
        return page_of(name_of(seed, each, count=4), text, list_of(links), menu=menu)

    return pages


def gallery(seed: int) -> Pages:
    """Return albums of photos, each with a caption, in several sizes, by tag and by month."""
    random = random_of("gallery", seed)
    albums, tags = random.randint(15, 60), random.randint(20, 80)
    photos = {
        f"{album}-{each}": (album, random.sample(range(tags), 2), random.randrange(36))
        for album in range(albums)
        for each in range(random.randint(5, 40))
    }
    sizes = random.sample(["small", "medium", "large", "original"], random.randint(0, 4))
    caption = random.choice([6, 25, 60])
    has_comments = chance(random, 0.5)
    menu = [("/", "Albums"), ("/tags", "Tags"), ("/months", "Months"), ("/about", "About")]

    def shown(found: Sequence[str], page: int, url: str) -> str:
        links = [(f"/photo/{each}", name_of(seed, each)) for each in part(found, page, 24)]
        return list_of(links) + pager(len(found), 24, lambda n: f"{url}?page={n}")

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        kind, value, more, *_ = [*path, "", "", ""]
        tables: dict[str, tuple[str, int]] = {
            "": ("album", albums),
            "tags": ("tag", tags),
            "months": ("month", 36),
        }
        if kind in tables:
            of, many = tables[kind]
            links = [(f"/{of}/{each}", name_of(seed, of, each)) for each in range(many)]
            return page_of(kind or "Gallery", list_of(links), menu=menu)
        if kind == "about":
            return page_of("About", text_of(seed, "about"), menu=menu)
        if kind in {"album", "tag", "month"} and value.isdecimal():
            number = int(value)
            found = [
                each
                for each, (album, of, month) in photos.items()
                if number in {"album": [album], "tag": of, "month": [month]}[kind]
            ]
            text = text_of(seed, "album", number, median=20) if kind == "album" else ""
            html = shown(found, number_of(query, "page"), f"/{kind}/{value}")
            links = [(f"/{kind}/{value}?slideshow=1", "Slideshow")]
            return page_of(name_of(seed, kind, number), text, html, list_of(links), menu=menu)
        if kind != "photo" or value not in photos:
            return None
        if more:
            html = list_of([(f"/photo/{value}", "Back")])
            return page_of(name_of(seed, value), html, menu=menu) if more in sizes else None
        album, of, month = photos[value]
        links = [(f"/photo/{value}/{each}", each) for each in sizes]
        links += [(f"/album/{album}", "Album"), *((f"/tag/{each}", f"tag {each}") for each in of)]
        links += [(f"/month/{month}", "Month")]
        number = list(photos).index(value)
        links += [(f"/photo/{each}", "Next") for each in list(photos)[number + 1 : number + 2]]
        if has_comments:
            links.append((f"/photo/{value}?comment=1#form", "Comment"))
        facts = table([["Taken", f"20{month % 24:02}"], ["Size", f"{number * 7 % 900} kB"]])
        text = text_of(seed, value, median=caption)
        return page_of(name_of(seed, value), text, facts, list_of(links), menu=menu)

    return pages
