"""The report in a real browser: Chromium, without a window."""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64decode
from importlib.resources import files

import pytest
from attrs import evolve

from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.sections.audit import AuditedRule
from scrapy_urlcanon.report.sections.domains import Domain
from scrapy_urlcanon.report.sections.news import Point
from scrapy_urlcanon.report.sections.pages import Group, StepOnUrl, Variant
from scrapy_urlcanon.report.sections.software import Software
from scrapy_urlcanon.report.sections.traps import TrapRow

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMEDRIVER = shutil.which("chromedriver")

PHONE, PAPER, DESKTOP = 320, 720, 1200
EACH_WIDTH = [PHONE, pytest.param(DESKTOP, marks=pytest.mark.long)]


@pytest.fixture(scope="module")
def browser():
    """Start Chromium, or skip."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    if not CHROMIUM or not CHROMEDRIVER:
        pytest.skip("needs Chromium and its driver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
    # axe takes its time where other tests run beside it.
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a report and returns the browser."""

    def open_report(html, *, width=DESKTOP, scheme="light", motion="reduce", place=""):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE},
        )
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {
                "features": [
                    {"name": "prefers-color-scheme", "value": scheme},
                    # Where the page glides, a click meets what has moved on.
                    {"name": "prefers-reduced-motion", "value": motion},
                ]
            },
        )
        browser.get("about:blank")
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(path.as_uri() + place)
        return browser

    return open_report


@pytest.fixture(scope="module")
def shop_report(shop_reports, audited):
    """Return the report of the example site, with domains to sort and search, and an audit."""
    report = read_report(shop_reports / "report.json")
    domains = (
        *report.rows(Domain),
        Domain("books.example", 90, 80, 10, {"www": 10}),
        Domain("arts.example", 900, 0, 900, {"www": 900}),
    )
    # A browser takes its time for each page that is listed.
    groups = report.rows(Group)[:45]
    own = {Domain: domains, AuditedRule: audited.rows(AuditedRule), Group: groups}
    contents = {**report.contents, **own}
    return evolve(report, figures=audited.figures | report.figures, contents=contents)


@pytest.fixture(scope="module")
def shop(shop_report):
    """Return the page of that report."""
    return to_html(shop_report)


@pytest.fixture(scope="module")
def short(shop_report):
    """Return the page of as many groups as are not all shown, each of a few variants.

    It has all other sections too, also those of an ordered crawl.
    """
    groups = tuple(
        evolve(group, variants=group.variants[:2]) for group in shop_report.rows(Group)[:21]
    )
    line = '"shop.example": {"skip": ["/a/path/that/is/longer/than/a/phone/is/wide?page={q0}"]},'
    found = {
        Group: groups,
        Point: (Point(10, 60), Point(100, 120)),
        TrapRow: (TrapRow("shop.example/a/path/that/is/longer/than/a/phone?page=", 9, 0, line),),
        Software: (Software("Wiki", "shop.example/", ("generator",), ("titles",), (line,)),),
    }
    deciles = {f"novelty/decile/0/{name}": 9 for name in ("fetches", "expected", "observed")}
    return to_html(
        evolve(
            shop_report,
            contents=shop_report.contents | found,
            figures={**shop_report.figures, **deciles},
        )
    )


@pytest.fixture(scope="module")
def many(report):
    """Return a report of a thousand domains and a hundred pages, each of a height of its own."""
    step = StepOnUrl("drop_params", "URLCANON_RULES['example.com']", "dropped")
    groups = tuple(
        Group(
            f"http://example.com/{number}",
            *("example.com", 10, 10),
            tuple(
                Variant(f"http://example.com/{number}?{'x' * 250}={n}", 1, (step,))
                for n in range(number % 2 * 9 + 1)
            ),
        )
        for number in range(100)
    )
    domains = tuple(Domain(f"{n:03}.example", 2000 - n, 0, 2000 - n, {}) for n in range(1000))
    return to_html(evolve(report, contents=report.contents | {Domain: domains, Group: groups}))


