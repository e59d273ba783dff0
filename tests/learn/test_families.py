"""Words, versions, languages, tabs and partners that agree on a few pages, and are content."""

from hashlib import sha1
from random import Random

import pytest
from observed import rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer

from .test_bad_input import wrong


def drawn(visits, seed, share):
    """Return what a crawl of a *share* of a site saw, and the page of each of its URLs."""
    visits = list(visits)
    seen = [
        see(path, content) for path, content in visits if Random(f"{seed} {path}").random() < share
    ]
    return seen, {see(path, "").url: content for path, content in visits}


def members(draw):
    """Yield users, most of whom have no posts, likes and friends."""
    for i in range(150):
        for place in ("posts", "likes", "friends"):
            content = "none" if draw.random() < 0.8 else place
            yield f"/user/{i}/{place}", f"{content} of {i}"


def manual(draw):
    """Yield a manual, a twentieth of which changes with each version."""
    for i in range(60):
        edition = 0
        for version in ("old", "stable", "dev"):
            edition += draw.random() < 0.05
            yield f"/docs/{version}/page-{i}.html", f"{i} {edition}"


def tabs(draw):
    """Yield things, a tenth of which has reviews, photos or a history, each under a tab."""
    for i in range(200):
        yield f"/thing/{i}", f"thing {i}"
        for tab in ("reviews", "photos", "history", "notes"):
            content = f"{tab} {i}" if draw.random() < 0.1 else f"thing {i}"
            yield f"/thing/{i}?tab={tab}", content


def partners(draw):
    """Yield articles that greet the readers of a few of many partners."""
    for i in range(100):
        yield f"/a/{i}", f"article {i}"
        for partner in draw.sample(range(30), 3):
            content = f"article {i}" + f", {partner}" * (partner < 3)
            yield f"/a/{i}?ref=p{partner}", content


def colours(draw):
    """Yield things, a tenth of which shows which colour was chosen."""
    for i in range(150):
        yield f"/thing/{i}", f"thing {i}"
        matters = draw.random() < 0.1
        for colour in draw.sample(("red", "blue", "green"), 2):
            yield f"/thing/{i}?in={colour}", f"thing {i}" + f", {colour}" * matters


def tracker(draw):
    """Yield tickets, a tenth of which has a history."""
    for i in range(200):
        yield f"/ticket/{i}", f"ticket {i}"
        yield f"/ticket/{i}?show=history", f"ticket {i}" + ", history" * (draw.random() < 0.1)
        yield f"/ticket/{i}?show=comments", f"ticket {i}"


def seasons(draw):
    """Yield teams, a tenth of whose seasons has a page of its own."""
    for i in range(30):
        for year in range(2010, 2020):
            yield f"/team/{i}/season/{year}", f"team {i}" + f", {year}" * (draw.random() < 0.1)


def seasons_by_parameter(draw):
    """Yield the same with the season in a parameter."""
    for i in range(draw.choice((20, 30, 50))):
        for year in range(2010, 2020):
            content = f"team {i}" + f", {year}" * (draw.random() < 0.1)
            yield f"/team?id={i}&season={year}", content


def months(draw):
    """Yield calendars, most of whose months have no event."""
    for i in range(draw.choice((10, 20, 60))):
        for month in range(1, 13):
            content = f"calendar {i}" + f", {month}" * (draw.random() < 0.15)
            yield f"/calendar/{i}?month={month}", content


def years(draw):
    """Yield few teams, some of whose years have figures of their own."""
    for i in range(draw.choice((5, 8, 15))):
        for year in range(2015, 2024):
            yield f"/figures/{i}/{year}", f"team {i}" + f", {year}" * (draw.random() < 0.1)


def actions(draw):
    """Yield tickets that are the same in each project, and lists that are not."""
    for i in range(150):
        yield f"/bugs?do=details&id={i}", f"ticket {i}"
        if draw.random() < 0.6:
            yield f"/bugs?do=details&id={i}&project={i % 3}", f"ticket {i}"
    for do in ("list", "roadmap", "top"):
        yield f"/bugs?do={do}", do
        for project in range(3):
            yield f"/bugs?do={do}&project={project}", f"{do} {project}"


def tenants(draw):
    """Yield tenants on hosts of their own, a few of whom wrote some pages themselves."""
    for tenant in range(12):
        for i in range(14):
            own = f", {tenant}" * (draw.random() < 0.12)
            yield f"http://c{tenant}.shop.example/doc/{i}", f"doc {i}{own}"


