"""Sites with one publisher: a news site, a shop, a code browser, the pages of a firm."""

from __future__ import annotations

from hashlib import sha1
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
    from collections.abc import Mapping, Sequence

    from benchmarks.novelty.shapes.making import Pages


def news(seed: int) -> Pages:
    """Return articles with an archive by date, sections, tags and authors, and comments."""
    random = random_of("news", seed)
    count, tags, people = random.randint(200, 1500), random.randint(20, 150), 25
    sections = [slug_of(seed, "section", each) for each in range(random.randint(4, 12))]
    dates = sorted(
        (
            (random.randint(2015, 2025), random.randint(1, 12), random.randint(1, 28))
            for _ in range(count)
        ),
        reverse=True,
    )
    is_dated, has_days = chance(random, 0.6), chance(random, 0.5)
    extras = random.sample(["print", "amp", "share", "mail", "comments"], random.randint(0, 4))
    has_leads, median = chance(random, 0.7), random.choice([150, 350])
    section = [random.randrange(len(sections)) for _ in range(count)]
    tagged = [random.sample(range(tags), 3) for _ in range(count)]
    author = [random.randrange(people) for _ in range(count)]

    def url(number: int) -> str:
        year, month, day = dates[number]
        before = f"/{year}/{month:02}/{day:02}" if is_dated else f"/{sections[section[number]]}"
        return f"{before}/{slug_of(seed, number)}-{number}"

    urls = {url(number): number for number in range(count)}
    menu = [("/", "Home"), *((f"/{each}", each) for each in sections), ("/archive", "Archive")]

    def listed(base: str, found: Sequence[int], page: int) -> str:
        html = "".join(
            f"<h2>{link(url(each), name_of(seed, each, count=6))}</h2>"
            + (f"<p>{words(random_of(seed, 'lead', each), 18)}</p>" if has_leads else "")
            for each in part(found, page, 12)
        )
        more = [(f"{base}?page={page + 1}", "Older")] if page * 12 < len(found) else []
        return page_of(base, html, list_of(more), menu=menu)

    def dated(path: list[str], page: int) -> str | None:
        asked = tuple(int(each) for each in path)
        found = [each for each in range(count) if dates[each][: len(asked)] == asked]
        if not found:
            return None
        if len(asked) == 1:
            months = sorted({dates[each][1] for each in found})
            links = [(f"/{path[0]}/{each:02}", f"{path[0]}-{each:02}") for each in months]
            return page_of(path[0], list_of(links), menu=menu)
        if len(asked) == 2 and has_days:
            days = sorted({dates[each][2] for each in found})
            links = [(f"/{'/'.join(path)}/{each:02}", str(each)) for each in days]
            return page_of("-".join(path), list_of(links), menu=menu)
        return listed(f"/{'/'.join(path)}", found, page)

    def article(number: int, view: str) -> str:
        home = url(number)
        text = text_of(seed, number, median=median)
        if view in {"share", "mail"}:
            return page_of(
                view, f"<p>Tell others of {name_of(seed, number, count=6)}</p>", menu=menu
            )
        comments = "".join(
            text_of(seed, "comment", number, each, median=15) for each in range(number * 7 % 5)
        )
        if view == "comments":
            return page_of("Comments", comments, menu=menu)
        near = [each for each in (number - 1, number + 1) if 0 <= each < count]
        links = [(f"{home}?{each}=1", each) for each in extras]
        links += [(f"/tag/{each}", f"tag {each}") for each in tagged[number]]
        links += [(f"/author/{author[number]}", name_of(seed, "author", author[number]))]
        links += [(url(each), name_of(seed, each, count=6)) for each in near]
        return page_of(
            name_of(seed, number, count=6), text, list_of(links), menu=menu if view == "" else ()
        )

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        whole, page = f"/{'/'.join(path)}", number_of(query, "page")
        if whole in urls:
            return article(urls[whole], next((each for each in extras if each in query), ""))
        if not path:
            return listed("/", range(count), page)
        if path == ["archive"]:
            years = sorted({date[0] for date in dates})
            return page_of("Archive", list_of((f"/{each}", str(each)) for each in years), menu=menu)
        if path[0].isdecimal() and all(each.isdecimal() for each in path):
            return dated(path, page)
        if len(path) == 1 and path[0] in sections:
            number = sections.index(path[0])
            return listed(whole, [each for each in range(count) if section[each] == number], page)
        if len(path) == 2 and path[1].isdecimal() and path[0] in {"tag", "author"}:
            number = int(path[1])
            found = [
                each
                for each in range(count)
                if (number in tagged[each] if path[0] == "tag" else number == author[each])
            ]
            return listed(whole, found, page)
        return None

    return pages


