"""``scrapy urlcanon seen``: lists, prunes and fills a store of the pages of earlier runs."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing, nullcontext
from datetime import datetime, timezone
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from scrapy_urlcanon.commands.base import Action, domain_of_argument, lines_of_input
from scrapy_urlcanon.crawl.earlier.store import SeenPages
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.files import mode_of
from scrapy_urlcanon.redaction import redact, visible
from scrapy_urlcanon.wording import count_of, seconds_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from scrapy.settings import Settings


class Seen(Action):
    """Manage the file of ``URLCANON_SEEN``."""

    place = 80
    name = "seen"
    help = "list, prune or fill the store of the pages that earlier runs got"
    description = """\
Manage the file of URLCANON_SEEN: the pages that earlier runs got, and that are not fetched
again. A file to import has one URL per line, or JSON with "url", as Scrapy's feeds of JSON and
JSON Lines do; - is standard input. With both --domain and --older, pages have to match both.

  scrapy urlcanon seen list seen.db --domain shop.example
  scrapy urlcanon seen prune seen.db --older 30d
  scrapy urlcanon seen import seen.db items.jsonl
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "what",
            choices=("list", "prune", "import"),
            metavar="{list,prune,import}",
            help="list the pages, forget some of them, or add those in files",
        )
        parser.add_argument("store", type=Path, metavar="STORE", help="the file of URLCANON_SEEN")
        parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="a file to import")
        parser.add_argument("--domain", help="only the pages of this registrable domain")
        parser.add_argument(
            "--older",
            metavar="TIME",
            help="only pages that were got longer ago than this, such as 12h or 30d",
        )

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        del settings
        what, path = arguments.what, arguments.store
        before = None if arguments.older is None else time.time() - _seconds_of(arguments.older)
        if what == "prune" and before is None and arguments.domain is None:
            raise UsageError("say what to remove: --domain, --older or both")
        if bool(arguments.files) is not (what == "import"):
            raise UsageError("import takes the files to import, and nothing else does")
        try:
            if what == "import":
                return _import(path, arguments.files)
            mode = mode_of(path)
            if not S_ISREG(mode):
                reason = "expected a file, not a directory" if S_ISDIR(mode) else "no such file"
                raise UsageError(f"{path}: {reason}")
            with closing(SeenPages(path)) as store:
                return _run(store, arguments, before)
        except ConfigurationError as error:
            # The message alone: here the store is named by an argument, not by a setting.
            (problem,) = error.problems
            raise UsageError(problem.message) from error
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, OSError) and error.filename is None:
                # The output cannot be written; the store is fine.
                raise
            raise UsageError(f"{path}: {error}") from error


def _seconds_of(older: str) -> float:
    """Return the value of ``--older`` in seconds.

    :raises UsageError: if it is not a time, or has no unit.
    """
    seconds = seconds_of(older)
    # Without a unit it would be seconds: 30 instead of 30d would remove nearly everything.
    if seconds is None or not older.strip()[-1:].isalpha():
        raise UsageError(
            f"--older: expected a time with its unit, such as 12h or 30d, got {older!r}"
        )
    return seconds


def _run(store: SeenPages, arguments: argparse.Namespace, before: float | None) -> int:
    domain = None if arguments.domain is None else domain_of_argument(arguments.domain)
    if arguments.what == "list":
        for at, url in store.list(domain, before):
            when = datetime.fromtimestamp(at, timezone.utc).isoformat(" ", "seconds")
            print(when.removesuffix("+00:00"), visible(redact(url)))
    else:
        removed = store.prune(domain, before)
        print(f"Removed {count_of(removed, 'page')}.")
    return 0


def _import(path: Path, files: Iterable[str]) -> int:
    is_new = not path.exists()
    store = SeenPages(path)
    added = 0
    try:
        added = store.add_urls(_urls(files))
    finally:
        store.close()
        if is_new and not added:
            # An empty store would hide that nothing was imported.
            path.unlink()
    print(f"Imported {count_of(added, 'URL')}; the next crawl finds out which pages they are.")
    return 0


def _urls(files: Iterable[str]) -> Iterator[str]:
    """Yield the URLs in *files*.

    :raises UsageError: if a file cannot be read, or a line has no URL.
    """
    for name in files:
        try:
            with (
                nullcontext(lines_of_input())
                if name == "-"
                else Path(name).open(encoding="utf-8-sig") as file
            ):
                for number, line in enumerate(map(str.strip, file), 1):
                    # A JSON feed of Scrapy is a list with one item per line.
                    if line and line not in {"[", "]"}:
                        yield _url(line, f"{name}:{number}")
        except UnicodeDecodeError as error:
            raise UsageError(f"{name}: expected text in UTF-8") from error
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"{name}: cannot be read: {reason}") from error


def _url(line: str, place: str) -> str:
    url = line
    if line.startswith("{"):
        try:
            url = json.loads(line.removesuffix(","))["url"]
        except (KeyError, RecursionError, ValueError):
            url = ""
    # Half of a surrogate pair cannot be encoded, so it cannot be stored.
    is_text = isinstance(url, str) and url == url.encode(errors="replace").decode()
    if not is_text or not url[:8].lower().startswith(("http://", "https://")):
        raise UsageError(f"{place}: expected a URL, or JSON with 'url'")
    return url
