"""Of several wrong entries each is found, whatever was found of the others before."""

from scrapy_urlcanon.crawl.checks.entry_record import OtherPage, SiteEvidence
from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.same_page import PageDigest


def test_what_stood_in_the_place_of_a_page_that_was_split_is_no_form_to_log_in():
    """Some of it are pages of their own by then, and others are compared with them."""
    own = frozenset({(1, 1)})
    first, again = (OtherPage(f"/p?{query}", "/p", own) for query in ("size=1", "id=1&color=2"))
    for is_split in (False, True):
        site, contents = SiteEvidence(), CommonContents()
        assert site.is_new(b"all", first, ())
        assert not contents.is_elsewhere(PageDigest(b"product 1"), b"all")
        if is_split:
            site.forget({b"all"})
            contents.forget({b"all"})
        assert site.is_new(b"product 1", again, ()) is is_split
        assert site.is_evidence(again) is is_split
        assert contents.is_elsewhere(PageDigest(b"product 1"), b"product 1") is not is_split
