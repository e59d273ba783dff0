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
PIECES += [b"\xc2", b"\xe2\x80", b"\xe3\x80\x80", *in_python.OTHER_SPACES]
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


def test_all_white_space_is_known():
    """What a text may hold of it, in whatever script."""
    spaces = {chr(number) for number in range(0x110000) if chr(number).isspace()}
    known = {*in_python.OTHER_SPACES, *(bytes((byte,)) for byte in in_python.RARE_SPACES + b" \n")}
    assert known == {space.encode() for space in spaces}


BEGINNINGS = [
    "",
    "http",
    "https",
    "http:",
    "http://",
    "https://",
    "//",
    "HTTP://",
    "httpx://",
    "ſ://",
]
references = st.builds(
    "".join,
    st.tuples(
        st.sampled_from([*BEGINNINGS, "http://a.example", "https://A-1.example:80", "http://ä"]),
        st.one_of(
            st.text("/?#;:.\t\r\n\v aZ09-é٣\u212a\U0001f600"),
            st.text(max_size=20),
            st.just("/b?c;d"),
        ),
    ),
)


@given(references)
@example("")
@example("http://a.example:")
@example("http://a.example:/")
@example("/?")
@example("/??")
@example("/?;")
@example("/a?b?c/.d")
def test_references_are_read_as_in_python(reference):
    """Whatever stands where."""
    assert compiled.form_of_reference(reference) == in_python.form_of_reference(reference)


marked = st.lists(st.sampled_from([b"0", b"aF", b"9", b":", b" ", b"g", b"@", b"/"])).map(b"".join)


@given(st.one_of(texts, marked))
@example(b"1:23")
@example(b":12")
@example(b"1:2")
@example(b"1::12 3:4:56")
def test_times_are_seen_as_in_python(text):
    """Wherever they stand."""
    assert compiled.has_time(text) == in_python.has_time(text)


@given(st.one_of(texts, marked), st.integers(1, 40))
@example(b"0" * 32, 32)
@example(b"g" + b"f" * 31 + b"g" + b"f" * 32, 32)
@example(b"f" * 31 + b"g" + b"f" * 31, 32)
def test_tokens_are_seen_as_in_python(text, least):
    """Wherever they begin, and however many letters of a number stand around them."""
    assert compiled.has_token(text, least) == in_python.has_token(text, least)


@given(st.text("a0 9١\n").map(str.encode))
@example(b"")
@example(b"\n00\n0\n1\n")
def test_lines_and_their_shapes_are_as_in_python(text):
    """And what has no other number than 0 has no shape."""
    found = compiled.lines_and_shapes(text)
    assert found == in_python.lines_and_shapes(text)
    lines, words, shapes = found
    assert len(words) == len(lines)
    assert all(shape != lines[number] for number, shape in shapes.items())


SPREAD = 0x9E3779B97F4A7C15
hashes = st.integers(0, (1 << 64) - 1)
lines = st.one_of(
    st.lists(st.tuples(hashes, hashes)),
    # Some that differ in little, and many.
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3))),
    st.integers(0, 400).map(lambda count: [(n * SPREAD % 2**64, n) for n in range(count)]),
)


@given(lines, st.sampled_from([1, 4, 64]))
@example([], 64)
def test_lines_are_sampled_and_sorted_as_in_python(lines, count):
    """However many there are."""
    masked, exact = [shape for shape, _ in lines], tuple(line for _, line in lines)
    assert compiled.smallest_lines(masked, exact, count) == in_python.smallest_lines(
        masked, exact, count
    )
    assert compiled.sorted_hashes(exact) == in_python.sorted_hashes(exact)


@given(lines, st.sampled_from([(127, 5), (0, 0), (255, 8)]))
@example([], (127, 5))
def test_lines_are_packed_as_in_python(lines, sizes):
    """However many words they have, and whether there is a number in one or not."""
    masked, exact = [shape for shape, _ in lines], [line for _, line in lines]
    words = [line % 300 for line in exact]
    assert compiled.packed_lines(masked, exact, words, *sizes) == in_python.packed_lines(
        masked, exact, words, *sizes
    )


