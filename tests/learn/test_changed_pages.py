"""Which counter-examples are pages that changed between two captures, and which are content."""

from itertools import chain
from random import Random

from observed import rules, see


def test_one_page_of_many_that_changed_is_no_counter_example():
    """One URL that differs from three others of its page is a page that changed."""
    seen = [see(f"/a/{i}?sid={sid}", f"page {i}") for i in range(12) for sid in "abcd"]
    assert rules([*seen, see("/a/3?sid=e", "page 3, edited")]) == rules(seen) != {}


def test_what_differs_in_one_url_of_ten_is_content():
    """A value under which all pages differ selects content.

    So does one under which other pages are shown.
    """
    seen = [see(f"/a/{i}?v={v}", f"page {i}") for i in range(12) for v in "abcd"]
    assert rules([*seen, *(see(f"/a/{i}?v=e", f"other {i}") for i in range(12))]) == {}
    others = [see(f"/a/{i}?v=e", f"page {i + 1}") for i in range(11)]
    assert "drop_params" not in str(rules([*seen, *others]))


def test_captures_that_changed_have_no_parameter_in_common():
    """If all URLs that differ share a value or a parameter, that selects content."""
    seen = [see(f"/a/{i}?v={v}", f"page {i}") for i in range(12) for v in "abcdefgh"]
    assert rules(seen) != {}
    other = [see(f"/a/{i}?v=x", f"other {i}") for i in range(12)]
    assert "drop_params" not in str(rules([*seen, *other]))
    named = [see(f"/a/{i}?v=a&w={i}", f"other {i}") for i in range(12)]
    assert "'w'" not in str(rules([*seen, *named]))


def test_page_that_changed_while_its_urls_were_fetched_is_no_counter_example():
    """One month whose page changed during the crawl does not break the rule about days.

    The rule is for the whole site, and not for each year without such a month.
    """
    days = [
        see(f"/{year}/{month:02}/{day:02}/all", f"{year} {month}")
        for year in range(2006, 2012)
        for month in range(1, 13)
        for day in range(1, 21)
    ]
    edited = [see(f"/2007/01/{day}/all", "2007 1, edited") for day in range(21, 25)]
    learned = rules(days)
    assert rules([*days, *edited]) == learned
    assert learned.keys() == {"shop.example"}


def test_value_of_which_nothing_was_seen_is_no_evidence():
    """A value whose pages have no text is no evidence; the default is learned of the other one."""
    pictures = [see(f"/p?id={i}", f"picture {i}") for i in range(30)]
    still = [see(f"/p?id={i}&show=0", f"picture {i}") for i in range(30)]
    moving = [see(f"/p?id={i}&show=1", "") for i in range(30)]
    assert rules([*pictures, *still, *moving]) == {
        "shop.example": {"default_params": {"show": "0"}}
    }


def moving(name, path, draw):
    """Yield pages with two to four URLs each, of which a tenth of the captures differs."""
    for i in range(150):
        for value in range(draw.choice((2, 2, 3, 4))):
            content = f"{i} {draw.random()}" if draw.random() < 0.1 else f"{path} {i}"
            yield see(f"{path}/{i}?{name}={value}", content)


def test_pages_that_move_and_have_few_urls_teach_the_rule():
    """Pages of which a tenth of the captures changed teach both rules, though each has few URLs.

    Two parameters show of each other how often captures change.
    """
    for seed in range(5):
        draw = Random(seed)
        seen = [*moving("sid", "/a", draw), *moving("ref", "/b", draw)]
        (found,) = rules(seen).values()
        assert sorted(found["drop_params"]) == ["ref", "sid"]


def test_parameter_alone_on_a_site_does_not_tell_how_often_captures_differ():
    """With one parameter on a site, a tenth that differs may be what it selects.

    Beside another one under which all captures agree, it is.
    """
    for seed in range(5):
        seasons = [*moving("season", "/team", Random(seed))]
        assert "season" not in str(rules(seasons))
        still = [see(f"/b/{i}?ref={ref}", f"page {i}") for i in range(50) for ref in range(4)]
        assert rules([*seasons, *still]) == {"shop.example": {"drop_params": ["ref"]}}


