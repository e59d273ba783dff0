"""The cost of learning, in calls of functions for each URL, and not in seconds."""

from __future__ import annotations

import pytest
from counting import counting

from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.classes.skips import skip_rules
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.rates import Rates
from scrapy_urlcanon.learn.scope import scopes_of
from scrapy_urlcanon.learn.thresholds import Thresholds
from scrapy_urlcanon.learn.trials.scopes import ScopeSearch
from scrapy_urlcanon.learn.trials.trial import Trial


def groups_of(urls, page_of=hash):
    """Return the URLs of a site, grouped by the page that *page_of* gives each."""
    seen = [Observation(url, main_sha1=f"{page_of(url) % 2**160:040x}") for url in urls]
    return Groups(site_of("a.example", seen))


@pytest.mark.parametrize("target", ["/event/{a}/13/{b}", "/event/{a}/{b}"])
def test_template_for_paths_makes_nothing_but_the_new_url(target):
    """A template for paths builds the new URL, and no other object for each step."""
    urls = [f"http://a.example/event/{i}/{i % 30}/list" for i in range(1000)]
    groups = groups_of(urls)
    step = RewriteTemplates("/event/{a:digits}/{_day:digits}/{b}", target)
    groups.affected([step])
    with counting() as counter:
        changes = groups.affected([step])
    assert len(changes) > 900
    assert counter.calls < 28 * len(changes)


def test_template_costs_next_to_nothing_where_it_fits_not():
    """A template that does not fit costs one look at each path."""
    groups = groups_of(f"http://a.example/a/{i}/b" for i in range(1000))
    step = RewriteTemplates("/a/{a:digits}/c", "/a/{a}")
    groups.affected([step])
    with counting() as counter:
        assert not groups.affected([step])
    assert counter.calls < 4000


def test_template_for_a_path_in_the_query_takes_each_query_apart_once():
    """A template for a parameter without a value takes the query of a URL apart once, not twice."""
    groups = groups_of(f"http://a.example/t?{i}-title-{i}" for i in range(300))
    step = RewriteTemplates("/t?{a:digits}-{_s}", "/t?{a}")
    groups.affected([step])
    with counting() as counter:
        assert len(groups.affected([step])) == 300
    assert counter.calls < 200 * 300


def test_each_url_is_changed_once_for_what_steps_show_together():
    """Steps change each URL once, and not once for each other URL of its page."""
    calls = []
    for count in (6, 12):
        urls = [
            f"http://a.example/{i}?x={i}&{query}"
            for i in range(50)
            for query in (f"a={n}&b=1" for n in range(count))
        ]
        groups = groups_of(urls, lambda url: int(url.partition("?")[0].rpartition("/")[2]))
        steps = DropParam("a"), DropParam("b")
        Trial(groups, steps, [])
        with counting() as counter:
            Trial(groups, steps, [])
        calls.append(counter.calls)
    assert calls[1] < 2.4 * calls[0]


def test_form_to_log_in_under_many_urls_costs_as_much_as_it_has():
    """A log-in form costs time in proportion to its URLs, not to the pairs of them."""
    calls = []
    for count in (100, 200):
        forms = [
            f"http://a.example/post?mode={mode}&t={i}"
            for mode in ("reply", "quote")
            for i in range(count)
        ]
        topics = [f"http://a.example/topic?t={i}" for i in range(20)]
        # A few of the class are not the form, and found elsewhere; one is found nowhere else.
        open_ones = [f"http://a.example/post?mode=reply&t={1000 + i}" for i in range(5)]
        pages = dict.fromkeys(forms, 1) | {url: 100 + i for i, url in enumerate(topics)}
        pages |= {url: 100 + i for i, url in enumerate(open_ones[:4])} | {open_ones[4]: 99}
        groups = groups_of(pages, pages.__getitem__)
        with counting() as counter:
            skip_rules(
                groups, Thresholds(), lambda location: location, rate_beside=Rates(0.95).beside
            )
        calls.append(counter.calls)
    assert calls[1] < 2.4 * calls[0]


def test_scopes_are_looked_for_once_for_urls_that_begin_alike(monkeypatch):
    """Scopes are computed once for URLs with the same beginning."""
    asked = []

    def counted(domain, address):
        asked.append(address)
        return scopes_of(domain, address)

    monkeypatch.setattr("scrapy_urlcanon.learn.trials.trial.scopes_of", counted)
    numbers = []
    for count in (4, 16):
        urls = [f"http://a.example/b/{i % 9}/c/{i}/{n}" for i in range(40) for n in range(count)]
        groups = groups_of(urls, lambda url: int(url.split("/")[6]))
        step = RewriteTemplates("/b/{a:digits}/c/{d:digits}/{_n:digits}", "/b/{a}/c/{d}")
        asked.clear()
        assert ScopeSearch(Trial(groups, (step,), range(40)), Thresholds()).accepted()
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]


def test_parameters_of_a_url_cost_no_more_than_they_are():
    """URLs with very many parameters cost time in proportion to their number."""
    calls = []
    for count in (200, 400):
        fields = [f"a{n}={n}" for n in range(1, count)]
        seen = [
            Observation(f"http://a.example/p?a0={i}&" + "&".join(some), main_sha1=f"{i:040x}")
            for i in range(6)
            for some in (fields, fields[1:])
        ]
        with counting() as counter:
            learn(seen)
        calls.append(counter.calls)
    assert calls[1] < 2.2 * calls[0]


def test_pages_that_only_differ_cost_little():
    """Where a template merges pages that differ, no evidence is weighed, nor their other URLs."""
    urls = [f"http://a.example/a/{i}{end}" for i in range(300) for end in ("", "/b", "?n=1")]
    groups = groups_of(urls, lambda url: hash(url.removesuffix("?n=1")))
    step = RewriteTemplates("/a/{a:digits}/{_b}", "/a/{a}")
    Trial(groups, (step,), [])
    with counting() as counter:
        trial = Trial(groups, (step,), [])
    assert trial.whole.lost == len(trial.merges) == 300
    assert counter.calls < 140 * 300
