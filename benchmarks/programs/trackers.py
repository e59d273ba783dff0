"""Trackers of issues: Trac, Roundup, Redmine and MantisBT."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs import servers
from benchmarks.programs.content import Writer
from benchmarks.programs.program import CACHE, Environment, Program
from benchmarks.programs.visitor import Visitor

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_INSIDE = Path(__file__).parent / "inside"
_ROOT = {"PYTHONPATH": str(Path(__file__).parents[2])}
_TRAC = Environment("trac", ("Trac>=1.6,<1.7", "setuptools<81"))
_ROUNDUP = Environment(
    "roundup",
    (
        "waitress",
        "roundup>=2.6,<2.7",
    ),
)

_REDMINE = Path("/usr/share/redmine")
_MANTIS = CACHE / "sources/mantis"
_MANTIS_CONFIG = """\
<?php
$g_hostname = 'localhost'; $g_db_type = 'mysqli'; $g_database_name = 'tracker';
$g_db_username = 'root'; $g_db_password = ''; $g_path = '{url}/';
$g_crypto_master_salt = 'abcdefghijklmnopqrstuvwxyz012345'; $g_default_timezone = 'UTC';
$g_allow_anonymous_login = ON; $g_anonymous_account = 'guest';
$g_enable_email_notification = OFF;
"""
_ISSUES = (90, 45, 20)


def _fill_trac(place: Place) -> None:
    home = place.folder / "tracker"
    place.run(_TRAC.bin / "trac-admin", home, "initenv", "Example", "sqlite:db/trac.db")
    place.run(_TRAC.bin / "python", "-W", "ignore", _INSIDE / "trac_fill.py", home, env=_ROOT)


def _serve_trac(place: Place) -> None:
    place.start(
        *(_TRAC.bin / "tracd", "--single-env", "--hostname=127.0.0.1", f"--port={place.port}"),
        place.folder / "tracker",
    )


def _fill_roundup(place: Place) -> None:
    home = place.folder / "tracker"
    admin = (_ROUNDUP.bin / "roundup-admin", "-i", home)
    values = f"tracker_web={place.url}/,mail_domain=example.org,mail_host=127.0.0.1"
    place.run(*admin, "install", "classic", "sqlite", values)
    for detector in ("nosyreaction.py", "userauditor.py"):
        # They send mail, and ask for what a filling has not.
        (home / "detectors" / detector).unlink(missing_ok=True)
    place.run(*admin, "initialise", "secret")
    place.run(_ROUNDUP.bin / "python", _INSIDE / "roundup_fill.py", home, env=_ROOT)


def _serve_roundup(place: Place) -> None:
    place.start(
        *(_ROUNDUP.bin / "waitress-serve", f"--listen=127.0.0.1:{place.port}"),
        "benchmarks.programs.inside.roundup_site:application",
        env={**_ROOT, "TRACKER_HOME": str(place.folder / "tracker")},
    )


def _fill_redmine(place: Place) -> None:
    writer = Writer(81)
    content = {
        "people": list(dict.fromkeys(writer.people)),
        "words": writer.names(60),
        "titles": list(dict.fromkeys(writer.title() for _ in range(150))),
        "texts": [writer.paragraph() for _ in range(600)],
        "projects": [
            {
                "name": writer.title(),
                "text": writer.paragraph(),
                "issues": [writer.sentence() for _ in range(count)],
            }
            for count in _ISSUES
        ],
    }
    given = place.write("content.json", json.dumps(content))
    variables = {**_redmine(place), "CONTENT": str(given)}
    place.run("rake", f"--rakefile={_REDMINE}/Rakefile", "db:migrate", env=variables)
    fill = _INSIDE / "redmine_fill.rb"
    place.run(_REDMINE / "bin/rails", "runner", fill, env=variables)


def _serve_redmine(place: Place) -> None:
    place.start(
        *("puma", f"--bind=tcp://127.0.0.1:{place.port}", "--threads=4:4", f"--dir={_REDMINE}"),
        env=_redmine(place),
    )


def _redmine(place: Place) -> dict[str, str]:
    """Return the environment in which Debian's Redmine keeps its content in the place."""
    return {
        "RAILS_ENV": "production",
        "REDMINE_INSTANCE": "default",
        "DATABASE_URL": f"sqlite3:{place.folder / 'redmine.sqlite'}",
        "SCHEMA": str(place.folder / "schema.rb"),
    }


def _fill_mantis(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_MANTIS, root)
    shutil.copy(_INSIDE / "mantis_autoload.php", root / "vendor/autoload.php")
    servers.mariadb(place)
    env = servers.php_with_database(place)
    servers.php(place, root, env=env)
    place.wait("/admin/install.php")
    form = {"install": "2", "db_type": "mysqli", "hostname": "localhost", "timezone": "UTC"}
    form |= {"db_username": "root", "db_password": "", "database_name": "tracker"}
    form |= {"admin_username": "root", "admin_password": "", "path": f"{place.url}/"}
    Visitor(place.url).send("/admin/install.php", form, "MantisBT was installed successfully")
    place.write("www/config/config_inc.php", _MANTIS_CONFIG.format(url=place.url))
    shutil.rmtree(root / "admin")
    given = place.write("content.json", json.dumps(_issues_of_mantis(Writer(82))))
    place.run("php", "-d", "memory_limit=512M", _INSIDE / "mantis.php", root, given, env=env)


def _issues_of_mantis(writer: Writer) -> dict[str, object]:
    """Return people, and projects with issues that have a tag and up to three notes."""
    random = writer.random
    people = list(dict.fromkeys(writer.people))
    tags = writer.names(8)

    def issue() -> dict[str, object]:
        persons = range(len(people))
        by, to = random.sample(persons, 2)
        notes = {
            person: writer.paragraph()
            for person in random.sample(persons, random.choice((0, 0, 1, 2, 3)))
        }
        status = random.choice((10, 20, 30, 50, 80, 90))
        texts = {"title": writer.sentence(), "text": writer.paragraph(), "tag": random.choice(tags)}
        return {"by": by, "to": to, "status": status, "notes": notes, **texts}

    projects = [
        {
            "name": writer.title(),
            "text": writer.paragraph(),
            "categories": writer.names(3),
            "versions": ["1.0", "1.1", "1.2", "2.0", "2.1"],
            "issues": [issue() for _ in range(count)],
        }
        for count in _ISSUES
    ]
    return {"people": people, "projects": projects}


def _serve_mantis(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", env=servers.php_with_database(place))


PROGRAMS = (
    Program("trac", "Trac", "tracker", _fill_trac, _serve_trac, environment=_TRAC),
    Program(
        *("roundup", "Roundup", "tracker", _fill_roundup, _serve_roundup),
        environment=_ROUNDUP,
    ),
    Program(
        *("redmine", "Redmine", "tracker", _fill_redmine, _serve_redmine),
        *((str(_REDMINE), "puma"), "redmine redmine-sqlite puma"),
        path="/projects",
    ),
    Program(
        *("mantis", "MantisBT", "tracker", _fill_mantis, _serve_mantis),
        (
            *("php", "mariadbd", "mariadb-install-db", str(_MANTIS)),
            *("/usr/share/php/adodb/adodb.inc.php", "/usr/share/php/Parsedown/Parsedown.php"),
        ),
        "php-cli php-mysql php-mbstring libphp-adodb libphp-phpmailer php-parsedown mariadb-server",
        source="https://github.com/mantisbt/mantisbt at release-2.28.4",
        path="/view_all_bug_page.php",
    ),
)
