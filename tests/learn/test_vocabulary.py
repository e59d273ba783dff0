"""Hosts, parts of paths, slugs, words for parts, lists to keep, and what only looks alike."""

import random

import pytest
from observed import HOST, pages, rules, see

from benchmarks.learn.synthetic import SyntheticSite
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Thresholds, learn

WORDS = ("alder", "birch", "cedar", "elder", "hazel", "rowan", "willow", "plum")


def title(number, salt):
    """Return a title, another one for each salt."""
    return "-".join(random.Random(f"{number} {salt}").sample(WORDS, 2))


def pair(one, other, differs=lambda _number: False):
    """Return documents of two depths under two URLs, but for those that differ."""
    for section in ("guide", "help/start"):
        for i in range(9):
            content = f"{section} {i}"
            yield see(one.format(d=f"{section}/{i}"), content)
            yield see(other.format(d=f"{section}/{i}"), content + " else" * differs(i))


def test_mirror_is_an_alias():
    """A host all of whose pages are on another one, which is linked more, becomes its alias."""
    mirror = pages("http://mirror.shop.example/{}", 8)
    assert rules([*pages("/{}"), *mirror]) == {
        "shop.example": {"host_aliases": {"mirror.shop.example": "shop.example"}}
    }


def test_port_with_the_same_pages_is_the_default_one():
    """A port with the same pages as the default one becomes its alias."""
    assert rules([*pages("/a/{}", 12), *pages("http://shop.example:8080/a/{}", 12)]) == {
        "shop.example": {"host_aliases": {"shop.example:8080": "shop.example"}}
    }


def test_port_with_pages_of_its_own_stays():
    """A port with a few equal and many other pages stays."""
    both = [see(f"{port}/legal/{i}", f"{i}") for i in range(4) for port in ("", f"{HOST}:8080")]
    other = [see(f"{HOST}:8080/b/{i}", f"other {i}") for i in range(40)]
    assert rules([*both, *pages("/a/{}", 40), *other]) == {}


def test_host_with_the_same_notices_is_no_mirror():
    """A host that shares a few pages with another one, and has many of its own, stays."""
    notices = [
        see(f"http://{host}/legal/{i}", f"notice {i}")
        for host in ("shop.example", "blog.shop.example")
        for i in range(8)
    ]
    posts = [see(f"http://blog.shop.example/post/{i}", f"post {i}") for i in range(40)]
    assert rules([*pages("/item/{}", 40), *notices, *posts]) == {}


def test_host_with_other_pages_at_the_same_paths_is_no_mirror():
    """A host that has something else under one path of another host stays."""
    other = [*pages("http://b.shop.example/{}"), see("http://b.shop.example/x", "x of b")]
    assert rules([*pages("/{}"), see("/x", "x of a"), *other]) == {}


def test_host_of_a_language_is_no_mirror():
    """A host named after a language stays: what is not translated now may be tomorrow."""
    assert rules([*pages("http://www.shop.example/{}"), *pages("http://de.shop.example/{}")]) == {}


def users(count, *, differs=False):
    """Return pages of users, in the path and on a subdomain of each."""
    for u in range(count):
        for i in range(4):
            yield see(f"http://www.shop.example/user{u}/{i}", f"{u} {i}")
            yield see(f"http://user{u}.shop.example/{i}", f"{u} {i}" + " else" * differs)


def test_users_with_a_subdomain_move_into_the_path():
    """Six users teach that all subdomains move into the path, except unrelated ones."""
    assert rules(users(6)) == {"shop.example": {"subdomain_to_path": ["*"]}}
    assert rules([*users(6), *pages("http://api.shop.example/{}")]) == {
        "shop.example": {"subdomain_to_path": ["*", "!api"]}
    }


def test_few_subdomains_move_by_name():
    """Two users are moved by name: they say nothing of a third one."""
    assert rules(users(2)) == {"shop.example": {"subdomain_to_path": ["user0", "user1"]}}


def test_subdomains_that_move_to_the_bare_host_come_without_www():
    """If subdomains move to the bare host, ``www`` is stripped with the same rule."""
    observations = [see(o.url.replace("www.", ""), o.main_sha1) for o in users(6)]
    learned = rules(observations)
    assert learned == {"shop.example": {"www": "strip", "subdomain_to_path": ["*"]}}
    assert Canonicalizer(learned).canonicalize("http://ann.shop.example/x") == f"{HOST}/ann/x"


