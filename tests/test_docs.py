"""Every code block of the documentation runs, and shows what really comes out."""

from __future__ import annotations

import configparser
import doctest
import inspect
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import scrapy
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from scrapy_urlcanon.crawl.settings import configuration_of
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "scrapy_urlcanon"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(DOCS.glob("*.md")),
]

FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
DRAWN = re.compile(r"\[\"([^<\"]+)<br>")
FILE = re.compile(r"\w[\w.-]*/[\w./-]*|\w[\w-]*\.(?:py|md|cfg|ini|toml|txt)")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
TEST = re.compile(r"(?:([\w/]+\.py)(?:::)?)?(\w*)")
DEFINITION = re.compile(r"^\[[^]]+\]: (\S+)$", re.MULTILINE)
IN_REPOSITORY = re.compile(r"/(?:(?:blob|tree)/)?main/(.+)")

API = re.findall(
    r"^\.\. auto(?:class|function):: (\S+)$",
    (DOCS / "api.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)

# What is no command of ours is for the reader to run.
RUN = "scrapy urlcanon "
WITH_SETTINGS = "console with-settings"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def read(page):
    """Return the text of *page*."""
    return page.read_text(encoding="utf-8")


class Block(NamedTuple):
    """A fenced block of code."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page):
    """Return the fenced blocks of *page*."""
    text = read(page)
    return [
        Block(page, text[: match.start()].count("\n") + 1, match[1].strip(), match[2])
        for match in FENCE.finditer(text)
    ]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a directory with the files that the pages speak of, and go there."""
    for report in (DOCS / "examples").glob("*.json"):
        shutil.copy(report, tmp_path)
    (tmp_path / "data.min.json").write_text('{"providers": {}}')
    with ObservationStore(tmp_path / "observations.sqlite") as store:
        store.add(Page("http://shop.example.com/", b"<p>Home", "<p>Home"), status=200)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_of_page_runs(page, project):
    """Python runs, settings are valid, and commands print what is shown."""
    settings, names = {}, {}
    for block in blocks(page):
        if block.language == "toml":
            name = re.match(r"# (\S+\.toml)\n", block.text)
            assert name, f"{block}: expected the name of the file in the first line"
            (project / name[1]).write_text(block.text, encoding="utf-8")
    for block in blocks(page):
        if block.language == "python":
            run_python(block, settings, names)
        elif block.language.startswith("console"):
            assert block.language in {"console", WITH_SETTINGS}, block
            run_console(block, settings if block.language == WITH_SETTINGS else {}, project)
        else:
            unrun = {"", "toml", "mermaid", "{eval-rst}"}
            assert block.language in unrun, f"{block}: cannot be run"


def run_python(block, settings, names):
    """Run *block*: a session as a doctest, else as a module, which may be one of settings.

    :param names: what the sessions of the page have defined so far.
    """
    if ">>>" in block.text:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block.text, names, str(block), None, block.line)
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False)
        assert result.failed == 0, block
        names.update(test.globs)
        return
    namespace = {"__name__": "documentation"}
    try:
        exec(compile(block.text, str(block), "exec"), namespace)
    except ModuleNotFoundError as error:
        pytest.skip(f"{block} needs {error.name}")
    settings.update({name: value for name, value in namespace.items() if name.isupper()})
    try:
        configuration_of(Settings(settings))
    except ConfigurationError as error:
        pytest.fail(f"{block}: {error}")


def run_console(block, settings, project):
    """Run the commands of *block* that are ours, and compare what they print."""
    module = project / "documented_settings.py"
    environment = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(project)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # Without settings it is what whoever has no project yet sees.
    if settings:
        settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, **settings}
        environment["SCRAPY_SETTINGS_MODULE"] = module.stem
        module.write_text("".join(f"{name} = {value!r}\n" for name, value in settings.items()))
    for piece in block.text.split("$ ")[1:]:
        command, _, expected = piece.partition("\n")
        if not command.startswith(RUN):
            continue
        arguments = shlex.split(command)[1:]
        done = scrapy(*arguments, cwd=project, environment=environment, columns="80")
        printed = done.stdout + done.stderr
        if expected.strip():
            checker = doctest.OutputChecker()
            assert checker.check_output(expected.strip(), printed.strip(), FLAGS), (
                f"{block}: {command} printed\n{printed}"
            )
        else:
            assert done.returncode == 0, f"{block}: {command}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_page_lead_somewhere(page):
    """Files that a page links are there, and so are the headings."""
    for target, heading in LINK.findall(read(page)):
        if "://" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links {target}"
        if heading:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {slug(text) for text in headings}, f"{page.name} links #{heading}"


