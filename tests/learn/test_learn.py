"""What is learned from observations, and what is not."""

import json
import random
import subprocess
import sys
from base64 import urlsafe_b64encode
from functools import cache
from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed import HOST, pages, rules, see

from benchmarks.learn.synthetic import judged
from scrapy_urlcanon.learn import Observation, Thresholds, learn

TITLES = ("shoe", "coat", "boots", "scarf", "glove", "shirt", "dress", "jacket")


def test_parameter_that_makes_no_difference_is_dropped():
    """A parameter with and without which the same pages are found is dropped."""
    assert rules([*pages("/a?id={}"), *pages("/a?id={0}&sid=x{0}")]) == {
        "shop.example": {"drop_params": ["sid"]}
    }


def test_percent_encoding_of_a_value_is_no_difference():
    """A value with and without percent-encoding does not hide what else differs."""
    found = rules([*pages("/a?cols=x%2Cy{}"), *pages("/a?cols=x,y{0}&sid=k{0}")])
    assert found == {"shop.example": {"drop_params": ["sid"]}}


def test_parameters_that_only_come_together_are_dropped_together():
    """Two parameters that always come together are both dropped."""
    found = rules([*pages("/a/{}"), *pages("/a/{0}?x=k{0}&y=l{0}")])
    assert sorted(found["shop.example"]["drop_params"]) == ["x", "y"]


def test_two_words_for_one_choice_are_no_noise():
    """Two parameters that make the same choice are neither dropped nor rewritten to each other.

    A URL without both is another page.
    """
    found = rules([*pages("/a/{0}?hide=guests&n={0}"), *pages("/a/{0}?n={0}&show=members")])
    assert found["shop.example"].keys() == {"skip"}


@pytest.mark.parametrize("on", ["1", "on", "yes"])
def test_one_switch_is_no_other_one(on):
    """Lists that lack both kinds of entries do not make one switch the other."""
    empty = [see(f"/log?user={i}&{kind}={on}", f"{i}") for i in range(8) for kind in ("doc", "bug")]
    assert "rewrite_path" not in str(rules(empty))


def test_parameter_that_was_renamed_becomes_the_other():
    """A renamed parameter is rewritten to the other name."""
    found = rules([*pages("/a/{}?do=print"), *pages("/a/{}?action=print")])
    assert list(found["shop.example"]) == ["rewrite_path"]


def test_titles_beside_the_numbers_of_a_thing_and_of_its_one_section_do_not_matter():
    """A title beside a number does not matter, even if a second number has only one title."""
    things = pages("/view?id={}&section=3", 24)
    titled = pages("/view?id={0}:title-of-{0}&section=3:news", 24)
    # Half of these URLs: no class of them is found elsewhere.
    found = rules([*things[:16], *titled[8:]])
    assert list(found["shop.example"]) == ["rewrite_path"]


def test_name_of_a_number_in_the_path_is_no_language():
    """/news/show/id/7 is rewritten to /news/7: `id` is not taken for a language."""
    (found,) = rules([*pages("/news/show/id/{}"), *pages("/news/{}")]).values()
    assert found == {"rewrite_path": [["/news/show/id/{b:digits}", "/news/{b}"]]}


def test_long_path_of_a_script_becomes_the_name_of_a_file():
    """A long path with number, title and section is rewritten to the title's own file.

    The file has an ending that nothing in the long path has.
    """
    titles = [f"{one}-{two}" for one in ("large", "small", "green") for two in TITLES]
    seen = [see(f"/{title}.html", title) for title in titles[4:]]
    seen += [
        see(f"/shop/product/view/id/{i}/title/{title}/section/{section}/", title)
        for i, title in enumerate(titles[:-4], 1200)
        for section in (i % 9, 14 + i % 5)
    ]
    (found,) = rules(seen).values()
    source = "/shop/product/view/id/{_e:digits}/title/{g}/section/{_i:digits}/"
    assert found == {"rewrite_path": [[source, "/{g}.html"]]}


