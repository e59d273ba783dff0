"""Templates of numbers and words that stand beside each other in a URL."""

from random import Random

import pytest
from observed import rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation

HOST = "http://shop.example"

COLORS = ("red", "green", "blue")

WORDS = [f"{one}-{other}" for one in ("alder", "birch", "cedar", "elder") for other in "bcdfghjkl"]


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (
            "/show?page={part}&t={n}",
            "/show-{n}-{part}.html",
            ["/show?page={b:digits}&t={c:digits}", "/show-{c}-{b}.html"],
        ),
        ("/wiki?n=Main.{word}", "/Main/{word}", ["/wiki?n=Main.{c}", "/Main/{c}"]),
        ("/wiki?n=Main/{word}", "/Main/{word}", ["/wiki?n=Main/{c}", "/Main/{c}"]),
        ("/index?r=/Main/{word}", "/Main/{word}", ["/index?r=/Main/{c}", "/Main/{c}"]),
        ("/{word}-a-{n}.html", "/text/{n}", ["/{_s}-a-{a:digits}.html", "/text/{a}"]),
        (
            "/f?p=5:{part}::NO:{n}",
            "/f?p=5:0::NO:{n}",
            ["/f?p=5:{_c:digits}::NO:{e:digits}", "/f?p=5:0::NO:{e}"],
        ),
    ],
)
def test_all_that_is_in_one_url_is_found_in_the_other(one, other, found):
    """A template is learned if all that is in one URL is in the other, moved or split.

    A short word between a title and its number is kept: the second part of a text looks alike
    without it.
    """
    seen = []
    for n in range(24):
        words = {"n": n * 7, "part": n % 3 + 2, "word": f"red-shoe{chr(97 + n)}"}
        seen += [see(url.format_map(words), f"page {n}") for url in (one, other)]
        seen.append(see("/{word}-a-{n}-2.html".format_map(words), f"part 2 of {n}"))
    assert rules(seen) == {"shop.example": {"rewrite_path": [found]}}


def test_ends_that_no_template_can_tell_from_what_they_follow_go_one_by_one():
    """Endings that no place can be cut off by become a template each."""
    seen = []
    for n in range(1000, 1060):
        seen += [see(f"/record=b{n}{end}", f"record {n}") for end in ("", f"~S{n % 3}")]
    (rewrites,) = (options["rewrite_path"] for options in rules(seen).values())
    assert sorted(rewrites) == [[f"/{{a}}~S{end}", "/{a}"] for end in range(3)]


def versions(last):
    """Return things with one to three versions, the *last* or the first also without a number."""
    for n in range(30):
        count = n % 3 + 1
        yield see(f"/doc?v={n}", f"{n} version {count if last else 1}")
        for k in range(1, count + 1):
            yield see(f"/doc?v={n}/{k}", f"{n} version {k}")


def test_thing_is_no_version_of_it():
    """A thing that shows its last version is not rewritten to a number; one with its first is."""
    assert "rewrite_path" not in str(rules(versions(last=True)))
    canonical = Canonicalizer(rules(versions(last=False))).canonicalize
    assert canonical(f"{HOST}/doc?v=77/1") == canonical(f"{HOST}/doc?v=77")
    assert canonical(f"{HOST}/doc?v=77/2") != canonical(f"{HOST}/doc?v=77")


def test_number_of_one_thing_is_not_that_of_others():
    """The number that most posts of one long topic redirect to is not that of other topics."""
    seen, post = [], 0
    for topic in range(100, 112):
        for number in range(40 if topic == 100 else 6):
            post += 1
            url, page = f"/?topic={topic}.msg{post}", f"topic {topic} part {number // 15}"
            seen.append(Observation(f"{HOST}/?msg={post}", redirect=HOST + url))
            if topic == 100 or not number:
                seen.append(see(url, page))
            if not number % 15:
                seen.append(see(f"/?topic={topic}.{number}", page))
    assert "rewrite_path" not in rules(seen)["shop.example"]


def test_longer_url_is_no_target_though_others_are_led_back_with_it():
    """Rewrites lead to the short URL of a record, though some forms resemble the long one."""
    seen = []
    for n in range(40):
        top = f"/search/.b{n:07}/.b{n:07}/1,1,1,B"
        seen += [see(url, f"record {n}") for url in (f"/record=b{n:07}", f"{top}/frames~{n:07}")]
        seen += [see(url, f"marc {n}") for url in (f"/record=b{n:07}~S1/marc", f"{top}/marc")]
    assert rules(seen)["shop.example"]["rewrite_path"][-1][-1] == "/record=b{b}"


