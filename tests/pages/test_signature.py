"""What is kept of a page instead of the page."""

import gc
import struct
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from xxhash import xxh3_64_intdigest

from scrapy_urlcanon.pages import steady_text
from scrapy_urlcanon.pages.canonical_link import declared_canonical
from scrapy_urlcanon.pages.markup import folded_lines, parse, text_of
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.signature import (
    MAX_LINES,
    Boilerplate,
    Line,
    lines_of,
    simhash,
    unpack,
)


def signature(html, date=""):
    return Page("http://a.example/", html.encode(), html, date=date).signature


def test_lines_are_those_that_a_reader_sees():
    """Blocks end a line, and so does what stands in a drawing; scripts and comments are unseen."""
    html = """<?xml version="1.0" encoding="latin-1"?><TITLE>T</TITLE><script>a</script>
    <div>one<b> two</b><!-- b --> three<script><p>c</script> four<P>five<br>six</div>
    <svg><text>d</text><g><text>e</text></g>-<foreignObject><p>d<b>e</b><svg>-</svg></foreignObject>
    </svg>seven <template><p>f</p>g</template>eight
    <td\n class="x">nine</td>ten<pres>eleven</pres>"""
    assert folded_lines(text_of(parse(html))).decode().split("\n") == [
        *(
            "T",
            "one two three four",
            "five",
            "six",
            "d",
            "e",
            "de",
            "seven eight",
            "nine",
            "teneleven",
        )
    ]


def test_what_stands_in_the_fields_of_a_form_is_read():
    """Not what is hidden, sent by a button, searched for, or what the URL says itself."""
    fields = """<p>City <input> and: <input value="New York">
    <input TYPE=Email value=mayor@a.example>
    <input type=hidden value=token><input type=submit value=Save><input type=search value=found>
    <input style="display: none" value=unshown>
    <script><input value=unseen></script><input value="/news?id=7"><input value=12>"""
    url = "http://a.example/edit?back=%2Fnews%3Fid%3D7&id=12"

    def text(method):
        document = parse(f"<form {method}>{fields}</form><input value=outside>")
        return folded_lines(text_of(document, url=url)).decode().split("\n")

    assert text("method=POST") == ["City and:", "New York", "mayor@a.example"]
    assert text("") == text("method=get") == ["City and:"]


def test_column_that_a_table_is_ordered_by_is_no_content():
    """A table with one row is the same in any order, wherever the arrow is that says so."""

    def table(*titles, row="7 bugs"):
        cells = "".join(f"<th><a href=?>{title}</a></th>" for title in titles)
        return signature(f"<table><tr>{cells}</tr><tr><td>{row}</td></tr></table>").lines

    orders = [("ID ▲", "Größe"), ("ID", "Größe ▼"), ("ID", "Größe↑")]
    assert {table(*titles) for titles in orders} == {table("ID", "Größe")}
    assert table("ID", row="7 ▲") != table("ID", row="7 ▼")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("xml", "<feed><id>{}</id><link>http://a.example/f/{}</link></feed>"),
        ("plain", '{{"url": "{}", "first": "http://a.example/f/{}"}}'),
    ],
)
def test_address_that_data_was_got_from_is_no_content(kind, data):
    """A feed names itself, another way in each of its views; what lies below it is told apart."""

    def main(url, of, entry=1):
        text = data.format(of, entry)
        return Page(url, text.encode(), text, kind=kind).signature.main()

    views = ["http://a.example/f", "http://a.example/f?by=date"]
    assert main(views[0], views[0]) == main(views[1], views[1])
    assert main(views[0], views[0]) != main(views[0], views[1])
    assert main(views[0], views[0]) != main(views[0], views[0], entry=2)


def test_numbers_are_masked_in_every_script():
    """A count in Arabic, Thai or mathematical digits is a count."""
    digits = [chr(number) for number in range(0x110000) if chr(number).isdecimal()]
    assert {lines_of(f"page {digit}{digit}".encode())[0].masked for digit in digits} == {
        lines_of(b"page 7")[0].masked
    }


@pytest.mark.parametrize("text", ["", " ", "<!-- x -->"])
def test_page_without_a_document_is_compared_by_its_body(text):
    """It is one with the same body, and no other."""
    assert signature(text) == signature(text)
    assert signature(text).text_sha1 != signature(text + "<p>x").text_sha1
    assert declared_canonical(text, "http://a.example/") == ""


