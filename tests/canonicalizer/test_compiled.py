"""The compiled functions give what those in Python give, and are not required."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from canonicalizer.test_fast_path import TOKENS, urls
from hypothesis import given
from hypothesis import strategies as st
from without_compiled import printed_without

from scrapy_urlcanon.canonicalizer import percent_encoding
from scrapy_urlcanon.canonicalizer.inner_loops import in_python

compiled = pytest.importorskip(
    "scrapy_urlcanon.canonicalizer.inner_loops.compiled",
    reason="there was no C compiler to build it with",
)

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpora" / "top100.txt.gz"
FUNCTIONS = [
    (compiled.encode_path, percent_encoding.encode_path),
    (compiled.encode_query, percent_encoding.encode_query),
    (compiled.sort_query, in_python.sort_query),
    (compiled.read, in_python.read),
    (compiled.plain_host, in_python.plain_host),
]

texts = st.one_of(
    st.text(),
    st.binary().map(bytes.hex).map("%".join),
    st.lists(st.sampled_from([*TOKENS, "%%", "%3", "%41%", "%2541", "%252F"])).map("".join),
    urls,
    urls.map(lambda url: url[: url.find("/", 8)]),
    st.from_regex(r"https?://[a-z0-9_.\-]{0,9}(xn--)?\.?[a-z]{0,3}", fullmatch=True),
)


class Text(str):
    """A subclass of str, such as lxml's texts."""

    __slots__ = ()


def outcome(function, text):
    """Return what *function* gives for *text*, or the error for half a surrogate pair."""
    try:
        return function(text)
    except UnicodeEncodeError as error:
        return str(error)


@given(texts)
def test_compiled_functions_give_what_those_in_python_give(text):
    """For any text the compiled functions and those in Python agree."""
    for compiled_one, reference in FUNCTIONS:
        assert outcome(compiled_one, text) == outcome(reference, text)
        assert outcome(compiled_one, Text(text)) == outcome(reference, text)


@pytest.mark.parametrize(("compiled_one", "reference"), FUNCTIONS)
@pytest.mark.parametrize("length", [254, 255, 256, 257, 511, 512, 513, 100_000])
@pytest.mark.parametrize("piece", ["%", "%%41", " ", "&", "=", "a", "%41", "%2f", "/a;", "?a&b"])
def test_long_texts_are_read_as_short_ones(compiled_one, reference, length, piece):
    """They agree on texts too long for the buffer of short ones."""
    text = (piece * length)[:length]
    for whole in (text, f"http://a.com/{text}", f"http://a.com/?{text}"):
        assert compiled_one(whole) == reference(whole)


@given(
    st.lists(st.sampled_from(TOKENS[:-2])).map("".join),
    st.sets(st.sampled_from(["", "id", "sort"])),
)
def test_names_are_found_as_in_python(text, names):
    """They agree on which names a query has."""
    query = percent_encoding.encode_query(text)
    for each in (query, Text(query)):
        assert compiled.are_named(each, names) == in_python.are_named(query, names)
        assert compiled.are_filled(each, names) == in_python.are_filled(query, names)


NAMES = {
    "com": 1,
    "uk": 1,
    "co.uk": 1,
    "ck": 3,
    "www.ck": 4,
    "a.com": 0,
    "b.a.com": 3,
    "c.b.a.com": 4,
}
labels = st.sampled_from(["", "a", "b", "c", "com", "uk", "co", "ck", "www", "www2", "1", "[::1]"])
hosts = st.one_of(texts, st.lists(labels | st.text(max_size=2), max_size=6).map(".".join))


@given(hosts)
def test_labels_of_hosts_are_read_as_in_python(host):
    """They agree on where the registrable domain begins, and on ``www``."""
    for each in (host, Text(host)):
        begins = in_python.start_of_domain(host, NAMES)
        assert compiled.start_of_domain(each, NAMES) == begins
        ends = {"com", "co.uk", "a.com"}
        assert compiled.is_under(each, ends) == in_python.is_under(host, ends)
        for numbered in (True, False):
            stripped = in_python.without_www(host, NAMES, numbered=numbered)
            assert compiled.without_www(each, NAMES, numbered=numbered) == stripped
        for prefix in (f"http://{each}", f"https://{each}", each):
            for rules in (("", None, False), ("https://", NAMES, False), ("", NAMES, True)):
                canonical = in_python.canonical_prefix(str(prefix), ends, *rules)
                assert compiled.canonical_prefix(prefix, ends, *rules) == canonical


@given(
    st.lists(st.sampled_from(["/", "//", "index.html", "a", "\u00e9"])).map("".join),
    st.frozensets(st.sampled_from(["", "index.html", "a"])),
)
def test_paths_are_trimmed_as_in_python(path, indexes):
    """They agree on slashes and index files at the end of a path."""
    for each in (path, Text(path)):
        assert compiled.trimmed_path(each, indexes) == in_python.trimmed_path(path, indexes)


def test_real_urls_are_read_as_in_python():
    """They agree on all URLs of the corpus."""
    if not CORPUS.exists():
        pytest.skip(f"{CORPUS} is not there")
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line in lines:
            url = line.rstrip("\n")
            assert compiled.read(url) == in_python.read(url)
            before = url[: url.find("/", 8)]
            assert compiled.plain_host(before) == in_python.plain_host(before)
            for part in url.split("?", 1):
                assert compiled.encode_path(part) == percent_encoding.encode_path(part)
                query = compiled.encode_query(part)
                assert query == percent_encoding.encode_query(part)
                assert compiled.sort_query(query) == in_python.sort_query(query)


@pytest.mark.parametrize("url", ["http://a.com/b?a=1", "http://a.com/%7Eb?a=1&b=2"])
def test_what_does_not_change_is_not_copied(url):
    """A text that does not change is returned itself, so that it takes no memory twice."""
    path, _, query = url[12:].partition("?")
    assert compiled.encode_query(query) is query
    assert compiled.sort_query(query) is query
    assert compiled.encode_path(path.replace("%7E", "")) == path.replace("%7E", "")


@pytest.mark.parametrize("value", [None, 1, b"http://a.com/"])
def test_what_is_no_text_is_refused(value):
    """A value that is no text is an error in both."""
    for compiled_one, _ in FUNCTIONS:
        with pytest.raises((TypeError, AttributeError)):
            compiled_one(value)


def test_nothing_else_is_needed():
    """Without the compiled functions canonical URLs are the same."""
    program = (
        "from scrapy_urlcanon import canonicalize\n"
        "from scrapy_urlcanon.canonicalizer import fast\n"
        "assert fast.read.__module__ == 'scrapy_urlcanon.canonicalizer.inner_loops.in_python'\n"
        "print(canonicalize('http://example.com/%7ea?b=1&a=/&utm_source=x#top'))"
    )
    assert printed_without(compiled, program) == "http://example.com/~a?a=%2F&b=1\n"


@pytest.mark.long
@pytest.mark.parametrize("compiler", [None, "/bin/false"])
def test_package_is_built_with_and_without_a_compiler(compiler, tmp_path):
    """The package can be built without a C compiler."""
    ignored = shutil.ignore_patterns("*.so", "*.c", "build", "*.egg-info", "__pycache__")
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scrapy_urlcanon", tmp_path / "scrapy_urlcanon", ignore=ignored)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir=out", "."],
        cwd=tmp_path,
        env=os.environ | ({"CC": compiler} if compiler else {}),
        check=True,
    )
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert "scrapy_urlcanon/canonicalizer/inner_loops/in_python.py" in names
    assert any(name.endswith((".so", ".pyd")) for name in names) == (compiler is None)
