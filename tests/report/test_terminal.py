from __future__ import annotations

import io
import json

import pytest
from attrs import evolve
from command_line import urlcanon
from rich.console import Console

from scrapy_urlcanon.crawl.stats import NO_NEWS
from scrapy_urlcanon.report.comparison import compare, show_comparison
from scrapy_urlcanon.report.json_form import from_json, to_json
from scrapy_urlcanon.report.screen import Screen, marked
from scrapy_urlcanon.report.section import show_report
from scrapy_urlcanon.report.sections.domains import OTHER, Domain
from scrapy_urlcanon.report.sections.news import Point
from scrapy_urlcanon.report.sections.options import Entry, Option
from scrapy_urlcanon.report.sections.pages import Group, StepOnUrl, Variant
from scrapy_urlcanon.report.sections.parameters import Parameter
from scrapy_urlcanon.report.sections.software import Software
from scrapy_urlcanon.report.sections.traps import TrapRow

PAGE = "http://example.com/a"


def shown(show, value, *, colour=False):
    """Return what is printed, 100 columns wide."""
    console = Console(
        width=100, color_system="truecolor" if colour else None, force_terminal=colour
    )
    with console.capture() as capture:
        show(value, Screen(console))
    return capture.get()


def test_report_shows_figures_findings_and_pages(report):
    """All parts of the report are there, in plain text too."""
    text = shown(show_report, report)
    for line in (
        "100  requests seen",
        "  7  saved by rules",
        " 60  to fetch",
        "1 option dropped nothing",
        "10  drop_params      Drop parameters that do not select the page",
        "39  example.com  drop_params 10, tracking_params 2",
        "9 requests dropped, for 3 other URLs",
        "5  http://example.com/a[-?sort=name-]  drop_params:sort",
        "linked from http://example.com/list",
        "preset safe                           scheme = 'merge'",
        "URLCANON_RULES  example.com           drop_params = ['sort']",
        "                and 6 other patterns",
    ):
        assert line in text


def test_report_shows_what_was_audited(audited):
    """What was suspended with the line to paste, and a pair with what differed."""
    text = shown(show_report, audited)
    for line in (
        "Was it right?\nOf 6 dropped variants that were fetched anyway, 2 showed",
        "drop_params:sort on example.com  3 of 5 showed another page, 1 cannot be told\n",
        "  suspended. To take it back, add to URLCANON_SPIDER_RULES:\n",
        "    'example.com': {'drop_params': ['!sort']},\n",
        "  http://example.com/a[-?sort=name-]  another\n",
        "    only in the variant    By name\n",
        "    only on the kept page  By date\n                           Newest first\n",
    ):
        assert line in text


def test_entries_stand_below_their_option(report):
    """Which of a list did it."""
    text = shown(show_report, report)
    assert "\n 9    sort" in text
    assert "\n 2    sid" in text


def test_entries_that_are_not_listed_are_counted(changed):
    """Five of them stand below their option, and how many others there are."""
    entries = tuple(Entry(f"name{number}", 9 - number) for number in range(7))
    options = (Option("drop_params", 30, (), entries=entries),)
    text = shown(show_report, changed(options=options))
    assert "name4" in text
    assert "name5" not in text
    assert "and 2 others" in text


@pytest.mark.parametrize(("values", "written"), [(199, "199 values"), (200, "200 or more values")])
def test_values_of_a_parameter_are_counted_up_to_a_limit(changed, values, written):
    """What is said of more is no more than what is known."""
    parameters = (Parameter("example.com", "view", values, 300),)
    text = shown(show_report, changed(parameters=parameters))
    assert f"view on example.com: {written} on 300 fetched pages" in text


def test_heading_has_something_below_it(changed):
    """Where no option dropped anything, nothing is said of options."""
    assert "By option" not in shown(show_report, changed(options=()))


def test_domains_that_are_not_listed_are_summed_up(changed):
    """Their figure is not followed by another one."""
    domains = tuple(Domain(f"{number}.example", 2, 1, 1, {}) for number in range(29))
    assert "38  on 19 other domains\n" in shown(show_report, changed(domains=domains))
    domains += (Domain(OTHER, 500, 0, 500, {}),)
    assert "538  on at least 20 other domains\n" in shown(show_report, changed(domains=domains))


def test_difference_is_marked_by_colours_where_there_are_some(report):
    """What only the dropped URL has is red and struck through, without brackets."""
    text = shown(show_report, report, colour=True)
    assert "\x1b[9;31m?sort=name\x1b[0m" in text
    assert "[-" not in text


