"""Galleries of photos: Piwigo and Coppermine, from the repositories of their own releases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.program import CACHE, Program
from benchmarks.programs.visitor import Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.programs.program import Place

_INSIDE = Path(__file__).parent / "inside"
_PIWIGO = CACHE / "sources/piwigo"
_COPPERMINE = CACHE / "sources/coppermine"
_ALBUMS = 6
_PHOTOS = 40
_TAGS = 6


def content(seed: int) -> dict[str, Any]:
    """Return albums, and photos with their tags, dates and comments."""
    writer = Writer(seed)
    random = writer.random
    tags = writer.names(_TAGS)
    return {
        "albums": [{"name": writer.title(2), "about": writer.paragraph()} for _ in range(_ALBUMS)],
        "photos": [
            {
                "name": writer.title(2),
                "about": writer.paragraph(),
                "author": writer.person(),
                "albums": random.sample(range(_ALBUMS), random.choice((1, 1, 2))),
                "tags": random.sample(tags, random.randint(0, 2)),
                "time": EPOCH + random.randrange(400) * DAY,
                "comments": [
                    {"by": writer.person(), "text": writer.paragraph()}
                    for _ in range(random.choice((0, 0, 1, 3, 13)))
                ],
            }
            for _ in range(_PHOTOS)
        ],
    }


def _fill_piwigo(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_PIWIGO, root)
    socket = servers.mariadb(place)
    query = "create database gallery character set utf8mb4"
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "-e", query)
    env = servers.php_with_database(place)
    servers.php(place, root, env=env)
    place.wait("/install.php")
    form = {"install": "1", "prefix": "piwigo_", "admin_name": "keeper"}
    form |= {"dbhost": "localhost", "dbuser": "root", "dbpasswd": "", "dbname": "gallery"}
    form |= {"admin_pass1": "a-long-Password-1", "admin_pass2": "a-long-Password-1"}
    form |= {"admin_mail": "keeper@example.org"}
    Visitor(place.url).send("/install.php?language=en_UK", form, "installation is completed")
    texts = place.write("content.json", json.dumps(content(96)))
    place.run(
        *("php", "-d", "display_errors=stderr", _INSIDE / "piwigo.php", root, place.url, texts),
        env=env,
    )


def _serve(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", env=servers.php_with_database(place))


def _fill_coppermine(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_COPPERMINE, root)
    (root / "install.php").unlink()
    database = {"dbtype": "mysqli", "dbserver": "localhost", "dbuser": "root", "dbpass": ""}
    database |= {"dbname": "gallery", "TABLE_PREFIX": "cpg_"}
    lines = (f"$CONFIG['{name}'] = '{value}';" for name, value in database.items())
    place.write("www/include/config.inc.php", "\n".join(("<?php", *lines)))
    made = ["create database gallery character set utf8mb4;", "use gallery; set sql_mode = '';"]
    tables = [root / f"sql/{name}.sql" for name in ("schema", "basic")]
    made += [file.read_text().replace("CPG_", "cpg_") for file in tables]
    made += _statements_for_coppermine(place.url, content(97))
    socket = servers.mariadb(place)
    query = "\n".join(made)
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", given=query)


def _statements_for_coppermine(url: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what fills the tables; no photo has a file, since no crawl asks for one."""
    yield _insert("users", user_id=1, user_group=1, user_name="keeper", user_active="YES")
    for name, value in (("ecards_more_pic_target", f"{url}/"), ("comment_captcha", "0")):
        yield f"update cpg_config set value = '{value}' where name = '{name}';"
    for number, album in enumerate(data["albums"], 1):
        # Every second one stands in a category of its own.
        shelf = number + 10 if number % 2 else 0
        if shelf:
            place = {"lft": 2 * shelf, "rgt": 2 * shelf + 1, "depth": 1, "pos": shelf}
            yield _insert("categories", cid=shelf, name=f"Shelf {number}", **place)
        told = {"title": album["name"], "description": album["about"], "owner": 1}
        yield _insert("albums", aid=number, category=shelf, **told)
    for number, photo in enumerate(data["photos"], 1):
        told = {"title": photo["name"], "caption": photo["about"], "user1": photo["author"]}
        size = {"pwidth": 120, "pheight": 80, "filesize": 900, "hits": number % 9}
        yield _insert(
            "pictures",
            pid=number,
            aid=photo["albums"][0] + 1,
            owner_id=1,
            approved="YES",
            filepath="userpics/",
            filename=f"{number}.jpg",
            ctime=photo["time"],
            keywords=";".join(photo["tags"]),
            votes=number % 4,
            pic_rating=5000,
            **told,
            **size,
        )
        for comment in photo["comments"]:
            told = {"msg_author": comment["by"], "msg_body": comment["text"]}
            yield _insert("comments", pid=number, msg_date="2020-10-10", **told)


def _insert(table: str, **row: object) -> str:
    values = ", ".join(f"'{value}'" for value in row.values())
    return f"insert into cpg_{table} ({', '.join(row)}) values ({values});"


PROGRAMS = (
    Program(
        *("piwigo", "Piwigo", "gallery", _fill_piwigo, _serve),
        ("php", "mariadbd", "mariadb-install-db", str(_PIWIGO)),
        "php-cli php-mysql php-gd php-mbstring mariadb-server",
        source="https://github.com/Piwigo/Piwigo at 16.4.0",
    ),
    Program(
        *("coppermine", "Coppermine", "gallery", _fill_coppermine, _serve),
        ("php", "mariadbd", "mariadb-install-db", str(_COPPERMINE)),
        "php-cli php-mysql php-gd php-mbstring mariadb-server",
        source="https://github.com/coppermine-gallery/cpg1.6.x at v1.6.26",
    ),
)
