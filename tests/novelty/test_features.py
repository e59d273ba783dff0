import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.novelty import features as module
from scrapy_urlcanon.novelty.features import Features, UrlFeatures, fold
from scrapy_urlcanon.novelty.packing import BITS, unpacked


def of(*urls):
    """Return the features of *urls*, made one after the other."""
    features = UrlFeatures()
    return [features.of(url) for url in urls]


def shared(one, other):
    """Return how many features two have in common."""
    return len({*unpacked(one.all)} & {*unpacked(other.all)})


@given(st.text())
def test_any_text_has_features(url):
    """Whatever a request asks for has features, which are numbers in their range."""
    features = UrlFeatures().of(url)
    assert features.all[: len(features.coarse)] == features.coarse
    assert all(0 <= number < 1 << BITS for number in unpacked(features.all))


def test_parameters_are_split_at_semicolons_too():
    """``a=1;b=2`` is two parameters, whatever separates them."""
    assert of("http://a.example/?a=1;b=2") == of("http://a.example/?a=1&b=2")


def test_words_that_are_searched_for_are_no_names():
    """A manual that names its pages so has one kind of URL, and what they share is known."""
    pages = [f"http://a.example/info?(tar){word * 3}+{word}" for word in "abcdefgh"]
    one, other = of(*pages, "http://a.example/info?(sed)iii+i")[-2:]
    assert one.coarse == other.coarse
    *_, known = of(*pages, "http://a.example/info?(tar)iii+i")
    assert shared(one, known) > shared(one, other)


def test_hashes_uuids_dates_and_numbers_are_one_token_each():
    """A link with another hash is one of the same kind."""
    assert fold("9f2d3c41b7aa") == fold("0123abcdef99") == "#h"
    assert fold("de305d54-75b4-431b-adb2-eb6b9e546014") == "#u"
    assert fold("2024-05-17.html") == fold("2023-12-01.html") == "#d.html"
    assert fold("page12") == fold("page7") == "page#n"
    assert fold("facade") == "facade"


_PIECES = ("deadbeef", "cafe", "babe", "12", "2024", "05", "3", "-", ".", "x", "\u0667", "é")
_FOLDABLE = st.lists(
    st.sampled_from((*_PIECES, "deadbeef-cafe-babe-face-deadbeefcafe")), max_size=12
).map("".join)


@given(_FOLDABLE)
def test_text_is_folded_as_if_all_were_looked_for(text):
    """In most texts nothing but numbers is, since there can be no hash and no date."""
    text = text[: module._MAX_TOKEN]
    if len(text) >= module._LEAST_HASH or not text.isdecimal():
        assert fold(text) == module._FOLDED.sub(module._kind, text.lower())


def test_in_a_title_with_a_number_nothing_else_is_looked_for(monkeypatch):
    """To look for hashes, dates and tokens there took more than all else that a URL costs."""
    monkeypatch.setattr(module, "_FOLDED", None)
    assert fold("The-history-of-an-old-lighthouse-part-12") == (
        "the-history-of-an-old-lighthouse-part-#n"
    )
    assert fold("where-the-keepers-of-the-lighthouses-went") == (
        "where-the-keepers-of-the-lighthouses-went"
    )


def test_same_url_on_another_host_shares_half_of_its_features():
    """Half of the features are those of all hosts, so that a new host starts from them."""
    one, other = of("http://a.example/login?returnto=x", "http://b.example/login?returnto=x")
    assert shared(one, other) >= len({*unpacked(one.all)}) // 2
    assert one != other


def test_rare_texts_share_features_and_frequent_ones_have_their_own():
    """Of a title nothing is learned but that it is one; of an action that many pages have, much."""
    urls = [f"http://a.example/w?title={letter * 3}" for letter in "abcdefgh"]
    *_, first, second = of(*urls)
    assert first == second
    often = of(*["http://a.example/w?title=Alpha"] * 9, urls[1])
    assert often[-2] != often[-1]


def test_rare_text_in_a_second_url_is_distinguished_from_one_that_is_new():
    """The print view of an article that was linked is no article that nobody has seen."""
    pages = [f"http://a.example/w?title={letter * 3}" for letter in "abcdefgh"]
    views = [f"{page}&print=1" for page in pages]
    *_, one, other, new = of(*pages, *views, "http://a.example/w?title=iii&print=1")
    assert one == other != new


def test_number_in_a_second_url_is_distinguished_from_one_that_is_new():
    """Another way to record 7 is not record 8, though as texts all numbers are one."""
    ways = [f"show?id={n}&back=list" for n in range(9)]
    others = [f"show?id={n}&back=all" for n in (*range(10, 20), 7, 99, 8)]
    urls = [f"http://a.example/{each}" for each in (*ways, *others, "edit?id=7&back=all")]
    *_, again, new, known, elsewhere = of(*urls)
    assert again == known != new
    assert len(elsewhere.all) == len(new.all) < len(again.all)


