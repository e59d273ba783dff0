"""Where merging is wrong, the default does not: URLs of different pages stay different."""

import gzip

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.url import split

SAFE = Canonicalizer()


def _assert_all_differ(*urls, canonicalizer=SAFE):
    canonical = {url: canonicalizer.canonicalize(url) for url in urls}
    assert len(set(canonical.values())) == len(urls), canonical


def test_encoded_plus_is_no_space():
    """In a query `C%2B%2B` is the language, `C++` is a C and two spaces."""
    _assert_all_differ(
        "http://example.com/search?q=C%2B%2B",
        "http://example.com/search?q=C++",
        "http://example.com/search?q=C",
    )


def test_plus_in_a_path_is_no_space():
    """In a path `+` is a plus sign, whether it is percent-encoded or not, and no space."""
    assert SAFE.canonicalize("http://example.com/C%2B%2B") == "http://example.com/C++"
    _assert_all_differ("http://example.com/C++", "http://example.com/C%20%20")


def test_encoded_delimiters_are_no_delimiters():
    """What is percent-encoded is text: it ends no segment, no path, no parameter, no name."""
    _assert_all_differ("http://example.com/a%2Fb", "http://example.com/a/b")
    _assert_all_differ("http://example.com/a%3Fb", "http://example.com/a?b")
    _assert_all_differ("http://example.com/a%23b", "http://example.com/a#b")
    _assert_all_differ("http://example.com/a%3Bb=1", "http://example.com/a;b=1")
    _assert_all_differ("http://example.com/a%253Fb", "http://example.com/a%3Fb")
    _assert_all_differ("http://example.com/?a=1%26b=2", "http://example.com/?a=1&b=2")
    _assert_all_differ("http://example.com/?a%3D1=2", "http://example.com/?a=1%3D2")


def test_name_without_a_value_selects_a_page():
    """`?Page:Name` is one page of a wiki, and not its front page."""
    _assert_all_differ(
        "http://wiki.example/?Page:Name", "http://wiki.example/?Page:Other", "http://wiki.example/"
    )


def test_www_is_a_name_where_nothing_registrable_is_left():
    """`www.co.uk` is no `co.uk`; that holds where `www` is stripped as well."""
    for canonicalizer in (SAFE, Canonicalizer(preset="aggressive")):
        _assert_all_differ(
            "https://www.co.uk/", "https://co.uk/", "https://www.com/", canonicalizer=canonicalizer
        )


