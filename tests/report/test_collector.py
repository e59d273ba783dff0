from __future__ import annotations

import tracemalloc
from collections import Counter
from hashlib import sha1

import pytest

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.report.json_form import to_json
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.sampling import COUNTED_URLS
from scrapy_urlcanon.report.sections.domains import OTHER
from scrapy_urlcanon.report.sections.findings import findings_of
from scrapy_urlcanon.report.sections.pages import Group, StepOnUrl


def test_group_holds_variants_with_the_rules_and_layers_that_did_it(collector, make_drop):
    """A group says which rule of which layer changed which of the two URLs."""
    kept = "http://example.com/?sort=name"
    rules = ("drop_params:sort", "tracking_params:utm_source")
    collector.add(make_drop("http://example.com/?sort=date&utm_source=x", kept, rules=rules))
    (group,) = collector.groups()
    assert (group.kept, group.dropped, group.urls) == (kept, 1, 1)
    assert group.variants[0].steps == (
        StepOnUrl("tracking_params", "preset safe", "dropped", ("utm_source",)),
        StepOnUrl("drop_params", "rules['example.com']", "both", ("sort",)),
    )


def test_group_is_explained_by_the_rules_that_held_when_it_was_dropped(collector, make_drop):
    """What was suspended later did it, and what was suspended before did not."""
    collector.add(make_drop("http://example.com/?sort=date&sid=1"))
    collector.canonicalizer.suspend(RuleEntry("drop_params", "sort"), "example.com")
    (group,) = collector.groups()
    assert [step.rules for step in group.variants[0].steps] == [("drop_params:sort",)]


def test_exact_duplicates_are_counted_but_no_variants(collector, make_drop):
    """The very same URL again counts for its domain, and is in no group."""
    collector.add(make_drop("http://example.com/"))
    assert collector.groups() == ()
    (domain,) = collector.domains()
    assert (domain.exact, domain.variant, domain.dropped) == (1, 0, 1)


def test_options_of_a_request_are_respected(collector, make_drop):
    """The rules in the meta of a request explain its drop."""
    own = {"urlcanon": {"drop_params": ["x"]}}
    collector.add(make_drop("http://example.com/?x=1", rules=["drop_params:x"], **own))
    (group,) = collector.groups()
    assert [step.layer for step in group.variants[0].steps] == ['request.meta["urlcanon"]']


def test_secrets_and_long_urls_are_not_kept_as_they_are(collector, make_drop):
    """A report has no userinfo, no session id, and no URL of 100 kB."""
    long = "http://me:hunter2@example.com/?sid=hunter2&q=" + "a" * 100_000
    collector.add(make_drop(long, first="http://me:hunter2@example.com/"))
    (group,) = collector.groups()
    assert "hunter2" not in repr(group)
    assert len(group.variants[0].url) < 1_100
    assert "characters" in group.variants[0].url


def test_way_to_a_variant_is_shown_without_secrets(collector, make_drop):
    """The page that linked it, or the URL that was redirected, or nothing."""
    linked = "http://example.com/list?sid=hunter2"
    collector.add(make_drop("http://example.com/?sort=1")._replace(linked_from=linked))
    redirects = ["http://example.com/start", "http://example.com/old"]
    collector.add(make_drop("http://example.com/?sort=2", redirect_urls=redirects))
    collector.add(make_drop("http://example.com/?sort=3"))
    (group,) = collector.groups()
    ways = [(variant.linked_from, variant.redirected_from) for variant in group.variants]
    assert ways == [
        ("http://example.com/list?sid=***", ""),
        ("", "http://example.com/old"),
        ("", ""),
    ]


def test_urls_that_read_alike_are_numbered(collector, make_drop):
    """What was redacted told them apart: the rows are not taken for one."""
    for value in ("a", "b"):
        collector.add(make_drop(f"http://example.com/?sid={value}", fingerprint=b"1"))
    collector.add(make_drop("http://example.com/?sort=1", fingerprint=b"1"))
    for value in ("a", "b"):
        kept = f"http://example.com/?token={value}"
        collector.add(make_drop(f"{kept}&sid=1", kept))
    groups = collector.groups()
    assert [variant.alike for variant in groups[0].variants] == [1, 2, 0]
    assert [(group.kept, group.alike) for group in groups[1:]] == [
        ("http://example.com/?token=***", 1),
        ("http://example.com/?token=***", 2),
    ]


def fill(collector, make_drop, drops):
    """Add *drops* variants of as many groups, of 100 domains and 5 rules."""
    for number in drops:
        kept = f"http://example.com/{number}"
        collector.add(
            make_drop(
                f"{kept}?sort=1",
                kept,
                rules=(f"rule{number % 5}",),
                domain=f"{number % 100}.example",
                fingerprint=sha1(kept.encode()).digest(),
            )
        )


def test_sample_does_not_depend_on_the_order(make_drop, collector):
    """The same drops in another order give the same groups, all strata among them."""
    other = type(collector)(collector.canonicalizer)
    fill(collector, make_drop, range(3_000))
    fill(other, make_drop, range(2_999, -1, -1))
    # The largest are those that came first where all have one drop.
    sampled = collector.pages._sample._sampled.keys()
    assert sampled == other.pages._sample._sampled.keys()
    assert {group.domain for group in collector.groups()} == {f"{n}.example" for n in range(100)}


