"""Text in a form field is shown elsewhere too: by the page that the form edits."""

import pytest
from loopback import page
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE
from trap_sites import words

from scrapy_urlcanon.crawl.order.fields import Fields
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.stats import NO_NEWS
from scrapy_urlcanon.novelty.news import SeenLines

RECORDS = 60
NOTES = 160
"""More pages than a crawl fetches without news before it ends."""
TEXT = words("text", 40)


def administration(request):
    """Answer as a list of records, each with a form to edit it and a page."""
    kind, _, number = request.target.removeprefix("/").partition("/")
    if kind == "edit":
        return page(f"<form><label>Text<textarea>{words(number, 60)}</textarea></form>")
    if kind == "record":
        return page(f"<table><tr><td>Text<td>{words(number, 60)}</table>")
    rows = (f"<li><a href=/edit/{n}>e</a><a href=/record/{n}>r</a>" for n in range(RECORDS))
    return page("".join(rows))


@deferred_f_from_coro_f
async def test_records_come_before_the_forms_to_edit_them(crawl):
    """Pages of records come before the forms that have the same text in their fields."""
    hits = (await crawl(administration, {"URLCANON_ORDER": "novelty", **ONE_BY_ONE})).hits
    assert len(hits) == 1 + 2 * RECORDS
    assert sum(hit.startswith("/record/") for hit in hits[: RECORDS + 25]) == RECORDS


@deferred_f_from_coro_f
async def test_crawl_does_not_end_where_all_text_stands_in_fields(crawl):
    """Pages whose text is in fields alone are all fetched; forms that repeat it are left."""

    def respond(request):
        path, _, query = request.target.partition("?")
        notes = "".join(f"<a href=/note/{n}>n</a>" for n in range(NOTES)) if path == "/" else ""
        again = f"<a href={path}?{query}a>again</a>" if notes or query else ""
        return page(f"{notes}<textarea>{words(path, 60)}</textarea>{again}")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05, "CLOSESPIDER_PAGECOUNT": 900}
    result = await crawl(respond, settings)
    assert {f"/note/{n}" for n in range(NOTES)} <= {*result.hits}
    assert result.stats["finish_reason"] == NO_NEWS


def news_of(*bodies):
    """Return the news of the last of these pages."""
    seen = SeenLines(1 << 12)
    for body in bodies:
        response = HtmlResponse("http://a.example/", body=body.encode(), encoding="utf-8")
        said, fields = page_of(response), Fields(response)
        news = seen.news(fields.apart(said.lines, seen.is_known))
        news = fields.weighed(news, said.lines.columns[2])
    return news


def test_text_in_a_field_is_worth_a_fifth_once():
    """Text in a field counts a fifth, once; the page that shows it still counts in full."""
    shown = f"<p>{TEXT} &lt;b&gt;<p>and more"
    form = f"<form><textarea rows=9>\n{TEXT} &lt;b&gt;\n\nand more</textarea></form>"
    assert news_of(form).worth == pytest.approx(news_of(shown).worth / 5)
    assert news_of(form, form).worth == 0
    assert news_of(form, shown) == news_of(shown)
    assert news_of(shown, form).worth == 0


def test_text_that_the_page_shows_beside_its_field_is_new():
    """Text that a page shows, and repeats in a field, counts in full."""
    shown = f"<p>{TEXT}</p>"
    assert news_of(f"{shown}<textarea>{TEXT}</textarea>").worth == news_of(shown).worth


def test_label_stands_in_the_line_of_its_field():
    """The label of a field belongs to its line."""
    form = f"<p><label>Text:</label> <textarea>{TEXT}</textarea></p>"
    assert news_of(form).worth == pytest.approx(news_of(f"<p>Text: {TEXT}").worth / 5)
    assert news_of(f"<p>{TEXT}", form).worth == 0
