"""What a journal says under rules that have changed since it was written."""

from types import SimpleNamespace

from scrapy import Request

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.crawl.job.journal import Kind, Record
from scrapy_urlcanon.crawl.job.under_rules import under_rules
from scrapy_urlcanon.crawl.job.written_requests import digest_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, MARK_KEY, mark_of


def scheduled(url, fingerprint, **arguments):
    return Record(Kind.SCHEDULED, fingerprint, request={"url": url, **arguments})


def ended(url, fingerprint, kind=Kind.FETCHED, **details):
    return Record(kind, fingerprint, **{"callback": "parse", "digest": digest(url), **details})


def digest(url):
    return digest_of(url, "GET", b"")


def rewritten(records, drop_params):
    """Return *records* under rules that drop parameters; fingerprints are canonical URLs."""
    rules = Canonicalizer({"*": {"drop_params": drop_params}})

    def page(request):
        return rules.canonicalize(request.url).encode()

    def fingerprint(request):
        return b"audit" if mark_of(request, AUDIT) else page(request)

    return list(
        under_rules(
            records,
            b"digest",
            SimpleNamespace(fingerprint=fingerprint, page=page),
            lambda data: Request(**data),
        )
    )


def test_of_pages_that_have_become_one_what_is_done_comes_first():
    """If two pages have become one, the one that is done counts."""
    first, second, other = (f"http://a.example/{text}" for text in ("?sid=1", "?sid=2", "b"))
    page, beside = b"http://a.example/", other.encode()
    records = [
        Record(Kind.OPENED, b"of before"),
        scheduled(first, b"1"),
        scheduled(second, b"2"),
        Record(Kind.BEGUN, b"1"),
        Record(Kind.BEGUN, b"2"),
        ended(second, b"2"),
        scheduled(other, b"3"),
        Record(Kind.FAILED, b"of no request", callback="parse"),
        Record(Kind.SCHEDULED, b"4"),
        Record(Kind.FETCHED, b"4", callback="parse"),
        Record(Kind.CLOSED),
    ]
    assert rewritten(records, ["sid"]) == [
        Record(Kind.OPENED, b"digest"),
        scheduled(second, page),
        scheduled(first, page),
        scheduled(other, beside),
        Record(Kind.BEGUN, page),
        Record(Kind.BEGUN, page),
        ended(second, page),
    ]


def test_what_was_dropped_comes_after_what_is_done():
    """A dropped URL does not count as done because of another page that had its fingerprint."""
    fetched, dropped, beside = (
        f"http://a.example/?id={text}" for text in ("1&sid=1", "2&sid=1", "2&sid=2")
    )
    records = [
        scheduled(fetched, b"sid=1"),
        scheduled(dropped, b"sid=1"),
        scheduled(beside, b"sid=2"),
        ended(fetched, b"sid=1"),
        ended(beside, b"sid=2"),
    ]
    urls = [record.request["url"] for record in rewritten(records, ["sid"]) if record.request]
    assert urls == [fetched, beside, dropped]


def test_of_a_page_that_has_become_several_each_keeps_what_came_of_it():
    """If a page has become several, each keeps its own outcome."""
    first, second = (f"http://a.example/?id={number}" for number in (1, 2))
    records = [
        scheduled(first, b"one", dont_filter=True),
        scheduled(second, b"one", dont_filter=True),
        ended(second, b"one", page=b"one", identity=b"the second"),
        ended(first, b"one", Kind.FAILED, identity=b"the first"),
    ]
    assert rewritten(records, [])[3:] == [
        ended(second, second.encode(), page=second.encode(), identity=b"the second"),
        ended(first, first.encode(), Kind.FAILED, identity=b"the first"),
    ]


def test_of_pages_that_shared_a_fingerprint_each_keeps_what_came_of_it():
    """Two pages that had one fingerprint, before and after a suspension, keep their outcomes."""
    first, second, third = (f"http://a.example/{text}" for text in ("a?id=1", "a", "b?id=1"))
    before = second.encode()
    records = [
        scheduled(first, before),
        scheduled(second, before),
        ended(second, before),
        scheduled(third, b"http://a.example/b"),
        # Sent before, and done since.
        ended(third, third.encode()),
    ]
    assert [record for record in rewritten(records, []) if record.digest] == [
        ended(second, second.encode()),
        ended(third, third.encode()),
    ]


def test_what_an_audit_gave_to_the_spider_counts_where_it_is_a_page_of_its_own():
    """A page that an audit let through is not fetched again after the suspension."""
    url, merged = "http://a.example/?id=2", b"http://a.example/"
    audit = {"meta": {MARK_KEY: {"reason": AUDIT, "url": url}}}
    records = [
        scheduled(url, merged),
        scheduled(url, b"given", **audit),
        Record(Kind.FETCHED, b"given", callback="parse"),
        scheduled(url, b"kept", **audit),
        Record(Kind.FAILED, b"kept", callback="parse"),
    ]
    *_, given, kept = rewritten(records, [])
    assert given == Record(Kind.FETCHED, url.encode(), callback="parse")
    assert kept.kind is Kind.FAILED


def test_what_an_audit_gave_to_the_spider_is_not_the_page_that_it_is_merged_with_yet():
    """It does not count for the page that another entry still merges it with."""
    first, given = (f"http://a.example/{text}" for text in ("", "?sid=2"))
    page = first.encode()
    audit = {"meta": {MARK_KEY: {"reason": AUDIT, "url": given}}}
    records = [
        *(scheduled(url, page) for url in (first, given)),
        scheduled(given, b"audit", **audit),
        Record(Kind.FETCHED, b"audit", callback="parse"),
    ]
    assert rewritten(records, ["sid"])[-1] == Record(Kind.FETCHED, b"audit", callback="parse")


def test_what_an_audit_gave_to_the_spider_counts_where_its_page_had_no_other_request():
    """It counts if its page had no other filtered request."""
    url = "http://a.example/?sid=2"
    audit = {"meta": {MARK_KEY: {"reason": AUDIT, "url": url}}}
    records = [
        scheduled(url, b"audit", **audit),
        Record(Kind.FETCHED, b"audit", callback="parse"),
        scheduled(url, b"of other rules", dont_filter=True),
    ]
    given = Record(Kind.FETCHED, url.encode(), callback="parse")
    assert rewritten(records, [])[-1] == given


def test_what_an_audit_gave_to_the_spider_comes_before_what_was_dropped():
    """Its outcome is that of the audited URL, and of no other URL of the page."""
    first, dropped, given = (f"http://a.example/{text}" for text in ("?id=1", "a?sid=1", "a?sid=2"))
    audit = {"meta": {MARK_KEY: {"reason": AUDIT, "url": given}}}
    records = [
        *(scheduled(url, b"merged") for url in (first, dropped, given)),
        ended(first, b"merged"),
        scheduled(given, b"audit", **audit),
        Record(Kind.FETCHED, b"audit", callback="parse"),
    ]
    urls = [record.request["url"] for record in rewritten(records, ["sid"]) if record.request]
    assert urls == [first, given, dropped, given]
