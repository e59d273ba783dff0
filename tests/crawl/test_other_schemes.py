"""Pages from files and data: URLs."""

from pathlib import Path
from urllib.parse import quote

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, site

EVERYTHING = {
    "URLCANON_REWRITE": True,
    "URLCANON_ORDER": "novelty",
    "URLCANON_STOP": 0.001,
    "URLCANON_DECLARED_CANONICAL": True,
    "URLCANON_AUDIT": 1,
    "URLCANON_CLEAN_PARAM": True,
    "ROBOTSTXT_OBEY": True,
    "URLCANON_RECORD": "store",
    "URLCANON_RECORD_REVISITS": 1,
    "URLCANON_REPORT": "report.html",
    "URLCANON_SEEN": "seen",
    "JOBDIR": "job",
}


def stored():
    """Write two pages that link each other, and a text; return their URLs."""
    head = '<title>Stored</title><link rel="canonical" href="a.html">'
    files = {
        "a.html": f'{head}<a href="b.html">b</a> <a href="b.html#x">b</a> One.',
        "b.html": f'{head}<a href="a.html">a</a> <a href="{SITE}/c">c</a> Two.',
        "d.txt": "Three",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    return [Path(name).absolute().as_uri() for name in files]


@pytest.mark.parametrize("settings", [{}, EVERYTHING], ids=["default", "everything"])
@deferred_f_from_coro_f
async def test_pages_of_no_site_come(crawl, settings, caplog):
    """A spider gets file: and data: pages as without the plugin."""
    own = f"data:text/html,{quote(f'<title>Own</title><a href={SITE}/e>e</a>', safe=':/')}"
    files = stored()
    start = [files[0], files[2], own, "data:,Four"]

    class Spider(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            if hasattr(response, "css"):
                yield from response.follow_all(response.css("a::attr(href)").getall())

    answers = site({"/c": page("c"), "/e": page("e")})
    result = await crawl(answers, settings, start=start, spider=Spider)
    assert set(result.pages) == {*files, own, "data:,Four", "/c", "/e"}
    assert not [record for record in caplog.records if record.exc_info]
