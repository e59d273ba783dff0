"""The cost of learning from sites whose vocabulary grows, in calls of functions.

A site with twice as many users or parameters has twice as many words that a rule may be about.
"""

from __future__ import annotations

from array import array
from hashlib import sha1
from random import Random

import pytest
from counting import counting

from scrapy_urlcanon.learn import LearnedRule, Observation
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.classes import lucky
from scrapy_urlcanon.learn.classes.coverage import Share
from scrapy_urlcanon.learn.classes.reach import Reach
from scrapy_urlcanon.learn.classes.skips import skip_rules
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.links import Links
from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.miner import Miner
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.rates import Rates
from scrapy_urlcanon.learn.results.accepted import Accepted
from scrapy_urlcanon.learn.results.choices import in_few_lines
from scrapy_urlcanon.learn.results.idle import without_idle
from scrapy_urlcanon.learn.results.rule import Evidence
from scrapy_urlcanon.learn.results.union import unite
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.learn.thresholds import Record, Thresholds
from scrapy_urlcanon.learn.trials.siblings import alike_to

LINEAR = 2.4
"""How many times as much twice as many may take."""


def see(path, page, *, words=True):
    digest = sha1(page.encode()).hexdigest()
    simhash = int(digest[:16], 16) if words else None
    return Observation(f"http://a.example{path}", main_sha1=digest, simhash64=simhash)


def growth(run, counts):
    """Return how many times the calls of *run* with the first count it takes with the second."""
    calls = []
    for count in counts:
        measured = run(count)
        measured()  # what is cached is cached
        with counting() as counter:
            measured()
        calls.append(counter.calls)
    return calls[1] / calls[0]


def accepted(count):
    """Return that so many parameters are dropped."""
    steps = (DropParam(f"p{number}") for number in range(count))
    return [Accepted(Scope("a.example"), (step,), Evidence(pages=9, merges=9)) for step in steps]


def test_pages_that_a_rule_would_lose_are_not_all_compared_with_each_other():
    """A rule that would make one of very many pages costs as much as there are."""

    def merging(count):
        groups = Groups(site_of("a.example", [see(f"/t?n={i}", f"{i}") for i in range(count)]))
        changes = groups.affected((DropParam("n"),))
        return lambda: groups.merges(changes)

    merge = merging(300)()[0]
    assert merge.agreement.lost == 299
    assert len(merge.agreement.far) > 290
    assert growth(merging, (300, 600)) < LINEAR


def test_url_is_shown_to_the_rules_about_its_own_parameters_only():
    """What the accepted rules make of a URL takes no longer with ten times as many rules."""

    def settling(count):
        miner = Miner(site_of("a.example", [see("/", "home")]))
        miner.accepted = accepted(count)
        url = locate("http://a.example/?p3=1&q=2")
        assert miner.form(url).url == "http://a.example/?q=2"
        form = miner.form
        return lambda: form(url)

    assert growth(settling, (20, 200)) == 1


@pytest.mark.parametrize("is_united", [False, True])
def test_rules_are_compared_with_those_about_the_same(is_united):
    """Of twice as many rules the idle ones are found, and a file is made, in twice the calls."""

    def uniting(count):
        rules = [
            LearnedRule("a.example", "a.example", "drop_params", [f"p{number}"], "rewrite")
            for number in range(count)
        ]
        return lambda: unite(rules, (), (), Thresholds())

    if is_united:
        assert len(uniting(100)().rules) == 100
        assert growth(uniting, (100, 200)) < LINEAR
    else:
        assert growth(lambda n: lambda: without_idle(accepted(n)), (50, 100)) < LINEAR


def test_lines_that_differ_in_a_word_are_joined_in_one_go():
    """A thousand users with a line each are one line, and no line is compared with each other."""

    def joining(count):
        rules = [
            LearnedRule("a.example", "a.example", "skip", [f"/u{n}/{{a:digits}}"], "skip")
            for n in range(count)
        ]
        return lambda: in_few_lines(rules)

    assert len(joining(100)()) == 1
    assert growth(joining, (100, 200)) < LINEAR