def pairs(url, other, differ):
    """Yield sixty pages with two URLs each, some of which differ."""
    for i in range(60):
        yield see(url.format(i), f"{url} {i}")
        yield see(other.format(i), f"{url} {i}" + ", edited" * (i % 7 == 3 and i < 7 * differ))


def test_few_pairs_of_many_that_differ_are_captures_that_changed():
    """Three of sixty pairs that differ are changes, eight are not.

    Unless another parameter shows that this site changes more, or does not change.
    """
    few, many = (list(pairs("/a/{0}", "/a/{0}?sid={0}", differ)) for differ in (3, 8))
    found = {"shop.example": {"drop_params": ["sid"]}}
    assert rules(few) == found
    assert rules(many) == {}
    (both,) = rules([*many, *pairs("/b/{0}", "/b/{0}?ref={0}", 8)]).values()
    assert both == {"drop_params": ["ref", "sid"]}
    still = pairs("/b/{0}", "/b/{0}?ref={0}", 0)
    assert rules([*few, *still]) == {"shop.example": {"drop_params": ["ref"]}}


def test_what_differs_under_an_only_value_is_a_change_only_with_higher_odds():
    """Three of sixty pairs that differ are changes under a session, and content under one view.

    If sessions of other pages differ as often, the views are captures that changed too.
    """
    views = list(pairs("/a/{0}", "/a/{0}?view=plan", 3))
    assert rules(pairs("/a/{0}", "/a/{0}?sid={0}", 3)) == {"shop.example": {"drop_params": ["sid"]}}
    assert rules(views) == {}
    found = rules([*views, *pairs("/b/{0}", "/b/{0}?sid={0}", 3)])
    assert found["shop.example/a/"] == {"default_params": {"view": "plan"}}


def test_what_differs_beside_a_session_id_is_a_change_at_lower_odds():
    """Six of sixty pairs that differ are changes under ids of sessions, and content under others.

    It takes both the name and the look: with a third of them different a session is none either.
    """
    for query, found in (
        ("osCsid={0:032x}", {"drop_params": ["osCsid"]}),
        ("cat={0:032x}", None),
        ("osCsid={0}", None),
    ):
        assert rules(pairs("/a/{0}", "/a/{0}?" + query, 6)).get("shop.example") == found
    others = [
        see(f"/a/{i}{q}", f"{i}{q}") for i in range(60, 90) for q in ("", f"?osCsid={i:032x}")
    ]
    assert rules([*pairs("/a/{0}", "/a/{0}?osCsid={0:032x}", 0), *others]) == {}


def test_looks_of_several_kinds_that_differ_alike_tell_how_often_captures_do():
    """Three kinds of pairs that differ equally often show how often captures change.

    Two words in the same place do not: both may select content.
    """
    views, *others = (
        pairs("/a/{0}", "/a/{0}/view", 5),
        pairs("/b/{0}", "/b.php?id={0}", 5),
        pairs("/c/{0}", "/old/c/{0}/", 5),
    )
    views = list(views)
    (found,) = rules([*views, *chain.from_iterable(others)]).values()
    assert len(found["rewrite_path"]) == 3
    assert rules(views) == rules([*views, *pairs("/d/{0}", "/d/{0}/full", 5)]) == {}


def groups(every):
    """Yield users, some of whom have groups at two URLs."""
    for i in range(60):
        has_groups = i % every == 0
        yield see(f"/user/{i}", f"user {i}")
        yield see(f"/user/{i}/groups", f"user {i}" + ", groups" * has_groups)
        if has_groups:
            yield see(f"/user/{i}?tab=groups", f"user {i}, groups")