@pytest.mark.parametrize("preset", PRESETS)
def test_case_of_path_and_query_counts(preset):
    """`/ALexander` is another article than `/Alexander`, in every preset."""
    _assert_all_differ(
        "https://example.com/ALexander",
        "https://example.com/Alexander",
        "https://example.com/x?id=a",
        "https://example.com/x?id=A",
        "https://example.com/x?ID=a",
        canonicalizer=Canonicalizer(preset=preset),
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_url_in_a_parameter_is_a_value(preset):
    """oEmbed: the page is about the URL in `url`, every letter of it."""
    endpoint = "https://example.com/oembed?url="
    _assert_all_differ(
        *(
            f"{endpoint}{inner}"
            for inner in (
                "https%3A%2F%2Fexample.org%2Fa",
                "https%3A%2F%2Fexample.org%2Fa%2F",
                "https%3A%2F%2Fexample.org%2F%2Fa",
                "https%3A%2F%2Fexample.org%2Fa%3Futm_source%3Dx",
                "http%3A%2F%2Fexample.org%2Fa",
                "https%3A%2F%2Fwww.example.org%2Fa",
                "https%3A%2F%2Fexample.org%2Fa%23b",
            )
        ),
        canonicalizer=Canonicalizer(preset=preset),
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_slashes_of_a_url_in_the_path_stay(preset):
    """An archive has the inner URL in its path: `//` is part of it, and it is not unwrapped."""
    url = "https://web.example/web/2020/http://example.com/a"
    assert Canonicalizer(preset=preset).canonicalize(url) == url


SIGNED = [
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0a1b",
    "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature=0a1b",
    "AWSAccessKeyId=A&Expires=1&Signature=x%3D",
    "Expires=1&GoogleAccessId=a&Signature=x%3D",
    "Expires=1&Key-Pair-Id=K&Signature=x~",
    "Key-Pair-Id=K&Policy=e30_&Signature=x~",
    "Expires=1&KeyName=k&Signature=x",
    "se=2030-01-01&sig=x%3D&sp=r&sv=2020",
    "OSSAccessKeyId=A&Expires=1&Signature=x%3D",
    "x-oss-signature=0a1b&x-oss-expires=1",
    "q-sign-algorithm=sha1&q-signature=0a1b",
    "hdnts=exp%3D1~hmac%3D0a1b",
]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("signature", SIGNED)
def test_signed_url_keeps_its_parameters(preset, signature):
    """What was signed is not taken away by a general rule, in any preset."""
    query = f"{signature}&empty=&page=1&utm_source=x&gclid=1"
    canonicalizer = Canonicalizer({"*": {"default_params": {"page": "1"}}}, preset=preset)
    canonical = split(canonicalizer.canonicalize(f"https://files.example/a?{query}"))
    assert sorted(canonical.query) == sorted(query.split("&"))
    assert canonicalizer.policy("https://files.example/").options["default_params"].value


@pytest.mark.parametrize(
    "query", ["Signature=x", "sig=1&id=2", "Expires=1", "Policy=1", "signature_of=x&Expires=1"]
)
def test_names_that_are_in_use_elsewhere_make_no_signature(query):
    """A short name by itself is a parameter like any other."""
    assert not is_signed(query.split("&"))
    url = f"https://example.com/?{query}&utm_source=x"
    assert SAFE.canonicalize(url) == f"https://example.com/?{'&'.join(sorted(query.split('&')))}"


def test_explicit_rules_hold_for_signed_urls_too():
    """Who lists the names of the signature wants the object, whoever signed the URL."""
    url = "https://files.example/a?X-Amz-Date=1&X-Amz-Signature=0a&versionId=2"
    for options in ({"drop_params": ["X-Amz-*"]}, {"keep_params": ["versionId"]}):
        canonicalizer = Canonicalizer({"files.example": options})
        assert canonicalizer.canonicalize(url) == "https://files.example/a?versionId=2"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["ref", "source", "id", "sort", "page", "lang", "view", "q", "s"])
def test_common_names_select_content(preset, name):
    """What is a referrer on one site is a catalogue reference on another one."""
    _assert_all_differ(
        f"https://shop.example/?{name}=1",
        f"https://shop.example/?{name}=2",
        "https://shop.example/",
        canonicalizer=Canonicalizer(preset=preset),
    )


def test_scheme_slashes_and_index_files_are_left_to_the_user():
    """What is right on most sites only is not done by default."""
    _assert_all_differ(
        "http://example.com/a",
        "https://example.com/a",
        "http://www.example.com/a",
        "http://example.com/a/",
        "http://example.com//a",
        "http://example.com/a/index.html",
        "http://example.com/a;jsessionid=1",
        "http://example.com:8080/a",
        "http://me@example.com/a",
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_users_of_a_hosting_domain_are_sites_of_their_own(preset):
    """The private part of the Public Suffix List counts, as it does in browsers."""
    canonicalizer = Canonicalizer({"*": {"subdomain_to_path": ["*"]}}, preset=preset)
    _assert_all_differ(
        "https://ann.github.io/", "https://bob.github.io/", canonicalizer=canonicalizer
    )
    assert canonicalizer.canonicalize("https://ann.github.io/") == "https://ann.github.io/"


def test_a_text_that_is_the_whole_query_is_the_page():
    """With `aggressive` too: no `=`, no value, but nothing else that selects the page."""
    aggressive = Canonicalizer(preset="aggressive")
    _assert_all_differ(
        "https://href.li/?https://example.com/a",
        "https://href.li/?https://example.com/b",
        "https://wwf.example/?1014116/Unregulated-fishing",
        "https://wwf.example/?1014117/Other&utm_source=x",
        "https://wwf.example/",
        canonicalizer=aggressive,
    )


def test_texts_that_are_whole_queries_stay_different_in_the_corpus(shared):
    """Of real URLs whose query has no `=`, `aggressive` merges no two with other texts."""
    aggressive = Canonicalizer(preset="aggressive")
    merged = {}
    with gzip.open(shared / "corpora" / "top100.txt.gz", "rt", encoding="utf-8") as lines:
        urls = [url for url in map(str.strip, lines) if "?" in url and "=" not in url]
    for url in urls:
        canonical = aggressive.explain(url)
        if not canonical.problem:
            query = split(SAFE.canonicalize(url)).query
            merged.setdefault(canonical.canonical, set()).add(query)
    assert len(urls) > 100
    assert [queries for queries in merged.values() if len(queries) > 1] == []
