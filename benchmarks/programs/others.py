"""Programs without a profile: none of them may be recognised as another one."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.documentation import TEXTS, articles_in_markdown, serve_html
from benchmarks.programs.listings import fill_with_files
from benchmarks.programs.mail import mailbox
from benchmarks.programs.program import Environment, Program
from benchmarks.programs.repositories import fill_with_git

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.programs.program import Place

_LAYOUT = "<!doctype html><title>{title}</title><h1>{title}</h1>{content}"


def _fill_pelican(place: Place) -> None:
    for number, (name, text) in enumerate(articles_in_markdown(81, ".html").items()):
        title, _, rest = text.removeprefix("# ").partition("\n")
        head = f"Title: {title}\nDate: 2021-03-{number % 28 + 1:02}\nCategory: part{number % 4}\n"
        place.write(f"content/{name}-.md", head + rest)
    place.write("conf.py", "SITENAME = 'Example'\nDEFAULT_LANG = 'en'\nSITEURL = ''\n")
    place.run(TEXTS.bin / "pelican", "content", "-o", "html", "-s", "conf.py", "--quiet")


def _fill_hugo(place: Place) -> None:
    for name, text in articles_in_markdown(82, "/").items():
        title, _, rest = text.removeprefix("# ").partition("\n")
        file = "_index" if name == "index" else f"posts/{name}"
        place.write(f"content/{file}.md", f"---\ntitle: {title}\ndate: 2021-01-01\n---\n{rest}")
    place.write("config.toml", f'baseURL = "{place.url}/"\ntitle = "Example"\n')
    pages = '{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}'
    layout = _LAYOUT.format(title="{{ .Title }}", content="{{ .Content }}")
    place.write("layouts/_default/single.html", layout)
    place.write("layouts/_default/list.html", layout + f"<ul>{pages}</ul>")
    place.run("hugo", "--quiet", "--destination", "html")


def _fill_jekyll(place: Place) -> None:
    for number, (name, text) in enumerate(articles_in_markdown(83, ".html").items()):
        title, _, rest = text.removeprefix("# ").partition("\n")
        head = f"---\nlayout: page\ntitle: {title}\n---\n"
        place.write(f"source/{name}.md", head + rest)
        post = f"source/_posts/2021-{number % 12 + 1:02}-{number % 28 + 1:02}-{name}.md"
        place.write(post, head + Writer(number).paragraph())
    content = (
        "{{ content }}<ul>{% for post in site.posts limit: 9 %}"
        '<li><a href="{{ post.url }}">{{ post.title }}</a></li>{% endfor %}</ul>'
    )
    place.write(
        "source/_layouts/page.html", _LAYOUT.format(title="{{ page.title }}", content=content)
    )
    place.run("jekyll", "build", "--source", "source", "--destination", "html", "--quiet")


def _fill_ikiwiki(place: Place) -> None:
    for name, text in articles_in_markdown(84, "").items():
        place.write(f"source/{name}.mdwn", text)
    place.run(
        *("ikiwiki", "source", "html", f"--url={place.url}/", "--wikiname", "Example"),
        *("--plugin", "sidebar", "--set", "usedirs=1"),
    )


def _fill_mhonarc(place: Place) -> None:
    box = place.write("box", mailbox("one@example.org", 85, 40))
    place.write("html/index.html", '<title>Example</title><a href="threads.html">threads</a>')
    place.run(
        *("mhonarc", "-quiet", "-outdir", "html", "-idxfname", "dates.html"),
        *("-thread", "-tidxfname", "threads.html", box),
    )


def _serve_http_server(place: Place) -> None:
    place.start(
        *(sys.executable, "-m", "http.server", str(place.port)),
        *("--bind", "127.0.0.1", "--directory", "files"),
    )


def _serve_webrick(place: Place) -> None:
    place.start(
        *("ruby", "-run", "-e", "httpd", "--", "--port", str(place.port)),
        *("--bind-address", "127.0.0.1", "files"),
    )


_BROWSERS = Environment("browsers", ("klaus", "mercurial", "waitress"))


def _fill_klaus(place: Place) -> None:
    fill_with_git(place, 86)


def _serve_klaus(place: Place) -> None:
    repositories = sorted((place.folder / "git").iterdir())
    place.start(
        *(_BROWSERS.bin / "klaus", "--host", "127.0.0.1", "--port", str(place.port)), *repositories
    )


def _fill_hgweb(place: Place) -> None:
    writer = Writer(87)
    hg = (_BROWSERS.bin / "hg", "-R", "code")
    place.run(_BROWSERS.bin / "hg", "init", "code")
    files: list[str] = []
    for number in range(40):
        if number < 5 or writer.random.random() < 0.4:  # noqa: PLR2004
            files.append(f"code/{writer.word()}.txt")
        place.write(writer.random.choice(files[-5:]), "\n".join(writer.paragraphs()))
        place.run(
            *(*hg, "commit", "--quiet", "--addremove", "-m", writer.title(4)),
            *("-u", writer.person(), "-d", f"{EPOCH + number * 9 * DAY} 0"),
        )


def _serve_hgweb(place: Place) -> None:
    place.start(
        *(_BROWSERS.bin / "hg", "-R", "code", "serve", "--address", "127.0.0.1"),
        *("--port", str(place.port)),
    )


def _fill_fossil(place: Place) -> None:
    writer = Writer(88)
    home = {"HOME": str(place.folder), "USER": "keeper"}
    place.run("fossil", "init", "code.fossil", env=home)
    (place.folder / "code").mkdir()

    def fossil(*arguments: str, given: str = "") -> None:
        place.run(
            *("sh", "-c", 'cd code && exec fossil "$@"', "fossil"),
            *arguments,
            given=given,
            env=home,
        )

    fossil("open", "../code.fossil")
    for number in range(30):
        place.write(f"code/{writer.random.choice('abcdefgh')}{number % 9}.txt", writer.paragraph())
        fossil("addremove")
        fossil("commit", "--allow-empty", "--no-warnings", "-m", writer.title(4))
        fossil("wiki", "create", writer.title(), given=writer.paragraph())


def _serve_fossil(place: Place) -> None:
    place.start(
        *("fossil", "server", "code.fossil", "--localhost", "--port", str(place.port)),
        env={"HOME": str(place.folder), "USER": "keeper"},
    )


_DATASETTE = Environment("datasette", ("datasette",))


def _fill_datasette(place: Place) -> None:
    writer = Writer(91)
    random = writer.random
    genres, countries = writer.names(6), writer.names(8)
    with closing(sqlite3.connect(place.folder / "library.db")) as database, database:
        database.execute("create table author (id integer primary key, name, country, life)")
        database.executemany(
            "insert into author values (?, ?, ?, ?)",
            [
                (number, writer.title(), random.choice(countries), writer.paragraph())
                for number in range(1, 61)
            ],
        )
        database.execute(
            "create table book (id integer primary key, title,"
            " author integer references author (id), year integer, genre, summary)"
        )
        database.executemany(
            "insert into book values (?, ?, ?, ?, ?, ?)",
            [
                (
                    *(number, writer.title(3), random.randint(1, 60), random.randint(1900, 2020)),
                    *(random.choice(genres), "\n".join(writer.paragraphs(3))),
                )
                for number in range(1, 241)
            ],
        )
        database.execute(
            "create table review (id integer primary key,"
            " book integer references book (id), stars integer, reviewer, text)"
        )
        database.executemany(
            "insert into review values (?, ?, ?, ?, ?)",
            [
                (
                    *(number, random.randint(1, 240), random.randint(1, 5)),
                    *(writer.person(), writer.paragraph()),
                )
                for number in range(1, 701)
            ],
        )


def _serve_datasette(place: Place) -> None:
    place.start(
        *(_DATASETTE.bin / "datasette", "serve", "library.db"),
        *("--host", "127.0.0.1", "--port", str(place.port)),
    )


def _static(
    name: str,
    title: str,
    fill: Callable[[Place], None],
    command: str,
    environment: Environment | None = None,
) -> Program:
    """Return a program that writes a site into the folder ``html``."""
    return Program(
        name,
        title,
        "site generator",
        fill,
        serve_html,
        tuple(each for each in (command, "lighttpd") if each),
        f"{command} lighttpd",
        environment=environment,
    )


PROGRAMS = (
    _static("pelican", "Pelican", _fill_pelican, "", TEXTS),
    _static("hugo", "Hugo", _fill_hugo, "hugo"),
    _static("jekyll", "Jekyll", _fill_jekyll, "jekyll"),
    _static("ikiwiki-html", "ikiwiki", _fill_ikiwiki, "ikiwiki"),
    _static("mhonarc", "MHonArc", _fill_mhonarc, "mhonarc"),
    Program(
        *("http-server", "Python's http.server", "listing"),
        lambda place: fill_with_files(place, 89),
        _serve_http_server,
    ),
    Program(
        *("webrick", "WEBrick", "listing"),
        lambda place: fill_with_files(place, 90),
        _serve_webrick,
        ("ruby",),
        "ruby ruby-webrick",
    ),
    Program(
        *("klaus", "klaus", "repository browser", _fill_klaus, _serve_klaus),
        ("git",),
        "git",
        environment=_BROWSERS,
    ),
    Program(
        *("hgweb", "hgweb", "repository browser", _fill_hgweb, _serve_hgweb),
        environment=_BROWSERS,
    ),
    Program(
        *("fossil", "Fossil", "repository browser", _fill_fossil, _serve_fossil),
        ("fossil",),
        "fossil",
        path="/home",
    ),
    Program(
        *("datasette", "Datasette", "database", _fill_datasette, _serve_datasette),
        environment=_DATASETTE,
    ),
)
