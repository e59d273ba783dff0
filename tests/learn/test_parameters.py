"""Parameters that are dropped in one place or with one value only, and numbers of parts."""

from itertools import product
from urllib.parse import quote, urlencode

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation

CATS = ("", "&cat=3")


def test_number_of_one_of_many_things_is_no_default():
    """A list that equals that of one user does not make this user the default."""
    seen = [see(f"/list?user={user}", f"list of {user}") for user in range(20, 60)]
    seen += [see(f"/list?part={part}", f"part {part}") for part in "abcdef"]
    assert rules([*seen, *(see(f"/list?part={p}&user=33", f"part {p}") for p in "abcdef")]) == {}


def test_rule_is_for_the_choice_that_all_of_its_evidence_has():
    """A rule seen only with do=details is for do=details if there are other actions."""
    seen = [see(f"/?do=details&id={i}", f"details {i}") for i in range(12)]
    seen += [see(f"/?do=details&id={i}&sort=x{i}", f"details {i}") for i in range(12)]
    lists = [see(f"/?do=list&sort=x{i}", f"list {i}") for i in range(12)]
    assert rules([*seen, *lists]) == {"shop.example/?do=details": {"drop_params": ["sort"]}}
    assert rules(seen) == {"shop.example": {"drop_params": ["sort"]}}


def test_parameter_that_another_one_makes_superfluous_is_dropped_beside_it():
    """A forum's number is dropped beside that of a post, and kept without."""
    seen = [see(f"/view?p={i}", f"post {i}") for i in range(12)]
    seen += [see(f"/view?f={i % 3}&p={i}", f"post {i}") for i in range(12)]
    forums = [see(f"/view?f={i}", f"forum {i}") for i in range(12)]
    assert rules([*seen, *forums]) == {"shop.example/?p=*": {"drop_params": ["f"]}}


def test_rule_beside_a_parameter_is_none_where_another_choice_has_shown_nothing():
    """No rule is learned if its one condition would cover URLs of several pages.

    Rooms do not matter for a day by date; whether they do for a week was not seen.
    """
    days = [see(f"/?on={i}&room={r}&view=day", f"day {i}") for i in range(20) for r in "ab"]
    hours = [see(f"/?at={i}&room={r}&view=day", f"hour {i} {r}") for i in range(20) for r in "ab"]
    weeks = [see(f"/?on={i}&room={'ab'[i % 2]}&view=week", f"week {i}") for i in range(20)]
    assert rules([*days, *hours]) == {"shop.example/?on=*": {"drop_params": ["room"]}}
    assert rules([*days, *hours, *weeks]) == {}


@pytest.mark.parametrize("host", ["http://shop.example", "http://www.shop.example"])
def test_default_of_one_script_is_none_of_another_that_has_other_values(host):
    """A default seen with one script is not for another one with other values."""
    seen = [see(f"/item?id={i}{cat}", f"item {i}", host=host) for i in range(12) for cat in CATS]
    lists = [see(f"/list?cat={i}", f"list {i}", host=host) for i in (1, 2)]
    (pattern,) = rules([*seen, *lists])
    assert pattern == f"{host.removeprefix('http://')}/item/"
    assert [*rules(seen)] == ["shop.example"]


def test_parameter_of_one_script_only_is_not_that_of_the_site():
    """A parameter seen with one script only is dropped for that script, not for the site."""
    seen = [see(f"/article?id={i}&part={n}", f"article {i}") for i in range(9) for n in range(4)]
    found = {"drop_params": ["part"]}
    assert rules(seen) == {"shop.example": found}
    assert rules([*seen, *pages("/picture?id={}", 4)]) == {"shop.example/article/": found}
    # Nor are the words that led to an object, where the crawl has seen but other pages.
    led = [see(f"/object/{i}?q={q}", f"object {i}") for i in range(9) for q in ("elm", "oak")]
    plain = [see(f"/artist/{i}", f"artist {i}") for i in range(20)]
    assert rules([*led, *plain]) == {"shop.example/object/": {"drop_params": ["q"]}}
    # What others have as well is not.
    other = [see(f"/picture?id={i}&part={n}", f"picture {i}") for i in range(4) for n in (1, 2)]
    assert rules([*seen, *other]) == {"shop.example": found}


