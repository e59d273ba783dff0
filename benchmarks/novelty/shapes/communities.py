"""Sites with many authors: a forum, a wiki, questions, a shop with reviews, mailing lists."""

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
    from collections.abc import Mapping

    from benchmarks.novelty.shapes.making import Pages


def forum(seed: int) -> Pages:
    """Return boards of topics of very different length, with members, quotes and permalinks."""
    random = random_of("forum", seed)
    boards, people = random.randint(4, 15), random.randint(40, 300)
    posts = [
        (random.randrange(boards), min(80, int(random.paretovariate(0.9)) + 1))
        for _ in range(random.randint(150, 900))
    ]
    size, is_script = random.choice([10, 15, 25]), chance(random, 0.5)
    has_permalinks, has_print = chance(random, 0.6), chance(random, 0.5)
    median = random.choice([15, 40])

    def url(kind: str, number: int, **query: object) -> str:
        if is_script:
            return f"/{kind}.php?{urlencode({'id': number, **query})}"
        return f"/{kind}/{number}{'?' if query else ''}{urlencode(query)}"

    menu = [("/", "Boards"), ("/members", "Members"), ("/search", "Search"), ("/login", "Log in")]

    def board(number: int, page: int) -> str:
        found = [topic for topic, (of, _) in enumerate(posts) if of == number]
        links = [
            (url("topic", each), name_of(seed, each, count=4)) for each in part(found, page, 20)
        ]
        orders = [(url("board", number, sort=each), each) for each in ("date", "author", "replies")]
        links += [*orders, (url("post", number, to="board"), "New topic")]
        html = pager(len(found), 20, lambda n: url("board", number, page=n))
        return page_of(name_of(seed, "board", number), list_of(links), html, menu=menu)

    def topic(number: int, page: int) -> str:
        html = ""
        for each in part(range(posts[number][1]), page, size):
            person = random_of(seed, number, each).randrange(people)
            links = [(url("member", person), name_of(seed, "member", person, count=1))]
            links.append((url("quote", number, post=each), "Quote"))
            if has_permalinks:
                links.append((url("topic", number, post=each), f"#{number * 100 + each}"))
            html += list_of(links) + text_of(seed, "post", number, each, median=median)
        links = [(url("post", number, to="topic"), "Reply"), (url("board", posts[number][0]), "Up")]
        if has_print:
            links.append((url("topic", number, view="print"), "Print"))
        html += pager(posts[number][1], size, lambda n: url("topic", number, page=n))
        return page_of(name_of(seed, number, count=4), html, list_of(links), menu=menu)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        kind, value, *_ = [*path, "", ""]
        page = number_of(query, "page")
        if not kind:
            links = [(url("board", each), name_of(seed, "board", each)) for each in range(boards)]
            return page_of("Boards", list_of(links), menu=menu)
        if kind in {"login", "search"}:
            return page_of(kind, "<p>Name, and what else is known:</p>", menu=menu)
        if kind == "members":
            links = [
                (url("member", each), name_of(seed, "member", each, count=1))
                for each in part(range(people), page, 30)
            ]
            html = pager(people, 30, lambda n: f"/members?page={n}")
            return page_of("Members", list_of(links), html, menu=menu)
        kind = kind.removesuffix(".php")
        number = number_of(query, "id", -1) if is_script else number_of({"id": value}, "id", -1)
        if number < 0:
            return None
        if kind in {"post", "quote"}:
            return page_of("Write", "<p>You have to be logged in to write here.</p>", menu=menu)
        if kind == "board" and number < boards:
            return board(number, page)
        if kind == "topic" and number < len(posts):
            return topic(
                number, number_of(query, "post", 0) // size + 1 if "post" in query else page
            )
        if kind == "member" and number < people:
            facts = table([["Since", str(2000 + number % 20)], ["Posts", str(number * 7 % 90)]])
            name = name_of(seed, "member", number, count=1)
            return page_of(name, facts, list_of([(url("mail", number), "Write a mail")]), menu=menu)
        return None

    return pages


