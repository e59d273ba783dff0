import pytest

from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.canonicals import DeclaredCanonicals, is_implausible
from scrapy_urlcanon.learn.location import locate

HOME = "http://a.example/"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("list?page=2", "list"),
        ("list/page/2/", "list/"),
        ("post/comment-page-2/", "post/"),
        ("text?lang=de", "text"),
        ("section/article", ""),
        ("~ann/a?sid=1", "~ben/a"),
        ("~ann/a?sid=1", "a"),
        ("~ann/", ""),
    ],
)
def test_declarations_that_are_wrong_on_most_sites_are_refused(source, target):
    """Declarations that are wrong on most sites are refused.

    Parts that declare the first one, languages that declare another, all that declares the home
    page, and users of a server that declare one another.
    """
    assert is_implausible(locate(HOME + source), locate(HOME + target))


def test_way_of_declaring_is_believed_once_it_was_right_often_enough():
    """A form of declaring is believed after it was right six times, until it is wrong once."""
    canonicals = DeclaredCanonicals()
    pairs = [(locate(f"{HOME}?p={i}"), locate(f"{HOME}slug{i}/")) for i in range(20)]
    assert not canonicals.believes(*pairs[-1])
    for pair in pairs[:6]:
        canonicals.compare(*pair, same_page=True)
    assert canonicals.believes(*pairs[-1])
    canonicals.compare(*pairs[6], same_page=False)
    assert not canonicals.believes(*pairs[-1])


def test_edit_form_that_declares_the_article_is_not_believed():
    """Each form of declaring is judged by itself.

    Right short links do not make wrong declarations of edit forms right.
    """
    canonicals = DeclaredCanonicals()
    for i in range(10):
        canonicals.compare(locate(f"{HOME}?p={i}"), locate(f"{HOME}w/{i}"), same_page=True)
        canonicals.compare(
            locate(f"{HOME}index.php?title=T{i}&action=edit"),
            locate(f"{HOME}w/T{i}"),
            same_page=False,
        )
    assert not canonicals.believes(
        locate(f"{HOME}index.php?title=T99&action=edit"), locate(f"{HOME}w/T99")
    )
    assert canonicals.believes(locate(f"{HOME}?p=99"), locate(f"{HOME}w/99"))


def test_what_the_site_says_and_what_the_text_says_are_two_witnesses():
    """A page may differ more from one that it declares than from any other to be merged with it."""
    pages = [
        Observation(
            f"{HOME}{i}",
            main_sha1=f"page {i}".ljust(9, "."),
            simhash64=i * 0x9E3779B97F4A7C15 % 2**64,
        )
        for i in range(1, 9)
    ]

    def rules(canonical, bits):
        near = [
            Observation(
                f"{page.url}?reply={i}",
                main_sha1=f"near {i}".ljust(9, "."),
                simhash64=page.simhash64 ^ ((1 << bits) - 1),
                canonical=canonical(page),
            )
            for i, page in enumerate(pages)
        ]
        return learn([*pages, *near]).as_rules()

    assert rules(lambda _: "", 4) == rules(lambda page: page.url, 8) != {}
    assert rules(lambda _: "", 8) == rules(lambda page: page.url, 9) == {}
