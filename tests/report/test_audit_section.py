"""What a report says of the audit: pairs, verdicts, what differed, and what was suspended."""

from __future__ import annotations

import ast
import json
from copy import deepcopy
from pathlib import Path

import pytest
from attrs import evolve
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.case import AuditedPair
from scrapy_urlcanon.crawl.checks.entries.taking_back import taking_back
from scrapy_urlcanon.pages.verdict import Judgement, Verdict
from scrapy_urlcanon.report.csv_form import to_csv
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.sections.audit import Audit, AuditedRule, summary_of
from scrapy_urlcanon.report.sections.pages import Group

SID = RuleEntry("drop_params", "sid")
RULES = "URLCANON_RULES"
SPIDER_RULES = "URLCANON_SPIDER_RULES"


def pair(number, verdict, *entries, domain="example.com", **judgement):
    """Return an audited pair that `sid` made one, or *entries*."""
    kept = "http://example.com/"
    found = Judgement(verdict, **judgement)
    return AuditedPair(f"{kept}?sid={number}", kept, entries or (SID,), domain, found, b"page")


def test_each_entry_has_its_figures_and_the_most_telling_pairs():
    """Pairs of another page come first, and no more than a few of each verdict are kept."""
    section = Audit(Canonicalizer({"example.com": {"drop_params": ["sid", "ref"]}}))
    for number in range(10):
        section.note_audit(pair(number, Verdict.SAME))
        section.note_audit(pair(number, Verdict.CANNOT_TELL, reason="it failed"))
        section.note_audit(pair(number, Verdict.ANOTHER, SID, RuleEntry("drop_params", "ref")))
    sid, ref = section.rows()
    assert (sid.rule, sid.domain) == ("drop_params:sid", "example.com")
    assert (sid.same, sid.another, sid.cannot_tell) == (10, 10, 10)
    assert (ref.rule, ref.same, ref.another) == ("drop_params:ref", 0, 10)
    verdicts = [found.verdict for found in sid.pairs]
    assert verdicts == [*4 * ["another"], *2 * ["cannot tell"], *2 * ["same"]]
    assert sid.pairs[4].reason == "it failed"
    assert sid.written == ("rules['example.com']",)
    assert sid.suspended == ()


def test_what_is_shown_of_pages_is_short_and_without_secrets():
    """Lines are those of strangers, as the URLs are."""
    section = Audit(Canonicalizer())
    lines = ("x\u202ey\x1b", "see /?token=hunter2", 10_000 * "a", *"bcdefgh")
    section.note_audit(pair("hunter2", Verdict.ANOTHER, only_variant=lines, only_kept=("z",)))
    ((row,),) = [found.pairs for found in section.rows()]
    assert row.url == "http://example.com/?sid=***"
    assert row.only_variant[:2] == ("x%E2%80%AEy%1B", "see /?token=***")
    assert len(row.only_variant) == 5
    assert max(map(len, row.only_variant)) < 210
    assert row.only_kept == ("z",)


def test_memory_is_bounded():
    """Whatever is found on however many domains, no more than fifty are listed."""
    section = Audit(Canonicalizer())
    for number in range(3_000):
        section.note_audit(pair(1, Verdict.SAME, domain=f"{number}.example"))
    assert len(section._found) == 1_000
    assert len(section.rows()) == 50