def test_users_with_other_pages_on_their_subdomain_stay():
    """Subdomains with other pages stay."""
    assert rules(users(6, differs=True)) == {}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/{d}", "/print/{d}", ["/print/{rest:path}", "/{rest}"]),
        ("/{d}", "/{d}/print", ["/{rest:path}/print", "/{rest}"]),
        ("/{d}.html", "/{d}.html.htm", ["/{rest:path}.html.htm", "/{rest}.html"]),
        ("/app/{d}", "/old/app2x/{d}", None),
        ("/{d}", "/de/{d}", None),
    ],
)
def test_beginnings_and_ends_of_paths_are_replaced(one, other, expected):
    """A prefix or suffix of paths of any depth is replaced, unless a number or a language."""
    found = rules(pair(one, other)).get("shop.example", {}).get("rewrite_path", [])
    whole = [rule for rule in found if ":path}" in rule[0]]
    assert whole == ([expected] if expected else [])


def one_depth(end, differs=lambda _number: False):
    """Return articles in one folder, each with a view whose name has another end."""
    for i in range(30):
        content = f"article {i}"
        yield see(f"/news/{title(i, 1)}-{i}.html", content)
        yield see(f"/news/{title(i, 1)}-{i}{end}", content + " else" * differs(i))


@pytest.mark.parametrize(
    "end", [".print.html", ",print.html", "_print.html", "-amp.html", ".mobile.html"]
)
def test_word_before_the_ending_of_a_name_is_dropped_at_one_depth(end):
    """x.print.html is rewritten to x.html, unless one in ten differs."""
    expected = {"shop.example": {"rewrite_path": [["/{rest:path}" + end, "/{rest}.html"]]}}
    assert rules(one_depth(end)) == expected
    assert rules(one_depth(end, differs=lambda number: number % 10 == 0)) == {}


def test_index_in_another_size_is_that_index_though_no_picture_is():
    """The index in another size is merged, and pictures in another size are not."""
    seen = []
    for i in range(12):
        folder = "/year" * (i % 3) + f"/{title(i, 1)}"
        for size in ("", "_small"):
            seen.append(see(f"{folder}/index{size}.html", f"folder {i}"))
            seen.append(see(f"{folder}/{title(i, 2)}{size}.html", f"picture {i}{size}"))
    rule = ["/{rest:path}/index_small.html", "/{rest}/index.html"]
    assert rules(seen) == {"shop.example": {"rewrite_path": [rule]}}


def test_language_before_the_ending_of_a_name_stays():
    """A language before the ending stays: what is not translated now may be tomorrow."""
    assert rules(one_depth(".de.html")) == {}


@pytest.mark.parametrize("other", ["/print/{d}", "/{d}/print"])
def test_print_views_with_other_text_stay(other):
    """A prefix under which a third of the pages differs is kept."""
    assert rules(pair("/{d}", other, differs=lambda number: number % 3 == 0)) == {}


def test_parameter_is_renamed_on_every_path():
    """A parameter with two names is renamed on every path."""
    observations = [
        see(f"/{place}?{name}={i}", f"{place} {i}")
        for place in ("list", "shop/list")
        for i in range(9)
        for name in ("id", "item")
    ]
    assert rules(observations) == {
        "shop.example": {"rewrite_path": [["/{rest:path}?item={a:digits}", "/{rest}?id={a}"]]}
    }


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("/news/{n}/{s}", ["/news/{b:digits}/{_c}", "/news/{b}/-"]),
        ("/news/{n}-{s}", ["/news/{b:digits}-{_s}", "/news/{b}--"]),
        ("/news/{s}-{n}.html", ["/news/{_s}-{b:digits}.html", "/news/--{b}.html"]),
    ],
)
def test_titles_that_do_not_matter_are_dropped(shape, expected):
    """Titles are dropped if two of one page have nothing in common, not if they select chapters."""
    free = [see(shape.format(n=i, s=title(i, x)), f"page {i}") for i in range(20) for x in (1, 2)]
    assert rules(free) == {"shop.example": {"rewrite_path": [expected]}}
    # A chapter by its title: two of one book are two pages.
    chapters = [see(f"/news/100/{title(0, x)}", f"chapter {x}") for x in range(9)]
    assert shape != "/news/{n}/{s}" or rules([*free, *chapters]) == {}


