"""Sites that answer everything at one URL."""

from loopback import page
from scrapy import FormRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider

COUNT = 60


class Sending(FollowSpider):
    """Sends a form with each of many numbers."""

    def parse(self, response):
        del response
        for number in range(COUNT):
            yield FormRequest(SITE, formdata={"number": str(number)})


@deferred_f_from_coro_f
async def test_all_requests_on_their_way_to_one_url_count(crawl):
    """Each of eight requests that are on their way to one URL at once is learned from."""
    settings = {"URLCANON_ORDER": "novelty", "CONCURRENT_REQUESTS": 8}
    result = await crawl(lambda _: page("nothing"), settings, spider=Sending)
    assert len(result.hits) == result.figures["novelty/fetched"] == COUNT + 1
