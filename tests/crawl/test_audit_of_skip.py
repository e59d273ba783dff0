"""The audit of `skip` checks whether the pages of skipped URLs are found under other URLs."""

import logging

import pytest
from audited_shop import SETTINGS, audits, product
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links

from scrapy_urlcanon.crawl.checks import skipped_pages

SKIP = {**SETTINGS, "URLCANON_RULES": {"site.example": {"skip": ["/?p={id:digits}"]}}}
SUSPENDED = "audit/suspended/skip//?p={id:digits}"
NUMBERS = range(1, 13)


def site(show, *, articles=NUMBERS, article=product):
    """Return a site that links the skipped URLs first, and then the *articles*.

    :param show: returns what the skipped URL of each number shows.
    """
    short, own = [f"/?p={n}" for n in NUMBERS], [f"/article/{n}" for n in articles]

    def respond(request):
        if request.target == "/":
            return links(*short, *own)
        if request.target in short:
            return show(int(request.query.removeprefix("p=")))
        return article(int(request.target.rpartition("/")[2]))

    return respond


def log_in(_):
    """Return a log-in form that stands in place of any page."""
    return page("<title>Log in</title><p>Who are you? Say it, and which word opens the door.</p>")


def untitled(number):
    """Return a page without a title, which differs from others in its text alone."""
    return page("<nav>Home Shop</nav><p>" + " ".join(f"word{number}x{n}" for n in range(20)))


@pytest.mark.parametrize(
    "show",
    [product, lambda n: redirect(f"{SITE}/article/{n}"), lambda n: product(n, seed=n)],
    ids=["same", "redirect", "moving"],
)
@deferred_f_from_coro_f
async def test_right_rule_costs_some_fetches(crawl, show):
    """A right `skip` costs ten audits, and none of the pages reaches the spider twice."""
    result = await crawl(site(show), SKIP)
    assert sorted(result.pages) == sorted(["/", *(f"/article/{n}" for n in NUMBERS)])
    assert audits(result.figures) == {"audited": 10}
    assert sum(hit.startswith("/?p=") for hit in result.hits) == 10


@pytest.mark.parametrize("articles", [[], [2, 5, 6, 9]], ids=["all", "some"])
@pytest.mark.parametrize("made", [product, untitled])
@deferred_f_from_coro_f
async def test_wrong_rule_is_suspended_and_no_page_is_lost(crawl, caplog, made, articles):
    """A `skip` whose pages are nowhere else is suspended, and all of them are fetched.

    The warning has the lines that take the rule back.
    """
    with caplog.at_level(logging.WARNING):
        result = await crawl(site(made, articles=articles, article=made), SKIP)
    lacking = {f"/?p={n}" for n in NUMBERS if n not in articles}
    assert lacking <= {*result.pages}
    assert {f"/article/{n}" for n in articles} <= {*result.pages}
    assert result.figures[SUSPENDED] == 1
    (warning,) = (r.getMessage() for r in caplog.records if "is off for" in r.message)
    assert "showed what no other URL does, for example http://site.example/?p=" in warning
    assert "'override': {'skip': ['!/?p={id:digits}']}" in warning


@pytest.mark.parametrize(("is_there", "is_suspended"), [(False, 1), (True, 0)])
@deferred_f_from_coro_f
async def test_first_run_of_those_whose_pages_are_kept_knows_all_pages(
    crawl, is_there, is_suspended
):
    """With URLCANON_SEEN only the first run can find that a skipped page is nowhere else.

    In later runs it may be a page that an earlier run got.
    """
    settings = {**SKIP, "URLCANON_SEEN": "%(name)s.sqlite"}
    if is_there:
        await crawl(site(product), settings, start=[f"{SITE}/article/1"])
    result = await crawl(site(product, articles=()), settings)
    assert result.figures.get(SUSPENDED, 0) == is_suspended


@pytest.mark.parametrize(("most", "is_suspended"), [(4, False), (6, True)])
@deferred_f_from_coro_f
async def test_of_more_pages_than_are_looked_at_one_may_be_the_same(
    crawl, monkeypatch, most, is_suspended
):
    """If too many pages have no title to be compared one by one, there is no verdict."""
    monkeypatch.setattr(skipped_pages, "_MOST_LIKE", most)
    result = await crawl(site(untitled, articles=[2, 5, 6, 9], article=untitled), SKIP)
    assert (SUSPENDED in result.figures) is is_suspended


@deferred_f_from_coro_f
async def test_form_that_stands_in_the_place_of_all_is_one_page(crawl):
    """One log-in form in place of all skipped pages suspends nothing, and is passed on once."""
    result = await crawl(site(log_in, articles=[]), SKIP)
    assert len(result.pages) == 2
    assert SUSPENDED not in result.figures


@deferred_f_from_coro_f
async def test_next_run_of_a_job_knows_what_the_last_one_has_got(crawl, tmp_path):
    """The next run of a job knows the pages of the last one when it judges a `skip`."""
    job = {**SKIP, "JOBDIR": str(tmp_path / "right" / "job")}
    own = [f"/article/{n}" for n in NUMBERS]
    right = site(product)
    await crawl(right, {**job, "CLOSESPIDER_PAGECOUNT": 10})
    second = await crawl(right, job)
    assert second.pages
    assert {*second.pages} <= {*own}
    assert SUSPENDED not in second.figures

    job = {**SKIP, "JOBDIR": str(tmp_path / "wrong" / "job")}
    wrong = site(product, articles=[2, 5])
    first = await crawl(wrong, {**job, "CLOSESPIDER_PAGECOUNT": 1})
    second = await crawl(wrong, job)
    assert {f"/?p={n}" for n in NUMBERS if n not in {2, 5}} <= {*first.pages, *second.pages}


@deferred_f_from_coro_f
async def test_report_shows_what_was_found(crawl, tmp_path):
    """The report shows that a `skip` was wrong, where it is written, and how to take it back."""
    path = tmp_path / "report.html"
    await crawl(site(product, articles=[2]), {**SKIP, "URLCANON_REPORT": str(path)})
    text = path.read_text(encoding="utf-8")
    assert "it is skipped, and no other URL shows it" in text
    assert 'written in <bdi dir="ltr" class="layer">URLCANON_RULES' in text
    assert "&#39;Was it right?&#39; says of some" in text


@deferred_f_from_coro_f
async def test_report_leaves_out_what_cannot_be_judged(crawl, tmp_path):
    """An error at a skipped URL is not reported as a page that no other URL shows."""
    path = tmp_path / "report.html"
    show = site(lambda _: page("", status=404))
    await crawl(show, {**SKIP, "URLCANON_REPORT": str(path)})
    text = path.read_text(encoding="utf-8")
    assert '<p class="way">it is skipped</p>' in text
    assert "no other URL shows it" not in text