def test_ending_of_a_file_is_dropped():
    """``/x.html`` is rewritten to ``/x``, without a number in either."""
    words = ["".join(random.Random(i).choices("abcdefghij", k=9)) for i in range(20)]
    observations = [see(f"/{word}{end}", word) for word in words for end in ("", ".html")]
    assert rules(observations) == {"shop.example": {"rewrite_path": [["/{a}.html", "/{a}"]]}}


def test_languages_in_the_path_are_no_titles():
    """A segment that may be a language is not dropped as a title."""
    observations = [see(f"/text/{i}/{x}", f"t {i}") for i in range(20) for x in ("en-US", "de-DE")]
    found = rules(observations).get("shop.example", {}).get("rewrite_path", [])
    assert not any("{_" in source for source, _ in found)


def test_pages_of_a_listing_in_the_path_survive_one_counter_example():
    """Numbers of parts are dropped only if no listing was seen with a second part."""
    flat = [see(f"/list/{i}/page-{n}", f"list {i}") for i in range(150) for n in (1, 2, 3)]
    assert rules(flat)
    second = [see(f"/list/{i}/page-{n}", f"l {i} {n}") for i in (150, 151) for n in (1, 2, 3)]
    learned = learn([*flat, *second], thresholds=Thresholds(lost=0.1))
    assert not [rule for rule in learned.rules if rule.kind == "rewrite"]


def made_up(count=40):
    """Return entries with and without a parameter whose name is a time, against caches."""
    draw = random.Random(1)
    yield from pages("/lookup?entry={}", count)
    for i in range(count):
        yield see(f"/lookup?entry={i}&{draw.getrandbits(40)}", f"page {i}")


def test_made_up_names_of_parameters_are_dropped_by_keeping_the_others():
    """Made-up parameter names are dropped by a list of all others, rare ones too."""
    rare = [see(f"/lookup?edition={i}&entry=1", f"edition {i}") for i in range(4)]
    lonely = [see("/lookup?entry=99&part=2", "part 2")]
    expected = {"shop.example/lookup/": {"keep_params": ["edition", "entry", "part"]}}
    assert rules([*made_up(), *rare, *lonely]) == expected


def test_one_name_that_makes_a_difference_forbids_a_list_to_keep():
    """One rare name that matters prevents the list: further such names may exist."""
    assert rules([*made_up(), see("/lookup?entry=1&part=2", "part 2")]) == {}


def test_few_made_up_names_teach_nothing():
    """Ten made-up names are too few for a list."""
    assert rules(made_up(10)) == {}


def test_list_to_keep_does_not_bring_back_what_is_dropped():
    """keep_params beats drop_params: names that are dropped are not on the list."""
    session = [see(f"/lookup?entry={i}&sid=x{i}", f"page {i}") for i in range(40)]
    learned = rules([*made_up(), *session])
    assert learned == {
        "shop.example": {"drop_params": ["sid"]},
        "shop.example/lookup/": {"keep_params": ["entry"]},
    }


def test_form_with_a_text_for_each_reason_is_collapsed():
    """A log-in form with a text for each reason still drops the return address."""
    articles = [see(f"/wiki/Article_{i}", f"article {i}") for i in range(40)]
    forms = [
        see(f"/index.php?title=Login&returnto=Article_{i}&why={why}", f"log in {why}")
        for i in range(12)
        for why in ("edit", "watch")
    ]
    farewells = [see(f"/index.php?title=Bye&returnto=Article_{i}", f"bye {i}") for i in range(9)]
    farewells.append(see("/index.php?title=Bye", "bye"))
    assert rules([*articles, *forms, *farewells]) == {
        "shop.example/index.php?title=Login": {"drop_params": ["returnto"]}
    }


def test_titles_of_pages_that_are_down_do_not_name_themselves():
    """Titles that were only requested, and never shown, make no form of an error page."""
    down = [see(f"/show?title=Article_{i}", "temporarily unavailable") for i in range(60)]
    assert rules(down) == {}


