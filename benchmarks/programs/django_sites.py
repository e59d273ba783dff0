"""Programs that run with Django: a shop, forums, an archive of mail, an interface to data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs.program import Environment, Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_ROOT = Path(__file__).parents[2]


def _variables(place: Place, name: str) -> dict[str, str]:
    return {
        "PYTHONPATH": str(_ROOT),
        "DJANGO_SETTINGS_MODULE": f"benchmarks.programs.inside.{name}.settings",
        "FOLDER": str(place.folder),
        "URL": place.url,
    }


def _program(
    name: str, title: str, kind: str, *packages: str, path: str = "/", python: str = ""
) -> Program:
    """Return a program whose settings, addresses and content are in a folder of ``inside``."""
    environment = Environment(
        name, ("waitress", *packages), **({"python": python} if python else {})
    )

    def fill(place: Place) -> None:
        place.run(
            *(environment.bin / "python", "-W", "ignore"),
            *("-m", f"benchmarks.programs.inside.{name}.fill"),
            env=_variables(place, name),
        )

    def serve(place: Place) -> None:
        place.start(
            *(environment.bin / "waitress-serve", f"--listen=127.0.0.1:{place.port}"),
            *("--threads=4", "--call", "django.core.wsgi:get_wsgi_application"),
            env=_variables(place, name),
        )

    return Program(name, title, kind, fill, serve, environment=environment, path=path)


PROGRAMS = (
    _program(
        *("oscar", "django-oscar", "shop"),
        *("django-oscar>=4.2,<4.3", "sorl-thumbnail", "whoosh"),
        path="/",
    ),
    _program(
        *("machina", "django-machina", "forum"),
        "django-machina>=1.3,<1.4",
        path="/forum/",
    ),
    _program(
        *("hyperkitty", "HyperKitty", "mail archive"),
        *("hyperkitty>=1.3.12,<1.4", "whoosh"),
        path="/",
    ),
    _program(
        *("restframework", "Django REST framework", "interface to data"),
        *("djangorestframework>=3.16,<3.17", "django-filter>=25,<26"),
        path="/api/",
    ),
)
