"""What the rules make of URLs that hold without being learned."""

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.profiles.catalogue import profile
from scrapy_urlcanon.profiles.installation import Installation, templates_at

_OF_A_SHOP = "?product_id=7&route=product%2F"
_OF_ZEN = "main_page=product_info"
_TOPIC = "forum.php?mod=viewthread"


@pytest.mark.parametrize(
    ("program", "url", "canonical"),
    [
        ("smf", "index.php?PHPSESSID=k;topic=7.msg12", "index.php?topic=7.msg12"),
        ("smf", "index.php?topic=7.0&PHPSESSID=k", "index.php?topic=7.0"),
        ("cgit", "r.git/commit/?h=next&id=abc", "r.git/commit/?id=abc"),
        ("cgit", "r.git/log/?h=next", "r.git/log/?h=next"),
        ("cgit", "r.git/refs/?id=abc", "r.git/refs/"),
        ("gitweb", "?p=r;a=commitdiff;h=1;ds=inline", "?a=commitdiff&h=1&p=r"),
        ("gitweb", "?p=r;a=history;f=x;h=1;hb=2", "?a=history&f=x&hb=2&p=r"),
        ("gitweb", "?p=r;a=tree;f=x;h=1;hb=2", "?a=tree&f=x&h=1&hb=2&p=r"),
        ("gitweb", "?p=r;a=blob;f=x;h=1;hb=2", "?a=blob&f=x&h=1&hb=2&p=r"),
        ("gitweb", "?p=r;a=tree;f=x;hb=HEAD", "?a=tree&f=x&p=r"),
        ("gitweb", "?p=r;a=blob;f=x;hb=HEAD", "?a=blob&f=x&hb=HEAD&p=r"),
        ("gitweb", "?o=age", ""),
        ("mybb", "showthread.php?mode=threaded&tid=1", "showthread.php?mode=threaded&tid=1"),
        ("dokuwiki", "doku.php?do=login&id=a", "doku.php?do=login&id=a"),
        ("trac", "query?status=new&max=0&order=id&desc=1", "query?max=0&status=new"),
        ("trac", "query?status=new&order=id", "query?order=id&status=new"),
        ("roundup", "issue?@dispname=All&@search_text=&status=1", "issue?status=1"),
        ("roundup", "issue?@search_text=a&status=1", "issue?%40search_text=a&status=1"),
        ("viewvc", "viewvc/r/?sortby=rev&pathrev=2", "viewvc/r/?pathrev=2"),
        ("viewvc", "shop/?sortby=price", "shop/?sortby=price"),
        ("apache_listing", "c/?C=N;O=D", "c/"),
        ("apache_listing", "c/?C=M&O=A", "c/"),
        ("apache_listing", "c/?C=N;O=D;P=a", "c/?C=N%3BO%3DD%3BP%3Da"),
        ("apache_listing", "formula?C=6&O=2", "formula?C=6&O=2"),
        ("fancyindex_listing", "c/?C=S&O=D", "c/"),
        ("fancyindex_listing", "formula?C=6&O=2", "formula?C=6&O=2"),
        ("hyperkitty", "accounts/login/?next=/list/", "accounts/login/"),
        ("opencart", "?route=product/product&path=1_2&product_id=7", _OF_A_SHOP + "product"),
        ("opencart", f"index.php{_OF_A_SHOP}product&tag=a", f"index.php{_OF_A_SHOP}product"),
        ("opencart", f"index.php{_OF_A_SHOP}category&page=1", f"index.php{_OF_A_SHOP}category"),
        # The page of the list is that of the reviews too.
        ("opencart", f"?page=2&{_OF_A_SHOP[1:]}product", f"?page=2&{_OF_A_SHOP[1:]}product"),
        ("opencart", "?path=1_2&route=product%2Fcategory", "?path=1_2&route=product%2Fcategory"),
        ("oscommerce", "product_info.php?cPath=1&products_id=7", "product_info.php?products_id=7"),
        ("oscommerce", "product_info.php?products_id=7&sort=2a", "product_info.php?products_id=7"),
        ("oscommerce", "index.php?cPath=1&sort=2a", "index.php?cPath=1&sort=2a"),
        (
            "oscommerce",
            f"index.php?cPath=1_2&{_OF_ZEN}&products_id=7",
            f"index.php?{_OF_ZEN}&products_id=7",
        ),
        (
            "oscommerce",
            "index.php?cPath=1_2&main_page=index",
            "index.php?cPath=1_2&main_page=index",
        ),
        ("phpbb", "viewtopic.php?sid=0ab&t=7&start=10", "viewtopic.php?start=10&t=7"),
        ("phpbb", "app.php/help/faq?sid=0ab", "app.php/help/faq"),
        # Beside a board there may be scripts to which it is the id of a story.
        ("phpbb", "news.php?sid=7", "news.php?sid=7"),
        ("phpbb", "ucp.php?mode=login&redirect=viewtopic.php%3Ft%3D7", "ucp.php?mode=login"),
        ("phpbb", "ucp.php?mode=terms&redirect=a", "ucp.php?mode=terms&redirect=a"),
        ("phpbb", "viewtopic.php?f=2&t=7&view=print", "viewtopic.php?f=2&t=7&view=print"),
        ("drupal", "user/login?destination=node/7", "user/login"),
        ("drupal", "?q=user/register&destination=node/7", "?q=user%2Fregister"),
        ("drupal", "?q=node/add&destination=a", "?destination=a&q=node%2Fadd"),
        ("piwigo", "picture.php?/7/category/3", "picture.php?%2F7="),
        ("piwigo", "picture.php?/7/tags/1-a/created-monthly-list-2020", "picture.php?%2F7="),
        ("piwigo", "picture.php?/7/most_visited", "picture.php?%2F7="),
        # The second page of its comments.
        ("piwigo", "picture.php?/7/list/7,8/start-10", "picture.php?%2F7%2Fstart-10="),
        ("piwigo", "index.php?/category/3/start-15", "index.php?%2Fcategory%2F3%2Fstart-15="),
        ("coppermine", "displayimage.php?album=3&pid=7", "displayimage.php?pid=7"),
        ("coppermine", "displayimage.php?album=lastup&cat=-2&pid=7", "displayimage.php?pid=7"),
        (
            *("coppermine", "displayimage.php?album=lastcom&cat=0&msg_id=5&page=1&pid=7"),
            "displayimage.php?pid=7",
        ),
        # The comments of a photo may take several pages, by whatever it is reached.
        (
            *("coppermine", "displayimage.php?album=lastcom&cat=0&msg_id=5&page=2&pid=7"),
            "displayimage.php?page=2&pid=7",
        ),
        # What was searched is known of the visitor alone: another one gets an error.
        (
            *("coppermine", "displayimage.php?album=search&cat=0&pid=7"),
            "displayimage.php?album=search&cat=0&pid=7",
        ),
        ("coppermine", "displayimage.php?album=3&pos=7", "displayimage.php?album=3&pos=7"),
        ("coppermine", "thumbnails.php?album=3&page=1", "thumbnails.php?album=3"),
        ("coppermine", "login.php?referer=index.php", "login.php"),
        ("question2answer", "login?to=7/a-title", "login"),
        ("question2answer", "index.php/register?to=tags", "index.php/register"),
        ("question2answer", "7/a-title?start=0", "7/a-title"),
        ("discuz", f"{_TOPIC}&tid=7&extra=page%3D2&page=1", f"{_TOPIC}&tid=7"),
        ("discuz", f"{_TOPIC}&tid=7&page=2", f"{_TOPIC}&page=2&tid=7"),
        ("discuz", "forum.php?mod=forumdisplay&fid=2&page=1", "forum.php?fid=2&mod=forumdisplay"),
        # In which order the numbers stand is a setting.
        ("discuz", "thread-7-1-3.html", "thread-7-1-3.html"),
        # One author's posts, and another order, are views of which a page of the topic has all.
        ("discuz", f"{_TOPIC}&authorid=3&tid=7", f"forum.php?authorid=3&{_TOPIC[10:]}&tid=7"),
        (
            *("discuz", "forum.php?mod=post&action=reply&tid=7&repquote=9&extra=page%3D1&page=2"),
            "forum.php?action=reply&mod=post&repquote=9&tid=7",
        ),
        # Beside a forum, whose pages it is not.
        ("discuz", "list.php?page=1&extra=a", "list.php?extra=a&page=1"),
        ("mantis", "view.php?id=7&nbn=2", "view.php?id=7"),
        ("mantis", "login_page.php?return=%2Fview.php%3Fid%3D7", "login_page.php"),
        ("mantis", "login_anon.php?return=%2Fa", "login_anon.php?return=%2Fa"),
    ],
)
def test_certain_rules_make_one_what_a_crawl_of_the_program_proved(program, url, canonical):
    """The version does not matter; what else the program has stays as it is."""
    one = Installation(profile(program), "a.example", None, "/b/")
    canonicalizer = Canonicalizer()
    canonicalizer.declare(one.host, tuple(one.rule_sets(certain=True)))
    assert canonicalizer.canonicalize(f"http://a.example/b/{url}") == (
        f"http://a.example/b/{canonical}"
    )


