"""Pages that a script makes in a browser, of which the server sends an empty frame."""

import json
import logging

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, shop
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links
from trap_sites import words

APP = "<div id=root></div><script src=/app.js></script>"
IDS = [f"/p?id={n}" for n in range(30)]


@deferred_f_from_coro_f
async def test_pages_that_a_script_makes_are_no_proof(crawl):
    """Pages with one title and no text do not prove a wrong rule right."""

    def app(request, _):
        return page(f"<title>App</title><div></div><script>show('{request.query}')</script>")

    result = await crawl(shop(IDS, app), {**WRONG, **SETTINGS})
    assert "audited" not in result.figures
    assert result.figures["audit/rule/drop_params:id/site.example/same"] == 0
    assert result.figures["audit/rule/drop_params:id/site.example/cannot_tell"] >= 3
    assert len(result.pages) >= 5


@pytest.mark.parametrize(
    "made_of",
    [
        APP,
        "<title>App</title><div id=app data-page='{}'></div>",
        "<title>App</title><x-product number='{}'></x-product>",
    ],
)
@deferred_f_from_coro_f
async def test_nothing_that_is_shown_is_no_proof(crawl, made_of):
    """Nor do pages whose content is in attributes, or in the URL alone."""
    respond = shop(IDS, lambda request, _: page(made_of.format(request.query)))
    result = await crawl(respond, {**WRONG, **SETTINGS})
    assert "audited" not in result.figures
    # The audited ones among them.
    assert len(result.pages) >= 5


@pytest.mark.parametrize("frame", [APP, f"<title>App</title>{APP}", f"<p>Menu{APP}"])
@deferred_f_from_coro_f
async def test_empty_frames_that_declare_canonicals_prove_nothing(crawl, frame):
    """Empty frames do not prove declared canonicals: both URLs of each are fetched."""

    def respond(request):
        if not request.query:
            number = int(request.path[4:] or 0)
            urls = [f"/p?id={n}{ref}" for ref in ("&ref=a", "") for n in range(number, number + 4)]
            return links(*urls, *([f"/hub{number + 4}"] if number < 40 else []))
        canonical = request.target.removesuffix("&ref=a")
        return page(f"<link rel=canonical href='{canonical}'>{frame}")

    result = await crawl(respond, {**SETTINGS, "URLCANON_DECLARED_CANONICAL": True})
    assert len([url for url in result.pages if "id=" in url]) == 2 * 44


@deferred_f_from_coro_f
async def test_one_content_alone_leaves_a_rule_open(crawl, caplog):
    """One content at many URLs leaves a rule unproved."""
    caplog.set_level(logging.INFO)
    respond = shop(IDS, lambda *_: page(f"<title>App</title>{APP}"))
    result = await crawl(respond, {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.figures["audit/rule/drop_params:id/site.example/same"] == 29
    assert result.figures["audit/rule/drop_params:id/site.example/outcome"] == "open"
    assert "drop_params:id on site.example: open, by one content alone" in caplog.text
    # Not promised: what tells these pages apart is nowhere in what is fetched.
    assert len(result.pages) == 2


@deferred_f_from_coro_f
async def test_titles_prove_a_right_rule(crawl):
    """Titles prove a rule if each page has its own."""
    urls = [f"/p{n}?sid={m}" for n in range(30) for m in range(2)]
    respond = shop(urls, lambda request, _: page(f"<title>The {request.path} shoes</title>{APP}"))
    result = await crawl(respond, {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.figures["audit/rule/drop_params:sid/site.example/outcome"] == "holds"


@pytest.mark.parametrize(
    "form",
    [
        "<svg><g><text x=1>{}</text></g></svg>",
        "<x-card><template shadowrootmode=open><p>{}</template></x-card>",
    ],
    ids=["drawing", "shadow root"],
)
@deferred_f_from_coro_f
async def test_wrong_rule_over_text_that_is_drawn_or_in_a_shadow_root(crawl, form):
    """Text in SVG or a shadow root is read, and shows that a rule is wrong."""

    def answer(request, _):
        return page("<title>Shop</title>" + form.format(words(request.query, 8)))

    urls = [f"/p?id={number}" for number in range(60)]
    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])


EMBEDDED = {
    "data for search engines": '{menu}<script type="application/ld+json">{data}</script>',
    "state in JSON": '{menu}<div id=app></div><script type="application/json">{data}</script>',
    "state in a program": "{menu}<div id=app></div><script>STATE = {data}; now = {count}</script>",
    "no text": "<title>App</title><div id=app></div><script>push({data}, {nonce})</script>",
    "attribute": "<title>App</title><div id=app data-page='{data}'></div>",
}


def made_of(form, name, count, way=""):
    """Return a page with data about *name*; *count* and a nonce change at each visit."""
    labels = [words(f"label {number}", 3) for number in range(40)]
    data = {"name": words(name, 12), "asked": way, "sorted": words(way, 2), "labels": labels}
    shown = {"data": json.dumps(data), "count": count, "nonce": json.dumps(words(str(count), 2))}
    return page(form.format(menu=f"<title>Shop</title><p>{words('menu', 30)}", **shown))


@pytest.mark.parametrize("form", EMBEDDED.values(), ids=[*EMBEDDED])
@pytest.mark.parametrize("path", ["/p", "/p{}"], ids=["one page", "several pages"])
@deferred_f_from_coro_f
async def test_wrong_rule_over_data_from_which_scripts_make_the_pages(crawl, form, path):
    """Pages of one text with other data for scripts are found to differ, and none is lost."""
    urls = [f"{path.format(number // 5)}?id={number}" for number in range(30)]
    respond = shop(urls, lambda request, count: made_of(form, request.query, count))
    result = await crawl(respond, {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert len(result.hits) <= 31 + 9


@pytest.mark.parametrize("form", EMBEDDED.values(), ids=[*EMBEDDED])
@deferred_f_from_coro_f
async def test_right_rule_over_data_that_say_how_a_page_was_reached(crawl, form):
    """Data for scripts may have the query and how a page is sorted, without being two pages."""
    urls = [f"/p{n}?sid={words(f'way {way}', 9).replace(' ', '+')}" for way in "abc" for n in "123"]

    def answer(request, count):
        return made_of(form, request.path, count, request.query[4:].replace("+", " "))

    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert not any("suspended" in figure for figure in result.figures)


@deferred_f_from_coro_f
async def test_data_of_which_most_change_at_each_visit_tell_no_wrong_rule(crawl):
    """Data for scripts that are drawn anew at each visit do not make two pages of one."""

    def answer(_, count):
        offers = [words(f"offer {count * number % 7}", 9) for number in range(6)]
        menu = f"<title>Shop</title><p>{words('menu', 30)}"
        return page(f"{menu}<script>offers = {json.dumps(offers)}</script>")

    result = await crawl(shop(IDS, answer), {**WRONG, **SETTINGS})
    assert result.figures["audit/rule/drop_params:id/site.example/another"] == 0
