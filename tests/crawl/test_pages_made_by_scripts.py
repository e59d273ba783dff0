"""Pages that a script makes in a browser, of which the server sends an empty frame."""

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