@given(lines, st.sampled_from([(127, 5), (127, 0), (127, 8)]))
@example([], (127, 5))
def test_lines_are_unpacked_as_in_python(lines, sizes):
    """With the same hashes and words, and as many of each as were packed."""
    masked, exact = [shape for shape, _ in lines], [line for _, line in lines]
    packed = in_python.packed_lines(masked, exact, [line % 200 for line in exact], *sizes)
    others = sum(map(int.__ne__, masked, exact))
    for count, more in ((len(lines), others), (len(lines), others + 1), (len(lines) + 1, others)):
        found = [
            _answer(module.unpacked_lines, packed, count, more, sizes[1])
            for module in (compiled, in_python)
        ]
        assert found[0] == found[1]


def _answer(unpacked, *arguments):
    """Return the columns as lists, and None where they are refused."""
    try:
        return [[*column] for column in unpacked(*arguments)]
    except ValueError:
        return None


@given(st.lists(st.tuples(hashes, st.integers(0, 60)), max_size=60))
@example([((1 << 64) - 1, 2)])
def test_simhashes_are_as_in_python(features):
    """However many features there are, and however often each counts."""
    starts, counts = [start for start, _ in features], [count for _, count in features]
    assert compiled.simhash(starts, counts) == in_python.simhash(starts, counts)


kinds = st.sets(st.integers(0, 9), max_size=5)


@given(
    st.lists(st.tuples(*[st.integers(0, 9)] * 3)),
    st.tuples(kinds, kinds, kinds, kinds.map(frozenset)),
)
def test_lines_are_sorted_out_as_in_python(lines, boilerplate):
    """Whatever of them is boilerplate, of one kind or several."""
    columns = tuple(zip(*lines, strict=True)) or ([], [], b"")
    assert compiled.lines_by_kind(columns, boilerplate) == in_python.lines_by_kind(
        columns, boilerplate
    )


def test_lines_that_do_not_go_together_are_refused():
    """It is an error, and no crash."""
    for module in (compiled, in_python):
        with pytest.raises(ValueError, match="argument"):
            module.smallest_lines([1, 2], [1], 64)
        for columns in (([1], [1, 2], [1, 2]), ([1, 2], [1, 2], [1])):
            with pytest.raises(ValueError, match="argument"):
                module.packed_lines(*columns, 127, 5)
        with pytest.raises((ValueError, OverflowError)):
            module.packed_lines([1], [1], [-1], 127, 5)
        with pytest.raises(OverflowError):
            module.sorted_hashes([1 << 64])
        with pytest.raises(ValueError, match="argument"):
            module.simhash([1, 2], [1])
        with pytest.raises(ValueError, match="argument"):
            module.lines_by_kind(([1, 2], [1], [1]), ((), (), (), ()))
    for value in (None, 1, [None]):
        with pytest.raises(TypeError):
            compiled.sorted_hashes(value)
        with pytest.raises(TypeError):
            compiled.packed_lines(value, value, value, 127, 5)
        with pytest.raises(TypeError):
            compiled.simhash(value, value)
        with pytest.raises(TypeError):
            compiled.unpacked_lines(value, 1, 1, 5)
    for columns in (None, 1, (None, None, None), (1, 2, 3)):
        with pytest.raises(TypeError):
            compiled.lines_by_kind(columns, ((), (), (), ()))
    for counts in ((-1, 0, 5), (1, -1, 5), (0, 1, 5), (9, 0, 5), (1, 0, 9), (1, 0, -1)):
        with pytest.raises(ValueError, match="unpack"):
            compiled.unpacked_lines(b"12345", *counts)
    for sizes in ((256, 5), (127, 9), (-1, 5), (127, -1)):
        with pytest.raises(ValueError, match="room"):
            compiled.packed_lines([1], [1], [1], *sizes)


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


@pytest.mark.parametrize("value", [None, b"/a", 1])
def test_what_is_no_reference_is_refused(value):
    """It is an error, and no crash."""
    with pytest.raises(TypeError):
        compiled.form_of_reference(value)


def test_nothing_else_is_needed():
    """Where it could not be built, pages are read the same."""
    program = (
        "from scrapy_urlcanon.pages import inner_loops\n"
        "from scrapy_urlcanon.pages.page import Page\n"
        "assert inner_loops.fold_spaces.__module__.endswith('.in_python')\n"
        "spaced, folded = (Page('', b'', f'<p>one{gap}two<p>three') for gap in (' \t ', ' '))\n"
        "print(spaced.digest == folded.digest, *(line.words for line in spaced.lines))"
    )
    assert printed_without(compiled, program) == "True 2 1\n"
