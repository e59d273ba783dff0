"""Galleries of photos: Piwigo, from the repository of its own releases."""

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
    from benchmarks.programs.program import Place

_INSIDE = Path(__file__).parent / "inside"
_PIWIGO = CACHE / "sources/piwigo"
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


def _serve_piwigo(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", env=servers.php_with_database(place))


PROGRAMS = (
    Program(
        *("piwigo", "Piwigo", "gallery", _fill_piwigo, _serve_piwigo),
        ("php", "mariadbd", "mariadb-install-db", str(_PIWIGO)),
        "php-cli php-mysql php-gd php-mbstring mariadb-server",
        source="https://github.com/Piwigo/Piwigo at 16.4.0",
    ),
)