def test_general_template_is_learned_beside_one_that_leads_the_other_way():
    """A general template replaces an earlier one that leads the other way.

    No configuration takes both. One page changed, so that second parts were rewritten first.
    """
    seen = [
        see(url, f"topic {number} {start}" + f" {url}" * (number == start == 0))
        for number in range(40)
        for start in (0, 15)
        for url in (f"/index.php?topic={number}.{start}", f"/index.php/topic,{number}.{start}.html")
    ]
    learned = Canonicalizer(rules(seen))
    assert len({learned.canonicalize(one.url) for one in seen}) == len(seen) / 2


def listings():
    """Yield half of a small shop: things in colors and sizes, and each without."""
    draw = Random(0)
    for i in range(20):
        things = [(draw.choice(COLORS), draw.choice("sml")) for _ in range(draw.randrange(1, 8))]

        def shown(*, i=i, things=things, **chosen):
            numbers = [
                number
                for number, thing in enumerate(things)
                if chosen.items() <= dict(zip(("color", "size"), thing, strict=True)).items()
            ]
            return f"list {i} {numbers}"

        urls = {f"/cat-{i}/": shown()}
        for color in COLORS:
            urls[f"/cat-{i}/?color={color}"] = urls[f"/cat-{i}/{color}/"] = shown(color=color)
            for size in "sml":
                urls[f"/cat-{i}/?color={color}&size={size}"] = shown(color=color, size=size)
                urls[f"/cat-{i}/?size={size}"] = shown(size=size)
        for number, (color, _) in enumerate(things):
            url = f"/thing-{i}-{number}.html"
            urls[url] = urls[f"{url}?color={color}"] = f"thing {i} {number}"
        yield from (see(url, page) for url, page in urls.items() if draw.random() < 0.5)


def test_template_stays_on_which_other_rules_rest():
    """A rewrite of colors into paths stays, since the rule that drops them rests on it."""
    canonical = Canonicalizer(rules(listings())).canonicalize
    thing, listing = "http://shop.example/thing-99-1.html", "http://shop.example/cat-99/"
    assert canonical(f"{thing}?color=red") == thing
    assert canonical(f"{listing}?color=red") == canonical(f"{listing}red/") != listing


def test_word_of_which_no_url_shows_that_it_may_go_stays():
    """A word that could be left out for nodes is kept if comments have numbers of their own."""
    words = (("node", "print"), ("node", "view"), ("print", "view"))
    nodes = [see(f"/{word}/{i}", f"node {i}") for i in range(60) for word in words[i % 3]]
    comments = [see(f"/comment/{i}", f"comment {i}") for i in range(900, 930)]
    assert "{_" in str(rules(nodes))
    assert "{_" not in str(rules([*nodes, *comments]))


def test_language_neither_goes_nor_comes():
    """A language in the path is neither removed nor added, though no article is translated yet."""
    seen = [see(f"{fr}/news/{i}", f"article {i}") for i in range(12) for fr in ("", "/fr")]
    seen += [see(f"{fr}/tips/{i}", f"tip {i}{fr}") for i in range(12) for fr in ("", "/fr")]
    assert rules(seen) == {}


def test_parameter_whose_value_is_a_whole_path_is_that_path():
    """A parameter that holds a path is rewritten to that path, unless it is a log-in form's."""
    paths = [f"/{'abcdefg'[i % 7]}/{i}/t-{i}" + "/more" * (i % 2) for i in range(40)]
    pages = [see(path, f"page {path}") for path in paths]
    for url, template in (
        ("/?_escaped_fragment_={}", "/?_escaped_fragment_=/{rest:path}"),
        ("/go?to={}", "/go?to=/{rest:path}"),
    ):
        for escaped in ("/", "%2F"):
            seen = [see(url.format(p.replace("/", escaped)), f"page {p}") for p in paths]
            (found,) = rules([*pages, *seen]).values()
            assert [template, "/{rest}"] in found["rewrite_path"]
    forms = [
        see(f"/login?to={p}", f"page {p}" if i % 8 else f"log in: {p}") for i, p in enumerate(paths)
    ]
    assert rules([*pages, *forms]) == {}


def test_two_syllables_are_no_language():
    """ki-kile is a section, of which no article is translated tomorrow; zh-hant is not."""

    def seen(section):
        return [
            see(url, f"film {i}")
            for i in range(30)
            for url in (f"/films/{i}", f"/{section}/films/{i}")
        ]

    assert rules(seen("ki-kile"))
    assert rules(seen("zh-hant")) == {}


