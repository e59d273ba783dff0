"""Verdicts over pairs of URLs, from what was fetched of each."""

import random
from collections import Counter
from itertools import count, product
from time import process_time

import pytest

from scrapy_urlcanon.pages.moving_lines import moving_lines, own_of
from scrapy_urlcanon.pages.noise import Noise
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.shown import Shown
from scrapy_urlcanon.pages.two_pages import TwoPages
from scrapy_urlcanon.pages.verdict import Comparison, Judgement, Side, Verdict

KEPT, VARIANT = "http://a.example/p", "http://a.example/p?x=1"
MENU = "".join(f"<li>menu {word}" for word in "abcdefghij")
CATS, DOGS = (
    "".join(f"<p>A {animal} {n * 'and one '}" for n in range(4)) for animal in ("cat", "dog")
)


def shown(text, title="T"):
    page = Page(KEPT, b"", f"<title>{title}</title>{MENU}<p>The text of it<p>{text}")
    return Shown(page, page.digest)


def verdict_of(kept, variant, noise=None):
    """Return the verdict, and what was fetched, where each side shows what a function returns."""
    fetched = []

    def fetch(side):
        fetched.append(side)
        return (kept if side is Side.KEPT else variant)(len(fetched))

    comparison = Comparison(fetch(Side.KEPT).digest, noise or Noise(), KEPT, VARIANT)
    result = Side.VARIANT
    while isinstance(result, Side):
        result = comparison.add(result, fetch(result))
    assert isinstance(result, Judgement)
    return result, fetched[1:]


def test_moving_line_is_of_neither_page_where_several_visits_show_most_of_it():
    """Whichever of them is looked at first, and however often one shows it."""
    visits = [shown(f"<p>Blue shoes of leather, seen {turn} times" * 2) for turn in (4, 7, 9)]
    lines = moving_lines(*visits[:2])
    assert lines
    assert own_of(lines, visits[1:]) == []
    assert own_of(lines, [shown("<p>Green shoes")]) == lines


def test_time_to_compare_grows_with_the_pages():
    """However many lines of one may be part of a long line of the other."""
    words = ["".join(chosen) for chosen in product("abcdefghij", repeat=4)]
    lines = [f"<p>a {word}" for word in words]
    many = shown("".join(lines))
    line = f"a {' '.join(reversed(words))}"
    pages = TwoPages(many.digest, Noise(), KEPT, VARIANT, page=None, variant_page=None)
    assert pages.add_kept(many)
    other = shown("".join(lines[:4_000]) + f"<p>{line}")
    start = process_time()
    assert moving_lines(many, other) == []
    assert not pages.repeats("a".join(words))
    assert process_time() - start < 0.15


def test_same_lines_need_no_control():
    """One fetch of the variant is enough where it shows what the page showed."""
    result, fetched = verdict_of(lambda _: shown("A"), lambda _: shown("A"))
    assert (result.verdict, fetched) == (Verdict.SAME, [Side.VARIANT])


def test_another_page_is_fetched_twice_and_says_by_which_lines():
    """What both fetches of it show, and the page never does, decides."""
    result, fetched = verdict_of(lambda _: shown(CATS), lambda _: shown(DOGS))
    assert (result.verdict, fetched) == (Verdict.ANOTHER, [Side.VARIANT, Side.KEPT, Side.VARIANT])
    assert (result.only_variant[0], result.only_kept[0]) == ("A dog", "A cat")


def _below_a_large_menu(word):
    items = "".join(f"<li>{'-'.join(letters)}" for letters in product("abcdefgh", repeat=3))
    return shown(f"{items}<p>{' '.join(f'{word}{number}' for number in range(60))}")


def _numbers_in_cells(word):
    numbers = random.Random(word).choices(range(100_000), k=400)
    return shown("".join(f"<td>{number}" for number in numbers))


@pytest.mark.parametrize("page_of", [_below_a_large_menu, _numbers_in_cells])
def test_what_differs_among_many_lines_tells_two_pages(page_of):
    """The sample that is kept of the lines of a page may have none of those that differ."""
    result, _ = verdict_of(lambda _: page_of("cat"), lambda _: page_of("dog"))
    assert result.verdict is Verdict.ANOTHER


