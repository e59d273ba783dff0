"""Browsers of repositories: cgit, gitweb and ViewVC."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.program import CACHE, Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_REPOSITORIES = 4
_COMMITS = 40


def fill_with_git(place: Place, seed: int) -> None:
    """Make bare repositories in the folder ``git``, with branches, tags and folders."""
    writer = Writer(seed)
    for _ in range(_REPOSITORIES):
        name = writer.words(2).replace(" ", "-")
        folder = place.folder / "git" / f"{name}.git"
        folder.mkdir(parents=True)
        place.run("git", "init", "--quiet", "--bare", "--initial-branch=main", folder)
        place.run("git", "-C", folder, "fast-import", "--quiet", given=_stream(writer))
        (folder / "description").write_text(writer.words(5) + "\n")
        place.run("git", "-C", folder, "update-server-info")


def _stream(writer: Writer) -> str:
    """Return a history in the format of ``git fast-import``."""
    random = writer.random
    folders = ["", *(f"{writer.word()}/" for _ in range(4))]
    files: list[str] = []
    time = EPOCH
    parts = []
    for number in range(1, _COMMITS + 1):
        time += random.randrange(600, 9 * DAY)
        person = f"{writer.person()} <{writer.person().lower()}@example.org> {time} +0000"
        branch = "main" if number % 7 or number < 10 else "next"  # noqa: PLR2004
        parts.append(f"commit refs/heads/{branch}\nmark :{number}\ncommitter {person}")
        parts.append(_data(f"{writer.title(4)}\n\n{writer.paragraph()}\n"))
        if branch == "next":
            parts.append(f"merge :{number - 1}" if number > 20 else f"from :{number - 1}")  # noqa: PLR2004
        for _ in range(random.randint(1, 3)):
            if not files or random.random() < 0.5:  # noqa: PLR2004
                files.append(f"{random.choice(folders)}{writer.word()}.{random.choice('cpyh')}")
            lines = "\n".join(f"{writer.word()} = {writer.sentence()}" for _ in range(12))
            parts.append(f"M 644 inline {random.choice(files[-6:])}\n{_data(lines)}")
        if number % 15 == 0:
            parts.append(f"reset refs/tags/v{number // 15}.0\nfrom :{number}\n")
    return "\n".join(parts) + "\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"


_CGIT = Path("/usr/lib/cgit/cgit.cgi")
_GITWEB = Path("/usr/lib/cgi-bin/gitweb.cgi")
_VIEWVC = CACHE / "sources/viewvc"
_SYSTEM_PYTHON = Path("/usr/bin/python3")
"""The Python that Debian's bindings of Subversion are for."""
_BINDINGS = Path("/usr/lib/python3/dist-packages/svn")
_NO_PROPERTIES = "PROPS-END\n"


def _fill_cgit(place: Place) -> None:
    fill_with_git(place, 11)
    place.write(
        "cgitrc",
        "virtual-root=/\ncss=/static/cgit/cgit.css\nlogo=/static/cgit/cgit.png\n"
        "enable-index-links=1\nenable-log-filecount=1\nenable-log-linecount=1\n"
        f"enable-commit-graph=1\nsnapshots=tar.gz\nscan-path={place.folder / 'git'}\n",
    )


def _serve_cgit(place: Place) -> None:
    servers.cgi(place, str(_CGIT), {"CGIT_CONFIG": str(place.folder / "cgitrc")})


def _fill_gitweb(place: Place) -> None:
    fill_with_git(place, 12)
    place.write(
        "gitweb.conf",
        f'$projectroot = "{place.folder / "git"}";\n$site_name = "Example";\n'
        '$feature{"pathinfo"}{"default"} = [0];\n',
    )


def _serve_gitweb(place: Place) -> None:
    servers.cgi(place, str(_GITWEB), {"GITWEB_CONFIG": str(place.folder / "gitweb.conf")})


def _fill_viewvc(place: Place) -> None:
    repository = place.folder / "svn"
    place.run("svnadmin", "create", repository)
    place.run("svnadmin", "load", "--quiet", repository, given=_dump(Writer(13)))


