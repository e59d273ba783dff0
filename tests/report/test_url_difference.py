from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.report.url_difference import Piece, Side, difference


def marked(url, other):
    """Return the pieces that only *url* has."""
    return [piece.text for piece in difference(url, other) if piece.side is Side.FIRST]


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [
        ("http://e.com/", "https://e.com/", ["http://"]),
        ("http://me@e.com:8080/", "http://e.com/", ["me@", ":8080"]),
        ("http://www.e.com/", "http://e.com/", ["www."]),
        ("http://e.com/a/", "http://e.com/a", ["/"]),
        ("http://e.com/a/index.html", "http://e.com/a/", ["index.html"]),
        ("http://e.com/a;sid=1/b", "http://e.com/a/b", [";sid=1"]),
        ("http://e.com/?a=1&b=2&c=3", "http://e.com/?a=1&c=3", ["&b=2"]),
        ("http://e.com/?a=1&b=2", "http://e.com/?b=2", ["?a=1"]),
        ("http://e.com/#top", "http://e.com/", ["#top"]),
        ("http://e.com/a", "http://e.com/a", []),
    ],
)
def test_what_the_other_url_lacks_is_marked(url, other, expected):
    """Each component that differs is marked, and nothing else is."""
    assert marked(url, other) == expected


def test_what_only_the_other_url_has_is_in_its_place():
    """The pieces read as one URL with corrections."""
    pieces = difference("http://e.com/a/?x=1", "http://e.com/b/?x=1&y=2")
    assert pieces == (
        Piece("http://e.com/", Side.BOTH),
        Piece("a", Side.FIRST),
        Piece("b", Side.SECOND),
        Piece("/?x=1", Side.BOTH),
        Piece("&y=2", Side.SECOND),
    )


def test_moved_parameter_is_marked():
    """Of parameters in another order those that moved are marked."""
    assert marked("http://e.com/?b=2&a=1", "http://e.com/?a=1&b=2") == ["&a=1"]


def test_redacted_values_may_differ():
    """What was redacted on both sides is marked all the same."""
    assert marked("http://e.com/?id=1&sid=***", "http://e.com/?id=1&sid=***") == ["&sid=***"]


def test_many_parameters_are_compared_in_linear_time():
    """Beyond some hundred pieces the middle is marked as a whole, ends apart."""
    url = "http://e.com/?" + "&".join(f"a{number}=1" for number in range(30_000)) + "&z=1"
    other = "http://e.com/?" + "&".join(f"b{number}=1" for number in range(30_000)) + "&z=1"
    pieces = difference(url, other)
    assert [piece.side for piece in pieces] == [Side.BOTH, Side.FIRST, Side.SECOND, Side.BOTH]


@given(st.text(), st.text())
def test_pieces_join_to_the_url(url, other):
    """Whatever the texts, the pieces make the first URL, and no two could be one."""
    pieces = difference(url, other)
    assert "".join(piece.text for piece in pieces if piece.side is not Side.SECOND) == url
    assert all(a.side is not b.side for a, b in pairwise(pieces))
