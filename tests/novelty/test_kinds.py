from itertools import pairwise

import pytest
from counting import counting
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.novelty.kinds import Kinds, kind_of


@given(st.text())
def test_any_text_is_of_a_kind(url):
    """Whatever was fetched is counted."""
    assert isinstance(kind_of(url).text, str)


@pytest.mark.parametrize(
    ("trap", "content", "expected"),
    [
        (
            "/find?type={}&order={}",
            "/find?id={}",
            '"a.example/find": {"drop_params": ["order", "type"]},',
        ),
        ("/day/{}/{}", "/post/{}", '"a.example": {"skip": ["/day/{p1:digits}/{p2:digits}"]},'),
        ("/in?to={}", "/post/{}", '"a.example": {"skip": ["/in?to={q0}"]},'),
    ],
)
def test_trap_has_a_line_that_ends_it(trap, content, expected):
    """The line is valid, and does to such a URL what it says."""
    kinds = Kinds()
    for number in range(60):
        url = f"http://a.example{trap.format(number, number)}"
        kinds.note(url, 0, has_news=False)
        kinds.note(f"http://a.example{content.format(number)}", 9, has_news=True)
    (found,) = kinds.traps()
    assert (found.fetches, found.setting) == (60, expected)
    rules = eval(f"{{{found.setting}}}")
    canonicalizer = Canonicalizer(rules)
    if "skip" in expected:
        assert canonicalizer.skips(url)
        assert not canonicalizer.skips("http://a.example/post/7")
    else:
        assert canonicalizer.canonicalize(url) == "http://a.example/find"


@pytest.mark.parametrize(
    ("trap", "line"),
    [
        ("/diff?of[]=/b&of[]=/{}", ""),  # no template has a parameter twice
        ("/a/b/c/d/e/f/g/{}", ""),  # a kind has six segments
        ("/find?" + "&".join(f"p{n}={{0}}" for n in range(13)), ""),  # and twelve parameters
        (f"/{'long' * 11}/{{}}", ""),
        ("/day/{}?print=", "/day/{p1:digits}?print="),
        ("/find?filter[a]={}&q=", "/find?filter[a]={q0}&q="),
        ("/find?of:a%26b%23%7Bc%7D={}", "/find?of:a%26b%23%7Bc%7D={q0}"),
    ],
)
def test_line_ends_its_trap_or_is_none(trap, line):
    """One that ends nothing, or another page, or is not valid, is worse than none."""
    kinds = Kinds()
    urls = [f"http://a.example{trap.format(number)}" for number in range(60)]
    for url in urls:
        kinds.note(Canonicalizer().canonicalize(url), 0, has_news=False)
    (found,) = kinds.traps()
    assert found.setting == (line and f'"a.example": {{"skip": ["{line}"]}},')
    if line:
        canonicalizer = Canonicalizer(eval(f"{{{found.setting}}}"))
        assert all(map(canonicalizer.skips, urls))


def test_line_ends_urls_of_a_form_whatever_is_left_empty():
    """A form that is sent has the fields too that nobody filled in, and no place takes them."""
    kinds = Kinds()
    urls = [
        f"http://a.example/find?color={'red' * (number % 2)}&size={'m' * (number % 3)}&to={number}"
        for number in range(60)
    ]
    for url in urls:
        kinds.note(url, 0, has_news=False)
    (found,) = kinds.traps()
    assert all(map(Canonicalizer(eval(f"{{{found.setting}}}")).skips, urls))


def test_line_names_what_all_urls_of_a_trap_have():
    """A place takes any text, and would end what is in another folder too."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/_in/login/?to={number}", 0, has_news=False)
        kinds.note(f"http://a.example/blog/post-{number}/?to=", 9, has_news=True)
    (found,) = kinds.traps()
    assert found.kind == "a.example/{0}/{1}/?to="
    assert found.setting == '"a.example": {"skip": ["/_in/login/?to={q0}"]},'


@pytest.mark.parametrize(
    ("trap", "good", "content", "expected"),
    [
        ("a.example/?t={}", "a.example/", "a.example/b?id={}", "/?t={q0}"),
        ("a.example/?t={}", "a.example/?p={}", "a.example/b/c?id={}", "/?t={q0}"),
        ("a.example/b?t={}", "a.example/b?p={}", "a.example/b/c?t={}&id={}", "/b?t={q0}"),
        ("a.example/b?t={}", "a.example/b?p={}", "www.a.example/b?t={}&id={}", "/b?t={q0}"),
        ("a.example/{}/c", "a.example/", "www.a.example/{}/c", ""),
        ("a.example/b?t={}", "a.example/", "a.example:8080/b?t={}", ""),
    ],
)
def test_no_line_ends_what_lies_below_it(trap, good, content, expected):
    """A rule is one for all ports and subdomains of its host, and for all folders of its path."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://{trap.format(number)}", 0, has_news=False)
        kinds.note(f"http://{good.format(number)}", 9, has_news=True)
        kinds.note(f"http://{content.format(number, number)}", 9, has_news=True)
    (found,) = kinds.traps()
    assert found.setting == (expected and f'"a.example": {{"skip": ["{expected}"]}},')