def _dump(writer: Writer) -> str:
    """Return a history in the format of ``svnadmin dump``, with a branch and tags."""
    random = writer.random
    files: list[str] = []
    time = EPOCH
    parts = ["SVN-fs-dump-format-version: 2\n"]
    for number in range(1, _COMMITS + 1):
        time += random.randrange(600, 9 * DAY)
        date = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        said = {"svn:author": writer.person(), "svn:date": date, "svn:log": writer.paragraph()}
        parts.append(_record({"Revision-number": str(number)}, _properties(said)))
        if number == 1:
            parts += map(_folder, ("trunk", "branches", "tags"))
            folders = [f"trunk/{writer.word()}" for _ in range(4)]
            parts += map(_folder, folders)
        if number % 15 == 0:
            parts.append(_copy("trunk", f"tags/{number // 15}.0", number - 1))
        if number == _COMMITS // 2:
            parts.append(_copy("trunk", "branches/next", number - 1))
        for _ in range(random.randint(1, 3)):
            action = "change" if files and random.random() < 0.5 else "add"  # noqa: PLR2004
            if action == "add":
                files.append(
                    f"{random.choice(folders)}/{writer.word()}{number}.{random.choice('cpyh')}"
                )
            path = random.choice(files[-6:]) if action == "change" else files[-1]
            parts.append(_file(path, action, writer))
    return "\n".join(parts)


def _file(path: str, action: str, writer: Writer) -> str:
    lines = "\n".join(f"{writer.word()} = {writer.sentence()}" for _ in range(12))
    head = {"Node-path": path, "Node-kind": "file", "Node-action": action}
    return _record(head, _NO_PROPERTIES if action == "add" else "", f"{lines}\n")


def _folder(path: str) -> str:
    head = {"Node-path": path, "Node-kind": "dir", "Node-action": "add"}
    return _record(head, _NO_PROPERTIES)


def _copy(source: str, path: str, revision: int) -> str:
    head = {"Node-path": path, "Node-kind": "dir", "Node-action": "add"}
    return _record(
        {**head, "Node-copyfrom-rev": str(revision), "Node-copyfrom-path": source}, _NO_PROPERTIES
    )


def _record(head: dict[str, str], properties: str = "", text: str | None = None) -> str:
    lengths = {}
    if properties:
        lengths["Prop-content-length"] = str(len(properties.encode()))
    if text is not None:
        lengths["Text-content-length"] = str(len(text.encode()))
    content = properties + (text or "")
    lengths["Content-length"] = str(len(content.encode()))
    lines = "\n".join(f"{name}: {value}" for name, value in {**head, **lengths}.items())
    return f"{lines}\n\n{content}\n"


def _properties(values: dict[str, str]) -> str:
    lines = [
        f"{kind} {len(text.encode())}\n{text}\n"
        for pair in values.items()
        for kind, text in zip("KV", pair, strict=True)
    ]
    return "".join([*lines, _NO_PROPERTIES])


def _serve_viewvc(place: Place) -> None:
    place.start(
        *(_SYSTEM_PYTHON, _VIEWVC / "bin/standalone.py", "--host=127.0.0.1"),
        *(f"--port={place.port}", f"--repository={place.folder / 'svn'}"),
    )


PROGRAMS = (
    Program(
        "cgit",
        "cgit",
        "repository browser",
        _fill_cgit,
        _serve_cgit,
        ("git", "lighttpd", str(_CGIT)),
        "git lighttpd cgit",
    ),
    Program(
        "gitweb",
        "gitweb",
        "repository browser",
        _fill_gitweb,
        _serve_gitweb,
        ("git", "lighttpd", str(_GITWEB)),
        "git lighttpd gitweb libcgi-pm-perl",
    ),
    Program(
        "viewvc",
        "ViewVC",
        "repository browser",
        _fill_viewvc,
        _serve_viewvc,
        ("svnadmin", str(_BINDINGS), str(_VIEWVC)),
        "subversion python3-subversion",
        source="https://github.com/viewvc/viewvc at 1.3.0",
        path="/viewvc/",
    ),
)
