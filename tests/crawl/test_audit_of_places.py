"""A place on the page that is noise on most pages may be what another page is about."""

from itertools import count

import pytest
from audited_shop import SETTINGS
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links
from trap_sites import words

ARTICLES = [f"/a{n}{query}" for n in range(12) for query in ("", "?sid=1", "?sid=2")]
QUOTATIONS = ["/quotations", *(f"/quotations?id={n}" for n in range(12))]
RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid", "id"]}}}


@pytest.mark.parametrize("share", [1e-9, 1])
@deferred_f_from_coro_f
async def test_quotation_that_a_page_is_about_stands_where_others_have_one_by_chance(crawl, share):
    """A random quotation on all other pages does not make the quotation of this page noise.

    So a line is never taken for noise because of the lines around it: the page of each quotation
    has nothing else of its own, and shares its title with the page of a random one.
    """
    visits = count()

    def respond(request):
        if request.target == "/":
            return links(*ARTICLES, *QUOTATIONS)
        is_chosen = request.query.startswith("id=")
        name = request.query if is_chosen else f"at visit {next(visits)}"
        text = "" if "quotations" in request.path else words(request.path, 40)
        return page(
            f"<title>About {request.path}</title><p>{words('menu', 20)}<p>{text}"
            f"<h2>A quotation</h2><p>{words(name, 12)}<p>{words('foot', 5)}"
        )

    result = await crawl(respond, {**RULES, **SETTINGS, "URLCANON_AUDIT": share})
    assert {*QUOTATIONS} <= {*result.pages}
    suspended = [name for name in result.figures if "suspended" in name]
    assert suspended == ["audit/suspended/drop_params/id"]
