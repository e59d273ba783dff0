"""Blocks that are others at each visit are told from what is a page's own."""

import zlib

import pytest

from scrapy_urlcanon.pages.blocks import (
    Blocks,
    outline_of,
    pack_outlines,
    unpack_outlines,
)
from scrapy_urlcanon.pages.signature import lines_of, lines_of_lower

HOME, FOOT, PICTURE = b"Home page", b"Imprint and so on", b"/a.png"


def page(*content, media=(PICTURE,)):
    return lines_of_lower(b"\n".join([HOME, *content, FOOT]).lower(), media)


def visited(*pages):
    return [tuple(map(outline_of, two)) for two in pages]


def text(number):
    return b"text of page %s" % (b"abcdefghijklmnopqrstuvwxyz"[number : number + 1] * 3)


def advice(number):
    return b"advice %s" % (b"abcdefghijklmnopqrstuvwxyz"[number : number + 1] * 5)


def left(blocks, lines):
    return [*blocks.left_of(lines)]


def test_block_beside_one_line_is_left_out_where_all_visits_showed_one():
    """It is always of as many lines; with a visit less, all of a page is its own."""
    two = [(page(text(n), advice(n)), page(text(n), advice(n + 1))) for n in range(8)]
    other = page(text(20), advice(20))
    assert left(Blocks(visited(*two)), other) == left(Blocks([]), page(text(20)))
    assert left(Blocks(visited(*two[:7])), other) == [*other]


def test_block_that_was_the_same_by_chance_is_found_by_texts_of_other_pages():
    """A page without one keeps the line that stands there, which no other page has."""
    changed = [(page(text(n), advice(n)), page(text(n), advice(n + 1))) for n in range(9)]
    same = (page(text(9), advice(3)), page(text(9), advice(3)))
    texts = [page(text(n), advice(n % 10)) for n in range(25)]
    blocks = Blocks(visited(*changed, same), texts=lambda: texts)
    assert left(blocks, texts[24]) == [*page(text(24))]
    alone = page(text(1), b"a line of this page")
    assert left(blocks, alone) == [*alone]


def test_line_of_one_page_is_its_own_however_often_that_was_made():
    """What makes two texts of a page, such as a counter in words, makes no two pages of it."""
    changed = [(page(text(n), advice(n)), page(text(n), advice(n + 1))) for n in range(9)]
    same = (page(text(9), advice(3)), page(text(9), advice(3)))
    greetings = [b"Good morning", b"Good evening"]
    noise = {line.masked for line in lines_of(b"\n".join(greetings))}
    alone = [page(greeting, text(1), b"a line of this page") for greeting in greetings]
    blocks = Blocks(visited(*changed, same), noise, lambda: alone)
    assert [left(blocks, one) for one in alone] == [[*one] for one in alone]


def test_block_of_more_or_fewer_lines_is_left_out_as_far_as_it_always_goes():
    """Behind an advice there is another one at times."""
    two = [
        (page(text(n), advice(n)), page(text(n), advice(n + 1), advice(n + 9))) for n in range(8)
    ]
    heading = [
        (page(b"Advice", *rest), page(b"Advice", *more))
        for rest, more in (
            ((advice(n), text(n)), (advice(n + 1), advice(n + 9), text(n))) for n in range(8)
        )
    ]
    blocks = Blocks(visited(*heading))
    assert left(blocks, page(b"Advice", advice(20), text(20))) == [*page(b"Advice", text(20))]
    assert left(Blocks(visited(*two)), page(text(20), advice(20))) == [*page(text(20))]


def test_what_is_embedded_is_a_block_of_its_own():
    """Of an advertisement with a picture both are left out."""

    def advertised(number, by):
        return page(text(number), advice(by), media=(b"/ads/%d.png" % by,))

    two = [(advertised(n, n), advertised(n, n + 9)) for n in range(8)]
    blocks = Blocks(visited(*two))
    assert left(blocks, advertised(20, 25)) == [*page(text(20), media=())]
    # A picture of its own is among them.
    assert (
        left(blocks, page(media=(b"/1.png", b"/2.png")))[-2:]
        == [*page(media=(b"/1.png", b"/2.png"))][-2:]
    )


def test_lines_that_are_noise_tell_no_place():
    """Two visits of a random choice may have one line in common, in the midst of the others."""
    heading = b"Others read"

    def chosen(number, *others):
        return page(text(number), heading, *map(advice, others), text(number) + b" too")

    two = [(chosen(n, 3 * n % 20, 21, 22), chosen(n, 23, 21, 3 * n % 20 + 1)) for n in range(8)]
    noise = {lines_of(advice(21))[0].masked}
    other = chosen(20, 5, 21, 7)
    assert left(Blocks(visited(*two), noise), other) == [*chosen(20)]
    assert left(Blocks(visited(*two)), other) != [*chosen(20)]


def links(number):
    """Return labels of links, each of them several times, of which any may be the first one."""
    labels = [b"more", b"reply"]
    return [labels[number % 2], *(3 + number % 4) * labels]


def test_block_is_found_by_the_first_of_lines_that_a_page_has_several_times():
    """Behind a text with an advice are links, the first of which is another one on each page."""

    def own(number):
        return [text(number) + word for word in (b"", b" and", b" so", b" on")[: 1 + number % 4]]

    two = [
        (page(*own(n), advice(n), *links(n)), page(*own(n), advice(n + 1), *links(n)))
        for n in range(8)
    ]
    blocks = Blocks(visited(*two))
    for number in (20, 21):
        other = page(*own(number), advice(number), *links(number))
        assert left(blocks, other) == [*page(*own(number), *links(number))]


