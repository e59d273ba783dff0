"""Finding which of many templates a URL matches, by their shapes and an index."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.rewrites import RewriteIndex, parse_rewrite
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.canonicalizer.url import Url, split
from scrapy_urlcanon.exceptions import UnparsableUrlError

HOST = "http://example.com"

_SOURCES = st.sampled_from(
    [
        *("/a/{x}", "/a/{x:digits}", "/a/{x}.html", "/a/{x:digits}.html", "/{x}/b", "/{x:path}"),
        *("/{x:a|bc}/{y}", "/a-{x:slug}-{y:digits}", "/{y:digits}{x:a|bc}", "/a/{x}?y={y}"),
    ]
)
_TEXTS = st.sampled_from(["a", "b", "bc", "1", "2.html", "1-2", "a/b"])


def _filled(template, found):
    """Return a URL of the shape of *template*, or nearly so."""
    text = template.text
    for place in template.places:
        text = text.replace(str(place), found[place.name])
    return split(HOST + text)


@given(st.tuples(_SOURCES, _SOURCES), st.fixed_dictionaries({"x": _TEXTS, "y": _TEXTS}))
def test_a_shape_that_texts_of_another_one_have_is_not_ruled_out(shapes, found):
    """Two templates that match one URL are never taken for disjoint."""
    one, other = map(parse_template, shapes)
    url = _filled(one, found)
    if one.match(url) and other.match(url):
        assert one.path.may_have(other.path)


@given(_SOURCES, st.fixed_dictionaries({"x": _TEXTS, "y": _TEXTS}), _SOURCES)
def test_expression_of_a_shape_finds_what_the_shape_does(source, found, other):
    """The regular expression of a shape matches what the shape does."""
    shape = parse_template(source).path
    for path in (_filled(parse_template(text), found).path for text in (source, other)):
        match = shape.expression.fullmatch(path)
        assert (match and match.groupdict()) == shape.match(path)


@pytest.mark.parametrize("unit", ["a", "1", "-", "a-", "1-", "/", "/a", "/1", "-1.html", "/a/1-"])
@pytest.mark.parametrize(
    "source",
    [
        "/{x}/b/{y:digits}-",
        "/{x}-{y:digits}.html",
        "/{x:path}/{y:digits}-{z:digits}/c",
        "/a{x}-{y:en|de}",
    ],
)
def test_expression_of_a_shape_takes_linear_time(source, unit):
    """That expression takes linear time on texts that nearly match."""
    path = "/" + unit * (200_000 // len(unit)) + "!"
    start = process_time()
    assert parse_template(source).path.expression.fullmatch(path) is None
    assert process_time() - start < 1.0


@given(
    st.lists(_SOURCES, min_size=2, max_size=8, unique=True),
    st.lists(st.tuples(_SOURCES, st.fixed_dictionaries({"x": _TEXTS, "y": _TEXTS}))),
)
def test_of_many_pairs_the_first_that_changes_a_url_is_found(sources, filled):
    """Of many pairs the first that changes a URL is found."""
    pairs = []
    for number, source in enumerate(sources):
        names = {place.name for place in parse_template(source).places}
        places = "/".join(f"{{{name}}}" for name in sorted(names))
        pairs.append(parse_rewrite(source, f"/a/{number}/{places}"))
    index = RewriteIndex(pairs)
    for source, found in filled:
        url = _filled(parse_template(source), found)
        changed = ((pair, pair.apply(url)) for pair in pairs)
        usual = ((pair, new) for pair, new in changed if new != url and pair.apply(new) == new)
        first = next(usual, None)
        try:
            follow = index.follow(url)
        except UnparsableUrlError:
            continue
        assert follow[:1] == ([] if first is None else [first])


@given(
    st.lists(_SOURCES, min_size=2, max_size=8, unique=True),
    st.lists(st.tuples(_SOURCES, st.fixed_dictionaries({"x": _TEXTS, "y": _TEXTS}))),
)
def test_of_many_templates_of_skip_the_first_that_fits_is_found(sources, filled):
    """Of many `skip` templates the first that matches is found."""
    canonicalizer = Canonicalizer({"*": {"skip": sources}}, preset="scrapy")
    for source, found in filled:
        url = _filled(parse_template(source), found)
        matches = ((text, parse_template(text).match(url)) for text in sources)
        first = next((text for text, match in matches if match and not match.others), None)
        cause = canonicalizer.cause_of_skip(str(url))
        assert (cause and cause.entry) == first


def test_many_templates_of_skip_take_as_long_as_one(monkeypatch):
    """Of ten thousand `skip` templates only a few are tried on a URL."""
    template = type(parse_template("/"))
    tried, match = [], template.match
    monkeypatch.setattr(template, "match", lambda *args: tried.append(args) or match(*args))
    skip = [f"/{number}/{{x}}?p={{p:digits}}" for number in range(10_000)]
    canonicalizer = Canonicalizer({"*": {"skip": skip}})
    assert canonicalizer.skips(f"{HOST}/7000/a?p=1") == skip[7_000]
    assert canonicalizer.skips(f"{HOST}/a/7000?p=1") is None
    assert len(tried) == 1


def test_index_of_many_pairs_leaves_out_none_that_fits():
    """The index finds each pair that changes a URL."""
    sources = [
        *("/a/{x}", "/a", "/a{x}", "/{x}/b", "/{x}-{y:digits}.html", "/a/{x}/b/{y:path}"),
        *("/{x}?id={i}", "/a?id={i}&view=print", "/a?view=", "/a/{x}?view=print", "/{p:path}/end"),
    ]
    pairs = [
        parse_rewrite(source.replace("{y:", "{_y:").replace("{i}", "{_i}"), f"/new/{number}")
        for number, source in enumerate(sources)
    ]
    index = RewriteIndex(pairs)
    for path in ("/a", "/a/", "/ab", "/a/b", "/c/b", "/a/c/b/d/e", "/x-1.html", "/c/d/end", "/"):
        for query in (None, ("id=1",), ("view=print", "id=1"), ("view=",), ("view=print",)):
            url = Url("http", None, "a.example", None, path, query, None)
            changing = [n for n, pair in enumerate(pairs) if pair.apply(url) != url]
            assert set(changing) <= set(index.candidates(url)), url
