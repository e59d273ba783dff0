"""Classes of URLs that few pages keep from being skipped, and how they are reported."""

from observed import pages, see

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.results.evidence_text import evidence_line


def test_class_with_few_counter_examples_is_unsure():
    """A class with a few counter-examples is unsure, with their number and kind."""
    links = [see(f"/?p={i}", f"page {i}") for i in range(60)]
    slugs = [see(f"/{chr(97 + i % 26)}{'xyz'[i // 26]}", f"page {i}") for i in range(55)]
    (rule,) = learn([*links, *slugs]).unsure
    assert evidence_line(rule) == (
        "55 of 60 pages found under another URL, 60 requests saved, 5 of them of unknown pages, "
        "refused for 5 pages seen under no other URL: http://shop.example/?p=0"
    )


def test_class_whose_pages_are_found_where_nothing_is_fetched_is_not_unsure():
    """A class whose other URLs are skipped themselves is not reported."""
    others = [see(f"/b/{i * 37 % 61}", f"page {i}") for i in range(55)]
    learned = learn([*pages("/a/{}", 60), *others])
    assert [rule.setting for rule in learned.rules] == [["/b/{a:digits}"]]
    assert learned.unsure == ()


def test_form_with_an_exception_is_unsure():
    """A form with one exception is unsure; with ten it is no form."""
    addresses = [see(f"/p{i}x", f"page {i}") for i in range(200)]
    forms = [see(f"/login?url=/p{i}x", "log in") for i in range(199)]
    (rule,) = learn([*addresses, *forms, see("/login?url=/p199x", "log in or go on")]).unsure
    assert (rule.pattern, rule.setting) == ("shop.example/login/", ["url"])
    assert (rule.evidence.merges, rule.doubt) == (198, "1 URL with another page")
    others = [see(f"/login?url=/p{i}x", f"form {i}") for i in range(10)]
    assert learn([*addresses, *forms[10:], *others]).unsure == ()
