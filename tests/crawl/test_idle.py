"""What takes the place of a page at the end of a crawl comes before the spider is idle.

The spider may close the crawl then, or sum it up.
"""

from board_site import START, forum
from loopback import page
from scrapy import signals
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links, site


class CountingSpider(FollowSpider):
    """Notes how many items there are whenever it is idle."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.counts = []
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self):
        self.counts.append(self.crawler.stats.get_value("item_scraped_count"))


class RefusingOne:
    """A spider middleware that keeps a page from the spider, without any signal."""

    def process_spider_input(self, response):
        if response.url.endswith("?sid=1"):
            raise ValueError


@deferred_f_from_coro_f
async def test_post_that_no_page_shows_comes_before_the_spider_is_idle(crawl, board):
    """The spider is idle once it has the posts that no page of a topic showed."""
    respond = site(forum("topic.php?p=99"))
    result = await crawl(respond, board, start=START, spider=CountingSpider)
    assert "/forum/topic.php?p=99" in result.pages
    assert result.crawler.spider.counts == [len(result.pages)]


@deferred_f_from_coro_f
async def test_variant_of_what_vanished_comes_before_the_spider_is_idle(crawl):
    """The spider is idle once it has the other URL of a page that never reached its callback."""
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
    settings = {**rules, "SPIDER_MIDDLEWARES": {RefusingOne: 30}}
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": page("a"), "/a?sid=2": page("a")}
    result = await crawl(site(pages), settings, spider=CountingSpider)
    assert result.pages == ["/", "/a?sid=2"]
    assert result.crawler.spider.counts == [2]
