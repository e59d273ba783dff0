"""What is compiled of reading a page gives what the functions in Python give, and is not needed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from without_compiled import printed_without

from scrapy_urlcanon.pages.inner_loops import in_python

compiled = pytest.importorskip(
    "scrapy_urlcanon.pages.inner_loops.compiled", reason="there was no C compiler to build it with"
)

PIECES = [b" ", b"  ", b"\n", b"\t", b"\r\n", b"\v\x1c\x85", b"d", b"D", b"ab", b"A", b"\x99", b"0"]
texts = st.one_of(
    st.binary(),
    st.text().map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from(PIECES)).map(b"".join),
    # Long passages, with words in them and without; many passages, of which few are kept.
    st.builds(bytes.__mul__, st.sampled_from([b"ab ", b"x", b" ", b"abd"]), st.integers(0, 400)),
    st.lists(st.binary(max_size=5).map(b"d".__add__), min_size=60).map(b"".join),
)


@given(texts)
@example(b"")
@example(b" \n ")
@example((b" " * 65 + b"d") * 40)
def test_white_space_is_folded_as_in_python(text):
    """Whatever the text."""
    assert compiled.fold_spaces(text) == in_python.fold_spaces(text)


@given(texts, st.sampled_from([1, 4, 128]))
@example(b"", 128)
@example((b" " * 65 + b"d") * 40, 128)
@example(bytes(range(256)) * 20, 4)
def test_passages_are_hashed_as_in_python(text, count):
    """Of any length, as many as are asked for."""
    assert compiled.smallest_passages(text, count) == in_python.smallest_passages(text, count)


@pytest.mark.parametrize("value", [None, "text", bytearray(b"text")])
def test_what_is_no_bytes_is_refused(value):
    """It is an error, and no crash."""
    with pytest.raises(TypeError):
        compiled.fold_spaces(value)
    with pytest.raises(TypeError):
        compiled.smallest_passages(value, 128)


def test_nothing_else_is_needed():
    """Where it could not be built, pages are read the same."""
    program = (
        "from scrapy_urlcanon.pages import inner_loops\n"
        "from scrapy_urlcanon.pages.page import Page\n"
        "assert inner_loops.fold_spaces.__module__.endswith('.in_python')\n"
        "print(Page('http://a.example/', b'', '<p>one \t two<p>three').text)"
    )
    assert printed_without(compiled, program) == "['one two', 'three']\n"
