"""Crawls programs with and without what is known of them: ``python -m benchmarks.profiles``."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from signal import SIGTERM, signal
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.novelty.crawling import BREADTH_FIRST, PLUGIN, Crawled, Responses, Task, crawl
from benchmarks.profiles import page, proving
from benchmarks.profiles.comparing import missing, texts
from benchmarks.programs import catalogue
from benchmarks.programs.program import CACHE, Program, Unavailable

LIMIT = 3000
"""The most fetches of a crawl: some programs have endless URLs."""
_RECOGNISED = "urlcanon/profile/recognised/"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.profiles", description=__doc__)
    names = list(catalogue.PROGRAMS)
    parser.add_argument("--programs", nargs="*", choices=names, default=names)
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"fetches of each ({LIMIT:,})")
    parser.add_argument("--no-control", action="store_true", help="do not crawl a second time")
    parser.add_argument("--rules", action="store_true", help="compare what each rule merges alone")
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    parser.add_argument("--page", action="store_true", help="write the page of the docs")
    options = parser.parse_args()
    signal(SIGTERM, lambda *_: sys.exit(1))
    data: dict[str, Any] = {}
    if options.json and options.json.exists():
        data = json.loads(options.json.read_text(encoding="utf-8"))
    for name in options.programs:
        program = catalogue.PROGRAMS[name]
        try:
            if options.rules:
                met = prove(program, options.limit)
            else:
                found = measure(program, options.limit, control=not options.no_control)
        except Unavailable as error:
            print(f"{program.title}: {error}")
            continue
        if options.rules:
            print(f"{program.title}:", *map(proving.said, met), sep="\n", flush=True)
            data.setdefault(name, {})["rules"] = met
        else:
            print(said(found), flush=True)
            data[name] = {**data.get(name, {}), **found}
        if options.json:
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if options.page:
        page.write(data)
    return 0


def measure(program: Program, limit: int, *, control: bool) -> dict[str, Any]:
    """Crawl *program* without profiles, with them, and without again; compare the pages."""
    with program.started() as url, TemporaryDirectory() as folder:
        memory = _memory(program)
        off = _crawl(url, limit, memory, profiles=False)
        on = _crawl(url, limit, memory, profiles=True)
        before, after = texts(memory, off.urls), texts(memory, on.urls)
        noise: frozenset[str] = frozenset()
        again_missing = None
        if control:
            # This one asks the program anew: what differs is the program's doing.
            file = str(Path(folder) / "again.sqlite")
            again = texts(file, _crawl(url, limit, file, profiles=False).urls)
            again_missing = len(missing(before, again))
            noise = before.lines - again.lines
        lost = missing(before, after, noise)
    return {
        "title": program.title,
        "kind": program.kind,
        "recognised": sorted(
            key.removeprefix(_RECOGNISED) for key in on.stats if key.startswith(_RECOGNISED)
        ),
        "limit": limit,
        "off": {"fetches": len(off.urls), "texts": before.distinct},
        "on": {"fetches": len(on.urls), "texts": after.distinct},
        "lost": len(lost),
        "lost urls": lost[:20],
        "lost of the control": again_missing,
    }


def prove(program: Program, limit: int) -> list[dict[str, Any]]:
    """Crawl *program* without profiles, and compare what each of its rules would merge."""
    with program.started() as url:
        memory = _memory(program)
        return proving.proved(_crawl(url, limit, memory, profiles=False).urls, Responses(memory))


def _memory(program: Program) -> str:
    """Return the file with the responses of a program."""
    file = CACHE / "responses" / f"{program.name}.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    return str(file)


def _crawl(url: str, limit: int, memory: str, *, profiles: bool) -> Crawled:
    settings = {**PLUGIN, **BREADTH_FIRST, "URLCANON_PROFILES": profiles}
    return crawl(Task((url,), limit, settings, responses=memory))


def said(found: dict[str, Any]) -> str:
    """Return the figures of a program in a line."""
    off, on = found["off"], found["on"]
    return (
        f"{found['title']}: recognised {', '.join(found['recognised']) or 'nothing'};"
        f" {off['fetches']:,} fetches and {off['texts']:,} texts without,"
        f" {on['fetches']:,} and {on['texts']:,} with; lost {found['lost']}"
        f" (control {found['lost of the control']})"
    )


if __name__ == "__main__":
    sys.exit(main())
