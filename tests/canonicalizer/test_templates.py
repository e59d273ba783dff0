"""Templates: what they match, why some are refused, and that they lose no page."""

from urllib.parse import quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.rewrites import parse_rewrite
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.exceptions import ConfigurationError, TemplateError

HOST = "http://example.com"


def _found(template, path):
    match = parse_template(template).match(split(HOST + path))
    return None if match is None else dict(match.found)


@pytest.mark.parametrize(
    ("template", "path", "found"),
    [
        ("/a", "/a", {}),
        ("/a", "/a/", None),
        ("/{x}", "/a", {"x": "a"}),
        ("/{x}", "/", None),
        ("/{x}", "/a/b", None),
        ("/{x:digits}", "/12", {"x": "12"}),
        ("/{x:digits}", "/12a", None),
        ("/{x:hex}", "/0aF", {"x": "0aF"}),
        ("/{x:hex}", "/0ag", None),
        ("/{x:slug}", "/a-b_C%C3%A9", {"x": "a-b_C%C3%A9"}),
        ("/{x:slug}", "/a.b", None),
        ("/{x:word}", "/aB2%C3%A9", {"x": "aB2%C3%A9"}),
        ("/{x:word}", "/a-b", None),
        ("/{x:word}-{y}", "/a-b-c", {"x": "a", "y": "b-c"}),
        ("/{x:path}", "/a/b//c", {"x": "a/b//c"}),
        ("/{x:en|de}", "/de", {"x": "de"}),
        ("/{x:en|de}", "/ende", None),
        ("/{x:digits}-item.html", "/12-item.html", {"x": "12"}),
        ("/{slug}-{id:digits}", "/a-1-b-22", {"slug": "a-1-b", "id": "22"}),
        ("/{id:digits}-{slug}", "/1-2-b", {"id": "1", "slug": "2-b"}),
        ("/{a:digits}{b:en|de}{c:digits}", "/1de2", {"a": "1", "b": "de", "c": "2"}),
        ("/{x:path}/c/{y}", "/a/c/b/c/d", {"x": "a/c/b", "y": "d"}),
        ("/a{x}a", "/aa", None),
        ("/a{x}a", "/aaa", {"x": "a"}),
        ("/引/{x}", "/%E5%BC%95/a", {"x": "a"}),
        ("/%7Bx%7D", "/%7Bx%7D", {}),
    ],
)
def test_template_matches_paths_of_its_shape(template, path, found):
    """Each place takes one or more characters of its class, and there is one reading."""
    assert _found(template, path) == found