def test_same_words_in_other_lines_are_one_page():
    """Not so the same words in another order: it may be what a page says."""
    text = "The red fox<p>jumps over the blue dog, and sleeps"
    moved = text.replace("<p>", " ").replace(", ", ",<p>")
    result, fetched = verdict_of(lambda _: shown(text), lambda _: shown(moved))
    assert (result.verdict, fetched) == (Verdict.SAME, [Side.VARIANT, Side.KEPT])
    other = moved.replace("red", "grey").replace("blue", "red").replace("grey", "blue")
    result, _ = verdict_of(lambda _: shown(text), lambda _: shown(other))
    assert result.verdict is Verdict.ANOTHER


def test_servers_that_take_turns_show_one_page():
    """What is on every other page that a site sends is not what a URL has of its own."""
    turn = count(1)

    def fetch(_):
        return shown(f"A cat<p>This is server {'AB'[next(turn) % 2]}")

    result, fetched = verdict_of(fetch, fetch)
    assert (result.verdict, fetched) == (Verdict.SAME, [Side.VARIANT, Side.KEPT, Side.KEPT])


@pytest.mark.parametrize(
    ("variant_page", "verdict"), [("v", Verdict.ANOTHER), (None, Verdict.CANNOT_TELL)]
)
def test_what_the_variant_alone_shows_is_its_own_where_the_spider_has_it(variant_page, verdict):
    """It was noted as what that page shows: no other page shows it for that."""
    noise, ads = Noise(), iter("ABCDEFGHIJKL")

    def fetch(text):
        return shown(f"{text}<p>Advertisement {next(ads)}")

    kept, variant = fetch("A cat"), fetch("A dog")
    noise.saw("k", kept.lines)
    noise.saw("v", variant.lines)
    comparison = Comparison(
        kept.digest, noise, KEPT, VARIANT, page="k", variant_page=variant_page, visits=4
    )
    result = comparison.add(Side.VARIANT, variant)
    while isinstance(result, Side):
        result = comparison.add(result, fetch("A cat" if result is Side.KEPT else "A dog"))
    assert result.verdict is verdict


def test_what_other_pages_show_and_comes_and_goes_condemns_nothing():
    """A block that was there twice by chance is no page."""
    noise = Noise()
    for number in range(3):
        for page in "ab":
            noise.saw(page, shown(f"Teaser {'xyz'[number]}").lines)
    teasers = iter("yzyx")
    result, _ = verdict_of(
        lambda n: shown("A cat<p>Teaser x" if n % 2 else "A cat<p>Teaser z"),
        lambda _: shown(f"A cat<p>Teaser {next(teasers, 'y')}"),
        noise,
    )
    assert result.verdict is not Verdict.ANOTHER


MOVING = {
    "a counter": lambda n: f"Visit: {n}",
    "a sentence": lambda n: f"Sentence {chr(96 + n) * 5} of many",
    "a token": lambda n: f"Token {random.Random(n).randbytes(8).hex()}",
    "a time": lambda n: f"It is 12:00:0{n}",
}


@pytest.mark.parametrize("name", MOVING)
def test_what_differs_between_two_fetches_is_noise(name):
    """A page that moves is the same page, and another page that moves another one."""
    move = MOVING[name]
    same, _ = verdict_of(lambda n: shown(move(n)), lambda n: shown(move(n)))
    assert same.verdict is Verdict.SAME
    other, _ = verdict_of(
        lambda n: shown(f"{move(n)}<p>A cat"), lambda n: shown(f"{move(n)}<p>A dog")
    )
    assert (other.verdict, other.only_variant) == (Verdict.ANOTHER, ("A dog",))


def test_noise_of_a_site_is_known_after_two_pages():
    """Then a counter costs no control any more."""
    noise = Noise()
    costs = [
        len(verdict_of(lambda n: shown(f"Visit: {n}"), lambda n: shown(f"Visit: {n}"), noise)[1])
        for _ in range(3)
    ]
    assert costs == [2, 2, 1]


def test_one_edited_page_makes_no_line_noise_elsewhere():
    """A price that changed once is not noise on pages where it does not."""
    noise = Noise()
    for price in range(10, 20):
        verdict_of(lambda _, p=price: shown(f"Price: {p}"), lambda _: shown("A dog"), noise)
    verdict_of(lambda n: shown(f"Price: {n}"), lambda n: shown(f"Price: {n}"), noise)
    result, _ = verdict_of(lambda _: shown("Price: 5"), lambda _: shown("Price: 6"), noise)
    assert result.verdict is Verdict.ANOTHER