@pytest.mark.parametrize("other", ["/blog/post-{}/all/", "/blog/{}/all/"])
def test_no_line_ends_what_brings_much(other):
    """Where the folders of a trap differ, its line would end those of articles too."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/@user{number}/likes-{number}/all/", 0, has_news=False)
    (found,) = kinds.traps()
    assert found.setting == '"a.example": {"skip": ["/{p0}/{p1}/all/"]},'
    for number in range(60):
        kinds.note(f"http://a.example{other.format(number)}", 9, has_news=True)
    (found,) = kinds.traps()
    assert (found.fetches, found.setting) == (60, "")


def test_line_keeps_what_few_urls_had():
    """The parts of a listing may be four, and say nothing themselves: they lead to the rest."""
    kinds = Kinds()
    kinds.note("http://a.example/list", 9, has_news=True)
    for page in range(2, 5):
        kinds.note(f"http://a.example/list?page={page}", 0, has_news=False)
    for number in range(60):
        kinds.note(f"http://a.example/list?filter={number}", 0, has_news=False)
    (found,) = kinds.traps()
    assert found.setting == '"a.example/list": {"drop_params": ["filter"]},'


def test_what_other_places_have_does_not_keep_a_parameter():
    """Neither another folder of the host, nor another host, has a say in what a place drops."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/list?filter={number}", 0, has_news=False)
        kinds.note(f"http://a.example/list?page={number}", 9, has_news=True)
        kinds.note(f"http://a.example/find?filter={number}", 9, has_news=True)
        kinds.note(f"http://b.example/list?filter={number}", 9, has_news=True)
    (found,) = kinds.traps()
    assert found.setting == '"a.example/list": {"drop_params": ["filter"]},'


def test_line_keeps_what_no_url_had_yet():
    """The last parts of a listing may be asked for otherwise than those that were fetched."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/list?page={number}", 9, has_news=True)
        kinds.note(f"http://a.example/list?page={number}&sort=size", 0, has_news=False)
        kinds.note(f"http://a.example/list?page={number}&view=wide", 0, has_news=False)
    lines = {trap.setting for trap in kinds.traps()}
    assert lines == {'"a.example/list": {"drop_params": ["sort", "view"]},'}
    canonicalize = Canonicalizer(eval(f"{{{lines.pop()}}}")).canonicalize
    assert canonicalize("http://a.example/list?page=7&sort=size&view=wide").endswith("?page=7")
    assert canonicalize("http://a.example/list?from=b").endswith("?from=b")


@pytest.mark.parametrize("name", ["*", "!page"])
def test_parameter_that_stands_for_others_is_not_dropped(name):
    """A name may have the sign that stands for any, or that takes one back."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/list?page={number}", 9, has_news=True)
        kinds.note(f"http://a.example/list?{name}={number}", 0, has_news=False)
    (found,) = kinds.traps()
    assert "drop_params" not in found.setting


