from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.novelty.echoes import echoes_of, without_echoes
from scrapy_urlcanon.novelty.news import SeenLines
from scrapy_urlcanon.pages.page import Page


def of(url, html, seen=None):
    """Return the lines of a page without its echoes, and those with one."""
    page = Page(url, b"", html)
    seen = seen or SeenLines(1 << 12)
    return without_echoes(url, page, seen.is_known)


def share_of(seen, url, html):
    """Return the share of a page that is new."""
    lines, repeating = of(url, html, seen)
    share = seen.news(lines).share
    seen.news(repeating)
    return share


@given(st.text(), st.text())
def test_any_text_is_read(url, text):
    """Whatever was asked for and answered, each line stays in its place."""
    lines, repeating = of(f"http://a.example/{url}", text)
    own = Page("", b"", text).lines
    others = [line for line, its in zip(own, lines, strict=True) if line != its]
    assert not [line for line in others if line not in repeating]
    assert all(echo == echo.lower() for echo in echoes_of(url))


def test_echo_may_have_other_white_space_than_the_page():
    """A line feed in a URL is a space in the text, and does not shift the lines."""
    url, html = "http://a.example/find?q=red%0Ashoes", "<p>No red shoes<p>Other things"
    (first, second), (repeating,) = of(url, html)
    assert [repeating, second] == [*Page(url, b"", html).lines]
    assert first not in {repeating, second}


def test_page_that_repeats_its_url_is_worth_nothing():
    """Who asks knows what it repeats."""
    seen = SeenLines(1 << 12)
    names = [f"Old_{'abcdefghij'[n // 10]}{'klmnopqrst'[n % 10]}-tale" for n in range(60)]
    shares = [
        share_of(
            seen,
            f"http://a.example/w?title=Talk:{name}&action=edit",
            f"<h1>Creating Talk:{name.replace('_', ' ')}</h1><p>Nobody has written of"
            f" {name.replace('_', ' ').replace('-', ' ')} so far",
        )
        for name in names
    ]
    assert shares == [1.0, *[0.0] * 59]


def test_what_a_page_repeats_of_its_url_is_old_elsewhere():
    """The title of an article is no news in a list of titles, whichever is fetched first."""
    pages = [("red-shoes", "<h1>Red shoes</h1>"), ("list", "<li>Red shoes")]
    for one, other in (pages, pages[::-1]):
        seen = SeenLines(1 << 12)
        # The place of a title is known by then.
        share_of(seen, "http://a.example/hats", "<h1>Hats</h1>")
        share_of(seen, f"http://a.example/{one[0]}", one[1])
        assert share_of(seen, f"http://a.example/{other[0]}", other[1]) == 0


def test_text_is_not_new_for_each_url_with_a_word_of_it():
    """A currency, or a view, is called by a word that some text has."""
    seen = SeenLines(1 << 12)
    shares = [
        share_of(seen, f"http://a.example/fox?in={word}", "<p>The quick brown fox jumps over it")
        for word in ("none", "quick", "brown", "jumps", "over")
    ]
    assert shares == [1.0, 0, 0, 0, 0]


def test_text_with_a_word_of_its_url_is_news_all_the_same():
    """Only a line that says the same of another URL is an echo."""
    seen = SeenLines(1 << 12)
    shares = [
        share_of(seen, f"http://a.example/{name}", f"<p>Of {name} it is said that {text}")
        for name, text in (("apples", "they are red"), ("pears", "they are green or brown"))
    ]
    assert shares == [1.0, 1.0]


def test_addresses_on_the_same_site_are_no_text():
    """An answer in JSON has its links in its text; on an HTML page they stand in attributes."""
    seen = SeenLines(1 << 12)
    own = "https:\\/\\/a.example\\/find?q=%s", "https://a.example/find?q=%s&go=on", "/find?q=%s"
    shares = []
    for name in ("red", "green"):
        links = ", ".join(f'"to{number}": "{each % name}"' for number, each in enumerate(own))
        shares.append(share_of(seen, f"https://a.example/{name}.json", f"{{{links}}}"))
    assert shares[0] > 0 == shares[1]
    foreign = '{"to0": "https://a.example.org/find?q=red"}'
    assert share_of(seen, "https://a.example/blue.json", foreign) > 0