SUSPENDED = {
    "of the preset": ({}, RuleEntry("tracking_params", "utm_source"), RULES),
    "of all hosts": ({RULES: {"*": {"drop_params": ["sid"]}}}, SID, RULES),
    "of a file": ({"a.toml": {"example.com/a/": {"drop_params": ["sid"]}}}, SID, RULES),
    "beside another option": (
        {RULES: {"*": {"drop_params": ["sid"]}, "example.com": {"www": "strip"}}},
        SID,
        f"{RULES}['example.com']",
    ),
    "beside another entry": (
        {RULES: {"*": {"drop_params": ["sid"]}, "example.com": {"drop_params": ["ref"]}}},
        SID,
        f"drop_params of {RULES}['example.com']",
    ),
    "of the domain": (
        {RULES: {"example.com": {"drop_params": ["sid"]}}, SPIDER_RULES: {}},
        SID,
        f"{RULES}['example.com']",
    ),
    "of a path": ({RULES: {"example.com/a/": {"drop_params": ["sid"]}}}, SID, RULES),
    "of a spider": (
        {SPIDER_RULES: {"example.com/a/": {"drop_params": ["sid"]}}},
        SID,
        SPIDER_RULES,
    ),
    "beside what overrides": (
        {RULES: {"example.com": {"drop_params": ["sid"], "override": {"drop_params": ["ref"]}}}},
        SID,
        f"drop_params of override of {RULES}['example.com']",
    ),
    "of a mapping": (
        {RULES: {"*": {"default_params": {"view": "grid"}}}},
        RuleEntry("default_params", "view"),
        RULES,
    ),
    "of one value": ({RULES: {"*": {"www": "strip"}}}, RuleEntry("www"), RULES),
    "with a place for a secret": (
        {RULES: {"*": {"rewrite_path": [["/a/b?sid={_s}&view={v}", "/a/b/{v}"]]}}},
        RuleEntry("rewrite_path", "/a/b?sid={_s}&view={v}"),
        RULES,
    ),
}
URL = "http://www.example.com/a/b?utm_source=1&sid=2&view=grid"


def configuration_of(layers):
    """Return the configuration of layers by their names."""
    return Configuration.load("safe", [Source(*layer) for layer in layers.items()])


def with_line(layers, place, line):
    """Return *layers* with *line* pasted into *place*, a setting or a pattern of it."""
    *within, layer = place.split(" of ")
    setting, _, pattern = layer.partition("[")
    layers = deepcopy({**layers, setting: layers.get(setting, {})})
    changed = layers[setting]
    for key in ([pattern.strip("']")] if pattern else []) + within[::-1]:
        changed = changed[key]
    if isinstance(changed, list):
        changed += ast.literal_eval(f"[{line}]")
    else:
        added = ast.literal_eval(f"{{{line}}}")
        assert changed.keys().isdisjoint(added)
        changed |= added
    return layers


@pytest.mark.parametrize(("layers", "entry", "place"), SUSPENDED.values(), ids=SUSPENDED)
def test_line_to_paste_takes_the_entry_back(layers, entry, place):
    """And nothing else: that is what it does where the report says to put it."""
    found = taking_back(configuration_of(layers), entry, "example.com", [URL])
    assert found.advice == f"To take it back, add to {place}:"
    before = Canonicalizer.from_configuration(configuration_of(layers)).explain(URL)
    pasted = configuration_of(with_line(layers, place, found.line))
    after = Canonicalizer.from_configuration(pasted).explain(URL)
    fired = [{fired for step in one.steps for fired in step.entries} for one in (before, after)]
    assert entry in fired[0]
    assert entry not in fired[1]
    assert fired[0] - {entry} <= fired[1]


def test_where_no_line_is_strong_enough_the_rule_is_to_be_removed():
    """What overrides in a spider's rules is the strongest that there is."""
    layers = {SPIDER_RULES: {"example.com": {"override": {"drop_params": ["sid"]}}}}
    found = taking_back(configuration_of(layers), SID, "example.com", [URL])
    assert (found.advice, found.line) == ("To take it back, remove it where it is written.", "")


def test_line_that_would_show_a_secret_is_none():
    """With ``***`` in its place it would take nothing back."""
    entry = RuleEntry("rewrite_path", "/a/b?sid=2&view={v}")
    layers = {RULES: {"*": {"rewrite_path": [[entry.entry, "/a/b/{v}"]]}}}
    found = taking_back(configuration_of(layers), entry, "example.com", [URL])
    assert (found.advice, found.line) == ("To take it back, remove it where it is written.", "")