def orders(draw):
    """Yield listings in four orders, half or more of which have one entry."""
    single = draw.choice((0.5, 0.8))
    for i in range(draw.choice((40, 120))):
        is_single = draw.random() < single
        yield f"/list/{i}", f"list {i} by date"
        for by in ("date", "price", "name", "rating"):
            yield f"/list/{i}?by={by}", f"list {i} by {'date' if is_single else by}"


def profiles(draw):
    """Yield users, a fifth of whom has posts, topics, friends or photos."""
    for i in range(draw.choice((50, 200))):
        yield f"/profile?u={i}", f"user {i}"
        for show in ("posts", "topics", "friends", "photos"):
            yield f"/profile?show={show}&u={i}", f"user {i}" + f", {show}" * (draw.random() < 0.2)


def blocks(draw):
    """Yield listings, few of which have a second part; the others show the first instead."""
    share = draw.choice((0.03, 0.1))
    for i in range(200):
        count = 1 if draw.random() > share else draw.choice((2, 4))
        yield f"/list?cat={i}", f"list {i} 0"
        for block in range(max(count, 2)):
            yield f"/list?block={block * 20}&cat={i}", f"list {i} {block if block < count else 0}"


def sections(draw):
    """Yield users, a tenth of whom has photos, friends and so on, each under a path."""
    for i in range(150):
        yield f"/u/{i}-name", f"user {i}"
        for part in ("photos", "friends", "videos", "groups", "reviews"):
            if draw.random() < 0.8:
                yield f"/u/{i}-name/{part}", f"user {i}" + f", {part}" * (draw.random() < 0.1)


def shades(draw):
    """Yield things, a tenth of which shows which of six colours was chosen."""
    for i in range(150):
        yield f"/thing/{i}", f"thing {i}"
        matters = draw.random() < 0.1
        for shade in draw.sample(("red", "blue", "green", "black", "sand", "white"), 4):
            yield f"/thing/{i}?in={shade}", f"thing {i}" + f", {shade}" * matters


def branches(draw):
    """Yield files, a tenth of which differs between two branches."""
    for i in range(120):
        directory = f"dir{'abcdefghi'[i % 9]}"
        yield f"/blob/main/{directory}/file-{i}", f"file {i}"
        content = f"file {i}" + ", before" * (draw.random() < 0.1)
        yield f"/blob/stable/{directory}/file-{i}", content


def lost(seen, truth, seed):
    """Return the pages that a crawl in a random order under the learned rules misses."""
    canonicalizer = Canonicalizer(rules(seen))
    first = {}
    for url in Random(seed).sample(sorted(truth), len(truth)):
        if not canonicalizer.skips(url):
            first.setdefault(canonicalizer.canonicalize(url), truth[url])
    return {*truth.values()} - {*first.values()}