def test_links_before_which_nothing_moved_at_a_visit_tell_no_block():
    """Where some pages have no advice before their links, it may be any page."""
    two = [
        (page(text(n), advice(n), *links(n)), page(text(n), advice(n + 1), *links(n)))
        for n in range(12)
    ]
    same = [(page(text(n), *links(n)), page(text(n), *links(n))) for n in (20, 21)]
    blocks = Blocks(visited(*two, *same))
    for number in (22, 23):
        alone = page(text(number), b"a line of this page", *links(number))
        assert left(blocks, alone) == [*alone]


def test_line_that_a_page_has_several_times_is_part_of_no_block():
    """A label that a page lacks at one visit is noise, and stands beside what is chosen anew."""
    two = [
        (
            page(*[text(n)] * (n % 4), advice(n), *links(n)),
            page(*[text(n)] * (n % 4), advice(n + 1), *links(n)),
        )
        for n in range(9)
    ]
    noise = {line.masked for line in lines_of(b"\n".join(links(0)))}
    own = b"a line of this page"
    other = page(own, advice(20), *links(20))
    assert left(Blocks(visited(*two), noise), other) == [*page(own, *links(20))]


def test_line_that_all_pages_have_tells_a_block_before_lines_of_which_each_has_one():
    """The text before an advice ends in one of a few ways: elsewhere it may end in another one."""
    ends = [b"Open from Monday", b"Open at weekends", b"Closed", b"Open on request"]
    two = [
        tuple(page(text(n), ends[n % 3], advice(by), b"Our address") for by in (n, n + 1))
        for n in range(9)
    ]
    other = page(text(20), ends[3], advice(20), b"Our address")
    assert left(Blocks(visited(*two)), other) == [*page(text(20), ends[3], b"Our address")]


def test_block_before_one_of_several_lines_may_be_shorter_at_a_visit():
    """Of two chosen texts one is there at both visits by chance, once."""
    chosen = [(n, n + 5, n + 10, n + 15) for n in range(9)] + [(9, 14, 19, 14)]
    two = [
        (
            page(*[text(n)] * (n % 4), advice(a), advice(b), *links(n)),
            page(*[text(n)] * (n % 4), advice(c), advice(d), *links(n)),
        )
        for n, (a, b, c, d) in enumerate(chosen)
    ]
    texts = [page(text(n), advice(n % 20), advice(n % 20 + 5), *links(n)) for n in range(24)]
    blocks = Blocks(visited(*two), texts=lambda: texts)
    assert left(blocks, texts[22]) == [*page(text(22), *links(22))]


def test_block_of_pages_that_have_a_line_is_found_by_it_whatever_other_pages_have():
    """Views to print have neither the foot nor the advice before it."""
    two = [(page(text(n), advice(n)), page(text(n), advice(n + 1))) for n in range(8)]
    printed = [lines_of(text(n)) for n in range(6)]
    blocks = Blocks(visited(*two, *zip(printed, printed, strict=True)))
    assert left(blocks, page(text(20), advice(20))) == [*page(text(20))]
    assert left(blocks, printed[0]) == [*printed[0]]


def test_line_that_is_there_at_some_visits_leaves_its_place_to_the_page():
    """Where half of the visits show an offer behind the menu, the others show the text there."""
    offer = b"Try it now"
    two = [
        (page(offer, text(n)), page(text(n))) if n % 3 else (page(offer, text(n)),) * 2
        for n in range(12)
    ]
    blocks = Blocks(visited(*two), {lines_of(offer)[0].masked})
    assert left(blocks, page(text(20))) == [*page(text(20))]


def test_block_is_found_by_a_counter_beside_it():
    """Its number is another one at each visit, and it is always there."""

    def counted(number, visitors, by):
        return page(text(number), b"%d visitors" % visitors, advice(by), text(number) + b" too")

    two = [(counted(n, 3 * n, n), counted(n, 3 * n + 1, n + 1)) for n in range(8)]
    counter = lines_of(b"0 visitors")[0].masked
    blocks = Blocks(visited(*two), {counter}, counters={counter})
    kept = [*counted(20, 7, 20)]
    del kept[3]
    assert left(blocks, counted(20, 7, 20)) == kept


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        b"",
        b"\0",
        zlib.compress(b"\1"),
        zlib.compress(b"\1\0" + 9 * b"\2"),
        zlib.compress(b"\2\0" + bytes(8)),
    ],
)
def test_outlines_that_were_cut_short_are_an_error(data):
    """Whatever a store has in their place."""
    with pytest.raises(ValueError, match=r"."):
        unpack_outlines(data)


def test_outlines_are_bounded():
    """A few bytes may unpack to ever so many."""
    with pytest.raises(ValueError, match=r"."):
        unpack_outlines(zlib.compress(bytes(10**7 + 1)))


def test_outlines_are_read_as_they_were_written():
    """However many lines there are."""
    for count in (0, 1, 400):
        outline = outline_of(lines_of(b"\n".join(map(text, range(25))))) * (count // 25)
        assert unpack_outlines(pack_outlines(outline, [])) == (
            [number & (1 << 40) - 1 for number in outline],
            [],
        )
