from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.sections.domains import Domain
from scrapy_urlcanon.report.sections.findings import findings_of
from scrapy_urlcanon.report.sections.options import Option
from scrapy_urlcanon.report.sections.pages import Group, StepOnUrl, Variant
from scrapy_urlcanon.report.sections.parameters import Parameter
from scrapy_urlcanon.report.sections.rules import text_of
from scrapy_urlcanon.report.sections.summary import HEIGHT, Funnel


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def attributes(self, name):
        """Return the values of an attribute of any tag."""
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def test_page_needs_nothing_else(shop_reports):
    """Nothing is loaded, nothing but our own style and script is allowed."""
    page = Page((shop_reports / "shop.html").read_text(encoding="utf-8"))
    assert page.attributes("src") == []
    assert page.attributes("style") == []
    assert {tag for tag, _ in page.tags}.isdisjoint({"link", "img", "iframe", "object", "base"})
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    (policy,) = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_every_option_leads_to_the_text_of_its_rule(shop_reports):
    """Each link within the page has its target, among them the rules of all options."""
    page = Page((shop_reports / "shop.html").read_text(encoding="utf-8"))
    targets = {link[1:] for link in page.attributes("href") if link.startswith("#")}
    assert targets <= set(page.attributes("id"))
    assert {"rule-drop_params", "rule-sort_query"} <= targets
    assert "it is only as safe as what you know about the site" in page.text


def test_difference_is_marked_inside_the_url(report):
    """A dropped URL has its own part struck through, and only that."""
    html = to_html(report)
    assert "http://example.com/a<del>?sort=name</del></a>" in html
    assert "<del>?sort=date&amp;utm_source=x</del>" in html


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        'http://example.com/"onmouseover="alert(1)',
        "http://example.com/<script>alert(1)</script>",
        "http://example.com/'><img src=x onerror=alert(1)>",
        "http://example.com/{{ 7 * 7 }}{% raw %}",
        "http://example.com/\u202egpj.exe",
    ],
)
def test_hostile_url_is_but_text(report, changed, url):
    """Wherever a text of a crawl stands it makes no tag, no attribute and no link to a script."""
    step = StepOnUrl(url, url, "kept")
    hostile = changed(
        spider=url,
        finish_reason=url,
        started=url,
        options=(Option(url, 1, (url,)),),
        groups=(Group(url, url, 2, 1, (Variant(url + "?x", 1, (step,)),)),),
        parameters=(Parameter(url, url, 3, 3),),
    )
    page, expected = Page(to_html(hostile)), Page(to_html(report))
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in expected.tags} | {"ins"}
    names = {name for _, attrs in expected.tags for name in attrs}
    assert {name for _, attrs in page.tags for name in attrs} <= names
    links = [link for link in page.attributes("href") if not link.startswith("#")]
    assert all(link.startswith("http://example.com/") for link in links)
    assert "\u202e" not in page.text
    assert "49" not in page.text


def test_redacted_url_is_no_link(changed):
    """A URL that is not whole leads nowhere."""
    variant = Variant("http://example.com/?sid=***", 1, ())
    html = to_html(
        changed(groups=(Group("http://***@example.com/", "example.com", 1, 1, (variant,)),))
    )
    assert "example.com/?sid" not in "".join(Page(html).attributes("href"))


def test_page_mentions_redaction_only_where_something_is_redacted(report, changed):
    """No word about what is not there."""
    assert "***" not in Page(to_html(report)).text
    variant = Variant("http://example.com/?sid=***", 1, (), alike=2)
    hidden = changed(groups=(Group("http://example.com/", "example.com", 1, 1, (variant,)),))
    text = " ".join(Page(to_html(hidden)).text.split())
    assert "http://example.com/?sid=*** no. 2 that reads the same" in text
    assert "Where *** stands, userinfo or the value of a parameter" in text


def test_domain_leads_to_its_first_page(report, changed):
    """Without the script too; a domain without pages leads nowhere."""
    (group,) = report.rows(Group)
    other = Group("http://www.example.org/", "example.org", 1, 1, ())
    domains = (*report.rows(Domain), Domain("example.net", 1, 1, 0, {}))
    page = Page(to_html(changed(groups=(group, other, other), domains=domains)))
    links = [link for link in page.attributes("href") if link.startswith("#pages-of-")]
    assert links == ["#pages-of-example.com", "#pages-of-example.org"]
    assert page.attributes("id").count("pages-of-example.org") == 1
    assert "2 pages of example.org" in " ".join(page.text.split())