@pytest.mark.parametrize(
    ("kept", "variant", "reason"),
    [
        (lambda n: shown("A" if n == 1 else "Robot?", "T" if n == 1 else "Who are you?"),
         lambda _: shown("Robot?", "Who are you?"), "the kept page differs from itself"),
        (lambda n: shown(f"A{n}", f"Title {chr(96 + n)}"),
         lambda n: shown(f"B{n}", f"Title {chr(96 + n)}"), "the kept page differs from itself"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged(kept, variant, reason):
    """A captcha, and a site that is another one at each fetch, are no evidence."""
    result, _ = verdict_of(kept, variant)
    assert (result.verdict, result.reason) == (Verdict.CANNOT_TELL, reason)


def test_a_captcha_now_and_then_is_fetched_again():
    """Another fetch of the page shows that it is itself, and the verdict goes on."""
    captcha = shown("Robot?", "Who are you?")
    result, fetched = verdict_of(
        lambda n: captcha if n == 3 else shown("A cat"), lambda _: shown("A dog")
    )
    assert result.verdict is Verdict.ANOTHER
    assert fetched.count(Side.KEPT) == 3


def test_a_session_that_the_page_repeats_is_no_content():
    """A long value of the variant's URL in a line is an echo, where the page has other lines."""
    url = f"{KEPT}?sid=0123456789"
    kept = Page(KEPT, b"", f"{MENU}<p>Your session: ")
    other = Page(url, b"", f"{MENU}<p>Your session: 0123456789")
    comparison = Comparison(kept.digest, Noise(), KEPT, url)
    assert comparison.add(Side.VARIANT, Shown(other, other.digest)) is Side.KEPT
    result = comparison.add(Side.KEPT, Shown(kept, kept.digest))
    assert result.verdict is Verdict.SAME


@pytest.mark.parametrize("named", [KEPT, VARIANT])
def test_feed_that_spells_its_address_in_one_way_is_one_page(named):
    """Bugzilla names itself with its parameters in one order, and those that are the default."""
    feed = f"<feed><id>{named.replace('&', '&amp;')}</id><entry><title>A cat</title></entry></feed>"
    kept, other = (Page(url, b"", feed, kind="xml") for url in (KEPT, VARIANT))
    comparison = Comparison(kept.digest, Noise(), KEPT, VARIANT)
    result, fetches = Side.VARIANT, 0
    while isinstance(result, Side) and fetches < 9:
        page, fetches = kept if result is Side.KEPT else other, fetches + 1
        result = comparison.add(result, Shown(page, page.digest))
    assert result.verdict is Verdict.SAME


def rotating_site(*, stays=False):
    """Return what is known of a site where each page shows three of thirty sentences at a time.

    :param stays: whether they are a page's own, as the entries of a list are.
    """
    noise = Noise()
    for number in range(42):
        fetches = [shown(f"Page {number}{sentences(number + turn)}").lines for turn in (0, 1)]
        noise.saw(number, fetches[0])
        if number > 40:
            noise.note(fetches[0], fetches[0 if stays else 1])
    return noise


def sentences(turn, of=10):
    numbers = (n for n in range(30) if n % of == turn % of)
    return "".join(f"<p>Sentence {'xyz'[n % 3] * (n + 1)}" for n in numbers)


def test_lines_of_some_pages_that_rotate_need_no_control():
    """Where such lines never stay, those that nobody saw change are noise as well."""
    turn = count(5)
    result, fetched = verdict_of(
        lambda _: shown(f"A cat{sentences(next(turn))}"),
        lambda _: shown(f"A cat{sentences(next(turn))}"),
        rotating_site(),
    )
    assert (result.verdict, fetched) == (Verdict.SAME, [Side.VARIANT])


@pytest.mark.parametrize("stays", [True, False])
def test_lines_of_some_pages_that_stay_are_content(stays):
    """And so is more of them than was ever seen to change at once."""
    cats, dogs = (f"All{sentences(turn, of=10 if stays else 5)}" for turn in (3, 4))
    result, fetched = verdict_of(
        lambda _: shown(cats), lambda _: shown(dogs), rotating_site(stays=stays)
    )
    assert result.verdict is not Verdict.SAME
    assert len(fetched) > 1


def views(name):
    """Return the page of *name* and its print view, which lacks the menu."""
    content = f"<h1>{name}</h1>" + "".join(f"<p>{name} {'x' * n}" for n in range(1, 5))
    above = f"<p>menu of all<p>Home / Animals / {name}"
    htmls = (
        f"<title>{name}</title>{above}{content}<p>Print",
        f"<title>{name}</title>{content}<p>Full",
    )
    pages = [Page(KEPT, b"", html) for html in htmls]
    return [Shown(page, page.digest) for page in pages]


@pytest.mark.parametrize("first", [0, 1])
def test_print_view_is_no_other_page_whichever_came_first(first):
    """They differ in what other pages show, and in where the page is."""
    noise = Noise()
    for number, name in enumerate(("Cats", "Dogs", "Apes")):
        noise.saw(number, views(name)[0].lines)
        noise.saw(number, views(name)[1].lines)
        noise.saw(-number, views(name)[first].lines)
    kept, variant = views("Owls")[first], views("Owls")[1 - first]
    result, _ = verdict_of(lambda _: kept, lambda _: variant, noise)
    assert result.verdict is Verdict.CANNOT_TELL


def test_page_with_a_line_of_its_own_is_another_one():
    """However short it is, if it does not repeat what the kept page says."""
    noise = Noise()
    for number, name in enumerate(("Cats", "Dogs", "Apes")):
        noise.saw(number, views(name)[0].lines)
    kept, variant = (shown(f"Owls<p>{text}") for text in ("menu of all", "Sold out<p>Print"))
    result, _ = verdict_of(lambda _: kept, lambda _: variant, noise)
    assert result.verdict is Verdict.ANOTHER


@pytest.mark.parametrize(
    ("lacking", "verdict"),
    [("", Verdict.CANNOT_TELL), ("<p>They nest in trees", Verdict.ANOTHER)],
)
def test_page_that_lacks_several_lines_is_another_one(lacking, verdict):
    """One may be where the page is; what the spider would not have is not told by one alone."""
    noise = Noise()
    for number, name in enumerate(("Cats", "Dogs", "Apes")):
        noise.saw(number, views(name)[0].lines)
    kept, variant = (shown(text) for text in (f"They hunt by night{lacking}", "Print"))
    result, _ = verdict_of(lambda _: kept, lambda _: variant, noise)
    assert result.verdict is verdict


FRAME = "".join(f"<p>{one}{two} stands and leads on" for one in "abcdefgh" for two in "ijklmnop")


def test_little_that_is_embedded_each_time_tells_two_pages():
    """A film in the place of another is content, however much else two pages share."""
    films = (f"{FRAME}<iframe src=/films/{number}></iframe>" for number in (12, 13))
    fetch = [lambda _, film=film: shown(film) for film in films]
    result, fetched = verdict_of(*fetch)
    assert result.verdict is Verdict.ANOTHER
    assert (result.only_variant, result.only_kept) == (("/films/13",), ("/films/12",))
    assert fetched == [Side.VARIANT, Side.KEPT, Side.KEPT, Side.VARIANT]


@pytest.mark.parametrize("refused", [Side.KEPT, Side.VARIANT])
def test_little_of_which_there_is_no_control_is_the_same_page(refused):
    """Where the server sends something else when it is asked again nothing says that it is content.

    So it was before, and a site that asks who is there is not asked more often.
    """
    asked = Counter()

    def fetch(side, number):
        asked[side] += 1
        is_first = asked[side] == 1
        if side is refused and not is_first:
            return shown("Robot?", "Who are you?")
        return shown(f"{FRAME}<iframe src=/films/{number}></iframe>")

    result, _ = verdict_of(lambda _: fetch(Side.KEPT, 1), lambda _: fetch(Side.VARIANT, 2))
    assert result.verdict is Verdict.SAME


OF_ITS_WAY = {
    "where it is": ("<p>Home / Sale / Red shoes", "<p>Home / New / Red shoes"),
    "which one it is": ("<p>Result 3 of 57", "<p>Result 4 of 57"),
    "a greeting": ("", "<p>Welcome, reader of the news"),
    "a film more": ("", "<iframe src=/films/12></iframe>"),
}


@pytest.mark.parametrize("name", OF_ITS_WAY)
def test_little_that_says_how_a_page_was_reached_tells_no_two(name):
    """A rule that drops the way to a page is right, whatever the page says of it."""
    fetch = [
        lambda _, side=side: shown(f"{FRAME}<h1>Shoes</h1>{side}") for side in OF_ITS_WAY[name]
    ]
    assert verdict_of(*fetch)[0].verdict is Verdict.SAME


@pytest.mark.parametrize("shows", ["its page", "a form to log in"])
def test_page_is_itself_in_another_layout(shows):
    """It is known again by what no other page has, which what stands in its place has not."""
    noise = Noise()
    layouts = ["".join(f"<li>{name} {word}" for word in "abcdefghij") for name in ("old", "new")]

    def visit(number, text):
        page = Page(KEPT, b"", f"<title>T</title>{layouts[number % 2]}<p>{text}<p>{text} again")
        return Shown(page, page.digest)

    for page in ("one", "another"):
        for number in range(2):
            noise.saw(page, visit(number, f"This is {page} page").lines)
    again = {"its page": "A cat", "a form to log in": "Please log in"}[shows]
    result, _ = verdict_of(
        lambda number: visit(number > 1, "A cat" if number == 1 else again),
        lambda number: visit(number, "A dog"),
        noise,
    )
    is_itself = shows == "its page"
    assert result.verdict is (Verdict.ANOTHER if is_itself else Verdict.CANNOT_TELL)


@pytest.mark.parametrize("failing", Side)
def test_page_that_was_got_once_is_asked_for_again_after_a_failure(failing):
    """One answer that never came says nothing, where what was got before would be given up."""
    comparison = Comparison(shown(CATS).digest, Noise(), KEPT, VARIANT)
    assert comparison.add(Side.VARIANT, shown(DOGS)) is Side.KEPT
    assert comparison.add(Side.KEPT, shown(CATS)) is Side.VARIANT
    assert comparison.failed(failing, "busy") is failing


def test_what_the_page_shows_now_and_then_is_not_named_as_what_the_variant_lacks():
    """It is noise, though no other page of the site was seen with it."""
    news = iter(["rain", "snow", "wind", "hail"])
    result, _ = verdict_of(lambda _: shown(f"Today {next(news)}{CATS}"), lambda _: shown(DOGS))
    assert result.verdict is Verdict.ANOTHER
    assert result.only_kept[0] == "A cat"
    assert all("cat" in text for text in result.only_kept)


def moving(begins, ends):
    """Return what shows a line with another word in its middle at each visit."""
    return lambda visit: shown(f"{begins} at visit{visit}x today {ends}")


def test_lines_that_move_in_part_tell_pages_apart():
    """Each page has most of such a line at each visit, and the other one never."""
    cats = moving("All about cats and how they live", "with pictures of many kinds")
    dogs = moving("Why anyone keeps dogs in town", "and other questions of our readers")
    noise = Noise()
    for page in ("of birds", "of fish"):
        noise.saw(page, shown(page).lines)
    result, fetched = verdict_of(cats, dogs, noise)
    sides = [Side.VARIANT, Side.KEPT, Side.VARIANT, Side.KEPT, Side.VARIANT]
    assert (result.verdict, fetched) == (Verdict.ANOTHER, sides)
    assert result.only_variant[0].startswith("Why anyone keeps dogs")


def test_line_that_moves_in_part_on_one_page_alone_tells_nothing():
    """It may say how the page was reached."""
    greeting = moving("Welcome back dear reader from our partner", "we hope that all is well")
    result, _ = verdict_of(lambda visit: shown(f"Online: {visit}"), greeting)
    assert result.verdict is Verdict.SAME


def test_lines_that_move_in_part_are_less_than_what_pages_share():
    """So one of several texts that take turns may differ as well."""
    text = "<p>".join(f"The {n * 'very '}long text of the one page that both are" for n in range(9))
    one, other = "Buy the best of shoes in", "Never again pay for what"
    result, _ = verdict_of(
        lambda visit: shown(f"{text}<p>{one} town{visit}x this week"),
        lambda visit: shown(f"{text}<p>{other} name{visit}x you have"),
    )
    assert result.verdict is Verdict.SAME
