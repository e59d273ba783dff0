"""Content management: Drupal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs import blogs, servers
from benchmarks.programs.program import CACHE, Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_DRUPAL = CACHE / "sources/drupal"


def _fill_drupal(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_DRUPAL, root)
    site = root / "sites/default"
    shutil.copy(site / "default.settings.php", site / "settings.php")
    (site / "files").mkdir()
    php = ("php", "-d", "memory_limit=512M", Path(__file__).parent / "inside/drupal.php")
    place.run(*php, root, place.url)
    content = place.write("content.json", json.dumps(blogs.content(95)))
    place.run(*php, root, place.url, content)


def _serve_drupal(place: Place) -> None:
    servers.php(place, place.folder / "www")


PROGRAMS = (
    Program(
        *("drupal", "Drupal", "content management", _fill_drupal, _serve_drupal),
        ("php", str(_DRUPAL)),
        "php-cli php-sqlite3 php-mbstring php-xml php-gd",
        source="https://github.com/pantheon-systems/drops-7, Drupal 7.105",
    ),
)
