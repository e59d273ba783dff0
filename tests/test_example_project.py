"""The example project, and what `make demo` shows of it."""

import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO

import pytest
from command_line import EXAMPLE_PROJECT, scrapy
from demo import main


def demo_of_the_small_shop():
    """Return what the demo prints of the shop of all tests, in this process."""
    with redirect_stdout(StringIO()) as printed:
        assert main() == 0, printed.getvalue()
    return printed.getvalue()


def demo_as_it_is_run():
    """Return what the demo prints where `make demo` runs it."""
    result = subprocess.run(
        [sys.executable, "demo.py"],
        cwd=EXAMPLE_PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(
    scope="module",
    params=[demo_of_the_small_shop, pytest.param(demo_as_it_is_run, marks=pytest.mark.long)],
)
def demo(request):
    """Return what the demo prints."""
    return request.param()


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
    assert re.search(r"Learned from [\d,]{3,} URLs: \d+ rules", demo)
    assert 'drop_params: ["sid"]' in demo
    (command,) = [line for line in demo.splitlines() if "urlcanon explain" in line]
    arguments = shlex.split(command)[1:]
    explained = scrapy(*arguments, cwd=EXAMPLE_PROJECT)
    assert "Same canonical URL." in explained.stdout
    assert "drop_params (URLCANON_RULES['shop.example/forum/']" in explained.stdout


@pytest.mark.long
def test_readme_shows_what_the_demo_prints():
    """Each row of its table is one of the demo, which crawls one request at a time."""
    text = (EXAMPLE_PROJECT.parent / "README.md").read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if re.match(r"│ \w", line)]
    assert len(shown) == 2
    assert {*shown} <= {*demo_as_it_is_run().splitlines()}
