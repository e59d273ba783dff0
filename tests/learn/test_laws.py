"""Laws of learning on any site: the names, the order and the neighbours of URLs do not matter."""

import json
from functools import cache
from hashlib import sha1
from random import Random

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.results.rules_file import to_toml

SEEDS = [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 32))]

HOST, OTHER_HOST = "www.one.example", "www.two.example"

WORDS = ("zul", "mik", "vob", "tarn", "keld", "gop", "snib", "rulf", "hosk", "pim", "dweb", "fask")
"""Words that mean nothing to anybody, and what they are renamed to."""
OTHER_WORDS = (
    *("quam", "lort", "bix", "nuv", "jasp", "wem", "cruth", "yilk", "osp", "drel", "thab", "ekum"),
)

_TITLES = ("alder", "birch", "cedar", "elder", "hazel", "rowan", "willow", "plum", "maple", "larch")


def site(seed, words=WORDS, host=HOST, salt=""):
    """Return the URLs of a site and the page of each; the seed chooses what makes a difference."""
    draw = Random(seed)
    thing, shelf, view, noise, session, choice, way, tab = words[:8]
    has_titles, has_view, is_choice_first = (draw.random() < 2 / 3 for _ in range(3))
    is_query = draw.random() < 1 / 3
    seen = {}
    for number in range(101, 141):
        page = f"{salt}thing {number}"
        path = f"/{thing}?{tab}={number}" if is_query else f"/{thing}/{number}"
        mark = "&" if is_query else "?"
        seen[path] = page
        for name in (noise, session):
            seen[f"{path}{mark}{name}={draw.choice(words[8:])}"] = page
            seen[f"{path}{mark}{name}={draw.randrange(10**6)}"] = page
        for value in words[8:11]:
            is_first = is_choice_first and value == words[8]
            seen[f"{path}{mark}{choice}={value}"] = page if is_first else f"{page} {value}"
        if has_titles and not is_query:
            seen[f"{path}/{'-'.join(draw.sample(_TITLES, 3))}"] = page
        if has_view and not is_query:
            seen[f"/{view}/{number}"] = page
    for number in range(30):
        for value in (words[8], words[11]):
            seen[f"/{shelf}/{number}?{way}={value}"] = f"{salt}shelf {number} {value}"
    return {f"http://{host}{path}": page for path, page in seen.items()}


def observed(pages):
    """Return what a crawl of these pages saw."""
    return [
        Observation(url, main_sha1=sha1(page.encode()).hexdigest()) for url, page in pages.items()
    ]


@cache
def learned_of(seed):
    """Return what is learned of the whole site of this seed."""
    return learn(observed(site(seed)))


def said(learned, domain="one.example"):
    """Return the learned rules of a domain as a set."""
    return {
        (rule.pattern, rule.option, json.dumps(rule.setting))
        for rule in learned.rules
        if rule.domain == domain
    }


def merged(rules, urls):
    """Return the sets of URLs that the rules merge."""
    canonicalize = Canonicalizer(rules).canonicalize
    found = {}
    for url in urls:
        found.setdefault(canonicalize(url), set()).add(url)
    return {frozenset(urls) for urls in found.values()}


def renamed(text):
    """Return *text* with the words and the host replaced."""
    old, new = (*WORDS, HOST), (*OTHER_WORDS, OTHER_HOST)
    for one, other in zip(old, new, strict=True):
        text = text.replace(one, other)
    return text


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_follow_the_names_of_a_site(seed):
    """On a site with other words and another host, the same URLs are merged.

    Which of them becomes the canonical one may depend on the names.
    """
    pages = site(seed)
    others = site(seed, OTHER_WORDS, OTHER_HOST)
    found = merged(learned_of(seed).as_rules(), pages)
    assert len(found) < len(pages)
    assert merged(learn(observed(others)).as_rules(), others) == {
        frozenset(map(renamed, urls)) for urls in found
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_pages_seen_once_more_take_no_rule_away(seed):
    """Further URLs of a page that rules merge remove no rule."""
    pages, draw = site(seed), Random(seed)
    before = learned_of(seed)
    merges = Canonicalizer(before.as_rules()).canonicalize
    more = dict(pages)
    for url, page in draw.sample([*pages.items()], 60):
        name = draw.choice((WORDS[3], WORDS[4]))
        again = f"{url}{'&' if '?' in url else '?'}{name}={draw.randrange(10**6)}"
        if merges(again) == merges(url):
            more[again] = page
    assert len(more) > len(pages)
    assert said(before) <= said(learn(observed(more)))


@pytest.mark.parametrize("seed", SEEDS)
def test_order_and_another_domain_change_nothing(seed):
    """The order of observations, and those of another domain, change no rule."""
    mixed = observed({**site(seed), **site(seed + 100, OTHER_WORDS, OTHER_HOST)})
    Random(seed).shuffle(mixed)
    assert said(learn(mixed)) == said(learned_of(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_another_section_changes_nothing_of_the_first(seed):
    """Another section with other names does not change what is merged in the first."""
    pages = site(seed)
    both = {**pages, **site(seed + 100, OTHER_WORDS, salt="other ")}
    assert merged(learn(observed(both)).as_rules(), pages) == merged(
        learned_of(seed).as_rules(), pages
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_of_two_crawls_do_not_contradict_each_other(seed, tmp_path):
    """Rules of two partial crawls, loaded together, merge no two pages and are idempotent."""
    pages = site(seed)
    files = [tmp_path / "first.toml", tmp_path / "second.toml"]
    for file in files:
        draw = Random(f"{seed} {file.name}")
        part = {url: page for url, page in pages.items() if draw.random() < 2 / 3}
        file.write_text(to_toml(learn(observed(part))), encoding="utf-8")
    canonicalize = Canonicalizer(rules_files=files).canonicalize
    shown = {}
    for url, page in pages.items():
        canonical = canonicalize(url)
        assert canonicalize(canonical) == canonical
        assert shown.setdefault(canonical, page) == page


@pytest.mark.parametrize("seed", SEEDS)
def test_file_merges_what_was_learned(seed, tmp_path):
    """A file that was written and loaded merges the same URLs as the learned rules."""
    file = tmp_path / "learned.toml"
    file.write_text(to_toml(learned_of(seed)), encoding="utf-8")
    read = Canonicalizer(rules_files=[file]).canonicalize
    written = Canonicalizer(learned_of(seed).as_rules()).canonicalize
    assert [*map(read, site(seed))] == [*map(written, site(seed))]