def test_entries_stand_below_their_option(report):
    """Which of a list did it, and in each variant."""
    page = Page(to_html(report))
    text = " ".join(page.text.split())
    assert "drop_params 10 URLCANON_RULES['example.com'] drop_params: sort 9" in text
    assert "?sort=name drop_params sort URLCANON_RULES['example.com']" in text


def test_suspended_rules_are_worth_a_look(audited):
    """With their domain."""
    finding = findings_of(audited)[0]
    assert finding.is_warning
    assert finding.examples == ("drop_params:sort on example.com",)


def test_report_of_nothing_is_a_page_too(changed):
    """A crawl without requests, drops or rules is said to be one."""
    figures = dict.fromkeys(("requests", "dropped", "dropped/exact", "dropped/variant"), 0)
    html = to_html(
        changed(figures=figures, options=(), domains=(), groups=(), parameters=(), started="")
    )
    text = " ".join(Page(html).text.split())
    assert "There were no requests." in text
    assert "No option dropped anything." in text


@pytest.mark.parametrize(
    ("seen", "same", "saved"), [(10, 4, 1), (10_000_000, 1, 1), (3, 3, 0), (5, 0, 0), (5, 0, 5)]
)
def test_streams_of_the_funnel_fit(seen, same, saved):
    """No stream is missing, negative, or outside of the drawing."""
    funnel = Funnel(seen, same, saved)
    streams = {stream.name: stream for stream in funnel.streams()}
    for name, count in (("same", same), ("saved", saved), ("fetched", funnel.to_fetch)):
        assert (streams[name].height > 0) == (count > 0)
        assert streams[name].right_top >= 0
        assert streams[name].right_top + streams[name].height <= HEIGHT + 10


def titles(report):
    return [finding.title for finding in findings_of(report)]


def test_worth_a_look_shows_what_is_there(report):
    """Options that did nothing and parameters without a rule are always worth a look."""
    assert titles(report) == [
        "1 option dropped nothing",
        "Parameters that vary most, and have no rule",
    ]


@pytest.mark.parametrize(
    ("figures", "title"),
    [
        ({"rescued": 2}, "2 pages rescued"),
        ({"audited": 9, "audit/false_merge": 1}, "1 audit found another page than the one kept"),
        ({"audit/suspended/www": 1}, "1 rule suspended during the crawl"),
        ({"redirect_hops": 3}, "3 redirects to the canonical form of their own URL"),
        ({"unparsable": 1}, "1 URL could not be parsed"),
        ({"skipped//?p={id}": 2, "skipped//x": 1}, "3 requests skipped"),
    ],
)
def test_worth_a_look_follows_the_stats(changed, figures, title):
    """Rescues, audits, redirect hops and unparsable URLs show where they were counted."""
    assert title in titles(changed(figures=figures))


@pytest.mark.parametrize(("rewritable", "is_offered"), [(0, False), (1, True), (3, True)])
def test_rewriting_is_offered_where_it_saves_a_request(changed, rewritable, is_offered):
    """A site that redirects `/x` to `/x/`, of which the rules make `/x`, does so with it too."""
    figures = {"redirect_hops": 3, "redirect_hops/rewritable": rewritable}
    (finding,) = (
        found for found in findings_of(changed(figures=figures)) if "redirects" in found.title
    )
    assert ("URLCANON_REWRITE" in finding.text) is is_offered


def test_very_large_groups_come_first(changed, report):
    """A page with very many URLs is a warning, before all that is none."""
    (group,) = report.rows(Group)
    large = Group(group.kept, group.domain, 600, 256, group.variants)
    findings = findings_of(changed(groups=(large,)))
    assert findings[0].is_warning
    assert findings[0].text.startswith("At least 256 URLs of one page are a trap")
    assert findings[0].examples == (group.kept,)
    page = Page(to_html(changed(groups=(large,))))
    assert "for at least 256 other URLs" in " ".join(page.text.split())
    smaller = Group(group.kept, group.domain, 600, 255, group.variants)
    assert findings_of(changed(groups=(smaller,)))[0].text.startswith("Up to 255 URLs of one page")


def test_text_of_a_rule_has_its_parts():
    """What it does, why it is safe and when it is wrong, with the names marked as code."""
    blocks = text_of("drop_params")
    assert [block.lead for block in blocks if block.lead] == [
        "What it does",
        "Why it is safe",
        "When it is wrong",
    ]
    codes = [span.text for block in blocks for span in block.spans if span.is_code]
    assert "keep_params" in codes
    assert not any(re.search("`", span.text) for block in blocks for span in block.spans)
