"""Recognises the program that made a page by its signs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.url import home_of
from scrapy_urlcanon.profiles.reading import parse_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.profiles.page_signs import PageSigns
    from scrapy_urlcanon.profiles.profile import Profile, Sign

    _Finder: TypeAlias = Callable[[PageSigns, Sign], str | None]

# Cached, since every page is searched for the same signs.
_matcher = cache(glob_matcher)
_ENOUGH = 2
_MAX_SEGMENTS = 20


@frozen
class Recognised:
    """A program that made a page."""

    profile: Profile
    place: str
    """The path below which it is installed, with slashes around it: ``/`` or ``/wiki/``."""
    version: tuple[int, ...]
    """The version; empty if it is unknown."""
    signs: tuple[str, ...]
    """The signs by which the program was recognised."""


def recognise(page: PageSigns, profiles: Iterable[Profile]) -> tuple[Recognised, ...]:
    """Return which of *profiles* made *page*: none, one, or one and the program that it runs on.

    One certain sign is enough, and so are signs of two kinds. All that visitors may write into a
    text, such as links, is of one kind. A page with signs of two programs, of which neither runs
    on the other, tells nothing.
    """
    finders = _finders(page)
    found = [one for profile in profiles if (one := _recognised(page, profile, finders))]
    runs_on = {name for one in found for name in one.profile.runs_on}
    tops = [one for one in found if one.profile.name not in runs_on]
    if len(tops) > 1:
        return ()
    allowed = {tops[0].profile.name, *tops[0].profile.runs_on} if tops else set()
    return tuple(one for one in found if one.profile.name in allowed)


def _finders(page: PageSigns) -> dict[str, _Finder]:
    """Return a finder for each kind of signs that *page* has."""
    shown = {
        "generator": page.generators,
        "cookie": page.cookies,
        "asset": page.assets or page.foreign_assets,
        "title": page.title,
        "link": page.links,
    }
    return {kind: find for kind, find in _FINDERS.items() if shown.get(kind, True)}


def _recognised(
    page: PageSigns, profile: Profile, finders: Mapping[str, _Finder]
) -> Recognised | None:
    shown = [
        (sign, told)
        for sign in profile.signs
        if (find := finders.get(sign.kind)) and (told := find(page, sign)) is not None
    ]
    if not shown:
        return None
    kinds = {sign.evidence for sign, _ in shown}
    if len(kinds) < _ENOUGH and not any(sign.is_certain for sign, _ in shown):
        return None
    assets = [base for sign, base in shown if sign.kind == "asset" and base]
    versions = (parse_version(told) for sign, told in shown if sign.kind == "generator")
    return Recognised(
        profile,
        _place(page.path, profile, assets),
        next(filter(None, versions), ()),
        tuple(str(sign) for sign, _ in shown),
    )


def _place(path: str, profile: Profile, assets: list[str]) -> str:
    """Return the directory that the page and the assets of its program have in common.

    For a page of one user of a server it is at most that user's directory.

    >>> from scrapy_urlcanon.profiles.catalogue import profile
    >>> _place("/wiki/Main_Page", profile("mediawiki"), ["/w/"])
    '/'
    >>> _place("/forum/viewtopic.php", profile("phpbb"), [])
    '/forum/'
    """
    common = _directory(path, profile).split("/")[1:-1]
    for base in assets:
        other = base.split("/")[1:-1]
        same = 0
        while same < min(len(common), len(other)) and common[same] == other[same]:
            same += 1
        del common[same:]
    place, home = "/".join(["", *common, ""]), home_of(path)
    return place if place.startswith(home) else home


def _directory(path: str, profile: Profile) -> str:
    """Return the directory of *path*, or that of the program if *path* has a known shape.

    >>> from scrapy_urlcanon.profiles.catalogue import profile
    >>> _directory("/a/node/17", profile("drupal")), _directory("/a/b", profile("drupal"))
    ('/a/', '/a/')
    """
    segments = path.split("/")
    for number, name in enumerate(segments[: _MAX_SEGMENTS + 1]):
        rest = f"/{'/'.join(segments[number + 1 :])}"
        if name in profile.scripts:
            return "/".join([*segments[:number], ""])
        if any(shape.path.match(rest) is not None for shape in _firm(profile)):
            return "/".join([*segments[: number + 1], ""])
    return path[: path.rfind("/") + 1]


def _firm(profile: Profile) -> list[Template]:
    """Return the shapes of *profile* that begin with a literal segment."""
    return [
        shape
        for shape in profile.shapes
        if isinstance(shape.path.parts[0], str) and len(shape.path.parts[0]) > 1
    ]


def _generator(page: PageSigns, sign: Sign) -> str | None:
    """Return the version in the generator, or ""; None if it is another program's."""
    matches = _matcher(f"{sign.text.lower()}*")
    for generator in page.generators:
        if matches(generator.lower()):
            return generator[len(sign.text) :].lstrip(" /vV") if "*" not in sign.text else ""
    return None


def _header(page: PageSigns, sign: Sign) -> str | None:
    matches = _matcher(sign.value.lower())
    for name, value in page.headers:
        if name == sign.text.lower() and matches(value.lower()):
            return ""
    return None


def _cookie(page: PageSigns, sign: Sign) -> str | None:
    return "" if any(map(_matcher(sign.text), page.cookies)) else None


def _title(page: PageSigns, sign: Sign) -> str | None:
    return "" if _matcher(f"{sign.text}*")(page.title) else None


def _link(page: PageSigns, sign: Sign) -> str | None:
    return "" if sign.text in page.links else None


def _asset(page: PageSigns, sign: Sign) -> str | None:
    """Return the directory that contains the asset, or "" for another host."""
    start = f"/{sign.text.partition('*')[0]}"
    matches = _matcher(f"/{sign.text}*")
    for paths, is_here in ((page.assets, True), (page.foreign_assets, False)):
        for path in paths:
            position = path.find(start)
            if position >= 0 and matches(path[position:]):
                return path[: position + 1] if is_here else ""
    return None


def _element(page: PageSigns, sign: Sign) -> str | None:
    for name, value in sign.attributes.items():
        # The usual case: one search in all values tells that no element matches.
        if _literal(value) not in page.elements.values(sign.text, name):
            return None
    for element in page.elements.named(sign.text):
        if all(
            _has(page.elements.value(element, name), name, _matcher(value))
            for name, value in sign.attributes.items()
        ):
            return ""
    return None


@cache
def _literal(pattern: str) -> str:
    """Return the longest literal text in *pattern*."""
    return max(pattern.split("*"), key=len)


def _has(given: str | None, name: str, matches: Callable[[str], bool]) -> bool:
    if given is None:
        return False
    return any(map(matches, given.split())) if name == "class" else matches(given)


_FINDERS = {
    "generator": _generator,
    "header": _header,
    "cookie": _cookie,
    "asset": _asset,
    "element": _element,
    "title": _title,
    "link": _link,
}
