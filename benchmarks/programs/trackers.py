"""Trackers of issues: Trac and Roundup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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


PROGRAMS = (
    Program("trac", "Trac", "tracker", _fill_trac, _serve_trac, environment=_TRAC),
    Program(
        *("roundup", "Roundup", "tracker", _fill_roundup, _serve_roundup),
        environment=_ROUNDUP,
    ),
)
