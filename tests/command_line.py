"""Runs ``scrapy urlcanon`` as a user does, and makes observations for it."""

import importlib
import io
import os
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
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
    own = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "COLUMNS": columns}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *map(str, arguments)],
        cwd=cwd,
        env=inherited | own | dict(environment),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
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
