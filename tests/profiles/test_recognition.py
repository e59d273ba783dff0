"""Which program made a page: by its signs, and none on the pages of others."""

import time

import pytest
from profiles.other_pages import OTHERS
from profiles.pages import EVERYTHING, KNOWN, generator, head

from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.profiles.catalogue import names, our_profiles, profile
from scrapy_urlcanon.profiles.installation import templates_at
from scrapy_urlcanon.profiles.page_signs import PageSigns
from scrapy_urlcanon.profiles.profile import Profile
from scrapy_urlcanon.profiles.recognition import recognise

URL = "http://a.example/one/two"


def recognised(html, url=URL, headers=()):
    """Return what our profiles recognise on a page."""
    page = PageSigns.of(url, headers, html.encode("utf-8", "replace"))
    return recognise(page, our_profiles())


@pytest.mark.parametrize("shown", KNOWN, ids=lambda shown: f"{shown.profile} {shown.url}")
def test_program_is_recognised_by_its_signs(shown):
    """It, its place and its version; and no other."""
    (found,) = recognised(shown.html, shown.url, shown.headers)
    assert found.profile is profile(shown.profile)
    assert found.place == shown.place
    assert found.version == shown.version
    assert found.signs


@pytest.mark.parametrize("shown", KNOWN, ids=lambda shown: f"{shown.profile} {shown.url}")
def test_proxy_that_strips_headers_hides_nothing_else(shown):
    """What the page itself shows is enough, where it shows anything."""
    found = [one.profile.name for one in recognised(shown.html, shown.url)]
    assert found == ([] if shown.needs_headers else [profile(shown.profile).name])


def test_there_is_a_page_of_every_program():
    """One that runs on another one has its own test."""
    assert {shown.profile for shown in KNOWN} == set(names()) - {"woocommerce"}


def test_program_that_runs_on_another_one_is_recognised_with_it():
    """The rules of both hold."""
    html = head(generator("WordPress 6.1.9"), generator("WooCommerce 7.1.0"))
    found = {one.profile.name: one.version for one in recognised(html)}
    assert found == {"WordPress": (6, 1, 9), "WooCommerce": (7, 1, 0)}


def test_listing_that_has_the_signs_of_another_one_is_recognised_below_the_top_too():
    """Only there does fancyindex link the folder above, as nginx' own listings do."""
    shows = '<a href="?C=N&amp;O=A">File Name</a><a href="../">Parent directory/</a>'
    found = recognised(head("<title>Index of /pub/a/</title>", shows=shows))
    assert {one.profile.name for one in found} == {"nginx listing", "nginx fancyindex listing"}


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_recognised_on_pages_of_others(name):
    """Neither on those of other programs, nor where somebody writes about one."""
    assert recognised(OTHERS[name]) == ()


@pytest.mark.parametrize("name", names())
def test_text_of_a_visitor_tells_no_program(name):
    """Whatever a site lets him write: links, images, forms, and elements with classes and ids."""
    written = "".join(_written(sign) for sign in profile(name).signs)
    assert recognised(head("<title>News</title>", shows=f"<div>{written}</div>")) == ()


def _written(sign):
    """Return what a visitor can write of a sign."""
    if sign.kind == "asset":
        path = sign.text.replace("*", "x")
        return f'<img src="/{path}"><form action="/{path}"></form>'
    if sign.kind == "element" and sign.text not in {"html", "body", "meta", "link", "script"}:
        values = {key: value.replace("*", "x") for key, value in sign.attributes.items()}
        shown = "".join(f' {key}="{value}"' for key, value in values.items())
        return f"<{sign.text}{shown}>x</{sign.text}>"
    return f'<a href="https://{sign.text}/">x</a>' if sign.kind == "link" else ""


def test_page_that_claims_to_be_every_program_tells_nothing():
    """Programs of which none runs on the other contradict each other."""
    headers = [header for shown in KNOWN for header in shown.headers]
    generators = {shown.html.partition('name="generator"')[2][:20] for shown in KNOWN} - {""}
    assert len(PageSigns.of(URL, (), EVERYTHING.encode()).generators) >= len(generators)
    assert recognised(EVERYTHING, headers=headers) == ()
    assert recognised(EVERYTHING) == ()
    assert recognised(head(generator("MediaWiki 1.39"), generator("DokuWiki"))) == ()


