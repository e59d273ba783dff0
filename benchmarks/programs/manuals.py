"""Documentation as it is published: the manuals of programs, as Debian's packages have them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs import servers
from benchmarks.programs.program import Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_DOCS = Path("/usr/share/doc")


def _fill(place: Place) -> None:
    """Do nothing: the package has all of it."""


def _manual(name: str, title: str, package: str, folder: str) -> Program:
    root = _DOCS / package / folder
    return Program(
        *(name, title, "documentation", _fill, partial(servers.lighttpd, root=root)),
        ("lighttpd", str(root / "index.html")),
        f"{package} lighttpd",
    )


PROGRAMS = (
    _manual("cmake-manual", "CMake's manual", "cmake-doc", "html"),
    _manual("postgresql-manual", "PostgreSQL's manual", "postgresql-doc-15", "html"),
    _manual("django-manual", "Django's manual", "python-django-doc", "html"),
    _manual("apache-manual", "Apache's manual", "apache2-doc", "manual"),
    _manual("boost-manual", "Boost's manual", "libboost1.81-doc", "doc/html"),
    _manual("git-manual", "Git's manual", "git-doc", ""),
)