def test_choice_of_a_language_is_no_other_url_of_the_page_that_it_leads_to():
    """A link that sets the language is not rewritten to its target.

    The site would remember the language for all pages. Other such links are.
    """
    paths = [f"/{'abcdefg'[i % 7]}/{word}" for i, word in enumerate(WORDS)]
    pages = [see(path, f"page {path}") for path in paths]
    for choice in ("/set?locale=de&next={}", "/set?next={}&to=fr", "/set?setlang=german&next={}"):
        seen = [see(choice.format(p), "", status=302, redirect=HOST + p) for p in paths]
        assert "rewrite_path" not in str(rules([*pages, *seen]))
    for other in ("from=menu", "redirect=no"):
        seen = [see(f"/go?{other}&to={p}", f"page {p}") for p in paths]
        (found,) = rules([*pages, *seen]).values()
        assert found["rewrite_path"] == [[f"/go?{other}&to=/{{rest:path}}", "/{rest}"]]
    pages = [see(f"/de{path}", f"page {path}") for path in paths]
    seen = [see(f"/go?lang=de&to=/de{p}", f"page {p}") for p in paths]
    (found,) = rules([*pages, *seen]).values()
    assert found["rewrite_path"] == [["/go?lang=de&to=/{rest:path}", "/{rest}"]]


def subpages(others):
    """Return print views of pages with subpages; of each word one in n is another page."""
    for word, other in others.items():
        for n in range(40):
            title = f"Page{n}/{word}"
            yield see(f"/wiki/{title}", title)
            shown = title if not other or n % other else f"{title} in print"
            yield see(f"/w/index.php?printable=yes&title={title}", shown)


def test_title_with_slashes_becomes_the_end_of_a_path():
    """A template from titles of two segments holds for titles of any number of them."""
    found = rules(subpages({"de": 0, "fr": 0, "ru": 0}))
    wiki = Canonicalizer(found, preset="scrapy")
    for title in ("Page", "Help/Links", "Help/Links/More"):
        url = f"{HOST}/w/index.php?title={title}&printable=yes"
        assert wiki.canonicalize(url) == f"{HOST}/wiki/{title}"


def test_titles_that_end_alike_are_held_against_all():
    """If one print view of ten differs, no ending of titles becomes a rule by luck."""
    assert rules(subpages({"de": 9, "es": 10, "fr": 40, "ru": 11})) == {}


def test_template_is_held_against_what_others_make_of_its_urls():
    """Answers on the second part of a question are not rewritten to the question.

    Even after titles were removed from questions.
    """
    words = ("alder", "birch", "cedar", "elder", "hazel", "rowan")
    titles = [f"{one}-{other}" for one in words for other in words]
    questions = [see(f"/q/{i}{end}", f"q {i}") for i in range(30) for end in ("", f"/{titles[i]}")]
    second = [see(f"/q/{i}?page=2", f"q {i}, part 2") for i in range(20, 30)]
    answers = [
        see(f"/q/{i}/{titles[i]}/{i * 10 + k}", f"q {i}" if i < 20 else f"q {i}, part 2")
        for i in range(30)
        for k in range(2)
    ]
    learned = rules([*questions, *second, *answers])["shop.example"]
    assert learned["rewrite_path"] == [["/q/{b:digits}/{_c}", "/q/{b}"]]


def test_path_becomes_the_parameters_of_a_script():
    """A path with number and title is rewritten to the script's URL, which has no title."""
    draw = Random(1)
    seen = []
    for n in range(40):
        title = "-".join(draw.sample(("elder", "hazel", "maple", "olive", "peach", "rowan"), 3))
        section = draw.choice(("garden", "orchard", "forest"))
        seen.append(see(f"/index.php?option=content&view=article&id={n}", f"article {n}"))
        seen.append(see(f"/{section}/{n}-{title}", f"article {n}"))
        seen.append(see(f"/index.php?option=content&view=print&id={n}", f"print {n}"))
    assert rules(seen) == {
        "shop.example": {
            "rewrite_path": [
                ["/{_a}/{b:digits}-{_s}", "/index.php?id={b}&option=content&view=article"]
            ]
        }
    }


def test_parameters_from_nowhere_are_none_of_a_thing():
    """Parameters are removed with a rewrite to a path, and never added by one."""
    seen = []
    for n in range(40):
        seen.append(see(f"/article/{n}", f"article {n}"))
        seen.append(see(f"/article?id={n}&view=full&src=list", f"article {n}"))
    seen += [see(f"/news/{n}/x-y", f"news {n}") for n in range(40)]
    seen += [see(f"/news.php?id={n}&lang=de", f"news {n}") for n in range(40)]
    assert rules(seen)["shop.example"]["rewrite_path"] == [
        ["/article?id={b:digits}&src=list&view=full", "/article/{b}"]
    ]


