"""What of the pages of one site is another at each visit, and what is of one page alone."""

from scrapy_urlcanon.pages.noise import Noise

COUNTER, TEASER, MENU, PART, TEXT = range(1, 6)


def test_lines_of_one_page_are_no_noise_and_no_other_page_has_them():
    """Noise is what changed at this visit, or at two of other pages; a number is a page's own."""
    noise = Noise()
    for visit in (20, 30):
        noise.note({COUNTER: {visit}}, {COUNTER: {visit + 1}})
        noise.saw(visit, {MENU: {MENU}, PART: {PART}})
    shown = [(COUNTER, 40), (TEASER, TEASER), (MENU, MENU), (PART, 50), (TEXT, TEXT)]
    assert noise.of_one_page(shown, changed={TEASER}) == {(PART, 50), (TEXT, TEXT)}
