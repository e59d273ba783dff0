"""A written rule does in a crawl what its trial did, and no URL is too odd to learn from."""

from __future__ import annotations

import tempfile
from functools import cache
from hashlib import sha1

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from observed import HOST, rules, see

from benchmarks.learn.synthetic import SyntheticSite
from scrapy_urlcanon.canonicalizer.percent_encoding import encode_query_text
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.learn import Learned, Observation, learn
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.location import locate, to_url
from scrapy_urlcanon.learn.miner import Miner
from scrapy_urlcanon.learn.operations.base import handles_of
from scrapy_urlcanon.learn.operations.hosts import AliasHost, SetScheme, StripWww, SubdomainIntoPath
from scrapy_urlcanon.learn.operations.parameters import DropParam, DropRepeated, DropValue, KeepOnly
from scrapy_urlcanon.learn.operations.paths import (
    CollapseSlashes,
    DropIndexFile,
    DropPathParam,
    LowerPath,
    StripTrailingSlash,
)
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.results.accepted import Accepted, inserted, rules_of, valid
from scrapy_urlcanon.learn.results.rule import Evidence
from scrapy_urlcanon.learn.results.rules_file import to_toml
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.library import Canonicalizer

# Whatever a policy does without a rule, and nothing else.
BASE = {"*": {"tracking_params": "keep"}}

SPECIAL = "\\*#?{}&=;%+/.:|!@[]\"' é\u0131\udc80\ufffd\x00\t"
TEXTS = st.text(SPECIAL + "aA1", max_size=6) | st.text(max_size=4)
NAMES = TEXTS | st.sampled_from(
    ["id", "sid", "page", "q", "a%20b", "sig", "Expires", "12-a", "/A/12-a/", "/^/b", "a"]
)
IN_QUERIES = st.sampled_from(["12-a", "12-a+b", "a-12", "a/7", "/a/12/", "print", "12", "^/7"])


