"""What ``scrapy urlcanon learn`` prints of what was learned."""

import io
from collections import Counter

from rich.console import Console

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.commands.learned_rules import show_learned
from scrapy_urlcanon.learn import Evidence, Learned, LearnedRule, Observation, learn
from scrapy_urlcanon.report.screen import Screen


def test_classes_that_are_skipped_are_listed_up_to_twenty():
    """The others are one line, with what they save together."""
    found = Evidence(pages=5, merges=10, placed=8)
    rules = tuple(
        LearnedRule("a.example", "a.example", "skip", [f"/{n}?p={{a}}"], "skip", found)
        for n in range(23)
    )
    shown = io.StringIO()
    show_learned(
        Learned(rules),
        Counter(),
        Screen(Console(file=shown)),
        configured=Canonicalizer(),
        turned_off=["skip"],
    )
    lines = [line.split() for line in shown.getvalue().splitlines()]
    assert ["30", "24", "6", "3", "other", "classes"] in lines
    assert sum(line[:3] == ["10", "8", "2"] for line in lines) == 20


def test_domains_are_listed_up_to_twenty():
    """Those where the rules save most; the others are one line, with their figures together."""
    rules = [
        LearnedRule(name, name, "drop_params", ["sid"], "new", Evidence(pages=5, merges=merges))
        for merges in range(100, 123)
        for name in (f"{merges}.example",)
    ]
    shown = io.StringIO()
    screen = Screen(Console(file=shown))
    show_learned(Learned(tuple(rules)), Counter(), screen, configured=Canonicalizer())
    lines = [line.split() for line in shown.getvalue().splitlines()]
    listed = [["1", "5", f"{merges}", f"{merges}.example"] for merges in range(122, 102, -1)]
    at = lines.index(listed[0])
    assert lines[at : at + 21] == [*listed, ["3", "15", "303", "3", "other", "domains"]]


def test_class_that_was_refused_is_shown_with_the_reason():
    """Else nobody knows that it is in the file, and what speaks against it."""
    doubt = "1 page that nothing else leads to"
    refused = LearnedRule(
        *("a.example", "a.example", "skip", ["/?p={a:digits}"], "skip"),
        Evidence(pages=90, merges=91, placed=91, counter_examples=1),
        doubt,
    )
    shown = io.StringIO()
    learned, screen = Learned(unsure=(refused,)), Screen(Console(file=shown))
    show_learned(learned, Counter(), screen, configured=Canonicalizer())
    said = " ".join(shown.getvalue().split())
    assert "unsure: a.example skip /?p={a:digits} 90 of 91 pages found under another URL" in said
    assert f"91 requests saved, refused for {doubt}" in said


def test_page_that_crowds_a_site_is_named():
    """Else nobody knows why so many URLs show what others show, and there is no rule for them."""
    forms = [Observation(f"http://a.example/mail?item={n}", main_sha1="7" * 40) for n in range(30)]
    pages = [Observation(f"http://a.example/{n}", main_sha1=f"{n:040x}") for n in (1, 1, 2, 3)]
    pages += [Observation(f"http://a.example/x{n}", main_sha1=f"{2:040x}") for n in range(3)]
    shown = io.StringIO()
    learned = learn([*forms, *pages])
    show_learned(learned, Counter(), Screen(Console(file=shown)), configured=Canonicalizer())
    assert (learned.redundant, learned.crowded) == (32, 29)
    assert "29 of these show a page that more than 20 URLs show" in shown.getvalue()


def test_one_url_shows_and_two_show():
    """What is counted agrees with its verb."""
    pages = [Observation(f"http://a.example/{n}", main_sha1="7" * 40) for n in range(2)]
    shown = io.StringIO()
    show_learned(learn(pages), Counter(), Screen(Console(file=shown)), configured=Canonicalizer())
    assert (
        "2 URLs on 1 domain; 1 of them shows a page that another URL shows too" in shown.getvalue()
    )