def shop(seed: int) -> Pages:
    """Return products in categories with filters, orders and pages, and forms for each product."""
    random = random_of("shop", seed)
    count, categories = random.randint(150, 1200), random.randint(5, 30)
    filters = {
        name_of(seed, "filter", each, count=1).lower(): random.randint(3, 9)
        for each in range(random.randint(0, 4))
    }
    values = [
        {name: random.randrange(many) for name, many in filters.items()} for _ in range(count)
    ]
    forms = random.sample(["cart", "wish", "compare", "ask"], random.randint(0, 3))
    has_reviews, is_script = chance(random, 0.6), chance(random, 0.4)
    median = random.choice([20, 60, 150])

    def url(kind: str, number: int, **query: object) -> str:
        if is_script:
            return f"/shop.php?{urlencode({kind: number, **query})}"
        path = f"/{kind}/{slug_of(seed, kind, number)}-{number}"
        return f"{path}{'?' if query else ''}{urlencode(query)}"

    menu = [
        ("/", "Home"),
        *((url("category", each), name_of(seed, "category", each)) for each in range(categories)),
    ]
    menu += [("/account", "Account"), ("/cart", "Cart"), ("/terms", "Terms")]

    def category(number: int, query: Mapping[str, str]) -> str:
        kept: dict[str, object] = {name: query[name] for name in filters if name in query}
        found = [
            each
            for each in range(number, count, categories)
            if all(str(values[each][name]) == value for name, value in kept.items())
        ]
        if order := query.get("sort"):
            found.sort(key=lambda each: random_of(order, each).random())
            kept["sort"] = order
        rows = [
            [link(url("product", each), name_of(seed, "product", each)), f"{each * 37 % 900}.00"]
            for each in part(found, number_of(query, "page"), 12)
        ]
        links = [
            (url("category", number, **{**kept, name: value}), f"{name} {value}")
            for name, many in filters.items()
            for value in range(many)
        ]
        links += [
            (url("category", number, **{**kept, "sort": each}), each) for each in ("price", "name")
        ]
        html = pager(len(found), 12, lambda n: url("category", number, **{**kept, "page": n}))
        title = name_of(seed, "category", number)
        return page_of(title, list_of(links), table(rows), html, menu=menu)

    def product(number: int, query: Mapping[str, str]) -> str:
        title = name_of(seed, "product", number)
        near = random_of(seed, "near", number).sample(range(count), 4)
        links = [(url("product", each), name_of(seed, "product", each)) for each in near]
        links += [(f"/{each}?add={number}", each) for each in forms]
        reviews = "".join(
            text_of(seed, "review", number, each, median=30) for each in range(number * 5 % 7)
        )
        if query.get("tab") == "reviews":
            return page_of(f"Reviews of {title}", reviews, menu=menu)
        if has_reviews:
            links.append((url("product", number, tab="reviews"), "Reviews"))
        facts = table([name, str(value)] for name, value in values[number].items())
        text = text_of(seed, "product", number, median=median)
        return page_of(title, facts, text, list_of(links), menu=menu)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        if not path or path == ["terms"]:
            some = random_of(seed, "home").sample(range(count), 8)
            links = [(url("product", each), name_of(seed, "product", each)) for each in some]
            return page_of("".join(path) or "Shop", text_of(seed, *path), list_of(links), menu=menu)
        if path[0] in {"account", "cart", *forms}:
            return page_of(path[0], "<p>Your name and your password, please.</p>", menu=menu)
        for kind, many, show in (("category", categories, category), ("product", count, product)):
            text = query.get(kind, "") if is_script else path[-1].rpartition("-")[2]
            if text.isdecimal() and int(text) < many and (is_script or path[0] == kind):
                return show(int(text), query)
        return None

    return pages