@pytest.mark.parametrize(
    ("template", "path", "found"),
    [
        ("/?p={id}", "/?p=1", {"id": "1"}),
        ("/?p={id}", "/?x=0&p=1&y=2", {"id": "1"}),
        ("/?p={id}", "/?p=", None),
        ("/?p={id}", "/?p=1&p=2", None),
        ("/?p={id}", "/", None),
        ("/?p={id}", "/?P=1", None),
        ("/?a=1&p={id:digits}x", "/?p=2x&a=1", {"id": "2"}),
        ("/?a=1&p={id}", "/?a=2&p=2", None),
        ("/?title=Special:{page}", "/?title=Special%3ALogin", {"page": "Login"}),
        ("/?filter[x]={v}", "/?filter%5Bx%5D=a%2Fb", {"v": "a%2Fb"}),
        ("/?print", "/?print=", {}),
        ("/t?{id:digits}-{s}", "/t?p=3&12-a-title=", {"id": "12", "s": "a-title"}),
        ("/t?/topic/{id}/", "/t?%2Ftopic%2F12%2F=", {"id": "12"}),
        ("/t?/topic/{id}", "/t?%2Ftopic%2F12%2Fpage2=", None),
        ("/t?/{rest:path}", "/t?%2Fa%2Fb+c=", {"rest": "a/b%20c"}),
        ("/t?{id:digits}&p={p}", "/t?12=&p=3&print=", {"id": "12", "p": "3"}),
        ("/t?{id:digits}", "/t?12=&13=", None),
        ("/t?{id:digits}", "/t?12=a", None),
        ("/t?a+%2F{id}", "/t?a+%2F12=", {"id": "12"}),
        ("/t?a+{id}", "/t?a%2B12=", None),
    ],
)
def test_template_matches_parameters_in_any_order(template, path, found):
    """Each parameter that a template names is there once; others may be there too."""
    assert _found(template, path) == found


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("a/{x}", "begins with a slash"),
        ("http://example.com/{x}", "without the host"),
        ("/a#{x}", "no fragment"),
        ("/{a}{b}", "ambiguous where {a} ends and {b} begins"),
        ("/{a:digits}{b:hex}", "ambiguous"),
        ("/{a}-{b}", "ambiguous"),
        ("/{a:path}/{b:path}", "ambiguous where {a:path} ends and {b:path} begins"),
        ("/{lang:en|en-us}-{slug:slug}", "ambiguous"),
        ("/?q={a}x{b}", "ambiguous"),
        ("/{a}/{a}", "{a} stands in it twice"),
        ("/{a}?x={a}", "{a} stands in it twice"),
        ("/?x={a}&x={b}", "parameter 'x' stands in it twice"),
        ("/?{a}&{b}", "two parameters without = have places"),
        ("/?{a}=1", "expected a parameter with a name"),
        ("/a?", "expected a parameter with a name"),
        ("/{a", "a brace is missing near"),
        ("/a}", "a brace is missing near"),
        ("/{a b}", "expected a name of letters"),
        ("/{}", "expected a name of letters"),
        ("/{a:digit}", "no such class: 'digit'; expected segment, digits, hex, word, slug, path"),
        ("/{a:digit}", "did you mean 'digits'?"),
        ("/{a:en|}", "no such class: 'en|'"),
        ("/\udc80/{a}", "half of a surrogate pair"),
    ],
)
def test_template_that_cannot_be_used_is_refused_with_the_reason(template, reason):
    """The message says what is wrong with it, and what was expected."""
    with pytest.raises(TemplateError) as error:
        parse_template(template)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("/a/{x}", "/b/{y}", "{y} is not in '/a/{x}'"),
        ("/a/{author}", "/b/{autor}", "did you mean 'author'?"),
        ("/a/{x:digits}", "/b/{x:hex}", "{x} has the class 'digits' in"),
        ("/a/{x:digits}/{y:digits}", "/b/{x}{y}", "'/b/{x}{y}': it is ambiguous"),
        ("/a/{x:digits}/{y}", "/b/{y}", "become one; where that is meant, call it {_x:digits}"),
        ("/{x:en|de}/{y}", "/{y}", "call it {_x:en|de}"),
        ("/a?id={id}", "/a", "call it {_id}"),
        ("/a/{x}", "/a/{x}", "the two are the same"),
        ("/a/{x", "/a/{x}", "'/a/{x': a brace is missing"),
    ],
)
def test_pair_that_would_lose_pages_is_refused_with_the_reason(source, target, reason):
    """A pair must keep what identifies a page, and say so where it is not to."""
    with pytest.raises(TemplateError) as error:
        parse_rewrite(source, target)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    "pairs",
    [
        [["/{x}", "/x-{x}"]],
        [["/{x:path}", "/a/{x}"]],
        [["/{x}/{y}", "/{y}/{x}"]],
        [["/a/{x}", "/b/{x}"], ["/b/{x}", "/a/{x}"]],
        [["/a?id={x}", "/a/{x}"], ["/a/{x}", "/a?id={x}"]],
    ],
)
def test_pairs_that_never_settle_are_refused(pairs):
    """A pair that makes of its own result yet another one, alone or with others, is refused."""
    with pytest.raises(ConfigurationError, match=r"they never settle: .* becomes .*, and so on"):
        Canonicalizer({"*": {"rewrite_path": pairs}})


@pytest.mark.parametrize(
    "pairs",
    [
        [["/books/{slug}/{isbn:digits}", "/books/item/{isbn}"]],
        [["/amp/{x:path}", "/{x}"]],
        [["/a/{x}", "/b/{x}"], ["/b/{x}", "/c/{x}"]],
        [["/b/{x}", "/c/{x}"], ["/a/{x}", "/b/{x}"]],
        [["/{x}.html", "/{x}"]],
        [["/test?id={id}", "/test?nr={id}"]],
    ],
)
def test_pairs_that_settle_are_taken(pairs):
    """What matches its own result is fine, as long as it then changes nothing more."""
    assert Canonicalizer({"*": {"rewrite_path": pairs}}).configuration