# Asked once for all elements: of a thousand, one by one, that would take twenty seconds.
VISIBLE = """
const all = [...document.querySelectorAll(arguments[0])];
return all.filter((one) => one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}));
"""


def css(browser, selector):
    """Return the visible elements."""
    return browser.execute_script(VISIBLE, selector)


def requests(browser):
    """Return the URLs that the browser asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def domains(browser):
    """Return the names of the domains that are visible."""
    rows = css(browser, "tr.domain")
    return browser.execute_script("return arguments[0].map((row) => row.dataset.name)", rows)


def test_nothing_is_loaded_and_nothing_complains(show, shop):
    """The page is its only request, and the console is empty."""
    browser = show(shop)
    assert requests(browser) == [browser.current_url]
    assert browser.get_log("browser") == []


def test_domains_are_sorted_by_a_click(show, shop):
    """A heading sorts by its column, a second click the other way round, and says so."""
    browser = show(shop)
    assert domains(browser)[0] == "shop.example"
    name, dropped = css(browser, "th[data-key=name]")[0], css(browser, "th[data-key=dropped]")[0]
    name.find_element("css selector", "button").click()
    assert domains(browser) == ["arts.example", "books.example", "shop.example"]
    assert name.get_attribute("aria-sort") == "ascending"
    assert dropped.get_attribute("aria-sort") is None
    name.find_element("css selector", "button").click()
    assert domains(browser) == ["shop.example", "books.example", "arts.example"]
    dropped.find_element("css selector", "button").click()
    assert domains(browser) == ["shop.example", "arts.example", "books.example"]


def test_domains_are_searched(show, shop):
    """What does not match is hidden, and that nothing matches is said."""
    browser = show(shop)
    search = css(browser, "[data-filter=domain]")[0]
    search.send_keys("BOOKS")
    assert domains(browser) == ["books.example"]
    search.send_keys("nowhere")
    assert domains(browser) == []
    assert css(browser, "[data-none=domain]")[0].text == "No domain matches."


def test_pages_are_searched_by_url_and_option(show, shop):
    """Words that all occur in a group find it; the others come 20 at a time."""
    browser = show(shop)
    assert len(css(browser, ".group")) == 20
    css(browser, "[data-more=group]")[0].click()
    assert len(css(browser, ".group")) == 40
    css(browser, "[data-filter=group]")[0].send_keys("index.html directory_index")
    found = css(browser, ".group")
    assert found
    assert all("directory_index" in group.text for group in found)


def test_link_of_an_option_opens_the_text_of_its_rule(show, shop):
    """The text is folded, and is there when it is asked for."""
    browser = show(shop)
    assert not css(browser, "#rule-drop_params .text")
    css(browser, "#options a[href='#rule-drop_params']")[0].click()
    assert "When it is wrong" in css(browser, "#rule-drop_params .text")[0].text


# Counted in frames: on a machine at work a page that glides stands still for longer than a while.
SETTLED = """
const [selector, done] = arguments;
const place = () => document.querySelector(selector).getBoundingClientRect().top;
let before = null, still = 0;
const look = () => {
    const top = place();
    still = top === before ? still + 1 : 0;
    before = top;
    still < 30 ? requestAnimationFrame(look) : done(top);
};
look();
"""


def settled(browser, selector):
    """Return where on the screen the element is once the page no longer moves."""
    return browser.execute_async_script(SETTLED, selector)


@pytest.mark.parametrize("width", EACH_WIDTH)
def test_link_leads_to_its_place_at_the_first_click(show, many, width):
    """Where the page glides too, and where it is opened at that place."""
    for link in ("#pages", "#rule-tracking_params"):
        browser = show(many, width=width, motion="no-preference")
        browser.execute_script("arguments[0].click()", css(browser, f"a[href='{link}']")[0])
        assert abs(settled(browser, link)) < 200
    browser = show(many, width=width, motion="no-preference", place="#rule-drop_params")
    assert abs(settled(browser, "#rule-drop_params")) < 200


def test_domains_do_not_stand_before_the_pages(show, many):
    """Ten are there at first, in whatever order, and the others when they are asked for."""
    browser = show(many)
    assert len(domains(browser)) == 10
    css(browser, "th[data-key=name] button")[0].click()
    assert domains(browser) == [f"{number:03}.example" for number in range(10)]
    css(browser, "[data-more=domain]")[0].click()
    assert len(domains(browser)) == 20
    css(browser, "[data-filter=domain]")[0].send_keys("999")
    assert domains(browser) == ["999.example"]


def test_reading_goes_on_at_the_first_that_is_new(show, many):
    """With the keyboard and by ear: the button that showed it has moved, or is hidden."""
    browser = show(many)
    for kind in "domain", "group":
        (more,) = css(browser, f"[data-more={kind}]")
        before = css(browser, f".{kind}")
        more.send_keys("\n")
        (first, *_) = [element for element in css(browser, f".{kind}") if element not in before]
        assert browser.switch_to.active_element == first


@pytest.mark.parametrize("width", EACH_WIDTH)
def test_audit_is_the_answer_to_whether_it_was_right(show, shop, width):
    """Its link leads there; what was suspended is open, with the line, and with what differed."""
    browser = show(shop, width=width)
    css(browser, "a[href='#audit']")[0].click()
    assert abs(settled(browser, "#audit")) < 200
    (wrong,) = css(browser, ".audited")
    assert "drop_params:sort on example.com suspended 3 of 5 showed another page" in " ".join(
        wrong.text.split()
    )
    assert css(browser, ".audited pre")[0].text == "'example.com': {'drop_params': ['!sort']},"
    assert [line.text for line in css(browser, ".lines dd")] == [
        *("By name", "By date", "Newest first")
    ]
    assert [verdict.text for verdict in css(browser, ".verdict")] == ["another", "cannot tell"]


def test_domain_leads_to_its_pages(show, changed, report):
    """With the keyboard: those alone, wherever they stand, until all are asked for."""
    groups = tuple(
        Group(f"http://www.{name}/{number}", name, 9 - number, 1, report.rows(Group)[0].variants)
        for number in range(30)
        for name in ("example.com", "example.org")
    )
    browser = show(to_html(changed(groups=groups)))
    link = css(browser, "tr[data-name='example.org'] a")[0]
    assert link.text.startswith("30 pages")
    link.send_keys("\n")
    # The page hears of its new address later than the key.
    assert abs(settled(browser, "#pages")) < 200
    shown = css(browser, ".group")
    assert {group.get_attribute("data-domain") for group in shown} == {"example.org"}
    assert len(shown) == 20
    assert css(browser, "[data-only]")[0].text == "Only those of example.org. Show all pages"
    browser.switch_to.active_element.send_keys("\n")
    assert {group.get_attribute("data-domain") for group in css(browser, ".group")} == {
        "example.com",
        "example.org",
    }
    assert not css(browser, "[data-only]")


def test_page_is_usable_without_its_script(show, many):
    """The domains beyond the first are folded, and a link leads from each to its pages."""
    browser = show(many)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.refresh()
        assert len(domains(browser)) == 10
        assert css(browser, ".rest summary")[0].text == "990 other domains"
        assert len(css(browser, ".group")) == 100
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_paper_says_how_much_of_the_page_is_not_on_it(show, many):
    """It has what the screen showed, where nobody can ask for the rest."""
    browser = show(many)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert css(browser, "[data-more]") == []
        assert [
            browser.execute_script(
                "return getComputedStyle(arguments[0], '::after').content", element
            )
            for element in css(browser, ".more")
        ] == [f'"{rest} more, which the screen did not show"' for rest in (990, 80)]
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("kind", [Group, AuditedRule])
def test_paper_is_filled(show, audited, kind):
    """What does not fit on a page begins there all the same: no page is left half empty."""
    (group,), (rule,) = audited.rows(Group), audited.rows(AuditedRule)
    tall = {
        Group: (Group(group.kept, group.domain, 99, 10, 5 * group.variants), ".group"),
        AuditedRule: (evolve(rule, pairs=5 * rule.pairs), ".audited"),
    }
    one, selector = tall[kind]
    many = evolve(audited, contents=audited.contents | {kind: 20 * (one,)})
    browser = show(to_html(many), width=PAPER)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    whole = browser.execute_script("return document.documentElement.scrollHeight")
    # Of a page that is two thirds of the paper, the next one does not fit beneath it.
    height = 1.5 * css(browser, selector)[0].size["height"]
    size = {"paperWidth": PAPER / 96, "paperHeight": height / 96}
    margins = dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0)
    printed = browser.execute_cdp_cmd("Page.printToPDF", size | margins)
    sheets = len(re.findall(rb"/Type\s*/Page\b", b64decode(printed["data"])))
    assert sheets < 1.15 * whole / height + 1


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (PHONE, "dark"),
        (DESKTOP, "light"),
        pytest.param(PHONE, "light", marks=pytest.mark.long),
        pytest.param(DESKTOP, "dark", marks=pytest.mark.long),
    ],
)
def test_page_fits_and_is_accessible(show, short, width, scheme):
    """No sideways scrolling, and axe finds no fault: contrast, names, order, roles."""
    axe = pytest.importorskip("axe_core_python", reason="needs axe-core-python")
    browser = show(short, width=width, scheme=scheme)
    for details in browser.find_elements("css selector", "details"):
        browser.execute_script("arguments[0].open = true", details)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    # In the page and not of it: its policy holds for scripts of its own.
    browser.execute_script(files(axe).joinpath("axe.min.js").read_text("utf-8"))
    # It names each node that a rule finds no fault with, unless it is told that none is asked for.
    result = browser.execute_async_script(
        "axe.run({resultTypes: ['violations']}).then(arguments[0])"
    )
    found = [
        (one["id"], [node["html"] for node in one["nodes"][:3]]) for one in result["violations"]
    ]
    assert found == []


def test_colours_follow_the_scheme(show, shop):
    """Dark paper where dark is preferred, light paper otherwise."""
    paper = "return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"
    assert min(show(shop).execute_script(paper)) > 200
    assert max(show(shop, scheme="dark").execute_script(paper)) < 60


@pytest.mark.parametrize("width", EACH_WIDTH)
def test_hostile_urls_do_nothing(show, changed, width):
    """Nothing executes, nothing is loaded, nothing breaks out of its place."""
    urls = [
        "javascript:document.title='hit'",
        "http://example.com/<script>document.title='hit'</script>",
        "http://example.com/\"><img src=x onerror=document.title='hit'>",
        "http://example.com/\u202e\u2066moc.elpmaxe",
        "http://example.com/?q=" + 100_000 * "a",
        "http://example.com/" + 3_000 * "</bdi></article>",
        "http://example.com/?" + "&".join(f"p{number}={number}" for number in range(2_000)),
    ]
    step = StepOnUrl("drop_params", urls[1], "dropped")
    groups = tuple(
        Group(kept, urls[2], 9, 1, (Variant(url, 1, (step,)),))
        for kept, url in zip(urls, reversed(urls), strict=True)
    )
    browser = show(
        to_html(changed(groups=groups, domains=(Domain(urls[4], 1, 1, 0, {}),))), width=width
    )
    assert browser.title == "books: what was dropped, and why"
    assert requests(browser) == [browser.current_url]
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_script(
        "for (const group of document.querySelectorAll('.group'))"
        " group.style.contentVisibility = 'visible'"
    )
    for group in css(browser, ".group"):
        assert group.size["height"] < 700
    assert len(css(browser, ".group")) == len(groups)
    assert browser.find_elements("css selector", "footer")[0].rect["x"] >= 0
