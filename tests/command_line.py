"""Runs ``scrapy urlcanon`` as a user does, and makes observations for it."""

import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from scrapy.cmdline import execute

ROOT = Path(__file__).parents[1]
EXAMPLE_PROJECT = ROOT / "example_project"
HEADER = "url\tstatus\tmain_sha1"


def urlcanon(*arguments, cwd, environment=(), stdin="", columns="100"):
    """Run one action in this process, and return what a process of its own would have."""
    argv = ["scrapy", "urlcanon", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with (
        _as_process(cwd, {"COLUMNS": columns, **dict(environment)}, stdin),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        execute(list(argv))
    return subprocess.CompletedProcess(argv, ended.value.code, out.getvalue(), err.getvalue())


def scrapy(*arguments, cwd, environment=(), stdin="", columns="100"):
    """Run the command line of Scrapy in a process of its own, as for a crawl."""
    inherited = {k: v for k, v in os.environ.items() if k != "SCRAPY_SETTINGS_MODULE"}
    own = {"PYTHONPATH": str(ROOT), "COLUMNS": columns}
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory, name) for name in ("in", "out", "err")]
        files[0].write_text(stdin, encoding="utf-8")
        command = {
            "arguments": [*map(str, arguments)],
            "cwd": str(Path(cwd).resolve()),
            "environment": inherited | own | dict(environment),
            "files": [*map(str, files)],
        }
        warm = _warm_scrapy()
        print(json.dumps(command), file=warm.stdin, flush=True)
        status = int(warm.stdout.readline())
        _, out, err = (file.read_text(encoding="utf-8") for file in files)
    return subprocess.CompletedProcess(arguments, status, out, err)


@cache
def _warm_scrapy():
    """Return the process that runs the commands; it ends with its input, and so with this one."""
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("warm_scrapy.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _as_process(cwd, environment, stdin):
    """Go to *cwd*, with no project and no environment that is not its own."""
    with pytest.MonkeyPatch.context() as patch:
        # What Scrapy sets itself, so that it is undone.
        patch.setenv("SCRAPY_SETTINGS_MODULE", "")
        patch.delenv("SCRAPY_SETTINGS_MODULE")
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr("sys.stdin", io.StringIO(stdin))
        patch.setattr("sys.path", [str(cwd), *sys.path])
        patch.chdir(cwd)
        with _without_project():
            yield


@contextmanager
def _without_project():
    """Import the modules of a project anew, as they are on the disk now."""
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
