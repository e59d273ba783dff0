"""What the recorded links of a crawl say of classes of URLs that may be skipped."""

import random
from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.store import Stores
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page

SITE = "http://site.example"
HOME = 100_000
TOPICS = 60
CUT_OFF = "4 pages that nothing else leads to"


def slug(number):
    """Return a path that does not contain the number of the topic."""
    choose = random.Random(number)
    return "/t/" + "".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=9))


def words(number):
    """Return the text of a topic."""
    choose = random.Random(-number - 1)
    return " ".join("".join(choose.choices("aeiourstlnm", k=7)) for _ in range(60))


def learned_of(path: Path, pages, links, *, reason):
    """Record a crawl, and return what is learned of it.

    :param pages: by URL, the topic that it shows, and the URL that it declares or nothing.

    :param links: by URL, those that it links; of None those that the crawl began with, and of a
    redirect its target.
    """
    numbers = {}

    def key(url):
        return numbers.setdefault(url, len(numbers) + 1)

    with ObservationStore(path) as store:
        store.begin(datetime.now(timezone.utc), ())
        for url, (topic, declared) in pages.items():
            head = f'<link rel="canonical" href="{declared}">' if declared else ""
            html = f"<head>{head}<title>{topic}</title></head><p>{words(topic)}"
            store.add(Page(SITE + url, html.encode(), html), status=200, key=key(url))
        for url in links.keys() - pages.keys() - {None}:
            store.add_redirect(SITE + url, 302, SITE + links[url][0], key=key(url))
        for url, linked in links.items():
            store.add_links("site.example", url and key(url), [key(one) for one in linked])
        store.end(reason)
    return learn(Stores([path]))


def skips_learned(path: Path, pages, links, *, reason):
    """Record a crawl as :func:`learned_of`, and return what is to be skipped by it."""
    rules = learned_of(path, pages, links, reason=reason).rules
    return [entry for rule in rules if rule.option == "skip" for entry in rule.setting]


def number_of(topic):
    """Return the short link of a topic."""
    return f"/topic?n={topic * 31 + 7}"


def forum(*, without_slug=(), declared=(), unseen=()):
    """Return a site whose home page links topics by number and by slug."""
    pages, links = {"/": (HOME, "")}, {None: ["/"], "/": []}
    for topic in range(TOPICS):
        says = slug(topic) if topic in declared else ""
        pages[number_of(topic)] = topic, says
        links["/"].append(number_of(topic))
        if topic not in without_slug and topic not in unseen:
            pages[slug(topic)] = topic, says
            links["/"].append(slug(topic))
    return pages, links


@pytest.mark.parametrize(
    ("reason", "skips"), [("finished", []), ("closespider_timeout", ["/topic?n={a:digits}"])]
)
def test_what_a_whole_crawl_has_not_seen_is_not_there(tmp_path, reason, skips):
    """Pages with one URL in a whole crawl keep a class from being skipped.

    In a crawl that was cut short their other URLs may just be missing.
    """
    pages, links = forum(declared=range(40), unseen=range(4), without_slug=(50, 51))
    assert skips_learned(tmp_path / "o.sqlite", pages, links, reason=reason) == skips


def test_whole_crawl_in_which_all_is_found_elsewhere_skips(tmp_path):
    """If all pages of a class have another URL in a whole crawl, the class is skipped."""
    pages, links = forum()
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished")
    assert learned == ["/topic?n={a:digits}"]


def only_from_the_topic(*, cut=TOPICS):
    """Return a site where only a topic itself links its slug.

    :param cut: so many topics are linked by their slug elsewhere too.
    """
    pages, links = forum()
    links["/"] = [url for url in links["/"] if "n=" in url]
    for topic in range(TOPICS):
        links[number_of(topic)] = [slug(topic)]
        # What a page links under its other URL is the same.
        links[slug(topic)] = [number_of(topic), slug(topic)]
    links["/"] += [slug(topic) for topic in range(cut)]
    return pages, links


@pytest.mark.parametrize(("linked", "skips"), [(0, False), (TOPICS - 4, False), (TOPICS, True)])
def test_pages_that_only_the_class_leads_to_are_lost(tmp_path, linked, skips):
    """A class is fetched if it alone links the other URLs of its pages."""
    pages, links = only_from_the_topic(cut=linked)
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished")
    assert bool(learned) == skips