def test_all_problems_of_a_list_are_reported_at_once():
    """One run finds every problem of the option."""
    pairs = [["/{a}{b}", "/c"], "/a", ["/x", 1], ["/d/{x}", "/e"], ["/d/{x}", "/f"]]
    with pytest.raises(ConfigurationError) as error:
        Canonicalizer({"*": {"rewrite_path": pairs, "skip": ["x", 1, "!y"]}})
    text = str(error.value)
    for reason in ("ambiguous", "'/a' is not one", "['/x', 1]", "two pairs begin with '/d/{x}'"):
        assert reason in text
    assert text.count("begins with a slash") == 2


@pytest.mark.parametrize("value", ["/a", {"/a": "/b"}, 1, None])
@pytest.mark.parametrize("option", ["rewrite_path", "skip"])
def test_what_is_no_list_is_refused(option, value):
    """Both options are lists."""
    with pytest.raises(ConfigurationError, match="expected a list of"):
        Canonicalizer({"*": {option: value}})


def _canonical(pairs, path):
    canonicalizer = Canonicalizer({"*": {"rewrite_path": pairs}}, preset="scrapy")
    return canonicalizer.canonicalize(HOST + path).removeprefix(HOST)


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/dir?name=a%20b", "/dir/a%20b"),
        ("/dir?name=C%2B%2B", "/dir/C++"),
        ("/dir?name=C++", "/dir/C%20%20"),
        ("/dir?name=a%2Fb", "/dir/a%2Fb"),
        ("/dir?name=a/b", "/dir/a%2Fb"),
        ("/dir?name=100%25", "/dir/100%25"),
        ("/dir?name=%3Fa%23b%3Bc", "/dir/%3Fa%23b%3Bc"),
        ("/dir?name=caf%E9", "/dir/caf%E9"),
        ("/dir?name=%E5%BC%95", "/dir/%E5%BC%95"),
        ("/dir?name=..", "/dir?name=.."),
        ("/dir?name=.", "/dir?name=."),
        ("/dir?name=...", "/dir/..."),
        ("/dir?name=", "/dir?name="),
    ],
)
def test_value_of_a_parameter_keeps_its_meaning_in_the_path(path, canonical):
    """A value moved into the path keeps its meaning, or the URL is left alone."""
    assert _canonical([["/dir?name={name}", "/dir/{name}"]], path) == canonical


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/dir/C++", "/dir?name=C%2B%2B"),
        ("/dir/a%20b", "/dir?name=a+b"),
        ("/dir/a%2Fb", "/dir?name=a%2Fb"),
        ("/dir/a=b&c", "/dir?name=a%3Db%26c"),
    ],
)
def test_text_of_the_path_keeps_its_meaning_in_a_parameter(path, canonical):
    """A delimiter of the query that was text in the path is percent-encoded."""
    assert _canonical([["/dir/{name}", "/dir?name={name}"]], path) == canonical


def test_path_in_a_parameter_is_a_path():
    """A place of the class `path` takes its slashes along, unless two would become one."""
    there = [["/show?file={file:path}", "/files/{file}"]]
    back = [["/files/{file:path}", "/show?file={file}"]]
    assert _canonical(there, "/show?file=a/b") == "/files/a/b"
    assert _canonical(there, "/show?file=../b") == "/show?file=..%2Fb"
    assert _canonical(back, "/files/a/b") == "/show?file=a%2Fb"
    assert _canonical(back, "/files/a%2Fb") == "/files/a%2Fb"


def test_parameters_that_a_template_does_not_name_stay():
    """Other parameters stay, and none is added twice."""
    assert _canonical([["/a?id={id}", "/a/{id}"]], "/a?x=1&id=2&y=3") == "/a/2?x=1&y=3"
    assert _canonical([["/a/{id}", "/a?id={id}"]], "/a/2?x=1") == "/a?id=2&x=1"
    assert _canonical([["/a/{id}", "/a?id={id}"]], "/a/2?id=1") == "/a/2?id=1"
    # What the pair made has the shape of its first template, too.
    assert _canonical([["/{page}", "/p?{page}"]], "/2-b?x=1") == "/p?2-b=&x=1"
    assert _canonical([["/{page}", "/p?{page}"]], "/2-b?1-a") == "/2-b?1-a="


def test_parameter_is_lifted_before_others_are_dropped():
    """An empty `keep_params` does not take away what a template needs."""
    rules = {"*": {"rewrite_path": [["/a?id={id}", "/a/{id}"]], "keep_params": []}}
    assert Canonicalizer(rules).canonicalize(f"{HOST}/a?id=1&x=2") == f"{HOST}/a/1"


