from __future__ import annotations

import csv
import io
import json

from command_line import EXAMPLE_PROJECT, scrapy, urlcanon
from loopback import Loopback, page
from scrapy.utils.defer import deferred_f_from_coro_f
from shop_site import respond
from sites import links, site

from scrapy_urlcanon.crawl.settings import REPORT_FORMATS
from scrapy_urlcanon.report.csv_form import to_csv
from scrapy_urlcanon.report.json_form import from_json, read_report, to_json
from scrapy_urlcanon.report.sections.in_force import Origin
from scrapy_urlcanon.report.sections.pages import Group, StepOnUrl, Variant
from scrapy_urlcanon.report.sections.parameters import Parameter


def content_of(path):
    """Return the text of the file at *path*."""
    return path.read_text(encoding="utf-8")


def test_one_crawl_writes_every_format(shop_reports):
    """Each path gets its report, in directories that were not there as well."""
    names = {str(path.relative_to(shop_reports)) for path in shop_reports.rglob("*.*")}
    assert names == {"shop.html", "report.json", "new/report.csv"}
    assert "The report is in" in (shop_reports / "log").read_text(encoding="utf-8")


@deferred_f_from_coro_f
async def test_format_is_one_entry(crawl, monkeypatch, tmp_path):
    """It is known by its suffix, and makes the text of the file."""
    monkeypatch.setitem(REPORT_FORMATS, ".toy", "builtins.repr")
    path = tmp_path / "report.toy"
    await crawl(site({"/": page("the only one")}), {"URLCANON_REPORT": path})
    assert content_of(path).startswith("Report(spider='follow'")


def test_figures_are_those_of_the_crawl(shop_reports):
    """The report holds the final stats, and explains the groups by rules of the project."""
    report = read_report(shop_reports / "report.json")
    log = (shop_reports / "log").read_text(encoding="utf-8")
    assert f"'urlcanon/dropped': {report.figure('dropped')}" in log
    assert report.finish_reason == "finished"
    steps = [step for group in report.rows(Group) for v in group.variants for step in v.steps]
    assert "URLCANON_RULES['shop.example/forum/']" in {step.layer for step in steps}
    assert {step.option for step in steps} >= {"trailing_slash", "tracking_params", "sort_query"}


@deferred_f_from_coro_f
async def test_rules_that_differ_in_a_secret_alone_are_counted_as_one(crawl, tmp_path):
    """They read the same, and no request is missing from the figures."""
    path = tmp_path / "report.json"
    settings = {
        "URLCANON_REPORT": path,
        "URLCANON_RULES": {"*": {"skip": ["/?sid=1", "/?sid=2"]}},
    }
    await crawl(site({"/": links("/?sid=1", "/?sid=2")}), settings)
    assert read_report(path).figures_under("skipped/") == {"/?sid=***": 2}


def test_parameters_without_a_rule_are_those_that_select_pages(shop_reports):
    """What no rule drops is listed with how many values it had."""
    report = read_report(shop_reports / "report.json")
    names = {parameter.name for parameter in report.rows(Parameter)}
    assert {"page", "t"} <= names
    assert names.isdisjoint({"sort", "print", "sid", "utm_source"})


@deferred_f_from_coro_f
async def test_page_that_the_recorder_fetches_twice_is_one(crawl, tmp_path):
    """A parameter is on as many pages as the crawl has URLs with it."""
    path = tmp_path / "report.json"
    settings = {"URLCANON_REPORT": path, "URLCANON_RECORD": tmp_path / "crawl.sqlite"}
    urls = [f"/?id={number}" for number in range(8)]
    result = await crawl(site({"/": links(*urls)}, missing=200), settings)
    assert len(result.hits) > len(urls) + 1
    (parameter,) = read_report(path).rows(Parameter)
    assert (parameter.name, parameter.values, parameter.pages) == ("id", 8, 8)


def test_csv_has_a_line_for_each_variant(shop_reports):
    """The CSV form holds the groups of the JSON form."""
    report = read_report(shop_reports / "report.json")
    with (shop_reports / "new" / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(group.variants) for group in report.rows(Group))
    assert rows[0]["kept"] == report.rows(Group)[0].kept


def test_page_that_linked_a_variant_is_in_every_format(shop_reports):
    """Scrapy tells it of each link that it follows, and of a redirect what was redirected."""
    report = read_report(shop_reports / "report.json")
    variants = [variant for group in report.rows(Group) for variant in group.variants]
    assert variants
    assert all(variant.linked_from or variant.redirected_from for variant in variants)
    with (shop_reports / "new" / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["linked_from"] for row in rows] == [variant.linked_from for variant in variants]
    page = (shop_reports / "shop.html").read_text(encoding="utf-8")
    assert page.count(">linked from ") == sum(bool(variant.linked_from) for variant in variants)