def test_default_beside_the_number_of_a_thing_is_none_where_there_is_no_number():
    """A default beside the number of an item is not for lists without such a number."""
    seen = [see(f"/view?id={i}{cat}", f"item {i}") for i in range(12) for cat in CATS]
    lists = [see(f"/view?cat={i}", f"list {i}") for i in (1, 2)]
    found = {"default_params": {"cat": "3"}}
    assert rules([*seen, *lists]) == {"shop.example/?id=*": found}
    assert rules(seen) == {"shop.example": found}


@pytest.mark.parametrize(("pages", "values"), [(7, 3), (5, 6)])
def test_section_in_which_one_of_many_values_is_the_last_may_have_it_by_luck(pages, values):
    """The more values there are, the more pages are needed to call one the default of a section."""
    seen = []
    for page, section in product(range(pages), range(7)):
        path, last = f"/wiki/{section}/{page}x", (page + section) % values if section else 2
        seen.append(see(path, path))
        for value in range(values):
            content = path if value == last else f"{path} {value}"
            seen.append(see(f"{path}?version={value}", content))
    found = rules(seen)
    assert bool(found) == (pages > 5)


@pytest.mark.parametrize("date", ["2026-11-25", "20261125", "25/11/2026", "2026-11"])
def test_date_of_the_crawl_is_no_default(date):
    """The date of the crawl becomes no default: tomorrow it is another page."""
    rooms, today = pages("/room/{}"), pages(f"/room/{{}}?date={date}")
    assert rules([*rooms, *today]) == {}
    other = [see(f"/room/{i}?date=1999-01-01", f"room {i} as it was") for i in range(12)]
    assert rules([*rooms, *today, *other]) == {}
    # Another value would be.
    chosen = rules([*rooms, *pages("/room/{}?date=now"), *other])
    assert chosen == {"shop.example": {"default_params": {"date": "now"}}}


def test_second_page_of_short_listings_is_no_default():
    """page=1 seen only beside another parameter is not taken for the first page."""
    seen = [*pages("/gallery/{}"), *pages("/gallery/{}?page=1&titles=off")]
    assert rules(seen) == {}


def test_links_to_each_comment_hide_no_first_part():
    """Many redirects to a thread do not hide that page=1 is its default."""
    seen = [*pages("/thread?id={}", 20), *pages("/thread?id={}&page=1", 20)]
    seen += [see(f"/thread?id={i}&page=2", f"second {i}") for i in range(20)]
    seen += [
        Observation(f"{HOST}/comment?id={25 * i + j}", 302, redirect=f"{HOST}/thread?id={i}")
        for i in range(20)
        for j in range(25)
    ]
    assert rules(seen)["shop.example"]["default_params"] == {"page": "1"}


def test_part_one_is_the_second_where_there_is_a_part_zero():
    """If there is a part 0, part 1 is the second one, and no default."""
    seen = [*pages("/a/{}"), *pages("/a/{}?page=0"), *pages("/a/{}?page=1")]
    assert rules(seen) == {"shop.example": {"default_params": {"page": "0"}}}


@pytest.mark.parametrize(
    "view",
    [
        "tmpl=component&print=1&layout=default&page=",
        "tmpl=component&print=1&layout=default&page=&limit=",
        "limit=&offset=",
        "q=&from=&to=&sort=&dir=&lang=",
    ],
)
def test_what_has_no_value_numbers_no_part_and_is_no_language(view):
    """Empty fields with names of parts and languages become defaults."""
    (found,) = rules([*pages("/a?id={}"), *pages("/a?id={}&" + view)]).values()
    defaults = dict(param.split("=") for param in view.split("&"))
    assert found == {"default_params": defaults}


