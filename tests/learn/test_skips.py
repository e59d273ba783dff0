"""Which classes of URLs need not be fetched, and which must be."""

from functools import partial
from hashlib import sha1
from random import Random

import observed
import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.classes.coverage import largest
from scrapy_urlcanon.learn.miner import Miner

HOST = "http://forum.example"
see = partial(observed.see, host=HOST)


def forum(topics=400, alone=0.0):
    """Return the posts of a forum, each shown by the part of its topic.

    A share of the topics is in no listing: only their posts lead to them.
    """
    draw = Random(0)
    seen = []
    for topic in range(topics):
        is_listed = draw.random() >= alone
        for part in range(draw.choice((1, 1, 1, 2))):
            content = f"topic {topic} part {part}"
            start = f"&start={part * 15}" if part else ""
            if is_listed:
                seen.append(see(f"/viewtopic.php?t={topic}{start}", content))
                if not part:
                    seen.append(see(f"/viewtopic.php?t={topic}&view=unread", content))
            seen += [
                see(f"/viewtopic.php?p={topic * 100 + part * 40 + draw.randrange(40)}", content)
                for _ in range(draw.choice((1, 2, 5)))
            ]
    return seen


def slug(number):
    return "/" + "".join(Random(number).choices("abcdefghij", k=12))


def skipped(observations, prior=None):
    found = learn(observations, prior=prior).rules
    return [rule.setting[0] for rule in found if rule.option == "skip"]


def half(observations):
    return [o for o in observations if sha1(o.url.encode()).digest()[0] & 1]


def test_page_of_a_known_class_that_was_not_seen_elsewhere_speaks_not_against_it():
    """Prior odds of a known program let a class be skipped that half a crawl cannot prove."""
    seen, posts = half(forum(topics=12)), "/viewtopic.php?p={a:digits}"
    assert posts not in skipped(seen)
    assert posts in skipped(seen, lambda _option, setting: 2.6 * (setting == [posts]))


@pytest.mark.parametrize("crawl", [list, half])
def test_links_to_posts_are_skipped(crawl):
    """Links to posts are skipped, in a whole crawl and in half of one.

    No rewrite could say on which part of its topic a post is.
    """
    assert skipped(crawl(forum())) == ["/viewtopic.php?p={a:digits}"]


@pytest.mark.parametrize(("crawl", "topics"), [(list, 400), (half, 1600)])
def test_links_to_posts_are_kept_where_they_alone_lead_to_a_topic(crawl, topics):
    """Posts are fetched if they alone lead to a tenth of the topics.

    In half of a crawl no single topic shows it, and all of them together do.
    """
    assert "/viewtopic.php?p={a:digits}" not in skipped(crawl(forum(topics, alone=0.1)))


def test_what_rewrites_lead_to_is_skipped_last():
    """Of several URLs of a topic, the one that rewrites lead to is not skipped."""
    seen = []
    for n in range(102):
        urls = [
            f"/thread-{n}-1-1.html",
            f"/forum.php?mod=topic&tid={n}",
            f"/thread-{n}-1-{n % 5 + 2}.html",
        ]
        seen += [see(url, f"topic {n}") for url in urls + [f"/find?p={n * 3}"] * (n > 0)]
    assert skipped(seen) == ["/find?p={a:digits}"]


def test_posts_are_skipped_though_rewrites_lead_to_them():
    """Of posts and parts, which rewrites lead to, the posts are skipped."""
    seen = []
    for n, part in [(topic, part) for topic in range(60) for part in range(1, topic % 4 + 2)]:
        topic, content = slug(n), f"topic {n} part {part}"
        posts = [n * 100 + part * 10 + i for i in range(4)]
        seen.append(see(f"{topic}/page-{part}", content))
        seen += [see(f"/post/{post}", content) for post in posts]
        seen += [see(f"{topic}/post-{post}", content) for post in posts[::2]]
    assert skipped(seen) == ["/post/{a:digits}"]


