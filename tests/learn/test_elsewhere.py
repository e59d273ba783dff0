"""The other URL of a page is found without comparing all pairs of its URLs."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.learn.classes.derived import way_of_most, way_to
from scrapy_urlcanon.learn.classes.elsewhere import PageUrls
from scrapy_urlcanon.learn.location import locate

PARAMS = st.builds("{}{}".format, st.sampled_from("abt"), st.sampled_from(["=1", "=2", "=x", ""]))
URLS = st.builds(
    "http://{}.example/{}?{}".format,
    st.sampled_from("ab"),
    st.lists(st.sampled_from(["a", "de", "7", "p-3", "", "en-us"]), max_size=3).map("/".join),
    st.lists(PARAMS, max_size=3).map("&".join),
).map(locate)


@given(st.lists(URLS, min_size=1, max_size=5), URLS)
def test_url_is_better_than_many_where_it_is_better_than_each(urls, other):
    """A URL is better than several exactly if it is better than each of them."""
    for one in (other, urls[0]._replace(params=other.params)):
        assert PageUrls(urls).has_better(one) == all(
            PageUrls([url]).has_better(one) for url in urls
        )


NUMBERED = st.builds(
    "http://a.example/{}/{}?t={}".format, st.sampled_from("abc"), st.integers(1, 4), st.just(1)
).map(locate)


@given(
    st.lists(
        st.tuples(
            st.lists(NUMBERED, min_size=1, max_size=4), st.lists(NUMBERED, min_size=1, max_size=4)
        ),
        max_size=7,
    )
)
def test_way_of_most_pages_is_that_of_the_most_pairs(pages):
    """The way found is the one that counting all pairs gives."""
    count = Counter(
        way for urls, others in pages for way in {way_to(o, one) for one in urls for o in others}
    )
    way = min(count, key=lambda way: (-count[way], repr(way)), default=None)
    assert way_of_most(pages) == (way if 2 * count[way] > len(pages) else None)
