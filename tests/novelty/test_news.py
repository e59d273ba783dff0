import pytest

from scrapy_urlcanon.novelty.news import News, SeenLines, Usual
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.signature import Lines


def page(*lines):
    """Return the lines of a page with these."""
    return Page("", b"", "".join(f"<p>{line}" for line in lines)).lines


def test_share_is_of_words_in_lines_that_no_page_had():
    """A page with one new line among old ones is as new as that line is long."""
    seen = SeenLines(1 << 12)
    assert seen.news(page("one two three", "four")).share == 1
    news = seen.news(page("one two three", "five six seven eight"))
    assert (news.words, news.new) == (7, 4)


def test_line_that_differs_in_numbers_alone_is_worth_less():
    """A counter or a day of a calendar is no news, or little."""
    seen = SeenLines(1 << 12)
    seen.news(page("12 comments so far"))
    assert seen.news(page("13 comments so far")).share < 0.3
    assert seen.news(page("13 comments so far")).share == 0


def test_page_without_text_has_no_news():
    """An empty page brings nothing."""
    assert SeenLines(1 << 12).news(Lines()).share == 0


def test_memory_of_lines_does_not_grow():
    """What no longer fits takes the place of something older."""
    seen = SeenLines(100)
    for number in range(300):
        seen.news(page(f"{'abcdefghij'[number % 10]} {number} words"))
    assert len(seen.places) == 100


def test_clock_is_no_news_for_long():
    """Of a line that stands on each page with other numbers, further numbers are worth nothing."""
    seen = SeenLines(1000)
    pages = [page(f"It is {n} past {n % 7}") for n in range(60)]
    worth = [seen.news(each).worth for each in pages]
    assert worth[0] > worth[1] > 0
    assert worth[40:] == [0] * 20


def test_what_is_usual_does_not_sink_to_the_level_of_a_trap():
    """A thousand pages with three new words each are little still; a page of content is usual."""
    usual = Usual()
    for _ in range(100):
        usual.amount(150.0)
    for _ in range(1000):
        usual.amount(3.0)
    assert usual.amount(3.0) < 0.05
    assert 0.25 < usual.amount(150.0) < 0.42
    assert not usual.is_much(News(20, 3, 3.0))
    assert usual.is_much(News(400, 150, 150.0))


def test_one_page_as_long_as_all_others_does_not_make_them_little():
    """The index of a reference has 38,000 words, and comes first: what it lists is worth much."""
    usual = Usual()
    for number in range(30):
        usual.amount(38_000.0 if number == 5 else 300.0)
    assert usual.amount(300.0) > 0.1
    assert not usual.is_little(100.0)


def test_long_index_among_the_first_pages_counts_as_a_long_page():
    """Right after it what is usual is still worth a fifth, and no unknown kind is worth more."""
    usual = Usual()
    for number in range(16):
        usual.amount(38_000.0 if number == 5 else 300.0)
    assert 0.16 < usual.amount(300.0) <= 0.2


def test_what_is_usual_follows_a_site_of_short_pages():
    """A first page that is long does not make all others little."""
    usual = Usual()
    usual.amount(3000.0)
    for _ in range(100):
        usual.amount(60.0)
    # Of the fifth that is usual.
    assert usual.amount(60.0) > 0.54 * 0.2
    assert usual.is_much(News(70, 20, 20.0))


@pytest.mark.parametrize(
    ("words", "new", "is_much", "is_much_beside_long_pages"),
    [
        (400, 29, False, False),
        (400, 30, True, False),
        (300, 30, True, False),
        (100, 10, True, False),
        (100, 9, False, False),
        (100, 49, True, False),
        (100, 50, True, True),
        (50, 29, True, False),
        (50, 30, True, True),
        (1000, 100, True, True),
    ],
)
def test_little_has_to_be_both_much_of_its_page_and_many_words(
    words, new, is_much, is_much_beside_long_pages
):
    """A tenth of a page or 30 words are news, unless most pages bring ten times as much."""
    usual = Usual()
    for _ in range(15):
        usual.amount(1000.0)
    news = News(words, new, float(new))
    assert usual.is_much(news) is is_much
    usual.amount(1000.0)
    assert usual.is_much(news) is is_much_beside_long_pages


def test_page_of_which_nobody_can_read_a_word_is_half_new_once():
    """As an image, by its bytes; what has text, or nothing, can be read."""
    seen = SeenLines(1 << 12)
    found = [seen.news_of_bytes(body) for body in (b"one", b"two", b"one")]
    assert [(news.share, news.is_unread) for news in found] == [
        (0.5, True),
        (0.5, True),
        (0, False),
    ]
    assert not News(2, 1, 0.5).is_unread
