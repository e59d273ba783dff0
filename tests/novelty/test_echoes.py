from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.novelty.echoes import echoes_of, without_echoes
from scrapy_urlcanon.novelty.news import SeenLines
from scrapy_urlcanon.pages.page import Page


def of(url, html):
    """Return the lines of a page without its echoes."""
    page = Page(url, b"", html)
    return without_echoes(url, page.lower, page.lines)


@given(st.text(), st.text())
def test_any_text_is_read(url, text):
    """Whatever was asked for and answered, each line stays in its place."""
    lines = of(f"http://a.example/{url}", text)
    assert [line.exact for line in lines] == [line.exact for line in Page("", b"", text).lines]
    assert all(echo == echo.lower() for echo in echoes_of(url))


def test_echo_may_have_other_white_space_than_the_page():
    """A line feed in a URL is a space in the text, and does not shift the lines."""
    url, html = "http://a.example/find?q=red%0Ashoes", "<p>No red shoes<p>Other things"
    first, second = of(url, html)
    assert first.masked not in {first.exact, second.masked}
    assert second == Page(url, b"", html).lines[1]


def test_page_that_repeats_its_url_is_worth_little_and_then_nothing():
    """As one that differs in its numbers."""
    seen = SeenLines(1 << 12)
    names = [f"Old_{'abcdefghij'[n // 10]}{'klmnopqrst'[n % 10]}-tale" for n in range(60)]
    worth = [
        seen.news(
            of(
                f"http://a.example/w?title=Talk:{name}&action=edit",
                f"<h1>Creating Talk:{name.replace('_', ' ')}</h1><p>Nobody has written of"
                f" {name.replace('_', ' ').replace('-', ' ')} so far",
            )
        ).worth
        for name in names
    ]
    assert worth[0] > 4 * worth[1] > 0
    assert worth[40:] == [0] * 20


def test_text_with_a_word_of_its_url_is_news_all_the_same():
    """Only a line that says the same of another URL is an echo."""
    seen = SeenLines(1 << 12)
    shares = [
        seen.news(of(f"http://a.example/{name}", f"<p>Of {name} it is said that {text}")).share
        for name, text in (("apples", "they are red"), ("pears", "they are green or brown"))
    ]
    assert shares == [1.0, 1.0]