def test_generator_of_a_megabyte_takes_no_time():
    """A bounded beginning of the page is read."""
    begin = time.process_time()
    for text in ("MediaWiki " + 1_000_000 * "1", 500_000 * "x ", 200_000 * "<meta name=generator "):
        assert [one.version for one in recognised(head(generator(text)))] in ([], [()])
    assert time.process_time() - begin < 5  # seconds


@pytest.mark.parametrize(
    ("path", "place"),
    [("/a/index.php/b/c", "/a/"), ("/index.php", "/"), ("/a/b", "/a/"), ("", "/")],
)
def test_place_is_where_the_script_stands(path, place):
    """Without anything else the directory of the page."""
    (found,) = recognised(head(generator("MediaWiki 1.39")), f"http://a.example{path}")
    assert found.place == place


def test_base_of_the_page_counts():
    """Addresses are taken from there."""
    html = head('<base href="/shop/">', generator("OpenCart"), '<script src="catalog/view/a.js">')
    page = PageSigns.of("http://a.example/shop/x/y", [], html.encode())
    assert page.assets == ("/shop/catalog/view/a.js",)


def test_first_base_with_an_address_counts():
    """As in a browser: no other one goes on from there."""
    bases = '<base target="a"><base href="/shop/"><base href="b/"><base href="/c/">'
    html = head(bases, '<script src="catalog/view/a.js"></script>')
    page = PageSigns.of("http://a.example/shop/x/y", [], html.encode())
    assert page.assets == ("/shop/catalog/view/a.js",)


def test_base_that_is_no_address_does_not_count():
    """Addresses are taken from the page then, as browsers take them."""
    html = head('<base href="http://[">', '<script src="a.js"></script><script src="//[x">')
    page = PageSigns.of("http://a.example/shop/x/y", [], html.encode())
    assert page.assets == ("/shop/x/a.js",)


@pytest.mark.parametrize("place", ["/", "/forum/"])
def test_parts_are_known_where_the_assets_stand_beside_the_program(place):
    """Django serves them from /static/, so that the place is that of the whole host."""
    (part,) = profile("machina").parts
    for path, templates in (("?post=9", part.links), ("?page=2", part.pages)):
        url = split(f"http://a.example/forum/forum/one-1/topic/two-2/{path}")
        assert any(template.match(url) for template in templates_at(place, templates))


@pytest.mark.parametrize(
    ("path", "is_link", "is_page"),
    [
        ("oaks/3", True, True),
        ("oaks", False, True),
        ("oaks?page=2", False, True),
        ("oaks?lang=en-GB&page=2", False, True),
        ("oaks/3?lang=en-GB&page=2", False, True),
        ("oaks/3?sort=newest_to_oldest", False, False),
    ],
)
def test_place_of_a_post_is_a_part_of_the_pages_that_count_from_the_first_one(
    path, is_link, is_page
):
    """In another order NodeBB counts from the last post: one has another number there."""
    part = profile("nodebb").parts[0]
    url = split(f"http://a.example/forum/topic/7/{path}")
    for templates, is_one in ((part.links, is_link), (part.pages, is_page)):
        matches = [template.match(url) for template in templates_at("/forum/", templates)]
        assert any(match and not match.others for match in matches) is is_one


def test_element_may_be_a_sign_by_its_name_alone():
    """Whatever attributes it has; one with attributes needs all of them on one element."""
    text = """
        name = "Board"
        kind = "forum"
        home = "https://board.example/"
        [[signs]]
        element = "board-list"
        certain = true
        [[signs]]
        element = "p"
        with = { class = "topic", id = "t*" }
        certain = true
    """
    board = Profile.read("board.toml", text)

    def is_board(html):
        return bool(recognise(PageSigns.of(URL, (), html.encode()), [board]))

    assert is_board("<board-list id=a></board-list>")
    assert is_board("<p class='old topic' id=t7>")
    assert not is_board("<p class=topic><p id=t7>")