def test_number_of_a_part_is_dropped_beside_what_has_no_parts():
    """A part's number beside an item is dropped if many pages show that it changes nothing."""
    parts = [see(f"/b?do=list&pagenum={i}", f"part {i}") for i in range(8)]
    once, again = pages("/b?do=details&id={}", 30), pages("/b?do=details&id={0}&pagenum={0}", 30)
    dropped = {"drop_params": ["pagenum"]}
    assert rules([*parts, *once, *again]) == {"shop.example/?do=details": dropped}
    assert rules([*parts, *once, *again[:12]]) == {}
    assert rules([*parts, *once, *again, see("/b?do=details&id=7&pagenum=2", "two")]) == {}


def test_what_a_page_counts_as_is_the_same_in_a_part_of_the_site_and_in_all_of_it():
    """Pages count as much evidence in a part of the site as in all of it.

    Else a value was taken for the default of lists that it tells apart.
    """
    once = pages("/t?do=details&id={}", 40)
    due = [see(f"/t?do=details&id={i}&due={i % 3}", f"page {i}") for i in range(40)]
    parts = product(range(20), (1, 2))
    led = [see(f"/t?do=details&id={i}&due={i % 3}&from={n}", f"page {i}") for i, n in parts]
    lists = [see(f"/t?by={n}{due}", f"by {n}{due}") for n in range(2) for due in ("", "&due=1")]
    assert rules([*once, *due, *led, *lists]) == {
        "shop.example/?do=details": {"drop_params": ["due", "from"]}
    }


def test_order_and_part_of_the_list_that_led_to_a_page_are_dropped_together():
    """The order and part of the list that led to a page are dropped together."""
    parts = [see(f"/b?page={i}", f"part {i}") for i in range(8)]
    once, again = pages("/b?id={}&page=7", 30), pages("/b?id={}&page=1&dir=up&field=x", 30)
    learned = rules([*parts, *once, *again])
    assert list(learned) == ["shop.example/?id=*"]
    assert "page" in learned["shop.example/?id=*"]["drop_params"]
    assert rules([*parts, *once, *again, see("/b?id=7&page=2", "two")]) == {}


def test_value_that_a_script_takes_by_itself_is_a_default():
    """If the evidence has one value only, that value is dropped, not the parameter."""
    lists = [page for do in ("&do=list", "") for page in pages("/b?part={}" + do, 12)]
    details = [see(f"/b?part={i}&do=details&id={i}", f"details {i}") for i in range(40)]
    assert rules([*lists, *details]) == {"shop.example": {"default_params": {"do": "list"}}}


def test_values_that_agree_with_each_other_only_are_other_pages():
    """Two orders that agree past the end of lists say nothing of lists without an order."""
    once, by_date = pages("/list?c={}", 10), pages("/list?c={}&by=date", 10)
    ended = [see(f"/list?c={i}&by={by}", f"no {i}") for i in (40, 41) for by in ("name", "size")]
    others = [see(f"/list?c={i}&by={'size' if i % 2 else 'name'}", f"{i}") for i in range(50, 80)]
    seen = [*once, *by_date, *ended, *others]
    assert rules(seen) == {"shop.example": {"default_params": {"by": "date"}}}
    by_name = pages("/list?c={}&by=name", 5)
    assert rules([*seen, *by_name]) == {"shop.example": {"drop_params": ["by"]}}


def test_values_that_stand_in_other_folders_are_no_other_pages():
    """Values seen in one folder only are no counter-examples: `back` is dropped everywhere."""
    lists = product(("book", "author"), range(12), ("", "&sort=name", "&sort=date"))
    seen = [
        see(f"/{kind}/edit/?id={i}&back=/{kind}/?all{quote(by)}", f"{kind} {i}")
        for kind, i, by in lists
    ]
    assert rules(seen) == {"shop.example": {"drop_params": ["back"]}}


def test_name_of_an_action_is_dropped_where_it_is_the_default_only():
    """do=index is dropped as the default, and do=details stays."""
    seen = []
    for i in range(30):
        seen += [see(f"/x?do=details&id={i}", f"bug {i}"), see(f"/x?do=graph&id={i}", f"tree {i}")]
    for i in range(12):
        seen += [see(f"/x?dev={i}", f"dev {i}"), see(f"/x?dev={i}&do=index&project=1", f"dev {i}")]
    for i in range(6):
        seen += [see(f"/x?dev={i}&do=details&id={i}&project=1", f"bug {i}")]
    found = rules(seen)
    assert found["shop.example"] == {"default_params": {"do": "index", "project": "1"}}
    assert found["shop.example/?do=details"] == {"drop_params": ["dev"]}


