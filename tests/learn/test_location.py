"""URLs are taken apart as the canonicalizer reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn.location import locate

CANONICALIZER = Canonicalizer(preset="scrapy")
# As in a URL that was fetched: a space is an escape there, and so is a percent sign.
TEXT = st.text("aZ7-._~!$'()*,:@[]|/+=\u00e9", max_size=8)
ESCAPES = st.integers(0, 255).map("%{:02x}".format)
PARTS = st.lists(TEXT | ESCAPES | ESCAPES.map(str.upper), max_size=5).map("".join)


@given(path=PARTS, query=PARTS)
def test_taking_a_url_apart_leaves_what_it_means(path, query):
    """A URL, and what it was taken apart into, have one canonical form."""
    url = f"http://a.example/{path}?{query}"
    assert CANONICALIZER.canonicalize(locate(url).url) == CANONICALIZER.canonicalize(url)


@pytest.mark.parametrize("char", "aZ7-._~!$'()*,/:?@[]|")
def test_escapes_that_need_not_be_are_the_character(char):
    """Two spellings with one canonical form are one location."""
    escape = f"%{ord(char):02x}"
    plain, escaped = (f"http://a.example/?f={text}" for text in (char, escape))
    assert CANONICALIZER.canonicalize(plain) == CANONICALIZER.canonicalize(escaped)
    assert locate(plain) == locate(escaped)