def test_class_that_was_refused_for_what_links_it_is_shown_as_unsure(tmp_path):
    """Such a class is shown as unsure, with the number of pages that nothing else leads to."""
    pages, links = only_from_the_topic(cut=TOPICS - 4)
    (rule,) = learned_of(tmp_path / "o.sqlite", pages, links, reason="finished").unsure
    assert (rule.setting, rule.doubt) == (["/topic?n={a:digits}"], CUT_OFF)
    assert (rule.evidence.pages, rule.evidence.counter_examples) == (TOPICS, 4)


def test_where_a_crawl_began_need_not_be_known(tmp_path):
    """The same holds if the start of the crawl was not recorded."""
    pages, links = only_from_the_topic(cut=0)
    del links[None]
    for topic in range(TOPICS):
        links[slug(topic)].append("/")
    assert skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished") == []


@pytest.mark.parametrize("by_slug", [False, True])
def test_pages_that_only_the_class_links_are_lost(tmp_path, by_slug):
    """A class is fetched if its pages link attachments that their other URLs do not link."""
    pages, links = forum()
    for topic in range(TOPICS):
        attachment = f"/files{slug(-topic - 1)}"
        pages[attachment] = 1_000 + topic, ""
        links[number_of(topic)] = [attachment]
        links[slug(topic)] = [attachment] if by_slug else ["/"]
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished")
    assert learned == (["/topic?n={a:digits}"] if by_slug else [])


def test_what_many_pages_link_need_not_be_linked_by_the_other_place(tmp_path):
    """A page that many pages link need not be linked by the other URL.

    Only some of the links to one page are recorded.
    """
    pages, links = forum()
    for topic in range(TOPICS):
        author = f"/author{slug(-(topic % 4) - 1)}"
        pages[author] = 1_000 + topic % 4, ""
        links[number_of(topic)] = [author]
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished")
    assert learned == ["/topic?n={a:digits}"]


def test_class_to_which_other_urls_only_redirect_is_fetched(tmp_path):
    """A class is fetched if the other addresses of its pages only redirect to it."""
    pages, links = forum()
    for topic in range(5):
        links[f"/old{slug(topic)}"] = [f"/middle{slug(topic)}"]
        links[f"/middle{slug(topic)}"] = [number_of(topic)]
        links["/"].append(f"/old{slug(topic)}")
        del pages[slug(topic)]
        links["/"].remove(slug(topic))
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="finished")
    assert learned == []


def test_links_of_a_crawl_cut_short_may_be_what_it_missed(tmp_path):
    """In a crawl cut short, four pages without another link do not prevent the skip."""
    pages, links = only_from_the_topic(cut=TOPICS - 4)
    links["/"] += [f"/list?page={number}" for number in range(TOPICS)]
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="shutdown")
    assert learned == ["/topic?n={a:digits}"]


@pytest.mark.parametrize(("linked", "skips"), [(0, False), (TOPICS - 4, True)])
def test_that_a_class_leads_to_most_of_its_pages_is_no_chance(tmp_path, linked, skips):
    """If the class alone leads to most of its pages, it is fetched, even in a crawl cut short."""
    pages, links = only_from_the_topic(cut=linked)
    links["/"] += [f"/list?page={number}" for number in range(TOPICS * 5)]
    for topic in range(TOPICS):
        for url in (f"/files{slug(-topic - 1)}", f"/images{slug(-topic - 1)}"):
            pages[url] = 1_000 + len(pages), ""
            links["/"].append(url)
            links[number_of(topic)].append(url)
    learned = skips_learned(tmp_path / "o.sqlite", pages, links, reason="shutdown")
    assert bool(learned) == skips


def test_form_that_only_what_takes_a_log_in_leads_to_is_not_lost(tmp_path):
    """If all links that lead to a form to log in redirect to it, they are not skipped."""
    answers = [f"/post/{i}/answer" for i in range(30)]
    shown = {"/": (1, ""), **{f"/login?next={there}": (2, "") for there in answers}}
    links = {None: ["/"], "/": answers, **{there: [f"/login?next={there}"] for there in answers}}
    found = {
        linked: learned_of(
            tmp_path / str(len(linked)),
            shown,
            links | {"/": [*answers, *linked]},
            reason="finished",
        ).as_rules()
        for linked in ((), ("/login?next=/post/7/answer",))
    }
    assert ["skip" in str(rules) for rules in found.values()] == [False, True]