def wiki(seed: int) -> Pages:
    """Return articles with their talk, history, old versions, differences, sources and forms."""
    random = random_of("wiki", seed)
    count = random.randint(60, 500)
    names = [f"{name_of(seed, each).replace(' ', '_')}_{each}" for each in range(count)]
    numbers = {name: number for number, name in enumerate(names)}
    versions = [random.randint(1, 8) for _ in names]
    is_script = chance(random, 0.5)
    views = random.sample(["talk", "raw", "links", "print", "attach"], random.randint(1, 5))
    has_old = chance(random, 0.7)
    median = random.choice([60, 150, 400])

    def url(name: str, **query: object) -> str:
        if is_script and query:
            return f"/index.php?{urlencode({'title': name, **query})}"
        return f"/wiki/{name}{'?' if query else ''}{urlencode(query)}"

    menu = [(url(each), each) for each in ("Main", "All", "Recent")]

    def version(name: str, number: int) -> str:
        old = text_of(seed, name, 0, median=median)
        return old + "".join(text_of(seed, name, n, median=12) for n in range(1, number))

    def show(name: str, action: str, query: Mapping[str, str]) -> str | None:
        last = versions[numbers[name]]
        number = min(last, max(1, number_of(query, "version", last)))
        tabs = [*menu, (url(name), "Article"), (url(name, action="edit"), "Edit")]
        tabs += [(url(name, action="history"), "History")]
        tabs += [(url(name, action=each), each) for each in views]
        near = random_of(seed, "links", name).sample(names, min(count, 5))
        links = list_of((url(each), each) for each in near)
        if action in {"edit", "attach"}:
            return page_of(f"{action} {name}", "<p>You are not allowed to do that.</p>", menu=tabs)
        if action == "history":
            rows = [
                [
                    link(url(name, version=n), str(n)) if has_old else str(n),
                    link(url(name, action="diff", version=n), "compare"),
                    words(random_of(seed, name, "comment", n), 4),
                ]
                for n in range(last, 0, -1)
            ]
            return page_of(f"History of {name}", table(rows), menu=tabs)
        if action == "diff":
            new = text_of(seed, name, number - 1, median=12)
            return page_of(f"Changes of {name}", new, version(name, number), menu=tabs)
        if action == "talk":
            some = text_of(seed, name, "talk") if numbers[name] % 5 == 0 else "<p>No talk yet.</p>"
            return page_of(f"Talk of {name}", some, menu=tabs)
        if action == "links":
            return page_of(f"What links to {name}", links, menu=tabs)
        text = version(name, number)
        if action == "raw":
            return plain(text)
        return page_of(name, text, links, menu=[] if action == "print" else tabs)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        name = query.get("title", "") if path[:1] == ["index.php"] else "".join(path[1:2])
        if not path or name == "Main":
            links = [(url(each), each) for each in names[:10]]
            return page_of("Main", text_of(seed, "main"), list_of(links), menu=menu)
        if name == "All":
            return page_of("All", list_of((url(each), each) for each in sorted(names)), menu=menu)
        if name == "Recent":
            some = random_of(seed, "recent").sample(names, min(count, 40))
            rows = [
                [link(url(each), each), link(url(each, action="diff"), "diff")] for each in some
            ]
            links = [(url("Recent", days=each), f"{each} days") for each in (1, 7, 30, 90)]
            return page_of("Recent", table(rows), list_of(links), menu=menu)
        return show(name, query.get("action", "show"), query) if name in numbers else None

    return pages


