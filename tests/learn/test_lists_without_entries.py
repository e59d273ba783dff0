"""Lists without entries are equal in every order and period: little evidence for a rule."""

from hashlib import sha1

import pytest

from scrapy_urlcanon.learn import Observation, learn

PERIODS = [f"time=2023-{month:02}" for month in range(1, 9)]


def shown(path, query="", *, says=None, simhash=None):
    """Return what one URL of a site of accounts showed."""
    main = sha1((says or path).encode()).hexdigest()
    url = f"http://books.example{path}{query and '?'}{query}"
    return Observation(url, main_sha1=main, title=sum(path.encode()), simhash64=simhash)


def lists(count, *, have_text):
    """Yield lists, each of which is equal in all periods."""
    for number in range(count):
        path = f"/account/income-{'abcdefghijklmnop'[number]}/"
        simhash = int(sha1(path.encode()).hexdigest()[:16], 16) if have_text else None
        for query in ("", *PERIODS):
            yield shown(path, query, simhash=simhash)


def others():
    """Yield other lists of the site, with entries, without a period."""
    return [
        shown(f"/account/{name}/", simhash=int(sha1(name.encode()).hexdigest()[:16], 16))
        for name in "bcdefghijkl"
    ]


def dropped(observations):
    """Return the parameters that the learned rules drop."""
    rules = learn(observations).rules
    return [rule.setting for rule in rules if rule.option == "drop_params"]


def test_three_lists_without_entries_are_no_evidence_for_those_that_have_some():
    """Three lists without text do not prove that the period may be dropped from all lists."""
    assert dropped([*lists(3, have_text=False), *others()]) == []


@pytest.mark.parametrize(("count", "have_text"), [(3, True), (16, False)])
def test_lists_with_entries_or_many_are_evidence(count, have_text):
    """Three lists with text do, and so do many without."""
    assert dropped([*lists(count, have_text=have_text), *others()]) == [["time"]]


def test_pictures_are_evidence_though_pages_of_other_kinds_have_text():
    """Pictures without text are evidence, since all pages of their kind are so."""
    pictures = [
        shown("/picture", f"id={number}&from={place}", says=f"picture {number}")
        for number in range(5)
        for place in ("home", "shelf", "search")
    ]
    assert dropped([*pictures, *others()]) == [["from"]]


def test_pages_are_evidence_where_nothing_is_known_of_their_texts():
    """Without any simhash in the input, lists are evidence as all pages are."""
    assert dropped(lists(3, have_text=False)) == [["time"]]


def parts(name, ended):
    """Yield a list that ends, at numbers past its end, and its first parts in one order each."""
    for number, query in ((1, ""), (2, "&by=name"), (3, ""))[: ended[0] - 1]:
        page = f"{name} {number} {query}"
        yield shown("/list", f"of={name}&page={number}{query}", says=page)
    for number in ended:
        for query in ("", "&by=name"):
            yield shown("/list", f"of={name}&page={number}{query}", says=f"{name} has ended")


@pytest.mark.parametrize("past", [9, 12])
def test_lists_at_one_number_past_the_end_of_others_are_little_evidence(past):
    """Lists past their end are equal in each order: that does not make the order a default."""
    known = [*parts("birch", (8, 9)), *parts("cedar", (9, 10)), *parts("elder", (2, 3))]
    names = "abcdefgh"
    ended = [one for name in names for one in parts(name, (past,))]
    assert learn([*known, *ended]).as_rules() == {}


def test_lists_before_the_end_of_others_are_evidence():
    """Parts before the end of other lists are evidence that an order is the default."""
    known = [*parts("birch", (8, 9)), *parts("cedar", (9, 10))]
    going_on = [
        shown("/list", f"of={name}&page={number}{query}", says=f"{name} {number}")
        for name in "abcdefgh"
        for number in (4, 5)
        for query in ("", "&by=name")
    ]
    assert learn([*known, *going_on]).as_rules() == {
        "books.example": {"default_params": {"by": "name"}}
    }


def test_things_that_show_the_same_at_any_number_are_no_lists_that_have_ended():
    """Pages with a number that changes nothing are not taken for lists past their end."""
    numbered = [
        shown("/thing", f"id={number}&page={page}", says=f"thing {number}")
        for number in range(5)
        for page in (1, 2, 3)
    ]
    others = [
        shown("/thing", f"id={number}&page={page}{back}", says=f"thing {number}")
        for number, page in enumerate((1, 2, 3, 1, 2), 10)
        for back in ("", f"&back={number}")
    ]
    assert learn([*numbered, *others]).as_rules()["books.example"]["drop_params"] == ["back"]