def test_port_and_user_are_no_part_of_the_line():
    """A pattern is for all ports, and nobody is to see who logs in."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://me:secret@a.example:8100/day/{number}", 0, has_news=False)
    (found,) = kinds.traps()
    assert found.kind == "a.example:8100/day/{1:digits}"
    assert found.setting == '"a.example": {"skip": ["/day/{p1:digits}"]},'
    Canonicalizer(eval(f"{{{found.setting}}}"))


def test_each_trap_does_not_look_at_all_kinds():
    """A site that makes up names has thousands of traps, and the crawl waits for all at its end."""
    cost = []
    for count in (100, 200):
        kinds = Kinds()
        for number in range(20 * count):
            kinds.note(f"http://a.example/?n{number // 20}", 0, has_news=False)
        with counting(instructions=True) as counter:
            assert len(list(kinds.traps())) == count
        cost.append(counter.instructions)
    assert cost[1] < 2.5 * cost[0]


def test_kinds_are_bounded():
    """A site that makes up names has no more tallies than any other."""
    kinds = Kinds()
    for number in range(12_000):
        kinds.note(f"http://a.example/?n{number}", 0, has_news=False)
    assert len(kinds.tallies) <= 5_001


def test_no_line_ends_what_brings_something_now_and_then():
    """One profile of 60 has a text: they are a trap, but a rule would lose these texts.

    So would one against lists of which four led to an article.
    """
    kinds = Kinds()
    for number in range(600):
        url = f"http://a.example/list/{number}"
        kinds.note(url, 0, has_news=False)
        if number < 4:
            kinds.note(f"http://a.example/article/{number}", 9, has_news=True, found_on=url)
        kinds.note(f"http://a.example/member/{number}", 0, has_news=number % 60 == 59)
        kinds.note(f"http://a.example/day/{number}", 0, has_news=number < 3)
        # Until the server had the user log in.
        kinds.note(f"http://a.example/song/{number}", 0, has_news=number < 9)
    assert [(trap.kind, trap.setting) for trap in kinds.traps()] == [
        ("a.example/day/{1:digits}", '"a.example": {"skip": ["/day/{p1:digits}"]},'),
        ("a.example/list/{1:digits}", ""),
        ("a.example/member/{1:digits}", ""),
        ("a.example/song/{1:digits}", ""),
    ]


@pytest.mark.parametrize(("is_shown", "has_line"), [(True, True), (False, False)])
def test_no_line_ends_what_the_server_did_not_show(is_shown, has_line):
    """Its pages may have anything on another day."""
    kinds = Kinds()
    for number in range(60):
        url = f"http://a.example/song/{number}"
        kinds.note(url, 0, has_news=False, is_shown=is_shown or number % 3 == 0)
    (found,) = kinds.traps()
    assert bool(found.setting) is has_line


def test_lists_of_lists_lead_to_what_the_last_ones_name():
    """Nothing is found on a year itself, and without the years there would be no days."""
    kinds = Kinds()
    site = "http://a.example"
    for number in range(30):
        year, day = f"{site}/year/{number}", f"{site}/year/{number}/day"
        kinds.note(year, 0, has_news=False, found_on=f"{site}/")
        kinds.note(day, 0, has_news=False, found_on=year)
        kinds.note(f"{site}/post/{number}", 9, has_news=True, found_on=day)
    assert not list(kinds.traps())


def test_chain_without_end_that_leads_somewhere_is_a_trap():
    """All of its pages together have led there once."""
    kinds = Kinds()
    urls = [f"http://a.example/day/{number}" for number in range(300)]
    for before, url in pairwise(urls):
        kinds.note(url, 0, has_news=False, found_on=before)
    kinds.note("http://a.example/post/1", 9, has_news=True, found_on=url)
    (found,) = kinds.traps()
    assert (found.fetches, found.setting) == (299, "")


def test_no_line_ends_all_paths_of_as_many_segments():
    """Nobody knows what lies in folders that were not met yet."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/@user{number}/likes-{number}/", 0, has_news=False)
    (found,) = kinds.traps()
    assert (found.fetches, found.setting) == (60, "")


@pytest.mark.parametrize("other", ["/list/{}/all/", "/news/{}/all/"])
def test_no_line_ends_what_leads_or_brings_a_little(other):
    """Lists bring nothing themselves, and of 60 articles of a section six may be new."""
    kinds = Kinds()
    for number in range(60):
        kinds.note(f"http://a.example/@user{number}/likes-{number}/all/", 0, has_news=False)
        url, is_list = f"http://a.example{other.format(number)}", "list" in other
        kinds.note(url, 0, has_news=not is_list and number % 10 == 0)
        if is_list:
            kinds.note(f"http://a.example/{number}", 9, has_news=True, found_on=url)
    (found,) = kinds.traps()
    assert (found.kind, found.setting) == ("a.example/{0}/{1}/{2}/", "")