class Summed(int):
    """A number whose additions are calls that can be counted."""

    def __radd__(self, other):
        return Summed(int(self) + other)


def test_words_are_compared_with_the_sum_of_all():
    """The record of each word is compared with that of all words, which is summed up once."""

    def comparing(count):
        records = {f"w{n}": Record(Summed(20), Summed(n % 2)) for n in range(count)}
        return lambda: alike_to("w0", records)

    assert len(comparing(100)()) == 100
    assert growth(comparing, (100, 200)) < LINEAR


def test_classes_are_compared_with_those_that_differ_in_one_word(monkeypatch):
    """Each user's photos are a class, whose template is taken apart once or twice, not by each."""
    asked = []

    def counted(template):
        asked.append(template)
        return words(template)

    words = lucky._words
    monkeypatch.setattr(lucky, "_words", counted)
    numbers = []
    for count in (20, 40):
        draw = Random(count)
        seen = []
        for user in range(count):
            name = f"user{chr(97 + user // 26)}{chr(97 + user % 26)}"
            for number in draw.sample(range(10**6), 8):
                seen.append(see(f"/{name}/photo/{number}", f"{number}"))
                # With some pages of some users alone, not all users are skipped together.
                if user % 4 == 0 or draw.random() < 0.8:
                    title = "".join(draw.choices("abcdefghij", k=4))
                    seen.append(see(f"/{name}/{title}-of", f"{number}"))
        groups = Groups(site_of("a.example", seen))
        rate_beside = Rates(0.95).beside
        asked.clear()
        found = skip_rules(groups, Thresholds(), lambda url: url, rate_beside=rate_beside)
        assert len(found.rules) >= count // 4
        numbers.append(len(asked))
    assert numbers[1] < LINEAR * numbers[0]


def reach_of(links):
    """Return the URLs of a site with a page each, and what links reach; a crawl began at 0."""
    count = 1 + max(max(link) for link in links)
    groups = Groups(site_of("a.example", [see(f"/{n}", f"{n}") for n in range(count)]))
    urls = [locate(f"http://a.example/{n}") for n in range(count)]
    rows = [groups.site.locations.find(url) for url in urls]
    sources, targets = (array("i", (rows[n] for n in ends)) for ends in zip(*links, strict=True))
    links = Links(sources, targets, frozenset((rows[0],)), Share(1, 1))
    return urls, Reach(links, groups, lambda url: url)


def test_links_are_not_followed_anew_for_each_class():
    """What a crawl would miss without the photos of each of twice as many users takes as long."""

    def judging(count):
        users = range(1, count + 1)
        photos = {user: range(count + 4 * user, count + 4 * user + 4) for user in users}
        links = [(0, user) for user in users]
        links += [(user, photo) for user in users for photo in photos[user]]
        urls, reach = reach_of(links)
        classes = [{urls[n] for n in photos[user]} for user in users]
        return lambda: [reach.missing_without(photos) for photos in classes]

    assert [len(missing) for missing in judging(20)()] == [4] * 20
    assert growth(judging, (50, 100)) < LINEAR


@pytest.mark.parametrize("seed", range(40))
def test_what_is_missed_step_by_step_is_what_no_link_leads_to(seed):
    """One class after the other is skipped; missing is what cannot be reached from the start."""
    draw = Random(seed)
    links = [(draw.randrange(n), n) for n in range(1, 30)]
    links += [(draw.randrange(30), draw.randrange(30)) for _ in range(draw.randrange(30))]
    urls, reach = reach_of(links)
    skipped = set()

    def reached(without):
        found = {0}
        for _ in range(30):
            found.update(to for one, to in links if one in found and to not in without)
        return len(found)

    for _ in range(6):
        some = set(draw.sample(range(1, 30), 4))
        missing = reach.missing_without(urls[n] for n in some)
        assert len(missing) == reached(skipped) - reached(skipped | some)
        skipped |= some
        reach.skip(urls[n] for n in some)