def test_largest_groups_are_always_there(make_drop, collector):
    """A group with many drops is in the sample, however late it comes and whatever its digest."""
    fill(collector, make_drop, range(3_000))
    for number in range(300):
        collector.add(make_drop(f"http://example.com/big?sort={number}", fingerprint=b"\xff" * 20))
    group = collector.groups()[0]
    assert group.dropped == 300
    assert group.urls == COUNTED_URLS
    assert 1 <= len(group.variants) <= 10


def test_sections_of_a_long_page_are_no_trap(make_drop, collector, changed):
    """Scrapy alone drops them too, which no rule has to answer for."""
    manual = "http://example.com/manual"
    for number in range(300):
        collector.add(make_drop(f"{manual}#{number}", manual, rules=("fragment",)))
    found = findings_of(changed(groups=collector.groups()))
    assert not any("very many" in one.title for one in found)
    first = f"{manual}?sid=0"
    for number in range(60):
        drop = make_drop(
            f"{manual}?sid={number + 1}#a", first, rules=("drop_params:sid", "fragment")
        )
        collector.add(drop)
    found = findings_of(changed(groups=collector.groups()))
    assert any("very many" in one.title for one in found)


def test_variants_of_each_combination_of_rules_are_shown(make_drop, collector):
    """A rule that fires rarely is not crowded out by one that fires often."""
    for number in range(50):
        collector.add(make_drop(f"http://example.com/?sort={number}"))
    collector.add(make_drop("http://example.com/?utm_source=x", rules=("tracking_params",)))
    (group,) = collector.groups()
    assert [variant.url for variant in group.variants][-1] == "http://example.com/?utm_source=x"
    assert len(group.variants) == 6


def test_domains_beyond_the_limit_are_counted_as_others(make_drop, collector):
    """Figures by domain add up to all drops, however many domains there are."""
    for number in range(6_000):
        collector.add(make_drop("http://example.com/?sort=1", domain=f"{number}.example"))
        collector.add(make_drop("http://example.com/", domain=f"{number}.example"))
    domains = collector.domains()
    assert len(domains) == 1_001
    assert domains[-1].name == OTHER
    assert sum(domain.exact for domain in domains) == 6_000
    assert sum(domain.variant for domain in domains) == 6_000
    assert sum(domain.options["drop_params"] for domain in domains) == 6_000


def test_domain_that_comes_late_and_has_most_drops_is_listed(make_drop, collector):
    """However many others were met before it."""
    for number in range(6_000):
        collector.add(make_drop("http://example.com/?sort=1", domain=f"{number}.example"))
    for _ in range(3):
        collector.add(make_drop("http://example.com/?sort=1", domain="late.example"))
    domains = collector.domains()
    assert (domains[0].name, domains[0].dropped) == ("late.example", 3)
    assert sum(domain.dropped for domain in domains) == 6_003


def test_domains_with_most_drops_have_most_groups_shown(make_drop, collector):
    """And not those whose names come first."""
    for number in range(300):
        for page in range(3):
            kept = f"http://{number:03}.example/{page}"
            drop = make_drop(f"{kept}?sort=1", kept, domain=f"{number:03}.example")
            for _ in range(2 if number >= 200 and not page else 1):
                collector.add(drop)
    shown = Counter(group.domain for group in collector.groups())
    assert len(shown) == 300
    assert all(shown[f"{number}.example"] > 1 for number in range(200, 300))


def test_drops_of_a_group_that_is_shown_are_counted_on(make_drop, collector, monkeypatch):
    """Though more groups were dropped than are counted: a report agrees with itself."""
    monkeypatch.setattr("scrapy_urlcanon.report.sampling._COUNTED_GROUPS", 100)
    first = make_drop("http://example.com/?sort=1", fingerprint=b"\0" * 20)
    collector.add(first)
    collector.add(first)
    for drops in (range(99), range(99), range(101)):
        fill(collector, make_drop, drops)
    collector.add(first)
    group = next(group for group in collector.groups() if group.domain == "example.com")
    assert group.dropped == group.variants[0].dropped == 3


@pytest.mark.parametrize("groups", [15_000, pytest.param(60_000, marks=pytest.mark.long)])
def test_memory_is_bounded(make_drop, collector, groups):
    """More groups than are counted need no more memory than some megabytes."""
    tracemalloc.start()
    try:
        fill(collector, make_drop, range(groups))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 40e6
    assert len(collector.groups()) == 500


def test_report_of_a_large_crawl_is_a_small_file(make_drop, collector, changed):
    """However many variants are dropped, the page is no larger than some megabytes."""
    for number in range(20_000):
        kept = f"http://example.com/{number % 4_000}/{200 * 'x'}"
        collector.add(
            make_drop(
                f"{kept}?sort={number}",
                kept,
                rules=(f"rule{number % 5}",),
                domain=f"{number % 300}.example",
                fingerprint=sha1(kept.encode()).digest(),
            )
        )
    figures = {"dropped": 20_000, "dropped/variant": 19_970, "requests": 30_000}
    report = changed(figures=figures, domains=collector.domains(), groups=collector.groups())
    assert len(report.rows(Group)) == 500
    assert len(to_html(report)) < 5e6
    assert len(to_json(report)) < 3e6
