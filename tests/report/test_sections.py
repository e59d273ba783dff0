"""What it takes to add a section: a module, and its part of the page beside it."""

from __future__ import annotations

import ast
import json

import pytest
from rich.console import Console

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.crawl.order.progress import CrawlNews
from scrapy_urlcanon.novelty.kinds import Kinds
from scrapy_urlcanon.report import page, section, sections
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.json_form import from_json, to_json
from scrapy_urlcanon.report.screen import Screen
from scrapy_urlcanon.report.section import show_report
from scrapy_urlcanon.report.sections.traps import Traps

TOY = '''
"""The suffixes of what was dropped."""

from collections import Counter
from typing import Any

from attrs import frozen

from scrapy_urlcanon.report.section import Section


@frozen
class Suffix:
    """A suffix of paths and what was dropped with it."""

    name: str
    dropped: int


class Suffixes(Section):
    """How many requests were dropped by the suffix of their path."""

    place = 45
    name = "suffixes"
    label = "Suffixes"
    key = "suffixes"
    row = Suffix
    since = 3

    def __init__(self, canonicalizer):
        self._counts = Counter()

    def note_drop(self, drop):
        self._counts[drop.request.url.rpartition(".")[2]] += 1

    def rows(self):
        return tuple(Suffix(name, count) for name, count in self._counts.most_common())

    @classmethod
    def context(cls, report):
        return {"suffixes": report.rows(Suffix)}

    @classmethod
    def show(cls, report, screen):
        screen.heading("By suffix")
        screen.table((f"{suffix.dropped:,}", suffix.name) for suffix in report.rows(Suffix))
'''
TEMPLATE = """
<section id="suffixes"><h2>By suffix</h2>
{% for suffix in suffixes %}<p>{{ suffix.name }}: {{ suffix.dropped }}</p>{% endfor %}
</section>
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Put the two files of a section beside the others, and return its class."""
    (tmp_path / "suffixes.py").write_text(TOY, encoding="utf-8")
    (tmp_path / "suffixes.html.jinja").write_text(TEMPLATE, encoding="utf-8")

    def forget():
        section.sections.cache_clear()
        page._environment.cache_clear()

    with monkeypatch.context() as patch:
        patch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
        forget()
        yield next(kind for kind in section.sections() if kind.name == "suffixes")
    forget()


def test_section_is_a_module_and_a_template(toy, report, make_drop):
    """It is collected, stored, read again, and shown on the page and at the terminal."""
    names = [kind.name for kind in section.sections()]
    assert names.index("domains") < names.index("suffixes") < names.index("pages")
    collected = toy(Canonicalizer())
    for url in ("http://example.com/a.pdf", "http://example.com/b.c&d"):
        collected.note_drop(make_drop(url, first="http://example.com/"))
    with_rows = Report(
        *("books", "", "", "", {}), contents={**report.contents, toy.row: collected.rows()}
    )
    document = json.loads(to_json(with_rows))
    assert document["version"] == 4
    assert document["suffixes"][0] == {"name": "pdf", "dropped": 1}
    assert from_json(to_json(with_rows)).rows(toy.row) == with_rows.rows(toy.row)
    html = page.to_html(with_rows)
    assert '<a href="#suffixes">Suffixes</a>' in html
    assert "<p>pdf: 1</p>" in html
    assert "<p>c&amp;d: 1</p>" in html
    console = Console(color_system=None)
    with console.capture() as capture:
        show_report(with_rows, Screen(console))
    assert "\nBy suffix\n1  pdf\n1  c&d\n" in capture.get()


def test_report_of_the_version_before_has_no_rows_of_a_new_section(toy, report):
    """What was written before the section was added is read as it was."""
    document = json.loads(to_json(report)) | {"version": 2}
    del document["suffixes"]
    assert from_json(json.dumps(document)).rows(toy.row) == ()


def test_each_section_says_what_it_is():
    """Places and names are its own, and what stores rows says under which key."""
    found = section.sections()
    for attribute in ("place", "name"):
        assert len({getattr(kind, attribute) for kind in found}) == len(found)
    for kind in found:
        assert kind.__doc__
        assert bool(kind.key) == hasattr(kind, "row")


def test_line_that_ends_a_trap_can_be_pasted_whatever_its_parameters_are_called():
    """It has a place where a URL has a secret, and no value."""
    kinds = Kinds()
    for number in range(30):
        kinds.note(f"http://a.example/c?sid={number}", 0, has_news=False)
    traps = Traps(Canonicalizer())
    traps.note_news(CrawlNews((), (), tuple(kinds.traps()), {}))
    (row,) = traps.rows()
    rules = ast.literal_eval(f"{{{row.setting}}}")
    assert Canonicalizer(rules).skips("http://a.example/c?sid=7")
