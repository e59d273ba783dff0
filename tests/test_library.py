"""The plugin as a library."""

import pickle
import re
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import scrapy_urlcanon
from scrapy_urlcanon import Canonicalizer, canonicalize
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.rule_files.clean_param import read_clean_param

ROOT = Path(__file__).parents[1]


def test_version_is_that_of_the_distribution():
    """The package says which one it is."""
    assert scrapy_urlcanon.__version__ == version("scrapy-urlcanon")


@pytest.mark.parametrize("kind", [str, Path])
def test_one_path_is_a_list_of_one(tmp_path, kind):
    """A text is a path, and not a list of letters."""
    file = tmp_path / "x.toml"
    file.write_text('["*"]\ndrop_params = ["sid"]\n')
    url = "http://example.com/?sid=1"
    for files in (kind(file), [kind(file)]):
        assert Canonicalizer(rules_files=files).canonicalize(url) == "http://example.com/"


def test_no_path_is_none():
    """Where a program has one from its own settings, perhaps."""
    assert (
        Canonicalizer(rules_files=None).canonicalize("http://example.com") == "http://example.com/"
    )


@pytest.mark.parametrize("value", [None, b"http://example.com", float("nan")])
def test_what_is_no_text_is_named(value):
    """Tables have values that are missing, and w3lib takes bytes."""
    with pytest.raises(TypeError, match=re.escape(f"expected the text of a URL, got {value!r}")):
        canonicalize(value)


def test_pickled_it_answers_as_before():
    """Rules of all kinds, what was suspended and what a site declared go with it."""
    rules = {
        "*": {"rewrite_path": [["/a/{id:digits}", "/{id}"]], "skip": ["/x/{id}"]},
        "com?sid=a*": {"drop_params": ["sid", "s*"], "host_aliases": {"b.com": "a.com"}},
    }
    canonicalizer = Canonicalizer(rules)
    canonicalizer.suspend(RuleEntry("drop_params", "sid"), "c.com")
    declared = read_clean_param(b"Clean-param: ref /forum*x/")
    canonicalizer.declare(*declared.rule_sets("http://a.com/robots.txt"))
    again = pickle.loads(pickle.dumps(canonicalizer))
    assert type(again) is Canonicalizer
    for url in (
        "http://b.com/a/17?sid=ab&t=1",
        "http://c.com/?sid=ab",
        "http://a.com/forums-x/?ref=1",
        "http://a.com/?ref=1",
    ):
        assert again.explain(url) == canonicalizer.explain(url)
        assert again.canonicalize(url) == canonicalizer.canonicalize(url)


def test_a_second_call_makes_nothing_anew():
    """What the options make is kept, so that a call costs little more than its URL."""
    url = "http://www.example.com/a?sid=1&id=2"
    made = canonicalize(url, www="strip", drop_params=["sid"])
    calls = 0

    def profile(_, event, __):
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        again = canonicalize(url, www="strip", drop_params=["sid"])
    finally:
        sys.setprofile(None)
    assert again == made == "http://example.com/a?id=2"
    assert calls < 40


def test_options_that_are_changed_later_change_nothing_of_before():
    """A list belongs to who gave it."""
    names = ["a"]
    assert canonicalize("http://a.example/?a=1&b=1", drop_params=names) == "http://a.example/?b=1"
    names[0] = "b"
    assert canonicalize("http://b.example/?a=1&b=1", drop_params=names) == "http://b.example/?a=1"
    assert canonicalize("http://c.example/?a=1&b=1", drop_params=["a"]) == "http://c.example/?b=1"


def test_what_is_no_preset_is_an_error_of_ours():
    """Whatever its type."""
    with pytest.raises(ConfigurationError, match="preset"):
        canonicalize("http://example.com/", preset=[])