def test_what_rewrites_lead_to_is_skipped_for_no_chance():
    """Documents are fetched if one in ten has no other URL, which half of a crawl cannot show."""
    draw, seen = Random(0), []
    for n in range(300):
        seen += [see(f"/doc/{n}?open", f"doc {n}"), see(f"/sell/{n}", f"sale {n}")]
        seen += [see(f"/sell?id={n}", f"sale {n}")]
        seen += [see(f"/all/{n}?open", f"doc {n}")] * draw.choice((0, 1, 1, 1, 1))
        seen += [see(f"/files/{n}?open", f"doc {n}")] * draw.choice((0, 1, 1, 1, 1))
        seen += [see(slug(n), f"doc {n}")] * (n % 10 > 0)
    assert skipped(half(seen)) == []


def test_what_rewrites_lead_to_is_skipped_for_no_chance_though_others_are_like_it():
    """The same for records of several libraries, one in 30 of which has no other URL."""
    draw, seen = Random(0), []
    for n in range(300):
        seen += [see(f"/search/b{n}/b{n}/1/B/frames", f"record {n}")]
        seen += [see(f"/record=b{n}~S{i}", f"record {n}") for i in (1, draw.randrange(2, 8))]
        found = range(n % 3 + 1) if n % 30 else ()
        seen += [see(f"/search/{slug(n)}?by={i}", f"record {n}") for i in found]
    assert skipped(half(seen)) == []


def test_url_that_declares_itself_is_no_short_link():
    """Nodes that declare themselves are no short links: the class is fetched."""
    nodes = [see(f"/node/{i}", f"page {i}", canonical=HOST + slug(i)) for i in range(60)]
    slugs = [see(slug(i), f"page {i}") for i in range(0, 60, 2)]
    assert skipped([*nodes, *slugs]) == ["/node/{a:digits}"]
    own = [see(f"/node/{i}", f"page {i}", canonical=f"{HOST}/node/{i}") for i in range(60, 70)]
    assert skipped([*nodes, *slugs, *own]) == []


def test_page_that_declares_itself_may_have_another_url_that_was_not_seen():
    """If all pages of a class declare themselves, that does not prevent the skip.

    A class some of whose pages have no other URL in the whole crawl is fetched all the same.
    """

    def site(alone):
        for i in range(600):
            url, node = f"{HOST}/blog/{i}", f"/node/{i * 37 % 601}"
            yield see(url, f"post {i}", canonical=url)
            if i >= alone:
                yield see(node, f"post {i}", canonical=url)
            yield see(f"/news/{i}", f"news {i}")
            yield see(f"/node/{1000 + i * 37 % 601}", f"news {i}")
        for i in range(2000, 2100):
            yield see(f"/node/{i}", f"note {i}", canonical=f"{HOST}/node/{i}")

    assert "/blog/{a:digits}" in skipped(half(site(alone=0)))
    assert "/blog/{a:digits}" not in skipped(half(site(alone=120)))


def test_number_beside_a_path_is_one_class_for_all_paths():
    """?comment=7 behind any path is one class."""
    seen = [see(slug(i), f"text {i}") for i in range(40)]
    seen += [see(f"{slug(i + 100)}?comment={i * 3}", f"text {i}") for i in range(40)]
    assert skipped(seen) == ["/{rest:path}?comment={a:digits}"]


@pytest.mark.parametrize("unlike", [0, 4])
def test_paths_that_say_the_latest_version_are_a_class(unlike):
    """The latest version of each project is skipped if it is always found elsewhere."""
    names = [f"{one}{other}ed" for one in "bdfl" for other in "aeiou"]
    urls = [see(f"/{name}/latest", name) for name in names]
    urls += [see(f"/{name}/{n % 3}.0", name) for n, name in enumerate(names[unlike:])]
    found = [rule.setting for rule in learn(urls).rules if rule.option == "skip"]
    assert found == ([] if unlike else [["/{a}/latest"]])


def test_token_is_no_class():
    """A class with the token of one revision is not skipped: the next one has another."""
    one = "/{}?hb=0b61d6e0c3d35d8d"
    pages = [see(f"/{i}", f"page {i}") for i in range(12)]
    assert skipped([*pages, *(see(one.format(i), f"page {i + 1}") for i in range(11))]) == []