def code(seed: int) -> Pages:
    """Return repositories: their files at several versions, their changes, and who wrote what."""
    random = random_of("code", seed)
    repositories = [slug_of(seed, "repository", each) for each in range(random.randint(1, 6))]
    views = random.sample(["raw", "blame", "log"], random.randint(1, 3))
    has_old, lines = chance(random, 0.7), random.choice([30, 120])
    folders = ["", "src/", "src/core/", "docs/", "tests/", "tests/data/"]
    files = {
        one: [
            f"{folder}{name_of(seed, one, folder, each, count=1).lower()}{each}.{ending}"
            for folder in folders
            for each, ending in enumerate(
                random.choices(["py", "c", "txt", "md"], k=random.randint(2, 14))
            )
        ]
        for one in repositories
    }
    changes = {
        one: [
            sha1(f"{seed} {one} {each}".encode()).hexdigest()
            for each in range(random.randint(20, 200))
        ]
        for one in repositories
    }

    def source(one: str, file: str, at: int) -> list[str]:
        rows = random_of(seed, one, file)
        many = max(5, round(lines * rows.lognormvariate(0, 0.8)))
        old = at % 13
        return [
            words(random_of(seed, one, file, each, old if each % 13 == old else 0), 7)
            for each in range(min(many, 500))
        ]

    def show(
        one: str, view: str, ref: str, name: str, menu: Sequence[tuple[str, str]]
    ) -> str | None:
        at = 0 if ref == "main" else changes[one].index(ref)
        if name in files[one]:
            rows = source(one, name, at)
            if view == "raw":
                return plain("\n".join(rows))
            if view == "log":
                some = random_of(seed, one, name, "log").sample(changes[one], 4)
                return page_of(
                    name, list_of((f"/{one}/change/{each}", each) for each in some), menu=menu
                )
            if view == "blame":
                some = [changes[one][each % len(changes[one])] for each in range(len(rows))]
                html = table(
                    [link(f"/{one}/change/{by}", by[:8]), row]
                    for by, row in zip(some, rows, strict=True)
                )
                return page_of(name, html, menu=menu)
            links = list_of((f"/{one}/{each}/{ref}/{name}", each) for each in views)
            return page_of(name, links, plain("\n".join(rows)), menu=menu)
        before = f"{name}/" if name else ""
        below = sorted(
            {each[len(before) :].split("/")[0] for each in files[one] if each.startswith(before)}
        )
        if not below or view != "tree":
            return None
        rows = [[link(f"/{one}/tree/{ref}/{before}{each}", each), str(len(each))] for each in below]
        html = "" if name else text_of(seed, one, "read me")
        return page_of(f"{one}/{name}", table(rows), html, menu=menu)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        one, view, ref, *rest = [*path, "", "", ""]
        name = "/".join(rest).strip("/")
        if not one:
            return page_of("Repositories", list_of((f"/{each}", each) for each in repositories))
        if one not in files:
            return None
        menu = [(f"/{one}", one), (f"/{one}/changes", "Changes"), (f"/{one}/tree/main", "Files")]
        menu += [(f"/{one}/{each}", each) for each in ("branches", "issues", "stars")]
        all_ = changes[one]
        if view in {"branches", "issues", "stars"}:
            return page_of(view, "<p>There is nothing here.</p>", menu=menu)
        if view == "changes":
            page = number_of(query, "page")
            rows = [
                [link(f"/{one}/change/{each}", each[:10]), words(random_of(each), 7)]
                for each in part(all_, page, 25)
            ]
            more = [(f"/{one}/changes?page={page + 1}", "Older")] if page * 25 < len(all_) else []
            return page_of("Changes", table(rows), list_of(more), menu=menu)
        if view == "change" and ref in all_:
            some = random_of(ref).sample(files[one], 3)
            version = ref if has_old else "main"
            html = "".join(
                f"<h3>{link(f'/{one}/tree/{version}/{each}', each)}</h3>"
                + plain("\n".join(words(random_of(ref, each, n), 7) for n in range(8)))
                for each in some
            )
            links = [(f"/{one}/change/{ref}?{each}", each) for each in ("split=1", "space=0")]
            links += [(f"/{one}/tree/{ref}", "Files")] if has_old else []
            return page_of(words(random_of(ref), 7), list_of(links), html, menu=menu)
        if view in {"", "tree", *views} and (ref in {"", "main"} or ref in all_):
            return show(one, view or "tree", ref or "main", name, menu)
        return None

    return pages


