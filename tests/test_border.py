"""The rooms of the package and their order: who may import whom, and that none goes in circles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import scrapy_urlcanon

NAME = scrapy_urlcanon.__name__
PACKAGE = Path(scrapy_urlcanon.__file__).parent

# From the top to the bottom. A module imports from its own room and from those above it.
ROOMS = (
    {
        "exceptions",
        "redaction",
        "files",
        "databases",
        "confidence",
        "wording",
        "discovery",
        "version",
    },
    {"canonicalizer"},
    {"rule_files"},
    {"library"},
    {"pages"},
    {"profiles"},
    {"novelty"},
    {"learn"},
    {"crawl"},
    {"redis"},
    {"validate"},
    {"report"},
    {"commands"},
    {""},  # the package itself, which only names what the rooms have for everybody
)
LEVELS = {name: level for level, names in enumerate(ROOMS) for name in names}
WITHOUT_SCRAPY = LEVELS["crawl"]
MOST_MODULES, MOST_LINES = 25, 500


def module_name(path):
    """Return the name by which the module at *path* is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports(path):
    """Return each module that the one at *path* imports, with the name that it takes from there.

    Imports within functions and those for type checking are among them.
    """
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "itself") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                is_module = submodule in MODULES
                found.append((submodule, "itself") if is_module else (node.module, alias.name))
    return found


def level(module):
    """Return the number of the room of *module*."""
    room = module.removeprefix(NAME).removeprefix(".").partition(".")[0]
    assert room in LEVELS, f"{room} is in no room: add it to ROOMS and to CONTRIBUTING.md"
    return LEVELS[room]


def import_graph():
    """Return the names that each module of the package imports, by the module that has them."""
    graph = {module: defaultdict(list) for module in MODULES}
    for module, path in MODULES.items():
        for imported, name in imports(path):
            if imported in MODULES:
                graph[module][imported].append(name)
    return graph


def reachable(graph, start):
    """Return the modules that *start* imports, and that these import, and so on."""
    seen, waiting = set(), list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting.extend(graph[module])
    return seen


def circles(graph):
    """Return the strongly connected components of *graph*: sets of modules that need each other."""
    reached = {module: reachable(graph, module) for module in graph}
    found = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
    }
    return sorted((circle for circle in found if circle), key=sorted)


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_from_its_own_room_and_from_those_above(module):
    """No module imports from a room below its own."""
    wrong = [
        f"{module} imports {name} of {imported}"
        for imported, name in imports(MODULES[module])
        if imported in MODULES and level(imported) > level(module)
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle():
    """Every module can be read, and tested, with nothing but what it imports."""
    graph = import_graph()
    told = [
        "\n".join(
            f"{module} imports {', '.join(graph[module][imported])} of {imported}"
            for module in sorted(circle)
            for imported in sorted(graph[module])
            if imported in circle
        )
        for circle in circles(graph)
    ]
    assert not told, "\n\n".join(["circles of imports:", *told])


def test_rooms_are_those_of_the_map():
    """CONTRIBUTING.md shows the rooms in this order."""
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| ([^|]+) \|", text, re.MULTILINE)
    shown = [set(re.findall(r"`(\w+)(?:\.py|/)`", row)) for row in rows]
    assert shown == list(ROOMS[:-1])


def test_circle_is_found():
    """The test above would see a circle, and sees none where there is none."""
    line = {"a": {"b": ["x"]}, "b": {"c": ["y"]}, "c": {}}
    assert circles(line) == []
    assert circles(line | {"c": {"a": ["z"]}, "d": {"a": ["x"]}}) == [{"a", "b", "c"}]


@pytest.mark.parametrize("module", [module for module in MODULES if level(module) < WITHOUT_SCRAPY])
def test_module_above_the_crawl_imports_no_scrapy(module):
    """Only the Scrapy half, and what is below it, knows Scrapy and Twisted."""
    for imported, _ in imports(MODULES[module]):
        assert imported.partition(".")[0] not in {"scrapy", "twisted"}


def test_no_folder_is_crowded_and_no_module_long():
    """Both can be taken in: 25 modules, 500 lines."""
    folders = [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())]
    modules = {folder.name: len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: count for name, count in modules.items() if count > MOST_MODULES} == {}
    lines = {name: path.read_bytes().count(b"\n") for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_canonicalizer_works_without_scrapy_and_without_the_network():
    """Importing and using it loads no Scrapy and opens no connection."""
    program = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("network access")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from scrapy_urlcanon import canonicalize
assert canonicalize("http://www.example.co.uk/?b&a", www="strip") == "http://example.co.uk/?a=&b="
assert not {"scrapy", "twisted"} & set(sys.modules), "Scrapy was imported"
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_crawl_begins_without_the_learner():
    """What says which declared canonicals are believed is read when a page declares another one."""
    program = """
import sys
import scrapy_urlcanon.crawl.declared.declared_canonicals
import scrapy_urlcanon.crawl.record.recorder
learner = {"canonicals", "location", "site", "thresholds", "vocabulary"}
assert not {f"scrapy_urlcanon.learn.{name}" for name in learner} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_crawl_begins_without_what_reads_pages():
    """No part that asks what pages say is on by default; to import all of that takes 5 ms."""
    program = """
import sys
import scrapy_urlcanon.crawl.downloadermiddleware
import scrapy_urlcanon.crawl.spidermiddleware
assert not [name for name in sys.modules if name.startswith("scrapy_urlcanon.pages")]
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_plugin_starts_without_the_network():
    """Neither importing the plugin nor making its components opens a connection."""
    program = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("network access")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from scrapy import Request
from scrapy.utils.test import get_crawler
settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_RULES": {"*": {"www": "strip"}}}
crawler = get_crawler(settings_dict={**settings, "TWISTED_REACTOR_ENABLED": False})
prints = crawler.request_fingerprinter
one, two = (prints.fingerprint(Request(f"http://{host}/")) for host in ("www.a.com", "a.com"))
assert one == two
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_public_names_can_be_imported():
    """Every public name is there, and an unknown one is an AttributeError."""
    for name in scrapy_urlcanon.__all__:
        assert getattr(scrapy_urlcanon, name).__name__ == name
    assert set(scrapy_urlcanon.__all__) <= set(dir(scrapy_urlcanon))
    with pytest.raises(AttributeError, match="no attribute 'Addonn'"):
        scrapy_urlcanon.Addonn  # noqa: B018