def test_redirect_into_its_own_class_is_no_counter_example():
    """Redirects to URLs of the same class that were not fetched are no counter-examples."""
    shown = [see(f"/b/{i}/{title(i, x)}", f"page {i}") for i in range(20) for x in (1, 2)]
    hops = [
        see(
            f"/b/{i}/{title(i, x)}?via=home",
            "",
            status=301,
            redirect=f"{HOST}/b/{i}/{title(i, x)}?r=home",
        )
        for i in range(20)
        for x in (1, 2)
    ]
    found = rules([*shown, *hops])["shop.example"]
    assert ["/b/{b:digits}/{_c}", "/b/{b}/-"] in found["rewrite_path"]


def test_redirects_that_lead_elsewhere_are_counter_examples():
    """URLs that redirect to pages of their own are not merged."""
    hops = [
        see(f"/go/{i}/{title(i, x)}", "", status=301, redirect=f"{HOST}/{x}/target-{i}")
        for i in range(20)
        for x in (1, 2)
    ]
    assert rules(hops) == {}


def test_templates_are_written_for_what_the_other_rules_leave():
    """Templates are written in lower case if another rule lowers paths first."""
    observations = [
        *[see(f"/Wiki/Special:Mine/{w}", w) for w in WORDS],
        *[see(f"/Wiki/{w}", w) for w in WORDS],
        *[
            see(f"/{x}/{i}", f"{x} {i}".lower())
            for i in range(6)
            for x in ("Item", "item", "X", "x")
        ],
    ]
    learned = rules(observations)
    canonicalize = Canonicalizer(learned).canonicalize
    assert learned["shop.example"]["path_case"] == "lower"
    assert canonicalize(f"{HOST}/Wiki/Special:Mine/Oak") == canonicalize(f"{HOST}/Wiki/Oak")


def test_synthetic_sites_have_every_place_and_every_trap():
    """Synthetic sites have each kind of place, and each kind that only looks like one."""
    kinds = {
        visit.page.split()[0] for seed in range(30) for visit in SyntheticSite(seed).visits(99)
    }
    assert {"manual", "notice", "step", "help", "news", "entry"} <= kinds


def test_semicolons_separate_parameters_where_all_queries_have_them():
    """If all queries use semicolons, these separate parameters, and the rule says so."""
    views = [see(f"/?a=log;p={i};h=k{i}", f"log {i}") for i in range(40)]
    views += [see(f"/?a=log;p={i}", f"log {i}") for i in range(40)]
    found = learn(views).as_rules()
    assert found == {"shop.example": {"query_separator": ";", "drop_params": ["h"]}}
    canonicalizer = Canonicalizer(found)
    assert canonicalizer.canonicalize(views[0].url) == canonicalizer.canonicalize(views[40].url)


def test_names_alone_between_semicolons_are_parameters_too():
    """Names without a value between semicolons are parameters, as in ``?board=1.0;desc``."""
    views = [see(f"/?s=k{i};b={i};sort=name;desc", f"board {i}") for i in range(40)]
    views += [see(f"/?b={i};sort=name;desc", f"board {i}") for i in range(40)]
    found = learn(views).as_rules()
    assert found == {"shop.example": {"query_separator": ";", "drop_params": ["s"]}}


def test_nothing_stands_behind_the_last_semicolon():
    """A trailing semicolon, as in Foswiki's ``?cover=print;``, is not a parameter."""
    views = [see(f"/{i}?cover=print;", f"print {i}") for i in range(60)]
    views += [see(f"/{i}{q}", f"table {i}") for i in range(40) for q in ("", "?sort=1;up=0")]
    assert learn(views).as_rules() == {
        "shop.example": {"query_separator": ";", "default_params": {"sort": "1", "up": "0"}}
    }


def test_lists_between_semicolons_are_values():
    """Semicolons inside values separate nothing."""
    seen = [see(f"/?ids={i};{i + 1}&sid=k{i}", f"list {i}") for i in range(40)]
    seen += [see(f"/?ids={i};{i + 1}", f"list {i}") for i in range(40)]
    assert learn(seen).as_rules() == {"shop.example": {"drop_params": ["sid"]}}


def topic(number, posts):
    """Return pages of a topic with ten posts each, and permanent links to its posts."""
    for post in range(posts):
        part, path = post // 10 + 1, f"/forum/cats-3/topic/tom-{number}/"
        yield see(f"{path}?page={part}", f"{number} {part}")
        yield see(f"{path}?post={number * 100 + post}", f"{number} {part}")