def test_rules_do_not_hold_where_another_program_begins():
    """Of the places of other programs those below this one are left out, and not this one."""
    one = Installation(profile("mantis"), "a.example", None, "/b/")
    canonicalizer = Canonicalizer()
    places = ("/b/", "/", "/b/c/", "/d/")
    canonicalizer.declare(one.host, tuple(one.rule_sets(certain=True, others=places)))
    url = "http://a.example/b/view.php?id=7"
    assert canonicalizer.canonicalize(f"{url}&nbn=2") == url
    below = "http://a.example/b/c/view.php?id=7&nbn=2"
    assert canonicalizer.canonicalize(below) == below


@pytest.mark.parametrize(
    ("program", "link", "pages"),
    [
        ("phpbb", "viewtopic.php?p=12", ["viewtopic.php?t=7", "viewtopic.php?start=10&t=7"]),
        ("phpbb", "viewtopic.php?f=2&p=12&t=7", ["viewtopic.php?f=2&p=13&t=7"]),
        (
            *("discuz", "forum.php?mod=redirect&goto=findpost&ptid=7&pid=12"),
            ["forum.php?mod=viewthread&tid=7", f"{_TOPIC}&page=2&tid=7", "thread-7-2-1.html"],
        ),
        ("question2answer", "7/a-title?show=12", ["7/a-title", "7/a-title?show=9&state=a-9"]),
        ("drupal", "comment/12", ["node/7", "node/7?page=1", "comment/13"]),
        ("drupal", "?q=comment%2F12", ["?q=node%2F7", "?page=1&q=node%2F7", "?q=comment%2F13"]),
    ],
)
def test_certain_parts_stand_on_pages_that_a_crawl_of_the_program_proved(program, link, pages):
    """A list that shows a part among those of other pages is none of them."""
    (part,) = profile(program).parts
    assert part.is_certain
    links, shown = (templates_at("/b/", each) for each in (part.links, part.pages))
    assert [found["part"] for found in _matched(links, link)] == ["12"]
    assert all(_matched(shown, page) for page in pages)
    assert not _matched(shown, "viewforum.php?f=2")
    assert not _matched(shown, "?q=tracker")


def _matched(templates, url):
    matches = [template.match(split(f"http://a.example/b/{url}")) for template in templates]
    return [match.found for match in matches if match and not match.others]


def test_rule_for_a_session_leaves_what_stands_behind_it():
    """SMF separates by semicolons: the rule alone says so too, or it would drop the topic."""
    smf = profile("smf")
    (rule,) = (each for each in smf.rules if each.options.get("drop_params") == ["PHPSESSID"])
    canonicalizer = Canonicalizer({"*": dict(rule.options)})
    url = "http://a.example/index.php?PHPSESSID=k;topic=7.0"
    assert canonicalizer.canonicalize(url) == "http://a.example/index.php?topic=7.0"
