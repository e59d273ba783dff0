"""Lists the programs, or runs one: ``python -m benchmarks.programs mediawiki --serve``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from signal import SIGTERM, signal
from threading import Event

from benchmarks.programs.catalogue import ABSENT, PROGRAMS
from benchmarks.programs.program import Unavailable


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to start; none: list all")
    parser.add_argument("--serve", action="store_true", help="leave it running until Ctrl-C")
    parser.add_argument("--fill", action="store_true", help="fill it again, if it is filled")
    parser.add_argument("--folder", type=Path, help="where filled programs are kept")
    options = parser.parse_args()
    if not options.names:
        show()
        return 0
    if unknown := set(options.names) - set(PROGRAMS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    signal(SIGTERM, lambda *_: sys.exit(1))
    failed = 0
    for name in options.names:
        try:
            with PROGRAMS[name].started(options.folder, again=options.fill) as url:
                print(f"{name}: {url}", flush=True)
                if options.serve:
                    wait()
        except Unavailable as error:
            failed = 1
            print(f"{name}: {error}", flush=True)
    return failed


def wait() -> None:
    """Return when Ctrl-C is pressed."""
    print("Ctrl-C ends it.", flush=True)
    try:
        Event().wait()
    except KeyboardInterrupt:
        print()


def show() -> None:
    """Print what there is."""
    for program in PROGRAMS.values():
        missing = program.missing()
        needs = f"; needs {program.packages} ({', '.join(missing)} missing)" if missing else ""
        print(f"{program.name:14} {program.title}, {program.kind}, port {program.port}{needs}")
    print("\nNot to be had:")
    for title, reason in ABSENT.items():
        print(f"{title}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
