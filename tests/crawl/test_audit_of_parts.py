"""A truncated page proves nothing in an audit."""

import pytest
from audited_shop import SETTINGS
from loopback import Fault, Response
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links

RULE = "audit/rule/drop_params:v/site.example/"


def view(request, *, is_cut, sign):
    """Return a view of a page; views of one page are equal in their first half."""
    begin = f"<title>{request.path}</title>" + f"<p>What all views of {request.path} share." * 9
    rest = f"<p>What {request.target} alone shows.".ljust(len(begin), ".")
    html = (("Content-Type", "text/html"),)
    if not is_cut:
        return Response(headers=html, body=(begin + rest).encode())
    body = begin if "status" in sign else begin + rest
    return Response(headers=html, body=body.encode(), **sign)


@pytest.mark.parametrize("sign", [{"status": 206}, {"fault": Fault.TRUNCATION}])
@pytest.mark.parametrize("cut", [{"1", "2"}, {"2"}], ids=["both", "the variant"])
@deferred_f_from_coro_f
async def test_part_of_a_page_proves_no_rule(crawl, sign, cut):
    """Views that are equal up to where they were cut off are no evidence for the rule.

    Each audited variant reaches the spider.
    """
    urls = [f"/p{number}?v={number_of_view}" for number in range(15) for number_of_view in (1, 2)]

    def answer(request):
        if request.target == "/":
            return links(*urls)
        return view(request, is_cut=request.target[-1] in cut, sign=sign)

    settings = {
        **SETTINGS,
        "URLCANON_RULES": {"*": {"drop_params": ["v"]}},
        "URLCANON_AUDIT": 1,
        "DOWNLOAD_FAIL_ON_DATALOSS": False,
    }
    result = await crawl(answer, settings)
    assert result.figures[f"{RULE}same"] == 0
    assert result.figures[f"{RULE}outcome"] != "holds"
    assert {*urls} <= {*result.pages}