def test_pairs_of_all_layers_unite_and_the_stronger_come_first():
    """A domain's pair wins over that of everywhere; `!` takes one back; explain tells which."""
    rules = {
        "*": {"rewrite_path": [["/a/{x}", "/everywhere/{x}"], ["/p/{x}", "/q/{x}"]]},
        "example.com": {"rewrite_path": [["/a/{x}", "/here/{x}"]]},
        "shop.example.com": {"rewrite_path": ["!/p/{x}"]},
    }
    canonicalizer = Canonicalizer(rules)
    assert canonicalizer.canonicalize("http://example.com/a/1") == "http://example.com/here/1"
    assert canonicalizer.canonicalize("http://other.example/a/1").endswith("/everywhere/1")
    assert canonicalizer.canonicalize("http://shop.example.com/p/1").endswith("/p/1")
    (step,) = canonicalizer.explain("http://example.com/p/1").steps
    assert (step.option, step.layer) == ("rewrite_path", "rules['*']")
    (step,) = canonicalizer.explain("http://example.com/a/1").steps
    assert step.layer == "rules['example.com']"


def test_layers_that_lead_in_a_circle_settle_on_one_url():
    """Each layer settles by itself; together they make one page of the URLs of the circle."""
    rules = {
        "*": {"rewrite_path": [["/a/{x}", "/b/{x}"]]},
        "example.com": {"rewrite_path": [["/b/{x}", "/a/{x}"]]},
    }
    canonicalizer = Canonicalizer(rules)
    canonical = canonicalizer.canonicalize(f"{HOST}/a/1")
    assert canonicalizer.canonicalize(f"{HOST}/b/1") == canonical
    assert canonicalizer.canonicalize(canonical) == canonical


def test_layers_that_grow_without_end_leave_the_url_alone():
    """Each layer settles by itself, both do not: the URL is its own, and it is said why."""
    rules = {
        "*": {"rewrite_path": [["/a/{x}", "/b/{x}-x"]]},
        "example.com": {"rewrite_path": [["/b/{x}", "/a/{x}"]]},
    }
    explanation = Canonicalizer(rules).explain(f"{HOST}/a/1")
    assert explanation.canonical == f"{HOST}/a/1"
    assert "do not settle" in explanation.problem


def test_patterns_that_lead_in_a_circle_settle_on_one_url():
    """Though no rule set has both pairs, and none of the pages is under both patterns."""
    rules = {
        "example.com/a": {"rewrite_path": [["/a/{x}", "/b/{x}"]]},
        "example.com/b": {"rewrite_path": [["/b/{x}", "/a/{x}"]]},
    }
    canonicalizer = Canonicalizer(rules)
    for end in ("a/1", "b/1"):
        explanation = canonicalizer.explain(f"{HOST}/{end}")
        assert (explanation.problem, explanation.canonical) == (None, f"{HOST}/a/1")
        assert canonicalizer.explain(explanation.canonical).steps == ()


def test_long_chains_settle_whatever_their_order():
    """A chain of many pairs is followed to its end in one pass."""
    pairs = [[f"/{n}/{{x}}", f"/{n + 1}/{{x}}"] for n in range(30)]
    assert _canonical(pairs, "/0/a") == "/30/a"
    assert _canonical(pairs[::-1], "/0/a") == "/30/a"


_TEXT = st.text("aB1-_.;+%/=& é", min_size=1, max_size=6)


FROM_QUERY = [
    ("/dir?name={name}", "/dir/{name}"),
    ("/dir?name={name}", "/dir/x{name}0"),
    ("/dir?name={name:path}", "/files/{name}"),
    ("/dir?name={name:slug}", "/files/{name}"),
]
FROM_PATH = [
    ("/dir/{name}", "/dir?name={name}"),
    ("/dir/{name}/end", "/other/{name}"),
    ("/dir/{name:path}", "/other?name={name}"),
    ("/dir/{name}0", "/other-{name}"),
    ("/dir/{name:path}.html", "/other/{name}/x"),
]


def _assert_tells_apart(pair, urls):
    plain = Canonicalizer()
    rewriting = Canonicalizer({"*": {"rewrite_path": [pair]}})
    before = {plain.canonicalize(url) for url in urls}
    after = {rewriting.canonicalize(url) for url in urls}
    assert len(before) == len(after)
    assert {rewriting.canonicalize(url) for url in after} == after


