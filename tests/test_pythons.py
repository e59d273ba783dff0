"""The releases of Python that are promised, and those that the tests run with, are the same."""

import re
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read(name):
    parser = ConfigParser(interpolation=None)
    assert parser.read(ROOT / name, encoding="utf-8")
    return parser


def promised():
    """Return the releases that the metadata names, such as ``3.10``."""
    return re.findall(r"Python :: (3\.\d+)", read("setup.cfg")["metadata"]["classifiers"])


def test_oldest_python_is_the_required_one():
    """Pip installs nothing on a Python that is not promised."""
    assert read("setup.cfg")["options"]["python_requires"] == f">={promised()[0]}"


def test_every_promised_python_is_in_the_matrix():
    """``make test-all`` and the workflow run with each."""
    environments = [f"py{release.replace('.', '')}" for release in promised()]
    assert read("tox.ini")["tox"]["env_list"].split(", ") == [*environments, "oldest"]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    quoted = ", ".join(f'"{release}"' for release in promised())
    assert f"python: [{quoted}]" in workflow


def test_oldest_releases_are_the_required_ones():
    """The oldest releases that the tests run with are the lower bounds of the metadata."""
    required = dict(
        re.findall(
            r"^([\w-]+)>=([\d.]+)", read("setup.cfg")["options"]["install_requires"], re.MULTILINE
        )
    )
    pinned = dict(
        re.findall(
            r"^([\w-]+)==([\d.]+)", (ROOT / "tests" / "oldest.txt").read_text(), re.MULTILINE
        )
    )
    for name, release in pinned.items():
        assert f"{release}.".startswith(f"{required[name]}."), name
