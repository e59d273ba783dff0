"""Servers of programs: PHP, CGI, web servers, databases."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.programs.program import Place

_WORKERS = 3
_LIGHTTPD = """\
server.document-root = "{root}"
server.port = {port}
server.bind = "127.0.0.1"
server.modules = ("mod_setenv", "mod_alias", "mod_cgi", "mod_dirlisting", "mod_rewrite")
server.upload-dirs = ("{folder}")
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html", ".txt" => "text/plain", ".css" => "text/css",
  ".png" => "image/png", ".svg" => "image/svg+xml", ".js" => "text/javascript",
  ".gz" => "application/gzip", "" => "application/octet-stream")
{more}
"""


def php(
    place: Place, root: Path, router: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """Serve *root* with PHP's own server."""
    more = [router] if router else []
    place.start(
        *("php", "-d", "memory_limit=512M", "-d", "display_errors=0", "-d", "log_errors=0"),
        *("-S", f"127.0.0.1:{place.port}", "-t", root, *more),
        env={"PHP_CLI_SERVER_WORKERS": str(_WORKERS), **(env or {})},
    )


def lighttpd(place: Place, root: Path, more: str = "") -> None:
    """Serve *root* with lighttpd, with *more* in its configuration."""
    text = _LIGHTTPD.format(root=root, port=place.port, folder=place.folder, more=more)
    place.start("/usr/sbin/lighttpd", "-D", "-f", place.write("lighttpd.conf", text))


def cgi(place: Place, script: str, env: Mapping[str, str]) -> None:
    """Serve the CGI program *script* at ``/``, with lighttpd."""
    lines = ", ".join(f'"{name}" => "{value}"' for name, value in env.items())
    root = place.folder / "empty"
    root.mkdir(exist_ok=True)
    lighttpd(
        place,
        root,
        f"setenv.set-environment = ({lines})\n"
        f'alias.url = ("/static/" => "/usr/share/", "/" => "{script}/")\n'
        '$HTTP["url"] !~ "^/static/" { cgi.assign = ("" => "") }',
    )


def mariadb(place: Place) -> Path:
    """Start a database server of the folder; return its socket."""
    data = place.folder / "mariadb"
    socket = place.folder / "mariadb.sock"
    who = ["--user=root"] if os.geteuid() == 0 else []
    if not data.exists():
        place.run(
            *("mariadb-install-db", "--no-defaults", f"--datadir={data}", *who),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
        )
    socket.unlink(missing_ok=True)
    place.start(
        *("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket}", *who),
        *(
            "--skip-networking",
            "--innodb-buffer-pool-size=64M",
            "--innodb-flush-log-at-trx-commit=0",
        ),
        f"--pid-file={place.folder / 'mariadb.pid'}",
    )
    place.run(
        *("mariadb-admin", "--no-defaults", f"--socket={socket}", "--user=root"),
        *("--wait=60", "--connect-timeout=60", "--silent", "ping"),
    )
    return socket


def php_with_database(place: Place) -> dict[str, str]:
    """Return what lets PHP find the database of the folder at ``localhost``."""
    socket = place.folder / "mariadb.sock"
    names = ("mysqli.default_socket", "pdo_mysql.default_socket")
    place.write("php/socket.ini", "".join(f"{name}={socket}\n" for name in names))
    return {"PHP_INI_SCAN_DIR": f":{place.folder / 'php'}"}
