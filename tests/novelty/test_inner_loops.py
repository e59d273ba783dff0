"""What is compiled of the model and of news gives what the functions in Python give."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from without_compiled import printed_without

from scrapy_urlcanon.novelty.inner_loops import in_python
from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.packing import MASK, packed, unpacked

compiled = pytest.importorskip(
    "scrapy_urlcanon.novelty.inner_loops.compiled",
    reason="there was no C compiler to build it with",
)

SIZE = 20
PRIOR = -1.5
# Of few numbers, so that some fall on one.
features = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=40).map(packed)
examples = st.tuples(features, st.floats(0, 1), st.booleans())
hashes = st.integers(0, 12) | st.integers(0, (1 << 64) - 1)
lines = st.lists(st.tuples(hashes, hashes, st.integers(1, 9)), max_size=30)


@given(st.text() | st.text("/?#:ab\u0101\U00010100", max_size=12))
def test_urls_are_split_as_in_python(url):
    """Whatever the text, of one byte, two or four for each character."""
    assert compiled.split_url(url) == in_python.split_url(url)


segments = st.text(max_size=6) | st.text("az%#n-.\u00e9\u0101\U00010100\ud800", max_size=12)
urls = st.tuples(
    st.lists(segments, min_size=1, max_size=10).map(tuple),
    st.lists(st.tuples(segments, segments), max_size=4).map(tuple),
    st.sampled_from([0, 7, (1 << 64) - 1]),
)


@given(st.lists(urls, max_size=6), st.sampled_from([0, 3, 4, 254, 255]))
def test_texts_of_urls_are_noted_as_in_python(noted, met):
    """Whatever the texts, and however often they were met."""
    here, there = (bytearray([met]) * (MASK + 1) for _ in range(2))
    for url in noted * 2:
        assert compiled.hash_texts(*url) == in_python.hash_texts(*url)
        assert compiled.note_texts(here, *url) == in_python.note_texts(there, *url)
    assert here == there


@pytest.mark.parametrize("module", [compiled, in_python])
def test_texts_that_were_met_often_have_features_of_their_own(module):
    """Those that :func:`hash_texts` gives, from the fifth time on; counting has an end."""
    counts, url = bytearray(MASK + 1), (("one", "two"), (("page", "all"),), 7)
    own = module.hash_texts(*url)
    noted = [module.note_texts(counts, *url) for _ in range(300)]
    assert len(unpacked(own)) == 2 * noted[0][2]
    assert [features == own for features, _, _ in noted[:6]] == [False] * 4 + [True] * 2
    assert noted[0][0] != noted[1][0] == noted[2][0]
    assert [least for _, least, _ in noted[:6]] == [*range(6)]
    assert noted[-1][1] == in_python.MOST_MET


def test_places_that_are_not_there_are_an_error():
    """What is compiled reads no further than there is memory."""
    with pytest.raises(IndexError):
        compiled.note_texts(bytearray(MASK), ("a",), (), 0)
    for module in (compiled, in_python):
        with pytest.raises(IndexError):
            module.hash_texts((), (), 0)


@given(st.lists(examples, max_size=30), features)
def test_model_learns_as_in_python(learned, asked):
    """Whatever is learned, and again. Python adds numbers up more exactly from 3.12 on."""
    here, there = ([array("d", bytes(8 * SIZE)) for _ in range(2)] for _ in range(2))
    for numbers, share, again in learned:
        compiled.learn(*here, numbers, PRIOR, share, again=again)
        in_python.learn(*there, numbers, PRIOR, share, again=again)
    for mine, theirs in zip(here, there, strict=True):
        assert [*mine] == pytest.approx([*theirs])
    expected = in_python.expect(there[0], asked, PRIOR)
    assert compiled.expect(here[0], asked, PRIOR) == pytest.approx(expected)
    kinds = [asked, *(numbers for numbers, _, _ in learned)]
    doubts = in_python.doubts(there[1], kinds)
    assert compiled.doubts(here[1], kinds) == pytest.approx(doubts)
    assert all(0 <= doubt <= 1 for doubt in doubts)
    counted = in_python.count_on(*there, kinds, PRIOR)
    assert compiled.count_on(*here, kinds, PRIOR) == pytest.approx(counted)


@given(st.integers(1, 40), st.lists(lines, max_size=10))
def test_lines_are_noted_as_in_python(size, pages):
    """Whatever the lines, in however few places."""
    here, there = ((array("I", bytes(4 * size)), bytearray(size)) for _ in range(2))
    for page in pages:
        columns = [[*column] for column in zip(*page, strict=True)] or [[], [], []]
        assert compiled.note_lines(*here, *columns) == in_python.note_lines(*there, *columns)
        assert here == there


def test_line_with_many_numbers_is_noted_as_in_python():
    """Past so many it is a clock, and worth nothing."""
    columns = [[7] * 40, [*range(100, 140)], [1] * 40]
    here, there = (
        module.note_lines(array("I", bytes(4 << 10)), bytearray(1 << 10), *columns)
        for module in (compiled, in_python)
    )
    assert here == there


@pytest.mark.parametrize("weight", [-99.0, -9.0, 9.0, 99.0])
def test_certainty_is_expected_as_in_python(weight):
    """It has a bound, past which an example would move nothing."""
    weights, asked = array("d", [weight]), packed([0])
    expected = in_python.expect(weights, asked, 0.0)
    assert compiled.expect(weights, asked, 0.0) == pytest.approx(expected, rel=1e-12, abs=0)


def test_no_more_than_so_many_lines_are_noted():
    """Of a page of very many lines, the first ones."""
    columns = [[*range(in_python.MAX_LINES + 9)]] * 2 + [[1] * (in_python.MAX_LINES + 9)]
    for module in (compiled, in_python):
        places = array("I", bytes(4 << 14)), bytearray(1 << 14)
        assert module.note_lines(*places, *columns)[0] == in_python.MAX_LINES


@given(
    st.lists(st.lists(st.text("ab \t\x85\u00e9", max_size=16), max_size=4), max_size=6),
    st.sampled_from([1, 16, 1 << 10]),
)
def test_runs_of_words_are_noted_as_in_python(pages, size):
    """Whatever stands between the words, and where several runs have one place."""
    here, there = (array("H", [0]) * size for _ in range(2))
    for texts in pages * 2:
        lines = [text.encode() for text in texts]
        assert compiled.own_shares(here, lines) == in_python.own_shares(there, lines)
        assert here == there


def test_places_of_runs_are_a_power_of_two():
    """What is compiled reads no further than there is memory."""
    for size in (0, 3):
        with pytest.raises(IndexError):
            compiled.own_shares(array("H", [0]) * size, [b"one two three four"])


@pytest.mark.parametrize("module", [compiled, in_python])
def test_features_of_other_sizes_are_an_error(module):
    """What a file of a job says is no reason to read what is not there."""
    weights = array("d", bytes(8 * SIZE)), array("d", bytes(8 * SIZE))
    for numbers in (packed([SIZE]), packed([1, 1 << 31])):
        with pytest.raises(IndexError):
            module.expect(weights[0], numbers, PRIOR)
        with pytest.raises(IndexError):
            module.count_on(*weights, [numbers], PRIOR)
        with pytest.raises(IndexError):
            module.learn(*weights, numbers, PRIOR, 0.5, again=False)
    with pytest.raises((IndexError, ZeroDivisionError)):
        module.learn(*weights, b"", PRIOR, 0.5, again=False)


def test_numbers_of_another_type_are_an_error():
    """What is compiled reads them where they lie."""
    for weights in (array("f", bytes(8 * SIZE)), array("I", bytes(8 * SIZE))):
        with pytest.raises(ValueError, match="'d'"):
            compiled.expect(weights, packed([1]), PRIOR)
        with pytest.raises(TypeError):
            compiled.expect([*weights], packed([1]), PRIOR)


def test_nothing_else_is_needed():
    """Where it could not be built, the same is expected."""
    program = (
        "from scrapy_urlcanon.novelty import model\n"
        "from scrapy_urlcanon.novelty.packing import packed\n"
        "assert model.learn.__module__.endswith('.in_python')\n"
        "found = model.OnlineModel(0.5)\n"
        "found.learn(packed([1, 2]), 1.0)\n"
        "print(f'{found.expect(packed([1, 2])):.9f}')"
    )
    found = OnlineModel(0.5)
    found.learn(packed([1, 2]), 1.0)
    assert printed_without(compiled, program) == f"{found.expect(packed([1, 2])):.9f}\n"
