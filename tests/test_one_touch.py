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
    "scrapy_urlcanon/crawl/stats.py": {
        '    UNPARSABLE = "unparsable"\n': '    TOY = "toy"\n    """Toys."""\n',
    },
    "scrapy_urlcanon/crawl/settings.py": {
        "    def __init__(self, configuration: Configuration, **values: Any) -> None:\n": (
            "    toy: bool = _setting(read.flag, default=False)\n"
            '    """Whether there are toys."""\n'
        ),
    },
    "scrapy_urlcanon/learn/operations/parameters.py": {
        "@dataclass(frozen=True)\nclass DropRepeated(Operation):\n": """
from scrapy_urlcanon.canonicalizer.rules.param_names import ParamCase

@dataclass(frozen=True)
class LowerNames(Operation):
    option = ParamCase
    setting = "lower"
    handle = ANY

""",
    },
    "scrapy_urlcanon/learn/candidates/differences.py": {
        "from scrapy_urlcanon.learn.operations.paths import (\n": (
            "from scrapy_urlcanon.learn.operations.parameters import LowerNames\n"
        ),
        "    yield from _of_names(tuple(outside), tuple(names), worded)\n": """
    if one.params != other.params and LowerNames().apply(one) == LowerNames().apply(other):
        yield (LowerNames(),)
""",
    },
    "scrapy_urlcanon/learn/readers/__init__.py": {
        "from scrapy_urlcanon.learn.readers.cdx import is_cdx, read_cdx\n": (
            "from scrapy_urlcanon.learn.readers.toy import read_toy\n"
        ),
        '    "store": read_store,\n': '    "toy": read_toy,\n',
        '    if line.startswith("WARC/"):\n': """
    if line.startswith("TOYS"):
        return "toy"
""",
    },
    "scrapy_urlcanon/rule_files/foreign.py": {
        "from scrapy_urlcanon.rule_files.documents import parse_json\n": (
            "from scrapy_urlcanon.rule_files import toy\n"
        ),
        "    if clearurls.is_format(document):\n": """
    if toy.is_format(text):
        return toy.read(text)
""",
    },
}
"""Texts that are put in, by file, and before what."""

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
    "scrapy_urlcanon/learn/readers/toy.py": """
from scrapy_urlcanon.learn.observation import Observation

def read_toy(path, skipped):
    for line in path.read_text().splitlines()[1:]:
        url, page = line.split()
        yield Observation(url, main_sha1=page)
""",
    "scrapy_urlcanon/rule_files/toy.py": """
from scrapy_urlcanon.rule_files.imported import Imported

def is_format(text):
    return text.startswith("TOYS")

def read(text):
    return Imported("toy", {"*": {"drop_params": text.split()[1:]}})
""",
}

PROGRAM = """
import json, sys
from collections import Counter
from pathlib import Path
sys.path.insert(0, "tools")
from scrapy.settings import Settings
from tables import pages as tables
from scrapy_urlcanon.crawl.settings import CrawlSettings
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers import read
from scrapy_urlcanon.rule_files.foreign import read_foreign

seen = Path("seen.toys")
pages = [(f"http://toys.example/?{name}={i}", f"{i:040x}") for i in range(30) for name in "aA"]
seen.write_text("TOYS\\n" + "".join(f"{url} {page}\\n" for url, page in pages))
print(json.dumps({
    "pages": "".join(tables().values()),
    "setting": CrawlSettings.load(Settings({"URLCANON_TOY": "1"})).toy,
    "learned": learn(read(seen, Counter())).as_rules(),
    "imported": read_foreign("TOYS sid", name="list.txt").rules,
}))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs Python where a copy of the package with toys is."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("scrapy_urlcanon", "tools", "docs"):
        # With what is compiled of it.
        shutil.copytree(ROOT / name, copy / name)
    for name, additions in BEFORE.items():
        text = (copy / name).read_text(encoding="utf-8")
        for line, added in additions.items():
            assert text.count(line) == 1
            text = text.replace(line, added + line)
        (copy / name).write_text(text, encoding="utf-8")
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


def test_operation_is_a_class_and_what_proposes_it(found):
    """It is tried and written as the others: by what its option does."""
    assert found["learned"] == {"toys.example": {"param_case": "lower"}}


def test_reader_is_a_module_and_its_line(found):
    """Its input is told by its content, and learned from."""
    assert found["learned"]


def test_foreign_format_is_a_module_and_its_line(found):
    """It is told by its content, and read into rules in our terms."""
    assert found["imported"] == {"*": {"drop_params": ["sid"]}}


def test_command_is_one_class(run):
    """It is listed among the others, and runs."""
    assert "toy" in run("-m", "scrapy", "urlcanon", "--help").stdout
    done = run("-m", "scrapy", "urlcanon", "toy", "bear")
    assert (done.returncode, done.stdout) == (3, "played with bear\n"), done.stderr