def test_two_views_that_differ_in_the_case_of_a_letter_say_nothing_of_other_paths():
    """Two views, /T/ and /t/, that agree do not make all paths case-insensitive."""
    found = rules([*pages("/thread/{}/T/"), *pages("/thread/{}/t/"), *pages("/Files/{}")])
    assert "path_case" not in str(found)


def test_what_one_step_does_is_no_evidence_for_another():
    """A rare parameter is not dropped on the evidence of the ``www`` beside it."""
    texts = [
        see(f"http://{host}shop.example/text/{i}", f"text {i}")
        for host in ("", "www.")
        for i in range(80)
    ]
    # What echoes its URL is another page under each.
    echoes = [
        see(url, f"echo of {url}")
        for host in ("", "www.")
        for i in range(2)
        for url in (f"http://{host}shop.example/echo/{i}{query}" for query in ("", "?diff=1"))
    ]
    rare = [see(f"http://www.shop.example/text/{i}?diff=1", f"text {i}") for i in range(3)]
    assert "diff" not in str(rules([*texts, *echoes, *rare]))


def test_parameter_that_selects_content_survives():
    """A parameter that makes no difference on some pages and selects others is kept."""
    noise = pages("/a/{0}?v={0}")
    content = [see(f"/a/{i}?v={i + 100}", f"other {i}") for i in range(12)]
    assert rules([*pages("/a/{}"), *noise, *content]) == {}


def test_parameter_of_which_one_value_was_seen_is_a_default():
    """A parameter with one value becomes a default: other values may matter."""
    assert rules([*pages("/a?id={}"), *pages("/a?id={}&who=-1")]) == {
        "shop.example": {"default_params": {"who": "-1"}}
    }


def test_session_of_one_crawl_is_dropped_whatever_its_value():
    """A parameter whose one value is a session token is dropped, not a default."""
    assert rules([*pages("/a?id={}"), *pages("/a?id={}&sid=4fc8e1b2a7d9c0e35b")]) == {
        "shop.example": {"drop_params": ["sid"]}
    }


def test_no_revision_is_another_one():
    """A token of one revision is not rewritten to that of another, though some pages agree."""
    one, other, third = (f"/{{}}?hb={i}b61d6e0c3d35d8d" for i in range(3))
    changed = [see(third.format(i), f"changed {i}") for i in range(12)]
    assert rules([*pages(one), *pages(other), *changed]) == {}


def test_parameter_is_dropped_where_it_is_noise_only():
    """A parameter that matters in one section is dropped in the other section alone."""
    forum = [*pages("/forum/{}", 30), *pages("/forum/{0}?v=z{0}", 30)]
    shop = [see(f"/shop/{i}?v={j}", f"item {i} {j}") for i in range(30) for j in range(2)]
    assert rules([*forum, *shop, *[see(f"/shop/{i}", f"shop {i}") for i in range(30)]]) == {
        "shop.example/forum/": {"drop_params": ["v"]}
    }


@pytest.mark.parametrize(
    "name",
    [
        *("page", "start", "offset", "limit", "per_page", "items", "numRows", "lang", "hl"),
        *("b_start:int", "comments_page", "page[number]", "page%5Bsize%5D", "news[currentPage]"),
        *("page_UserView", "page_n12", "photo-page"),
    ],
)
def test_pagination_and_language_survive(name):
    """Parameters that number or size parts, or choose a language, are kept without a difference."""
    assert rules([*pages("/a/{}"), *pages("/a/{0}?" + name + "=7")]) == {}


def test_page_to_go_back_to_is_no_number_of_one():
    """A parameter with "page" in its name is dropped if its values are no numbers."""
    for name in ("ref_page", "page_from"):
        assert rules([*pages("/a/{}"), *pages("/a/{0}?" + name + "=/news/{0}")]) == {
            "shop.example": {"drop_params": [name]}
        }