def test_declared_page_that_has_changed_is_no_counter_example():
    """One declared page of thirty that changed does not prevent the skip; ten do."""
    nodes = [see(f"/node/{i}", f"page {i}", canonical=HOST + slug(i)) for i in range(30)]

    def slugs(changed):
        return [see(slug(i), f"page {i}" + " now" * (i < changed)) for i in range(30)]

    assert skipped([*nodes, *slugs(1)]) == ["/node/{a:digits}"]
    assert skipped([*nodes, *slugs(10)]) == []


def test_class_is_kept_whose_declared_urls_were_hardly_seen():
    """A class whose declared URLs were hardly seen is fetched."""

    def links(seen):
        for topic in range(40):
            part = HOST + slug(topic)
            yield see(f"/topic/{topic}.new", f"topic {topic}", canonical=part)
            if topic < seen:
                yield see(part, f"topic {topic}")

    assert skipped(list(links(20))) == ["/topic/{a:digits}.new"]
    assert "/topic/{a:digits}.new" not in skipped(list(links(6)))


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10))]
)
@pytest.mark.parametrize("untitled", [3, 6, 30])
def test_no_rewrite_leads_to_a_page_that_is_skipped_with_all_of_its_urls(untitled, seed):
    """No page is lost because a rewrite leads to a skipped URL.

    A post without a title has its number as its URL, and a short link as another one.
    """
    draw = Random(seed)
    posts = draw.sample(range(1, 5000), 400)
    seen = [see(f"/?p={post}", f"post {post}") for post in posts]
    seen += [
        see(f"/{post}/" if number < untitled else slug(post), f"post {post}")
        for number, post in enumerate(posts)
    ]
    found = learn(seen)
    rules = Canonicalizer(found.as_rules())
    assert rules.skips(f"{HOST}/?p=7777")
    shown = {o.main_sha1 for o in seen if not rules.skips(o.url)}
    assert shown == {o.main_sha1 for o in seen}


@pytest.mark.parametrize("seed", range(3))
def test_no_rewrite_leads_to_what_half_of_a_crawl_skips(seed):
    """The same in half of a crawl, where such a post was seen at one URL because of the rewrite."""
    draw = Random(seed)
    posts = {}
    for i in range(300):
        title = f"/{i * 7 + 100}/" if i < 20 else slug(i) + "/"
        own = f"/{2010 + i % 9}/{i % 12 + 1:02}/{i % 28 + 1:02}{title}"
        posts[see(own, f"post {i}", canonical=HOST + own)] = own
        posts[see(f"/?p={i * 7 + 100}", f"post {i}", canonical="" if i % 3 else HOST + own)] = own
    rules = Canonicalizer(learn(post for post in posts if draw.random() < 0.5).as_rules())
    assert rules.skips(f"{HOST}/?p=7777")
    assert not any(rules.skips(rules.canonicalize(HOST + own)) for own in posts.values())