def test_what_is_content_for_others_is_no_capture_that_changed():
    """Two members of sixty who differ are content if other pages show groups about as rarely.

    If many users have groups, two are too few to be content.
    """
    members = list(pairs("/@{0}", "/@{0}/groups", 2))
    rule = ["/{a}/groups", "/{a}"]
    assert rules(members) == {"shop.example": {"rewrite_path": [rule]}}
    assert str(rule) not in str(rules([*members, *groups(every=12)]))
    assert str(rule) in str(rules([*members, *groups(every=2)]))


def test_first_page_of_a_listing_that_changed_is_the_listing():
    """The first part of a listing is the listing, though a few captures changed."""
    seen = list(pairs("/a/{0}", "/a/{0}/page1", 3))
    assert rules(seen) == rules(pairs("/a/{0}", "/a/{0}/page1", 0)) != {}


NOTHING = "nothing is here"
"""What several URLs show in the midst of others that agree, and is the answer to what they ask."""


def filtered(draw):
    """Yield lists under five filters each, eight of which find nothing."""
    for i in range(60):
        for n in range(5):
            is_empty = n == 0 and i < 8
            yield see(f"/c/{i}?only={draw.random()}", NOTHING if is_empty else f"list {i}")


def test_empty_list_that_few_filters_show_is_content():
    """An empty result of a few filters is content, whether or not searches show the same."""
    still = [see(f"/b/{i}?ref={ref}", f"page {i}") for i in range(80) for ref in "abc"]
    assert rules([*filtered(Random(1)), *still]) == {"shop.example": {"drop_params": ["ref"]}}
    searches = [see(f"/search?q={i}", f"found {i}" if i % 2 else NOTHING) for i in range(90)]
    assert rules([*filtered(Random(1)), *searches]) == {}


def test_what_is_sold_out_in_some_sizes_is_content():
    """Sizes that are sold out show content, so that the size is kept."""
    sold_out = dict.fromkeys(range(0, 60, 15), 3)
    seen = [
        see(f"/p/{i}?size={i}-{n}", NOTHING if n < sold_out.get(i, i % 8 == 1) else f"thing {i}")
        for i in range(60)
        for n in range(20)
    ]
    assert rules(seen) == {}


def test_page_of_things_without_comments_is_content():
    """An equal empty page for a third of all things is content, not a failure of the site."""
    seen = [see(f"/a/{i}?tab={tab}", f"page {i}") for i in range(40) for tab in "abcd"]
    without = [see(f"/a/{i}?tab=comments", "no comments yet") for i in range(0, 40, 3)]
    assert "drop_params" not in str(rules([*seen, *without]))


def test_what_pairs_say_of_captures_holds_beside_lists_that_differ():
    """Lists whose parts differ do not count as captures that change often."""
    lists = [
        see(f"/list/{j}?per={n}", f"list {j} by {n}" if n == j else f"list {j}")
        for j in range(5)
        for n in range(5)
    ]
    views = [
        see(f"/thing/{i}{query}", f"thing {i}")
        for i in range(50)
        for query in ("", "?view=grid", *["?view=list"] * (i % 2))
    ]
    colours = [
        see(f"/thing/{i}?colour={i % 2}", f"thing {i}" if i % 3 else f"thing {i}, in its colour")
        for i in range(36)
    ]
    assert rules([*lists, *views, *colours]) == {"shop.example": {"drop_params": ["view"]}}


def test_that_few_captures_agree_is_no_reason_to_expect_others_to_differ():
    """Few captures, all of which agree, do not make changes likely."""
    views = [*pairs("/user/{0}", "/user/{0}/friends", 6)]
    agreeing = [see(f"/b/{i}?ref={ref}", f"page {i}") for i in range(7) for ref in "abc"]
    assert rules([*views, *agreeing]) == {"shop.example": {"drop_params": ["ref"]}}