def each_of(count, *, first=0):
    """Parametrize a test with a sixth of *count* seeds, and with all in its long form.

    :param first: the first of the sixth, where others do not find what the test is for.
    """
    some, everything = range(first, first + count // 6), range(count)
    return pytest.mark.parametrize(
        "seeds",
        [
            pytest.param(some, id="some"),
            pytest.param(everything, id="all", marks=pytest.mark.long),
        ],
    )


@each_of(12)
@pytest.mark.parametrize("part", [0.7, 1.0])
@pytest.mark.parametrize(
    "site",
    [seasons, seasons_by_parameter, months, years, actions, tracker, colours, tenants, orders],
)
def test_choice_that_matters_on_few_pages_loses_none(site, part, seeds):
    """A choice that matters on few pages is neither dropped nor skipped: no page is lost."""
    for seed in seeds:
        seen, truth = drawn(site(Random(seed)), seed, part)
        assert lost(seen, truth, seed) == set()


@each_of(50)
@pytest.mark.parametrize(
    ("site", "share"), [(members, 0.001), (manual, 0.025), (tabs, 0.025), (partners, 0.025)]
)
def test_what_differs_on_few_pages_is_content(site, share, seeds):
    """Of many partial crawls, at most a few pages in a thousand are lost."""
    pages = lost = 0
    for seed in seeds:
        seen, truth = drawn(site(Random(seed)), seed, 0.4)
        pages += len(set(truth.values()))
        lost += len(wrong(seen, truth))
    assert lost <= share * pages


@each_of(24, first=4)
@pytest.mark.parametrize("site", [profiles, blocks])
def test_second_default_value_is_none_that_differs_at_times(site, seeds):
    """A value that differs on few pages becomes no second default."""
    pages = gone = 0
    for seed in seeds:
        seen, truth = drawn(site(Random(seed)), seed, 0.5)
        pages += len(set(truth.values()))
        gone += len(lost(seen, truth, seed))
    assert gone <= 0.003 * pages


@each_of(12)
@pytest.mark.parametrize(
    ("site", "part", "share"),
    [
        (sections, 0.5, 0.01),
        (sections, 0.7, 0.01),
        (sections, 1.0, 0.0),
        (shades, 0.5, 0.001),
        (branches, 0.6, 0.001),
    ],
)
def test_refuted_rule_does_not_come_back_in_its_luckiest_parts(site, part, share, seeds):
    """A refuted rule is not learned for the one word or value that agreed by luck."""
    pages = gone = 0
    for seed in seeds:
        seen, truth = drawn(site(Random(seed)), seed, part)
        pages += len(set(truth.values()))
        gone += len(lost(seen, truth, seed))
    assert gone <= share * pages


def test_one_value_that_makes_no_difference_is_found_beside_others():
    """The one tab that never makes a difference is found to be the default."""
    draw = Random(0)
    seen = [see(f"/thing/{i}", f"thing {i}") for i in range(150)]
    for i in range(150):
        for tab in ("about", "photos", "friends", "notes"):
            differs = tab != "about" and draw.random() < 0.2
            seen.append(see(f"/thing/{i}?tab={tab}", f"thing {i}" + f", {tab}" * differs))
    assert rules(seen) == {"shop.example": {"default_params": {"tab": "about"}}}


def test_words_whose_siblings_are_always_right_or_wrong_are_a_rule():
    """Two sections that agree make a rule, though a third one differs.

    If further sections differ on half of the pages, no page of them is merged.
    """
    seen = [see(f"/{part}/{i}-x", f"page {i}") for i in range(12) for part in ("news", "home")]
    seen += [see(f"/edit/{i}-x", f"form {i}") for i in range(12)]
    assert "rewrite_path" in rules(seen)["shop.example"]
    # Of three more sections half of the pages are another one.
    seen += [see(f"/{w}/{i}-x", f"page {i} {i % 2 and w}") for i in range(12) for w in ("a1", "b1")]
    assert wrong(seen, {o.url: o.main_sha1 for o in seen}) == []


def test_words_are_held_against_their_siblings_where_a_parameter_goes_with_them():
    """Five pages that agree between two versions are luck, even if their links have a session."""
    draw = Random(0)
    seen = [see(f"/docs/old/page-{i}", f"page {i}") for i in range(40)]
    seen += [see(f"/docs/new/page-{i}", f"page {i}" + ", edited" * (i % 10 > 7)) for i in range(40)]
    for name, count in (("page", 5), ("own", 20)):
        for i in range(count):
            path = f"/docs/dev/{name}-{i}?sid={draw.randbytes(16).hex()}"
            seen.append(see(path, f"{name} {i}"))
    assert rules(seen) == {}


@pytest.mark.parametrize(("pages", "is_proved"), [(36, False), (90, True)])
def test_value_is_held_against_others_where_a_word_of_the_path_comes(pages, is_proved):
    """If one of three values differs at times, twelve pages do not prove another, thirty do."""
    seen = [see(f"/docs/v2/page-{i}", f"page {i}") for i in range(pages)]
    for i in range(pages):
        language = ("go", "perl", "ruby")[i % 3]
        content = f"page {i}" + ", in perl" * (i % 9 == 1)
        seen.append(see(f"/docs/page-{i}?in={language}", content))
    assert (rules(seen) != {}) is is_proved


def test_language_of_a_path_stays():
    """A language in the path is kept, unless two paths are names of one language.

    What is not translated now may be tomorrow.
    """
    both = [see(f"/{word}/page-{i}", f"page {i}") for i in range(12) for word in ("de", "fr")]
    assert rules(both) == {}
    moved = [see(f"/{part}/page-{i}", f"page {i}") for i in range(12) for part in ("de", "at/de")]
    assert rules(moved) != {}
    words = [(f"page-{i}", ("", f"/{('de', 'fr', 'es', 'nl')[i % 4]}")) for i in range(36)]
    assert rules([see(f"{part}/{page}", page) for page, parts in words for part in parts]) == {}


def test_hosts_that_differ_on_few_pages_only_say_nothing_of_others():
    """A third host whose forms differ does not prevent the alias of the other two."""
    hosts = [f"http://{name}.shop.example" for name in ("main", "new", "old")]
    seen = [see(f"{host}/{i}", f"page {i}") for host in hosts for i in range(60)]
    seen += [
        see(f"{host}/form/{i}", f"form {i} of {host == hosts[2]}") for host in hosts for i in "123"
    ]
    assert rules(seen) == {
        "shop.example": {"host_aliases": {"main.shop.example": "new.shop.example"}}
    }


def files(revisions, count=5):
    """Yield files at their head, and at some revisions that were equal to it."""
    for i in range(count):
        yield see(f"/get/head/lib/{i}.c", f"file {i}")
        for j in range(revisions):
            token = sha1(f"{i} {j}".encode()).hexdigest()
            yield see(f"/get/ann@a.example-{token}/lib/{i}.c", f"file {i}")


def test_one_revision_of_each_file_says_nothing_of_the_others():
    """If each file was seen at one revision alone, revisions are no rule: older ones may differ."""
    assert all(rule.keys() <= {"skip"} for rule in rules(files(1)).values())


def test_several_tokens_of_each_page_are_left_out():
    """If each page was seen under several tokens, these are left out."""
    found = rules(files(2))
    options = [option for rule in found.values() for option in rule]
    assert options == ["rewrite_path"]
    canonical = Canonicalizer(found).canonicalize
    one, other = (f"http://shop.example/get/b@a.example-{c * 40}/lib/9.c" for c in "ab")
    assert canonical(one) == canonical(other)


def articles(numbers_of, count=12):
    """Yield articles, each also under its title and a number."""
    for i in range(count):
        title = f"{'abcdefghijkl'[i]}_title"
        yield see(f"/wiki/{title}", f"article {i}")
        for number in numbers_of(i):
            yield see(f"/index.php?oldid={number}&title={title}", f"article {i}")


def merged(numbers_of):
    """Tell whether an article with an unknown number is taken for the article."""
    canonical = Canonicalizer(rules(articles(numbers_of))).canonicalize
    other, article = "/index.php?oldid=99&title=z_title", "/wiki/z_title"
    return canonical(f"http://shop.example{other}") == f"http://shop.example{article}"


def test_number_of_the_last_revision_is_not_left_out():
    """If each title was seen with one number, it may be its last revision, and is kept."""
    assert not merged(lambda i: [20 + 3 * i])
    # One article with two numbers says nothing of those with one.
    assert not merged(lambda i: [20 + 3 * i] if i else [20, 21])


def test_number_that_makes_no_difference_is_left_out():
    """A number is left out if pages have several of it, or share it with others."""
    assert merged(lambda i: [20 + 3 * i, 21 + 3 * i])
    assert merged(lambda i: [i % 4])


def reviews(revisions_of):
    """Yield changes under review, each at the revisions that were its last."""
    for i in range(16):
        yield see(f"/r/{i}/diff/", f"diff {i}")
        for revision in revisions_of(i):
            yield see(f"/r/{i}/diff/{revision}/", f"diff {i}")


def test_last_part_of_each_thing_says_nothing_of_the_others():
    """If each change was seen at its last revision alone, the revision is kept."""
    learned = rules(reviews(lambda i: [i % 3 + 1]))
    assert all(rule.keys() <= {"skip"} for rule in learned.values())
    # One change with two numbers says nothing of those with one.
    learned = rules(reviews(lambda i: [i % 3 + 1] if i else [1, 2]))
    assert all(rule.keys() <= {"skip"} for rule in learned.values())


def test_number_behind_a_thing_goes_where_others_show_another_page_or_all_the_same():
    """A number behind a thing goes if several agree, or if the others were seen to differ."""
    canonical = Canonicalizer(rules(reviews(lambda i: [i + 3, i + 4]))).canonicalize
    assert canonical("http://shop.example/r/9/diff/2/") == "http://shop.example/r/9/diff/"
    parts = [see(f"/r/{i}/diff/2/", f"second part of {i}") for i in range(16)]
    canonical = Canonicalizer(rules([*reviews(lambda _: [1]), *parts])).canonicalize
    assert canonical("http://shop.example/r/9/diff/1/") == "http://shop.example/r/9/diff/"


def test_word_that_alone_was_left_out_says_nothing_of_others():
    """A word that may be left out behind topics says nothing of numbers behind them."""
    views = {"t": {"": "", "last/": ""}, "u": {"": "", "posts/": "", "likes/": "likes"}}
    seen = [
        see(f"/{kind}/{name}/{i}/{view}", f"{kind} {i} {content}")
        for i, name in enumerate("abcdefghijkl")
        for kind, contents in views.items()
        for view, content in contents.items()
    ]
    canonical = Canonicalizer(rules(seen)).canonicalize
    assert canonical("http://shop.example/t/z/99/last/") == "http://shop.example/t/z/99/"
    assert canonical("http://shop.example/t/z/99/2/") != "http://shop.example/t/z/99/"


def test_numbers_that_the_same_pages_have_are_no_last_parts():
    """Numbers that lead to the first page of a topic go, and those of its second page do not."""
    seen = [see(f"/d/{i}", f"topic {i}") for i in range(24)]
    seen += [see(f"/d/{i}?page=2", f"second page of {i}") for i in range(24)]
    seen += [see(f"/d/{i}/{n}", f"topic {i}") for i in range(24) for n in (1, 2)]
    seen += [see(f"/d/{i}/{n}", f"second page of {i}") for i in range(24) for n in (21, 22)]
    canonical = Canonicalizer(rules(seen)).canonicalize
    assert canonical("http://shop.example/d/99/1") == "http://shop.example/d/99"
    assert canonical("http://shop.example/d/99/21") != "http://shop.example/d/99"


def test_order_in_a_path_that_makes_a_difference_elsewhere_is_content():
    """An order in the path is kept if it matters for the one long listing."""
    orders = ("age", "votes", "answers")
    url = "/questions/sort:{}/{}page:{}/".format
    short = [see(url(o, f"tags:{t}/", 1), f"tag {t}") for o in orders for t in "abcdefghijklmn"]
    long = [see(url(o, "", part), f"{part} by {o}") for o in orders for part in (1, 2)]
    assert rules([*short, *long]) == {}
    # Elsewhere it makes none.
    assert rules([*short, *(see(url(o, "", 1), "all") for o in orders)]) != {}


def of_versions(newest):
    """Yield projects with an old text, and the newest one under some versions."""
    for i in range(45):
        texts = {"1.0": f"old text {i}"} | dict.fromkeys(("latest", *newest(i)), f"text {i}")
        yield from (see(f"/{i}/{version}", text) for version, text in texts.items())


def test_word_that_stands_for_another_one_each_time_is_none_of_them():
    """No version replaces "latest" if that is another one in each project."""
    versions = ("1.0", "2.0", "2.3")
    learned = rules(of_versions(lambda i: versions[i % 3 :][:1]))
    assert learned == {"shop.example": {"skip": ["/{a:digits}/latest"]}}


def test_word_that_stands_for_one_is_that_one_though_texts_stay():
    """Version 2.3 replaces "latest" if no project was seen with another newest version."""
    learned = rules(of_versions(lambda i: ("2.3",) * (i % 3 > 0) + ("1.0",) * (i % 4 == 0)))
    assert learned["shop.example"] == {"rewrite_path": [["/{a:digits}/latest", "/{a}/2.3"]]}


def test_order_that_goes_with_words_of_a_path_makes_no_difference_anywhere():
    """An order is not dropped with the part of a day if it matters for a month."""
    seen = [see(f"/2026/11/{day}/page/1", f"post {day}") for day in range(10, 30)]
    seen += [see(f"/2026/11/{day}?order=asc", f"post {day}") for day in range(10, 30)]
    assert rules(seen) != {}
    months = [see(f"/2026/{month}", f"posts of {month}") for month in (11, 12)]
    months += [see(f"/2026/{month}?order=asc", f"{month}, oldest first") for month in (11, 12)]
    assert rules([*seen, *months]) == {}


def listings(long, order):
    """Yield the articles of tags, without an order and in two; most tags have one article."""
    for tag in "abcdefghijklmnopqrstuvwxyz":
        for path in (f"/blog/{tag}/", f"/blog/old/{tag}/"):
            yield see(path, path)
            yield see(f"{path}{order}new/", path)
            by_title = f"{path} by title" if tag in long else path
            yield see(f"{path}{order}title/", by_title)


def test_order_in_a_path_is_left_out_where_it_is_that_of_listings_without_one():
    """The default order goes from paths if enough listings would have shown another one."""
    for order in ("sort-", "order:"):
        learned = rules(listings("abc", order))
        assert learned["shop.example"] == {
            "rewrite_path": [[f"/{{rest:path}}/{order}new/", "/{rest}/"]]
        }
        assert rules(listings("a", order)) == {}
        assert rules(listings("", order)) != {}
