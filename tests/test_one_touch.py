"""What CONTRIBUTING.md says about adding is all that it takes: toys are added to a copy.

Options and sections of the report have tests of their own for that:
``tests/canonicalizer/test_rules.py`` and ``tests/report/test_sections.py``.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BEFORE = {
    "scrapy_urlcanon/crawl/stats.py": (
        '    UNPARSABLE = "unparsable"\n',
        '    TOY = "toy"\n    """Toys."""\n',
    ),
    "scrapy_urlcanon/crawl/settings.py": (
        "    configuration: Configuration = field()\n",
        '    toy: bool = _setting(_flag, default=False)\n    """Whether there are toys."""\n',
    ),
}
"""Lines that are put in, by file, and before what."""

NEW = {
    "scrapy_urlcanon/commands/toy.py": """
from scrapy_urlcanon.commands.base import Action

class Toy(Action):
    place = 45
    name = "toy"
    help = description = "play"

    def add_arguments(self, parser):
        parser.add_argument("name")

    def run(self, arguments, settings):
        print("played with", arguments.name)
        return 3
""",
}

PROGRAM = """
import json, sys
sys.path.insert(0, "tools")
from scrapy.settings import Settings
from tables import pages
from scrapy_urlcanon.crawl.settings import CrawlSettings
print(json.dumps({
    "pages": "".join(pages().values()),
    "setting": CrawlSettings.load(Settings({"URLCANON_TOY": "1"})).toy,
}))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs Python where a copy of the package with toys is."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("scrapy_urlcanon", "tools", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (line, added) in BEFORE.items():
        text = (copy / name).read_text(encoding="utf-8")
        assert text.count(line) == 1
        (copy / name).write_text(text.replace(line, added + line), encoding="utf-8")
    for name, text in NEW.items():
        (copy / name).write_text(text, encoding="utf-8")

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )

    return python


@pytest.fixture(scope="module")
def found(run):
    """Return what is known of the toys."""
    done = run("-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_stat_is_one_entry(found):
    """Its row in the table of the docs is made from it."""
    assert "| `urlcanon/toy` | toys |" in found["pages"]


def test_setting_is_one_attribute(found):
    """It is known, read and checked, and has its row in the table of the docs."""
    assert found["setting"] is True
    assert "| `URLCANON_TOY` | `False` | whether there are toys |" in found["pages"]


def test_command_is_one_class(run):
    """It is listed among the others, and runs."""
    assert "toy" in run("-m", "scrapy", "urlcanon", "--help").stdout
    done = run("-m", "scrapy", "urlcanon", "toy", "bear")
    assert (done.returncode, done.stdout) == (3, "played with bear\n"), done.stderr