def test_neither_requests_nor_ssl_is_imported():
    """The Public Suffix List comes without what fetches it."""
    program = """
import sys
from scrapy_urlcanon import Canonicalizer, canonicalize
assert canonicalize("http://www.example.co.uk/", www="strip") == "http://example.co.uk/"
print(*sorted({"requests", "ssl", "tldextract", "urllib3", "http.client"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == ""


def test_crawl_that_records_imports_nothing_that_learns():
    """It would wait for that, and the garbage collector would look at it again and again."""
    program = """
import sys
import scrapy_urlcanon.crawl.declared.declared_canonicals, scrapy_urlcanon.crawl.record.recorder
assert "scrapy_urlcanon.learn.store" in sys.modules
assert not {"scrapy_urlcanon.learn.learning", "scrapy_urlcanon.learn.miner"} & set(sys.modules)
from scrapy_urlcanon import learn
assert all(hasattr(learn, name) for name in learn.__all__)
assert set(learn.__all__) <= set(dir(learn)) and not hasattr(learn, "learner")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_crawl_imports_nothing_that_other_settings_turn_on():
    """Every crawl would wait for what few of them use, and all generated classes are slow."""
    program = """
import sys
from scrapy import Spider
from scrapy.utils.test import get_crawler
before = {*sys.modules}
from scrapy_urlcanon import Addon
from scrapy_urlcanon.crawl.crawl import Crawl
Crawl.of(get_crawler(Spider, {"ADDONS": {Addon: 500}, "URLCANON_PROFILES": False}))
names = {name for name in {*sys.modules} - before if name.startswith("scrapy_urlcanon.")}
made = {name: vars(sys.modules[name]) for name in names}
print(*sorted(
    name
    for name, values in made.items()
    if any(hasattr(value, "__attrs_attrs__") for value in values.values())
    or name.rpartition(".")[2] in {"linking_pages", "place_patterns", "shared", "skip", "sources"}
    or name.startswith(("scrapy_urlcanon.crawl.seen_sets", "scrapy_urlcanon.rule_files.foreign"))
))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == ""


def test_types_of_options_are_those_of_the_catalogue():
    """canonicalizer/options.py is what the catalogue says now; `make docs` writes it."""
    if not (ROOT / "tools").exists():
        pytest.skip("needs tools/, which is in the repository alone")
    tool = runpy.run_path(str(ROOT / "tools" / "typed_options.py"))
    assert tool["MODULE"].read_text(encoding="utf-8") == tool["module"]()


def test_a_type_checker_finds_a_misspelt_option(tmp_path):
    """`mypy --strict` knows the options, their values and what may be in a rule."""
    file = tmp_path / "program.py"
    lines = {
        'canonicalize("", wwww="strip")': "wwww",
        'canonicalize("", www="stripp")': "stripp",
        'canonicalize("", drop_params="sid")': "drop_params",
        'Canonicalizer({"*": {"wwww": "strip"}})': "wwww",
        'Canonicalizer({"*": {"www": "strip", "inherit": False, "drop_params": ["a"]}})': None,
        'Canonicalizer(rules_files="a.toml")': None,
        'canonicalize("", keep_params=None, default_params={"a": "1"})': None,
        'canonicalize("", rewrite_path=[["/a", "/b"], "!/c"], skip=["/a"])': None,
        # What was learned may be given to it as it is.
        "Canonicalizer(learn([]).as_rules())": None,
        'mine: dict[str, RuleOptions] = {"*": {"drop_params": ["a"]}}': None,
        "Canonicalizer(mine)": None,
    }
    imports = (
        "from scrapy_urlcanon import Canonicalizer, canonicalize",
        "from scrapy_urlcanon.canonicalizer.options import RuleOptions",
        "from scrapy_urlcanon.learn import learn",
    )
    file.write_text("\n".join((*imports, *lines)) + "\n")
    # What `make lint` has found out of the package is there.
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # With older releases of Scrapy there are others, in the package.
    found = re.findall(r"program\.py:(\d+): error:", done.stdout)
    wrong = set(map(int, found))
    expected = {number for number, what in enumerate(lines.values(), len(imports) + 1) if what}
    assert wrong == expected, done.stdout + done.stderr