def test_nothing_of_a_url_reaches_the_terminal_as_a_command(changed):
    """Escape sequences and console markup of a URL are but text."""
    url = "http://example.com/\x1b[2J[bold]x[/bold]\u202e"
    step = StepOnUrl(url, url, "dropped")
    group = Group(url, url, 1, 1, (Variant(url + "?", 1, (step,)),))
    text = shown(show_report, changed(spider=url, groups=(group,), started=url))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "%1B[2J[bold]x[/bold]%E2%80%AE" in text


def test_markings_read_as_a_word_diff():
    """Without colours brackets tell what is missing and what is added."""
    text = marked("http://www.example.com/", "http://example.com/a", colour=False)
    assert text.plain == "http://[-www.-]example.com/{+a+}"


def test_comparison_shows_what_changed_most_first(report, changed):
    """Figures side by side, and the options and domains that the change comes from."""
    options = tuple(option for option in report.rows(Option) if option.name != "www")
    after = changed(figures={"requests": 80, "rescued": 1}, options=options)
    comparison = compare(report, after)
    changes = {change.name: change.written for change in comparison.figures}
    assert changes == {
        "requests seen": "-20 (-20 %)",
        "same for Scrapy": "same",
        "saved by rules": "same",
        "to fetch": "-20 (-33 %)",
        "rescued": "+1",
    }
    text = shown(show_comparison, comparison)
    assert "   100     80  -20 (-20 %)  requests seen" in text


def test_comparison_has_options_and_domains_of_either_run(report, changed):
    """What one of them does not have is none there, and what changed most comes first."""
    domains = (Domain("example.com", 30, 30, 0, {}), Domain("new.example", 50, 50, 0, {}))
    options = tuple(evolve(option, dropped=12) for option in report.rows(Option)[:1])
    comparison = compare(report, changed(domains=domains, options=options))
    found = {
        change.name: (change.before, change.after)
        for change in (*comparison.domains, *comparison.options)
    }
    assert [change.name for change in comparison.domains] == [
        *("new.example", "example.com", "example.org"),
    ]
    assert found == {
        "new.example": (0, 50),
        "example.com": (39, 30),
        "example.org": (1, 0),
        "drop_params": (10, 12),
        "tracking_params": (2, 0),
        "www": (0, 0),
    }


def test_domain_that_is_among_the_others_of_a_run_is_not_compared(report, changed):
    """It is not known to have had no drops there."""
    domains = (Domain("example.com", 30, 30, 0, {}), Domain(OTHER, 50, 50, 0, {}))
    for runs in ((report, changed(domains=domains)), (changed(domains=domains), report)):
        assert {change.name for change in compare(*runs).domains} == {"example.com", OTHER}


def test_comparison_names_both_runs(report, changed):
    """Whose figures they are, and that those of a run that was cut short are not of all pages."""
    after = changed(spider="shelves", started="2026-02-03T00:00:00+00:00", finish_reason="shutdown")
    text = shown(show_comparison, compare(report, after))
    assert "before  books    2026-01-02 03:04:05 UTC  finished\n" in text
    assert "after   shelves  2026-02-03 00:00:00 UTC  cut short: shutdown\n" in text
    assert "A run that did not finish has not seen the whole site.\n" in text
    assert "did not finish" not in shown(show_comparison, compare(report, report))


def test_crawl_that_a_setting_ended_was_not_cut_short(changed):
    """It did what it was asked for. What it left is not of the site's figures all the same."""
    done = changed(finish_reason=NO_NEWS)
    assert done.ended == "ended by URLCANON_STOP"
    text = shown(show_comparison, compare(done, done))
    assert "cut short" not in text
    assert "A run that did not finish has not seen the whole site.\n" in text


def test_requests_of_the_plugin_stand_below_those_to_fetch(changed):
    """The log counts them among all requests, and the report does not count them as seen."""
    figures = {"requests": 112, "dropped": 60, "dropped/scrapy_would_keep": 30, "audit/fetches": 12}
    lines = shown(show_report, changed(figures=figures)).splitlines()
    assert [line.split("  ")[0].strip() for line in lines[2:7]] == ["100", "30", "18", "52", "12"]
    assert lines[6].endswith("of the plugin")


def test_equal_runs_are_called_equal(report):
    """No change is an answer too."""
    assert "The two runs have the same figures." in shown(show_comparison, compare(report, report))


def test_comparison_of_runs_without_drops_has_no_empty_tables(changed):
    """There is one table, that of the figures."""
    report = changed(domains=(), options=())
    assert shown(show_comparison, compare(report, report)).count("before  after") == 1


