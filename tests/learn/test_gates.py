"""Classes of URLs that all redirect to a form to log in, which says where to go on."""

from itertools import product

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.results.evidence_text import EVIDENCE, evidence_line

TITLES = ["-".join(words) for words in product(("hats", "coats", "shoes", "socks"), repeat=3)]
FORM = {"shop.example/login/": {"drop_params": ["next"]}}


def gates(path, count=30, *, next_url="{}"):
    """URLs that redirect to the form to log in, which names them; these forms, too."""
    for i in range(count):
        there = path.format(i, TITLES[i])
        target = "/login?next=" + next_url.format(there)
        yield Observation(HOST + there, 302, redirect=HOST + target)
        yield see(HOST + target, "log in")


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/post/{}/answer/", "/post/{a:digits}/answer/"),
        ("/answer?post={}", "/answer?post={a:digits}"),
        ("/wiki/{1}/_edit", "/{rest:path}/_edit"),
        ("/wiki/{1}/section/edit/{1}/", "/{rest:path}/section/edit/{a}/"),
        ("/mine/{1}", "/mine/{rest:path}"),
    ],
)
def test_urls_that_all_redirect_to_a_form_that_names_them_are_skipped(path, template):
    """Forms to answer each post, or to edit each page, take a log-in: they are one class."""
    skipped = {"shop.example": {"skip": [template]}}
    assert rules([*gates(path), *pages("/post/{}")]) == FORM | skipped
    full = gates(path, next_url=HOST + "{}")
    assert rules([*full, *pages("/post/{}")]) == FORM | skipped


def test_one_url_with_a_page_keeps_its_class():
    """One page that may be seen without a log-in tells that others may be, too."""
    seen = [*gates("/post/{}/answer"), *pages("/post/{}")]
    assert rules([*seen, see("/post/99/answer", "an answer")]) == FORM
    # A narrower class has none of these.
    mixed = [*seen, see("/post/title/answer", "an answer")]
    assert rules(mixed) == FORM | {"shop.example": {"skip": ["/post/{a:digits}/answer"]}}


def test_folder_that_is_a_number_is_no_class():
    """A number stands for one thing, of which nothing says that all there is to it is closed."""
    assert rules([*gates("/7/{1}"), *pages("/post/{}")]) == FORM


def test_urls_that_the_form_does_not_name_may_have_been_gone_for_a_while():
    """Where all pages of a kind lead to one page, the site may have been under repair."""
    seen = [
        *(Observation(f"{HOST}/post/{i}", 302, redirect=HOST + "/sorry?by=7") for i in range(30)),
        see("/sorry?by=7", "back soon"),
    ]
    assert rules([*seen, *pages("/wiki/{}")]) == {}


@pytest.mark.parametrize("text", ["http://[{}", "%FF{}", "http://other.example{}", ""])
def test_return_address_may_be_any_text(text):
    """What is no URL of the site names nothing, and stops no learning."""
    seen = [*gates("/post/{}/answer", next_url=text), *pages("/post/{}")]
    assert "skip" not in str(rules(seen))


def test_evidence_says_that_they_show_one_page():
    """The comment in the rules file says how many URLs show the form, with one of these forms."""
    learned = learn([*gates("/post/{}/answer"), *pages("/post/{}")])
    (rule,) = (rule for rule in learned.rules if rule.is_skip)
    line = evidence_line(rule)
    assert line == f"30 URLs show 1 page, 30 requests saved: {HOST}/login?next=/post/0/answer"
    assert EVIDENCE.fullmatch(line)
    assert rule.is_off({"skip"})


def test_gates_are_found_if_the_rule_for_the_form_is_in_force():
    """A crawl under that rule fetches the form once, and the gates lead to it all the same."""
    seen = [
        *pages("/post/{}"),
        *list(gates("/post/{}/answer"))[::2],
        see("/login?next=/", "log in"),
    ]
    skipped = {"shop.example": {"skip": ["/post/{a:digits}/answer"]}}
    assert rules(seen, rules=FORM) == skipped