def written(rules):
    """Return a canonicalizer that has loaded the file of these rules."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(to_toml(Learned(tuple(rules))))
        file.flush()
        return Canonicalizer(BASE, rules_files=[file.name])


def agree(accepted, urls):
    """Assert that the file changes each URL as the trial did."""
    canonicalizer = written(rules_of("shop.example", [accepted]))
    for url in urls:
        location = locate(url)
        if location.origin.scheme:
            assert str(to_url(accepted.apply(location))) == canonicalizer.canonicalize(url), url


def urls_of(text, names=NAMES):
    """Generate URLs of one site with odd texts in every place."""
    param = st.tuples(names, text).map("=".join) | names | IN_QUERIES
    return st.builds(
        "http{}://{}shop.example{}/{}?{}".format,
        st.sampled_from(["", "s"]),
        st.sampled_from(["", "www.", "www2.", "ann.", "b.", "x@"]),
        st.sampled_from(["", ":80", ":8080"]),
        st.lists(text, max_size=4).map("/".join),
        st.lists(param, max_size=4).map("&".join),
    )


def contents_by_key(canonicalizer, seen):
    """Return the contents of *seen* by the canonical URL under which they are found."""
    found = {}
    for one in seen:
        found.setdefault(canonicalizer.canonicalize(one.url), set()).add(one.main_sha1)
    return found


@pytest.mark.parametrize(
    "mark", ["\\", "*", "%23", "#", "%3F", "?", "{", "}", "{a}", "%7B", "\\1\\"]
)
@pytest.mark.parametrize(
    "shape", ["/{i}/slug{m}{j}", "/a{m}?b={j}{m}{i}", "/{i}?{m}={j}", "/{m}{i}/{j}"]
)
def test_marks_in_urls_are_texts(shape, mark):
    """Characters with a meaning in templates are literal where they stand in a URL."""
    urls = [
        "http://shop.example" + shape.format(i=i, j=j, m=mark) for i in range(20) for j in range(3)
    ]
    seen = [Observation(url, main_sha1=f"{i // 3:040x}") for i, url in enumerate(urls)]
    contents = contents_by_key(Canonicalizer(), seen)
    learned = contents_by_key(Canonicalizer(learn(seen).as_rules()), seen)
    # A fragment that tells pages apart never reaches the server, whatever is learned.
    assert max(map(len, learned.values())) == max(map(len, contents.values()))


@settings(max_examples=settings.default.max_examples // 3)
@given(
    fixed=st.lists(TEXTS, min_size=4, max_size=4),
    shape=st.permutations([0, 1, 2, 3]),
    odd=st.lists(urls_of(TEXTS), max_size=12),
)
@example(fixed=["", ".", "", ""], shape=[0, 1, 2, 3], odd=[])
def test_learning_raises_on_no_url(fixed, shape, odd):
    """URLs with any text in path, query or host are learned from or left out, without an error."""
    a, b, c, d = (fixed[i] for i in shape)
    urls = [
        f"http://{host}.example/{a}{i}/{b}?{c}={i}&{d}{j}"
        for host in ("shop", f"{b}shop")
        for i in range(5)
        for j in (b, "x", c)
    ]
    seen = [Observation(url, main_sha1=f"{i // 3:040x}") for i, url in enumerate([*urls, *odd])]
    to_toml(learn(seen))


def spelled(text):
    """Return a name or value as it stands in a URL that was taken apart."""
    return encode_query_text(text.encode(errors="replace").decode())


SPELLED, VALUES = NAMES.map(spelled), TEXTS.map(spelled)
OPERATIONS = st.one_of(
    st.builds(DropParam, SPELLED),
    st.builds(DropValue, SPELLED, VALUES),
    st.builds(KeepOnly, st.lists(SPELLED, max_size=3).map(tuple)),
    st.builds(DropIndexFile, st.sampled_from(["index.html", "a.b"])),
    st.builds(DropPathParam, NAMES),
    st.sampled_from(
        [
            StripTrailingSlash(),
            CollapseSlashes(),
            LowerPath(),
            DropRepeated(),
            StripWww(),
            SetScheme("https"),
            SetScheme("http"),
            AliasHost("b.shop.example", "shop.example"),
            AliasHost("shop.example:8080", "shop.example"),
            SubdomainIntoPath("*", "shop.example", "www.", ("b",)),
            SubdomainIntoPath("ann", "shop.example", "www."),
            RewriteTemplates("/{a}/{b:digits}", "/{a}?id={b}"),
            RewriteTemplates("/{rest:path}?id={a}", "/{rest}/{a}"),
            RewriteTemplates("/{rest:path}/a", "/{rest}"),
            RewriteTemplates("/a/{_s}-{b:digits}", "/a/--{b}"),
            RewriteTemplates("/a/^/{a:digits}-{_s}", "/a/^/{a}-"),
            RewriteTemplates("/a/^//A/{a}/", "/a?q={a}"),
            RewriteTemplates("/a/^/{rest:path}", "/{rest}"),
            RewriteTemplates("/a/^/{a}", "/12/{a}"),
            RewriteTemplates("/{a}", "/12/^/{a}"),
            RewriteTemplates("/{b}/^/{a:digits}-{_s}", "/{b}/^/{a}--"),
            RewriteTemplates("/{b}/^/{a}/{c}", "/{b}/{a}?c={c}"),
            RewriteTemplates("/{b}/{a:digits}", "/{b}/^/a/{a}"),
            RewriteTemplates("/{rest:path}/^/{a}/7", "/{rest}/^/{a}/"),
            RewriteTemplates("/{b}/^/{_s}", "/{b}"),
        ]
    ),
    st.builds(RewriteTemplates, TEXTS.map("/{{a}}/{}".format), TEXTS.map("/{}{{a}}".format)),
)
ODD = urls_of(TEXTS | st.sampled_from(["index.html", "a;sid=1", "A%2f", "..", "", "12", "a"]))


@example(  # Two that look like paths, of which the template takes one.
    operation=RewriteTemplates("/{b}/^/{a:digits}-{_s}", "/{b}/^/{a}--"),
    scope=Scope("shop.example"),
    urls=["http://shop.example/a?12-a&b-7"],
)
@given(
    operation=OPERATIONS,
    scope=st.sampled_from(
        [
            Scope("shop.example"),
            Scope("shop.example", ("a",)),
            Scope("www.shop.example"),
            Scope("shop.example", (), "id=1"),
        ]
    ),
    urls=st.lists(ODD, min_size=1, max_size=8),
)
@example(SetScheme("https"), Scope("shop.example"), ["https://shop.example/?=\udc80"])
@example(DropParam("12-a"), Scope("shop.example"), ["http://shop.example/?12-a"])
@example(KeepOnly(("12-a",)), Scope("shop.example"), ["http://shop.example/?12-a"])
@example(RewriteTemplates("/{a}", "/1/^/{a}"), Scope("shop.example"), ["http://shop.example/1-a"])
@example(RewriteTemplates("/a/^/{b}", "/a/{b}"), Scope("shop.example"), ["http://shop.example/a?b"])
def test_trial_of_an_operation_is_what_the_written_rule_does(operation, scope, urls):
    """Each operation changes a URL as the written rule does, and is tried on each such URL."""
    if operation.is_valid:
        agree(Accepted(scope, (operation,), Evidence()), urls)
        # No site has one that cannot be parsed, which has no scheme.
        seen = [url for url in map(locate, urls) if url.origin.scheme]
        changed = [url for url in seen if operation.apply(url) is not url]
        assert all(operation.handle in handles_of(url) for url in changed)


@cache
def mined(seed):
    """Return a part of the URLs of a site, and the miner that has learned from all."""
    seen = list(SyntheticSite(seed).observations(400))
    miner = Miner(site_of(domain_of(seen[0].url), seen))
    miner.run()
    assert miner.accepted
    return [o.url for o in seen[::20]], miner


@settings(max_examples=settings.default.max_examples // 6)
@given(seed=st.integers(0, 9), odd=st.lists(ODD, max_size=20))
def test_trial_of_what_is_learned_is_what_the_written_rule_does(seed, odd):
    """Each learned rule does to every URL, and to odd ones, what its trial did."""
    urls, miner = mined(seed)
    for accepted in miner.accepted:
        agree(accepted, [*urls, *odd])


SECTIONS = st.sampled_from(["/new", "/new/", "/New", "/new//", "/print/new", "/new/{a}/"])


@given(
    source=SECTIONS,
    target=SECTIONS,
    step=st.sampled_from([StripTrailingSlash(), LowerPath(), CollapseSlashes()]),
)
def test_templates_are_written_for_what_a_later_step_leaves(source, target, step):
    """A later step is applied to earlier templates: idle ones go, and the rest is valid."""
    template = RewriteTemplates(source, target)
    assume(template.is_valid)
    everywhere, within = Scope("shop.example"), Scope("shop.example", ("new",))
    old = Accepted(everywhere, (template,), Evidence())
    for scope in (within, everywhere):
        rules = inserted([old], Accepted(scope, (step,), Evidence()))
        assert all(operation.is_valid for rule in rules for operation in rule.operations)
    canonicalizer = written(rules_of("shop.example", rules))
    one, other = (
        canonicalizer.canonicalize("http://shop.example" + text.format(a=7))
        for text in (source, target)
    )
    assert one == other


# On the hosts of a synthetic site, with what its rules look for.
PARTS = st.sampled_from(
    [
        "article",
        "books",
        "print",
        "index.html",
        "section",
        "s3-21",
        "7",
        "12",
        "title",
        "page-2",
        "",
    ]
)
PARAMS = st.sampled_from(["page=1", "print=1", "sid=a1", "sort=date", "id=7", "x=", "y"])


@settings(max_examples=settings.default.max_examples // 3)
@given(
    seed=st.integers(0, 9),
    prefix=st.sampled_from(["", "www.", "b."]),
    path=st.lists(PARTS | TEXTS, max_size=4),
    own=st.integers(0, 19),
    params=st.lists(PARAMS | NAMES, max_size=3),
)
def test_whole_file_does_what_was_learned(seed, prefix, path, own, params):
    """The whole file of a site changes any URL as learning did."""
    urls, miner = mined(seed)
    canonicalizer = loaded(seed)
    host = miner.site.domain
    known = urls[own % len(urls)]
    more = known + ("&" if "?" in known else "?") + "&".join(params)
    for url in (known, more, f"http://{prefix}{host}/{'/'.join(path)}?{'&'.join(params)}"):
        location = locate(url)
        if location.origin.scheme:
            assert str(to_url(miner.form(location))) == canonicalizer.canonicalize(url), url


def test_what_a_template_comes_before_is_learned_again_of_what_it_leaves():
    """Parameters are dropped after paths are rewritten, whatever order they were learned in."""
    urls = {}
    for name in (f"{word}-{end}" for word in ("ash", "elm", "fir", "oak") for end in "abcd"):
        urls |= dict.fromkeys((f"/p/{name}", f"/p/{name}?tab=readme"), name)
        for tab in ("files", "history"):
            page = f"{tab} of {name}"
            urls |= dict.fromkeys((f"/p/{name}?tab={tab}", f"/p/{name}/{tab}"), page)
    site = "http://shop.example"
    seen = [
        Observation(site + url, main_sha1=sha1(page.encode()).hexdigest())
        for url, page in urls.items()
    ]
    canonicalizer = written(learn(seen).rules)
    pages = {canonicalizer.canonicalize(site + url): page for url, page in urls.items()}
    assert sorted(pages.values()) == sorted({*urls.values()})


@cache
def loaded(seed):
    """Return a canonicalizer with the whole file of the site of this seed."""
    _, miner = mined(seed)
    return written(valid(rules_of(miner.site.domain, miner.accepted)))


def test_parameter_that_is_dropped_in_a_part_is_no_condition_for_the_whole():
    """A rule has no condition on a parameter that another rule drops.

    Conditions apply to the URL as it is linked, where the parameter is still there.
    """
    changes = [
        see(f"/changes/{i}{query}", f"changes {i}{shown}")
        for i in range(12)
        for query, shown in (("", ""), ("?rev=9", ""), ("?from=1&rev=9", " from 1"))
    ]
    files = [
        see(f"/{part}/{i}?{query}rev={rev}", f"{part} {i} {rev}")
        for part in ("tree", "blame", "view", "raw")
        for i in range(2)
        for rev in (8, 9)
        for query in ("", "from=1&")
    ]
    key = Canonicalizer(rules([*changes, *files])).canonicalize
    assert key(f"{HOST}/changes/1?rev=9") == key(f"{HOST}/changes/1")
    assert key(f"{HOST}/changes/1?from=1&rev=9") != key(f"{HOST}/changes/1")