@pytest.mark.parametrize("word", ["reviews", "отзывов"])
def test_numbers_are_masked_in_any_script(word):
    """A line that counts is the same line on every page; one without a number is another."""
    lines = [
        signature(f"<p>{text}").lines[0]
        for text in (f"7 {word}", f"1204 {word}", f"0 {word}", word, f"{word} 7")
    ]
    assert len({line.masked for line in lines[:3]}) == 1
    assert len({line.masked for line in lines[2:]}) == 3
    assert len({line.exact for line in lines}) == 5


def test_lines_do_not_depend_on_case_and_tell_the_order():
    """They are what a near-duplicate is told by."""
    one, other, reverse = (signature(f"<p>{t}").lines for t in ("a b C é", "A b C É", "c b a É"))
    assert one == other != reverse
    assert [signature(f"<p>{'word ' * n}").lines[0].words for n in (1, 12)] == [1, 10]


def test_document_of_any_depth_is_read():
    """What libxslt takes for an endless recursion is read element by element."""
    tree = etree.fromstring("<p>a</p>", etree.HTMLParser())
    deep = tree
    for _ in range(5000):
        deep = etree.SubElement(deep, "div")
        deep.text, deep.tail = "b", "c"
    etree.SubElement(deep, "script").text = "unseen"
    assert text_of(tree).replace("\n", "") == "a" + "b" * 5000 + "c" * 5000


@pytest.mark.parametrize(
    "unit", ["<text>", "<svg><text>", "<svg><foreignObject>", "<form method=post><svg><text>"]
)
def test_texts_of_a_drawing_are_read_once(unit):
    """However they are nested: else a small page would have a text without end."""
    assert text_of(parse(f"<svg>{unit * 12}one")).split() == ["one"]


def test_time_of_the_visit_is_no_content():
    """A page that shows the time has the same lines at any time, in any time zone."""
    visits = [
        ("Sun, 22 Nov 2026 05:41:09 GMT", "05:41"),
        ("Sun, 22 Nov 2026 05:59:59 GMT", "6:00:00"),
        ("Sun, 22 Nov 2026 18:31:00 GMT", "00:01"),
        ("Sunday, 22-Nov-26 06:12:00 GMT", "1:11"),
    ]
    lines = {signature(f"<p>retrieved at {clock}, for free", date).lines for date, clock in visits}
    assert len(lines) == 1


TOKEN = "0123456789abcdef" * 2


@pytest.mark.parametrize("query", ["?format=api", "?a=1&b=c", f"?sid={TOKEN}"])
def test_what_was_asked_of_a_page_is_no_content(query):
    """An interface to try out, and the foot of a print view, name their own URL."""
    asked = "/books/7", f"/books/7{query}"
    found = {
        Page(
            f"http://a.example{it}",
            b"",
            f"<pre>GET {escape(it)}</pre><p>From http://a.example{escape(it)}, a book",
        ).signature.text_sha1
        for it in asked
    }
    assert len(found) == 1


def test_what_was_asked_of_another_page_is_content():
    """A link that is spelled out, such as that to the next page, tells what follows."""
    url = "http://a.example/books?page=1"
    texts = ("/books?page=2", "/books?page=12", "/books?page=1&to=9", "/films?page=1", "/books")
    found = {Page(url, b"", f"<p>See {text} next").signature.text_sha1 for text in texts}
    assert len(found) == len(texts)


def test_age_in_hours_or_less_is_no_content():
    """A page that says how long ago something was has the same lines a while later."""
    ages = "59 seconds", "a minute", "8 minutes, 3 seconds", "an hour", "1 day, 3 hours"
    lines = {signature(f"<p>Changed {age} ago by Ann, 12 lines").lines for age in ages}
    assert len(lines) == 1


def test_what_stands_beside_an_age_is_content():
    """Before it, behind it and between two of them."""
    words = [("Changed", "by Ann", "lines"), ("Moved", "by Ann", "lines")]
    words += [("Changed", "by Bob", "lines"), ("Changed", "by Ann", "files")]
    pages = [
        signature(f"<p>{before} an hour ago {between} 3 minutes ago, {behind}")
        for before, between, behind in words
    ]
    assert len({page.lines for page in pages}) == len({page.text_sha1 for page in pages}) == 4


