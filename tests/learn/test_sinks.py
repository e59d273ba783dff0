"""Log-in forms and the like, which are one page whatever their parameters name."""

from base64 import urlsafe_b64encode

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.learn import Observation, learn


def encoded(text):
    """Return *text* in base64, as frameworks put it into URLs."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", ["/wiki/{}?a=1", "index.php?id={}", "http://shop.example/{}"])
def test_login_form_with_an_encoded_return_path_is_collapsed(path):
    """A return address in base64, as a URL or a path, makes a log-in form."""
    login = [see(f"/login?return={encoded(path.format(i))}", "log in") for i in range(40)]
    form = {"shop.example/login/": {"drop_params": ["return"]}}
    assert rules([*login, *pages("/wiki/{}")]) == form


def test_path_from_the_root_of_the_site_names_its_page():
    """A return path without a leading slash makes a form; a date does not."""
    login = [see(f"/login?to=blog/entry-{i}%23comments", "log in") for i in range(40)]
    form = {"shop.example/login/": {"drop_params": ["to"]}}
    assert rules([*login, *pages("/blog/entry-{}", 40)]) == form
    queries = pages("/?q=blog/entry-{}", 40)
    login = [see(f"/?q=login&to=blog/entry-{i}%23comments", "log in") for i in range(40)]
    assert rules([*login, *queries]) == {"shop.example/?q=login": {"drop_params": ["to"]}}
    down = [see(f"/day?it=2010/{i + 10}", "no connection") for i in range(40)]
    assert rules([*down, *(see(f"/2010/{i + 10}", f"day {i}") for i in range(40))]) == {}


def test_path_with_a_fragment_is_named_whatever_its_page_is_called():
    """A return path with a fragment makes a form, though the page has another URL.

    A path without one may select the page: all of these may have been down.
    """
    titles = pages("/posts/title-{}", 40)
    login = [see(f"/login?to=node/{i}%23comments", "log in") for i in range(40)]
    assert rules([*login, *titles]) == {"shop.example/login/": {"drop_params": ["to"]}}
    for value in ("node/{}", "{}%23comments", "node/{}%2310"):
        down = [see(f"/show?it={value.format(i)}", "no connection") for i in range(40)]
        assert rules([*down, *titles]) == {}


@pytest.mark.parametrize("is_seen", [True, False])
def test_form_that_another_parameter_leads_to_is_none_of_them(is_seen):
    """A parameter that log-in forms lack (action=leave) may do anything: it is not dropped."""
    login = [see(f"/login?next=/wiki/{i}", "log in") for i in range(40)]
    left = Observation(f"{HOST}/login?action=leave", 302, redirect=f"{HOST}/")
    lost = [see("/login?action=lost", "lost your password?")] if is_seen else []
    learned = learn([*login, *lost, left, *pages("/wiki/{}")])
    assert learned.as_rules() == {"shop.example/login/": {"drop_params": ["next"]}}
    assert learned.unsure == ()


def test_form_with_parameters_that_are_made_up_is_collapsed_whatever_it_has():
    """If each form has another made-up parameter, all are dropped."""
    login = [see(f"/login?next=/wiki/{i}&{'abcd'[i % 4]}{i}x=1", "log in") for i in range(40)]
    assert rules([*login, *pages("/wiki/{}")]) == {"shop.example/login/": {"keep_params": []}}


def test_code_of_a_page_that_is_down_names_no_path():
    """Values that are no base64 of a URL make no form: all these pages may have been down."""
    down = [see(f"/show?it={encoded(f'{i} letters')}", "log in") for i in range(40)]
    down += [see(f"/show?it=L2Zv{i:04}", "log in") for i in range(40)]
    assert rules([*down, *pages("/wiki/{}")]) == {}


def test_feed_that_names_a_person_is_no_form():
    """Empty feeds that name a person are no forms."""
    names = [f"wiki-{chr(97 + i)}an" for i in range(20)]
    people = [see(f"/wiki/{name}", f"page of {name}") for name in names]
    paths = [f"/feed?by={name}" for name in names]
    form = [see(path, "nothing") for path in paths]
    assert rules([*form, *people]) == {"shop.example/feed/": {"drop_params": ["by"]}}
    feed = [see(path, "nothing", text_sha1="raw:0123456789abcdef") for path in paths]
    assert rules([*feed, *people]) == {}


def test_search_that_finds_no_tag_is_no_form():
    """Searches without results are no forms; if there are many, the class is unsure."""
    tags = [f"{one}{other}ing" for one in "bdfklm" for other in "aeiou"]
    lists = [see(f"/tag/{tag}/", f"list {tag}") for tag in tags]
    for count in (8, len(tags)):
        empty = [see(f"/search/?query={tag}", "No results") for tag in tags[:count]]
        learned = learn([*lists, *empty])
        assert learned.as_rules() == {}
        assert bool(learned.unsure) == (count > 20)


def test_parameter_that_selects_at_other_numbers_makes_no_form_of_one():
    """One landing page that is equal for all visitors is no form if others differ."""
    names = ["alder", "birch", "cedar", "hazel", "maple", "rowan"]
    authors = [see(f"/author/{name}", name) for name in names]
    landing = [
        see(f"/welcome/{n}?ref={name}", "welcome to all" if n == 8 else f"welcome {n} {name}")
        for n in range(12)
        for name in names
    ]
    assert rules([*authors, *landing]) == {}
    form = [see(f"/welcome/{n}?ref={name}", f"log in {n}") for n in range(3) for name in names]
    assert "ref" in str(rules([*authors, *form]))


def test_filter_that_selects_in_other_folders_is_no_form():
    """A filter without results in one folder is no form if it selects in others."""
    names = ["alder", "birch", "cedar", "hazel", "maple", "rowan"]
    labels = [see(f"/label/{name}", name) for name in names]
    issues = [
        see(f"/{project}/issues?label={name}", "none" if project == "new" else f"{project} {name}")
        for project in ("old", "new", "other")
        for name in names
    ]
    assert rules([*labels, *issues]) == {}
    form = [see(f"/{p}/issues?label={name}", f"log in {p}") for p in "abc" for name in names]
    assert "label" in str(rules([*labels, *form]))


def test_few_forms_that_are_collapsed_are_explained():
    """Duplicates that a sink merges are not reported as unexplained."""
    login = [see(f"/login?next=/wiki/{i}", "log in") for i in range(9)]
    other = [see(f"/lost?next={i}", "lost your password?") for i in range(2)]
    learned = learn([*login, *other, *pages("/wiki/{}")])
    assert learned.as_rules() == {"shop.example/login/": {"drop_params": ["next"]}}
    [left] = learned.unexplained
    assert (left.urls, left.example) == (1, (f"{HOST}/lost?next=0", f"{HOST}/lost?next=1"))


def test_what_all_forms_have_is_no_choice_among_them():
    """A parameter that all forms have is no condition of the rule."""
    seen = [see(f"/?id={i}&tmpl=print", f"article {i}") for i in range(40)]
    seen += [
        see(f"/?link={encoded(f'/wiki/{i}')}&option=mail&tmpl=print", "send") for i in range(40)
    ]
    forms = {"shop.example/?tmpl=print": {"drop_params": ["link"]}}
    assert rules([*seen, *pages("/wiki/{}", 40)]) == forms


def test_value_that_is_as_good_as_none_says_nothing_of_others():
    """That option=content is a default does not keep option=mail from being a form."""
    seen = [see(f"/?id={i}&option=content&tmpl=print", f"article {i}") for i in range(40)]
    seen += [see(f"/?id={i}&tmpl=print", f"article {i}") for i in (0, 16, 32)]
    for option in ("", "&option=content"):
        seen += [see(f"/?id={i}&view=list{option}", f"list {i}{option}") for i in range(20)]
    for language in ("en", "de"):
        links = (encoded(f"/wiki/{i}") for i in range(40))
        query = f"&option=mail&tmpl=print&lang={language}"
        seen += [see(f"/?link={link}{query}", f"send {language}") for link in links]
    forms = {"shop.example/?tmpl=print": {"drop_params": ["link"]}}
    assert rules([*seen, *pages("/wiki/{}", 40)]) == forms
