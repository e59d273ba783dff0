"""The commands of the pages are typed as they stand there, in the example project."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import scrapy
from loopback import Loopback
from shop_site import respond

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TYPED = re.compile(r"^    (scrapy|make|python) (.+)$", re.MULTILINE)

# No rules yet, as for a site that nobody has looked at; and not all of its 1,208 URLs.
SETTINGS = """
URLCANON_RULES = {}
CLOSESPIDER_PAGECOUNT = 30
CONCURRENT_ITEMS = 10
"""


def read(page):
    """Return the text of *page*."""
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if TYPED.search(read(page))], ids=lambda page: page.name
)
def test_commands_of_page_can_be_typed(page, tmp_path):
    """One after the other, each ends well."""
    copy = tmp_path / "repository"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "example_project", copy / "example_project", ignore=ignored)
    with (copy / "example_project/shop_crawler/settings.py").open("a") as settings:
        settings.write(SETTINGS)
    targets = re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE)
    with Loopback(respond) as server:
        for program, arguments in TYPED.findall(read(page)):
            words = shlex.split(arguments, comments=True)
            if program == "make":
                assert words[0] in targets
            elif program == "python" and not words[0].startswith("-"):
                assert (ROOT / words[0]).exists()
            elif program == "scrapy":
                done = scrapy(*words, cwd=copy / "example_project", environment=server.proxies)
                assert done.returncode == 0, done.stdout + done.stderr
                assert "ERROR" not in done.stderr


def test_example_site_is_served(tmp_path):
    """As the guide starts it, and as it says that a crawler finds it."""
    command = [sys.executable, "-u", "-m", "shop_site", "0"]
    example = ROOT / "example_project"
    with subprocess.Popen(command, cwd=example, stdout=subprocess.PIPE, text=True) as site:
        try:
            said = [site.stdout.readline() for _ in range(5)]
            found = dict(line.split()[-1].split("=", 1) for line in said if "_proxy=" in line)
            assert found.keys() == {"http_proxy", "https_proxy", "no_proxy"}
            report = tmp_path / "report.html"
            crawl = ("crawl", "shop", "-s", f"URLCANON_REPORT={report}")
            # Not all of its 1,208 URLs.
            crawl += ("-s", "LOG_LEVEL=ERROR", "-s", "CLOSESPIDER_PAGECOUNT=60")
            done = scrapy(*crawl, cwd=example, environment=found)
            assert (done.returncode, done.stderr) == (0, "")
            assert report.exists()
        finally:
            site.terminate()
