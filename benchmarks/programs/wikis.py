"""Wikis: MediaWiki, DokuWiki, MoinMoin, ikiwiki."""

from __future__ import annotations

import gzip
import os
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Article, Writer
from benchmarks.programs.program import Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_ARTICLES = 30

# MediaWiki

_MEDIAWIKI = Path("/usr/share/mediawiki")


def _fill_mediawiki(place: Place) -> None:
    env = {"MW_CONFIG_FILE": ""}
    place.run(
        *("php", _MEDIAWIKI / "maintenance/install.php", "--dbtype", "sqlite"),
        *("--dbpath", place.folder / "data", "--confpath", place.folder, "--scriptpath", ""),
        *("--server", place.url, "--pass", "a-long-Password-1", "--skins", "Vector"),
        *("Example Wiki", "Keeper"),
        env=env,
    )
    settings = place.folder / "LocalSettings.php"
    # What a page tells of its own making, and what caches would hide of a page.
    settings.write_text(
        settings.read_text() + "$wgShowHostnames = false;\n$wgUseFileCache = false;\n"
        "$wgMainCacheType = CACHE_NONE;\n$wgJobRunRate = 0;\n"
    )
    env["MW_CONFIG_FILE"] = str(settings)
    articles = _mediawiki_articles()
    dump = place.write("dump.xml", _dump(articles))
    links = "\n".join(f"* [[{article.title}]]" for article in articles)
    place.run("php", _MEDIAWIKI / "maintenance/edit.php", "Main Page", given=links, env=env)
    for script, *arguments in (
        ("importDump", "--no-updates", "--username-prefix=", dump),
        ("rebuildall",),
        ("runJobs",),
        ("initSiteStats", "--update"),
    ):
        place.run("php", _MEDIAWIKI / f"maintenance/{script}.php", *arguments, env=env)


def _mediawiki_articles() -> list[Article]:
    return Writer(1).articles(_ARTICLES, 8)


def mediawiki_titles() -> tuple[set[str], set[str]]:
    """Return the titles of articles, and those of categories, as they stand in URLs."""
    articles = _mediawiki_articles()
    categories = {each for article in articles for each in article.categories}
    return (
        {article.title.replace(" ", "_") for article in articles},
        {f"Category:{each.replace(' ', '_')}" for each in categories},
    )


def _dump(articles: list[Article]) -> str:
    """Return *articles* in MediaWiki's format of exports."""
    pages = [_page(article.title, 0, _revisions(article)) for article in articles]
    now = _recent(EPOCH).strftime("%Y-%m-%dT%H:%M:%SZ")
    for category in sorted({each for article in articles for each in article.categories}):
        text = f"What belongs to {category}."
        pages.append(_page(f"Category:{category}", 14, _revision(text, "Keeper", now, "new")))
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10"'
        f' xml:lang="en">{"".join(pages)}</mediawiki>'
    )


def _recent(time: int) -> datetime:
    """Return a time in the last weeks: MediaWiki does not list older changes."""
    share = (time - EPOCH) / (800 * DAY)
    return datetime.now(timezone.utc) - timedelta(days=75 * max(0.0, 1 - share))


def _page(title: str, namespace: int, revisions: str) -> str:
    return f"<page><title>{escape(title)}</title><ns>{namespace}</ns>{revisions}</page>"


def _revisions(article: Article) -> str:
    tail = "\n\n".join(
        [
            "See " + ", ".join(f"[[{each}]]" for each in article.links),
            *(f"[[Category:{each}]]" for each in article.categories),
        ]
    )
    return "".join(
        _revision(
            "\n\n".join([*each.text, tail]),
            each.author,
            _recent(each.time).strftime("%Y-%m-%dT%H:%M:%SZ"),
            each.comment,
        )
        for each in article.revisions
    )


def _revision(text: str, author: str, time: str, comment: str) -> str:
    return (
        f"<revision><timestamp>{time}</timestamp>"
        f"<contributor><username>{author}</username></contributor>"
        f"<comment>{escape(comment)}</comment><model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision>'
    )


def _serve_mediawiki(place: Place) -> None:
    servers.php(place, _MEDIAWIKI, env={"MW_CONFIG_FILE": str(place.folder / "LocalSettings.php")})


# DokuWiki

_DOKUWIKI = Path("/usr/share/dokuwiki")
_DOKUWIKI_SETTINGS = """\
<?php
$conf['title'] = 'Example Wiki';
$conf['savedir'] = '{data}';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['updatecheck'] = 0;
"""


def _fill_dokuwiki(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_DOKUWIKI, root, ignore=shutil.ignore_patterns(".htaccess", "conf", "plugins"))
    # In the package, folders to write into are links to elsewhere.
    shutil.copytree(_DOKUWIKI / "lib/plugins", root / "lib/plugins")
    conf = place.folder / "conf"
    shutil.copytree("/etc/dokuwiki", conf, ignore=shutil.ignore_patterns("*auth.php", "local.php*"))
    data = place.folder / "data"
    for name in ("pages", "attic", "meta", "media", "cache", "index", "locks", "tmp", "log"):
        (data / name).mkdir(parents=True)
    for name in ("media_attic", "media_meta"):
        (data / name).mkdir()
    place.write(
        "www/inc/preload.php",
        f"<?php define('DOKU_CONF', '{conf}/'); define('DOKU_MAIN_CONF', '{conf}/');\n"
        "define('DOKU_FARM', false);\n",
    )
    place.write("conf/local.php", _DOKUWIKI_SETTINGS.format(data=data))
    place.write("conf/acl.auth.php", "# <?php exit()?>\n*\t@ALL\t1\n")
    place.write("conf/users.auth.php", "# <?php exit()?>\n")
    articles = Writer(2).articles(_ARTICLES + 10)
    names = {article.title: _dokuwiki_name(article) for article in articles}
    for article in articles:
        _put_into_dokuwiki(place, article, names)
    links = "".join(f"  * [[{name}|{title}]]\n" for title, name in names.items())
    place.write("data/pages/start.txt", f"====== Start ======\n\n{links}")
    place.run("php", root / "bin/indexer.php", "-c")