def firm(seed: int) -> Pages:
    """Return the pages of a firm or a town: offices, services, reports, news, people and forms."""
    random = random_of("firm", seed)
    parts = [slug_of(seed, "part", each) for each in range(random.randint(4, 20))]
    counts = {each: random.randint(2, 25) for each in parts}
    releases, people = random.randint(20, 300), random.randint(20, 300)
    tools = random.sample(["print", "size", "contrast", "send"], random.randint(0, 3))
    languages = random.choice([[], [], ["de"], ["de", "fr"]])
    menu = [("/", "Home"), *((f"/{each}", each) for each in parts), ("/press", "Press")]
    menu += [("/people", "People"), ("/contact", "Contact")]

    def inner(path: list[str], query: Mapping[str, str]) -> tuple[str, str] | None:
        first, second, *_ = [*path, "", ""]
        page = number_of(query, "page")
        if first in {"", "contact"}:
            return first or "Home", text_of(seed, first, median=60)
        if first in counts and not second:
            links = [
                (f"/{first}/{slug_of(seed, first, each)}-{each}", name_of(seed, first, each))
                for each in range(counts[first])
            ]
            return first, text_of(seed, first, median=60) + list_of(links)
        tables = {"press": releases, "people": people, **counts}
        if first not in tables:
            return None
        if not second:
            links = [
                (f"/{first}/{slug_of(seed, first, each)}-{each}", name_of(seed, first, each))
                for each in part(range(tables[first]), page, 20)
            ]
            return first, list_of(links) + pager(tables[first], 20, lambda n: f"/{first}?page={n}")
        text = second.rpartition("-")[2]
        if not text.isdecimal() or int(text) >= tables[first]:
            return None
        median = 15 if first == "people" else 180
        return name_of(seed, first, text), text_of(seed, first, text, median=median)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        language = path[0] if path and path[0] in languages else ""
        home = f"/{language}" if language else ""
        found = inner(path[1:] if language else path, query)
        if not found:
            return None
        title, html = found
        if query.get("tool") == "send":
            return page_of("Send", f"<p>To whom shall {title} be sent?</p>", menu=menu)
        here = f"/{'/'.join(path)}"
        links = [(f"{here}?tool={each}", each) for each in tools]
        links += [(f"/{each}{here}", each) for each in languages if not language]
        if language:
            # What was not translated is there in the first language.
            title, html = (
                f"{title} ({language})",
                html if len(title) % 3 else text_of(language, html),
            )
            html = html.replace('href="/', f'href="{home}/')
        return page_of(title, html, list_of(links), menu=[(home + to, text) for to, text in menu])

    return pages
