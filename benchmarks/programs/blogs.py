"""Blogs: WordPress."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.program import Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_WORDPRESS = Path("/usr/share/wordpress")
_POSTS = 150
_PAGES = 6
_SETTINGS = """\
<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT',
          'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) define($name, $name);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
_ROUTER = """\
<?php
// What no file answers is WordPress's.
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if ($path !== '/' && (is_file($file) || is_file("$file/index.php"))) return false;
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
chdir($_SERVER['DOCUMENT_ROOT']);
require 'index.php';
"""


def _fill_wordpress(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_WORDPRESS, root, ignore=shutil.ignore_patterns("wp-content", ".htaccess"))
    for themes in (_WORDPRESS / "wp-content", Path("/var/lib/wordpress/wp-content")):
        shutil.copytree(themes, root / "wp-content", dirs_exist_ok=True)
    socket = servers.mariadb(place)
    query = "create database wordpress character set utf8mb4"
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "-e", query)
    place.write("www/wp-config.php", _SETTINGS.format(socket=socket))
    place.write("router.php", _ROUTER)
    posts = place.write("content.json", json.dumps(content(41)))
    script = Path(__file__).parent / "inside/wordpress.php"
    place.run("php", "-d", "memory_limit=512M", script, root, place.url, posts)


def content(seed: int) -> dict[str, Any]:
    """Return posts and pages, with their comments."""
    writer = Writer(seed)
    random = writer.random
    categories = [writer.title(1) for _ in range(8)]
    tags = [writer.word() for _ in range(25)]
    posts = []
    for number in range(_POSTS + _PAGES):
        time = EPOCH + int(number * 6.5 * DAY) + random.randrange(DAY)
        comments = [
            {
                "author": writer.person(),
                "text": writer.paragraph(),
                "time": _said(time + random.randrange(40 * DAY)),
                "answers": random.randrange(100),
            }
            for _ in range(random.choice((0, 1, 2, 5, 8, 16)))
        ]
        posts.append(
            {
                "title": writer.title(4),
                "text": "".join(f"<p>{each}</p>" for each in writer.paragraphs(7)),
                "type": "post" if number < _POSTS else "page",
                "time": _said(time),
                "categories": random.sample(categories, random.choice((1, 1, 2))),
                "tags": random.sample(tags, random.randint(0, 4)),
                "comments": comments,
            }
        )
    return {"categories": categories, "people": writer.people[:4], "posts": posts}


def _said(time: int) -> str:
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def _serve_wordpress(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", place.folder / "router.php")


PROGRAMS = (
    Program(
        "wordpress",
        "WordPress",
        "blog",
        _fill_wordpress,
        _serve_wordpress,
        (
            *("php", "mariadbd", "mariadb-install-db", str(_WORDPRESS)),
            "/var/lib/wordpress/wp-content/themes/twentytwentyone",
        ),
        "wordpress wordpress-theme-twentytwentyone php-cli php-mysql mariadb-server",
    ),
)
