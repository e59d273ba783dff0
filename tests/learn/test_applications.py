"""What wikis, weblogs and directory listings taught: each case is one that some software makes."""

from .test_learn import pages, rules, see

BARE = "http://wiki.example"
WWW = "http://www.wiki.example"


def test_number_of_a_part_does_not_come_where_there_was_none():
    """A post shows its newest comments, which are part 2 of some posts, and part 3 of others."""
    posts = pages("/2026/post-{}/", 12)
    newest = pages("/2026/post-{}/comment-page-2/", 12)
    oldest = [see(f"/2026/post-{i}/comment-page-1/", f"post {i} first") for i in range(12)]
    assert rules([*posts, *newest, *oldest]) == {}
