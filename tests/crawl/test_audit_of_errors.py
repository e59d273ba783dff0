"""An audit of pages of which a callback that handles errors has had nothing else."""

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, product
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links

GONE = page("Not here", status=404)


class HandlingErrors(FollowSpider):
    """Gets responses that say 404, too."""

    handle_httpstatus_list = (404,)


@pytest.mark.parametrize("share", [1e-9, 1])
@pytest.mark.parametrize("gone", [2, 4])
@deferred_f_from_coro_f
async def test_errors_for_which_a_wrong_rule_dropped_pages_stand_for_none(crawl, share, gone):
    """Where a wrong entry merged pages with URLs that are gone, it falls, and all pages come."""
    urls = [f"/p?id={n}" for n in range(20)]
    result = await crawl(
        lambda request: (
            links(*urls)
            if request.target == "/"
            else GONE
            if request.target in urls[:gone]
            else product(request.query)
        ),
        {**WRONG, **SETTINGS, "URLCANON_AUDIT": share},
        spider=HandlingErrors,
    )
    assert {*urls[gone:]} <= {*result.pages}
    assert result.figures["audit/suspended/drop_params/id"] == 1


@deferred_f_from_coro_f
async def test_page_that_is_gone_costs_a_few_audits(crawl):
    """Of a page that is gone at all its URLs the callback gets a few, and no more is fetched."""
    urls = [f"/p?sid={n}" for n in range(60)]
    result = await crawl(
        lambda request: links(*urls) if request.target == "/" else GONE,
        {**RIGHT, **SETTINGS},
        spider=HandlingErrors,
    )
    assert len(result.hits) < 20