def test_first_language_by_number_is_that_of_the_site():
    """L=0 is the default; any other language is kept, translated or not."""
    seen = [*pages("/p?id={}"), *pages("/p?id={}&L=0")]
    assert rules(seen) == {"shop.example": {"default_params": {"L": "0"}}}
    assert rules([*pages("/p?id={}"), *pages("/p?id={}&L=1")]) == {}


def test_parameter_is_noise_of_one_script_and_content_of_another():
    """A category is dropped from product pages, and kept in lists that it selects."""
    seen = []
    for i in range(126):
        seen += [see(f"/product?id={i}", f"product {i}")]
        seen += [see(f"/product?best=Y&cat={i % 7}&id={i}", f"product {i}")]
    seen += [see(f"/home?cat={cat}&sort=name", f"category {cat}") for cat in (1, 6)]
    seen += [see("/home?cat=5", "category 5"), see("/home", "all categories")]
    best = {"default_params": {"best": "Y"}, "drop_params": ["cat"]}
    assert rules(seen) == {"shop.example/product/": best}


def test_order_that_is_the_default_is_dropped_beside_the_number_that_the_path_says():
    """A number that the path repeats is dropped with the default order beside it."""
    seen = [see(f"/maker-{i}/", f"list {i}") for i in range(12)]
    for order in ("price", "name"):
        form = f"?maker={{0}}&sort={order}"
        text = "list {0}" if order == "price" else f"list {{0}} by {order}"
        seen += [see(f"/maker-{i}/{form.format(i)}", text.format(i)) for i in range(12)]
    found = {"drop_params": ["maker"], "default_params": {"sort": "price"}}
    assert rules(seen) == {"shop.example": found}
    finder = [see(f"/find?maker={i}&sort=price", f"found {i}") for i in range(12)]
    assert rules([*seen, *finder]) == {}


def test_number_of_the_last_part_is_no_default():
    """The newest part of comments, shown without a number, makes no number the default."""
    seen = []
    for post in range(60):
        last = max(1, post % 6 - 2)
        seen.append(see(f"/post-{post}/", f"part {last} of {post}"))
        seen += [see(f"/post-{post}/?cpage={n}", f"part {n} of {post}") for n in range(1, last + 1)]
    assert rules(seen) == {}


def test_number_that_is_chosen_where_there_are_others_is_a_default():
    """Of several numbers of days the one that always agrees is the default."""
    seen = []
    for page in range(60):
        days = {number: f"{min(number, page % 9)} changes of {page}" for number in (1, 3, 7, 30)}
        seen.append(see(f"/changes/{page}", days[7]))
        seen += [see(f"/changes/{page}?days={n}", text) for n, text in days.items() if n + page & 3]
    assert rules(seen) == {"shop.example": {"default_params": {"days": "7"}}}


def test_category_of_each_thing_is_no_default_of_lists():
    """A category that changes nothing on items is kept in lists that only it tells apart."""
    seen = []
    for n in range(60):
        category = ("boots", "caps", "hats", "shirts", "shoes")[n % 5]
        url = f"/red-{chr(97 + n % 26)}-thing/{n}.html"
        seen += [see(url, f"thing {n}"), see(f"{url}?category={category}", f"thing {n}")]
    seen += [
        see(f"/search?category={category}", category) for category in ("caps", "hats", "shoes")
    ]
    seen += [see(f"/{category}/", category) for category in ("hats", "shoes")]
    lists = (f"http://shop.example/search?category={word}" for word in ("boots", "caps", "shirts"))
    canonicalize = Canonicalizer(rules(seen), preset="scrapy").canonicalize
    assert len({*map(canonicalize, lists)}) == 3