def test_hundreds_of_captures_that_agree_leave_no_change_to_put_content_down_to():
    """Where no other pair differs, the plans of one house in seventeen are content."""
    clear = [see(f"/a/{i}?sid={sid}", f"page {i}") for i in range(5) for sid in "abcde"]
    others = [
        see(f"/b/{i}{query}", f"thing {i}") for i in range(100) for query in ("", f"?ref={i}")
    ]
    plans = [
        see(f"/c/{i}{query}", f"house {i}" + ", its plan" * (query != "" and i % 17 == 0))
        for i in range(50)
        for query in ("", "?view=plan")
    ]
    assert rules([*clear, *others, *plans]) == {"shop.example": {"drop_params": ["ref", "sid"]}}


def tracker(edited):
    """Yield issues with the part of the list that led there, some edited, and lists by part."""
    for i in range(150):
        yield see(f"/i?do=show&id={i}", f"issue {i}")
        content = f"issue {i}" + ", edited" * (i in edited)
        yield see(f"/i?do=show&id={i}&part={i % 30 + 2}", content)
    for section in range(30):
        for part in range(1, 7):
            yield see(f"/i?do=list&in={section}&part={part}", f"list {section}, part {part}")


def test_what_selects_content_does_not_tell_that_captures_seldom_change():
    """A parameter that selects content elsewhere does not make changes look rare."""
    few = pairs("/a/{0}", "/a/{0}?sid={0}", 3)
    assert rules([*few, *tracker({7})])["shop.example"] == {"drop_params": ["sid"]}


def test_what_is_content_elsewhere_is_put_down_to_change_only_beyond_doubt():
    """The part of a list is dropped from issues of which few changed, not if many differ."""
    few = [*pairs("/a/{0}", "/a/{0}?sid={0}", 3)]
    found = rules([*few, *tracker({7, 58, 113})])
    assert found["shop.example/?do=show"] == {"drop_params": ["part"]}
    assert found.keys() == {"shop.example", "shop.example/?do=show"}
    assert "part" not in str(rules([*few, *tracker(range(3, 150, 25))]))
    assert "part" not in str(rules([*tracker({7, 58, 113})]))


def differing(path, query, every, bits):
    """Yield pages and views, some of which differ in *bits* bits of the simhash."""
    draw = Random(path)
    for i in range(90):
        text, is_other = draw.getrandbits(64), i % every == 0
        other = sum(1 << bit for bit in draw.sample(range(64), bits)) if is_other else 0
        yield see(f"{path}/{i}", f"{path} {i}", simhash64=text)
        yield see(f"{path}/{i}{query}", f"{path} {i}{query * is_other}", simhash64=text ^ other)


def test_another_text_altogether_is_no_capture_that_was_edited():
    """A view with another text is content, even if as many posts were edited.

    Small edits show how often pages are edited, and say nothing of other texts.
    """
    posts = [*differing("/post", "?ref=a", every=20, bits=8)]
    for bits, found in (8, ["house", "post"]), (32, ["post"]):
        seen = [*posts, *differing("/house", "?view=plan", every=25, bits=bits)]
        assert [*rules(seen)] == [f"shop.example/{section}/" for section in found]


def several(path, name, bits, every, draw):
    """Yield pages with five URLs, one of which differs in *bits* bits on some pages."""
    for i in range(60):
        text, odd = draw.getrandbits(64), draw.randrange(5) if i % every == 0 else None
        for value in range(5):
            own = sum(1 << bit for bit in draw.sample(range(64), bits)) if value == odd else 0
            page = f"{path} {i}" + f" {value}" * (value == odd)
            yield see(f"{path}/{i}?{name}={i}{value}", page, simhash64=text ^ own)


def test_another_text_among_many_that_agree_is_none_that_was_edited():
    """A value that shows another text on some pages is content, though articles are edited.

    If these differ as little as edited articles do, the parameter is dropped.
    """
    for bits, found in (8, ["pick", "sid"]), (32, ["sid"]):
        draw = Random(1)
        seen = [*several("/a", "sid", 8, 4, draw), *several("/b", "pick", bits, 4, draw)]
        assert sorted(rules(seen)["shop.example"]["drop_params"]) == found


