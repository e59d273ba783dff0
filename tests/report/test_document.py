from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from attrs import evolve

from scrapy_urlcanon import __version__
from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.json_form import current_version, from_json, read_report, to_json
from scrapy_urlcanon.report.section import sections
from scrapy_urlcanon.report.sections.audit import AuditedRule
from scrapy_urlcanon.report.sections.domains import Domain
from scrapy_urlcanon.report.sections.summary import Funnel


def test_report_is_read_as_it_was_written(audited):
    """The JSON form loses nothing."""
    assert from_json(to_json(audited)) == audited


def test_report_of_a_crawl_is_read(shop_reports):
    """What a crawl writes can be read, and its figures agree with each other."""
    report = read_report(shop_reports / "report.json")
    assert report.spider == "shop"
    assert report.figure("dropped") == sum(domain.dropped for domain in report.rows(Domain))
    assert report.figure("requests") > report.figure("dropped") > 0


def test_package_that_was_copied_and_not_installed_writes_reports(monkeypatch, report):
    """As within the egg of a project: there is no metadata of it, and the crawl is over by then."""

    def no_metadata(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", no_metadata)
    monkeypatch.setattr("importlib.metadata.version", no_metadata)
    made = Report("shop", "", "", "finished", report.figures, report.contents)
    assert made.generator == f"scrapy-urlcanon {__version__}"
    assert f'"{made.generator}"' in to_json(made)


def test_docs_name_the_version_and_every_key():
    """What the page says of the JSON form is what is written."""
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    assert f'"version": {current_version()}' in page
    keys = [section.key for section in sections() if section.key]
    assert [key for key in keys if f"| `{key}` |" not in page] == []


def edit(*path, value):
    """Return a function that puts *value* at *path* of a JSON document."""

    def change(document):
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            edit("version", value=current_version() + 1),
            f"is a report of version {current_version() + 1}, made by scrapy-urlcanon",
        ),
        (edit("version", value="1"), "version: expected a number, got '1'"),
        (edit("format", value="har"), "is no report"),
        (edit("figures", "dropped", value="many"), "figures['dropped']: expected a whole number"),
        (edit("figures", "dropped", value=-1), "that is not negative, got -1"),
        (
            edit("figures", "audited", value=10**30),
            "expected no number above 9,007,199,254,740,991",
        ),
        (edit("figures", "dropped", value=41), "are not the 41 dropped"),
        (edit("figures", "requests", value=39), "40 were dropped of 39 requests"),
        (edit("figures", "dropped", value=True), "expected a whole number"),
        (edit("domains", 0, "dropped", value=1), "domains[0]: exact and variant"),
        (edit("groups", 0, "dropped", value=1), "groups[0]: its variants are more"),
        (edit("groups", 0, "variants", 1, "url", value=None), "groups[0].variants[1].url: expect"),
        (edit("groups", value={}), "groups: expected a list, got {}"),
        (edit("figures", value=[]), "figures: expected an object, got []"),
        (edit("options", 0, value="www"), "options[0]: expected an object, got 'www'"),
        (
            edit("audit", 0, "pairs", 1, "verdict", value="maybe"),
            "audit[0].pairs[1].verdict: expected 'another' or 'cannot tell' or 'same', got 'maybe'",
        ),
        (edit("news", value=[{"fetches": 0, "words": 1}]), "news[0].fetches: expected 1 or more"),
        (edit("spidr", value="x"), "spidr: no such key; did you mean 'spider'?"),
        (lambda document: document.pop("spider"), "spider: is missing"),
    ],
)
def test_edited_report_says_where_it_is_wrong(audited, tmp_path, change, message):
    """A report that was edited, or is of a newer version, gives an error that names the place."""
    document = json.loads(to_json(audited))
    change(document)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ReportError) as error:
        read_report(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_figures_that_contradict_each_other_are_drawn_within_the_page(audited):
    """More than was dropped cannot be saved, and a bar of that length would fill the memory."""
    document = json.loads(to_json(audited))
    document["figures"]["dropped/scrapy_would_keep"] = 2**53 - 1
    funnel = Funnel.of(from_json(json.dumps(document)))
    assert (funnel.same_for_scrapy, funnel.saved_by_rules) == (0, 40)


def test_what_was_fetched_all_the_same_saved_nothing(audited):
    """Nor did the spider ask for it: Scrapy alone would have fetched but what it asked for."""
    document = json.loads(to_json(audited))
    document["figures"] = {
        "requests": 100,
        "dropped": 60,
        "dropped/variant": 60,
        "dropped/scrapy_would_keep": 50,
        "audit/fetches": 7,
        "rescue/sent": 2,
        "audit/let_through": 1,
    }
    funnel = Funnel.of(from_json(json.dumps(document)))
    assert list(funnel.figures().values()) == [90, 10, 40, 40]
    assert funnel.saved_share == 0.5
    document["figures"]["audit/fetches"] = 200
    funnel = Funnel.of(from_json(json.dumps(document)))
    assert (funnel.saved_by_rules, funnel.to_fetch) == (0, 40)


def test_skipped_url_that_is_audited_costs_nothing_that_a_drop_saved(audited):
    """Nothing was dropped for it, so that the spider has asked for it itself."""
    (row,) = audited.rows(AuditedRule)
    skipped = evolve(row, rule="skip:/print/{id}", same=8, another=1, cannot_tell=3)
    figures = {"requests": 100, "dropped": 60, "dropped/scrapy_would_keep": 50}
    figures["audit/fetches"] = 20
    contents = audited.contents | {AuditedRule: (row, skipped)}
    funnel = Funnel.of(evolve(audited, figures=figures, contents=contents))
    assert list(funnel.figures().values()) == [92, 10, 42, 40]


def test_report_cut_short_says_so(report, tmp_path):
    """Wherever a report ends too early, the error is clear."""
    text = to_json(report)
    path = tmp_path / "report.json"
    for length in range(0, len(text) - 2, 7):
        path.write_text(text[:length], encoding="utf-8")
        with pytest.raises(ReportError, match=r"cut short|is empty|is no JSON"):
            read_report(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe", "no text in UTF-8"), (b"[]", "is no report"), (b"[" * 100_000, "deeper")],
)
def test_file_that_is_no_report_says_so(tmp_path, content, message):
    """Any other file gives a clear error, and no traceback of a parser."""
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ReportError, match=message):
        read_report(path)


def test_missing_file_says_so(tmp_path):
    """A path that leads nowhere is named."""
    with pytest.raises(ReportError, match="No such file"):
        read_report(tmp_path / "no.json")
