"""Trackers of issues: Trac, Roundup and Redmine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs.content import Writer
from benchmarks.programs.program import Environment, Program

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
    """Return what has Debian's Redmine keep in the folder of a place what it is filled with."""
    return {
        "RAILS_ENV": "production",
        "REDMINE_INSTANCE": "default",
        "DATABASE_URL": f"sqlite3:{place.folder / 'redmine.sqlite'}",
        "SCHEMA": str(place.folder / "schema.rb"),
    }


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
)
