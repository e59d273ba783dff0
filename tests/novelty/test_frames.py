"""What is new in lines that begin or end as those of other pages did."""

import pytest
from trap_sites import words

from scrapy_urlcanon.novelty.frames import LEAST, Frames
from scrapy_urlcanon.novelty.news import News, SeenLines, Usual
from scrapy_urlcanon.pages.page import Page


def shares(pages):
    """Return how much of their lines is their own, page by page."""
    frames = Frames()
    return [frames.own_shares([line.encode() for line in lines]) for lines in pages]


def test_what_a_sentence_is_filled_with_is_its_own():
    """Of nine words three, wherever they stand: four before and two after them are as ever."""
    sentence = "people who looked at {} liked these"
    pages = [[sentence.format(words(n, 3))] for n in range(3)]
    assert shares(pages) == [[1.0], [1 / 3], [1 / 3]]


def test_numbers_are_no_difference():
    """A sentence begins alike whatever it counts."""
    pages = [["found 12 pages for oaks"], ["found 7 pages of elms and ash trees"]]
    assert shares(pages)[1] == [(8 - 2) / 8]


def test_what_is_put_together_of_known_halves_is_worth_a_fifth():
    """As where two products are compared of which each was compared before."""
    things = [words(n, 4) for n in range(6)]
    pages = [[f"{one} {other}"] for one in things for other in things if one != other]
    assert shares(pages)[-1] == [LEAST]


def test_names_are_their_own():
    """Each of their words is soon known, but not two of them that stand side by side."""
    pages = [[f"{first} {last}"] for first in "abcdef" for last in "uvwxyz"]
    assert shares(pages) == [[1.0]] * 36


def test_lines_of_one_page_say_nothing_of_each_other():
    """A table whose rows begin alike is new where no other page has it."""
    rows = [f"the weight of {words(n, 4)}" for n in range(9)]
    assert shares([rows])[0] == [1.0] * 9


def test_lines_without_words_are_no_error():
    """Nothing stands in them, and nothing is in common."""
    assert Frames().own_shares([b"", b" "]) == [1.0, 1.0]


def test_missing_page_that_proposes_words_has_no_news():
    """It has a sixth of the words that are usual, of which four are its own."""
    usual, seen, frames = Usual(), SeenLines(1 << 12), Frames()
    for _ in range(30):
        usual.amount(80.0)
    found = []
    for number in range(3):
        text = f"this page is not here , did you look for {words(number, 4)}"
        page = Page("", b"", f"<p>{text}<p>menu</p>")
        news = seen.news(page.lines)
        texts, (_, _, lengths) = page.lower.split(b"\n"), page.lines.columns
        assert usual.is_much(news)
        assert usual.may_be_little(news.worth)
        found.append(usual.is_much(news.without_common(frames.own_shares, texts, lengths)))
    assert found == [True, False, False]


def test_lines_that_are_no_text_are_their_own():
    """As the address of what a page embeds."""
    frames = Frames()
    for _ in range(2):
        news = News(6, 6, 6.0, [0, 2])
        news = news.without_common(frames.own_shares, [b"one two three four"], [4, 1, 2])
    assert news.own == pytest.approx([4 * LEAST, 2])
    assert news.worth == pytest.approx(4 * LEAST + 2)


def test_words_that_a_line_has_in_common_for_two_reasons_are_taken_once():
    """Its first half is known, and so is a run in it: another line keeps all of its own."""
    news = News(12, 12, 12.0, [0, 1])
    texts = [b"one two three four five six", b"all of this is nowhere else"]
    for shares in ([0.5, 1.0], [0.25, 1.0], [0.5, 1.0]):
        news = news.without_common(lambda _, found=shares: found, texts, [6, 6])
    assert news.own == [1.5, 6.0]
    assert news.worth == 7.5
