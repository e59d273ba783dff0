"""What is remembered of contents that several pages of a site have in common."""

import pytest

from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.same_page import PageDigest

LOG_IN = PageDigest(b"Please log in")


def content(number):
    return PageDigest(b"page %d" % number)


@pytest.mark.parametrize(
    ("urls", "pages", "paths"),
    [
        (["http://a.example/1", "http://a.example/2"], False, False),
        ([f"http://a.example/{number}" for number in "123"], True, True),
        ([f"http://a.example/?id={number}" for number in "123"], True, False),
        (["http://a.example/1", "http://a.example/2?a", "http://a.example/2?b"], True, False),
        ([f"http://{name}.example/" for name in "abc"], True, True),
    ],
    ids=["two", "paths", "queries of one path", "queries of two paths", "hosts"],
)
def test_three_pages_are_several_and_so_are_three_paths(urls, pages, paths):
    """Three queries of one path may be one page, for want of a rule; three paths are none."""
    contents = CommonContents()
    for url in urls:
        assert not contents.has_several_pages(LOG_IN)
        contents.add(LOG_IN, url)
        contents.add(content(len(url)), "http://a.example/other")
    assert contents.has_several_pages(LOG_IN) is pages
    assert contents.has_several_paths(LOG_IN) is paths
    contents.add(LOG_IN, urls[0])
    assert contents.has_several_paths(LOG_IN) is paths


def test_what_was_compared_is_elsewhere_until_its_page_is_forgotten():
    """A page that turned out to be several is none that its contents could belong to."""
    contents = CommonContents()
    assert not contents.is_of_another(content(1), "a")
    assert not contents.is_of_another(content(2), "b")
    assert contents.is_of_another(content(1), "b")
    contents.assign(content(1), "b")
    assert not contents.is_of_another(content(1), "b")
    contents.forget({"a", "b"})
    assert not contents.is_of_another(content(1), "c")
    assert not contents.is_of_another(content(2), "c")


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_half_of_as_many_as_may_be_are_remembered_the_last_ones(limit):
    """However many pages a site has, no more than that are kept of them."""
    contents = CommonContents(limit)
    for number in range(4 * limit):
        contents.is_of_another(content(number), "page")
        contents.add(content(number), "http://a.example/")
        for last in range(max(0, number - limit // 2 + 1), number + 1):
            assert contents.is_of_another(content(last), "another page")
    known = [contents.is_of_another(content(number), "another page") for number in range(3 * limit)]
    assert not any(known)
