"""The canonical URL that a page declares."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.pages.canonical_link import (
    MAX_LINK_HEADER,
    absolute,
    declared_canonical,
    links_of,
)

URL = "http://a.example/y?z=1"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<link rel="canonical" href="/x">', "http://a.example/x"),
        ("<base href=/b/><link rel='shortlink CANONICAL' href=x>", "http://a.example/b/x"),
        ("<base target=a><base href=/b/><link rel=canonical href=x>", "http://a.example/b/x"),
        ("<LINK REL=canonical HREF=' /x '>", "http://a.example/x"),
        ("<link rel=canonical href=/x><link rel=canonical href=/x>", "http://a.example/x"),
        ("<link rel=canonical href=/x><link rel=canonical href=/z>", ""),
        ("<link rel=canonical>", ""),
        ("<link rel=canonical href='http://['>", ""),
        ("<link rel=canonical href=None>", ""),
        (
            "<link rel=canonical href=' undefined'><link rel=canonical href=/x>",
            "http://a.example/x",
        ),
        ("<link rel=canonicals href=/x>", ""),
        ("<head></head><link rel=canonical href=/x>", ""),
        ("<body><link rel=canonical href=/x>", ""),
        ("", ""),
    ],
)
def test_link_element(html, expected):
    """It counts in the head alone, and only where all that there are agree."""
    assert declared_canonical(html, URL) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('</x>; rel="canonical"', "http://a.example/x"),
        ("</x>;rel=canonical", "http://a.example/x"),
        ('</n>; rel=next, </x>; title="a, <b>"; rel="canonical other"', "http://a.example/x"),
        ("</x,y;z>; REL = Canonical", "http://a.example/x,y;z"),
        ('</x>; rel="next"; rel="canonical"', ""),
        ('</x>; rev="canonical"', ""),
        ('</x>; rel="canonical', "http://a.example/x"),
        ("</x; rel=canonical", ""),
        ("<null>; rel=canonical, </x>; rel=canonical", "http://a.example/x"),
        ('</n>; rel=canonical; anchor="/m", </x>; rel=canonical', "http://a.example/x"),
        ("<<</x>; rel=canonical", "http://a.example/<</x"),
        ("", ""),
    ],
)
def test_link_header(header, expected):
    """It is read as RFC 8288 writes it; of several parameters of one name the first counts."""
    assert declared_canonical(None, URL, header) == expected


def test_header_wins_over_the_element():
    """The server says it of what it sends."""
    assert declared_canonical("<link rel=canonical href=/x>", URL, "</h>;rel=canonical") == (
        "http://a.example/h"
    )


WORST = {
    "angle brackets": "<" * 1_000_000,
    "semicolons": "<a>" + ";" * 1_000_000,
    "parameters": "<a>" + ";a=b" * 250_000,
    "spaces": "<a>;rel" + " " * 1_000_000 + "=canonical",
    "quotes": '<a>;rel="' * 110_000,
}


@pytest.mark.parametrize("name", WORST)
def test_time_does_not_grow_with_what_a_stranger_sends(name):
    """Of a megabyte of the worst no more is read than a bound, and that in linear time."""
    worst = WORST[name]
    assert declared_canonical(None, URL, worst) == declared_canonical(
        None, URL, worst[:MAX_LINK_HEADER]
    )
    assert declared_canonical(f"canonical {worst}<link rel=canonical href=/x>", URL) == ""
    # All of it: what this replaced would take hours.
    for _ in links_of(worst):
        pass


def test_head_without_end_is_bounded():
    """Twenty megabytes of links are read as far as a head goes."""
    assert declared_canonical("<link rel=canonical href=/x>" * 700_000, URL) == "http://a.example/x"


PIECES = (*"/?#;:.@[\\ \t\nAaß1", "//", "/.", "..", "http:", "https://", "b.example", ":80")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
BASES = st.builds(
    str.__add__, st.sampled_from(["http://a.example", "HTTPS://A:1", "ftp://b", ""]), TEXTS
)


@given(BASES, TEXTS)
def test_references_mean_what_the_standard_library_says(base, reference):
    """However plain a reference is; the base of a page is a URL that was fetched."""
    try:
        expected = urljoin(base, reference.strip())
    except ValueError:
        return
    assert absolute(base, reference) == expected
