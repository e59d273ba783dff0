"""Runs Scrapy's command line in forked processes, in which everything is imported already.

``python warm_scrapy.py`` reads a line of JSON for each command: its arguments, working directory
and environment, and the paths of its standard input, output and error. It forks, and writes the
process id of the copy. If it reads such an id, it waits for that copy and writes its exit status.
For most commands in tests, importing Scrapy takes most of the time.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import sys
import threading
from importlib import import_module
from pkgutil import walk_packages

import scrapy.cmdline
from quick_scrapy import keep_commands
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import scrapy_urlcanon

_MANY = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "DOWNLOAD_HANDLERS")
_ONE = ("DOWNLOADER", "SCHEDULER", "SCHEDULER_PRIORITY_QUEUE", "DUPEFILTER_CLASS", "STATS_CLASS")


def import_all():
    """Import what commands and crawls import, but for a reactor: a process has only one."""
    settings = Settings()
    many = [settings[f"{name}_BASE"] for name in _MANY]
    paths = [*many[0], *many[1], *many[2], *many[3].values(), *map(settings.get, _ONE)]
    for path in paths:
        load_object(path)
    for package in (scrapy.commands, scrapy_urlcanon):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    keep_commands()
    assert "twisted.internet.reactor" not in sys.modules
    # Else the garbage collector would write to all of it, so that the copies copy it.
    gc.freeze()


def become(arguments, cwd, environment, files):
    """Become a process that was started with these, in the foreground."""
    # Which a shell has its background jobs ignore, and so all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor in (1, 2, 0):
        flags = os.O_WRONLY | os.O_CREAT if descriptor else os.O_RDONLY
        os.dup2(opened := os.open(files[descriptor], flags), descriptor)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        open(descriptor, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - they have no path
        for descriptor, mode in enumerate("rww")
    )
    sys.path[:0] = [cwd, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = ["scrapy", *arguments]
    status = 1
    try:
        runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code
        if isinstance(status, str):
            print(status, file=sys.stderr)  # noqa: T201
            status = 1
    except BaseException:  # noqa: BLE001 - its traceback is printed
        sys.excepthook(*sys.exc_info())
    end(status or 0)


def end(status):
    """End the process as Python does, but for giving back its memory.

    That would write to all that the copies have in common, and so copy it: two thirds of the time
    that most commands take.
    """
    threading._shutdown()  # it waits for the threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main():
    """Start commands, and wait for them."""
    import_all()
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, int):
            answer = os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1])
        else:
            answer = os.fork()
            if not answer:
                become(**asked)
        print(answer, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
