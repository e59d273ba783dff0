"""What the parameters of a log-in form name, which is one page whatever they name."""

from base64 import urlsafe_b64encode

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.learn import Observation, learn


def encoded(text):
    """Return a text in base64, as frameworks put it into a URL."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", ["/wiki/{}?a=1", "index.php?id={}", "http://shop.example/{}"])
def test_login_form_with_an_encoded_return_path_is_collapsed(path):
    """Where a visitor came from stands there in base64, as a URL or as a path of the site."""
    login = [see(f"/login?return={encoded(path.format(i))}", "log in") for i in range(40)]
    form = {"shop.example/login/": {"drop_params": ["return"]}}
    assert rules([*login, *pages("/wiki/{}")]) == form


def test_path_from_the_root_of_the_site_names_its_page():
    """Some forms lead back to ``blog/7``, with what follows the path; a date is no such path."""
    login = [see(f"/login?to=blog/entry-{i}%23comments", "log in") for i in range(40)]
    form = {"shop.example/login/": {"drop_params": ["to"]}}
    assert rules([*login, *pages("/blog/entry-{}", 40)]) == form
    queries = pages("/?q=blog/entry-{}", 40)
    login = [see(f"/?q=login&to=blog/entry-{i}%23comments", "log in") for i in range(40)]
    assert rules([*login, *queries]) == {"shop.example/?q=login": {"drop_params": ["to"]}}
    down = [see(f"/day?it=2010/{i + 10}", "no connection") for i in range(40)]
    assert rules([*down, *(see(f"/2010/{i + 10}", f"day {i}") for i in range(40))]) == {}


def test_path_with_a_fragment_is_named_whatever_its_page_is_called():
    """Of ``node/7#comments``, which the site has as ``/posts/a-title``, no URL says so.

    A path alone may be what selects a page, and is, where all of these were down.
    """
    titles = pages("/posts/title-{}", 40)
    login = [see(f"/login?to=node/{i}%23comments", "log in") for i in range(40)]
    assert rules([*login, *titles]) == {"shop.example/login/": {"drop_params": ["to"]}}
    for value in ("node/{}", "{}%23comments", "node/{}%2310"):
        down = [see(f"/show?it={value.format(i)}", "no connection") for i in range(40)]
        assert rules([*down, *titles]) == {}


@pytest.mark.parametrize("is_seen", [True, False])
def test_form_that_another_parameter_leads_to_is_none_of_them(is_seen):
    """What a parameter does that no log-in form has is not known, whether its form was seen or not.

    Nor is it where the URL with it leads elsewhere, and shows nothing.
    """
    login = [see(f"/login?next=/wiki/{i}", "log in") for i in range(40)]
    left = Observation(f"{HOST}/login?action=leave", 302, redirect=f"{HOST}/")
    lost = [see("/login?action=lost", "lost your password?")] if is_seen else []
    learned = learn([*login, *lost, left, *pages("/wiki/{}")])
    assert learned.as_rules() == {"shop.example/login/": {"drop_params": ["next"]}}
    assert learned.unsure == ()


def test_form_with_parameters_that_are_made_up_is_collapsed_whatever_it_has():
    """Names that are on one form each have no end: here that none matters says it of all."""
    login = [see(f"/login?next=/wiki/{i}&{'abcd'[i % 4]}{i}x=1", "log in") for i in range(40)]
    assert rules([*login, *pages("/wiki/{}")]) == {"shop.example/login/": {"keep_params": []}}


def test_code_of_a_page_that_is_down_names_no_path():
    """Texts that are no base64 of a URL are codes of pages, which all were down."""
    down = [see(f"/show?it={encoded(f'{i} letters')}", "log in") for i in range(40)]
    down += [see(f"/show?it=L2Zv{i:04}", "log in") for i in range(40)]
    assert rules([*down, *pages("/wiki/{}")]) == {}


def test_feed_that_names_a_person_is_no_form():
    """Those of all people are the same while nobody has done anything: it leads nowhere back."""
    names = [f"wiki-{chr(97 + i)}an" for i in range(20)]
    people = [see(f"/wiki/{name}", f"page of {name}") for name in names]
    paths = [f"/feed?by={name}" for name in names]
    form = [see(path, "nothing") for path in paths]
    assert rules([*form, *people]) == {"shop.example/feed/": {"drop_params": ["by"]}}
    feed = [see(path, "nothing", text_sha1="raw:0123456789abcdef") for path in paths]
    assert rules([*feed, *people]) == {}


def test_search_that_finds_no_tag_is_no_form():
    """Somebody else searches for what there is, or will be; where many agree it is said apart."""
    tags = [f"{one}{other}ing" for one in "bdfklm" for other in "aeiou"]
    lists = [see(f"/tag/{tag}/", f"list {tag}") for tag in tags]
    for count in (8, len(tags)):
        empty = [see(f"/search/?query={tag}", "No results") for tag in tags[:count]]
        learned = learn([*lists, *empty])
        assert learned.as_rules() == {}
        assert bool(learned.unsure) == (count > 20)


def test_parameter_that_selects_at_other_numbers_makes_no_form_of_one():
    """That one landing page is the same for all who lead there says nothing, where others are not.

    Their names are those of authors, so that each value names a page of the site.
    """
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
    """No issue of one project has a label yet, though pages of the site are called as labels are.

    A form has one page in each folder.
    """
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
    """What a sink merges is not told as what no rule explains; two forms that none merges are."""
    login = [see(f"/login?next=/wiki/{i}", "log in") for i in range(9)]
    other = [see(f"/lost?next={i}", "lost your password?") for i in range(2)]
    learned = learn([*login, *other, *pages("/wiki/{}")])
    assert learned.as_rules() == {"shop.example/login/": {"drop_params": ["next"]}}
    [left] = learned.unexplained
    assert (left.urls, left.example) == (1, (f"{HOST}/lost?next=0", f"{HOST}/lost?next=1"))


def test_what_all_forms_have_is_no_choice_among_them():
    """That all forms to send a page have ``option=mail`` says nothing of a form to vote."""
    seen = [see(f"/?id={i}&tmpl=print", f"article {i}") for i in range(40)]
    seen += [
        see(f"/?link={encoded(f'/wiki/{i}')}&option=mail&tmpl=print", "send") for i in range(40)
    ]
    forms = {"shop.example/?tmpl=print": {"drop_params": ["link"]}}
    assert rules([*seen, *pages("/wiki/{}", 40)]) == forms


def test_value_that_is_as_good_as_none_says_nothing_of_others():
    """Three print views are the same without ``option=content``; ``option=mail`` is a form."""
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
