"""What is fetched at the end of a crawl comes before the spider hears that it is idle.

It may close the crawl then, or sum it up.
"""

from audited_shop import SETTINGS, WRONG, product
from board_site import START, forum
from loopback import page
from scrapy import signals
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FedSpider, FollowSpider, links, site


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


@deferred_f_from_coro_f
async def test_what_an_audit_finds_at_the_end_comes_before_the_spider_is_idle(crawl):
    """The spider is idle once it has all pages of a wrong entry that falls at the end."""
    urls = [f"/p?id={number}" for number in range(1, 6)]

    def respond(request):
        return links(*urls) if request.path == "/" else product(request.target)

    result = await crawl(respond, {**WRONG, **SETTINGS}, spider=CountingSpider)
    assert result.pages == ["/", *urls]
    assert result.crawler.spider.counts == [6]


class FedProducts(FedSpider):
    """Is fed with products other than the one that is linked."""

    fed = tuple(f"/p?id={number}" for number in range(2, 9))


@deferred_f_from_coro_f
async def test_audit_of_what_a_spider_requests_when_it_is_idle_is_not_over_at_once(crawl):
    """A spider that is fed whenever it is idle gets all pages of a wrong entry.

    An audit that began with the signal was taken for one that had vanished by then.
    """

    def respond(request):
        return links("/p?id=1") if request.path == "/" else product(request.target)

    result = await crawl(respond, {**WRONG, **SETTINGS}, spider=FedProducts)
    assert result.pages == ["/", "/p?id=1", *FedProducts.fed]
    assert "audit/unjudged" not in result.figures