def test_first_page_is_a_default():
    """page=1 is dropped if it shows what no number shows."""
    observations = [
        *pages("/a/{}"),
        *pages("/a/{}?page=1"),
        *[see(f"/a/{i}?page=2", f"second {i}") for i in range(12)],
    ]
    assert rules(observations) == {"shop.example": {"default_params": {"page": "1"}}}


def test_two_default_values_are_two_rules():
    """A second default value becomes a rule with a condition, since an option holds one."""
    observations = [
        *pages("/a/{}/"),
        *pages("/a/{}/?C=N;O=A"),
        *pages("/a/{}/?C=D;O=A"),
        *[see(f"/a/{i}/?C=S;O=A", f"by size {i}") for i in range(12)],
    ]
    assert rules(observations) == {
        "shop.example": {"query_separator": ";", "default_params": {"C": "D", "O": "A"}},
        "shop.example/?C=N": {"drop_params": ["C"]},
    }


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/a{}/", "/a{}/index.html", {"directory_index": ["index.html"]}),
        ("/a{}", "/a{}/", {"trailing_slash": "strip"}),
        ("/x/a{}", "/x//a{}", {"duplicate_slashes": "collapse"}),
        ("/x?f=a{0}&g=1", "/x?f=a{0}&f=a{0}&g=1", {"repeated_params": "drop"}),
        ("/a{}", "https://shop.example/a{}", {"scheme": "https"}),
        ("/a{}", "http://www.shop.example/a{}", {"www": "strip"}),
        ("/item/a{}", "/Item/A{}", {"path_case": "lower"}),
        ("/a{0}", "/a{0};jsessionid=f{0}", {"path_params": ["jsessionid"]}),
        ("/node/{}", "/node/{}/print", {"rewrite_path": [["/node/{b:digits}/print", "/node/{b}"]]}),
        ("/?id={}", "/?p={}", {"rewrite_path": [["/?id={b:digits}", "/?p={b}"]]}),
        (
            "/item_{}",
            "/item?id={}",
            {"rewrite_path": [["/item?id={b:digits}", "/item_{b}"]]},
        ),
    ],
)
def test_each_way_to_write_a_url_twice_is_learned(one, other, expected):
    """Each pair of URLs of one page teaches the option that merges them."""
    assert rules([*pages(one), *pages(other)]) == {"shop.example": expected}


def test_sink_is_no_evidence():
    """A page that many URLs show is no evidence that their parameter may be dropped."""
    login = [see(f"/a?id={i}", "please log in") for i in range(60)]
    assert rules([*login, *[see(f"/a?id={i}", f"page {i}") for i in range(60, 62)]]) == {}


def test_content_parameter_survives_when_its_pages_were_down():
    """Pages that all showed one error are an unsure rule, and not dropped."""
    down = [see(f"/product?id={i}", "temporarily unavailable") for i in range(200)]
    learned = learn(down)
    assert learned.as_rules() == {}
    assert [rule.kind for rule in learned.unsure] == ["sink"]


def test_login_form_is_collapsed():
    """Log-in forms with a return address become one URL, by a rule marked as a sink."""
    articles = [see(f"/wiki/Article_{i}", f"article {i}") for i in range(40)]
    login = [see(f"/index.php?returnto=Article_{i}&title=Login", "log in") for i in range(40)]
    edits = [see(f"/index.php?title=Article_{i}&action=edit", f"edit {i}") for i in range(40)]
    learned = learn([*articles, *login, *edits])
    form = "shop.example/index.php?title=Login"
    assert learned.as_rules() == {form: {"drop_params": ["returnto"]}}
    assert {rule.kind for rule in learned.rules} == {"sink"}


