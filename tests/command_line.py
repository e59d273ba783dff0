"""Runs ``scrapy urlcanon`` as a user does, and makes observations for it."""

import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from threading import Timer

import pytest
from scrapy.cmdline import execute

ROOT = Path(__file__).parents[1]
EXAMPLE_PROJECT = ROOT / "example_project"
HEADER = "url\tstatus\tmain_sha1"


def urlcanon(*arguments, cwd, environment=(), stdin="", columns="100", encoding="utf-8"):
    """Run one action in this process; return what a process of its own would have returned.

    :param stdin: what it reads; as bytes where that is perhaps no text.
    :param encoding: that of its standard output.
    """
    argv = ["scrapy", "urlcanon", *map(str, arguments)]
    out, err = io.TextIOWrapper(io.BytesIO(), encoding), io.StringIO()
    with (
        _as_process(cwd, {"COLUMNS": columns, **dict(environment)}, stdin),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        execute(list(argv))
    out.seek(0)
    return subprocess.CompletedProcess(argv, ended.value.code, out.read(), err.getvalue())


def scrapy(*arguments, cwd, environment=(), stdin="", columns="100"):
    """Run the command line of Scrapy in a process of its own, as for a crawl."""
    own = {"COLUMNS": columns, **dict(environment)}
    return ScrapyProcess(*arguments, cwd=cwd, environment=own, stdin=stdin).wait()


def run_warm(command, *, cwd, env, check):
    """Do as ``subprocess.run`` for a *command* that runs Scrapy with Python."""
    assert check
    scrapy(*command[command.index("scrapy") + 1 :], cwd=cwd, environment=env).check_returncode()


class ScrapyProcess:
    """The command line of Scrapy in a process of its own, which runs beside others.

    It begins with all that is imported (:mod:`warm_scrapy`).

    :param streams: the paths of other files for its standard input and output. It opens the input
        last, so that it waits where that is a pipe which nobody writes to yet.
    """

    def __init__(self, *arguments, cwd, environment=(), stdin="", streams=()):
        inherited = {k: v for k, v in os.environ.items() if k != "SCRAPY_SETTINGS_MODULE"}
        self._arguments = [*map(str, arguments)]
        self._directory = tempfile.TemporaryDirectory()
        self._files = [Path(self._directory.name, name) for name in ("in", "out", "err")]
        self._files[0].write_text(stdin, encoding="utf-8")
        self._files[1].touch()
        self.pid = _ask(
            {
                "arguments": self._arguments,
                "cwd": str(Path(cwd).resolve()),
                "environment": inherited | {"PYTHONPATH": str(ROOT)} | dict(environment),
                "files": [*map(str, [*streams, *self._files[len(streams) :]])],
            }
        )

    def send_signal(self, number):
        """Send it a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self):
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds=3600):
        """Wait for its end, or kill it, and return its status and what it wrote."""
        late = Timer(seconds, self.kill)
        late.start()
        status = _ask(self.pid)
        late.cancel()
        with self._directory:
            _, out, err = (file.read_text(encoding="utf-8") for file in self._files)
        return subprocess.CompletedProcess(self._arguments, status, out, err)


def as_arguments(settings):
    """Return the arguments by which a command has these *settings*."""
    for name, value in settings.items():
        yield from ("-s", f"{name}={value if isinstance(value, str) else json.dumps(value)}")


def _ask(what):
    """Return the number that the process that runs the commands answers with."""
    warm = _warm_scrapy()
    print(json.dumps(what), file=warm.stdin, flush=True)
    return int(warm.stdout.readline())


@cache
def _warm_scrapy():
    """Return the process that runs the commands; it ends with its input, so with this process."""
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("warm_scrapy.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _as_process(cwd, environment, stdin):
    """Go to *cwd*, with the project and the environment of that directory only."""
    with pytest.MonkeyPatch.context() as patch:
        # What Scrapy sets itself, so that it is undone.
        patch.setenv("SCRAPY_SETTINGS_MODULE", "")
        patch.delenv("SCRAPY_SETTINGS_MODULE")
        for name, value in environment.items():
            patch.setenv(name, value)
        is_text = isinstance(stdin, str)
        file = io.StringIO(stdin) if is_text else io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        patch.setattr("sys.stdin", file)
        patch.setattr("sys.path", [str(cwd), *sys.path])
        patch.chdir(cwd)
        with _without_project():
            yield


@contextmanager
def _without_project():
    """Forget the modules of a project, so that they are imported again from the disk."""
    others = {name: sys.modules.pop(name) for name in _modules_of_project()}
    importlib.invalidate_caches()
    yield
    for name in _modules_of_project():
        del sys.modules[name]
    sys.modules.update(others)


def _modules_of_project():
    return [name for name in sys.modules if name.split(".")[0] == "shop_crawler"]


def rows(domain="shop.example", *, parameter="sid", pages=30):
    """Return lines of TSV: each page with and without *parameter*."""
    for number in range(pages):
        yield f"http://{domain}/{number}\t200\t{number:040x}"
        yield f"http://{domain}/{number}?{parameter}={number + 1}\t200\t{number:040x}"