def test_edits_do_not_explain_that_other_values_have_texts_of_their_own():
    """Of three tabs, two of which have texts of their own, none is dropped."""
    for bits, is_found in (8, True), (32, False):
        draw = Random(2)
        seen = [*several("/a", "sid", 8, 10, draw), *several("/b", "ref", 8, 10, draw)]
        for i in range(150):
            text, tab = draw.getrandbits(64), ("details", "makers", "shows")[i % 3]
            own = sum(1 << bit for bit in draw.sample(range(64), bits)) if i in {3, 34, 61} else 0
            seen.append(see(f"/o/{i}", f"o {i}", simhash64=text))
            page = f"o {i}" + f", {tab}" * bool(own)
            seen.append(see(f"/o/{i}?tab={tab}", page, simhash64=text ^ own))
        found = rules(seen)["shop.example"]
        assert {"ref", "sid"}.issubset(found["drop_params"])
        assert ("tab" in str(found)) == is_found


def test_value_is_but_the_luckiest_where_no_capture_changes():
    """A tab that never differed yet is not dropped if its siblings do now and then."""
    clear = [see(f"/a/{i}?sid={sid}", f"page {i}") for i in range(40) for sid in "abcde"]
    tabs = chain.from_iterable(
        (see(f"/o/{i}", f"o {i}"), see(f"/o/{i}?tab={tab}", f"o {i}" + f", {tab}" * differs))
        for i in range(150)
        for tab, differs in [(("details", "makers", "shows")[i % 3], i in {3, 4, 30, 61})]
    )
    assert "tab" not in str(rules([*clear, *tabs])["shop.example"].get("default_params"))


def test_word_that_goes_from_all_pairs_that_differ_is_content():
    """A word that is in all pairs that differ (milestone) selects content.

    Though captures change often on this site, as two other kinds of pairs show.
    """
    others = [*pairs("/b/{0}", "/b/{0}?ref={0}", 8), *pairs("/c/{0}", "/old/c/{0}/", 8)]
    words = (("issues", "pull"), ("pull", "request"), ("issues", "request"))
    same = [see(f"/x/{w}/{i}", f"issue {i}") for i in range(60) for w in words[i % 3]]
    lone = [see(f"/x/{w}/{i}", f"{w} {i}") for i in range(60, 68) for w in ("pull", "milestone")]
    found = rules([*others, *same, *lone])["shop.example"]
    assert (found["rewrite_path"], found["drop_params"]) == (
        [["/old/c/{c:digits}/", "/c/{c}"]],
        ["ref"],
    )


def test_word_is_one_in_the_host_and_in_the_path():
    """A word that two kinds of pairs leave out is one kind, which shows no rate of change."""
    www = "http://www.shop.example"
    hosts = [*pairs(f"{www}/a/{{0}}", "http://amp.shop.example/a/{0}", 8)]
    assert rules([*hosts, *pairs(f"{www}/b/{{0}}", f"{www}/b/{{0}}/amp", 8)]) == {}
    assert rules([*hosts, *pairs(f"{www}/b/{{0}}", f"{www}/b/{{0}}/view", 8)]) != {}


def test_value_that_may_be_the_default_says_nothing_of_the_others():
    """That lists by date are the default says nothing of lists by name and size.

    Though captures change often on this site, as three other parameters show.
    """
    others = chain.from_iterable(pairs(f"/{p}/{{0}}", f"/{p}/{{0}}?{p}={{0}}", 8) for p in "bcd")
    by_date = [see(f"/list/{i}{by}", f"list {i}") for i in range(8) for by in ("", "?by=date")]
    orders = [
        see(f"/list/{i}{query}", f"list {i}" + query * (i % 2))
        for i in range(10, 15)
        for query in ("", "?by=name" if i % 3 else "?by=size")
    ]
    found = rules([*others, *by_date, *orders])["shop.example"]
    assert found["drop_params"] == ["b", "c", "d"]