def test_declarations_have_a_setting():
    """What pages declare is no rule."""
    found = taking_back(configuration_of({}), RuleEntry("declared_canonical"), "example.com", [])
    assert found.line == "URLCANON_DECLARED_CANONICAL = False"


def respond(request):
    """Serve a shop that shows another product for each `id`, and the same for any `sid`."""
    if request.target == "/":
        return links(*(f"/{name}?{name}={n}" for name in ("id", "sid") for n in range(9)))
    number = request.query if request.path == "/id" else "none"
    boilerplate = " ".join(f"menu{n}" for n in range(200))
    title = f"<title>Product {number}</title>"
    return page(
        f"{title}<nav>{boilerplate}</nav><p>The product number {number} is made of {number}.</p>"
    )


@deferred_f_from_coro_f
async def test_report_answers_whether_it_was_right(crawl):
    """Each format says which entry was wrong where, by which pages, and how to take it back."""
    await crawl(
        respond,
        {
            "URLCANON_RULES": {"*": {"drop_params": ["id", "sid"]}},
            "URLCANON_AUDIT": 1e-9,
            "URLCANON_REPORT": "report.json,report.html,report.csv",
            "CONCURRENT_REQUESTS": 1,
        },
    )
    check_reports()


def check_reports():
    report = read_report("report.json")
    rows = {row.rule: row for row in report.rows(AuditedRule)}
    wrong = rows["drop_params:id"]
    assert report.rows(AuditedRule)[0] is wrong
    (suspended,) = wrong.suspended
    assert suspended.line == "'site.example': {'drop_params': ['!id']},"
    assert wrong.another == report.figure("audit/false_merge") > 0
    assert wrong.pairs[0].verdict == "another"
    assert wrong.pairs[0].kept.startswith(f"{SITE}/id?")
    assert not rows["drop_params:sid"].suspended
    html = Path("report.html").read_text(encoding="utf-8")
    assert "To take it back, add to URLCANON_RULES:" in html
    assert "&#39;site.example&#39;: {&#39;drop_params&#39;: [&#39;!id&#39;]}," in html
    assert ",another\n" in Path("report.csv").read_text(encoding="utf-8").replace("\r", "")
    entries = {
        entry["name"]: entry["dropped"]
        for option in json.loads(Path("report.json").read_text(encoding="utf-8"))["options"]
        for entry in option["entries"]
    }
    assert entries["sid"] == report.figure("dropped/entry/drop_params:sid") > 0


def test_page_says_that_nothing_was_compared(report):
    """And how to have it compared."""
    html = to_html(report)
    assert "No dropped variant was fetched to see whether it is the page" in html
    assert "URLCANON_AUDIT = 0.01" in html


def test_summary_counts_every_verdict(audited, changed):
    """It is one sentence, and says nothing of what there is none of."""
    all_told = changed(figures={"audited": 5, "audit/false_merge": 3})
    assert summary_of(all_told).endswith("2 showed the page that was kept and 3 another page.")
    assert summary_of(audited) == (
        "Of 6 dropped variants that were fetched anyway, 2 showed the page that was kept and "
        "3 another page; of 1 it cannot be told."
    )


def test_csv_has_no_verdict_of_urls_that_read_the_same(audited):
    """One of them was audited, and what tells it from the others is not shown."""
    group = audited.rows(Group)[0]
    variants = tuple(evolve(group.variants[0], alike=number) for number in (1, 2))
    contents = audited.contents | {Group: (evolve(group, variants=variants),)}
    lines = to_csv(evolve(audited, contents=contents)).splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["verdict", "", ""]


def test_csv_has_the_entries_and_the_verdict(audited):
    """Of the variants that were compared."""
    lines = to_csv(audited).splitlines()
    assert lines[1].endswith(",drop_params:sort,http://example.com/list,,,another")
    assert lines[2].endswith(",drop_params:sort,,,,")
