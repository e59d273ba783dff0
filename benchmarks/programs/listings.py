"""Listings of folders, by Apache, nginx, with its fancyindex too, lighttpd and rclone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.program import Program

if TYPE_CHECKING:
    from benchmarks.programs.program import Place

_FOLDERS = 25
_APACHE = """\
ServerRoot "{folder}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{folder}/apache.pid"
ErrorLog "{folder}/apache.log"
{user}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule autoindex_module /usr/lib/apache2/modules/mod_autoindex.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
TypesConfig /etc/mime.types
DocumentRoot "{folder}/files"
<Directory "{folder}/files">
  Options +Indexes
  IndexOptions FancyIndexing
  Require all granted
</Directory>
"""
_FANCYINDEX = "/usr/lib/nginx/modules/ngx_http_fancyindex_module.so"
_NGINX = """\
{module}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
{user}
events {{ }}
http {{
  include /etc/nginx/mime.types;
  access_log off;
  client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
  uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; {listing} on; }}
}}
"""


def fill_with_files(place: Place, seed: int) -> None:
    """Make a tree of folders and text files below ``files``."""
    writer = Writer(seed)
    random = writer.random
    folders = ["files"]
    for _ in range(_FOLDERS):
        folders.append(f"{random.choice(folders[-8:])}/{writer.word()}")
    for folder in folders:
        for _ in range(random.randint(2, 8)):
            if random.random() < 0.2:  # noqa: PLR2004
                file = place.write(f"{folder}/{writer.word()}.gz", random.randbytes(4000))
            else:
                text = "\n\n".join(writer.paragraphs())
                file = place.write(f"{folder}/{writer.word()}.txt", text)
            time = EPOCH + random.randrange(900 * DAY)
            os.utime(file, (time, time))


def _is_root() -> bool:
    return os.geteuid() == 0


def _serve_apache(place: Place) -> None:
    user = "User www-data\nGroup www-data" if _is_root() else ""
    text = _APACHE.format(folder=place.folder, port=place.port, user=user)
    place.start("/usr/sbin/apache2", "-D", "FOREGROUND", "-f", place.write("apache.conf", text))


def _serve_nginx(place: Place, listing: str = "autoindex", module: str = "") -> None:
    text = _NGINX.format(
        folder=place.folder,
        port=place.port,
        user="user root;" if _is_root() else "",
        listing=listing,
        module=module,
    )
    place.start("/usr/sbin/nginx", "-c", place.write("nginx.conf", text))


def _serve_fancyindex(place: Place) -> None:
    _serve_nginx(place, "fancyindex", f"load_module {_FANCYINDEX};")


def _serve_lighttpd(place: Place) -> None:
    servers.lighttpd(place, place.folder / "files", 'dir-listing.activate = "enable"')


def _serve_rclone(place: Place) -> None:
    place.start(
        *("rclone", "--config", place.write("rclone.conf", "")),
        *("serve", "http", "--addr", f"127.0.0.1:{place.port}", place.folder / "files"),
    )


PROGRAMS = (
    Program(
        "apache",
        "Apache's listings",
        "listing",
        lambda place: fill_with_files(place, 21),
        _serve_apache,
        ("apache2",),
        "apache2",
    ),
    Program(
        "nginx",
        "nginx' listings",
        "listing",
        lambda place: fill_with_files(place, 22),
        _serve_nginx,
        ("nginx",),
        "nginx-light",
    ),
    Program(
        "fancyindex",
        "nginx' fancyindex listings",
        "listing",
        lambda place: fill_with_files(place, 24),
        _serve_fancyindex,
        ("nginx", _FANCYINDEX),
        "nginx-light libnginx-mod-http-fancyindex",
    ),
    Program(
        "lighttpd",
        "lighttpd's listings",
        "listing",
        lambda place: fill_with_files(place, 23),
        _serve_lighttpd,
        ("lighttpd",),
        "lighttpd",
    ),
    Program(
        "rclone",
        "rclone's listings",
        "listing",
        lambda place: fill_with_files(place, 25),
        _serve_rclone,
        ("rclone",),
        "rclone",
    ),
)
