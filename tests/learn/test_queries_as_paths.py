"""Programs whose query is a path: ``showthread.php?12-title/page2``, ``index.php?/topic/12``."""

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.location import locate

TITLES = ("red-shoe", "old-coat", "long-boots", "warm-scarf")


@pytest.mark.parametrize("start", ["/t.php?", "/i.php?/topic/", "/forum/?threads/"])
def test_title_beside_a_number_does_not_matter_in_a_query_either(start):
    """A title beside a number in a query without `=` is left out, as in a path."""
    seen = [
        see(f"{start}{i}-{TITLES[(i + other) % 4]}{end}", f"thread {i}{end}")
        for i in range(12)
        for other in (0, 1)
        for end in ("", "/page2")
    ]
    (found,) = rules(seen).values()
    key = Canonicalizer({"*": found}).canonicalize
    for end in ("", "/page2"):
        one, other = (f"{HOST}{start}99-{title}{end}" for title in ("a-title", "other-title"))
        assert key(one) == key(other)
    assert key(f"{HOST}{start}99-a-title") != key(f"{HOST}{start}99-a-title/page2")
    assert key(f"{HOST}{start}98-a-title") != key(f"{HOST}{start}99-a-title")


def test_titles_that_tell_pages_apart_stay():
    """Titles stay if two of them with one number are two pages."""
    seen = [
        see(f"/book.php?{i}-{title}", f"{i} {title}") for i in range(12) for title in TITLES[:2]
    ]
    assert rules(seen) == {}


def test_path_in_a_query_becomes_a_parameter():
    """The URLs of a topic before and after an update of the program are merged."""
    seen = [*pages("/i.php?/topic/{0}-title-{0}/", 12), *pages("/i.php?showtopic={}", 12)]
    (found,) = rules(seen).values()
    key = Canonicalizer({"*": found}).canonicalize
    assert key(f"{HOST}/i.php?/topic/99-a-title/") == f"{HOST}/i.php?showtopic=99"


def test_word_that_is_always_beside_a_number_is_no_title():
    """``page__st__15`` is a part of a topic; the post ``findpost__p__15`` is not merged with it."""
    seen = [
        see(f"/i.php?{url.format(i, 9 * i)}", f"part {i}")
        for i in range(12)
        for url in ("/topic/{}/page__st__{}", "topic={}&st={}")
    ]
    (found,) = rules(seen).values()
    key = Canonicalizer({"*": found}).canonicalize
    post = f"{HOST}/i.php?/topic/7/page__view__findpost__p__7"
    assert key(f"{HOST}/i.php?/topic/7/page__st__7") == f"{HOST}/i.php?st=7&topic=7"
    assert key(post) == Canonicalizer().canonicalize(post)


def test_lists_of_parameters_to_keep_spare_paths_in_queries():
    """No keep_params is learned where queries are paths: it would drop these as unknown names."""
    forms = [see(f"/i.php?login=1&return=/a/{i}", "log in") for i in range(30)]
    assert "shop.example/i.php" in rules(forms)
    key = Canonicalizer(rules([*forms, *pages("/i.php?/topic/{}", 4)])).canonicalize
    assert key(f"{HOST}/i.php?/topic/1") != key(f"{HOST}/i.php?/topic/2")


def test_place_for_a_path_takes_no_name_of_a_parameter():
    """A template for ``?12-title`` or a token does not match a switch such as ``?print``."""
    token = "a{}?{:x}{:x}".format
    seen = [see(f"/{token(i, s, i**9 + 16**20)}", f"{i}") for i in range(12) for s in (1, 2)]
    seen += [
        see(f"/t.php?{i}-title&p={10 * i + post}", f"topic {i}")
        for i in range(20)
        for post in (1, 2)
    ]
    seen += [see(f"/t.php?{i}-title", f"topic {i}") for i in range(20)]
    found = rules(seen)
    key = Canonicalizer(found)
    for switch in ("print", "history"):
        assert key.canonicalize(f"{HOST}/a1?{switch}") == f"{HOST}/a1?{switch}="
        assert key.skips(f"{HOST}/t.php?{switch}&p=7") is None
    assert key.skips(f"{HOST}/t.php?7-other-title&p=7")


@pytest.mark.parametrize("query", ["print", "OpenDocument", "id=1&q2=", "f%5B0%5D="])
def test_names_of_parameters_are_no_path(query):
    """A switch, or an empty field of a form, stays a parameter."""
    assert locate(f"{HOST}/a?{query}").path == "/a"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/topic{0}-{1}.html", "/view.php?t={0}&start={1}"),
        ("/i.php/topic,{0}.{1}.html", "/i.php?topic={0}&start={1}"),
        ("/thread-{0}-page-{1}.html", "/t/{0}/{1}"),
        ("/{2}-t{0}-{1}.html", "/topic{0}-{1}.html"),
    ],
)
def test_several_numbers_of_a_segment_are_distinguished(one, other):
    """The numbers of a topic and of its part are not confused within one segment."""
    seen = [
        see(url.format(i, 9 * i, TITLES[i % 4]), f"part {i}")
        for i in range(20)
        for url in (one, other)
    ]
    (found,) = rules(seen).values()
    key = Canonicalizer({"*": found}).canonicalize
    here, there = (f"{HOST}{url.format(77, 5, 'any-title')}" for url in (one, other))
    assert list(found) == ["rewrite_path"]
    assert key(here) == key(there)
    assert key(here) != key(f"{HOST}{one.format(5, 77, 'any-title')}")


def test_words_in_a_query_are_shown_as_they_are_linked():
    """Unexplained duplicates are shown as linked: with a `=` they would be other pages."""
    seen = [see(f"/info?({name}){node}", name) for name in ("ed", "bc") for node in ("", "Top")]
    shown = {url for left in learn(seen).unexplained for url in left.example}
    assert shown == {f"{HOST}/info?({name}){node}" for name in ("ed", "bc") for node in ("", "Top")}


def test_topics_are_not_skipped_for_a_view_that_only_they_link():
    """Topics are not skipped because their print views, which only they link, show the same."""
    forms = "{0},{1}", "{0},{1},{2}", "{0},{1},{2},print", "{0},{1},print,page=1"
    seen = [
        see(f"/read.php?{form.format(topic % 5, 9 * topic, 9 * topic + post)}", f"topic {topic}")
        for topic in range(1, 41)
        for post in range(1 + topic % 4)
        for form in forms
    ]
    found = rules(seen)
    assert found
    assert Canonicalizer(found).skips(f"{HOST}/read.php?1,9,10,print") is None