def token(**claims):
    """Return *claims* as a JSON Web Token (RFC 7519) with an invalid signature."""
    parts = b'{"alg":"HS256"}', json.dumps(claims).encode(), sha1(repr(claims).encode()).digest()
    return ".".join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def test_login_form_with_a_signed_return_address_is_collapsed():
    """A return address inside a signed token makes a log-in form too."""
    login = [see(f"/login?next={token(to=f'/wiki/{i}', by='site')}", "log in") for i in range(40)]
    assert rules([*login, *pages("/wiki/{}")]) == {"shop.example/login/": {"drop_params": ["next"]}}
    # A token that names something else may be of one of many pages, which all were down.
    down = [see(f"/show?it={token(number=i, by='site')}", "log in") for i in range(40)]
    assert rules([*down, *pages("/wiki/{}")]) == {}


def test_login_forms_that_nobody_came_to_are_no_other_pages():
    """Log-in forms that redirects lead to, and that were not fetched, are no counter-examples."""
    login = [see(f"/login?next=/wiki/{i}/edit", "log in") for i in range(40)]
    edits = [
        Observation(f"{HOST}/wiki/{i}/edit", 302, redirect=f"{HOST}/login?next=/wiki/{i}/edit")
        for i in range(60)
    ]
    learned = learn([*login, *edits, *pages("/wiki/{}")])
    sinks = [(rule.pattern, rule.setting) for rule in learned.rules if rule.kind == "sink"]
    edits_skipped = "shop.example", ["/wiki/{a:digits}/edit"]
    assert sinks == [("shop.example/login/", ["next"]), edits_skipped]


def test_short_links_are_skipped_where_their_page_is_always_found_elsewhere():
    """Short links whose pages are all found under a slug become a `skip` template."""
    short = [see(f"/?p={i}", f"page {i}", canonical=f"{HOST}/slug-{i * 7}x/") for i in range(12)]
    slugs = [see(f"/slug-{i * 7}x/", f"page {i}") for i in range(12)]
    learned = learn([*short, *slugs])
    assert [(r.option, r.setting, r.kind) for r in learned.rules] == [
        ("skip", ["/?p={a:digits}"], "skip")
    ]


def test_short_links_are_kept_where_some_page_is_found_nowhere_else():
    """Two short links whose pages are found nowhere else are enough to keep the class."""
    short = [see(f"/?p={i}", f"page {i}") for i in range(14)]
    slugs = [see(f"/slug-{'abcdefghijklmn'[i]}/", f"page {i}") for i in range(12)]
    assert rules([*short, *slugs]) == {}


def test_unknown_and_failed_pages_are_no_evidence():
    """Error pages, and captures without a digest, are no evidence."""
    observations = [
        *pages("/a/{}"),
        *pages("/a/{}?x=1", status=404),
        *[Observation(f"{HOST}/a/{i}?y=1") for i in range(12)],
    ]
    assert rules(observations) == {}


def test_few_pages_are_not_enough():
    """Two pages are no rule: they may agree by chance."""
    assert rules([*pages("/a/{}", 2), *pages("/a/{0}?sid=x{0}", 2)]) == {}


def test_thresholds_are_the_users():
    """A higher threshold of the user asks for more pages."""
    observations = [*pages("/a/{}", 6), *pages("/a/{0}?sid=x{0}", 6)]
    assert rules(observations)
    assert rules(observations, thresholds=Thresholds(precision=0.9, alias=0.9)) == {}


def test_domains_can_be_chosen():
    """Only the domains asked for are learned from."""
    observations = [*pages("/a/{}"), *pages("/a/{0}?sid=x{0}")]
    others = [see(o.url.replace("shop", "book"), o.main_sha1) for o in observations]
    assert rules(observations)
    found = learn([*observations, *others], domains=["book.example"])
    assert list(found.as_rules()) == ["book.example"]
    assert found.domains == 1


def test_progress_counts_up_to_what_there_is():
    """Progress is reported in observations, whose number is known."""
    observations = [*pages("/a/{}", 3), *pages("http://book.example/{}", 5)]
    told = []
    learn(observations, progress=lambda *step: told.append(step))
    assert told == [("book.example", 0, 8), ("shop.example", 5, 8), ("", 8, 8)]


