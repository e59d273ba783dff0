"""Odd and damaged input teaches no wrong rule, and what is skipped is counted."""

import gzip
from collections import Counter

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.readers import read


def wrong(observations, truth):
    """Return pairs of URLs of two pages that the learned rules merge."""
    learned = learn(observations).as_rules()
    canonicalizer = Canonicalizer(learned)
    first = {}
    return [
        (url, other)
        for url, page in sorted(truth.items())
        if not canonicalizer.skips(url)
        and truth[other := first.setdefault(canonicalizer.canonicalize(url), url)] != page
    ]


def shop(version=""):
    """Return the pages of a shop in one crawl, each with and without a session."""
    for i in range(40):
        yield see(f"/item?id={i}", f"item {i} {version}")
        yield see(f"/item?id={i}&sid=s{i}", f"item {i} {version}")
        yield see(f"/list?part={i % 8}&sort={'ab'[i // 20]}", f"list {i % 8} {i // 20} {version}")


def test_crawls_years_apart_teach_what_each_of_them_does():
    """Two crawls of a site whose pages were all edited in between teach no wrong rule."""
    both = [*shop("2015"), *shop("2025")]
    truth = {o.url: o.url.partition("&sid")[0] for o in both}
    assert wrong(both, truth) == []
    # Half of the pages in one crawl only, as crawls are.
    mixed = [o for n, o in enumerate(shop("2015")) if n % 3] + list(shop("2025"))[::2]
    assert wrong(mixed, truth) == []


def test_site_that_moved_to_another_program_has_no_pages_in_common():
    """A site that moved to another program teaches no rule that merges old and new pages."""
    old = [see(f"/index.php?id={i}", f"old text {i}") for i in range(60)]
    new = [see(f"/{i}-title", f"new text {i}") for i in range(60)]
    notices = [
        see(url, f"notice {i}") for i in range(4) for url in (f"/index.php?id={i}9", f"/n{i}")
    ]
    seen = [*old, *new, *notices]
    truth = {o.url: o.main_sha1 for o in seen}
    assert wrong(seen, truth) == []
    moved = [see(f"/index.php?id={i}", "", status=301, redirect=f"{HOST}/") for i in range(60)]
    assert rules([*new, *moved, see("/", "home")]) == {}


def test_site_that_answers_everything_with_one_page_teaches_nothing():
    """A site that answers every URL with one page (maintenance, consent) teaches nothing."""
    seen = [see(f"/{place}/{i}?a={i}&b={i % 3}", "down") for place in "xyz" for i in range(80)]
    learned = learn(seen)
    assert learned.as_rules() == {}
    assert learned.redundant == len(seen) - 1


@pytest.mark.parametrize(
    ("ways", "others"),
    [
        (("a{}.html", "a{}.html?id=1", "a{}.html?id=2"), ("b?id=7", "b?id=8")),
        (("a{}?show=1", "a{}?show=1&id=1", "a{}?show=1&id=2"), ("?show=1&id=7", "?show=1&id=8")),
        (("d{}/", "d{}/index.html"), ("", "index.html")),
        (("a{}x", "A{}X"), ("b", "B")),
        (("t{}.html", "/t{}.html"), ("b", "/b")),
    ],
)
@pytest.mark.parametrize("host", ["", "www."])
def test_pages_of_one_user_say_nothing_of_those_of_others(ways, others, host):
    """What holds of one user's pages is no rule for users of whom no such URL was seen."""
    site = f"http://{host}uni.example/"
    seen = [see(f"{site}~ann/{way.format(i)}", f"ann {i}") for i in range(30) for way in ways]
    seen += [see(f"{site}~{name}/p{i}", f"{name} {i}") for name in ("ben", "eve") for i in range(9)]
    canonicalizer = Canonicalizer(rules(seen))
    assert len({canonicalizer.canonicalize(each.url) for each in seen}) == 48
    urls = [f"{site}{home}{path}" for home in ("", "~ben/") for path in others]
    assert len({*map(canonicalizer.canonicalize, urls)}) == len(urls)


def test_script_that_has_all_pages_keeps_its_parameters():
    """A parameter that selects the page is kept, though a few of its values agree."""
    seen = [see(f"/app?do=show&id={i}&view={v}", f"{i} {v}") for i in range(60) for v in "abc"]
    seen += [see(f"/app?do=show&id={i}&view=z", "nothing here") for i in range(60)]
    seen += [see(f"/app?do=find&q={i}", "nothing found") for i in range(12)]
    seen += [see(f"/app?do=find&q=w{i}", f"found {i}") for i in range(12)]
    truth = {o.url: o.main_sha1 for o in seen}
    assert wrong(seen, truth) == []


def test_host_with_three_pages_teaches_no_more_than_they_show():
    """Two pages make no rule, and a counter-example prevents one."""
    assert rules([*pages("/{}", 2), *pages("/{0}?sid=a{0}", 2)]) == {}
    three = [*pages("/{}", 3), *pages("/{0}?v={0}", 3), see("/0?v=9", "another view")]
    assert rules(three) == {}


@pytest.mark.parametrize("packed", [False, True])
def test_observations_that_end_in_the_middle_are_read_up_to_there(tmp_path, packed):
    """A truncated row or file is counted, and the rest is learned from."""
    rows = [f"{o.url}\t200\t{o.main_sha1}" for o in [*pages("/{}"), *pages("/{0}?sid=k{0}")]]
    text = "\n".join(["url\tstatus\tmain_sha1", *rows, "http://shop.exam\t2"]).encode()
    path = tmp_path / "cut.tsv"
    path.write_bytes(gzip.compress(text) if packed else text)
    skipped = Counter()
    assert learn(read(path, skipped)).as_rules() == {"shop.example": {"drop_params": ["sid"]}}
    assert skipped.total() == 1


def test_backslash_before_a_host_is_a_slash_too():
    """A backslash before the host is read as a slash, as in browsers."""
    odd = [see(f"http://\\shop.example/a?id={i}&sid=x{i}", f"page {i}") for i in range(12)]
    learned = learn([*pages("/a?id={}"), *odd])
    assert learned.domains == 1
    assert learned.as_rules() == {"shop.example": {"drop_params": ["sid"]}}


@pytest.mark.parametrize("odd", [".shop.example", "..shop.example", "*.shop.example", ".", "a.*"])
def test_host_that_no_pattern_can_name_teaches_nothing_and_hides_nothing(odd):
    """A host that no pattern can name is left out, and the others are learned from."""
    seen = [
        Observation(f"http://{host}/a{page}?ref={ref}", main_sha1=f"{page:040x}")
        for host in ("shop.example", odd)
        for page in range(20)
        for ref in range(3)
    ]
    assert learn(seen).as_rules()["shop.example"] == {"drop_params": ["ref"]}