def test_commands_read_the_report_of_a_crawl(shop_reports, tmp_path):
    """``report`` shows it, ``--html`` makes the page of it, ``compare`` takes two."""
    path = shop_reports / "report.json"
    done = urlcanon("report", path, cwd=tmp_path)
    assert done.returncode == 0
    assert "saved by rules" in done.stdout
    page = tmp_path / "page.html"
    assert urlcanon("report", path, "--html", page, cwd=tmp_path).returncode == 0
    written = (shop_reports / "shop.html").read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == written
    done = urlcanon("compare", path, path, cwd=tmp_path)
    assert "The two runs have the same figures." in done.stdout


def test_page_of_a_report_does_not_take_its_place(report, tmp_path):
    """The report is what pages are made of, and what the next crawl is compared with."""
    path = tmp_path / "report.json"
    path.write_text(to_json(report), encoding="utf-8")
    done = urlcanon("report", path, "--html", path, cwd=tmp_path)
    assert (done.returncode, from_json(path.read_text(encoding="utf-8"))) == (2, report)
    assert "is an input, and would be overwritten" in done.stderr


def test_page_of_a_report_takes_the_place_of_no_store(report, tmp_path):
    """A file under a name of another kind is one that was meant to be an argument."""
    (tmp_path / "report.json").write_text(to_json(report), encoding="utf-8")
    (tmp_path / "crawl.sqlite").write_text("what a crawl has seen")
    done = urlcanon("report", "report.json", "--html", "crawl.sqlite", cwd=tmp_path)
    assert done.returncode == 2
    assert "crawl.sqlite: expected a name that ends in .html" in done.stderr
    assert (tmp_path / "crawl.sqlite").read_text() == "what a crawl has seen"


@pytest.mark.parametrize("command", [["report"], ["compare"]])
def test_report_that_cannot_be_read_is_one_line(command, report, tmp_path):
    """A newer, edited or truncated report is an error without a traceback."""
    document = json.loads(to_json(report)) | {"version": 99}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = urlcanon(*command, *[path] * (2 if command == ["compare"] else 1), cwd=tmp_path)
    assert done.returncode == 2
    assert "is a report of version 99" in done.stderr
    assert "Traceback" not in done.stderr


def test_ways_to_a_variant_and_its_differences_are_shown(changed):
    """A secret is shown of none, and a redirect is no link."""
    variants = tuple(
        Variant(f"{PAGE}?sid=***", 1, (), redirected_from=f"{PAGE}?go", alike=n) for n in (1, 2)
    )
    text = shown(show_report, changed(groups=(Group(PAGE, "example.com", 2, 2, variants),)))
    assert "[-?sid=***-]  (no. 2 that reads the same)" in text
    assert text.count(f"redirected from {PAGE}?go") == 2


def test_what_a_crawl_found_out_stands_in_the_report_as_figures(report):
    """Programs, news and traps: each section has a heading, and something to act on."""
    software = [Software(f"Wiki {n}", f"{n}.example/", ("generator",), (), ()) for n in range(22)]
    found = {
        Software: tuple(software),
        Point: (Point(10, 60), Point(50, 90), Point(100, 120)),
        TrapRow: (TrapRow("a.example/day/{1}", 40, 3, '"a.example": {"skip": ["/day/{p1}"]},'),),
    }
    figures = {**report.figures, "novelty/left": 1_234}
    text = shown(show_report, evolve(report, figures=figures, contents=report.contents | found))
    for line in (
        "  120  words of news after 100 % of the fetches\n",
        "1,234  requests not fetched, since nothing new was expected\n",
        "Wiki 0 at 0.example/\n  by generator\n",
        "and 12 others\n",
        "        40  a.example/day/{1}  3 new words\n",
        '"a.example": {"skip": ["/day/{p1}"]},\n',
    ):
        assert line in text


def test_runs_that_differ_are_not_called_equal(report, changed):
    """Not where one figure does."""
    text = shown(show_comparison, compare(report, changed(figures={"rescued": 1})))
    assert "the same figures" not in text


def test_lines_are_not_broken_in_a_pipe(changed):
    """Only a terminal has an end of the line; elsewhere a URL can be found and copied."""
    url = "http://example.com/" + "a" * 300
    group = Group(url, "example.com", 1, 1, (Variant(f"{url}?x", 1, ()),))
    lines = shown(show_report, changed(groups=(group,))).splitlines()
    assert url in lines
    assert f"  1  {url}[-?x-]" in lines
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize(("encoding", "bar"), [("utf-8", "██"), ("cp1252", "##"), ("ascii", "##")])
def test_bars_are_of_characters_that_the_output_knows(encoding, bar):
    """Of a report that is written to a file on Windows, bars are no escapes."""
    output = io.TextIOWrapper(io.BytesIO(), encoding)
    assert Screen(Console(file=output)).bar(2.3) == bar
