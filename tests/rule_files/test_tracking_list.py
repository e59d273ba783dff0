from __future__ import annotations

import runpy
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS
from scrapy_urlcanon.canonicalizer.tracking.exceptions import EXCEPTIONS
from scrapy_urlcanon.canonicalizer.tracking.sources import tracking_source

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "tracking_list.py"
PACKAGE = ROOT / "scrapy_urlcanon" / "canonicalizer" / "tracking"

HEADER = "name\tservice\tsource\tlicence\n"


@pytest.fixture
def tool():
    """Load the script, which stands beside the package in the repository."""
    if not TOOL.exists():
        pytest.skip("needs tools/, which is in the repository alone")
    return runpy.run_path(str(TOOL))


def _write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_only_glob_is_utm():
    """All other names are exact."""
    assert [name for name in TRACKING_PARAMS if "*" in name] == ["utm_*"]
    assert len(set(TRACKING_PARAMS)) == len(TRACKING_PARAMS)


def test_every_name_has_its_source():
    """Each has a service, a page that documents it and a licence."""
    for name in TRACKING_PARAMS:
        source = tracking_source(name)
        assert source.service
        assert source.source.startswith("https://")
        assert source.licence


def test_a_name_that_is_not_listed_has_no_source():
    """It is an error that names it."""
    with pytest.raises(KeyError, match="ref"):
        tracking_source("ref")


@pytest.mark.parametrize("name", ["ref", "source", "id", "s", "cid", "campaign", "utm", "page"])
def test_names_that_select_content_somewhere_are_not_listed(name):
    """Whatever some service uses them for."""
    url = f"http://example.com/?{name}=1"
    assert Canonicalizer().canonicalize(url) == url


def test_the_module_is_what_the_script_makes_of_the_list(tool, tmp_path):
    """The generated module is not stale."""
    output = tmp_path / "tracking_list.py"
    assert tool["main"](["-o", str(output)]) == 0
    assert output.read_text() == (PACKAGE / "tracking_list.py").read_text()


def test_the_order_of_the_lines_makes_no_difference(tool, tmp_path):
    """The same entries give the same text."""
    lines = [f"name{i}\tA\thttps://a.example/{i % 2}\tX\n" for i in range(4)]
    outputs = []
    for order in (lines, lines[::-1]):
        file = _write(tmp_path / "list.tsv", HEADER + "".join(order))
        tool["main"]([file, "-o", str(tmp_path / "out.py")])
        outputs.append((tmp_path / "out.py").read_text())
    assert outputs[0] == outputs[1]


def test_foreign_lists_give_their_exact_global_names(tool, tmp_path, capsys):
    """Names for everywhere, with the file and its licence; the others are refused aloud."""
    filters = _write(
        tmp_path / "filter.txt",
        "$removeparam=clickid123\n$removeparam=ref\n$removeparam=/^glob_/\n"
        "||a.example^$removeparam=local\n$removeparam=utm_x\n$removeparam=sn",
    )
    providers = _write(
        tmp_path / "data.json",
        '{"providers": {"g": {"urlPattern": ".*", "rules": ["oneclick", "clickid123"],'
        ' "exceptions": ["^https?://git\\\\.[^/]*/"]},'
        ' "a": {"urlPattern": "^https?://www\\\\.a\\\\.example", "rules": ["local"]}}}',
    )
    output = tmp_path / "out.py"
    arguments = [f"{filters}=GPL-3.0", f"{providers}=LGPL-3.0", "-o", str(output)]
    assert tool["main"](arguments) == 0
    listed = runpy.run_path(str(output))["TRACKING_LIST"]
    assert listed == (
        (("ClearURLs", "data.json", "LGPL-3.0"), ("oneclick",)),
        (("removeparam", "filter.txt", "GPL-3.0"), ("clickid123",)),
    )
    refused = capsys.readouterr().err
    for name in ("ref", "glob_*", "utm_x", "sn"):
        assert f": {name}: refused: " in refused


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "name\tsource\n", "a.tsv:1: expected the columns"),
        ("a.tsv", HEADER + "# x\nname\tA\t\tB\n", "a.tsv:3: expected 4 fields"),
        ("a.txt", "$removeparam=x", "expected FILE=LICENCE"),
        ("a.json=MIT", '{"providers": []}', "providers: expected an object"),
        ("a.txt=MIT", "nothing", "expected providers"),
        ("missing.tsv", None, "missing.tsv"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(  # noqa: PLR0917
    tool, tmp_path, capsys, name, text, message
):
    """The message has the file, and the line where there is one; nothing is written."""
    file, _, licence = name.partition("=")
    if text is not None:
        _write(tmp_path / file, text)
    argument = str(tmp_path / file) + (f"={licence}" if licence else "")
    output = tmp_path / "out.py"
    assert tool["main"]([argument, "-o", str(output)]) == 1
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_every_exception_is_of_the_list_and_has_its_source():
    """It names what would be dropped, and the page that says why it is not to be."""
    for exception in EXCEPTIONS:
        assert exception.source.startswith("https://github.com/")
        for name in exception.names:
            assert any(fnmatchcase(name, listed) for listed in TRACKING_PARAMS), name


@pytest.mark.parametrize(
    "url",
    [
        "https://clk.tradedoubler.com/click?tduid=1",
        "https://cdon.se/td_redirect?tduid=1",
        "https://fakt.pl/a?srcc=ucs&utm_source=b",
        "https://tix.axs.com/a?utm_campaign=1",
        "https://go.example/u.html?mkt_tok=1&mkt_unsubscribe=1",
    ],
)
def test_a_page_that_needs_a_parameter_keeps_it(url):
    """A redirect, a ticket, who unsubscribes; a rule of the user is stronger."""
    assert Canonicalizer().canonicalize(url) == url
    dropping = {"*": {"drop_params": ["tduid", "utm_*", "mkt_tok", "mkt_unsubscribe"]}}
    assert Canonicalizer(dropping).canonicalize(url) != url


def test_elsewhere_the_parameter_is_dropped():
    """The exceptions hold where they say."""
    for url in ("https://fakt.pl/a?utm_source=b", "https://shop.example/?tduid=1"):
        assert "?" not in Canonicalizer().canonicalize(url)
