"""An entry may be wrong in one section of a site, and right in all others."""

from zlib import crc32

import pytest
from audited_shop import SETTINGS, WRONG, product, shop
from scrapy.utils.defer import deferred_f_from_coro_f

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage
from scrapy_urlcanon.crawl.checks.sites import Sites

ENTRY = "audit/rule/drop_params:id/site.example/"


def outcome(verdicts):
    """Return an entry's outcome after *verdicts*: a letter per section, upper case if wrong."""
    site = Sites().of("a.example")
    record = EntryRecord(RuleEntry("drop_params", "id"), "a.example", site, 0.1)
    for number, section in enumerate(verdicts):
        own = frozenset({(number, number)})
        other = OtherPage(f"/?id={number}", "/", own) if section.isupper() else None
        record.add(other, str(number).encode(), section.lower())
    return record.outcome


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("aaaaaaaaaaaaFFF", Outcome.FAILS),
        # Where each of them is among many that are right it is chance, or a page that moved.
        ("aaaaaaaaaaaaFF", Outcome.OPEN),
        ("ffffffffffffaaaaaaaaaaaaFFF", Outcome.OPEN),
        ("aaaaaaaaaaAbbbbbbbbbbBccccccccccC", Outcome.OPEN),
        # Of twelve sections any may have a few by chance.
        ("abcdefghijkl" * 3 + "FFF", Outcome.OPEN),
    ],
)
def test_outcome_by_sections(verdicts, expected):
    """A few wrong merges in one section are enough to fail an entry that is right elsewhere.

    A little more is needed than on a site with one section, since some are wrong by chance.
    """
    assert outcome(verdicts) is expected


@pytest.mark.parametrize(("refused", "audits"), [(0, 12), (5, 17), (30, 24)])
def test_entry_that_is_wrong_is_looked_at_as_often_whatever_was_right_before(refused, audits):
    """Once an entry was wrong, it is audited as often, however often it was right elsewhere.

    For each audit that the server refused there is one more, but not without end.
    """
    sample = AuditSample(Canonicalizer(), 0.05, 0.1)
    record = sample.records.record(RuleEntry("drop_params", "id"), "a.example")
    for number in range(9):
        record.choose("a")
        record.add(None, str(number).encode(), "a")
    record.choose("f")
    record.add(OtherPage("/?id=1", "/", frozenset({(1, 1)})), section="f")
    count = 0
    while record.need is Need.SUSPECTED:
        record.choose("f")
        record.refused += count < refused
        count += 1
    assert count == audits


@deferred_f_from_coro_f
async def test_first_audits_of_an_entry_are_of_several_sections(crawl):
    """The first audits of an entry are spread over sections.

    The first URLs that are dropped are often of one section, and so are the last.
    """
    right = [[f"/{art}/{number}?id={n}" for number in range(30) for n in "01"] for art in "ab"]
    wrong = [f"/forum/t{number}?id={n}" for number in range(10) for n in "01"]

    def answer(request, _):
        shown = request.target if request.path.startswith("/forum/") else request.path
        return product(crc32(shown.encode()))

    result = await crawl(shop([*right[0], *wrong, *right[1]], answer), {**WRONG, **SETTINGS})
    assert {*wrong} <= {*result.pages}
    assert result.figures[f"{ENTRY}same"] <= 2


@pytest.mark.parametrize("folder", ["/forum", "/"])
@deferred_f_from_coro_f
async def test_entry_that_is_wrong_in_one_section_is_suspended(crawl, folder):
    """An entry that is wrong in a small section is suspended, and no page of it is lost."""
    right = [f"/art/{number}?id={n}" for number in range(50) for n in range(2)]
    wrong = [f"{folder}/t{number}?id={n}".replace("//", "/") for number in range(10) for n in "01"]

    def answer(request, _):
        shown = request.path if request.path.startswith("/art/") else request.target
        return product(crc32(shown.encode()))

    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 0.2}
    result = await crawl(shop([*right, *wrong], answer), settings)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*wrong} <= {*result.pages}
    assert result.figures[f"{ENTRY}another"] == 3