def test_section_that_repeats_its_name_is_no_category():
    """A parameter that repeats the section is dropped there, with its own value only."""
    sections = ("birch", "cedar", "hazel", "plum", "rowan")
    seen = [see(f"/az?letter={section}", section) for section in sections]
    for n in range(60):
        url = f"/az/{sections[n % 5]}/{n}"
        seen += [see(url, f"word {n}"), see(f"{url}?letter={sections[n % 5]}", f"word {n}")]
    canonicalize = Canonicalizer(rules(seen), preset="scrapy").canonicalize
    for section in sections:
        url = f"http://shop.example/az/{section}/99"
        assert canonicalize(f"{url}?letter={section}") == url


def test_second_size_is_as_good_a_default_as_the_first():
    """Two sizes that both agree with no size are two defaults."""
    seen = []
    for n in range(40):
        sizes = ("", "?size=small", "?size=medium")[: 2 + n % 2]
        seen += [see(f"/photo/{n}{size}", f"photo {n}") for size in sizes]
        seen.append(see(f"/photo/{n}?size=full", f"photo {n} in full"))
    assert rules(seen) == {
        "shop.example": {"default_params": {"size": "small"}},
        "shop.example/?size=medium": {"drop_params": ["size"]},
    }


def test_parameter_that_is_all_that_tells_lists_apart_is_noise_elsewhere_only():
    """Three lists that only `ref` tells apart are no pages that changed."""
    words = ("hats", "shoes", "belts", "caps", "boots")
    seen = [see(f"/landing?ref={word}", word) for word in words[:3]]
    for kind, count in (("thing", 100), ("maker", 60)):
        for n in range(count):
            urls = f"/{kind}/{n}", f"/{kind}/{n}?ref={words[n % 5]}"
            seen += [see(url, f"{kind} {n}") for url in urls]
    canonicalize = Canonicalizer(rules(seen), preset="scrapy").canonicalize
    assert len({canonicalize(f"http://shop.example/landing?ref={word}") for word in words}) == 5
    assert canonicalize("http://shop.example/maker/9?ref=x") == "http://shop.example/maker/9"


def test_what_counts_clicks_goes_together():
    """Seven parameters of a link that never come alone are dropped, and dates are kept."""
    seen = [see(f"/hotel/{i}", f"hotel {i}") for i in range(20)]
    click = "aid={0}&dist=1&label=x{0}&pos={1}&sid={2:032x}&src=map&to=-{0}"
    seen += [
        see(f"/hotel/{i}?" + click.format(i * 37, i % 7, i**9), f"hotel {i}") for i in range(20)
    ]
    days = [see(f"/hotel/{i}?day={i}&nights={i % 5}", f"hotel {i} then") for i in range(20)]
    assert rules([*seen, *days]) == {
        "shop.example": {
            "default_params": {"dist": "1", "src": "map"},
            "drop_params": ["aid", "label", "pos", "sid", "to"],
        }
    }


def test_form_that_nobody_filled_in_says_what_is_the_default():
    """The six fields of an untouched form are defaults; other values are other lists."""
    form = {"fmt": "html", "of": "any", "since": "", "sort": "rel", "type": "all", "until": ""}
    seen = [see(f"/find/{i}", f"list {i}") for i in range(20)]
    filled = [form, {**form, "of": "me"}, {**form, "sort": "date"}, {**form, "type": "book"}]
    for i, fields in product(range(20), filled):
        shown = f"list {i}" if fields is form else f"list {i} by {fields}"
        seen.append(see(f"/find/{i}?{urlencode(fields)}", shown))
    assert rules(seen) == {"shop.example": {"default_params": form}}


@pytest.mark.parametrize("orders", [["date"], ["date", "size"]])
def test_default_of_one_section_is_for_that_section(orders):
    """The default order of one section is not one of others."""
    seen = [see(f"/{kind}/{i}", f"{kind} {i}") for i in range(12) for kind in ("tag", "post")]
    for order in orders:
        shown = "" if order == "date" else f" by {order}"
        seen += [see(f"/tag/{i}?by={order}", f"tag {i}{shown}") for i in range(12)]
    assert rules(seen) == {"shop.example/tag/": {"default_params": {"by": "date"}}}