def test_one_url_teaches_nothing():
    """A domain with one URL teaches nothing, and is no error."""
    assert learn([see("/", "home")]).rules == ()
    assert learn([]).domains == 0


def test_evidence_is_given():
    """Each rule has the number of its pages and merges, and three pairs of URLs as examples."""
    [rule] = learn([*pages("/a/{}"), *pages("/a/{0}?sid=x{0}")]).rules
    assert (rule.evidence.pages, rule.evidence.merges, rule.evidence.counter_examples) == (
        12,
        12,
        0,
    )
    assert rule.evidence.examples[0] == (f"{HOST}/a/0?sid=x0", f"{HOST}/a/0")
    assert len(rule.evidence.examples) == 3


_SCRIPT = """
import random, sys
from benchmarks.learn.synthetic import SyntheticSite
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.results.rules_file import to_toml
observations = [o for seed in (1, 2, 5) for o in SyntheticSite(seed).observations(600)]
random.Random(int(sys.argv[1])).shuffle(observations)
sys.stdout.write(to_toml(learn(observations)))
"""


def test_what_no_rule_explains_is_reported_by_its_difference():
    """Duplicates that no rule merges are reported by what their URLs differ in.

    With two of them, and with the number of pages that a rule for that difference would lose. What
    a rule, a skip or a sink explains is not reported.
    """
    tags = [see(f"/{kind}/0/", "tagged") for kind in ("tag", "topic")]
    content = [see(f"/a?v={i}", "one page" if i < 2 else f"page v{i}") for i in range(6)]
    sessions = pages("/s/{0}?sid={0}") + pages("/s/{0}")
    short = [see(f"/?p={i}", f"text {i}") for i in range(9)]
    texts = [see(f"/some-title-{chr(97 + i)}/", f"text {i}") for i in range(9)]
    sink = [see(f"/gone/{i}?x={i}", "not found") for i in range(40)]
    learned = learn([*content, *sessions, *short, *texts, *sink, *tags])
    assert {rule.option for rule in learned.rules} == {"drop_params", "skip"}
    path, value = learned.unexplained
    assert path == ("shop.example", "<path>", 1, (f"{HOST}/tag/0/", f"{HOST}/topic/0/"), 0)
    assert value == ("shop.example", "v", 1, (f"{HOST}/a?v=0", f"{HOST}/a?v=1"), 4)


def test_queries_that_are_one_text_are_one_difference():
    """Queries without `=`, such as ``?/7/tags/4-red``, are reported as one kind of difference."""
    shown = [see(f"/picture.php?/{i}/tags/4-red&play", f"slide {i // 2}") for i in range(8)]
    [left] = learn(shown).unexplained
    assert left[1:3] == ("<path>", 4)


def test_result_depends_on_neither_hash_seed_nor_order():
    """The file is the same, byte for byte, for any hash seed and order of rows."""
    outputs = set()
    for seed in (0, 1, 2):
        environment = {
            "PYTHONHASHSEED": str(seed),
            "PYTHONPATH": ":".join(p for p in sys.path if p),
        }
        command = [sys.executable, "-c", _SCRIPT, str(seed)]
        result = subprocess.run(command, env=environment, check=True, capture_output=True)
        outputs.add(result.stdout)
    assert len(outputs) == 1
    text = outputs.pop().decode()
    for option in ("drop_params", "subdomain_to_path", "host_aliases", "keep_params", ":path}"):
        assert option in text


def test_synthetic_sites_are_learned_without_a_wrong_merge():
    """On sites with known truth no merge is wrong, and nine of ten duplicates are found."""
    seeds = random.Random(0).sample(range(10_000), 8)
    redundant, found, wrong = (sum(counts) for counts in zip(*map(totals, seeds), strict=True))
    assert wrong == 0
    assert found >= 0.9 * redundant > 0


def totals(seed, changing=0.0):
    """Return how many URLs of a synthetic site are redundant, found, and merged wrongly."""
    redundant, found, wrong, _ = judged(seed, changing=changing)
    return redundant.total(), found.total(), wrong