@pytest.mark.parametrize("year", ["2026", "2025-26", "2025_2026"])
def test_what_is_of_this_year_is_not_what_is_current(year):
    """This year is not merged with "current", which will soon be another one."""
    titles = [f"{one}-{other}" for one in COLORS for other in ("hat", "shoe", "coat", "belt")]
    seen = [see(f"/catalog/{of}/{title}", title) for title in titles for of in (year, "current")]
    urls = [f"{HOST}/catalog/{of}/red-hat" for of in (year, "current")]
    canonicalizer = Canonicalizer(rules(seen))
    assert len(set(map(canonicalizer.canonicalize, urls))) == 2


def test_section_that_a_template_is_for_stands_in_it():
    """A template names its section if pages of all other sections sometimes differ."""
    seen = [see(f"/node/{i}{end}", f"node {i}") for i in range(40) for end in ("", "/find-us")]
    for place, section in enumerate(("alder", "birch", "cedar", "elder", "hazel", "rowan")):
        for i in range(4):
            shown = f"{section} {i}" if i == place % 4 else f"the way to {section} {i}"
            seen += [see(f"/{section}/{i}", f"{section} {i}")]
            seen += [see(f"/{section}/{i}/find-us", shown)]
    template = ["/node/{b:digits}/find-us", "/node/{b}"]
    assert rules(seen) == {"shop.example": {"rewrite_path": [template]}}


def jobs(title):
    """Return jobs under a number, and under a number with a title; those of most differ in it."""
    for n in range(24):
        yield see(f"/job/{n * 7}", f"job {n}")
        yield see(f"/job/{n * 7}/" + title.format(WORDS[n]), f"job {n}")


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("{}", "{_c:word}-{_c_more}"),
        ("{}_at_x", "{_c:word}-{_c_more}"),
        ("x_{}", "{_c:word}_{_c_more}"),
    ],
)
def test_view_of_one_word_is_no_title(title, found):
    """Titles of several words are left out, beside a view whose name stands in the same place."""
    view = [see(f"/job/{n * 7}/similar", f"like {n}") for n in range(0, 24, 2)]
    assert rules([*jobs(title), *view]) == {
        "shop.example": {"rewrite_path": [[f"/job/{{b:digits}}/{found}", "/job/{b}"]]}
    }


def test_title_may_have_one_word_where_no_view_stands_in_its_place():
    """Nothing is said of the words of titles where any text shows the same."""
    rewrite = ["/job/{b:digits}/{_c}", "/job/{b}"]
    assert rules(jobs("{}")) == {"shop.example": {"rewrite_path": [rewrite]}}


def test_view_of_several_words_is_no_title():
    """A view whose name has several words is a counter-example like any other."""
    view = [see(f"/job/{n * 7}/more-like-it", f"like {n}") for n in range(0, 24, 2)]
    assert rules([*jobs("{}"), *view]) == {}


@pytest.mark.parametrize(
    ("one", "found"),
    [
        ("/{title}-{id}", ["/{_s}-{a:hex}", "/{a}"]),
        ("/@{user}/{title}-{id}", ["/{_a}/{_s}-{b:hex}", "/{b}"]),
    ],
)
def test_title_beside_a_digest_is_left_out(one, found):
    """A digest behind a title is told from it by its characters."""
    seen = []
    for n in range(24):
        words = {
            "id": f"{n * 7_654_321_987:010x}",
            "title": f"red-shoe{chr(97 + n)}",
            "user": "abcdef"[n % 6] * 3,
        }
        seen += [see(url.format_map(words), f"page {n}") for url in (one, "/{id}")]
    assert rules(seen) == {"shop.example": {"rewrite_path": [found]}}


def test_path_in_a_parameter_may_have_another_extension():
    """A script for printing names the file from which the page was made."""
    seen = []
    for n in range(24):
        path = f"/2004/{n % 12 + 1}/{WORDS[n]}"
        seen += [see(f"{path}.html", f"page {n}"), see(f"/p.cgi?file={path}.dtl", f"page {n}")]
    found = ["/p.cgi?file=/{rest:path}.dtl", "/{rest}.html"]
    assert rules(seen) == {"shop.example": {"rewrite_path": [found]}}
