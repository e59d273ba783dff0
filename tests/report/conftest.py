"""Reports to look at: one of a crawl of the example site, and small ones made by hand."""

from __future__ import annotations

import pytest
from attrs import evolve
from command_line import EXAMPLE_PROJECT, scrapy
from loopback import Loopback
from scrapy import Request
from shop_site import respond

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.entries.taking_back import TakingBack
from scrapy_urlcanon.crawl.dropped.drop import Drop
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.section import sections
from scrapy_urlcanon.report.sections.audit import AuditedRule, Pair
from scrapy_urlcanon.report.sections.domains import Domain, Domains
from scrapy_urlcanon.report.sections.in_force import Origin, PatternOptions
from scrapy_urlcanon.report.sections.options import Entry, Option
from scrapy_urlcanon.report.sections.pages import Group, Pages, StepOnUrl, Variant
from scrapy_urlcanon.report.sections.parameters import Parameter


@pytest.fixture(scope="session")
def shop_reports(tmp_path_factory):
    """Return the directory of the reports of one crawl of the example site, and its log."""
    directory = tmp_path_factory.mktemp("shop")
    paths = ",".join(
        str(directory / name) for name in ("%(name)s.html", "report.json", "new/report.csv")
    )
    with Loopback(respond) as server:
        setting = f"URLCANON_REPORT={paths}"
        done = scrapy(
            *("crawl", "shop", "-s", setting), cwd=EXAMPLE_PROJECT, environment=server.proxies
        )
    assert done.returncode == 0, done.stderr
    (directory / "log").write_text(done.stderr, encoding="utf-8")
    return directory


@pytest.fixture
def make_drop():
    """Return a function that makes a drop, its fingerprint that of the kept URL by default."""

    def make(
        url,
        first="http://example.com/",
        *,
        rules=("drop_params:sort",),
        domain="example.com",
        fingerprint=None,
        **meta,
    ):
        return Drop(
            Request(url, meta=meta),
            first,
            fingerprint or first.encode(),
            frozenset(RuleEntry(*rule.split(":")) for rule in rules if url != first),
            domain,
        )

    return make


class DropCollector:
    """The two sections that collect drops."""

    def __init__(self, canonicalizer):
        self.canonicalizer = canonicalizer
        self._domains, self.pages = Domains(canonicalizer), Pages(canonicalizer)

    def add(self, drop):
        self._domains.note_drop(drop)
        self.pages.note_drop(drop)

    def domains(self):
        return self._domains.rows()

    def groups(self):
        return self.pages.rows()


@pytest.fixture
def collector():
    """Return a collector with the preset and a few rules for example.com."""
    return DropCollector(Canonicalizer({"example.com": {"drop_params": ["sid", "sort"]}}))


@pytest.fixture(scope="session")
def report():
    """Return a small report in which everything occurs."""
    step = StepOnUrl("drop_params", "URLCANON_RULES['example.com']", "dropped", ("sort",))
    variants = (
        Variant("http://example.com/a?sort=name", 5, (step,), "http://example.com/list"),
        Variant("http://example.com/a?sort=date&utm_source=x", 2, (step,)),
    )
    return Report(
        spider="books",
        started="2026-01-02T03:04:05+00:00",
        finished="2026-01-02T04:04:05+00:00",
        finish_reason="finished",
        figures={
            "requests": 100,
            "dropped": 40,
            "dropped/exact": 30,
            "dropped/variant": 10,
            "dropped/scrapy_would_keep": 7,
            "dropped/rule/drop_params": 10,
            "dropped/rule/tracking_params": 2,
            "dropped/domain/example.com": 39,
            "dropped/domain/example.org": 1,
        },
        contents={
            # Whatever sections there are.
            **{section.row: () for section in sections() if section.key},
            Option: (
                Option(
                    *("drop_params", 10, ("URLCANON_RULES['example.com']",)),
                    entries=(Entry("sort", 9), Entry("sid", 2)),
                ),
                Option("tracking_params", 2, ("preset safe",)),
                Option("www", 0, ("URLCANON_RULES['*']",)),
            ),
            Domain: (
                Domain("example.com", 39, 29, 10, {"drop_params": 10, "tracking_params": 2}),
                Domain("example.org", 1, 1, 0, {}),
            ),
            Group: (Group("http://example.com/a", "example.com", 9, 3, variants),),
            Parameter: (Parameter("example.com", "view", 4, 20),),
            Origin: (
                Origin("preset safe", 1, (PatternOptions("", {"scheme": "'merge'"}),)),
                Origin(
                    *("URLCANON_RULES", 7),
                    (PatternOptions("example.com", {"drop_params": "['sort']"}),),
                ),
            ),
        },
    )


@pytest.fixture(scope="session")
def audited(report):
    """Return the small report with an audit that compared some variants and suspended an entry."""
    figures = {
        "audited": 5,
        "audit/false_merge": 3,
        "audit/unjudged": 1,
        "audit/suspended/drop_params/sort": 1,
    }
    rows = (
        AuditedRule(
            *("drop_params:sort", "example.com", 2, 3, 1),
            written=("URLCANON_RULES['example.com']",),
            suspended=(
                TakingBack(
                    "To take it back, add to URLCANON_SPIDER_RULES:",
                    "'example.com': {'drop_params': ['!sort']},",
                ),
            ),
            pairs=(
                Pair(
                    "http://example.com/a?sort=name",
                    "http://example.com/a",
                    *("another", ""),
                    only_variant=("By name",),
                    only_kept=("By date", "Newest first"),
                ),
                Pair(
                    "http://example.com/b?sort=name",
                    "http://example.com/b",
                    *("cannot tell", "it failed", (), ()),
                ),
            ),
        ),
    )
    return evolve(
        report, figures=report.figures | figures, contents=report.contents | {AuditedRule: rows}
    )


@pytest.fixture
def changed(report):
    """Return a function that returns the small report with other values."""

    def change(**values):
        figures = report.figures | values.pop("figures", {})
        kinds = {"options": Option, "domains": Domain, "groups": Group, "parameters": Parameter}
        contents = {kind: values.pop(name) for name, kind in kinds.items() if name in values}
        return evolve(report, figures=figures, contents={**report.contents, **contents}, **values)

    return change
