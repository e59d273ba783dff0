"""Under which other URL the page of a skipped URL is found."""

import observed
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.places import skipped_urls

HOST = "http://a.example"
RULES = Canonicalizer({"a.example": {"skip": ["/?p={id}", "/?q={id}"], "drop_params": ["sid"]}})


def see(url, content="", **fields):
    absolute = {name: HOST + to if name != "status" else to for name, to in fields.items()}
    return observed.see(url, content, host=HOST, **absolute)


def places(*observations, rules=RULES):
    found = skipped_urls(site_of("a.example", observations), rules)
    return {one.canonical.removeprefix(HOST): one.place.removeprefix(HOST) for one in found}


@pytest.mark.parametrize(
    ("observations", "place"),
    [
        ([see("/?p=1", status=301, redirect="/one")], "/one"),
        ([see("/?p=1", redirect="/?q=1"), see("/?q=1", redirect="/one")], "/one"),
        ([see("/?p=1", redirect="/?q=1"), see("/?q=1", redirect="/?p=1")], ""),
        ([see("/?p=1", redirect="/?q=1"), see("/?q=1", "one")], ""),
        ([see("/?p=1", "one"), see("/one", "one")], "/one"),
        ([see("/?p=1", "one"), see("/a", redirect="/one"), see("/one", "one")], "/one"),
        ([see("/?p=1", "one"), see("/?a=1&p=1", "one")], ""),
        ([see("/?p=1", "one"), see("/?q=1", "one")], ""),
        ([see("/?p=1", "one", canonical="/one"), see("/one", "one"), see("/a", "one")], "/one"),
        ([see("/?p=1", "one", canonical="/two"), see("/two", "two")], ""),
        ([see("/?p=1", "one", canonical="/two"), see("/two", "two"), see("/a", "one")], "/a"),
        ([see("/?p=1", "one", canonical="/one")], ""),
        ([see("/?p=1", status=404)], ""),
        ([see("/?p=1", ""), see("/one", "")], ""),
    ],
)
def test_place_of_a_page(observations, place):
    """The place of a page is where it redirects, what it rightly declares, or an equal page."""
    assert places(*observations)["/?p=1"] == place


def test_declared_url_that_was_not_seen_is_believed_where_others_were_right():
    """A declared URL that was not seen is believed if others of its form were right."""
    right = [see(f"/?p={i}", f"page {i}", canonical=f"/{i}-x") for i in range(9)]
    seen = [see(f"/{i}-x", f"page {i}") for i in range(8)]
    assert places(*right, *seen)["/?p=8"] == "/8-x"
    assert places(*right)["/?p=8"] == ""
    away = Observation(f"{HOST}/?p=9", main_sha1="9" * 40, canonical="http://b.example/9-x")
    assert places(*right, *seen, away)["/?p=9"] == ""


def test_learned_class_has_what_it_saves_and_the_places():
    """A learned `skip` says how many requests it saves, and where the pages are."""
    seen = [see(f"/post-{'abcdefghij'[i % 10] * (i // 10 + 1)}", f"page {i}") for i in range(40)]
    seen += [see(f"/?p={i * 7}", redirect=one.url.removeprefix(HOST)) for i, one in enumerate(seen)]
    again = [see("/?p=14&utm_source=x", status=404), see("/?p=7&utm_source=x", status=404)]
    (rule,) = learn([*seen, see("/?p=1", status=404), *again], preset="safe").rules
    assert rule.option == "skip"
    assert (rule.evidence.merges, rule.evidence.placed) == (41, 40)
    assert rule.places[f"{HOST}/?p=7"] == seen[1].url
    assert f"{HOST}/?p=1" not in rule.places


URLS = st.sampled_from([f"/{shape}{i}" for shape in ("?p=", "?q=", "a", "b") for i in range(3)])
SEEN = st.builds(
    lambda url, content, relation, target: see(url, content, **{relation: target}),
    URLS,
    st.sampled_from(["", "one", "two"]),
    st.sampled_from(["canonical", "redirect"]),
    URLS,
)


@given(st.lists(SEEN, max_size=12))
def test_place_is_no_url_that_is_skipped(observations):
    """A place is never a skipped URL itself, in whatever order observations come."""
    found = places(*observations)
    assert not any(RULES.skips(HOST + place) for place in found.values())
    assert found == places(*reversed(observations))
