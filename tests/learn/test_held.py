"""Compact stores of URLs behave as lists and dicts of objects would."""

from array import array
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.learn.held.forms import Forms
from scrapy_urlcanon.learn.held.locations import Collector
from scrapy_urlcanon.learn.held.merges import Agreement, Merge, Merges
from scrapy_urlcanon.learn.held.row_index import NO_ROW, RowIndex
from scrapy_urlcanon.learn.location import locate

LOCATIONS = [
    locate(f"{origin}{path}{query}")
    for origin in ("http://a.example", "https://a.example", "http://b.example")
    for path in ("/", "/a", "/a/b")
    for query in ("", "?x=1", "?x=2", "?x=1&y=2")
]
PAGES = st.integers(-1, 3) | st.tuples(st.integers(0, 3), st.integers(4, 9))
EVIDENCE = st.lists(st.integers(0, 9), max_size=3, unique=True).map(tuple)
ACTIONS = st.tuples(st.sampled_from(("pop", "put")), st.sampled_from(LOCATIONS), PAGES)


class Alike(int):
    """A number whose hash collides with that of many others."""

    __slots__ = ()

    def __hash__(self):
        return int(self) % 3


@given(st.lists(st.integers(0, 99).map(Alike)))
def test_index_finds_the_first_row_of_each_value(values):
    """The index finds the first row of each value, with colliding hashes."""
    index, first = RowIndex(values, len(values)), {}
    for row, value in enumerate(values):
        assert index.setdefault(value, row) == first.setdefault(value, row)
    for number in range(100):
        assert index.find(Alike(number)) == first.get(Alike(number), NO_ROW)


def test_numbers_that_end_alike_are_found_as_soon_as_others():
    """Numbers with equal low bits do not make the index slow, as near simhashes have."""
    compared = Counter()

    class Counted(int):
        __slots__ = ()
        __hash__ = int.__hash__

        def __eq__(self, other):
            compared[int(self)] += 1
            return int(self) == int(other)

        def __ne__(self, other):
            return not self == other  # that of the numbers would not be counted

    values = [Counted(number << 24) for number in range(-1000, 1000)]
    index = RowIndex(values, len(values))
    for row, value in enumerate(values):
        assert index.setdefault(value, row) == row
    assert sum(compared.values()) < 10 * len(values)


@given(st.lists(st.sampled_from(LOCATIONS)))
def test_urls_are_what_was_added(locations):
    """Each URL is there once, in the order in which it was added."""
    collector = Collector(len(locations))
    rows = {}
    for location in locations:
        assert collector.add(location) == rows.setdefault(location, len(rows))
    collected = collector.locations
    assert list(collected) == [collected[row] for row in range(len(collected))] == list(rows)
    assert list(collected.at(range(0, len(rows), 2))) == list(rows)[::2]
    for location in LOCATIONS:
        assert collected.find(location) == rows.get(location, NO_ROW)


@given(st.lists(st.tuples(st.sampled_from(LOCATIONS), st.integers(-1, 3))), st.lists(ACTIONS))
def test_forms_are_a_mapping(seen, actions):
    """Forms behave as a dict does, in the same order."""
    expected = dict(seen)
    collector = Collector(len(expected))
    for location in expected:
        collector.add(location)
    forms = Forms(collector.locations, array("i", expected.values()))
    for action, location, pages in actions:
        row = forms.row_of(location)
        assert (row == NO_ROW) == (location not in expected)
        if action == "put":
            expected[location] = pages
            row = forms.add(location, pages) if row == NO_ROW else row
            forms.put(row, pages)
            assert (forms.form_at(row), forms.pages_at(row)) == (location, pages)
        elif row != NO_ROW:
            assert forms.pop(location) == expected.pop(location)
            assert not forms.is_form[row]
    assert list(forms) == list(expected)
    assert list(forms.items()) == list(expected.items())
    assert list(forms.among(range(len(forms.is_form)))) == list(expected)
    assert list(forms.paths()) == [location.path for location in expected]
    for location in LOCATIONS:
        assert (location in forms) == (location in expected)
        assert forms.get(location) == expected.get(location)


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(LOCATIONS), min_size=3, unique=True),
            st.booleans(),
            EVIDENCE,
            st.builds(Agreement, st.integers(0, 3)),
            EVIDENCE,
        )
    )
)
def test_merges_are_what_was_added(added):
    """Merges come back as they were added, with changed evidence too."""
    merges, expected = Merges(), []
    for number, ((target, *changed), is_seen, first, agreement, pages) in enumerate(added):
        sources = [*changed, target] if is_seen else changed
        merges.append(target, sources, first, agreement)
        assert merges.pages(number) == first
        merges.set_pages(number, pages)
        assert merges.sources(number) == sources
        assert merges.changed(number) == changed
        expected.append(Merge(target, tuple(sources), pages, agreement))
    assert list(merges) == [merges[number] for number in range(len(merges))] == expected
