"""The border between the halves: neither the canonicalizer nor the miner knows Scrapy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import scrapy_urlcanon

PACKAGE = Path(scrapy_urlcanon.__file__).parent
MODULES = sorted(
    path for part in ("canonicalizer", "learn") for path in (PACKAGE / part).rglob("*.py")
)


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_module_imports_neither_scrapy_nor_the_other_half(path):
    """No module of these imports Scrapy, Twisted or what is built on them."""
    forbidden = ("scrapy", "twisted", "scrapy_urlcanon.crawl", "scrapy_urlcanon.commands")
    for name in _imports(path):
        assert not any(name == other or name.startswith(f"{other}.") for other in forbidden)


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