def _dokuwiki_name(article: Article) -> str:
    return f"{article.categories[0].lower()}:{article.slug}"


def _put_into_dokuwiki(place: Place, article: Article, names: dict[str, str]) -> None:
    name = names[article.title]
    path = name.replace(":", "/")
    links = ", ".join(f"[[{names[each]}|{each}]]" for each in article.links)
    changes = []
    for number, revision in enumerate(article.revisions):
        text = f"====== {article.title} ======\n\n" + "\n\n".join([*revision.text, f"See {links}."])
        kind = "E" if number else "C"
        changes.append(
            f"{revision.time}\t127.0.0.1\t{kind}\t{name}\t{revision.author.lower()}\t"
            f"{revision.comment}\t\t{len(text)}\n"
        )
        place.write(f"data/attic/{path}.{revision.time}.txt.gz", gzip.compress(text.encode()))
    page = place.write(f"data/pages/{path}.txt", text)

    os.utime(page, (revision.time, revision.time))
    place.write(f"data/meta/{path}.changes", "".join(changes))
    with (place.folder / "data/meta/_dokuwiki.changes").open("a") as log:
        log.write(changes[-1])


def _serve_dokuwiki(place: Place) -> None:
    servers.php(place, place.folder / "www")


# MoinMoin: the last release of its own, for the Python of its time.

_PYTHON_2 = next(
    (
        str(path)
        for path in (
            *Path.home().glob(".pyenv/versions/2.7.*/bin/python2.7"),
            Path("/usr/bin/python2.7"),
        )
        if path.exists()
    ),
    "python2.7",
)
_MOIN = "moin==1.9.11"
_MOIN_SETTINGS = """\
import os
from MoinMoin.config import multiconfig

class Config(multiconfig.DefaultConfig):
    sitename = u"Example Wiki"
    page_front_page = u"FrontPage"
    interwikiname = u"Example"
    data_dir = "{folder}/data/"
    data_underlay_dir = "{folder}/underlay/"
    show_hosts = 0
"""


def _fill_moinmoin(place: Place) -> None:
    packages = place.folder / "packages"
    place.run(_PYTHON_2, "-m", "pip", "install", "--quiet", "--target", packages, _MOIN)
    for name in ("data", "underlay"):
        shutil.copytree(packages / "share/moin" / name, place.folder / name)
    place.write("wikiconfig.py", _MOIN_SETTINGS.format(folder=place.folder))
    articles = Writer(3).articles(_ARTICLES)
    for article in articles:
        links = ", ".join(f"[[{each}]]" for each in article.links)
        kinds = " ".join(f"Category{each}" for each in article.categories)
        _put_into_moinmoin(
            place,
            article.title,
            [
                (each.time, "\n\n".join([*each.text, f"See {links}.", "----", kinds, ""]))
                for each in article.revisions
            ],
        )
    text = "".join(f" * [[{article.title}]]\n" for article in articles)
    _put_into_moinmoin(place, "FrontPage", [(EPOCH, text)])
    for kind in sorted({kind for article in articles for kind in article.categories}):
        text = f"What belongs to {kind}.\n\n<<FullSearch()>>\n"
        _put_into_moinmoin(place, f"Category{kind}", [(EPOCH, text)])


def _put_into_moinmoin(place: Place, title: str, revisions: list[tuple[int, str]]) -> None:
    name = title.replace(" ", "(20)")
    log = []
    for number, (time, text) in enumerate(revisions, start=1):
        place.write(f"data/pages/{name}/revisions/{number:08}", text)
        log.append(
            f"{time}000000\t{number:08}\tSAVE\t{name}\t127.0.0.1\t127.0.0.1\t\t\tchange {number}\n"
        )
    place.write(f"data/pages/{name}/current", f"{len(revisions):08}\n")
    place.write(f"data/pages/{name}/edit-log", "".join(log))
    with (place.folder / "data/edit-log").open("a") as file:
        file.write(log[-1])


def _serve_moinmoin(place: Place) -> None:
    place.start(
        *(_PYTHON_2, "packages/bin/moin", f"--config-dir={place.folder}", "server", "standalone"),
        *("--hostname=127.0.0.1", f"--port={place.port}"),
        env={"PYTHONPATH": f"{place.folder / 'packages'}:{place.folder}"},
    )


PROGRAMS = (
    Program(
        "mediawiki",
        "MediaWiki",
        "wiki",
        _fill_mediawiki,
        _serve_mediawiki,
        ("php", str(_MEDIAWIKI)),
        "mediawiki php-cli php-sqlite3 php-intl",
        path="/index.php/Main_Page",
    ),
    Program(
        "dokuwiki",
        "DokuWiki",
        "wiki",
        _fill_dokuwiki,
        _serve_dokuwiki,
        ("php", str(_DOKUWIKI)),
        "dokuwiki php-cli",
        path="/doku.php",
    ),
    Program(
        *("moinmoin", "MoinMoin", "wiki", _fill_moinmoin, _serve_moinmoin),
        (_PYTHON_2,),
        "python2.7",
    ),
)
