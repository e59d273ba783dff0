"""Finds profiles: ours, each a file of ``programs/``, and those of users."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import read_text, why_unreadable
from scrapy_urlcanon.profiles.profile import Profile

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

_PROGRAMS = Path(__file__).parent / "programs"
_SUFFIX = ".toml"


@cache
def names() -> tuple[str, ...]:
    """Return the names of the built-in profiles, which are those of their files.

    >>> "mediawiki" in names()
    True
    """
    return tuple(sorted(path.stem for path in _PROGRAMS.glob(f"*{_SUFFIX}")))


@cache
def profile(name: str) -> Profile:
    """Return the built-in profile *name*, one of :func:`names`."""
    # The tests check it, so that crawls need not.
    return Profile.read(f"profile {name}", source_of(name), is_ours=True)


def source_of(name: str) -> str:
    """Return the TOML of the built-in profile *name*."""
    return (_PROGRAMS / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


@cache
def our_profiles() -> tuple[Profile, ...]:
    """Return all built-in profiles; reading them takes some milliseconds."""
    return tuple(map(profile, names()))


def named(name: str) -> Profile | None:
    """Return the built-in profile with this name of a program or file, in any case, or None.

    >>> named("django-machina") is named("Machina") is profile("machina")
    True
    >>> named("nothing")
    """
    wanted = name.lower().replace(" ", "_")
    if wanted in names():
        return profile(wanted)
    return next((one for one in our_profiles() if one.name.lower() == name.lower()), None)


def chosen(choice: Iterable[str | os.PathLike[str]], *, setting: str) -> tuple[Profile, ...]:
    """Return the profiles in *choice*: names of built-in ones, and paths that end in ``.toml``.

    ``*`` stands for all built-in profiles.

    :param setting: the name of the setting with the choice, for messages.
    :raises ConfigurationError: with all problems of all files at once.
    """
    found: dict[str, Profile] = {}
    problems: list[Problem] = []
    for each in choice:
        text = str(each)
        if text == "*":
            found.update((one.name, one) for one in our_profiles())
        elif ours := named(text):
            found[ours.name] = ours
        elif not text.endswith(_SUFFIX):
            nearest = did_you_mean(text, names())
            hint = nearest or f"; the path of a file of your own ends in {_SUFFIX}"
            message = f"no such profile: {text!r}{hint}"
            problems.append(Problem(setting, message))
        else:
            try:
                one = Profile.read(text, read_text(text))
            except ConfigurationError as error:
                problems += error.problems
            except (OSError, ValueError) as error:
                message = f"cannot read {text!r}: {why_unreadable(error)}"
                problems.append(Problem(setting, message))
            else:
                # A profile of a user replaces ours of the same name.
                found[one.name] = one
    if problems:
        raise ConfigurationError(problems)
    return tuple(found.values())
