"""No log line and no stat shows userinfo or what looks like a secret."""

import logging

from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links, site

SECRET = "S3cr3tValue"


@deferred_f_from_coro_f
async def test_crawl_shows_no_secret(crawl, caplog):
    """Neither log nor stats of a crawl show secrets in its URLs."""
    urls = [
        f"http://user:{SECRET}@site.example/p?id={n}&token={SECRET}&sid={SECRET}" for n in range(6)
    ]
    wrong = Request(
        f"http://user:{SECRET}@site.example/q?password={SECRET}",
        meta={"urlcanon": {"drop_parms": ["x"]}},
    )

    def respond(request):
        home = site({"/": links(*urls)}, missing=200)
        return page(f"<title>{request.query}</title>") if request.path == "/p" else home(request)

    settings = {
        "URLCANON_RULES": {"*": {"drop_params": ["id", "sid"]}},
        "URLCANON_AUDIT": 0.5,
        "LOG_LEVEL": "INFO",
    }
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        result = await crawl(respond, settings, start=("http://site.example/", wrong))
    assert result.figures["audit/suspended/drop_params/id"] == 1
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert len(ours) >= 3
    assert SECRET not in "".join(ours)
    assert SECRET not in str(result.figures)