@pytest.mark.parametrize("age", ["3 days ago", "8 minutes", "8 minutes to go", "a long time ago"])
def test_other_ages_and_durations_are_content(age):
    """What took 8 minutes took no 9, and an age in days stays as it is for a crawl."""
    assert signature(f"<p>{age}").lines[0].exact == lines_of(age.encode())[0].exact


@pytest.mark.parametrize(
    "date", ["Sun, 22 Nov 2026 05:41:00 GMT", "", "now", "1 Jan 99999999 :", ","]
)
def test_other_times_are_content(date):
    """Two departures are two pages; without a date of the response every time is content."""
    lines = {
        signature(f"<p>departs at {clock}", date).lines
        for clock in ("10:00", "10:30", "10:44", "5:39", "17:59")
    }
    assert len(lines) == 5
    if not date.startswith("Sun"):
        now = "<p>departs at 5:41"
        assert signature(now, date).lines[0].exact == signature(now).lines[0].exact


@pytest.mark.parametrize(
    "when",
    [
        "2023-05-02T12:42:11+00:00",
        "May 2, 2023 at 09:12 pm",
        "22 November 2025 - 12:41",
        "Tue May  2 12:42:00 2023",
        "12:41, 3 November 2026",
        "Created on Thu, 1 Jan 2026 05:41:09 +0100",
    ],
)
def test_time_of_another_day_is_content(when):
    """A post of half past twelve is the same at any visit, also at half past six."""
    dates = [f"Sun, 22 Nov 2026 05:{minute}:09 GMT" for minute in (12, 41, 55)]
    assert len({signature(f"<p>{when} by Ann", date).lines for date in (*dates, "")}) == 1


@pytest.mark.parametrize(
    ("when", "hour"),
    [
        ("2026-11-22T{}:09Z", "05"),
        ("It is {} on 22 November 2026", "19"),
        ("Nov 21 2026, {} PST", "21"),
        ("Nov 21 2026, {} p.m.", "9"),
        ("Nov 22 2026, {}AM", "12"),
    ],
)
def test_time_of_the_visit_beside_its_day_is_no_content(when, hour):
    """The day may be the one before, or the one after, in another time zone."""
    lines = {
        signature(
            "<p>" + when.format(f"{hour}:{minute}"), f"Sun, 22 Nov 2026 05:{minute}:09 GMT"
        ).lines
        for minute in (41, 57, 11)
    }
    assert len(lines) == 1


@pytest.mark.parametrize(
    "when", ["21 Nov 2026 at 05:41", "Nov 21 2026, 3:11 PM", "2026-11-22 20:41", "23 Nov 2026 1:41"]
)
def test_time_that_it_is_nowhere_beside_its_day_is_content(when):
    """No time zone is so far from UTC that it is that time there."""
    dates = ["", *(f"Sun, 22 Nov 2026 05:{minute}:09 GMT" for minute in (41, 55))]
    assert len({signature(f"<p>{when} by Ann", date).lines for date in dates}) == 1


@pytest.mark.parametrize("line", ["22 November 2026 at {}", "{}", "Today, {}"])
def test_times_of_a_list_are_content(line):
    """One of its posts was made as many minutes past an hour as it is now, and stays."""
    posts = [line.format(clock) for clock in ("01:03", "3:10", "04:47", "04:54")]
    page = "".join(f"<p>{post}<p>A title" for post in posts)
    dates = [f"Sun, 22 Nov 2026 05:{minute}:09 GMT" for minute in (10, 18, 25, 54, 59)]
    assert len({signature(page, date).lines for date in (*dates, "")}) == 1


def test_time_of_the_visit_beside_a_list_is_no_content():
    """Nor is one that a page has at its head and at its foot."""
    posts = "".join(f"<p>22 November 2026 at 0{hour}:20" for hour in range(5))
    lines = {
        signature(f"<p>{now}{posts}<p>Made at {now}<p>{now}", f"{date} {now}:09 GMT").lines
        for date, now in (("Sun, 22 Nov 2026", "05:41"), ("Sun, 22 Nov 2026", "06:59"))
    }
    assert len(lines) == 1


