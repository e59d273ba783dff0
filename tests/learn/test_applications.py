"""Cases that wikis, weblogs and directory listings make."""

from observed import pages, rules, see

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.operations.paths import LowerPath
from scrapy_urlcanon.learn.site import FOLDS
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS
from scrapy_urlcanon.learn.trials.scopes import ScopeSearch
from scrapy_urlcanon.learn.trials.trial import Trial
from scrapy_urlcanon.pages.page import Page

SITE = "http://wiki.example"


def test_number_of_a_part_does_not_come_where_there_was_none():
    """The last comment page of a post is not taken for the post: others have other numbers."""
    posts = pages("/2026/post-{}/", 12)
    newest = pages("/2026/post-{}/comment-page-2/", 12)
    oldest = [see(f"/2026/post-{i}/comment-page-1/", f"post {i} first") for i in range(12)]
    assert rules([*posts, *newest, *oldest]) == {}


def test_each_form_of_one_place_is_collapsed():
    """Two log-in forms at one path, told apart by a parameter, each become one URL."""
    articles = [see(f"/wiki/Article_{i}", f"article {i}") for i in range(40)]
    forms = [
        see(f"/index.php?title={form}&returnto=Article_{i}", form)
        for i in range(40)
        for form in ("Login", "Join")
    ]
    edits = [see(f"/index.php?title=Article_{i}&action=edit", f"edit {i}") for i in range(40)]
    assert learn([*articles, *forms, *edits]).as_rules() == {
        f"shop.example/index.php?title={form}": {"drop_params": ["returnto"]}
        for form in ("Login", "Join")
    }


def test_order_of_lines_does_not_tell_pages_apart():
    """A listing has the same digest in whatever order its lines are."""
    one, other = (
        Page(SITE, b"", "".join(f"<p>{name}</p>" for name in names)).signature.main()
        for names in (("README", "NEWS", "copyright"), ("copyright", "NEWS", "README"))
    )
    assert one == other
    assert one[0]


def test_part_of_a_site_is_tried_on_all_that_the_rule_would_change_there():
    """A rule for a directory is refused if it would merge its pages with those of another one."""
    seen = [see(f"{SITE}/{top}/p{i}", f"page {i}") for i in range(20) for top in ("Docs", "docs")]
    seen += [
        see(f"{SITE}/{path}{i}", f"{path} {i}")
        for i in range(20, 40)
        for path in ("Docs/p", "docs/p", "docs/P")
    ]
    groups = Groups(site_of("wiki.example", seen))
    trial = Trial(groups, (LowerPath(),), range(2 * FOLDS))
    assert ScopeSearch(trial, DEFAULT_THRESHOLDS).accepted() == []


def hosts(pages, others):
    """Return pages on hosts with and without ``www``, the last *others* of which differ."""
    return [
        see(f"http://{host}wiki.example/{i}", f"page {i}{host if i >= pages else ''}")
        for host in ("", "www.")
        for i in range(pages + others)
    ]


def test_pages_that_are_never_the_same_do_not_keep_www():
    """A few pages that differ at each visit do not prevent the rule for ``www``."""
    assert rules(hosts(98, 2)) == {"wiki.example": {"www": "strip"}}


def test_host_with_pages_of_its_own_keeps_www():
    """If one page of ten differs between the hosts, there is no rule for ``www``."""
    assert rules(hosts(90, 10)) == {}
