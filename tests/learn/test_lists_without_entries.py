"""Lists without entries are the same in every order and period: little evidence for a rule."""

from hashlib import sha1

import pytest

from scrapy_urlcanon.learn import Observation, learn

PERIODS = [f"time=2023-{month:02}" for month in range(1, 9)]


def shown(path, query="", *, says=None, simhash=None):
    """Return what one URL of a book of accounts showed."""
    main = sha1((says or path).encode()).hexdigest()
    url = f"http://books.example{path}{query and '?'}{query}"
    return Observation(url, main_sha1=main, title=sum(path.encode()), simhash64=simhash)


def lists(count, *, have_text):
    """Yield lists, each of which is the same in all periods."""
    for number in range(count):
        path = f"/account/income-{'abcdefghijklmnop'[number]}/"
        simhash = int(sha1(path.encode()).hexdigest()[:16], 16) if have_text else None
        for query in ("", *PERIODS):
            yield shown(path, query, simhash=simhash)


def others():
    """Yield other lists of the site, which have entries, without a period."""
    return [
        shown(f"/account/{name}/", simhash=int(sha1(name.encode()).hexdigest()[:16], 16))
        for name in "bcdefghijkl"
    ]


def dropped(observations):
    """Return the parameters that what is learned drops."""
    rules = learn(observations).rules
    return [rule.setting for rule in rules if rule.option == "drop_params"]


def test_three_lists_without_entries_are_no_evidence_for_those_that_have_some():
    """That the period selects nothing where there is nothing says nothing of the other lists."""
    assert dropped([*lists(3, have_text=False), *others()]) == []


@pytest.mark.parametrize(("count", "have_text"), [(3, True), (16, False)])
def test_lists_with_entries_or_many_are_evidence(count, have_text):
    """Three lists that have entries are, and so are many without."""
    assert dropped([*lists(count, have_text=have_text), *others()]) == [["time"]]


def test_pictures_are_evidence_though_pages_of_other_kinds_have_text():
    """That all pages of a kind have next to no text says nothing of what a parameter selects."""
    pictures = [
        shown("/picture", f"id={number}&from={place}", says=f"picture {number}")
        for number in range(5)
        for place in ("home", "shelf", "search")
    ]
    assert dropped([*pictures, *others()]) == [["from"]]


def test_pages_are_evidence_where_nothing_is_known_of_their_texts():
    """Tables of URLs and digests have no simhash for any page."""
    assert dropped(lists(3, have_text=False)) == [["time"]]