def test_line_of_many_times_is_read_once(monkeypatch):
    """A page may be one line of very many: each of them stands in the same one."""

    class Reading:
        lines = 0

        def sub(self, number, line):
            Reading.lines += 1
            return line.replace(b"5", number)

    monkeypatch.setattr(steady_text, "_NUMBER", Reading())
    text = b"one\n" + b"at 05:41, " * 9 + b"\nit is 05:41"
    hidden = steady_text.steady(text, "Sun, 22 Nov 2026 05:41:09 GMT")
    assert hidden == b"one\n" + b"at 0:00, " * 9 + b"\nit is 0:00"
    assert Reading.lines == 2


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_first_and_last_day_of_all_are_no_error(year):
    """A header may say any date."""
    page = "<p>departs at 5:41"
    assert signature(page, f"Fri, 31 Dec {year} 05:41:00 GMT").lines
    assert signature(page, f"Mon, 01 Jan {year} 05:41:00 GMT").lines


def test_packed_lines_come_back():
    """All of them, each hash in 40 bits, and nothing of what was cut short."""
    made = signature("<p>Ünï 12 c d<p>one<p>a b" + "<p>z" * 3)
    packed = made.pack()
    assert [*unpack(packed)] == [
        Line(line.masked % 2**40, line.exact % 2**40, line.words) for line in made.lines
    ]
    assert [*unpack(b"")] == []
    for length in range(1, len(packed)):
        with pytest.raises(ValueError, match="unpack"):
            unpack(packed[:length])


def test_page_is_read_without_an_object_for_each_line():
    """To make them, and to have the garbage collector look at them, takes longer than all else."""
    page = Page("http://a.example/", b"x", "".join(f"<p>line {n}" for n in range(300)))
    assert unpack(page.signature.pack()).columns[2] == bytes([2]) * 300
    assert page.digest.sketch
    assert sum(isinstance(each, Line) for each in gc.get_objects()) < 10


def test_signature_is_bounded():
    """A page of any length is kept in some 10 kB, and one of usual length in less than 1.5 kB."""
    long = signature("".join(f"<p>line {number} of many words" for number in range(5000)))
    assert len(long.lines) == MAX_LINES
    assert len(long.pack()) < 12_000
    usual = signature("".join(f"<p>line {number} of some words" for number in range(100)))
    assert len(usual.pack()) < 1_200


def long_page(word, last=""):
    numbers = "".join(f"<p>{number}" for number in range(MAX_LINES))
    return signature(numbers + "".join(f"<p>{word} {n % 700} of it" for n in range(1400)) + last)


def test_pages_that_differ_behind_a_thousand_lines_are_two():
    """So do sources beside the numbers of their lines; what moves at each visit does not count."""
    one, other = long_page("one", "<p>1"), long_page("other", "<p>1")
    visited = long_page("one", "<p>2")
    assert len({one.main()[0], other.main()[0], visited.main()[0]}) == 3
    assert (one.main()[1] ^ other.main()[1]).bit_count() > 8
    assert (one.main()[1] ^ visited.main()[1]).bit_count() <= 3
    noise = Boilerplate(noise={one.lines[-1].masked})
    assert one.main(noise) == visited.main(noise)
    assert len(one.lines) == MAX_LINES


def test_simhash_is_near_for_near_texts():
    """One feature of a thousand makes a few bits of difference, other features half of them."""
    features = [number * 2654435761 % 2**32 for number in range(1000)]
    once = [1] * len(features)
    near = simhash([*features[1:], 7], once)
    other = simhash([feature ^ 0x5555 for feature in features], once)
    assert (simhash(features, once) ^ near).bit_count() <= 4
    assert (simhash(features, once) ^ other).bit_count() > 16
    assert simhash(features, once) == simhash(features[::-1], once)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=40), st.integers(0, 40))
def test_simhash_has_the_bits_of_most_features(features, repeated):
    """A bit is set where the digests of more than half of the features have it, of any number."""
    features += features[:1] * repeated
    digests = [xxh3_64_intdigest(struct.pack("<Q", feature)) for feature in features]
    counts = [sum(digest >> bit & 1 for digest in digests) for bit in range(64)]
    most = sum((2 * count > len(digests)) << bit for bit, count in enumerate(counts))
    assert simhash(features, [1] * len(features)) == most


def test_rows_of_a_listing_do_not_outvote_its_entries():
    """Two listings with other entries are not near each other for the words of their columns."""

    def listing(entries):
        rows = [f"<tr><td>{entry}<td>posted by some member on a certain day" for entry in entries]
        return signature("<table>" + "".join(rows)).main()[1]

    one, other = (
        listing(f"subject{i} of{i * 7} matter{i * 3} here{i}" for i in range(start, start + 25))
        for start in (0, 100)
    )
    assert (one ^ other).bit_count() > 8