def test_readme_is_read_elsewhere_too():
    """On the package index no link of it can be relative, so all are to the project's own site."""
    text = read(ROOT / "README.md")
    assert not LINK.findall(text)
    metadata = configparser.ConfigParser()
    metadata.read(ROOT / "setup.cfg", encoding="utf-8")
    site = metadata["metadata"]["url"].removeprefix("https://github.com/")
    links = DEFINITION.findall(text)
    assert links
    for link in links:
        assert link.startswith(("https://github.com/", "https://raw.githubusercontent.com/"))
        _, _, place = link.partition(site)
        assert (ROOT / IN_REPOSITORY.fullmatch(place)[1]).exists(), link
    used = set(re.findall(r"\]\[([^]]+)\]", text))
    assert {line.partition("]")[0][1:] for line in text.splitlines() if "]: http" in line} == used


def test_figures_are_those_of_the_result_files(monkeypatch):
    """What the pages say was measured is what the last runs wrote."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    pages = runpy.run_path(str(ROOT / "tools" / "figures.py"))["pages"]()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make docs`"


def test_each_fault_names_tests_that_are_there():
    """A test without a file is in the file that is named before it."""
    rows = re.findall(r"^\| (?!fault|---).* \| (.*) \|$", read(DOCS / "faults.md"), re.MULTILINE)
    assert len(rows) > 100
    for row in rows:
        text = ""
        for named in CODE.findall(row):
            file, test = TEST.fullmatch(named).groups()
            if file:
                places = [folder / file for folder in (ROOT, ROOT / "tests" / "crawl")]
                text = read(next(place for place in places if place.exists()))
            assert text, row
            assert not test or f"def {test}(" in text, f"{named} is not there"


def test_index_links_every_page():
    """Whoever begins at the index finds every page."""
    linked = {target for target, _ in LINK.findall(read(DOCS / "index.md"))}
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} <= linked


def test_api_names_what_is_there():
    """Whatever the page has the site show can be imported."""
    assert len(API) > 20
    for name in API:
        assert load_object(name).__doc__, name


@pytest.mark.parametrize("name", API)
def test_what_the_api_names_has_an_example_that_runs(name):
    """In its docstring or that of one of its methods: all of them are doctests."""
    named = load_object(name)
    methods = vars(named).items() if inspect.isclass(named) else ()
    public = (each for method, each in methods if not method.startswith("_"))
    assert any(">>>" in (each.__doc__ or "") for each in (named, *public)), name


def test_site_is_built_without_a_warning(tmp_path):
    """Every link and every block of code is one for Sphinx too."""
    if not all(
        map(find_spec, ("sphinx", "myst_parser", "sphinx_rtd_theme", "sphinxcontrib.mermaid"))
    ):
        pytest.skip("needs the extra docs: pip install -e '.[docs]'")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", DOCS, tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    for page in DOCS.glob("*.md"):
        assert (tmp_path / "site" / f"{page.stem}.html").exists()


def test_contributing_names_what_is_there():
    """Every file, every class or constant and every make target that it names is there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = re.findall(
        r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    names = set(re.findall(r"\w+", sources))
    for named in sorted({*CODE.findall(FENCE.sub("", text)), *DRAWN.findall(text)}):
        if FILE.fullmatch(named):
            places = [folder / named for folder in (ROOT, PACKAGE, ROOT / "tests")]
            assert any(place.exists() for place in places), named
        elif named.startswith("make "):
            assert named.removeprefix("make ") in targets, named
        elif re.fullmatch(r"[A-Z]\w+(\.\w+)*", named):
            assert set(named.split(".")) <= names, named


def test_glossary_is_soon_read():
    """It has at most 20 words."""
    section = read(ROOT / "CONTRIBUTING.md").partition("\n## Words\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w ,]+) \|", section, re.MULTILINE)
    heading, *words = (word for row in rows for word in row.split(", "))
    assert heading == "word"
    assert 10 < len(words) <= 20


def slug(heading):
    """Return the anchor that GitHub gives to *heading*."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
