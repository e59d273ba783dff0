"""What is new in lines whose words stand in the same order on other pages."""

from trap_sites import words

from scrapy_urlcanon.novelty.runs import Runs

SENTENCES = [words(n, 9) for n in range(6)]


def shares(pages):
    """Return how much of their lines is their own, page by page."""
    runs = Runs()
    return [runs.own_shares([line.encode() for line in lines]) for lines in pages]


def test_sentences_in_another_order_are_known():
    """Wherever a line ends: what is new is how one follows the other."""
    assert shares([SENTENCES, [" ".join(SENTENCES[::-1])]])[1] == [0.0]


def test_part_of_a_sentence_is_known():
    """As where a search shows some words before and after what it was asked for."""
    some = " ".join(SENTENCES[0].split()[2:7])
    assert shares([SENTENCES, [f"of {some} and so"]])[1] == [3 / 8]


def test_three_words_are_no_run():
    """By chance as many stand in any text."""
    three = " ".join(SENTENCES[0].split()[:3])
    assert shares([SENTENCES, [f"{three} is another matter", three]])[1] == [1.0, 1.0]


def test_words_in_another_order_are_new():
    """What a text says is how its words follow one another."""
    assert shares([SENTENCES, [" ".join(SENTENCES[0].split()[::-1])]])[1] == [1.0]


def test_lines_of_one_page_say_nothing_of_each_other():
    """A page that repeats itself is new where no other page has it."""
    assert shares([[SENTENCES[0], f"once more: {SENTENCES[0]}"]]) == [[1.0, 1.0]]


def test_lines_without_words_are_no_error():
    """Nothing stands in them, and nothing is known."""
    assert shares([["", " "]]) == [[1.0, 1.0]]
