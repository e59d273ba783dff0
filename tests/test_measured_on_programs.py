"""What the benchmarks on programs and traps measure with, and the pages that they write."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
import scrapy

from scrapy_urlcanon.report.sections.audit import AuditedRule
from scrapy_urlcanon.report.sections.pages import Group

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks_are_importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    known = sys.modules.get("benchmarks")
    if known is not None and str(ROOT / "benchmarks") not in list(known.__path__):
        monkeypatch.delitem(sys.modules, "benchmarks")


def test_news_are_the_words_of_lines_that_no_page_before_had():
    news = importlib.import_module("benchmarks.novelty.news").News()
    page = b"<title>No</title><p>one <b>two</b> three</p><script>no</script><ul><li>four</ul>"
    assert news.of(page, "text/html") == 4
    assert news.of(page, "text/html") == 0
    assert news.of(page.replace(b"four", b"five six"), "text/html; charset=utf-8") == 2
    assert news.of(b"one two three\nseven\n", "text/plain") == 1
    assert news.of(b"<pre>a <b>new</b>\none two three\n</pre>", "text/html") == 2
    assert news.of(b"\x89PNG eight", "image/png") == 0
    assert news.of(b'[{"name": "ten eleven"}, {"name": "seven"}]', "application/json") == 2
    assert news.of(b'[["seven"], ["ten eleven"]]', "application/json; charset=utf-8") == 0


@pytest.mark.parametrize(
    ("kind", "pages"), [("finder", 349), ("shop", 277), ("doors", 349), ("calendar", 349)]
)
def test_each_page_of_content_of_a_trap_is_reached_by_links(kind, pages):
    crawling = importlib.import_module("benchmarks.novelty.crawling")
    site = importlib.import_module("benchmarks.novelty.sites").KINDS[kind](7)
    assert len(site.content) == pages
    found, known, waiting = set(), {"/"}, ["/"]
    while waiting and not site.content <= found:
        path = waiting.pop(0)
        answer = site.respond(f"http://{site.host}{path}")
        found.add(answer.content)
        links = crawling.unescaped_links(answer.html)
        # Plain links first: some traps have no end.
        for link in sorted(links, key=lambda link: "?" in link):
            if link not in known and not link.startswith(("/finder", "/events", "/login")):
                known.add(link)
                waiting.insert(len(waiting) if "?" in link else 0, link)
    assert found - {""} == site.content


def test_trap_and_common_shape_of_one_name_are_two_sites():
    """There is a shop of either sort; that of a common shape has no pages of content to count."""
    crawling = importlib.import_module("benchmarks.novelty.crawling")
    kinds = ("shop", f"{crawling.SHAPE}shop")
    trap, shape = (
        crawling.generated(crawling.Task((), 1, sites=((kind, 1),)))[0] for kind in kinds
    )
    assert len(trap.content) == 277
    assert not shape.content


@pytest.mark.parametrize(
    ("order", "kind"),
    [("breadth first", "manual"), *(("novelty", kind) for kind in ("manual", "wiki", "forum"))],
)
def test_crawl_without_the_engine_goes_as_one_with_it(order, kind):
    """What is compared in minutes is what Scrapy would do.

    Where it reads fewer pages at a time than are on their way, as of a reference, what can be
    counted on differs by a hair, and with it which of two equals comes first.
    """
    cases, crawling, measuring, offline = (
        importlib.import_module(f"benchmarks.novelty.{name}")
        for name in ("cases", "crawling", "measuring", "offline")
    )
    task = crawling.Task((f"http://{kind}.example/",), 60, sites=((f"{crawling.SHAPE}{kind}", 1),))
    by_scrapy = crawling.crawl(measuring.with_settings(task, cases.ORDERS[order]))
    is_ours = order == cases.NEWS
    if is_ours and scrapy.version_info < (2, 19):
        pytest.skip("the engine of Scrapy 2.15 takes some requests at another moment")
    frontier = offline.ByNews() if is_ours else offline.ByDepth(is_breadth_first=True)
    alone = offline.Crawling(offline.Pages(kind, 1), frontier, 60)
    alone.run()
    assert alone.words == by_scrapy.news


@pytest.mark.parametrize("name", ["novelty", "profiles"])
def test_measured_page_is_made_from_its_results(name):
    page = importlib.import_module(f"benchmarks.{name}.page")
    data = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())
    assert page.PAGE.read_text() == page.text(data)


def test_programs_listen_on_ports_of_their_own():
    programs = importlib.import_module("benchmarks.programs.catalogue").PROGRAMS
    assert len({program.port for program in programs.values()}) == len(programs)


def test_page_of_verdicts_has_the_tables_that_the_last_run_made():
    results = ROOT / "benchmarks" / "results" / "verdicts.json"
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    tables = json.loads(results.read_text(encoding="utf-8"))["tables"]
    places = [name for name in re.findall("<!-- (.*) -->", page) if name != "end"]
    assert sorted(places) == sorted(tables)
    for name, table in tables.items():
        assert f"<!-- {name} -->\n\n{table}\n" in page, name


def test_report_that_is_measured_has_all_that_a_crawl_leaves():
    """Pages with their variants, each with the page that linked it, and pairs of an audit."""
    report = importlib.import_module("benchmarks.report").made_up(50)
    variants = [variant for group in report.rows(Group) for variant in group.variants]
    assert variants
    assert all(variant.linked_from for variant in variants)
    assert report.rows(AuditedRule)
