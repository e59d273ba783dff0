"""A plain spider: nothing in it knows of duplicates."""

from scrapy import Spider
from scrapy.linkextractors import LinkExtractor


class ShopSpider(Spider):
    """Follow every link of the shop and yield an item for every page."""

    name = "shop"
    allowed_domains = ["shop.example"]  # noqa: RUF012 - as Scrapy declares it
    start_urls = ["https://www.shop.example/"]  # noqa: RUF012
    link_extractor = LinkExtractor()

    def parse(self, response):
        """Yield the page, then its links."""
        yield {
            "page_id": response.css("meta[name=page-id]::attr(content)").get(),
            "url": response.url,
        }
        yield from response.follow_all(self.link_extractor.extract_links(response))