def test_rules_of_the_crawl_are_in_its_report(shop_reports):
    """By where they were written, the preset first."""
    origins = read_report(shop_reports / "report.json").rows(Origin)
    assert [origin.name for origin in origins] == ["preset safe", "URLCANON_RULES"]
    patterns = {rules.pattern: rules.options for rules in origins[1].rules}
    assert "drop_params" in patterns["shop.example"]


def test_path_that_cannot_be_written_stops_the_crawl_before_its_first_request(tmp_path):
    """One clear error at the start, and nothing is fetched."""
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "report.html"
    with Loopback(respond) as server:
        done = scrapy(
            "crawl",
            "shop",
            "-s",
            f"URLCANON_REPORT={path}",
            cwd=EXAMPLE_PROJECT,
            environment=server.proxies,
        )
        assert server.hits == []
    assert done.returncode != 0
    assert f"URLCANON_REPORT['{path}']: cannot be written: " in done.stderr


def test_check_finds_a_report_path_that_is_not_valid():
    """``scrapy urlcanon check`` validates the setting with all others."""
    done = urlcanon("check", "-s", "URLCANON_REPORT=report.xlsx", cwd=EXAMPLE_PROJECT)
    assert done.returncode == 1
    assert "URLCANON_REPORT['report.xlsx']: expected a name that ends in one of" in done.stderr


def test_disk_that_is_full_at_the_end_loses_no_other_report(tmp_path):
    """A report whose directory is gone at the end is an error in the log; others are written."""
    gone, there = tmp_path / "gone" / "report.json", tmp_path / "report.json"

    def respond_and_remove(request):
        gone.parent.rmdir()
        gone.parent.touch()
        return respond(request)

    with Loopback(respond_and_remove) as server:
        done = scrapy(
            *("crawl", "shop", "-s", f"URLCANON_REPORT={gone},{there}"),
            *("-s", "CLOSESPIDER_PAGECOUNT=1", "-s", "ROBOTSTXT_OBEY=False"),
            *("-s", "DEPTH_LIMIT=1", "-s", "CONCURRENT_REQUESTS=1", "-s", "DOWNLOAD_DELAY=60"),
            cwd=EXAMPLE_PROJECT,
            environment=server.proxies,
        )
    assert f"The report {gone} cannot be written" in done.stderr
    assert json.loads(there.read_text(encoding="utf-8"))["spider"] == "shop"


def test_no_cell_of_the_csv_form_is_a_formula(changed):
    """A spreadsheet would run it, and strangers write URLs and the names of files."""
    steps = tuple(
        StepOnUrl(option, layer, "dropped", (entry,))
        for option, layer, entry in (("drop_params", "=x.toml", "sid"), ("www", "-", ""))
    )
    variant = Variant("http://a.example/?sid=1", 1, steps, "@SUM(A1)", "+1")
    (row,) = csv.DictReader(
        io.StringIO(to_csv(changed(groups=(Group("=1+1", "a.example", 1, 1, (variant,)),))))
    )
    assert {name: row[name] for name in ("kept", "layers", "linked_from", "redirected_from")} == {
        "kept": "'=1+1",
        "layers": "'=x.toml; -",
        "linked_from": "'@SUM(A1)",
        "redirected_from": "'+1",
    }
    assert (row["dropped"], row["options"]) == ("http://a.example/?sid=1", "drop_params www")
    assert row["entries"].startswith("drop_params:sid; ")


def test_no_form_has_characters_that_are_obeyed_in_place_of_being_shown(changed):
    """A site may put them into the names of its parameters, which the entries are."""
    step = StepOnUrl("tracking_params", "preset safe", "dropped", ("utm_\u202egnp.exe", "utm_\0"))
    variant = Variant("http://a.example/?utm_=1", 1, (step,))
    groups = (Group("http://a.example/", "a.example", 1, 1, (variant,)),)
    report = changed(groups=groups, figures={"dropped/entry/tracking_params:utm_\u202e": 1})
    (row,) = csv.DictReader(io.StringIO(to_csv(report)))
    written = "tracking_params:utm_%E2%80%AEgnp.exe; tracking_params:utm_%00"
    assert row["entries"] == written
    assert to_json(report).replace("\n", "").isprintable()
    assert from_json(to_json(report)) == report