TOKENS = {
    "hash": "{:010x}",
    "token": "x{:05}yz{:05}abcd",
    "UUID": "{:08x}-75b4-431b-adb2-eb6b9e546014",
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("form", ["(S({}))/post-{}?lang=en", "post-{1};s={0}", "show?s={0}&id={1}"])
def test_url_of_which_all_but_a_token_is_known_differs_from_one_that_is_new(form, token):
    """Where the links of each page have another session nothing else says what was met."""
    urls = [
        f"http://a.example/{form.format(token.format(0x1A2B3C4D + visit, visit), number)}"
        for visit, numbers in enumerate((range(8), range(8), (0, 6, 7, 8)))
        for number in numbers
    ]
    *_, met, known, new = of(*urls)
    assert met == known != new


def test_pages_that_are_named_by_a_number_or_a_date_have_no_token():
    """Of a longer name with a number it is known by itself whether it was met."""
    for name in ("1234567", "2024-05-17", "part-12", "mp3player", "deadbeef"):
        assert not module._TOKEN.search(f"/{name}/")


@given(st.lists(st.sampled_from([*"abz1290-_.;", "3fa7c01d9e", "a1b2"]), max_size=40))
def test_no_token_or_number_in_the_last_segment_is_overlooked(pieces):
    """In most segments none is looked for, since there can be none."""
    leaf = "".join(pieces)[: module._MAX_TOKEN]
    features = UrlFeatures()
    features.of_split("http://a.example/", leaf, "", (), b"")
    is_number = leaf.isdecimal() and module.fold(leaf) != "#d"
    assert any(features.identifiers.tags) is (is_number or bool(module._TOKEN.search(leaf)))


def test_memory_of_counts_does_not_grow():
    """However many texts are met, they are counted in the same places."""
    features = UrlFeatures()
    size = len(features.counts), len(features.identifiers.tags)
    for number in range(1000):
        features.of(f"http://h{number}.example/{number * 'a'}?{number}={number}")
    assert (len(features.counts), len(features.identifiers.tags)) == size


def test_texts_stay_rare_in_a_crawl_without_end(monkeypatch):
    """What was met long ago is forgotten: else each place had its four texts in the end."""
    monkeypatch.setattr(module, "_YOUNG", 1 << 12)
    features = UrlFeatures()
    for number in range(1 << 14):
        features.of(f"http://a.example/x?title={number:x}-{'abcdefgh'[number % 8]}a&action=edit")
    fresh, other = (features.of(f"http://a.example/x?title={word}") for word in ("Qwerty", "Zuiop"))
    assert fresh == other
    often, rare = (features.of(f"http://a.example/x?action={word}") for word in ("edit", "Zuiop"))
    assert often != rare
    assert sum(map(bool, features.counts)) < len(features.counts) // 8


def test_folder_is_known_wherever_it_stands():
    """What one package keeps in ``class-use`` tells something of what another keeps there."""
    folders = ("class-use", "source", "class-use", "source")
    urls = [f"http://a.example/p{n}/{folder}/X.html" for n in range(8) for folder in folders]
    last = of(*urls, "http://a.example/one/class-use/Y.html", "http://a.example/two/source/Z.html")
    known, (used, other) = last[-6], last[-2:]
    assert shared(known, used) > shared(known, other)


URLS = st.lists(
    st.builds(
        "http://{}.example/{}/{}.{}.html?{}={}".format,
        *[st.sampled_from("ab")] * 6,
    ),
    min_size=1,
    max_size=30,
)


@given(URLS, st.sampled_from([(), ("from 1",)]))
def test_renewed_features_are_those_that_frequent_texts_have(urls, context):
    """Once all texts of a URL were met often, they are what is made of it now."""
    features = UrlFeatures()
    first = [features.of(url, context) for url in urls]
    for url, before in zip(urls, first, strict=True):
        for _ in range(5):
            now = features.of(url, context)
        assert (features.renewed(url, before) or before.all) == now.all
        assert features.renewed(url, now) == b""


def test_features_of_a_rare_text_stay():
    """A text that no other URL had since says no more than before; nor does a shape alone."""
    features = UrlFeatures()
    only = features.of("http://a.example/one/title")
    assert features.renewed("http://a.example/one/title", only) == b""
    for _ in range(9):
        features.of("http://a.example/one/title")
    shape = Features(only.coarse, only.coarse)
    assert features.renewed("http://a.example/one/title", shape) == b""