def questions(seed: int) -> Pages:
    """Return questions with their answers, tags that combine, people, and orders of each list."""
    random = random_of("questions", seed)
    count, tags, people = random.randint(200, 3000), random.randint(20, 120), 200
    of = [random.sample(range(tags), random.randint(1, 4)) for _ in range(count)]
    answers = [min(12, int(random.paretovariate(1)) - 1) for _ in range(count)]
    has_slug, has_shares = chance(random, 0.5), chance(random, 0.6)
    menu = [(f"/{each}", each) for each in ("questions", "tags", "users", "about", "login")]

    def url(number: int) -> str:
        tail = f"/{slug_of(seed, number)}" if has_slug else ""
        return f"/questions/{number + 1000}{tail}"

    def listed(found: list[int], base: str, query: Mapping[str, str]) -> str:
        order = query.get("tab", "newest")
        found = sorted(found, key=lambda each: random_of(order, each).random())
        page = number_of(query, "page")
        rows = [
            [
                link(url(each), name_of(seed, each, count=6)),
                words(random_of(seed, "lead", each), 12),
            ]
            + [link(f"/questions/tagged/t{tag}", f"t{tag}") for tag in of[each]]
            for each in part(found, page, 15)
        ]
        orders = [(f"{base}?tab={each}", each) for each in ("newest", "active", "votes", "open")]
        more = [(f"{base}?{urlencode({**query, 'page': page + 1})}", "next")]
        links = orders + (more if page * 15 < len(found) else [])
        return page_of("Questions", table(rows), list_of(links), menu=menu)

    def question(number: int) -> str:
        html = text_of(seed, "question", number, median=80)
        for each in range(answers[number]):
            person = random_of(seed, "who", number, each).randrange(people)
            links = [(f"/users/{person}", f"user {person}")]
            if has_shares:
                links.append((f"/a/{number * 20 + each}", "share"))
                links.append((f"/posts/{number * 20 + each}/edit", "edit"))
            html += text_of(seed, "answer", number, each, median=70) + list_of(links)
        near = random_of(seed, "near", number).sample(range(count), 4)
        links = [(f"{url(number)}?order={each}", each) for each in ("votes", "oldest")]
        links += [(f"/questions/tagged/t{each}", f"t{each}") for each in of[number]]
        links += [(url(each), name_of(seed, each, count=6)) for each in near]
        return page_of(name_of(seed, number, count=6), html, list_of(links), menu=menu)

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        kind, value, more, *_ = [*(path or ["questions"]), "", "", ""]
        number = int(value) if value.isdecimal() else -1
        if kind == "questions" and value == "tagged":
            chosen = {int(each[1:]) for each in more.split("+") if each[1:].isdecimal()}
            found = [each for each in range(count) if chosen <= set(of[each])]
            return listed(found, f"/questions/tagged/{more}", query) if chosen else None
        if kind == "questions" and not value:
            return listed(list(range(count)), "/questions", query)
        if kind == "questions" and 0 <= number - 1000 < count:
            return question(number - 1000)
        if kind == "a" and 0 <= number // 20 < count:
            return question(number // 20)
        if kind == "tags":
            links = [(f"/questions/tagged/t{each}", f"t{each}") for each in range(tags)]
            return page_of("Tags", list_of(links), menu=menu)
        if kind == "users" and not value:
            page = number_of(query, "page")
            links = [(f"/users/{each}", f"user {each}") for each in part(range(people), page, 40)]
            html = pager(people, 40, lambda n: f"/users?page={n}")
            return page_of("Users", list_of(links), html, menu=menu)
        if kind == "users" and 0 <= number < people:
            links = [(f"/users/{number}?tab={each}", each) for each in ("answers", "tags", "votes")]
            text = text_of(seed, "user", number, median=8) if number % 3 == 0 else ""
            return page_of(f"user {number}", text, list_of(links), menu=menu)
        if kind == "about":
            return page_of("About", text_of(seed, "about"), menu=menu)
        if kind in {"login", "posts"}:
            return page_of("Log in", "<p>Name and password:</p>", menu=menu)
        return None

    return pages


def mails(seed: int) -> Pages:
    """Return the archives of mailing lists by month, each in four orders."""
    random = random_of("mails", seed)
    lists = [slug_of(seed, each) for each in range(random.randint(1, 5))]
    months = random.randint(6, 40)
    sent = {(each, month): random.randint(3, 60) for each in lists for month in range(months)}
    orders = random.sample(["thread", "subject", "author", "date"], random.randint(1, 4))
    has_raw = chance(random, 0.5)
    median = random.choice([40, 120])

    def pages(path: list[str], query: Mapping[str, str]) -> str | None:
        del query
        each, month, name, *_ = [*path, "", "", ""]
        if not each:
            return page_of("Lists", list_of((f"/{one}/", one) for one in lists))
        if each not in lists:
            return None
        if not month:
            links = [
                (f"/{each}/{n}/{order}.html", f"{order} of {2010 + n // 12}-{n % 12 + 1:02}")
                for n in range(months)
                for order in orders
            ]
            return page_of(each, list_of(links))
        if not month.isdecimal() or (each, int(month)) not in sent:
            return None
        count = sent[each, int(month)]
        home = f"/{each}/{month}"
        stem = name.partition(".")[0]
        if stem in orders:
            found = sorted(range(count), key=lambda n: random_of(stem, n).random())
            links = [(f"{home}/{n:05}.html", name_of(seed, home, n % 9, count=5)) for n in found]
            return page_of(f"{each} by {stem}", list_of(links))
        if not stem.isdecimal() or int(stem) >= count:
            return None
        number = int(stem)
        text = text_of(seed, home, number, median=median)
        if name.endswith(".txt"):
            return plain(text)
        links = [
            (f"{home}/{n:05}.html", "near") for n in (number - 1, number + 1) if 0 <= n < count
        ]
        links += [(f"{home}/{order}.html", order) for order in orders]
        links += [(f"{home}/{stem}.txt", "Source")] if has_raw else []
        before = (
            text_of(seed, home, number - 1, median=median) if number % 3 == 0 and number else ""
        )
        quoted = before[: before.find("</p>") + 4]
        return page_of(name_of(seed, home, number % 9, count=5), quoted, text, list_of(links))

    return pages
