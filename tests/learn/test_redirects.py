"""What redirects say of their source and target."""

from random import Random

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.learn import Observation, learn

ITEMS = range(30)


def test_redirect_is_evidence():
    """A URL that redirects shows the page of its target."""
    hops = [Observation(f"{HOST}/a{i}", 301, redirect=f"{HOST}/a{i}/") for i in range(12)]
    assert rules([*hops, *pages("/a{}/")]) == {"shop.example": {"trailing_slash": "strip"}}


@pytest.mark.parametrize("status", [200, 302])
def test_slide_that_goes_on_to_the_next_one_shows_no_page_of_that(status):
    """A refresh to the next slide is no evidence that both are one page; a 302 is."""
    names = [f"{one}{other}ing" for one in "bdfk" for other in "aeiou"]
    slides = [
        Observation(f"{HOST}/slides/{i}/{name}", status, redirect=f"{HOST}/slides/{i + 1}/{name}")
        for name in names
        for i in range(3)
    ]
    last = [see(f"/slides/3/{name}", name) for name in names]
    assert bool(rules([*slides, *last])) is (status == 302)


@pytest.mark.parametrize("to", ["", "?by=ping"])
def test_what_a_redirect_leads_to_and_was_not_seen_is_no_counter_example(to):
    """A redirect target that was not seen is no counter-example.

    The crawl was cut short; the posts without a capture may well show what their other URLs do.
    """
    posts = [*pages("/post/{}", 40)[4:], *pages("/post/{}?by=ping", 40)[9:]]
    ping = [
        Observation(f"{HOST}/post/{i}/ping", 301, redirect=f"{HOST}/post/{i}{to}") for i in range(9)
    ]
    answer = [see(f"/post/{i}?answer={i}{n}", f"page {i}") for i in range(20) for n in range(2)]
    assert "answer" in rules([*posts, *ping, *answer])["shop.example"]["drop_params"]


@pytest.mark.parametrize("status", [None, 401, 403, 404, 500])
def test_form_to_log_in_that_was_not_seen_is_not_what_it_leads_back_to(status):
    """A log-in form that was not fetched, or was an error, is not the page that it returns to."""
    names = [f"{one}{other}ing" for one in "bdfk" for other in "aeiou"]
    hops = [
        Observation(f"{HOST}/{name}/edit/", 302, redirect=f"{HOST}/login/?next=/{name}/edit/")
        for name in names
    ]
    forms = [Observation(hop.redirect, status) for hop in hops] if status else []
    assert rules([*hops, *forms, *(see(f"/{name}/", name) for name in names)]) == {}


def test_redirect_back_to_where_a_visitor_came_from_is_no_evidence():
    """Redirects to wherever the visitor came from make no rule."""
    tags = [f"{one}{other}ing" for one in "bdfklm" for other in "aeiou"]
    hops = [
        Observation(f"{HOST}/add-tag/{tag}", 302, redirect=f"{HOST}{place}?tag={tag}")
        for place, chosen in (("/", tags[:20]), ("/cloud", tags[20:]))
        for tag in chosen
    ]
    lists = [see(f"/?tag={tag}", f"list {tag}") for tag in tags]
    clouds = [see(f"/cloud?tag={tag}", f"cloud {tag}") for tag in tags[20:]]
    assert rules([*hops, *lists, *clouds]) == {}
    # Nor where but one tag was seen at both.
    assert rules([*hops, *lists[:21], *clouds]) == {}


def test_redirect_by_the_kind_of_a_thing_is_evidence():
    """Numbers that redirect by the kind of each thing make a rule."""
    kinds = [f"/blog/{i}" if i < 26 else f"/news/{i}" for i in range(38)]
    hops = [
        Observation(f"{HOST}/node/{i}", 301, redirect=HOST + kind) for i, kind in enumerate(kinds)
    ]
    found = rules([*hops, *(see(kind, f"text {i}") for i, kind in enumerate(kinds))])
    assert found["shop.example"]["rewrite_path"]


@pytest.mark.parametrize(
    ("link", "page", "found"),
    [
        ("/goto/{}", "/articles/view/{}", ["/goto/{a:digits}", "/articles/view/{a}"]),
        (
            "/login?return=%2Fview.php%3Fid%3D{}",
            "/view.php?id={}",
            ["/login?return=/view.php?id%3D{b:digits}", "/view.php?id={b}"],
        ),
    ],
)
def test_template_leads_where_the_site_does(link, page, found):
    """A short link is rewritten to the URL that it redirects to, however long that is."""
    hops = [Observation(HOST + link.format(i), 302, redirect=HOST + page.format(i)) for i in ITEMS]
    assert rules([*hops, *pages(page, 30)]) == {"shop.example": {"rewrite_path": [found]}}


def test_beginning_of_paths_leads_where_the_site_does():
    """A renamed section is rewritten to its new name, though the old one is shorter."""
    names = ["".join(Random(i).choices("abcdefghij", k=8)) for i in ITEMS]
    paths = [name if i % 2 else f"{name[:4]}/{name}" for i, name in enumerate(names)]
    hops = [
        Observation(f"{HOST}/press/{path}", 301, redirect=f"{HOST}/press-releases/{path}")
        for path in paths
    ]
    found = rules([*hops, *(see(f"/press-releases/{path}", path) for path in paths)])
    wanted = [["/press/{rest:path}", "/press-releases/{rest}"]]
    assert found == {"shop.example": {"rewrite_path": wanted}}


def test_template_whose_reverse_would_guess_leads_to_what_redirects():
    """If a number redirects to a URL with a title, the title goes, since no rule can add it."""
    names = ["".join(Random(i).choices("abcdefghij", k=8)) for i in ITEMS]
    titled = [f"/item/{i}-{names[i]}-{names[-i]}" for i in ITEMS]
    hops = [Observation(f"{HOST}/item/{i}", 301, redirect=HOST + titled[i]) for i in ITEMS]
    found = rules([*hops, *(see(url, url) for url in titled)])
    assert found["shop.example"]["rewrite_path"] == [["/item/{b:digits}-{_s}", "/item/{b}"]]


def test_short_links_that_redirect_are_no_other_place_of_documents():
    """Documents are not skipped because short links redirect to them.

    These lead to the documents themselves. They are no class to skip either, since pages of their
    own have such URLs.
    """
    names = ["".join(Random(i).choices("abcdefghij", k=12)) for i in range(100)]
    links = [Observation(f"{HOST}/{names[i]}", 302, redirect=f"{HOST}/doc/{i}") for i in range(40)]
    own = [see(f"/{name}", name) for name in names[40:]]
    assert not learn([*pages("/doc/{}", 40), *links, *own]).rules


def test_links_to_posts_that_redirect_to_topics_are_skipped():
    """Links to posts that redirect to topics are skipped, in half of a crawl too.

    A target that was not seen is known if others with the same canonical form were.
    """
    draw = Random(0)
    seen = []
    for topic in range(60):
        name = f"{topic}-{draw.choice('abc')}{draw.choice('xyz')}-name"
        for part in range(1, draw.choice((1, 1, 2)) + 1):
            urls = [f"/topic/{to}?page={part}" for to in (topic, name)]
            seen += [see(url, f"{topic} {part}") for url in urls]
            seen += [
                Observation(f"{HOST}/post/{len(seen) + i}", 302, redirect=HOST + urls[1])
                for i in range(6)
            ]
    found = learn([one for one in seen if draw.random() < 0.5]).rules
    assert [rule.setting for rule in found if rule.option == "skip"] == [["/post/{a:digits}"]]
