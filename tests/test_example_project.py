"""The example project, run as `make demo` runs it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "example_project"


@pytest.fixture(scope="module")
def demo():
    """Return what the demo prints."""
    result = subprocess.run(
        [sys.executable, "demo.py"], cwd=EXAMPLE, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_demo_shows_fewer_requests_and_the_same_pages(demo):
    """The demo crawls with the plugin off and on, and proves that no page is lost."""
    assert "Nothing is lost: both crawls have fetched the same" in demo
    (row,) = [line for line in demo.splitlines() if "requests that the site" in line]
    off, on = (int(cell.replace(",", "")) for cell in row.strip("│ ").split("│")[1:3])
    assert on < off / 2
    for option in ("tracking_params", "drop_params", "directory_index", "www", "trailing_slash"):
        assert option in demo


def test_demo_shows_a_rule_what_was_learned_and_the_next_step(demo):
    """The rule is that of the project, the URLs are of the site, and the last command runs."""
    assert "URLCANON_RULES = {'shop.example/forum/': {'drop_params': ['sid']}}" in demo
    assert re.search(r"Learned from 1,\d\d\d URLs: \d+ rules", demo)
    assert 'drop_params: ["sid"]' in demo
    (command,) = [line for line in demo.splitlines() if "urlcanon explain" in line]
    arguments = shlex.split(command)[1:]
    explained = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "They are one." in explained.stdout
    assert "drop_params (URLCANON_RULES['shop.example/forum/']" in explained.stdout
