"""Whether two responses are one page: one answer, in a crawl and in what is learned of it."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.learn.observation import Observation
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.same_page import PageDigest, same_page, similarity

WORDS = [f"word{number}" for number in range(60)]
TEXT = " ".join(WORDS)


def page(html, **headers):
    return Page("http://a.example/", html.encode(), html, **headers)


def observed(one):
    main, simhash = one.signature.main()
    title = one.signature.title
    return Observation(one.url, title=title, main_sha1=main, simhash64=simhash)


PAIRS = {
    "the same": (TEXT, TEXT, True),
    "another title": (f"<title>A</title>{TEXT}", f"<title>B</title>{TEXT}", False),
    "a title and none": (f"<title>A</title>{TEXT}", TEXT, False),
    "another order of words": (TEXT, " ".join(WORDS[::-1]), False),
    "another order of lines": ("<p>a<p>b", "<p>b<p>a", True),
    "a token that can be seen": (f"{TEXT} {7:032x}", f"{TEXT} {8:032x}", True),
    "a token in the title": (f"<title>{7:032x}</title>", f"<title>{8:032x}</title>", True),
    "another case of letters": (TEXT, TEXT.upper(), True),
    "another text": (TEXT, " ".join(f"other{number}" for number in range(60)), False),
    "a short text": ("one page", "another page", False),
    "an image": ("<img src=/a/1.jpg>", "<img src=/a/2.jpg>", False),
    "an image that a script loads": (
        "<img src=/x.gif data-src=/a/1.jpg>",
        "<img src=/x.gif data-src=/a/2.jpg>",
        False,
    ),
    "an image in sizes": ("<img srcset='/1.jpg 1x, /b.jpg 2x'>", "<img srcset='/2.jpg 1x'>", False),
    "an image with a space": ("<img src='/a 1.jpg'>", "<img src='/a 2.jpg'>", False),
    "a film": ("<video><source src=/1.mp4></video>", "<video><source src=/2.mp4></video>", False),
    "a sound": ("<audio src=/1.mp3></audio>", "<audio src=/2.mp3></audio>", False),
    "a film of another site": ("<iframe src=//v.example/1>", "<iframe src=//v.example/2>", False),
    "a frame": ("<frameset><frame src=/1.html>", "<frameset><frame src=/2.html>", False),
    "an object": ("<object data=/1.swf></object>", "<object data=/2.swf></object>", False),
    "a button about the page": (
        "<iframe src='//s.example/like?href=1'></iframe>",
        "<iframe src='//s.example/like?href=2'></iframe>",
        True,
    ),
    "the time of an image": ("<img src=/a.jpg?1>", "<img src=/a.jpg?2>", True),
    "a script": ("<p>a<script>b</script>", "<p>a<script>c</script>", True),
    "a page that a script makes": (
        "<title>a</title><div></div><script>show({id: 1})</script>",
        "<title>a</title><div></div><script>show({id: 2})</script>",
        False,
    ),
    "a page that one script makes": (
        "<title>a</title><div></div><script>show({id: 1})</script>",
        "<title>a</title><div> </div><script>show({id: 1})</script>",
        True,
    ),
    "a page that a script makes of an attribute": (
        "<title>a</title><div data-page='{id: 1}'></div>",
        "<title>a</title><div data-page='{id: 2}'></div>",
        False,
    ),
    "an element that a script defines": (
        "<title>a</title><x-item number=1></x-item>",
        "<title>a</title><x-item number=2></x-item>",
        False,
    ),
    "nothing that is shown": (
        "<div id=root></div><script src=/app.js></script>",
        "<div id=root></div><script src=/app.js></script>",
        False,
    ),
    "data that is called HTML": (
        '{"id": 1, "name": "one"}',
        ' {"name": "one", "id": 1}\n',
        True,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_crawl_and_learner_give_one_answer(name):
    """The audit of a crawl and what is learned from its store agree about two pages."""
    one, other, expected = PAIRS[name]
    pages = page(one), page(other)
    assert bool(same_page(*(p.digest for p in pages))) is expected
    assert observed(pages[0]).same_page(observed(pages[1])) is expected


def test_time_of_the_visit_is_no_content():
    """A page that shows when it was made is one page, and one with another time is not."""
    one, other = (
        page(f"<p>Printed at {clock}", date=f"Sun, 22 Nov 2026 {clock}:00 GMT").digest
        for clock in ("12:30", "12:44")
    )
    assert same_page(one, other)
    departure = page("<p>Printed at 12:44", date="Sun, 22 Nov 2026 12:30:00 GMT").digest
    assert same_page(one, departure) is False


def test_little_that_differs_in_a_long_text_is_noise():
    """A counter in 200 words is one, twenty words in a row are another page."""
    words = [f"word{number}" for number in range(200)]
    one, counter, more = (
        page(" ".join([*words, *rest])).digest
        for rest in (["1"], ["2"], [f"more{number}" for number in range(20)])
    )
    assert same_page(one, counter)
    assert same_page(one, more) is False


def test_what_is_no_text_is_compared_by_its_bytes_alone():
    """Equal bytes are one page; of others nothing can be said, whatever they are beside."""
    image, other = (Page("http://a.example/", body).digest for body in (b"PNG 1", b"PNG 2"))
    assert same_page(image, image)
    assert same_page(image, other) is None
    assert same_page(image, page(f"<title>A</title>{TEXT}").digest) is None


def test_plain_text_is_read():
    """JSON and plain text have lines as a page has, and no markup."""
    one, other = (
        Page("http://a.example/", b"", text, kind="plain").digest
        for text in (f'{{"a": "{TEXT}", "b": "{n:032x}"}}' for n in (1, 2))
    )
    assert same_page(one, other)


@given(st.sets(st.integers(0, 2**32 - 1), max_size=100), st.sets(st.integers(0, 2**32 - 1)))
def test_similarity_of_short_texts_is_exact(one, other):
    """It is the share of what both have, as long as the sketches hold all there is."""
    other = set(sorted(other)[:100]) | set(sorted(one)[:20])
    union = one | other
    expected = len(one & other) / len(union) if union else 1.0
    sketches = (array("I", sorted(numbers)[:128]).tobytes() for numbers in (one, other))
    if len(union) <= 128:
        assert similarity(*sketches) == expected


def test_similarity_of_long_texts_is_estimated():
    """Of 2,000 pairs of words 128 say within a few hundredths how many are the same."""
    words = [f"{number * 2654435761 % 2**32:x}" for number in range(2000)]
    for share in (0.5, 0.9, 0.998):
        kept = int(len(words) * share)
        one = page("<p>".join(words)).digest
        other = page("<p>".join([*words[:kept], *(f"x{word}" for word in words[kept:])])).digest
        expected = share / (2 - share)
        assert abs(similarity(one.sketch, other.sketch) - expected) < 0.12
        assert same_page(one, other) is (expected >= 0.95)


def test_no_evidence_is_no_answer():
    """Two captures of which nothing is known are not one page for that."""
    assert same_page(PageDigest(b""), PageDigest(b"")) is None
    nothing = Observation("http://a.example/")
    assert nothing.same_page(nothing) is False


def test_pages_with_different_titles_are_two_whatever_else_is_equal():
    """A catalogue that leaves out the product that it does not have may differ in nothing else."""
    contents = (
        {"digest": b"of the text"},
        {"digest": b"", "sketch": array("I", range(9)).tobytes()},
        {"digest": b"", "simhash": 7},
    )
    for content in contents:
        one, other = (PageDigest(**content, title=title) for title in (1, 2))
        assert same_page(one, one)
        assert not same_page(one, other)
    rows = (Observation("http://a.example/", main_sha1=40 * "a", title=title) for title in (1, 2))
    assert not next(rows).same_page(next(rows))


def test_what_is_known_of_one_page_alone_is_no_answer():
    """Whichever of the two it is known of."""
    known = PageDigest(b"", sketch=array("I", range(9)).tobytes(), simhash=7)
    assert same_page(known, PageDigest(b"")) is None
    assert same_page(PageDigest(b""), known) is None