@pytest.mark.parametrize("kept", [1.0, 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_rewrite_is_taken_back_only_where_that_saves_more(seed, kept):
    """A rewrite is dropped for a `skip` only if that saves more requests."""
    draw = Random(seed)
    seen = []
    for i in range(150):
        name, old, new = slug(i)[1:], i * 7, i * 7 + 3
        seen += [see(f"/wiki/{name}", f"text {i}"), see(f"/index.php?title={name}", f"text {i}")]
        seen.append(see(f"/index.php?diff=prev&oldid={new}&title={name}", f"change {i}"))
        if draw.random() < 0.6:
            seen.append(see(f"/index.php?diff={new}&oldid={old}&title={name}", f"change {i}"))
    found = learn(o for o in seen if draw.random() < kept).as_rules()["forum.example"]
    assert found["rewrite_path"] == [["/index.php?title={b}", "/wiki/{b}"]]


def test_class_is_kept_whose_declared_urls_the_crawl_would_have_seen():
    """A class is fetched if the crawl would have seen its declared URLs, had there been any."""

    def links(*, newest):
        for topic in range(60):
            part = HOST + slug(topic)
            yield see(f"/topic/{topic}.msg{topic * 7}", f"topic {topic}", canonical=part)
            if topic:
                yield see(part, f"topic {topic}")
        for topic in range(100, 118):
            part = HOST + slug(topic)
            yield see(f"/topic/{topic}.new", f"topic {topic}", canonical=part)
            if topic % newest:
                yield see(part, f"topic {topic}")

    posts = "/topic/{a:digits}.msg{b:digits}"
    assert skipped(links(newest=18)) == [posts, "/topic/{a:digits}.new"]
    assert skipped(links(newest=2)) == [posts]


def test_page_of_its_own_is_no_short_link_among_redirects():
    """Lists of years keep numbers that redirect from being skipped: their URLs look alike."""
    links = [see(f"/{i}/", None, redirect=HOST + slug(i)) for i in range(1, 11)]
    articles = [see(slug(i), f"text {i}") for i in range(1, 7)]
    years = [see(f"/{year}/", f"list of {year}") for year in (2022, 2023, 2024)]
    assert skipped([*links, *articles]) == ["/{a:digits}/"]
    assert skipped([*links, *articles, *years]) == []


def test_few_pages_under_several_urls_do_not_come_before_a_large_class():
    """Five pictures that look alike do not prevent the skip of all short links."""
    seen = [see(slug(i), f"text {i}") for i in range(60)]
    seen += [see(f"/?p={i}", f"text {i}") for i in range(60)]
    seen += [see(f"/img_{i}/", f"picture {i // 2}") for i in range(10)]
    seen += [see(f"/?p={i + 100}", f"picture {i}") for i in range(5)]
    assert skipped(seen) == ["/?p={a:digits}"]


def test_orders_of_a_listing_are_no_class_of_short_links():
    """Orders of a listing are not skipped: with two entries they are other pages."""
    views = [see(f"/list?u={i}&sort=views", f"{i}") for i in range(60)]
    assert skipped([*views, *(see(slug(i), f"{i}") for i in range(60))]) == []


@pytest.mark.parametrize("parts", [1, 2])
def test_view_of_another_thing_is_no_better_place(parts):
    """A topic is not skipped because the view "next" of the one before shows it, but that is."""
    seen = []
    for topic in range(40):
        url = f"/viewtopic.php?t={topic}"
        seen += [see(f"{url}&view=next", f"topic {(topic + 1) % 40} 0")]
        # Its first part has no number.
        seen += [
            see(f"{url}&start={part * 15}" if part else url, f"topic {topic} {part}")
            for part in range(parts)
        ]
    (found,) = learn(seen).as_rules().values()
    assert found == {"skip": ["/viewtopic.php?t={a:digits}&view=next"]}


@pytest.mark.parametrize("again", ["/item?id={0}&id={1}", "/item?id={1}&id={0}&id={0}"])
def test_url_with_a_parameter_again_is_no_better_place(again):
    """No item is skipped because a visitor links it with its parameter twice."""
    items = range(20)
    seen = [see(f"/item?id={number}", f"item {number}") for number in items]
    seen += [see(again.format(number, number + 50), f"item {number}") for number in items]
    is_skipped = Canonicalizer(learn(seen).as_rules()).skips
    assert not any(is_skipped(f"{HOST}/item?id={number}") for number in items)


def test_posts_are_a_class_whatever_the_title():
    """Posts behind topics with any title are one class."""
    titles = ("red-shoe", "old-coat", "long-boots", "warm-scarf")
    topics = [(f"/d/{i}-{titles[i % 4]}", i, part) for i in range(20) for part in (1, 2)]
    parts = [see(f"{topic}?page={part}", f"{i} {part}") for topic, i, part in topics]
    posts = [see(f"{topic}/{i * 9 + part}", f"{i} {part}") for topic, i, part in topics]
    (found,) = learn([*parts, *posts]).as_rules().values()
    assert found["skip"] == ["/d/{a}/{b:digits}"]


def test_share_of_a_site_that_was_seen_is_counted_by_linked_urls():
    """The share of a site that was seen is counted by linked URLs, not by canonical ones."""
    draw = Random(1)
    forms = ("/t/{0}", "/t/{0}?sid=a{0}", "/t/{0}?sid=b{0}", "/topic-{0}.html")
    urls = [(form.format(i), f"topic {i}") for i in range(80) for form in forms]
    miner = Miner(site_of("forum.example", [see(*url) for url in urls if draw.random() < 0.5]))
    miner.run()
    assert len(miner.accepted) == 2
    assert 0.3 < largest(miner.shares_seen).least < 0.7


def drawn(site, seed):
    """Return half of the URLs of a site, which gives the content of each path."""
    draw = Random(seed)
    return [see(url, content) for url, content in site.items() if draw.random() < 0.5]


def test_share_of_a_class_that_was_seen_is_counted_by_linked_urls():
    """The same for a class, most topics of which were seen with some session."""
    topics = range(250)
    site = {f"/t/{i}{sid}": slug(i) for i in topics for sid in ("", "?sid=a", "?sid=b")}
    site |= {f"/story-{i * 7 % 251}.html": slug(i) for i in topics}
    for i in range(1000, 1500):
        site |= dict.fromkeys((slug(i), f"/p/{i}"), slug(i))
    assert "/p/{a:digits}" in skipped(drawn(site, 3))


def test_unsure_class_is_no_place_to_look():
    """Of posts and parts neither is skipped if the other may be the only URL of some pages."""
    site = [see(f"/{kind}/{i}", f"thing {i}") for i in range(260) for kind in "ab"[: 2 - i % 2]]
    site += [see(f"/b/{i}", f"other {i}") for i in range(500, 630)]
    for i in range(400):
        site += [see(f"/post/{i * 3 + post}", f"topic {i}") for post in range(2)]
        site += [see(f"/part/{i}", f"topic {i}")] * (i % 100 < 42)
    site += [see(f"/part/{i}", f"topic {i}") for i in range(1000, 1010)]
    assert skipped(site) == []


@pytest.mark.parametrize("parts", [(5,), (4, 5)])
def test_last_part_of_a_thing_says_nothing_of_those_before_it(parts):
    """Revisions are not skipped if each thing was seen at its last one alone."""
    seen = [see(f"/r/{n}/diff/{part}/", f"diff {n}") for n in range(60) for part in parts]
    seen += [see(slug(n), f"diff {n}") for n in range(60)]
    assert ("/r/{a:digits}/diff/{b:digits}/" in skipped(seen)) == (len(parts) > 1)


@pytest.mark.parametrize("step", [3, 10])
def test_page_that_another_class_should_show_and_does_not_was_missed_by_no_crawl(step):
    """A class is fetched if its other URLs, which say more, show something else at times."""
    own = {i for i in range(200) if i % step == 0}
    seen = [see(f"/article/{i}", f"article {i}") for i in range(200)]
    for i in range(200):
        text = f"own words {i}" if i in own else f"article {i}"
        seen.append(see(f"/user/{i * i % 7}/article/{i}", text))
    assert skipped(seen) == []


def test_last_part_of_a_topic_is_not_where_its_first_one_is():
    """Views of the last part of topics are skipped, and their first parts are fetched."""
    draw, seen = Random(3), []
    for topic in range(200):
        last = topic % 3
        parts = [(f"/t{topic}/{part}", part) for part in range(last + 1)]
        for url, part in [*parts, (f"/t{topic}/last", last), (f"/t{topic}/new", last)]:
            if draw.random() < 0.95:
                seen.append(see(url, f"part {part} of {topic}"))
    assert sorted(skipped(seen)) == ["/t{a:digits}/last", "/t{a:digits}/new"]


def test_page_that_was_seen_at_its_place_is_not_found_at_some_other_one():
    """Recipes in grams are not skipped if one in eight differs from its plain recipe.

    Reviews, seen beside other recipes, do not make another URL of them likely.
    """
    recipes = [observed.see(f"/recipe/{i}", f"recipe {i}") for i in range(60)]
    metric = [
        observed.see(f"/recipe/{i}?units=metric", f"recipe {i}" + " in grams" * (i % 8 == 0))
        for i in range(1, 60)
    ]
    reviews = [
        observed.see(f"/recipe/{i}/reviews", f"recipe {i}" if i % 4 else f"reviews of {i}")
        for i in (*range(1, 10), 12, 16, 20, *range(60, 90))
    ]
    assert observed.rules([*recipes, *metric, *reviews]) == {}
