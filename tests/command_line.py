"""Runs ``scrapy urlcanon`` as a user does, and makes observations for it."""

import os
import subprocess
import sys

HEADER = "url\tstatus\tmain_sha1"


def urlcanon(*arguments, cwd, environment=()):
    """Run one action in a process of its own, and return what came of it."""
    inherited = {k: v for k, v in os.environ.items() if k != "SCRAPY_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "urlcanon", *map(str, arguments)],
        cwd=cwd,
        env=inherited | {"COLUMNS": "100"} | dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )


def rows(domain="shop.example", *, parameter="sid", pages=30):
    """Return lines of TSV: each page with and without *parameter*."""
    for number in range(pages):
        yield f"http://{domain}/{number}\t200\t{number:040x}"
        yield f"http://{domain}/{number}?{parameter}={number + 1}\t200\t{number:040x}"