@given(st.sampled_from(FROM_QUERY), _TEXT, _TEXT)
@example(FROM_QUERY[0], "a", "a;")
@example(FROM_QUERY[0], ".", "..")
@example(FROM_QUERY[0], "a+", "a ")
@example(FROM_QUERY[1], "%", "%2")
@example(FROM_QUERY[1], "%41", "A")
@example(FROM_QUERY[2], "a/b", "a%2Fb")
def test_different_values_never_become_one(pair, one, other):
    """A pair that keeps a name tells apart whatever was told apart before."""
    _assert_tells_apart(pair, [f"{HOST}/dir?name={quote_plus(text)}" for text in (one, other)])


@given(st.sampled_from(FROM_PATH), _TEXT, _TEXT)
@example(FROM_PATH[1], "a;", "a")
@example(FROM_PATH[2], "%2F", "/")
@example(FROM_PATH[3], "%C3%A", "%C3%A0")
def test_different_paths_never_become_one(pair, one, other):
    """The same from the path."""
    start, _, end = pair[0].partition("{")
    end = end.partition("}")[2]
    _assert_tells_apart(pair, [f"{HOST}{start}{text}{end}" for text in (one, other)])


def test_a_pair_is_applied_once():
    """A pair is applied once: a number that remains may select the page."""
    pairs = [["/{rest:path}/{_page:digits}", "/{rest}"]]
    canonicalizer = Canonicalizer({"*": {"rewrite_path": pairs}})
    urls = [f"http://a.example/archive/{end}" for end in ("2020/05/3", "2021", "2020/05")]
    canonical = [canonicalizer.canonicalize(url) for url in urls]
    assert canonical == [urls[0], "http://a.example/archive", urls[2]]
    assert canonicalizer.canonicalize("http://a.example/b/c/3") == "http://a.example/b/c"


def test_pairs_follow_each_other_and_a_url_that_one_would_change_twice_stays():
    """Each at most once, in whatever order they stand."""
    pairs = [["/b/{id}", "/c/{id}"], ["/a/{id}", "/b/{id}"]]
    canonicalizer = Canonicalizer({"*": {"rewrite_path": pairs}})
    assert canonicalizer.canonicalize("http://a.example/a/1") == "http://a.example/c/1"


@pytest.mark.parametrize(
    ("pair", "path", "canonical"),
    [
        (["/{post}/amp/", "/{post}/"], "/a-post/amp/", "/a-post"),
        (["/{post}/amp/", "/{post}/"], "/a-post/amp", "/a-post"),
        (["/tag/{tag}/?sort={_by}", "/tag/{tag}/"], "/tag/red/?sort=date", "/tag/red"),
        (["/{list:path}/{_page:digits}/", "/{list}"], "/archive/2020/05/3/", "/archive/2020/05/3"),
        (["/news/", "/"], "/news/", "/"),
        (["/news/{post}", "/news/{post}/"], "/news/1/", "/news/1"),
    ],
)
def test_slash_at_the_end_of_a_template_is_none_where_that_of_paths_is_stripped(
    pair, path, canonical
):
    """A template with a trailing slash matches where trailing slashes are stripped."""
    canonicalizer = Canonicalizer({"*": {"rewrite_path": [pair], "trailing_slash": "strip"}})
    assert canonicalizer.canonicalize(f"http://a.example{path}") == f"http://a.example{canonical}"
    assert canonicalizer.canonicalize(f"http://a.example{canonical}") == (
        f"http://a.example{canonical}"
    )


def test_template_with_a_slash_at_its_end_skips_where_that_of_paths_is_stripped():
    """The same for `skip`, which reports it as written."""
    canonicalizer = Canonicalizer({"*": {"skip": ["/print/{page}/"]}}, preset="aggressive")
    assert canonicalizer.skips("http://a.example/print/1/") == "/print/{page}/"


def test_step_names_the_pair_as_it_was_written():
    """Steps name the pair as written, so that an audit can suspend it."""
    rules = {"*": {"rewrite_path": [["/{post}/amp/", "/{post}/"]]}}
    steps = Canonicalizer(rules, preset="aggressive").explain("https://a.example/1/amp/").steps
    causes = [cause.entry for step in steps for cause in step.causes]
    assert "/{post}/amp/" in causes
