from __future__ import annotations

from scrapy_urlcanon.crawl.dropped.summary import summary

FIGURES = {
    "urlcanon/requests": 1_000_000,
    "urlcanon/dropped": 400_000,
    "urlcanon/dropped/exact": 100_000,
    "urlcanon/dropped/variant": 300_000,
    "urlcanon/dropped/scrapy_would_keep": 50_000,
}


def test_summary_has_no_more_than_20_lines():
    """However much there is to say, it is said in 20 lines of 100 characters, each event in one."""
    everything = {f"urlcanon/dropped/rule/{name}": 9 for name in ("www", "scheme", *"abcdefgh")}
    everything |= {f"urlcanon/dropped/domain/{n}.example": n for n in range(20)}
    everything |= {"urlcanon/dropped/domain/other": 4}
    suspended = ("www", "scheme", "skip//a/{id}")
    everything |= {f"urlcanon/audit/suspended/{name}": 1 for name in suspended}
    everything |= dict.fromkeys(
        (
            "urlcanon/rescued",
            "urlcanon/rescue/sent",
            "urlcanon/audited",
            "urlcanon/audit/false_merge",
            "urlcanon/audit/unjudged",
            "urlcanon/seen/skipped",
            "urlcanon/skip/placed",
        ),
        3,
    )
    everything |= {"urlcanon/skipped//?p={id}": 5, "urlcanon/skipped//x": 2}
    lines = summary(FIGURES | everything).splitlines()
    assert len(lines) == 20
    assert max(map(len, lines)) <= 100
    for line in (
        "   350,000    Scrapy alone would have dropped them too",
        "    50,000    Scrapy alone would have fetched them",
        " 1,000,000  requests, 3 of them of the plugin itself",
        "         3  rescued: the URL that was kept failed",
        "         7  skipped: not fetched at all",
        "         3    but their pages, which are known, were requested",
        "         3  suspended: scheme, skip:/a/{id}, www",
        "        72  8 others",
        "       175  others",
    ):
        assert line in lines


def test_summary_of_nothing_is_short():
    """A crawl without duplicates has no tables."""
    figures = dict.fromkeys(FIGURES, 0)
    assert len(summary(figures).splitlines()) == 5


def test_domains_that_have_no_figure_of_their_own_stand_last():
    """However many these are: their number is not known, and their drops are of no one domain."""
    domains = {"urlcanon/dropped/domain/other": 900, "urlcanon/dropped/domain/a.example": 30}
    domains |= {"urlcanon/dropped/domain/b.example": 20, "urlcanon/dropped/domain/c.example": 10}
    *_, first, second, last = summary(FIGURES | domains).splitlines()
    assert [first.split(), second.split()] == [["30", "a.example"], ["20", "b.example"]]
    assert last.split() == ["910", "others"]


def test_all_that_the_audit_fetched_is_counted():
    """What it could not judge was fetched too, and paid for."""
    lines = summary(FIGURES | {"urlcanon/audit/unjudged": 23}).splitlines()
    assert "        23  fetched for the audit too, which could tell nothing of them" in lines


def test_second_visits_are_said():
    """They pass the scheduler by, and a server sees them."""
    lines = summary(FIGURES | {"urlcanon/record/revisited": 13}).splitlines()
    assert "        13  fetched a second time for the store, and not counted above" in lines


def test_figures_of_a_table_add_up():
    """One row more stands in the place of "1 other"."""
    rules = {f"urlcanon/dropped/rule/{name}": 1 for name in "abcde"}
    text = summary(FIGURES | rules)
    assert "other" not in text
    assert text.count("         1  ") == 5