def test_permanent_links_of_posts_are_skipped():
    """Permanent links are skipped if their page is always a part of the same topic."""
    found = learn([see for number in range(1, 20) for see in topic(number, number)])
    assert [(r.option, r.setting) for r in found.rules if r.option == "skip"] == [
        ("skip", ["/forum/{a}/topic/{b}/?post={c:digits}"])
    ]


def test_permanent_links_with_a_text_of_their_own_are_fetched():
    """Permanent links are fetched if some show a single post."""
    seen = [see for number in range(1, 20) for see in topic(number, number)]
    seen += [see(f"/forum/cats-3/topic/tom-{i}/?post={i}", f"post {i}") for i in range(30, 50)]
    assert not [rule for rule in learn(seen).rules if rule.option == "skip"]


SECTIONS = ("news", "home", "sport", "local", "world", "money", "travel", "health")


def articles(shape, sections, seed=0, *, filed=False, gone=0.0):
    """Return articles that each section shows, or with *filed* only one, by their number.

    A share *gone* of those requested in another section shows what nothing else does.
    """
    draw = random.Random(seed)
    for i in range(90):
        for section in draw.sample(sections, 2):
            content = f"{i} {section if filed or draw.random() < gone else ''}"
            yield see(shape.format(sec=section, n=i, s=title(i, seed)), content)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("/{sec}/{n}-{s}", ["/{_b}/{a:digits}-{a_text}", "/-/{a}-{a_text}"]),
        ("/{sec}/{s}-{n}.html", ["/{_b}/{a_text}-{a:digits}.html", "/-/{a_text}-{a}.html"]),
        ("/{sec}/{s}", None),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_sections_that_show_one_article_are_merged_by_its_number_and_title(shape, expected, seed):
    """One rule merges an article in all sections by its number; none without a number.

    Nor is there one if sections show something else.
    """
    found = rules(articles(shape, SECTIONS, seed))
    assert found.get("shop.example", {}).get("rewrite_path") == (expected and [expected])
    assert rules(articles(shape, SECTIONS, seed, filed=True)) == {}
    assert str(expected) not in str(rules(articles(shape, SECTIONS, seed, gone=0.3)))


def test_sections_of_any_depth_show_one_article():
    """Sections within sections are merged too, each depth by a rule."""
    sections = ("news", "home/latest", "sport", "local/city/north", "world/europe")
    learned = rules(articles("/{sec}/{n}-{s}", sections))
    canonicalizer = Canonicalizer(learned)
    for number in range(200, 210):
        places = (*sections, "culture", "culture/music")
        urls = {f"{HOST}/{section}/{number}-some-title" for section in places}
        assert len(set(map(canonicalizer.canonicalize, urls))) == 1


@pytest.mark.parametrize("name", ["after", "before", "first", "from", "start"])
def test_name_that_numbers_parts_elsewhere_says_nothing_of_words(name):
    """A parameter such as `from` is dropped if its values are words, not numbers or cursors."""
    words = [page for word in ("home", "top-nav") for page in pages(f"/a/{{}}?{name}={word}")]
    seen = [*pages("/a/{}"), *words]
    assert rules(seen) == {"shop.example": {"drop_params": [name]}}
    for parts in (range(0, 80, 20), ("MTA", "MjA", "MzA"), ("t3_k1", "t3_k2", "t3_k3")):
        listed = [see(f"/list?{name}={part}", f"part {part}") for part in parts]
        canonicalize = Canonicalizer(rules([*seen, *listed])).canonicalize
        assert {o.url for o in listed} == {canonicalize(o.url) for o in listed}
        assert canonicalize(f"{HOST}/a/7?{name}={parts[1]}") != f"{HOST}/a/7"
        assert canonicalize(f"{HOST}/a/7?{name}=home") == f"{HOST}/a/7"


def test_words_for_parts_are_kept_where_they_make_a_difference():
    """A listing that begins at a letter keeps that parameter."""
    parts = [see(f"/list?from={letter}", f"from {letter}") for letter in "abcdefgh"]
    assert rules([see("/list", "all"), *parts, *pages("/a/{}"), *pages("/a/{}?id=1")]) == {
        "shop.example/a/": {"default_params": {"id": "1"}}
    }
