"""Options for the path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path, lower_case
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, PathRule, Presets, distinct
from scrapy_urlcanon.canonicalizer.rules.param_names import names_in_path
from scrapy_urlcanon.canonicalizer.values import Choice, NameList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting


class DuplicateSlashes(PathRule):
    """Collapse several slashes in a row into one.

    What it does: ``//`` in the path becomes ``/``, except after a colon, where a URL may be
    embedded in the path.

    Why it is safe: servers that map paths to files ignore the difference, and the second slash
    usually comes from a template that joined two parts carelessly.

    When it is wrong: an empty segment means something, as in some archives, proxies and object
    stores, whose keys may contain ``//``.
    """

    name = "duplicate_slashes"
    values = Choice(("keep", "collapse"))
    neutral = "keep"
    presets = Presets(aggressive="collapse")
    place = 220
    classical = (Classical("Duplicate slashes", "http://example.com/foo//bar", value="collapse"),)
    changes = (Example("collapse", "http://example.com//a///b", "http://example.com/a/b"),)
    keeps = (
        Example(
            "collapse",
            "http://web.example/save/http://example.com/",
            "http://web.example/save/http://example.com/",
        ),
        Example("collapse", "http://example.com/?a=%2F%2F", "http://example.com/?a=%2F%2F"),
    )

    # Compiled where there are any.
    _several = "(?<!:)//+"

    def path(self, path: str) -> str:
        return re.sub(self._several, "/", path) if "//" in path else path


class DirectoryIndex(PathRule):
    """Treat a directory and its index file as one.

    What it does: drops the last segment of the path if it is exactly one of these file names; the
    slash before it stays.

    Why it is safe: on a server configured that way, ``/`` and ``/index.html`` are the same file,
    and sites link both.

    When it is wrong: something other than that file answers for the directory: of ``index.html``
    and ``index.php`` in one directory, only one is its index.
    """

    name = "directory_index"
    values = NameList()
    neutral = ()
    presets = Presets(
        aggressive=[
            "index.html",
            "index.htm",
            "index.php",
            "index.asp",
            "index.aspx",
            "index.jsp",
            "default.html",
            "default.htm",
            "default.asp",
            "default.aspx",
        ]
    )
    place = 240
    classical = (
        Classical(
            "Directory index",
            "http://example.com/a/default.asp",
            value=["index.html", "default.asp"],
        ),
    )
    changes = (
        Example(["index.html"], "http://example.com/a/index.html", "http://example.com/a/"),
        Example(["index.*"], "http://example.com/index.php?id=1", "http://example.com/?id=1"),
    )
    keeps = (
        Example(
            ["index.html"], "http://example.com/myindex.html", "http://example.com/myindex.html"
        ),
        Example(
            ["index.html"], "http://example.com/index.html/a", "http://example.com/index.html/a"
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = names_in_path(
            options, (entry._replace(pattern=encode_path(entry.pattern)) for entry in self.value)
        )

    @classmethod
    def is_usual(cls, name: str) -> bool:
        return "." in name

    @property
    def exact_names(self) -> frozenset[str] | None:
        """The names of files that are dropped; None where they cannot be counted."""
        return self._names.exact

    def path(self, path: str) -> str:
        directory, _, name = path.rpartition("/")
        return directory + "/" if name in self._names else path

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct((self._names.cause_of(before.path.rpartition("/")[2]),))


class TrailingSlash(PathRule):
    """Treat ``/a`` and ``/a/`` as one.

    What it does: ``strip`` drops the slashes at the end of the path. ``add`` adds one, unless the
    last segment looks like a file (it contains a dot). The path ``/`` stays.

    Why it is safe: most frameworks answer both, or redirect one to the other.

    When it is wrong: on a server that maps paths to files, ``/a`` may be a file and ``/a/`` a
    directory; or only one of the two exists and the other is a 404.
    """

    name = "trailing_slash"
    values = Choice(("keep", "strip", "add"))
    neutral = "keep"
    presets = Presets(aggressive="strip")
    place = 250
    classical = (
        Classical("Trailing slash: strip", "http://example.com/foo/", value="strip"),
        Classical("Trailing slash: add", "http://example.com/foo", value="add"),
    )
    changes = (
        Example("strip", "http://example.com/a/", "http://example.com/a"),
        Example("add", "http://example.com/a?b=1", "http://example.com/a/?b=1"),
    )
    keeps = (
        Example("strip", "http://example.com/", "http://example.com/"),
        Example("add", "http://example.com/a.html", "http://example.com/a.html"),
    )

    def path(self, path: str) -> str:
        if self.value == "strip":
            return path.rstrip("/") or "/"
        last = path.rpartition("/")[2]
        return path + "/" if last and "." not in last else path


class PathCase(PathRule):
    """Write the path in lower case.

    What it does: ``/Alexander`` becomes ``/alexander``, and ``/%C3%89t%C3%A9`` (``/Été``) becomes
    ``/%C3%A9t%C3%A9``. Letters percent-encoded in another encoding than UTF-8 keep their case.

    Why it is safe: where the server ignores case, as IIS on Windows does, sites link one page in
    several spellings.

    When it is wrong: nearly everywhere else. ``/ALexander`` and ``/Alexander`` are two articles of
    a wiki, and short links differ in nothing but case.
    """

    name = "path_case"
    values = Choice(("keep", "lower"))
    neutral = "keep"
    place = 230
    classical = (Classical("Case of the path", "http://example.com/About.ASPX", value="lower"),)
    changes = (
        Example("lower", "http://example.com/A/B.aspx?C=D", "http://example.com/a/b.aspx?C=D"),
        Example("lower", "http://example.com/%C3%89", "http://example.com/%C3%A9"),
    )
    keeps = (Example("lower", "http://example.com/a%C9%2F", "http://example.com/a%C9%2F"),)

    def path(self, path: str) -> str:
        return lower_case(path)


class CookielessSession(PathRule):
    """Drop the session id that ASP.NET puts into the path.

    What it does: drops a segment like ``(S(lit3py55t21z5v55vlm25s55))``, which may hold ``A``,
    ``F``, ``S`` and ``X``, each with its value. A segment of 24 letters and digits in parentheses,
    the form of the first release, is dropped if another segment follows.

    Why it is safe: the server removes it before anything else sees the path, and gives each visitor
    without cookies a new one; a crawler may get one for every link.

    When it is wrong: no other server is known to make such segments.
    """

    name = "cookieless_session"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    place = 205
    classical = (
        Classical(
            "Session id of ASP.NET in the path",
            "http://example.com/(S(lit3py55t21z5v55vlm25s55))/a.aspx",
            value="drop",
        ),
    )
    changes = (
        Example(
            "drop",
            "http://example.com/shop/(A(x1)S(lit3py55t21z5v55vlm25s55))/a.aspx",
            "http://example.com/shop/a.aspx",
        ),
        Example(
            "drop",
            "http://example.com/(lit3py55t21z5v55vlm25s55)/a.aspx",
            "http://example.com/a.aspx",
        ),
    )
    keeps = (
        Example("drop", "http://example.com/Plan_(S)/a", "http://example.com/Plan_(S)/a"),
        Example("drop", "http://example.com/(S(x1))", "http://example.com/(S(x1))"),
    )

    # Compiled where there may be one.
    _segment = r"/\((?:(?:[AFSX]\([A-Za-z0-9_-]+\))+|[a-z0-9]{24})\)(?=/)"

    def path(self, path: str) -> str:
        return re.sub(self._segment, "", path) if "/(" in path else path


class PathParams(PathRule):
    """Drop parameters from the path.

    What it does: drops what follows a ``;`` in a segment of the path (RFC 3986, 3.3) if its name,
    up to a ``=``, is on the list. ``*`` stands for any text.

    Why it is safe: servers put the session id there for visitors without cookies
    (``;jsessionid=``), and a crawler may get a new one on every page.

    When it is wrong: the parameter selects content, like the version of a document or the layer of
    a map.
    """

    name = "path_params"
    values = NameList()
    neutral = ()
    presets = Presets(aggressive=["jsessionid", "JSESSIONID", "phpsessid", "PHPSESSID"])
    place = 210
    classical = (
        Classical(
            "Session id in the path",
            "http://example.com/a;jsessionid=0A1B?id=1",
            value=["jsessionid"],
        ),
    )
    changes = (
        Example(
            ["jsessionid"],
            "http://example.com/a;jsessionid=0A1B?id=1",
            "http://example.com/a?id=1",
        ),
        Example(
            ["sid", "utm_*"],
            "http://example.com/a;sid=1;v=2/b;utm_x",
            "http://example.com/a;v=2/b",
        ),
    )
    keeps = (
        Example(["jsessionid"], "http://example.com/a;v=1.1", "http://example.com/a;v=1.1"),
        Example(["sid"], "http://example.com/a;SID=1", "http://example.com/a;SID=1"),
        Example(
            ["*"], "http://example.com/a%3Bjsessionid=1", "http://example.com/a%3Bjsessionid=1"
        ),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._names = names_in_path(options, self.value)

    def path(self, path: str) -> str:
        if ";" not in path:
            return path
        return "/".join(map(self._without_listed, path.split("/")))

    def _without_listed(self, segment: str) -> str:
        start, *parameters = segment.split(";")
        kept = (p for p in parameters if _name(p) not in self._names)
        return ";".join((start, *kept))

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        pieces = (p for segment in before.path.split("/") for p in segment.split(";")[1:])
        return distinct(self._names.cause_of(_name(piece)) for piece in pieces)


def _name(path_parameter: str) -> str:
    return unquote(path_parameter.partition("=")[0])