@pytest.mark.parametrize(
    ("changing", "share"),
    [(0.01, 0.9), pytest.param(0.03, 0.85, marks=pytest.mark.long), (0.1, 0.7)],
)
def test_captures_that_changed_hide_no_rule(changing, share):
    """If a share of the captures changed, rules are still found, and none is wrong."""
    counts = [totals(seed, changing) for seed in range(2)]
    redundant, found, wrong = (sum(column) for column in zip(*counts, strict=True))
    assert wrong == 0
    assert found >= share * redundant > 0


@pytest.mark.parametrize("variants", [2, 20, 21, 200])
def test_more_variants_of_a_page_are_no_less_evidence(variants):
    """A page with 21 sessions or more teaches what one with 20 does."""
    seen = [
        see(f"/a/{i}?sid={i * variants + v}", f"page {i}")
        for i in range(6)
        for v in range(variants)
    ]
    assert rules(seen) == {"shop.example": {"drop_params": ["sid"]}}


@cache
def token_learned(changed):
    """Return observations with a token, *changed* of which disagree, and the keys of the rules."""
    seen = [*pages("/a?id={}"), *pages("/a?id={0}&tok={0}"), *pages("/a?id={0}&tok=z{0}")]
    seen += [see(f"/a?id={i}&tok=y", f"changed {i}") for i in range(changed)]
    return seen, {rule.key for rule in learn(seen).rules}


@given(st.integers(1, 40), st.integers(0, 11), st.integers(0, 3))
def test_agreeing_observations_remove_no_rule(more, page, changed):
    """Further URLs of a page that a rule merges do not remove the rule."""
    seen, before = token_learned(changed)
    assert before
    again = [see(f"/a?id={page}&tok={1000 + i}", f"page {page}") for i in range(more)]
    assert before <= {rule.key for rule in learn([*seen, *again]).rules}


def test_what_is_known_before_makes_up_for_pages_and_is_no_evidence():
    """Prior odds of a parameter replace missing pages, but make no rule without any."""

    def known(option, setting):
        odds = {"sid": 3.0, "id": 3.0, "ref": -3.0}
        return odds.get(setting[0], 0.0) if option == "drop_params" else 0.0

    one = [*pages("/a?id={}"), see("/a?id=3&sid=k", "page 3")]
    assert rules(one) == {}
    assert rules(one, prior=known) == {"shop.example": {"drop_params": ["sid"]}}
    assert rules(pages("/a?sid={}"), prior=known) == {}
    six = [*pages("/a?id={}", 6), *pages("/a?id={0}&ref=k{0}", 6)]
    assert "drop_params" in rules(six)["shop.example"]
    assert rules(six, prior=known)["shop.example"].keys() == {"skip"}


def test_known_class_needs_fewer_pages():
    """Short links of a known program are skipped after one that was found elsewhere."""
    seen = [see("/?p=7", "page 1"), *pages("/{}-x")]
    assert rules(seen) == {}
    known = {"/?p={a:digits}": 3.0}
    found = rules(seen, prior=lambda _option, setting: known.get(str(setting[0]), 0.0))
    assert found == {"shop.example": {"skip": ["/?p={a:digits}"]}}


def test_order_of_a_listing_is_no_change_of_its_page():
    """One list that differs by its order is content, not a page that changed."""
    seen = [page for v in "abcd" for page in pages("/a/{}?v=" + v, 60)]
    seen += [see(f"/a/{i}?v=e{i}", f"changed {i}") for i in range(4)]
    for name in ("ref", "sort"):
        for text in ("", f"&{name}=x"):
            seen += [
                see(f"/{name}/{i}?c=1{text and text + str(i)}", f"{name} {i}") for i in range(30)
            ]
            seen.append(see(f"/{name}/z?c=1{text}", f"differs {name} {text}"))
    assert rules(seen) == {"shop.example": {"drop_params": ["v", "ref"]}}
