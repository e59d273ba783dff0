"""Lists of template pairs that never settle are refused, however long they are."""

import random
import sys

import pytest

from scrapy_urlcanon.canonicalizer import settling
from scrapy_urlcanon.canonicalizer.rewrites import parse_rewrite
from scrapy_urlcanon.canonicalizer.settling import find_unsettled
from scrapy_urlcanon.exceptions import TemplateError

PIECES = ["a", "b", "ab", "-", "/", "1", "_", "{x}", "{y}", "{x:digits}", "{p:path}", "{l:a|b}"]
QUERIES = ["", "", "", "?a={x}", "?a=1", "?b={y}&a={x}", "?a={x:digits}", "?a=2&b=1", "?a="]


def random_rewrites(seed):
    """Return up to six pairs, each with a first template of its own."""
    choice = random.Random(seed)

    def template():
        path = "".join(choice.choice(PIECES) for _ in range(choice.randint(0, 4)))
        return f"/{path}{choice.choice(QUERIES)}"

    found = {}
    for _ in range(choice.randint(6, 60)):
        try:
            rewrite = parse_rewrite(template(), template())
        except TemplateError:
            continue
        found.setdefault(rewrite.source.text, rewrite)
        if len(found) == 6:
            break
    return list(found.values())


def follow(url, rewrites):
    """Apply the pairs in turn, for as many rounds as allowed."""
    for _ in range(len(rewrites) + 1):
        start = url
        for rewrite in rewrites:
            changed = rewrite.apply(url)
            if changed != url:
                url = changed
                yield rewrite, url
        if url == start:
            return


def follow_each(rewrites):
    """Return the first sample that does not settle, trying every pair on every URL."""
    words = settling._words(rewrites)
    for rewrite in rewrites:
        for sample in settling._samples(rewrite.source, words):
            way = [sample, *(url for _, url in follow(sample, rewrites))]
            if next(follow(way[-1], rewrites), None):
                return way
    return None


@pytest.mark.parametrize("few", [0, 50])
def test_finds_what_trying_every_pair_finds(few, monkeypatch):
    """On 500 random lists the result is that of a plain search."""
    monkeypatch.setattr(settling, "_FEW", few)
    verdicts = []
    for seed in range(500):
        rewrites = random_rewrites(seed)
        expected, found = follow_each(rewrites), find_unsettled(rewrites)
        assert bool(expected) == bool(found), (seed, rewrites)
        if expected:
            assert expected[:3] == found[:3], (seed, rewrites)
        verdicts.append(bool(expected))
    assert 20 < sum(verdicts) < 480


def calls(rewrites):
    """Return how many calls the search takes."""
    count = 0

    def profile(_, event, __):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        find_unsettled(rewrites)
    finally:
        sys.setprofile(None)
    return count


LISTS = {
    "parameters": lambda i, _: (f"/p?id={i}", f"/title-{i}"),
    "one round": lambda i, _: (f"/a{i}", f"/a{i + 1}"),
    "a round each": lambda i, size: (f"/a{size - i}", f"/a{size - i + 1}"),
    "ends": lambda i, _: (f"/{{slug}}-p{i}", f"/product/{i}"),
    "beginnings": lambda i, _: (f"/old{i}/{{rest:path}}", f"/new{i}/{{rest}}"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_work_doubles_with_the_list(kind):
    """Twice as many pairs are at most little more than twice the work."""
    once, twice = (
        calls([parse_rewrite(*LISTS[kind](i, size)) for i in range(size)]) for size in (200, 400)
    )
    assert twice < 2.2 * once + 1000


def test_there_is_an_end_to_the_tries(monkeypatch):
    """The number of tries is bounded, if literal texts exclude nothing."""
    monkeypatch.setattr(settling, "_MAX_TRIES", 5000)
    pairs = [parse_rewrite(f"/{{a}}/m{i}/{{b}}", f"/{{a}}/{{b}}/k{i}") for i in range(400)]
    assert calls(pairs) < 200_000


def test_a_cycle_among_many_pairs_is_found():
    """Two pairs that undo each other are found among 2,000 that do not."""
    pairs = [parse_rewrite(f"/x{i}/{{a}}", f"/y{i}/{{a}}") for i in range(2000)]
    pairs += [parse_rewrite("/p?id={id}", "/p/{id}"), parse_rewrite("/p/{id}", "/p?id={id}")]
    way = find_unsettled(pairs)
    assert [(url.path, url.query) for url in way[:3]] == [
        ("/p", ("id=x1",)),
        ("/p/x1", None),
        ("/p", ("id=x1",)),
    ]


def test_a_path_that_grows_is_not_grown_for_ever():
    """A path that each round lengthens is given up on early."""
    pairs = [parse_rewrite(f"/x{i}", f"/y{i}") for i in range(20_000)]
    pairs.append(parse_rewrite("/z/{rest:path}", f"/z/{'long/' * 100}{{rest}}"))
    assert len(find_unsettled(pairs)) < 40