def test_default_is_not_for_a_section_that_only_a_template_leads_to():
    """A default is not bound to a section whose URLs get there only by a rewrite."""
    trees = ["oak", "elm", "ash", "fir", "yew", "alder", "birch", "cedar", "elder", "hazel"]
    seen = [see(f"/wiki/{tree}", tree) for tree in trees]
    seen += [see(f"/w?title={tree}&print=yes", tree) for tree in trees]
    seen += [see(f"/talk/{tree}", f"talk of {tree}") for tree in trees]
    seen += [see(f"/w?title={tree}", tree) for tree in trees[5:]]
    assert rules(seen) == {
        "shop.example": {
            "rewrite_path": [["/w?title={b}", "/wiki/{b}"]],
            "default_params": {"print": "yes"},
        }
    }


def test_number_of_the_latest_version_is_no_default():
    """Without a number the latest version is shown; the next edit makes it another number."""
    seen = []
    for i in range(60):
        latest = i % 3 + 1
        seen.append(see(f"/w?c=edit&p={i}", f"thing {i}, version {latest}"))
        versions = range(1, latest + 1)
        seen += [see(f"/w?c=edit&p={i}&v={v}", f"thing {i}, version {v}") for v in versions]
    assert rules(seen) == {}


def test_number_that_all_lists_have_is_a_default_though_short_lists_are_the_same_with_others():
    """Half of the lists are short, so that they are whole with ten entries, too."""
    seen = []
    for i in range(30):
        texts = {"": f"list {i}", "&n=10": f"list {i}" + " cut" * (i % 2), "&n=20": f"list {i}"}
        seen += [see(f"/w?p={i}{shown}", text) for shown, text in texts.items()]
    assert rules(seen) == {"shop.example": {"default_params": {"n": "20"}}}


def _listings(usual, entries, *, size, part="offset={start}"):
    """Return the parts of listings in their usual size, and in the one that links name."""
    seen = []
    for i, count in enumerate(entries):
        for number, start in enumerate(range(0, count, usual), 1):
            query = part.format(start=start, number=number) if start else ""
            begin = (number - 1) * size if "number" in part else start
            seen += [
                see(f"/list/{i}?{query}", f"{i} {[*range(count)][start : start + usual]}"),
                see(f"/list/{i}?{query}&limit={size}", f"{i} {[*range(count)][begin:][:size]}"),
            ]
    return seen


@pytest.mark.parametrize("part", ["offset={start}", "page={number}"])
def test_usual_size_of_a_part_is_a_default(part):
    """A size is the default if it makes no difference to listings that go on."""
    seen = _listings(10, [35] * 6, size=10, part=part)
    assert rules(seen) == {"shop.example": {"default_params": {"limit": "10"}}}


@pytest.mark.parametrize("size", [10, 20, 50])
@pytest.mark.parametrize("entries", [[15] * 30, [35] * 30, [15] * 60 + [35] * 3])
def test_size_of_what_does_not_go_on_is_no_default(size, entries):
    """The last part is the same in the usual size and in a larger one, and so is the only one."""
    assert rules(_listings(20, entries, size=size)) == {}


@pytest.mark.parametrize("size", [10, 50])
@pytest.mark.parametrize("part", ["offset={start}", "page={number}"])
def test_other_size_than_the_usual_one_is_no_default(size, part):
    """Some parts of listings that go on are the same in another size: the last ones."""
    seen = _listings(20, [15] * 20 + [95] * 10, size=size, part=part)
    assert "default_params" not in str(rules(seen))


def test_size_of_the_first_part_is_no_default():
    """That there is a second part may be a link to nothing: only a later part goes on for sure."""
    seen = []
    for i in range(30):
        first = [f"/list/{i}?page=1", f"/list/{i}?page=1&limit=50"]
        seen += [*(see(url, f"list {i}") for url in first), see(f"/list/{i}?page=2", "no entries")]
    assert rules(seen) == {}
